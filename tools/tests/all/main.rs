//! The load test against a coordinator with a real database.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use spelrum_test_support::{Served, Site, eventually};

const PROGRAM: &str = env!("CARGO_BIN_EXE_load-test");

fn load_test(coordinator: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["--coordinator", coordinator]).args(arguments).env_remove("SPELRUM_TOKEN");
    command
}

/// Runs to its end, beside the coordinator's tasks.
async fn output(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The games are real: the coordinator checks them all.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_test_measures_and_leaves_nothing_behind() {
    let site = Site::new();
    let served = site.serve().await;
    let arguments = ["--workers", "40", "--duration", "3s", "--game-time", "200ms", "--json"];
    let ran = output(load_test(&served.url(), &arguments)).await;
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let json: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&json["workers"], &json["games_not_counted"]), (&40.into(), &0.into()), "{json}");
    assert_eq!((&json["workers_came_back"], &json["leases_dropped"]), (&0.into(), &0.into()));
    assert_eq!(json["first_failure"], Value::Null);
    let calls = json["calls"].as_array().unwrap();
    let answered = |name: &str| {
        let call = calls.iter().find(|call| call["call"] == name).unwrap();
        assert_eq!(call["failed"], 0);
        call["answered"].as_u64().unwrap()
    };
    // How many depends on the machine.
    assert!(answered("Heartbeat") > 0 && answered("Report") > 0);
    let counted = json["games_counted"].as_i64().unwrap();
    assert!(counted > 0);
    assert!(served.number("SELECT count(*) FROM games").await >= counted);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
    assert_eq!(served.number("SELECT count(*) FROM leases WHERE ended_by IS NULL").await, 0);
    let cancelled = "SELECT count(*) FROM experiments WHERE state = 'cancelled'";
    assert_eq!(served.number(cancelled).await, 1);

    // Games without time: each report holds as many as it may.
    let arguments = ["--workers", "40", "--duration", "1s", "--game-time", "0"];
    let ran = output(load_test(&served.url(), &arguments)).await;
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let shown = text(&ran.stdout);
    assert!(shown.starts_with("40 workers, measured for "), "{shown}");
    assert!(!shown.contains("failed call"), "{shown}");
    served.stop().await.unwrap();
}

/// All workers of a coordinator that is killed join the next one.
#[tokio::test(flavor = "multi_thread")]
async fn simulated_workers_wait_for_a_killed_coordinator() {
    let site = Site::new();
    let served = site.serve().await;
    let address: SocketAddr = served.address;
    let arguments = ["--workers", "20", "--duration", "6s", "--game-time", "100ms", "--json"];
    let mut command = load_test(&served.url(), &arguments);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let played = "SELECT count(*) FROM games";
    eventually("games", async || (served.number(played).await > 100).then_some(())).await;
    served.kill().await;
    let served = Served::start(&site.db(), address, Duration::from_secs(5)).await;
    let ran = tokio::task::spawn_blocking(move || running.wait_with_output().unwrap());
    let ran = ran.await.unwrap();
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let json: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(json["workers_came_back"].as_u64().unwrap() >= 20, "{json}");
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
    served.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_load_test_says_why_and_cancels_its_experiment() {
    let fails = async |url: &str, arguments: &[&str]| {
        let ran = output(load_test(url, arguments)).await;
        assert!(!ran.status.success());
        text(&ran.stderr)
    };
    let unreachable = fails("http://127.0.0.1:9", &["--workers", "2"]).await;
    assert!(unreachable.contains("Connection refused"), "{unreachable}");
    let site = Site::new();
    let served = site.serve().await;
    let folder = site.db().parent().unwrap().to_owned();
    let timed = folder.join("timed.toml");
    let sweep = "name = \"timed\"\ngame = \"tic-tac-toe\"\ngames = 2\n[players.a]\n\
        algorithm = \"minimax\"\ndepth = 9\nmove_time = \"1s\"\n[players.b]\nalgorithm = \"random\"\n";
    std::fs::write(&timed, sweep).unwrap();
    let with =
        async |sweep: &str| fails(&served.url(), &["--workers", "1", "--sweep", sweep]).await;
    let problem = with(timed.to_str().unwrap()).await;
    assert!(problem.contains("its games take real time"), "{problem}");
    let cancelled = "SELECT count(*) FROM experiments WHERE state = 'cancelled'";
    assert_eq!(served.number(cancelled).await, 1);
    let problem = with(folder.join("none.toml").to_str().unwrap()).await;
    assert!(problem.contains("cannot read the sweep"), "{problem}");
    let many = fails(&served.url(), &["--workers", "100001"]).await;
    assert!(many.contains("100001 is not in 1..=100000"), "{many}");
    served.stop().await.unwrap();
}
