//! Options of external engines that a sweep varies, finds and tunes: ours over UCI is the engine.

use crate::sandbox::{Ran, Sandbox, root};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// A sandbox with an engines file that allows some options of ours.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "engines.toml",
        &format!(
            "[engines.ours]\nprotocol = \"uci\"\ncommand = {SPELRUM:?}\nstartup_timeout = \"5m\"\n\
             args = [\"engine\", \"uci\", \"--player\", \"alpha-beta\", \"--set\", \"preset=chess\", \"--set\", \
             \"evaluation=material\"]\n\
             [engines.ours.options]\ndepth = {{ min = 1, max = 2000 }}\ntable_mib = {{ min = 1, max = 8 }}\n\
             shuffle = {{ values = [true, false] }}\nnullity = {{ min = 0, max = 1 }}\n"
        ),
    );
    sandbox
}

fn sweep(options: &str, course: &str) -> String {
    format!(
        "name = \"found\"\ngame = \"chess\"\nseed = 5\ngames = 2\nmax_plies = 12\n\
         openings = {{ kind = \"random\", plies = 4 }}\npairing = {{ gauntlet = \"engine\" }}\n\n\
         [players.engine]\nalgorithm = \"uci\"\nengine = \"ours\"\nnodes = 500\noptions = {{ {options} }}\n\n\
         [players.other]\nalgorithm = \"alpha-beta\"\npreset = \"chess\"\nevaluation = \"material\"\n\
         shuffle = true\ndepth = 1\n\n{course}"
    )
}

fn find(option: &str, from: &str, to: &str) -> String {
    sweep(
        "shuffle = true",
        &format!(
            "[find]\nplayer = \"engine\"\nparameter = 'options.\"{option}\"'\nfrom = {from}\nto = {to}\n\
             scale = \"linear\"\nsteps = 6\n"
        ),
    )
}

fn tune(method: &str, parameters: &str) -> String {
    sweep(
        "shuffle = true, depth = 2",
        &format!(
            "[tune]\nplayer = \"engine\"\nsteps = 3\nconfirm = 4\n{method}\n[tune.parameters]\n{parameters}\n"
        ),
    )
}

fn run(sandbox: &Sandbox, more: &[&str]) -> Ran {
    let arguments = ["run", "sweep.toml", "--db", "found.db", "--engines", "engines.toml"];
    sandbox.run(&[&arguments[..], more].concat())
}

fn sql(sandbox: &Sandbox, query: &str) -> String {
    let ran = sandbox.run(&["sql", "--db", "found.db", "--csv", query]);
    ran.expect_exit(0);
    ran.stdout().lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// The values of an option in the definitions of the cells that were played.
fn played(sandbox: &Sandbox, option: &str) -> Vec<i64> {
    let values = sql(
        sandbox,
        &format!(
            "SELECT DISTINCT json_extract(parameters_json, '$.options.\"{option}\"') AS value FROM players \
             WHERE algorithm = 'uci' ORDER BY value"
        ),
    );
    values.lines().filter(|value| !value.is_empty()).map(|value| value.parse().unwrap()).collect()
}

#[test]
fn a_value_of_an_option_is_found_in_whole_numbers() {
    let sandbox = sandbox();
    sandbox.write("sweep.toml", &find("depth", "1", "3"));
    let ran = run(&sandbox, &[]);
    ran.expect_exit(0);
    assert!(ran.stdout().contains("options.depth"), "{}", ran.stdout());
    let tried = sql(&sandbox, "SELECT DISTINCT value_text FROM trials ORDER BY value_text");
    assert!(
        !tried.is_empty() && tried.lines().all(|tried| ["1", "2", "3"].contains(&tried)),
        "{tried}"
    );
    assert_eq!(sql(&sandbox, "SELECT count(*) FROM forfeited"), "0");
    // Run again, it is over; what was found plays in another sweep.
    let again = run(&sandbox, &[]);
    assert_eq!(again.stdout(), ran.stdout());
    let next = sweep("shuffle = true", "").replace("name = \"found\"", "name = \"next\"");
    let (before, after) = next.split_once("[players.engine]").unwrap();
    let (_, after) = after.split_once("[players.other]").unwrap();
    let champion =
        "[players.engine]\nfrom = { experiment = \"found\", db = \"found.db\" }\n\n[players.other]";
    sandbox.write("sweep.toml", &format!("{before}{champion}{after}"));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "next.db", "--engines", "engines.toml"]);
    ran.expect_exit(0);
    assert!(ran.stderr().contains("options.depth = "), "{}", ran.stderr());
}

#[test]
fn options_are_tuned_by_both_methods_and_confirmed() {
    for method in ["", "method = \"cma-es\"\npopulation = 3"] {
        let sandbox = sandbox();
        let parameters = "options.depth = { from = 1, to = 3 }\noptions.table_mib = { from = 1, to = 8, start = 2 }\n\
                          options.shuffle = {}\nnodes = { from = 100, to = 500 }";
        sandbox.write("sweep.toml", &tune(method, parameters));
        let ran = run(&sandbox, &[]);
        ran.expect_exit(0);
        for name in ["options.depth", "options.table_mib", "options.shuffle", "nodes"] {
            assert!(ran.stdout().contains(name), "{method}: {}", ran.stdout());
        }
        let tried = "SELECT count(*) FROM trials WHERE parameter = 'options.table_mib' AND \
                     (value_number <> round(value_number) OR value_number NOT BETWEEN 1 AND 8)";
        assert_eq!(sql(&sandbox, tried), "0");
        assert_eq!(sql(&sandbox, "SELECT count(*) FROM forfeited"), "0");
        let result = ["the recommended settings score", "the start is recommended"];
        assert!(result.iter().any(|result| ran.stdout().contains(result)), "{}", ran.stdout());
    }
}

