//! Killing any process at any moment loses nothing and repeats nothing (invariants 4, 5, 6).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use super::judge::assert_complete;
use super::kills;
use crate::sandbox::{Sandbox, Watched, tic_tac_toe, wait_until};

/// Workers say that they live this often, so that the games of a killed one come back soon.
const HEARTBEAT: &str = "200ms";

/// Games that are surely played between two kills.
const GAMES_BETWEEN: u64 = 100;

/// A sweep that is not over before the last kill.
fn sweep() -> String {
    tic_tac_toe("sweep", 1_000 + 300 * u32::try_from(kills()).unwrap())
}

/// Waits until so many games are settled.
fn wait_for(sandbox: &Sandbox, db: &str, games: u64) {
    wait_until("games are settled", || sandbox.settled(db) >= games);
}

#[test]
fn a_killed_run_resumes() {
    let sandbox = Sandbox::new();
    // More than a thousand games were seen to be played between the look and the kill; if a sweep is over by then,
    // the kills before must do.
    let games = 1_000 + 1_500 * u32::try_from(kills()).unwrap();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", games));
    let planned = 2 * u64::from(games);
    let (mut before, mut in_the_middle) = (0, 0);
    while in_the_middle < kills() && before < planned {
        let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "2"]);
        run.read_until("games in 2 cells, into sweep.db");
        wait_for(&sandbox, "sweep.db", planned.min(before + GAMES_BETWEEN));
        run.process.kill();
        before = sandbox.settled("sweep.db");
        in_the_middle += u64::from(before < planned);
    }
    assert!(in_the_middle > 0, "a kill came in mid-sweep");
    let ran = sandbox.run(&["run", "sweep.toml"]);
    ran.expect_exit(0);
    assert!(ran.stderr().contains("resuming sweep"), "{}", ran.stderr());
    assert_complete(&sandbox, "sweep.db");
}

/// Grown twice and killed each time, a sweep ends with exactly the games that its last file names, and
/// with those that were played before.
#[test]
fn a_sweep_that_grows_between_kills_loses_nothing() {
    let sandbox = Sandbox::new();
    let depths = |depths: &str, games: u32| {
        tic_tac_toe("sweep", games).replace("depth = [1, 2]", &format!("depth = [{depths}]"))
    };
    let mut before = 0;
    let mut kept = String::new();
    for (axis, games) in [("1, 2", 1_200), ("3, 2", 1_500)] {
        sandbox.write("sweep.toml", &depths(axis, games));
        let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "2"]);
        run.read_until("games in 2 cells, into sweep.db");
        wait_for(&sandbox, "sweep.db", before + GAMES_BETWEEN);
        run.process.kill();
        before = sandbox.settled("sweep.db");
        kept = sandbox.all_games("sweep.db");
    }
    // Both come back; the others get more games, but no cell fewer than it had.
    sandbox.write("sweep.toml", &depths("1, 2, 3", 1_600));
    let ran = sandbox.run(&["run", "sweep.toml"]);
    ran.expect_exit(0);
    assert!(ran.stderr().contains("this sweep changes sweep:"), "{}", ran.stderr());
    assert!(ran.stderr().contains("returned  1 cell"), "{}", ran.stderr());
    let now = sandbox.all_games("sweep.db");
    let now: std::collections::BTreeSet<&str> = now.lines().collect();
    assert!(kept.lines().all(|game| now.contains(game)), "a game that was played is not there");
    assert_eq!(sandbox.sql("sweep.db", "SELECT count(*) FROM cells"), "3");
    assert_complete(&sandbox, "sweep.db");
}

#[test]
fn a_killed_coordinator_comes_back_and_workers_lose_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep());
    let mut coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", HEARTBEAT);
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let _workers = [1, 2, 3].map(|_| sandbox.worker(&url, "1", &[]));
    for part in 1..=kills() {
        wait_for(&sandbox, "c.db", part * GAMES_BETWEEN);
        coordinator.process.kill();
        coordinator = sandbox.coordinator_with("c.db", &address, HEARTBEAT);
    }
    sandbox.wait_until_finished(&coordinator);
    assert_complete(&sandbox, "c.db");
}

#[test]
fn the_games_of_killed_workers_are_played_by_others() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep());
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", HEARTBEAT);
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &coordinator.url]).expect_exit(0);
    for part in 1..=kills() {
        let mut worker = sandbox.worker(&coordinator.url, "2", &[]);
        wait_for(&sandbox, "c.db", part * GAMES_BETWEEN);
        worker.kill();
    }
    let mut last = sandbox.worker(&coordinator.url, "2", &["--exit-when-done"]);
    assert_eq!(last.wait().code(), Some(0));
    sandbox.wait_until_finished(&coordinator);
    assert_complete(&sandbox, "c.db");
}

/// A network for each kill and some more, and the games that each plays.
fn sweep_of_networks(sandbox: &Sandbox) -> u64 {
    let networks = 4 + kills();
    sandbox.write(
        "sweep.toml",
        &format!(
            "name = \"krk\"\ngame = \"chess\"\nseed = 7\ngames = 100\nswap_sides = false\nmax_plies = 100\n\
             openings = {{ kind = \"ending\", ending = \"KRK\" }}\n\
             pairing = {{ pairs = [[\"white\", \"black\"]] }}\n\
             [axes]\nnumber = {{ from = 1, to = {networks}, step = 1 }}\n\
             [players.black]\nalgorithm = \"table\"\n\
             [players.white]\nalgorithm = \"alpha-beta\"\ndepth = 1\nevaluation = \"network\"\n\
             [players.white.network]\nending = \"KRK\"\nepochs = 4\nexamples = 20000\n\
             validation = 200\nseed = \"$number\"\n"
        ),
    );
    networks
}

