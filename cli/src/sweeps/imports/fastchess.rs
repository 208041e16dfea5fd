//! A tournament of fastchess: `config.json`, which it saves while it plays.
//!
//! The keys are the fields of the project fastchess's `app/src/types/tournament.hpp` and of the files beside it, those
//! of engines `app/src/types/engine_config.hpp`; times are milliseconds, and choices are numbers in the order of
//! `app/src/types/enums.hpp`. A whole file is in `app/tests/configs/config.json`.

use serde_json::{Map, Value as Json};

use super::keys::{Keys, NotOurs, Words, scalar};

/// Choices as fastchess saves them.
const FISCHERANDOM: f64 = 1.0;
const GAUNTLET: f64 = 1.0;
const RANDOM_ORDER: u8 = 0;

/// Reads the engines and the tournament.
pub(super) fn read(mut object: Map<String, Json>) -> Result<Words, NotOurs> {
    let mut words = Words::default();
    let Some(Json::Array(engines)) = object.remove("engines") else {
        return Err(NotOurs::new("`engines` is not a list", "save it again with fastchess"));
    };
    if engines.is_empty() {
        return Err(NotOurs::new(
            "its list of engines is empty",
            "name the config.json of a tournament with engines",
        ));
    }
    for (place, engine) in engines.into_iter().enumerate() {
        let label = format!("engine {}", place + 1);
        if let Json::Object(engine) = engine {
            read_engine(Keys::new(engine, Some(label), &mut words));
        } else {
            words.remark(Some(&label), "it is not an object", "save the file again with fastchess");
        }
    }
    read_tournament(Keys::new(object, None, &mut words));
    Ok(words)
}

/// Milliseconds as seconds.
fn seconds(ms: f64) -> f64 {
    ms / 1e3
}

fn read_engine(mut keys: Keys<'_>) {
    let name = keys.text("name");
    if name.is_some() {
        keys.engine.clone_from(&name);
    }
    let Some(command) = keys.text("cmd") else {
        keys.remark("it has no command, and is left out", "write the path of its program as `cmd`");
        return;
    };
    let mut words = vec![format!("cmd={command}")];
    let mut add = |key: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{key}={value}")));
    };
    add("name", name);
    add("dir", keys.text("dir"));
    add("args", keys.text("args"));
    add("restart", keys.flag("restart").then(|| "on".to_owned()));
    let mut limit = keys.object("limit");
    add("nodes", limit.number("nodes").map(|count| count.to_string()));
    add("depth", limit.number("plies").map(|count| count.to_string()));
    let mut clock = limit.object("tc");
    let [time, increment, fixed, margin] = ["time", "increment", "fixed_time", "timemargin"]
        .map(|key| clock.number(key).filter(|ms| *ms > 0.0));
    let moves = clock.number("moves").map(|moves| format!("{moves}/")).unwrap_or_default();
    clock.finish();
    limit.finish();
    if time.is_some() || increment.is_some() {
        let [time, increment] = [time, increment].map(|ms| seconds(ms.unwrap_or(0.0)));
        add("tc", Some(format!("{moves}{time}+{increment}")));
    }
    add("st", fixed.map(|ms| seconds(ms).to_string()));
    add("timemargin", margin.map(|ms| ms.to_string()));
    let pairs: Vec<(String, String)> =
        keys.take("options", "a list of pairs of texts").unwrap_or_default();
    for (name, value) in pairs {
        add(&format!("option.{name}"), Some(value));
    }
    // The tournament has it as well.
    keys.skip(&["variant"]);
    keys.out.add("-engine");
    keys.out.words.extend(words);
    keys.finish();
}

