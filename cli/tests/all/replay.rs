//! Recorded games, shown and played again.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

/// Players that draw no random numbers: the same games on every machine.
const NIM: &str = r#"
name = "nim"
game = { name = "nim", heaps = [1, 2] }
games = 2
openings = "start"

[players.deep]
algorithm = "alpha-beta"
depth = 3
shuffle = false

[players.flat]
algorithm = "minimax"
depth = 1
shuffle = false
"#;

/// Games that the clock decides.
const TIMED: &str = r#"
name = "timed"
game = "pentago"
games = 4
openings = { kind = "random", plies = 2 }

[players.deepening]
algorithm = "alpha-beta"
iterative = true
move_time = "1ms"

[players.genetic]
algorithm = "genetic-minimax"
depth = 3
move_time = "1ms"
"#;

fn sandbox_with(sweep: &str, db: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", sweep);
    // One slot, so that game ids are in the order of numbers.
    sandbox.run(&["run", "sweep.toml", "--db", db, "--slots", "1"]).expect_exit(0);
    sandbox
}

/// A snapshot of what was printed, its times masked.
macro_rules! assert_shown {
    ($ran:expr) => {{
        let ran: Ran = $ran;
        ran.expect_exit(0);
        insta::with_settings!({ filters => vec![(r"[0-9.]+ (µs|ms|s)\b", "[time]")] }, {
            insta::assert_snapshot!(ran.stdout());
        });
    }};
}

/// A snapshot of a failure.
macro_rules! assert_failure {
    ($ran:expr, $exit:expr) => {{
        let ran: Ran = $ran;
        ran.expect_exit($exit);
        insta::assert_snapshot!(ran.failure());
    }};
}