#[test]
fn options_are_axes_and_are_set_on_the_command_line() {
    let sandbox = sandbox();
    let sweep = sweep("shuffle = true, depth = \"$deep\"", "[axes]\ndeep = [1, 2]\n");
    sandbox.write("sweep.toml", &sweep);
    run(&sandbox, &["--set", "players.engine.options.\"table_mib\"=3"]).expect_exit(0);
    assert_eq!(sql(&sandbox, "SELECT count(*) FROM cells"), "2");
    assert_eq!(played(&sandbox, "depth"), [1, 2]);
    assert_eq!(played(&sandbox, "table_mib"), [3]);
    sandbox.write("sweep.toml", &tune("", "options.depth = { from = 1, to = 3 }"));
    let ran = sandbox.run(&[
        "run",
        "sweep.toml",
        "--db",
        "set.db",
        "--engines",
        "engines.toml",
        "--set",
        "tune.parameters.options.\"table_mib\"={ from = 2, to = 4, start = 3 }",
        "--set",
        "tune.steps=1",
    ]);
    ran.expect_exit(0);
    assert!(ran.stdout().contains("options.table_mib"), "{}", ran.stdout());
}

#[test]
fn what_the_engine_or_its_file_does_not_take_is_refused_before_the_first_game() {
    let sandbox = sandbox();
    let tuned = |parameters: &str| tune("", parameters);
    let mut shown = String::new();
    for sweep in [
        // The engines file, the engine, and neither.
        find("table_mib", "1", "9"),
        find("depth", "1", "1500"),
        find("depht", "1", "3"),
        find("nullity", "0", "1"),
        find("shuffle", "0", "1").replace("options = { shuffle = true }\n", ""),
        tuned("options.depth = { from = 0, to = 3 }"),
        tuned("options.table_mib = { from = 1, to = 9, start = 3 }"),
        tuned("options.shuffle = { from = 0, to = 1 }"),
        tuned("options.depth = { choices = [1, 2, 2001] }"),
    ] {
        sandbox.write("sweep.toml", &sweep);
        let ran = run(&sandbox, &[]);
        shown.push_str(&ran.failure());
        shown.push('\n');
        if sandbox.path("found.db").exists() {
            assert_eq!(sql(&sandbox, "SELECT count(*) FROM experiments"), "0", "{sweep}");
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_dry_run_without_an_engines_file_says_what_it_cannot_check() {
    let sandbox = sandbox();
    sandbox.write("sweep.toml", &find("depth", "1", "3"));
    for command in ["run", "submit"] {
        let ran = sandbox.run(&[command, "sweep.toml", "--dry-run"]);
        ran.expect_exit(0);
        let remark = "note: not checked without an engines file: whether ours can play this sweep";
        assert!(ran.stderr().contains(remark), "{command}: {}", ran.stderr());
        let with = sandbox.run(&[command, "sweep.toml", "--dry-run", "--engines", "engines.toml"]);
        with.expect_exit(0);
        assert!(!with.stderr().contains("not checked"), "{command}: {}", with.stderr());
    }
}

/// What the page shows of the project's sweeps stands in them, and the one whose engine is ours is played, in small.
#[test]
fn the_sweeps_of_the_page_are_played() {
    let page = std::fs::read_to_string(root().join("docs/engines.md")).unwrap();
    for (title, file) in [
        ("## Finding a handicap", "sweeps/chess-handicap.toml"),
        ("## Tuning an engine", "sweeps/uci-tune.toml"),
    ] {
        let (_, section) = page.split_once(title).unwrap();
        let (_, block) = section.split_once("```toml\n").unwrap();
        let (block, _) = block.split_once("```").unwrap();
        let sweep = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(sweep.contains(block), "{file} lacks what docs/engines.md shows:\n{block}");
    }
    let sandbox = Sandbox::new();
    let (sweep, engines) =
        (root().join("sweeps/uci-tune.toml"), root().join("deploy/engines.toml"));
    let small = ["tune.steps=1", "tune.confirm=2", "games=2"].map(|set| ["--set", set]).concat();
    let arguments = ["run", sweep.to_str().unwrap(), "--engines", engines.to_str().unwrap()];
    let mut command = sandbox.spelrum(&[&arguments[..], &small].concat());
    // The engines file names our program without its path.
    command.env("PATH", std::path::Path::new(SPELRUM).parent().unwrap());
    let ran = Ran(command.output().unwrap());
    ran.expect_exit(0);
    for option in ["options.futility", "options.reverse_futility", "options.quiescence_plies"] {
        assert!(ran.stdout().contains(option), "{}", ran.stdout());
    }
}
