//! A worker at which games fail that others play, as whoever looks after it meets it.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use spelrum_test_support::Tools;

use crate::disk::get;
use crate::sandbox::{Sandbox, Watched, wait_until};

/// An engine that has no move to say, and does not say so.
const SICK: &str = r#"#!/bin/sh
while read -r line; do
    case "$line" in
        uci) echo "id name Sick"; echo uciok ;;
        isready) echo readyok ;;
        go*) sleep 600 ;;
        quit) exit 0 ;;
    esac
done
"#;

const SWEEP: &str = r#"
name = "fishing"
game = "chess"
max_plies = 10
openings = { kind = "random", plies = 4 }
seed = 1
games = 2000
game_timeout = "15s"
any_build = true
[players.fish]
algorithm = "uci"
engine = "fish"
depth = 1
[players.random]
algorithm = "random"
"#;

/// The program, as one engine of another, and the sick one, by the same name.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let sick = sandbox.write("sick.sh", SICK);
    std::fs::set_permissions(&sick, std::fs::Permissions::from_mode(0o755)).unwrap();
    let fish = |command: &str, arguments: &str| {
        format!("[engines.fish]\nprotocol = \"uci\"\ncommand = {command:?}\n{arguments}")
    };
    let player = r#"args = ["engine", "uci", "--player", "alpha-beta", "--set", "preset=chess"]"#;
    sandbox.write("good.toml", &fish(env!("CARGO_BIN_EXE_spelrum"), player));
    sandbox
        .write("bad.toml", &fish("./sick.sh", "startup_timeout = \"5m\"\nmove_timeout = \"5m\""));
    sandbox.write("sweep.toml", SWEEP);
    sandbox
}

#[test]
fn a_worker_that_fails_much_says_why_it_gets_no_games_until_it_is_let_in() {
    let Some(_tools) = Tools::find(&["sh", "sleep"]) else { return };
    let sandbox = sandbox();
    let log = std::fs::File::create(sandbox.path("coordinator.log")).unwrap();
    let start = ["coordinator", "--db", "q.db", "--listen", "127.0.0.1:0"];
    let coordinator = sandbox.coordinator_as(sandbox.spelrum(&start).stderr(log));
    let url = &*coordinator.url;
    let worker = |name: &str, engines: &str, slots: &str| {
        let arguments = ["worker", "--coordinator", url, "--slots", slots, "--name", name];
        Watched::start(&sandbox, &[&arguments[..], &["--engines", engines]].concat())
    };
    let _good = worker("good", "good.toml", "1");
    let mut bad = worker("bad", "bad.toml", "16");
    let status = || {
        let ran = sandbox.run(&["status", "--coordinator", url, "--json"]);
        serde_json::from_str::<Value>(ran.expect_exit(0).stdout()).unwrap()
    };
    wait_until("both are there", || status()["workers"].as_array().unwrap().len() == 2);
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);

    bad.read_until("gives this worker no games");
    let attention = status()["attention"].as_array().unwrap().clone();
    let item = attention.iter().find(|item| item["kind"] == "quarantined").expect("it is told");
    let problem = item["problem"].as_str().unwrap();
    assert!(problem.contains("(bad on ") && problem.contains("is quarantined"), "{problem}");
    assert!(item["remedy"].as_str().unwrap().contains("spelrum worker readmit "), "{item}");
    wait_until("the metrics have it", || {
        let metrics = get(&coordinator, "/metrics");
        metrics.contains("spelrum_workers_withheld{why=\"quarantined\"} 1\n")
            && metrics.contains("spelrum_workers_quarantined_total 1\n")
    });
    let log = std::fs::read_to_string(sandbox.path("coordinator.log")).unwrap();
    assert_eq!(
        log.matches("a worker is quarantined: its failed games succeeded on other workers").count(),
        1
    );
    let held = "SELECT count(*) FROM leases AS l JOIN workers AS w USING (worker_id)
        WHERE w.name = 'bad' AND l.ended_by IS NULL";
    assert_eq!(sandbox.sql("q.db", held), "0", "it keeps what it has been leased");
    let why = sandbox.sql("q.db", "SELECT max(last_message) FROM attempts");
    assert!(why.contains("longer than the sweep's game_timeout"), "{why}");

    let readmitted = sandbox.run(&["worker", "readmit", "bad", "--coordinator", url]);
    let said = readmitted.expect_exit(0).stdout();
    assert!(said.starts_with("worker ") && said.ends_with(" gets games again\n"), "{said}");
    bad.read_until("gives this worker games again");
}
