//! Sweeps that tune a player: what they print, through kills and on four processes.

use crate::courses::assert_same_through_kills;
use crate::sandbox::Sandbox;

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
    assert_same_through_kills(&sandbox, 680, 1);
    let report = sandbox.run(&["report", "--db", "one.db"]);
    assert!(report.stdout().contains("against the same opponents"), "{}", report.stdout());

    // Who was found plays elsewhere, whole.
    let next = "name = \"next\"\ngame = \"connect-four\"\nseed = 1\ngames = 4\n\
                openings = { kind = \"random\", plies = 2 }\n\n\
                [players.found]\nfrom = { experiment = \"tuned\", db = \"one.db\" }\n\n\
                [players.random]\nalgorithm = \"random\"\n";
    sandbox.write("next.toml", next);
    sandbox.run(&["run", "next.toml", "--db", "next.db"]).expect_exit(0);
    let found = "SELECT json(note ->> 'player') FROM course_notes WHERE kind = 'ended'";
    let played = "SELECT json(parameters_json) FROM players WHERE algorithm = 'mcts'";
    assert_eq!(sandbox.sql("next.db", played), sandbox.sql("one.db", found));
}