/// Waits until it is time to kill something for so many times: a training is a step, and the games of a cell
/// are one.
fn wait_for_networks(sandbox: &Sandbox, db: &str, networks: u64, part: u64) {
    let done = "SELECT (SELECT count(*) FROM networks WHERE content IS NOT NULL)
        + (SELECT count(*) FROM games) / 100 AS steps";
    let steps = 2 * networks * part / (kills() + 1);
    wait_until("steps are done", || {
        // Before the database is there, and while it is made, nothing is done.
        let ran = sandbox.run(&["sql", "--db", db, "--csv", done]);
        let found = ran.stdout().lines().nth(1).and_then(|line| line.parse::<u64>().ok());
        let is_time = found.is_some_and(|found| found >= steps);
        if !is_time {
            // Training takes the processors that looking would take.
            std::thread::park_timeout(Duration::from_millis(200));
        }
        is_time
    });
}

/// The networks are those of an undisturbed run, as the games are.
fn assert_trained(sandbox: &Sandbox, db: &str, networks: u64) {
    assert_complete(sandbox, db);
    let trained =
        "SELECT count(*) || ' ' || replace(group_concat(sha256), ',', ' ') AS networks FROM (
        SELECT sha256 FROM networks ORDER BY definition_hash)";
    let there = sandbox.sql(db, trained);
    assert_eq!(there, sandbox.sql("undisturbed.db", trained));
    assert!(there.starts_with(&format!("{networks} ")), "{there}");
}

/// Whatever is killed, in the middle of trainings and of games: the same networks, and the same games.
#[test]
fn networks_are_trained_whatever_is_killed() {
    let sandbox = Sandbox::new();
    let networks = sweep_of_networks(&sandbox);
    let mut coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", HEARTBEAT);
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut workers = [1, 2].map(|_| sandbox.worker(&url, "1", &[]));
    for part in 1..=kills() {
        wait_for_networks(&sandbox, "c.db", networks, part);
        let worker = &mut workers[usize::from(part % 2 == 0)];
        worker.kill();
        coordinator.process.kill();
        coordinator = sandbox.coordinator_with("c.db", &address, HEARTBEAT);
        *worker = sandbox.worker(&url, "1", &[]);
    }
    sandbox.wait_until_finished(&coordinator);
    assert_trained(&sandbox, "c.db", networks);
}

#[test]
fn a_killed_run_trains_the_same_networks() {
    let sandbox = Sandbox::new();
    let networks = sweep_of_networks(&sandbox);
    let run = ["run", "sweep.toml", "--db", "k.db", "--slots", "2"];
    for part in 1..=kills() {
        let mut run = sandbox.start(&run);
        wait_for_networks(&sandbox, "k.db", networks, part);
        run.kill();
    }
    sandbox.run(&run).expect_exit(0);
    assert_trained(&sandbox, "k.db", networks);
}

/// Stopped for longer than leases live, a coordinator takes nobody for silent.
#[test]
fn a_coordinator_that_was_stopped_takes_no_games_away() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep());
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "2s");
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &coordinator.url]).expect_exit(0);
    let mut worker = sandbox.worker(&coordinator.url, "2", &["--exit-when-done"]);
    wait_for(&sandbox, "c.db", GAMES_BETWEEN);
    coordinator.process.signal(Signal::STOP);
    let stopped = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    // Leases live for 12 s: long enough for a worker on a crowded machine. Workers wait 15 s for an answer.
    let (_silent, nothing) = std::sync::mpsc::channel::<()>();
    nothing.recv_timeout(Duration::from_secs(13)).unwrap_err();
    coordinator.process.signal(Signal::CONT);
    assert_eq!(worker.wait().code(), Some(0));
    // A lease granted later may answer a call that its worker has given up: no worker holds that lease.
    let expired = format!(
        "SELECT count(*) FROM leases WHERE ended_by = 'expired' AND granted_unix_us < {stopped}"
    );
    assert_eq!(sandbox.sql("c.db", &expired), "0");
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM attempts"), "0");
    assert_complete(&sandbox, "c.db");
}

#[test]
fn three_worker_processes_play_the_games_of_one_run() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 200));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let again = sandbox.run(&["submit", "sweep.toml", "--coordinator", url]);
    assert_eq!(again.stdout(), "sweep was submitted before; nothing has changed\n");
    let workers = ["1", "2", "1"].map(|slots| sandbox.worker(url, slots, &["--exit-when-done"]));
    for mut worker in workers {
        assert_eq!(worker.wait().code(), Some(0));
    }
    sandbox.wait_until_finished(&coordinator);
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    assert_eq!(sandbox.all_games("c.db"), sandbox.all_games("sweep.db"));
    assert_eq!(sandbox.all_games("c.db").lines().count(), 401, "a heading and 400 games");

    let from_coordinator = sandbox.run(&["report", "--coordinator", url]);
    let from_file = sandbox.run(&["report", "--db", "c.db"]);
    from_file.expect_exit(0);
    assert_eq!(from_coordinator.stdout(), from_file.stdout());
}

#[test]
fn a_coordinator_ends_when_it_is_asked_to() {
    let sandbox = Sandbox::new();
    let mut coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    coordinator.process.signal(Signal::TERM);
    assert_eq!(coordinator.process.wait().code(), Some(0));
    sandbox.run(&["list", "--db", "c.db"]).expect_exit(0);
}
