//! `spelrum verify`: a sample of games is played again, and whoever's differ is named.

use rusqlite::Connection;
use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

/// A sandbox with a played sweep of 20 games in `v.db`.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("verified", 20));
    sandbox.run(&["run", "sweep.toml", "--db", "v.db"]).expect_exit(0);
    sandbox
}

fn verified(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.run(&[&["verify", "--db", "v.db"], more].concat())
}

#[test]
fn games_that_are_the_same_are_counted() {
    let sandbox = played();
    let all = verified(&sandbox, &["--games", "1000"]);
    all.expect_exit(0);
    insta::assert_snapshot!(all.stdout(), @"
    worker  games  same  different
    ───────────────────────────────
         1     40    40          0

    verified, played again: 40 the same, 0 different
    ");
    let some = verified(&sandbox, &["verified", "--games", "7", "--json"]);
    some.expect_exit(0);
    let some: Value = serde_json::from_str(some.stdout()).unwrap();
    assert_eq!((&some["games"], &some["workers"][0]["games"]), (&7.into(), &7.into()));
    assert_eq!(some["different_game_ids"], serde_json::json!([]));
}

/// What one worker has wrong is told with its number, whatever else there is.
#[test]
fn a_game_that_differs_is_named_with_its_worker() {
    let sandbox = played();
    let db = Connection::open(sandbox.path("v.db")).unwrap();
    db.execute_batch(
        "UPDATE moves SET nodes = nodes + 1 WHERE ply = 2 AND game_id = (
             SELECT max(game_id) FROM games)",
    )
    .unwrap();
    let wrong: i64 = db.query_row("SELECT max(game_id) FROM games", (), |row| row.get(0)).unwrap();
    let found = verified(&sandbox, &["--games", "1000"]);
    found.expect_exit(8);
    let said = found.stdout();
    assert!(said.contains(&format!("Game {wrong}: different at ply 2")), "{said}");
    assert!(said.ends_with("verified, played again: 39 the same, 1 different\n"), "{said}");
    let json: Value =
        serde_json::from_str(verified(&sandbox, &["--games", "1000", "--json"]).stdout()).unwrap();
    assert_eq!(json["different_game_ids"], serde_json::json!([wrong]));
    assert_eq!(json["workers"][0]["different"], 1);
    // A sample without it finds nothing.
    let finds_nothing = |seed: u64| {
        let seed = seed.to_string();
        verified(&sandbox, &["--games", "5", "--seed", &seed]).0.status.code() == Some(0)
    };
    assert!((1..20).any(finds_nothing));
}

/// Searches that the clock ended are searched up to their nodes.
#[test]
fn timed_games_are_verified_by_their_nodes() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "sweep.toml",
        "name = \"timed\"\ngame = \"pentago\"\ngames = 2\n\
         [players.a]\nalgorithm = \"alpha-beta\"\nmove_time = \"3ms\"\n\
         [players.b]\nalgorithm = \"genetic-minimax\"\ndepth = 3\nmove_time = \"3ms\"\n",
    );
    sandbox.run(&["run", "sweep.toml", "--db", "v.db"]).expect_exit(0);
    let said = verified(&sandbox, &[]);
    said.expect_exit(0);
    assert!(said.stdout().contains("2 the same, 0 different"), "{}", said.stdout());
}

#[test]
fn what_cannot_be_verified_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("waiting", 20));
    let coordinator = sandbox.coordinator("v.db", "127.0.0.1:0");
    let submit = ["submit", "sweep.toml", "--coordinator", &coordinator.url];
    sandbox.run(&submit).expect_exit(0);
    for source in [["--db", "v.db"], ["--coordinator", &coordinator.url]] {
        let none = sandbox.run(&[&["verify"], &source[..]].concat());
        none.expect_exit(3);
        assert!(
            none.stderr().contains("none of the drawn games has a result"),
            "{}",
            none.stderr()
        );
    }
    sandbox.run(&["verify", "--db", "v.db", "--games", "0"]).expect_exit(2);
    let other = sandbox.run(&["verify", "another", "--db", "v.db"]);
    other.expect_exit(3);
}
