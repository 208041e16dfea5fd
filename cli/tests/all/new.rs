//! `new` and `schema`: from nothing to a sweep that runs.

use std::process::Command;

use serde_json::Value;
use spelrum_test_support::Tools;

use crate::sandbox::{Ran, Sandbox};

/// Every template, in the order of `--list`.
const TEMPLATES: [&str; 7] = ["first", "depth", "time", "time-odds", "ladder", "tuning", "match"];

#[test]
fn a_new_sweep_runs_at_the_first_try() {
    let sandbox = Sandbox::new();
    let new = sandbox.run(&["new"]);
    new.expect_exit(0);
    insta::assert_snapshot!(new.stdout());
    let run = sandbox.run(&["run", "first.toml", "--quick"]);
    run.expect_exit(0);
    assert_eq!(sandbox.sql("first.db", "SELECT count(*) FROM games WHERE counted = 1"), "30");
}

#[test]
fn every_template_is_listed_and_planned() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["new", "--list"]);
    list.expect_exit(0);
    insta::assert_snapshot!(list.stdout());
    let json = sandbox.run(&["new", "--list", "--json"]);
    let json: Vec<Value> = serde_json::from_str(json.stdout()).unwrap();
    let listed: Vec<&str> =
        json.iter().map(|template| template["template"].as_str().unwrap()).collect();
    assert_eq!(listed, TEMPLATES);

    for template in TEMPLATES {
        let file = format!("my_{template}.toml");
        let new = sandbox.run(&["new", template, &file, "--json"]);
        new.expect_exit(0);
        let new: Value = serde_json::from_str(new.stdout()).unwrap();
        assert_eq!(
            (&new["file"], &new["schema"]),
            (&file.as_str().into(), &"sweep.schema.json".into())
        );
        let dry_run = sandbox.run(&["submit", &file, "--dry-run", "--json", "--quick"]);
        dry_run.expect_exit(0);
        let dry_run: Value = serde_json::from_str(dry_run.stdout()).unwrap();
        assert_eq!(dry_run["name"], format!("my_{template}"));
    }
}

/// The engines file is the one that its comments show, with other programs.
#[test]
fn a_new_match_of_engines_runs_with_the_engines_file_that_it_shows() {
    let sandbox = Sandbox::new();
    let new = sandbox.run(&["new", "match"]);
    insta::assert_snapshot!(new.expect_exit(0).stdout());
    let sweep = std::fs::read_to_string(sandbox.path("match.toml")).unwrap();
    let shown = sweep.lines().skip_while(|line| *line != "#     [engines.new]");
    let shown = shown.take_while(|line| *line != "# Then:");
    let shown: Vec<&str> = shown.map(|line| line.trim_start_matches('#').trim()).collect();
    let player =
        "args = [\"engine\", \"uci\", \"--player\", \"alpha-beta\", \"--set\", \"preset=chess\"]";
    let ours = format!("command = {:?}\n{player}", env!("CARGO_BIN_EXE_spelrum"));
    let engines = shown.join("\n").replace("command = \"./new-engine\"", &ours);
    sandbox.write("engines.toml", &engines.replace("command = \"./old-engine\"", &ours));
    // Every setting but time, which no test waits for.
    let quick = sweep.replace("clock = \"10+0.1\"", "depth = 1").replace("2_000", "4");
    assert_ne!(quick, sweep);
    sandbox.write("match.toml", &format!("max_plies = 20\n{quick}"));
    let engines = ["match.toml", "--engines", "engines.toml"];
    sandbox.run(&[&["submit", "--dry-run"], &engines[..]].concat()).expect_exit(0);
    sandbox.run(&[&["run"], &engines[..]].concat()).expect_exit(0);
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games WHERE counted = 1"), "4");
}

#[test]
fn nothing_is_overwritten() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", "mine");
    sandbox.write("sweep.schema.json", "mine too");
    let refused = sandbox.run(&["new", "first", "mine.toml"]);
    refused.expect_exit(3);
    insta::assert_snapshot!(refused.failure());
    let read = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
    assert_eq!(read("mine.toml"), "mine");

    let forced = sandbox.run(&["new", "first", "mine.toml", "--force"]);
    forced.expect_exit(0);
    insta::assert_snapshot!(forced.stdout());
    assert!(read("mine.toml").contains("name = \"mine\""));
    assert_eq!(read("sweep.schema.json"), "mine too");
}

