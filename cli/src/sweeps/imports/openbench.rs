//! An engine file of OpenBench: `Engines/NAME.json`, which says how an engine is built and tested.
//!
//! Its keys are checked by the project OpenBench's `OpenBench/config.py`; what its presets mean is in
//! `Client/worker.py`: options, time controls, books, and 250 ms that a move may take longer.

use serde_json::{Map, Value as Json};

use super::keys::{Keys, NotOurs, Words};

/// The time that a move may take longer.
const MARGIN: &str = "timemargin=250";
/// The preset that completes all others.
const DEFAULT: &str = "default";
/// The preset that is taken unless one is named.
const USUAL: &str = "STC";

/// Reads an engine, which plays as two builds: the one under test, and the base that it is tested against.
pub(super) fn read(
    name: &str,
    object: Map<String, Json>,
    preset: Option<&str>,
) -> Result<Words, NotOurs> {
    let mut words = Words::default();
    let mut keys = Keys::new(object, None, &mut words);
    let presets: Map<String, Json> = keys.take("test_presets", "an object").unwrap_or_default();
    let mut wanted = wanted_preset(presets, preset)?;
    read_build(name, &mut wanted, &mut keys);
    // How fast a machine is to be, and workloads of other kinds.
    keys.skip(&["tune_presets", "datagen_presets", "base"]);
    let nps = keys.number("nps");
    keys.finish();
    for branch in ["dev", "base"] {
        words.words.extend([
            "-engine".to_owned(),
            format!("cmd=./{name}-{branch}"),
            format!("name={name}-{branch}"),
        ]);
        read_play(branch, &mut wanted, &mut words);
    }
    let mut both = Words::default();
    read_play("both", &mut wanted, &mut both);
    words.remarks.append(&mut both.remarks);
    if !both.words.is_empty() {
        words.add("-each");
        words.words.append(&mut both.words);
    }
    if nps.is_some() {
        words.remark(
            None,
            "time is not scaled by a machine's speed",
            "use equal machines, or a limit of nodes",
        );
    }
    read_test(Keys::new(wanted, None, &mut words));
    Ok(words)
}

/// The preset of this name on top of the default one.
fn wanted_preset(
    mut presets: Map<String, Json>,
    name: Option<&str>,
) -> Result<Map<String, Json>, NotOurs> {
    let names: Vec<String> = presets.keys().filter(|name| *name != DEFAULT).cloned().collect();
    let listed = || match names.as_slice() {
        [] => "leave --preset out: the file has none".to_owned(),
        names => format!("its presets are {}", names.join(", ")),
    };
    let chosen = match name {
        Some(name) => match names.iter().find(|listed| *listed == name) {
            Some(name) => Some(name.clone()),
            None => return Err(NotOurs::new(format!("there is no preset `{name}`"), listed())),
        },
        None => names.iter().find(|name| *name == USUAL).or(names.first()).cloned(),
    };
    let mut wanted = Map::new();
    for name in [Some(DEFAULT.to_owned()), chosen].into_iter().flatten() {
        if let Some(Json::Object(preset)) = presets.remove(&name) {
            wanted.extend(preset);
        }
    }
    Ok(wanted)
}

/// What to build, in remarks: there are no programs yet.
fn read_build(name: &str, preset: &mut Map<String, Json>, keys: &mut Keys<'_>) {
    let source = keys.text("source").unwrap_or_else(|| "its source".to_owned());
    let is_private = keys.flag("private");
    let mut build = keys.object("build");
    let folder = build.text("path").unwrap_or_else(|| ".".to_owned());
    let mut list =
        |key| build.take::<Vec<String>>(key, "a list of texts").unwrap_or_default().join(", ");
    let [compilers, flags, systems] = ["compilers", "cpuflags", "systems"].map(&mut list);
    build.finish();
    let base = preset.remove("base_branch").and_then(|branch| branch.as_str().map(str::to_owned));
    let base = base.unwrap_or_else(|| "master".to_owned());
    keys.engine = Some(name.to_owned());
    let how = if is_private { "its owner's builds" } else { &*source };
    keys.remark(
        "OpenBench builds engines from source, and Spelrum does not",
        format!(
            "take {how} (folder {folder}{}), and put your branch as {name}-dev and {base} as {name}-base beside the \
             engines file",
            if compilers.is_empty() { String::new() } else { format!(", compiler {compilers}") },
        ),
    );
    let demands = [flags, systems].into_iter().filter(|list| !list.is_empty()).collect::<Vec<_>>();
    if !demands.is_empty() {
        keys.remark(
            format!("demands on machines are not taken over: {}", demands.join("; ")),
            "give workers that meet them a label, and write it under `placement` of the sweep",
        );
    }
    keys.engine = None;
}

