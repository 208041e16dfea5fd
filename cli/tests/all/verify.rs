//! `spelrum verify`: a sample of games is played again, and whoever's differ is named.

use rusqlite::Connection;
use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, Watched, tic_tac_toe, wait_until};

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

/// A sweep with a clock, and one without.
const TIMED: &str = "name = \"timed\"\ngame = \"pentago\"\ngames = 2\n\
    [players.a]\nalgorithm = \"alpha-beta\"\nmove_time = \"3ms\"\n\
    [players.b]\nalgorithm = \"genetic-minimax\"\ndepth = 3\nmove_time = \"3ms\"\n";

/// What is still to be verified.
fn waiting(sandbox: &Sandbox) -> String {
    sandbox.sql("v.db", "SELECT count(*) FROM verifications WHERE settled_unix_us IS NULL")
}

fn state(sandbox: &Sandbox) -> String {
    sandbox.sql("v.db", "SELECT state FROM experiments WHERE name = 'plain'")
}

fn wait_until_both_are_finished(sandbox: &Sandbox) {
    let finished = "SELECT count(*) FROM experiments WHERE state = 'finished'";
    wait_until("both are finished", || sandbox.sql("v.db", finished) == "2");
}

/// Whoever played waits for somebody else, and the coordinator may be killed meanwhile. Then another worker
/// verifies what the first one played, timed or not, and the table names both.
#[test]
fn games_are_verified_by_the_other_worker() {
    let sandbox = Sandbox::new();
    sandbox.write("plain.toml", &tic_tac_toe("plain", 10));
    sandbox.write("timed.toml", TIMED);
    let mut coordinator = sandbox.coordinator("v.db", "127.0.0.1:0");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    for sweep in ["plain.toml", "timed.toml"] {
        sandbox.run(&["submit", sweep, "--coordinator", &url]).expect_exit(0);
    }
    let _one = sandbox.worker(&url, "1", &["--name", "one"]);
    wait_until_both_are_finished(&sandbox);
    let games = sandbox.all_games("v.db");

    let verify = ["verify", "plain", "--on-workers", "--games", "1000", "--coordinator", &url];
    let mut alone = Watched::start(&sandbox, &verify);
    alone.read_until("games of worker 1 (one on ");
    assert_eq!((&*waiting(&sandbox), &*state(&sandbox)), ("20", "running"));
    coordinator.process.kill();
    let coordinator = sandbox.coordinator("v.db", &address);
    assert_eq!(waiting(&sandbox), "20", "the order is on the disk");
    let _two = sandbox.worker(&url, "1", &["--name", "two"]);
    assert_eq!(alone.end(), Some(0));
    wait_until_both_are_finished(&sandbox);
    // They wait for nobody any more, and are not played a third time.
    let again = sandbox.run(&verify);
    again.expect_exit(0);
    let said = again.stdout();
    assert!(said.contains("worker 1 (one on ") && said.contains("worker 2 (two on "), "{said}");
    assert!(said.ends_with("played again by other workers: 20 the same, 0 different\n"), "{said}");
    assert_eq!(sandbox.sql("v.db", "SELECT count(*) FROM verifications"), "20");

    let timed = sandbox.run(&["verify", "timed", "--on-workers", "--json", "--coordinator", &url]);
    timed.expect_exit(0);
    let timed: Value = serde_json::from_str(timed.stdout()).unwrap();
    assert_eq!((&timed["ordered"], &timed["different"]), (&2.into(), &0.into()), "{timed}");
    assert_eq!(timed["pairs"][0]["same"], 2);
    assert_eq!(timed["pairs"][0]["played_by"]["name"], "one");
    assert_eq!(timed["pairs"][0]["verified_by"]["name"], "two");
    wait_until_both_are_finished(&sandbox);
    assert_eq!(sandbox.all_games("v.db"), games, "no result is another one now");
    drop(coordinator);
    sandbox.run(&["check", "--db", "v.db"]).expect_exit(0);
}

/// A record that somebody has changed is found, and both workers are named: there, in the status, and by the exit
/// code.
#[test]
fn a_record_that_was_changed_is_found_by_the_other_worker() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 10));
    let coordinator = sandbox.coordinator("v.db", "127.0.0.1:0");
    let url = coordinator.url.clone();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let _one = sandbox.worker(&url, "1", &["--name", "one"]);
    sandbox.wait_until_finished(&coordinator);
    let wrong: i64 = sandbox.sql("v.db", "SELECT max(game_id) FROM games").parse().unwrap();
    let db = Connection::open(sandbox.path("v.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(600)).unwrap();
    db.execute("UPDATE moves SET nodes = nodes + 1 WHERE ply = 2 AND game_id = ?", [wrong])
        .unwrap();
    drop(db);
    let _two = sandbox.worker(&url, "1", &["--name", "two"]);
    let found = sandbox.run(&["verify", "--on-workers", "--games", "1000", "--coordinator", &url]);
    found.expect_exit(8);
    let said = found.stdout();
    assert!(
        said.contains(&format!("Game {wrong}: different at ply 2; worker 1 (one on ")),
        "{said}"
    );
    assert!(said.contains("worker 2 (two on ") && said.contains("  nodes: recorded "), "{said}");
    assert!(said.ends_with("19 the same, 1 different\n"), "{said}");
    let status = sandbox.run(&["status", "--coordinator", &url]);
    let said = status.stdout();
    assert!(said.contains("came out otherwise when worker 2 (two on "), "{said}");

    // Once its result is taken out, nobody need see to it; and it is verified anew.
    sandbox.run(&["worker", "exclude", "one", "--coordinator", &url, "--yes"]).expect_exit(0);
    wait_until("all is played by the other", || {
        sandbox.sql("v.db", "SELECT count(*) FROM games WHERE worker_id = 2") == "20"
    });
    sandbox.wait_until_finished(&coordinator);
    let status = sandbox.run(&["status", "--coordinator", &url]);
    assert!(!status.stdout().contains("came out otherwise"), "{}", status.stdout());
    assert_eq!(sandbox.sql("v.db", "SELECT count(game_id) FROM verifications"), "0");
    drop(coordinator);
    sandbox.run(&["check", "--db", "v.db"]).expect_exit(0);
}

#[test]
fn what_workers_cannot_verify_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("waiting", 20));
    let coordinator = sandbox.coordinator("v.db", "127.0.0.1:0");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let says = |arguments: &[&str], code: i32, words: &str| {
        let ran = sandbox.run(&[&["verify", "--on-workers"], arguments].concat());
        ran.expect_exit(code);
        assert!(ran.stderr().contains(words), "{}", ran.stderr());
    };
    says(&["--coordinator", url], 3, "none of the drawn games of");
    says(&["--coordinator", url, "--games", "10001"], 2, "at most 10,000 at once");
    says(&["--db", "v.db"], 2, "name the coordinator that has it");
    sandbox.run(&["cancel", "waiting", "--coordinator", url]).expect_exit(0);
    says(&["--coordinator", url], 3, "was cancelled");
}
