//! Sweeps that look for the value at which two players are even: what they print, through kills, on four
//! processes, and when they move to another database.

use crate::sandbox::{Sandbox, Watched, wait_until};

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

/// What was tried and found, and every counted game.
fn course(sandbox: &Sandbox, db: &str) -> String {
    let statement = "
        SELECT 'note', run, kind, step, trial, note, '' FROM course_notes
        UNION ALL
        SELECT 'game', c.number, c.asked_after, g.number, g.outcome, c.definition_hash, g.moves_hash
            FROM games AS g JOIN cells AS c USING (cell_id) WHERE g.counted = 1
        ORDER BY 1, 2, 3, 4, 5";
    let ran = sandbox.run(&["sql", "--db", db, "--csv", statement]);
    ran.expect_exit(0);
    ran.stdout().to_owned()
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
      0  1      mcts    alphabeta      8  simulations      6  4–7
      1  2      mcts    alphabeta      8  simulations    300  278 or more
    Value: of the player's parameter at which it scores half of the points, the median of what the games leave probable.
    What came of each cell: spelrum report even --table cells.
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
    even,0,find,1,mcts,["alphabeta"],8,true,simulations,6.0,6,4.0,4,7.0,7,,,,,
    even,1,find,2,mcts,["alphabeta"],8,true,simulations,300.0,300,278.0,278,,,,,,,
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
    sandbox.run(&["run", "sweep.toml", "--db", "one.db", "--slots", "1"]).expect_exit(0);
    sandbox.run(&["check", "--db", "one.db"]).expect_exit(0);
    let expected = course(&sandbox, "one.db");
    assert_eq!(sandbox.settled("one.db"), 800);

    let mut run =
        Watched::start(&sandbox, &["run", "sweep.toml", "--db", "run.db", "--slots", "2"]);
    run.read_until("into run.db");
    wait_until("games are settled", || sandbox.settled("run.db") >= 100);
    run.process.kill();
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "run.db"), expected);

    let mut coordinator = sandbox.coordinator_with("four.db", "127.0.0.1:0", "500ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut workers = [(); 3].map(|()| sandbox.worker(&url, "1", &[]));
    wait_until("games are settled", || sandbox.settled("four.db") >= 100);
    coordinator.process.kill();
    workers[0].kill();
    coordinator = sandbox.coordinator_with("four.db", &address, "500ms");
    sandbox.wait_until_finished(&coordinator);
    sandbox.run(&["check", "--db", "four.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "four.db"), expected);
}

#[test]
fn a_course_moves_to_another_database() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(6, 8));
    sandbox.run(&["run", "sweep.toml", "--db", "results.db"]).expect_exit(0);
    sandbox.run(&["export", "even", "--output", "part.db", "--db", "results.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "part.db"), course(&sandbox, "results.db"));
    sandbox.run(&["import", "part.db", "--db", "new.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "new.db"), course(&sandbox, "results.db"));
    let report = |db| sandbox.run(&["report", "--db", db]).stdout().to_owned();
    assert_eq!(report("new.db"), report("results.db"));
    sandbox.run(&["delete", "even", "--yes", "--db", "new.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("new.db", "SELECT count(*) FROM course_notes"), "0");
}