/// Replaces bytes in a closed database by as many others, behind SQLite's back.
fn tamper(sandbox: &Sandbox, db: &str, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let path = sandbox.path(db);
    let mut bytes = std::fs::read(&path).unwrap();
    let places: Vec<_> = bytes
        .windows(from.len())
        .enumerate()
        .filter_map(|(place, window)| (window == from.as_bytes()).then_some(place))
        .collect();
    assert!(!places.is_empty(), "{from:?} is not in the file");
    for place in places {
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn a_game_is_shown_move_by_move() {
    let sandbox = sandbox_with(NIM, "nim.db");
    assert_shown!(sandbox.run(&["replay", "1", "--db", "nim.db"]));
    let one = ["replay", "--cell", "1", "--number", "1", "--ply", "1", "--db", "nim.db"];
    assert_shown!(sandbox.run(&one));
    let rest = sandbox.run(&["replay", "1", "2", "--from", "1", "--no-check", "--db", "nim.db"]);
    assert_shown!(rest);
}

#[test]
fn every_game_comes_out_the_same_again() {
    let sandbox = sandbox_with(&tic_tac_toe("small", 10), "small.db");
    let ids: Vec<String> = (1..=20).map(|id: u32| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let ran = sandbox.run(&[&["replay", "--db", "small.db", "--check-only"], &ids[..]].concat());
    ran.expect_exit(0);
    assert_eq!(ran.stdout().lines().next(), Some("Game 1: the same"));
    assert_eq!(ran.stdout().lines().last(), Some("20 the same, 0 different"));

    let ran = sandbox.run(&[&["replay", "--db", "small.db", "--json"], &ids[..]].concat());
    let json: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
    for (game, id) in json["games"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(game["game_id"], id);
        assert_eq!((&game["check"], &game["compared"]), (&"same".into(), &"moves".into()));
        let moves = game["moves"].as_array().unwrap();
        assert_eq!(game["plies"], moves.len());
        let mut position = &game["opening"];
        for (ply, record) in moves.iter().enumerate() {
            assert_eq!((&record["ply"], &record["position"]), (&ply.into(), position));
            position = &record["position_after"];
            let statement = format!(
                "SELECT move || nodes || coalesce(score, 'none') FROM moves
                 WHERE game_id = {id} AND ply = {ply}"
            );
            let score = record["score"]
                .as_i64()
                .map_or_else(|| "none".to_owned(), |score| score.to_string());
            let mv = record["move"].as_str().unwrap();
            let shown = format!("{mv}{}{score}", record["nodes"]);
            assert_eq!(sandbox.sql("small.db", &statement), shown);
        }
    }
}

/// Invariant 3, from the database up: by their recorded node counts, without a look at the clock.
#[test]
fn timed_games_come_out_the_same_again() {
    let sandbox = sandbox_with(TIMED, "timed.db");
    let timed = "SELECT count(*) > 0 FROM moves WHERE ended_by = 'time'";
    assert_eq!(sandbox.sql("timed.db", timed), "1");
    let ran = sandbox.run(&["replay", "1", "2", "3", "4", "--check-only", "--db", "timed.db"]);
    ran.expect_exit(0);
    assert!(ran.stdout().ends_with("4 the same, 0 different\n"), "{}", ran.stdout());
}

#[test]
fn a_coordinator_answers_like_the_file() {
    let sandbox = sandbox_with(NIM, "nim.db");
    let from_file = sandbox.run(&["replay", "1", "2", "--db", "nim.db"]);
    let coordinator = sandbox.coordinator("nim.db", "127.0.0.1:0");
    let ran = sandbox.run(&["replay", "1", "2", "--coordinator", &coordinator.url]);
    ran.expect_exit(0);
    assert_eq!(ran.stdout(), from_file.stdout());
}

#[test]
fn a_record_that_was_changed_is_found_out() {
    let sandbox = sandbox_with(NIM, "nim.db");
    // A record's columns lie one behind the other.
    tamper(&sandbox, "nim.db", "losslast_object", "drawlast_object");
    let ran = sandbox.run(&["replay", "1", "2", "--check-only", "--db", "nim.db"]);
    ran.expect_exit(8);
    insta::assert_snapshot!(ran.stdout());
    let ran = sandbox.run(&["replay", "2", "--json", "--check-only", "--db", "nim.db"]);
    let json: Value = serde_json::from_str(ran.expect_exit(8).stdout()).unwrap();
    assert_eq!(json["games"][0]["check"], "different");
    insta::assert_snapshot!(json["games"][0]["difference"]);
}

#[test]
fn a_definition_that_was_changed_is_refused() {
    let sandbox = sandbox_with(NIM, "nim.db");
    tamper(&sandbox, "nim.db", r#""depth":3"#, r#""depth":4"#);
    assert_failure!(sandbox.run(&["replay", "1", "--db", "nim.db"]), 4);
}

#[test]
fn games_without_moves_are_played_again() {
    let sandbox = sandbox_with(&format!("record = \"games\"{NIM}"), "nim.db");
    assert_eq!(sandbox.sql("nim.db", "SELECT count(*) FROM moves"), "0");
    assert_shown!(sandbox.run(&["replay", "1", "--from", "1", "--db", "nim.db"]));
    assert_failure!(sandbox.run(&["replay", "1", "--no-check", "--db", "nim.db"]), 3);
}

#[test]
fn timed_games_without_moves_cannot_be_checked() {
    let sandbox = sandbox_with(&format!("record = \"games\"{TIMED}"), "timed.db");
    assert_failure!(sandbox.run(&["replay", "1", "--db", "timed.db"]), 3);
}

#[test]
fn games_that_are_not_there() {
    let sandbox = sandbox_with(NIM, "nim.db");
    let replay = |more: &[&str]| sandbox.run(&[&["replay", "--db", "nim.db"], more].concat());
    assert_failure!(replay(&["99"]), 3);
    assert_failure!(replay(&["--cell", "99", "--number", "0"]), 3);
    assert_failure!(replay(&["--cell", "1", "--number", "2"]), 3);
    assert_failure!(replay(&["1", "--ply", "99"]), 3);
    assert_failure!(replay(&["--cell", "1"]), 2);
    assert_failure!(replay(&[]), 2);
}

#[test]
fn a_game_that_failed_has_nothing_to_replay() {
    let sandbox = Sandbox::new();
    let slow = TIMED.replace("1ms", "60s").replace("games = 4", "games = 2");
    sandbox.write("sweep.toml", &format!("game_timeout = \"10ms\"{slow}"));
    let ran = sandbox.run(&["run", "sweep.toml", "--slots", "1"]);
    ran.expect_exit(7);
    assert_failure!(sandbox.run(&["replay", "1", "--db", "timed.db"]), 3);
}

#[test]
fn games_that_are_not_settled() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", NIM);
    let coordinator = sandbox.coordinator("nim.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let ran = sandbox.run(&["replay", "--cell", "1", "--number", "1", "--coordinator", url]);
    assert_failure!(ran, 3);
}
