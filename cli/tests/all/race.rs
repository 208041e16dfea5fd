//! Sweeps that play until it is known which player is first: what they print, through kills, on four processes, and when
//! they move to another database.

use crate::courses::{assert_moves, assert_same_through_kills};
use crate::sandbox::{Sandbox, wait_until};

fn sweep(rounds: u32, games: u32) -> String {
    format!(
        "name = \"best\"
game = \"connect-four\"
seed = 7
games = {games}
openings = {{ kind = \"random\", plies = 4 }}
pairing = {{ gauntlet = \"alphabeta\" }}

[players.mcts]
algorithm = \"mcts\"
vary = {{ simulations = [5, 20, 200] }}

[players.alphabeta]
algorithm = \"alpha-beta\"
depth = 2
shuffle = true

[race]
players = \"mcts\"
rounds = {rounds}
"
    )
}

#[test]
fn a_race_prints_who_is_first() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(40, 10));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    ran.expect_exit(0);
    let said = ran.stdout();
    assert!(said.contains("Who is first"), "{said}");
    assert!(said.contains("Run 0: mcts(simulations=200) is first, after"), "{said}");
    assert!(said.contains(" of at most 40."), "{said}");
    let csv = sandbox.run(&["report", "--db", "results.db", "--table", "race", "--format", "csv"]);
    csv.expect_exit(0);
    let csv = csv.stdout();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.lines().nth(1).unwrap().contains("mcts(simulations=200)"), "{csv}");
    let json = sandbox.run(&["report", "--db", "results.db", "--json"]);
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["runs"][0]["kind"], "race");
    assert_eq!(json["race"][0]["is_first"], true);
    let again = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    assert_eq!(again.stdout(), said);
}

/// A race of players that are alike goes on to its last round, so that there is time for kills.
#[test]
fn a_race_is_the_same_on_one_process_and_on_four_that_are_killed() {
    let sandbox = Sandbox::new();
    let even = sweep(10, 20).replace("[5, 20, 200]", "[50, 51, 52]");
    sandbox.write("sweep.toml", &even);
    assert_same_through_kills(&sandbox, 600, 1);
}

#[test]
fn a_race_moves_to_another_database() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(6, 8));
    sandbox.run(&["run", "sweep.toml", "--db", "results.db"]).expect_exit(0);
    assert_moves(&sandbox, "best");
}

/// Stopped between two rounds, its state is in the database.
#[test]
fn status_says_how_far_a_race_is_and_who_may_be_first() {
    let sandbox = Sandbox::new();
    // Ever new rounds between players that are alike, beside one that is soon out.
    let even = sweep(10_000, 10).replace("[5, 20, 200]", "[1, 200, 201]");
    sandbox.write("sweep.toml", &even);
    let mut run = sandbox.start(&["run", "sweep.toml", "--db", "results.db"]);
    let status = || {
        let ran = sandbox.run(&["status", "--db", "results.db", "--json"]);
        serde_json::from_str::<serde_json::Value>(ran.stdout()).unwrap_or_default()
    };
    wait_until("a round is over", || status()["races"][0]["rounds"].as_u64() > Some(0));
    run.kill();
    let race = &status()["races"][0];
    let rounds = race["rounds"].as_u64().unwrap();
    assert!(rounds > 0 && race["rounds_max"] == 10_000 && race["players"] == 3, "{race}");
    let ran = sandbox.run(&["status", "--db", "results.db"]);
    ran.expect_exit(0);
    let left = race["left"].as_array().unwrap();
    let line = format!(
        "\nraces:\n  best: {rounds} of at most 10,000 rounds played; {} of 3 players may be first: mcts(simulations=",
        left.len()
    );
    assert!(ran.stdout().contains(&line), "{line}{}", ran.stdout());
}
