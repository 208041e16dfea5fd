//! The process in which a worker plays: it is stopped, killed and told to end, and no game is lost or counted twice.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use spelrum_test_support::skip;

use crate::sandbox::{Process, Sandbox, Service, playing_process, wait_until};

/// Games of some hundredths of a second.
fn sweep(games: u32, game_timeout: &str) -> String {
    format!(
        "name = \"played\"\ngame = \"pentago\"\ngames = {games}\ngame_timeout = \"{game_timeout}\"\n\
         [players.strong]\nalgorithm = \"alpha-beta\"\ndepth = 3\n[players.random]\nalgorithm = \"random\"\n"
    )
}

/// Another process than this one, once there is one.
fn next(worker: &Process, before: Option<Pid>) -> Pid {
    let mut found = None;
    wait_until("a playing process is there", || {
        found = playing_process(worker).filter(|process| Some(*process) != before);
        found.is_some()
    });
    found.unwrap()
}

/// A coordinator with the sweep, and a worker that plays it; `None` where processes cannot be looked at.
fn begun(sandbox: &Sandbox, sweep: &str, slots: &str) -> Option<(Service, Process)> {
    // Elsewhere than on Linux the children of a process are not to be read there.
    if !Path::new("/proc/self/stat").exists() {
        skip("it finds a worker's playing process in /proc");
        return None;
    }
    sandbox.write("sweep.toml", sweep);
    let coordinator = sandbox.coordinator("played.db", "127.0.0.1:0");
    let url = coordinator.url.clone();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let worker = sandbox.worker(&url, slots, &["--exit-when-done"]);
    wait_until("games are played", || sandbox.settled("played.db") > 0);
    Some((coordinator, worker))
}

/// Why games failed, a line each.
fn failures(sandbox: &Sandbox) -> String {
    let statement = "SELECT message FROM failures ORDER BY 1";
    let ran = sandbox.run(&["sql", "--db", "played.db", "--csv", statement]);
    ran.expect_exit(0);
    ran.stdout().lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// Exactly the planned games, each once, and those of an undisturbed run.
#[track_caller]
fn assert_whole(sandbox: &Sandbox, games: u32) {
    let count = sandbox.sql("played.db", "SELECT count(*) FROM games WHERE counted = 1");
    assert_eq!(count, games.to_string());
    sandbox.run(&["run", "sweep.toml", "--db", "undisturbed.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games("played.db"), sandbox.all_games("undisturbed.db"));
}

#[test]
fn a_game_that_does_not_stop_fails_and_is_played_again() {
    // Where neither slot is at a game when the process is stopped, it is begun anew, and no game fails.
    assert!((0..5).any(|_| stops_a_game()), "no game was under way in five attempts");
}

/// Stops the playing process; whether a game was under way in it.
fn stops_a_game() -> bool {
    let sandbox = Sandbox::new();
    // Longer than any game takes that nobody stops, also on a crowded machine.
    let Some((_coordinator, mut worker)) = begun(&sandbox, &sweep(200, "20s"), "2") else {
        return true;
    };
    let stuck = next(&worker, None);
    // Not even the thread that would notice that the time is over goes on.
    let _gone = kill_process(stuck, Signal::STOP);
    let mut stopped = Instant::now();
    wait_until("a game has failed, or all are played", || {
        if stopped.elapsed() > Duration::from_secs(120) {
            let _gone = kill_process(stuck, Signal::CONT);
            std::thread::yield_now();
            let _gone = kill_process(stuck, Signal::STOP);
            stopped = Instant::now();
        }
        !failures(&sandbox).is_empty() || sandbox.settled("played.db") == 200
    });
    let said = failures(&sandbox);
    if !said.is_empty() {
        assert!(said.contains("the game took longer than the sweep's game_timeout"), "{said}");
        assert!(said.contains("did not stop, and its process was killed"), "{said}");
        assert_eq!(said.lines().count(), 1, "the other slot's game is not to blame: {said}");
        assert!(test_kill_process(stuck).is_err(), "it is gone");
    }
    assert_eq!(worker.wait().code(), Some(0));
    assert_whole(&sandbox, 200);
    !said.is_empty()
}

#[test]
fn a_process_that_is_killed_costs_what_it_played() {
    let sandbox = Sandbox::new();
    let Some((_coordinator, mut worker)) = begun(&sandbox, &sweep(200, "1h"), "2") else {
        return;
    };
    let mut before = None;
    for _ in 0..3 {
        let pid = next(&worker, before);
        before = Some(pid);
        let settled = sandbox.settled("played.db");
        wait_until("it plays", || sandbox.settled("played.db") > settled);
        // Between two games it costs none.
        let _ended = kill_process(pid, Signal::KILL);
    }
    assert_eq!(worker.wait().code(), Some(0));
    let said = failures(&sandbox);
    for line in said.lines() {
        assert!(line.contains("the playing process ended while it was played"), "{said}");
        assert!(line.contains("SIGKILL"), "{said}");
    }
    assert_whole(&sandbox, 200);
}

/// What tells every process of a worker to end, as a service manager does, has it finish its games.
#[test]
fn only_the_worker_is_told_to_end() {
    let sandbox = Sandbox::new();
    let Some((mut coordinator, mut worker)) = begun(&sandbox, &sweep(100_000, "1h"), "2") else {
        return;
    };
    let pid = next(&worker, None);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        kill_process(pid, signal).unwrap();
    }
    let settled = sandbox.settled("played.db");
    wait_until("it plays on", || sandbox.settled("played.db") > settled + 20);
    assert_eq!(playing_process(&worker), Some(pid));
    worker.signal(Signal::TERM);
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(worker.wait().code(), Some(0));
    assert!(test_kill_process(pid).is_err(), "it is gone before its worker");
    assert_eq!(failures(&sandbox), "");
    let leased = "SELECT count(*) FROM leases WHERE ended_unix_us IS NULL";
    wait_until("what was not played is given back", || sandbox.sql("played.db", leased) == "0");
    coordinator.process.signal(Signal::TERM);
    assert_eq!(coordinator.process.wait().code(), Some(0));
}

#[test]
fn it_ends_with_its_worker() {
    let sandbox = Sandbox::new();
    let Some((_coordinator, mut worker)) = begun(&sandbox, &sweep(100_000, "1h"), "1") else {
        return;
    };
    let pid = next(&worker, None);
    worker.kill();
    wait_until("it is gone", || test_kill_process(pid).is_err());
}

#[test]
fn nobody_else_starts_it() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["playing-process", "--slots", "1"]);
    ran.expect_exit(2);
    assert!(ran.stderr().contains("spelrum worker starts it"), "{}", ran.stderr());
    assert!(!sandbox.run(&["--help"]).stdout().contains("playing-process"));
}