/// Options and limits of one branch, or of both.
fn read_play(branch: &str, preset: &mut Map<String, Json>, words: &mut Words) {
    let mut keys = Keys::new(std::mem::take(preset), Some(branch.to_owned()), words);
    if let Some(options) = keys.text(&format!("{branch}_options")) {
        let options = options.split_whitespace().map(|option| format!("option.{option}"));
        keys.out.words.extend(options);
    }
    if let Some(time) = keys.text(&format!("{branch}_time_control")) {
        let (word, is_timed) = match time.split_once('=') {
            Some(("N", count)) => (format!("nodes={count}"), false),
            Some(("D", plies)) => (format!("depth={plies}"), false),
            Some(("MT", ms)) => match ms.parse::<f64>() {
                Ok(ms) => (format!("st={}", ms / 1e3), true),
                Err(_) => (format!("st={ms}"), true),
            },
            _ => (format!("tc={time}"), true),
        };
        keys.out.add(word);
        if is_timed {
            keys.out.add(MARGIN);
        }
    }
    if let Some(network) = keys.text(&format!("{branch}_network")) {
        keys.remark(
            format!("the network {network} is not fetched"),
            "put its file beside the engines file, set the option that names it, and list it under `files`",
        );
    }
    keys.skip(&[&*format!("{branch}_branch"), &*format!("{branch}_bench")]);
    *preset = keys.object;
}

/// The test's bounds, openings and adjudication.
fn read_test(mut keys: Keys<'_>) {
    let [bounds, risks] = ["test_bounds", "test_confidence"].map(|key| {
        let text = keys.text(key)?;
        if pair(&text).is_none() {
            keys.remark(format!("`{key}` is `{text}`"), "write two numbers, such as [0.0, 5.0]");
        }
        pair(&text)
    });
    if let Some([elo0, elo1]) = bounds {
        keys.out.words.extend(["-sprt".to_owned(), format!("elo0={elo0}"), format!("elo1={elo1}")]);
        // The first is the risk of missing a gain.
        if let Some([beta, alpha]) = risks {
            keys.out.words.extend([format!("alpha={alpha}"), format!("beta={beta}")]);
        }
    }
    if let Some(games) = keys.number("test_max_games") {
        keys.out.words.extend(["-games".to_owned(), games.to_string()]);
    }
    if let Some(book) = keys.text("book_name").filter(|book| !book.eq_ignore_ascii_case("none")) {
        let upper = book.to_uppercase();
        if ["FRC", "960", "FISCHER"].iter().any(|word| upper.contains(word)) {
            keys.out.words.extend(["-variant", "fischerandom"].map(str::to_owned));
        }
        keys.out.words.extend([
            "-openings".to_owned(),
            format!("file={book}"),
            "order=random".to_owned(),
        ]);
        keys.remark(format!("the book {book} is not fetched"), "put it beside the imported file before you import it, or correct its path in the sweep");
    }
    for (key, word) in [("win_adj", "-resign"), ("draw_adj", "-draw")] {
        if let Some(rule) = keys.text(key).filter(|rule| !rule.eq_ignore_ascii_case("none")) {
            keys.out.add(word);
            // Others would be options of a command.
            let is_key = |word: &&str| word.contains('=') && !word.starts_with('-');
            keys.out.words.extend(rule.split_whitespace().filter(is_key).map(str::to_owned));
        }
    }
    for (key, instead) in [
        (
            "syzygy_adj",
            "games would end by the tables that each worker happens to have: say of how many pieces, \
                        adjudication = { syzygy = 5 }",
        ),
        ("syzygy_wdl", "each machine's engines file gives engines its tables: syzygy = true"),
    ] {
        let is_off =
            |text: &String| ["none", "disabled"].iter().any(|word| text.eq_ignore_ascii_case(word));
        let Some(text) = keys.text(key).filter(|text| !is_off(text)) else { continue };
        let pieces = text.split_once('-').filter(|(_, unit)| unit.eq_ignore_ascii_case("man"));
        match pieces {
            Some((pieces, _)) if key == "syzygy_adj" => {
                keys.out.words.extend(["-tbpieces".to_owned(), pieces.to_owned()]);
                keys.remark(
                    "the folders of Syzygy tables are not in it",
                    "name them in the engines file: [syzygy] path = \"…\"",
                );
            }
            _ => keys.remark(format!("`{key}` is not taken over"), instead),
        }
    }
    // Of a server with many tests: here a sweep has a priority.
    keys.skip(&["upload_pgns", "priority", "throughput", "workload_size"]);
    keys.finish();
}

/// Two numbers in brackets.
fn pair(text: &str) -> Option<[f64; 2]> {
    let (first, second) = text.trim().strip_prefix('[')?.strip_suffix(']')?.split_once(',')?;
    Some([first.trim().parse().ok()?, second.trim().parse().ok()?])
}
