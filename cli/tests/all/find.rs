//! Sweeps that look for the value at which two players are even: what they print, through kills, on four
//! processes, and when they move to another database.

use crate::courses::{assert_moves, assert_same_through_kills};
use crate::sandbox::Sandbox;

/// Two runs over nodes: the same games everywhere.
fn sweep(steps: u32, games: u32) -> String {
    format!(
        "name = \"even\"
game = \"connect-four\"
seed = 7
games = {games}
openings = {{ kind = \"random\", plies = 4 }}

[axes]
depth = [1, 2]

[players.alphabeta]
algorithm = \"alpha-beta\"
depth = \"$depth\"
shuffle = true

[players.mcts]
algorithm = \"mcts\"

[find]
player = \"mcts\"
parameter = \"simulations\"
from = 1
to = 300
steps = {steps}
"
    )
}

#[test]
fn a_run_prints_what_it_found() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(8, 8));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    ran.expect_exit(0);
    insta::assert_snapshot!(ran.stdout(), @r#"
    even  connect-four, finished, 128 of 128 games

    Where the players are even

    run  depth  player  against    steps  parameter    value  95% interval
    ───────────────────────────────────────────────────────────────────────
      0  1      mcts    alphabeta      8  simulations      6  4–8
      1  2      mcts    alphabeta      8  simulations    300  98 or more
    Value: of the player's parameter at which it scores half of the points, the median of what the games leave probable.
    Results of each cell: spelrum report even --table cells.
    "#);
    let said = ran.stderr();
    assert!(
        said.contains("playing even: 2 runs of `find`, 128 games at most, into results.db"),
        "{said}"
    );
    assert!(said.contains("128 of 128 games settled"), "{said}");

    // The same for programs.
    let csv = sandbox.run(&["report", "--db", "results.db", "--table", "runs", "--format", "csv"]);
    csv.expect_exit(0);
    insta::assert_snapshot!(csv.stdout(), @r#"
    experiment,run,kind,depth,player,opponents,steps,ended,parameter,value,value_text,low,low_text,high,high_text,start,start_text,gain,gain_low,gain_high
    even,0,find,1,mcts,"[""alphabeta""]",8,true,simulations,6.0,6,4.0,4,8.0,8,,,,,
    even,1,find,2,mcts,"[""alphabeta""]",8,true,simulations,300.0,300,98.0,98,,,,,,,
    "#);
    let json = sandbox.run(&["report", "--db", "results.db", "--json"]);
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["runs"][1]["axes"], serde_json::json!(["2"]));
    assert_eq!(json["runs"][1]["kind"], "find");
    // Cells are there for who asks.
    let cells = sandbox.run(&["report", "--db", "results.db", "--table", "cells"]);
    assert!(cells.stdout().contains("Who is stronger"), "{}", cells.stdout());

    // It is over, and says the same again.
    let again = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    again.expect_exit(0);
    assert_eq!(again.stdout(), ran.stdout());
    let more = sweep(9, 8);
    sandbox.write("sweep.toml", &more);
    let changed = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    changed.expect_exit(4);
    assert!(changed.stderr().contains("takes a course of its own"), "{}", changed.stderr());
}

#[test]
fn a_dry_run_says_what_it_may_come_to() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(8, 8));
    let ran = sandbox.run(&["submit", "--dry-run", "--json", "sweep.toml"]);
    ran.expect_exit(0);
    let json: serde_json::Value = serde_json::from_str(ran.stdout()).unwrap();
    assert_eq!(json["games"], 128);
    assert_eq!(json["depends_on_results"], true);
    let text = sandbox.run(&["submit", "--dry-run", "sweep.toml"]);
    let said = text.stdout();
    assert!(said.contains("runs      2\n  games     at most 128\n"), "{said}");
    assert!(said.contains("at most about"), "{said}");
}