fn read_tournament(mut keys: Keys<'_>) {
    read_rules(&mut keys);
    for key in ["rounds", "games", "concurrency"] {
        if let Some(count) = keys.number(key).filter(|count| *count > 0.0) {
            keys.out.words.extend([format!("-{key}"), count.to_string()]);
        }
    }
    if keys.number("variant") == Some(FISCHERANDOM) {
        keys.out.words.extend(["-variant", "fischerandom"].map(str::to_owned));
    }
    if keys.number("type") == Some(GAUNTLET) {
        let seeds = keys.number("gauntlet_seeds").unwrap_or(1.0);
        keys.out.words.extend(["-tournament", "gauntlet", "-seeds"].map(str::to_owned));
        keys.out.add(seeds.to_string());
    }
    for (key, word) in [("noswap", "-noswap"), ("reverse", "-reverse"), ("recover", "-recover")] {
        if keys.flag(key) {
            keys.out.add(word);
        }
    }
    if keys.take::<Json>("seed", "a number").is_some() {
        keys.remark("its seed has no meaning here", "openings are drawn by the sweep's own `seed`");
    }
    let played = keys.object("stats").object.values().any(has_games);
    if played {
        keys.remark(
            "its results so far are not taken over",
            "the match begins anew; spelrum stats analyses counts of games",
        );
    }
    let mut pgn = keys.object("pgn");
    let (file, event) = (pgn.text("file"), pgn.text("event_name"));
    if file.is_some() {
        pgn.remark(
            "no PGN is written while games are played",
            "write it from the database: spelrum games --format pgn",
        );
    }
    if let Some(event) = event.filter(|event| event != "Fastchess Tournament") {
        let event = event.trim_start_matches('-').to_owned();
        pgn.out.words.extend(["-event".to_owned(), event]);
    }
    if keys.object("epd").text("file").is_some() {
        keys.out.words.extend(["-epdout", "file"].map(str::to_owned));
    }
    // What is shown, saved and logged; cores; and what belongs to the gauntlet.
    keys.skip(&[
        "config_name",
        "output",
        "gauntlet_seeds",
        "ratinginterval",
        "scoreinterval",
        "wait",
        "autosaveinterval",
        "force_concurrency",
        "report_penta",
        "affinity",
        "check_mate_pvs",
        "show_latency",
        "log",
    ]);
    keys.finish();
}

/// Openings, SPRT and adjudication.
fn read_rules(keys: &mut Keys<'_>) {
    let mut opening = keys.object("opening");
    let order = opening.take::<u8>("order", "0 or 1");
    let [plies, start] =
        ["plies", "start"].map(|key| opening.number(key).filter(|count| *count > 0.0));
    match opening.text("file") {
        Some(file) => {
            let order = if order == Some(RANDOM_ORDER) { "random" } else { "sequential" };
            opening.out.words.extend([
                "-openings".to_owned(),
                format!("file={file}"),
                format!("order={order}"),
            ]);
            opening.out.words.extend(plies.map(|plies| format!("plies={plies}")));
            opening.out.words.extend(start.map(|start| format!("start={start}")));
        }
        None => opening.remark(
            "it has no openings: games begin with four random plies",
            "name a book: openings = { kind = \"book\", file = \"book.epd\", order = \"drawn\" }",
        ),
    }
    // A book is recognized by its contents.
    opening.skip(&["format"]);
    opening.finish();
    for (rule, word, names) in [
        ("sprt", "-sprt", &["elo0", "elo1", "alpha", "beta", "model"][..]),
        ("resign", "-resign", &["move_count", "score", "twosided"]),
        ("draw", "-draw", &["move_number", "move_count", "score"]),
    ] {
        let mut keys = keys.object(rule);
        if keys.flag("enabled") {
            keys.out.add(word);
            for name in names {
                let value = keys.take::<Json>(name, "a value").and_then(|json| scalar(&json));
                let word = value.map(|value| format!("{}={value}", name.replace('_', "")));
                keys.out.words.extend(word);
            }
            keys.finish();
        }
    }
    for (rule, words) in [
        ("maxmoves", &[("-maxmoves", "move_count")][..]),
        ("tb_adjudication", &[("-tb", "syzygy_dirs"), ("-tbpieces", "max_pieces")]),
    ] {
        let mut keys = keys.object(rule);
        if keys.flag("enabled") {
            for (word, key) in words {
                let value = keys.take::<Json>(key, "a value").and_then(|json| scalar(&json));
                keys.out.words.extend([(*word).to_owned(), value.unwrap_or_default()]);
            }
            if keys.flag("ignore_50_move_rule") {
                keys.out.add("-tbignore50");
            }
        }
    }
}

/// Whether counts of a pair of engines are of any games.
fn has_games(counts: &Json) -> bool {
    ["wins", "losses", "draws"].iter().any(|key| counts.get(key).and_then(Json::as_u64) > Some(0))
}
