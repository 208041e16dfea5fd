//! A simulated fleet, and the coordinator that bears it.

use serde_json::Value;

use crate::sandbox::{Sandbox, Watched};

/// Its games are real: the referee takes them all, and the database is whole.
#[test]
fn a_fleet_plays_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    let fleet = ["bench", "fleet", "--coordinator", url, "--workers", "40", "--duration", "3s"];
    let ran = sandbox.run(&[&fleet[..], &["--game-time", "200ms", "--json"]].concat());
    let json: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
    assert_eq!((&json["workers"], &json["games_not_counted"]), (&40.into(), &0.into()), "{json}");
    assert_eq!((&json["workers_came_back"], &json["leases_dropped"]), (&0.into(), &0.into()));
    assert_eq!(json["first_failure"], Value::Null);
    let calls = json["calls"].as_array().unwrap();
    let answered = |call: &str| {
        let found = calls.iter().find(|it| it["call"] == call).unwrap();
        assert_eq!(found["failed"], 0);
        found["answered"].as_u64().unwrap()
    };
    // How many depends on the machine.
    assert!(answered("Heartbeat") > 0 && answered("Report") > 0);
    let counted = json["games_counted"].as_u64().unwrap();
    assert!(counted > 0);

    let games: u64 = sandbox.sql("c.db", "SELECT count(*) AS n FROM games").parse().unwrap();
    assert!(games >= counted);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) AS n FROM uncounted_games"), "0");
    assert_eq!(sandbox.sql("c.db", "SELECT state FROM experiments"), "cancelled");
    let held = "SELECT count(*) AS n FROM leases WHERE ended_by IS NULL";
    assert_eq!(sandbox.sql("c.db", held), "0");
    sandbox.run(&["check", "--db", "c.db"]).expect_exit(0);

    // All at once: as many games in a report as it may have.
    let ran = sandbox.run(&[&fleet[..], &["--game-time", "0"]].concat());
    ran.expect_exit(0);
    assert!(ran.stdout().starts_with("40 workers, measured for "), "{}", ran.stdout());
    assert!(!ran.stdout().contains("failed:"), "{}", ran.stdout());
}

/// A coordinator that is killed and comes back has its whole fleet again, which says Hello.
#[test]
fn a_fleet_waits_for_its_coordinator() {
    let sandbox = Sandbox::new();
    let mut coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let address = coordinator.address().to_owned();
    let url = coordinator.url.clone();
    let arguments = ["bench", "fleet", "--coordinator", &url, "--workers", "20"];
    let more = ["--duration", "12s", "--game-time", "100ms"];
    let mut fleet = Watched::start(&sandbox, &[&arguments[..], &more].concat());
    fleet.read_until("measured for");
    coordinator.process.kill();
    let coordinator = sandbox.coordinator("c.db", &address);
    assert_eq!(fleet.end(), Some(0));
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) AS n FROM uncounted_games"), "0");
    drop(coordinator);
    sandbox.run(&["check", "--db", "c.db"]).expect_exit(0);
}

#[test]
fn what_a_fleet_cannot_do_says_why() {
    let sandbox = Sandbox::new();
    let nobody = ["bench", "fleet", "--coordinator", "http://127.0.0.1:9", "--workers", "2"];
    let none = sandbox.run(&nobody);
    none.expect_exit(5);
    insta::assert_snapshot!(none.stderr());
    // What nobody could play in no time, and what is not there.
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let timed = "name = \"timed\"\ngame = \"tic-tac-toe\"\ngames = 2\n[players.a]\n\
        algorithm = \"minimax\"\ndepth = 9\nmove_time = \"1s\"\n[players.b]\nalgorithm = \"random\"\n";
    sandbox.write("timed.toml", timed);
    let with = |sweep: &str, code: i32| {
        let fleet = ["bench", "fleet", "--coordinator", &coordinator.url, "--game-time", "0"];
        let ran = sandbox.run(&[&fleet[..], &["--workers", "1", "--sweep", sweep]].concat());
        ran.expect_exit(code);
        ran.stderr().to_owned()
    };
    insta::assert_snapshot!([with("timed.toml", 5), with("none.toml", 3)].join("\n"));
    assert_eq!(sandbox.sql("c.db", "SELECT state FROM experiments"), "cancelled");
    let many = sandbox.run(&["bench", "fleet", "--workers", "100001"]);
    many.expect_exit(2);
}