/// Nobody plays: it is submitted, looked at, and cancelled.
#[test]
fn a_course_that_is_broken_off_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(8, 8));
    let coordinator = sandbox.coordinator("results.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    let submitted = sandbox.run(&["submit", "sweep.toml", "--coordinator", url]);
    assert_eq!(submitted.stdout(), "submitted even: 2 runs of `find`, 128 games at most\n");
    let report = || sandbox.run(&["report", "--coordinator", url]).stdout().to_owned();
    assert!(report().contains("…: still going on."), "{}", report());
    sandbox.run(&["cancel", "even", "--coordinator", url]).expect_exit(0);
    let said = report();
    assert!(said.contains("…: broken off, since the experiment is cancelled."), "{said}");
}

#[test]
fn a_course_is_the_same_on_one_process_and_on_four_that_are_killed() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(10, 40));
    assert_same_through_kills(&sandbox, 800, 1);
}

#[test]
fn a_course_moves_to_another_database() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(6, 8));
    sandbox.run(&["run", "sweep.toml", "--db", "results.db"]).expect_exit(0);
    assert_moves(&sandbox, "even");
    sandbox.run(&["delete", "even", "--yes", "--db", "new.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("new.db", "SELECT count(*) FROM course_notes"), "0");
}

/// The player that a run found plays in another sweep, spelt out in what is stored of it.
#[test]
fn what_was_found_plays_in_another_sweep() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(4, 4));
    let other = "name = \"next\"\ngame = \"connect-four\"\nseed = 1\ngames = 4\n\
                 openings = { kind = \"random\", plies = 2 }\n\n\
                 [players.found]\nfrom = { experiment = \"even\", run = 1, best = true }\n\n\
                 [players.random]\nalgorithm = \"random\"\n";
    sandbox.write("next.toml", other);
    let ran = sandbox.run(&["run", "next.toml"]);
    assert!(ran.stderr().contains("even.db"), "{}", ran.stderr());
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let ran = sandbox.run(&["run", "next.toml"]);
    let found = sandbox.sql(
        "even.db",
        "SELECT value_text FROM estimates WHERE run = 1 ORDER BY step DESC LIMIT 1",
    );
    let parameter =
        sandbox.sql("even.db", "SELECT DISTINCT parameter FROM estimates").trim().to_owned();
    let said = format!("found: even, run 1: {parameter} = {found}");
    assert!(ran.expect_exit(0).stderr().contains(&said), "{}", ran.stderr());
    let stored =
        sandbox.run(&["sql", "--db", "next.db", "--csv", "SELECT sweep_toml FROM experiments"]);
    let line = format!("{parameter} = {found}");
    assert!(stored.stdout().contains(&line), "{line} in {}", stored.stdout());
    assert!(stored.stdout().contains("# The best of even, run 1."), "{}", stored.stdout());
    // The same again is the same experiment.
    assert!(sandbox.run(&["run", "next.toml"]).stderr().contains("already"));
    // What is not there, and what has no runs.
    for (from, problem) in [
        ("{ experiment = \"even\", run = 7 }", "it has 2 runs, 0 to 1"),
        ("{ experiment = \"next\" }", "it has no runs"),
        ("{ experiment = \"odd\" }", "odd.db"),
        ("{ experiment = \"even\", worst = 1 }", "it has no `worst`"),
    ] {
        let text = other.replace("{ experiment = \"even\", run = 1, best = true }", from);
        sandbox.write("wrong.toml", &text);
        let ran = sandbox.run(&["run", "wrong.toml", "--dry-run"]);
        assert!(ran.stderr().contains(problem), "{from}: {}", ran.stderr());
        assert!(!ran.0.status.success(), "{from}");
    }
    // Through a coordinator.
    let coordinator = sandbox.coordinator("even.db", "127.0.0.1:0");
    let ran = sandbox.run(&["submit", "next.toml", "--coordinator", &coordinator.url]);
    assert!(ran.expect_exit(0).stderr().contains(&said), "{}", ran.stderr());
}