#[test]
fn what_is_not_a_name_is_refused() {
    let sandbox = Sandbox::new();
    for (arguments, left) in [
        (&["new", "ladders"][..], 0),
        (&["new", "chess"], 0),
        (&["new", "my.toml"], 0),
        (&["new", "first", "2 plies.toml"], 0),
        (&["new", "first", "no/such/directory.toml"], 0),
    ] {
        let refused = sandbox.run(arguments);
        refused.expect_exit(3);
        insta::assert_snapshot!(refused.failure());
        assert_eq!(std::fs::read_dir(sandbox.path("")).unwrap().count(), left);
    }
}

#[test]
fn the_schema_is_the_one_that_new_writes() {
    let sandbox = Sandbox::new();
    sandbox.run(&["new", "first"]).expect_exit(0);
    let ran = sandbox.run(&["schema"]);
    ran.expect_exit(0);
    assert!(ran.stdout() == std::fs::read_to_string(sandbox.path("sweep.schema.json")).unwrap());
}

/// Files, the commands that they need, and games that repeat themselves.
fn new_player(sandbox: &Sandbox, language: &str, compiler: Option<&[&str]>) {
    let new = sandbox.run(&["new", "--player", language]);
    insta::assert_snapshot!(format!("new_player_{language}"), new.expect_exit(0).stdout());
    if let Some([program, arguments @ ..]) = compiler {
        let line = new.stdout().lines().find(|line| line.contains(" -o mine "));
        let mut words = line.unwrap().split_whitespace().take_while(|word| *word != "compiles");
        let mut command = Command::new(words.next().unwrap());
        assert_eq!(command.get_program(), *program);
        command.args(words).args(arguments).current_dir(sandbox.path("."));
        let compiled = Ran(command.output().unwrap());
        compiled.expect_exit(0);
        assert_eq!(compiled.stderr(), "");
    }
    let check = sandbox.run(&["engine", "check", "--engines", "mine.engines.toml"]);
    check.expect_exit(0);
    assert!(check.stdout().contains("repeats   its moves in 3 of 3"), "{}", check.stdout());
    let run = |db: &str| {
        let engines = ["--engines", "mine.engines.toml", "--db", db];
        let run = sandbox.run(&[&["run", "mine.toml", "--quick"], &engines[..]].concat());
        run.expect_exit(0);
        assert_eq!(sandbox.sql(db, "SELECT count(*) FROM forfeited"), "0");
        let moves = "SELECT group_concat(played, ' ') FROM (SELECT m.move AS played FROM moves AS m \
                     JOIN games AS g ON g.game_id = m.game_id ORDER BY g.cell_id, g.number, m.ply)";
        sandbox.sql(db, moves)
    };
    assert_eq!(run("first.db"), run("second.db"));
}

#[test]
fn a_new_player_in_python_plays() {
    let Some(_tools) = Tools::find(&["python3"]) else { return };
    let sandbox = Sandbox::new();
    new_player(&sandbox, "python", None);
}

#[test]
fn a_new_player_in_c_is_compiled_and_plays() {
    let Some(_tools) = Tools::find(&["cc"]) else { return };
    let sandbox = Sandbox::new();
    new_player(&sandbox, "c", Some(&["cc", "-std=c11", "-Wall", "-Wextra", "-Werror"]));
}

#[test]
fn a_new_player_in_rust_is_compiled_and_plays() {
    let Some(_tools) = Tools::find(&["rustc"]) else { return };
    let sandbox = Sandbox::new();
    new_player(&sandbox, "rust", Some(&["rustc", "-D", "warnings"]));
}

#[test]
fn a_new_player_overwrites_nothing_and_has_a_plain_name() {
    let sandbox = Sandbox::new();
    let player = |arguments: &[&str]| sandbox.run(&[&["new", "--player"], arguments].concat());
    sandbox.write("mine.toml", "mine");
    let refused = player(&["python"]);
    refused.expect_exit(3);
    assert!(refused.stderr().contains("write mine.toml"), "{}", refused.stderr());
    assert!(!sandbox.path("mine.py").exists(), "all or none");
    player(&["python", "--force"]).expect_exit(0);
    assert!(std::fs::read_to_string(sandbox.path("mine.toml")).unwrap().contains("[players.mine]"));
    for (arguments, code, said) in [
        (&["python", "first", "mine.py"][..], 2, "name the file alone"),
        (&["python", "mine.c"], 3, "its source ends in .py"),
        (&["c", "my player.c"], 3, "letters, digits"),
        (&["cobol"], 2, "python, c, rust"),
        (&["python", "--list"], 2, "cannot be used with"),
        (&["c", "missing/mine.c"], 3, "a directory that you may write to"),
    ] {
        let refused = player(arguments);
        refused.expect_exit(code);
        assert!(refused.stderr().contains(said), "{arguments:?}: {}", refused.stderr());
    }
}
