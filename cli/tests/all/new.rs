//! `new` and `schema`: from nothing to a sweep that runs.

use serde_json::Value;

use crate::sandbox::Sandbox;

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
