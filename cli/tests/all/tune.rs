//! Sweeps that tune a player: what they print, through kills and on four processes.

use crate::sandbox::{Sandbox, Watched, wait_until};

/// Over simulations: the same games everywhere.
fn sweep(more: &str) -> String {
    format!(
        "name = \"tuned\"
game = \"connect-four\"
seed = 7
games = 20
openings = {{ kind = \"random\", plies = 4 }}
{more}

[players.mcts]
algorithm = \"mcts\"
simulations = 10

[tune.parameters]
simulations = {{ from = 10, to = 200, scale = \"log\" }}
solver = {{}}
bound = {{ choices = [\"ucb1\", \"ucb1-tuned\"] }}
exploration = {{ from = 0.0, to = 2.0, start = 1.0 }}

[tune]
player = \"mcts\"
"
    )
}

/// By CMA-ES, against another player.
fn against_alphabeta() -> String {
    sweep("[players.alphabeta]\nalgorithm = \"alpha-beta\"\ndepth = 2\nshuffle = true")
        + "method = \"cma-es\"\npopulation = 6\nsteps = 5\nconfirm = 40\n"
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
fn a_run_prints_what_it_recommends() {
    let sandbox = Sandbox::new();
    let text = sweep("pairing = \"self-play\"") + "steps = 30\nconfirm = 100\n";
    sandbox.write("sweep.toml", &text);
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    ran.expect_exit(0);
    insta::assert_snapshot!(ran.stdout());
    let csv = sandbox.run(&["report", "--db", "results.db", "--table", "runs", "--format", "csv"]);
    csv.expect_exit(0);
    insta::assert_snapshot!(csv.stdout());
    // Its course.
    let count = |view| sandbox.sql("results.db", &format!("SELECT count(*) FROM {view}"));
    assert_eq!(count("estimates"), "120");
    assert_eq!(count("trials"), "240");
    // The same over the network.
    let coordinator = sandbox.coordinator("results.db", "127.0.0.1:0");
    let report = sandbox.run(&["report", "--coordinator", &coordinator.url]);
    assert!(report.stdout().contains("against the start"), "{}", report.stdout());
}

#[test]
fn a_course_is_the_same_on_one_process_and_on_four_that_are_killed() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &against_alphabeta());
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "one.db", "--slots", "1"]);
    ran.expect_exit(0);
    assert!(ran.stdout().contains("against the same opponents"), "{}", ran.stdout());
    sandbox.run(&["check", "--db", "one.db"]).expect_exit(0);
    let expected = course(&sandbox, "one.db");
    assert_eq!(sandbox.settled("one.db"), 680);

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
