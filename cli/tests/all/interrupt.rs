//! The first Ctrl-C finishes current games and hands back the rest, the second stops now.

use std::process::Stdio;

use rustix::process::Signal;
use spelrum_test_support::Tools;

use crate::sandbox::{Sandbox, Watched, tic_tac_toe, wait_until};

/// Games that nobody waits for: each move searches for a minute.
const ENDLESS: &str = r#"
name = "endless"
game = "pentago"
games = 100

[players.slow]
algorithm = "minimax"
depth = 30
move_time = "60s"

[players.random]
algorithm = "random"
"#;

#[test]
fn the_first_interrupt_finishes_the_games_under_way() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4_000));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "2"]);
    run.read_until("playing sweep");
    let status = sandbox.run(&["status", "--db", "sweep.db"]).expect_exit(0).stdout().to_owned();
    assert!(!status.contains("note:"), "{status}");
    run.process.signal(Signal::INT);
    run.read_until("finishing the games under way");
    run.read_until("go on with: spelrum run sweep.toml --db sweep.db");
    assert_eq!(run.end(), Some(130));

    // Other commands see that the games left have no process that plays them.
    const IDLE: &str = "note: no process is playing sweep; continue it with";
    let status = sandbox.run(&["status", "--db", "sweep.db"]).expect_exit(0).stdout().to_owned();
    assert!(status.contains(IDLE) && status.contains("running"), "{status}");
    let mut watch = Watched::start(&sandbox, &["watch", "--db", "sweep.db"]);
    watch.read_until(IDLE);
    watch.process.signal(Signal::INT);
    assert_eq!(watch.end(), Some(130));

    // What was not played was handed back: nobody waits for a lease to expire.
    let live = "SELECT count(*) FROM leases WHERE ended_by IS NULL";
    assert_eq!(sandbox.sql("sweep.db", live), "0");
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    assert_eq!(sandbox.sql("sweep.db", "SELECT count(*) FROM games WHERE counted"), "8000");
    assert_eq!(sandbox.sql("sweep.db", "SELECT count(*) FROM uncounted_games"), "0");
}

#[test]
fn the_second_interrupt_stops_now() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", ENDLESS);
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "2"]);
    run.read_until("playing endless");
    run.process.signal(Signal::INT);
    run.read_until("finishing the games under way");
    run.process.signal(Signal::INT);
    assert_eq!(run.end(), Some(130));
    assert_eq!(sandbox.sql("endless.db", "SELECT count(*) FROM games"), "0");
}

/// SIGTERM, and the signals of a closed terminal and of batch systems.
const TERMINATING: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::USR1, Signal::USR2];

/// Those that end a program started here: where `nohup` started the tests, SIGHUP does not.
fn terminating() -> impl Iterator<Item = Signal> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    TERMINATING.into_iter().filter(move |signal| ignored >> (signal.as_raw() - 1) & 1 == 0)
}

#[test]
fn a_terminated_run_says_so_by_its_exit_code() {
    for signal in terminating() {
        let sandbox = Sandbox::new();
        sandbox.write("sweep.toml", ENDLESS);
        let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "2"]);
        run.read_until("playing endless");
        run.process.signal(signal);
        run.read_until("finishing the games under way");
        run.process.signal(signal);
        assert_eq!(run.end(), Some(143), "{signal:?}");
    }
}

#[test]
fn nohup_keeps_a_run_alive_when_the_terminal_closes() {
    let Some(tools) = Tools::find(&["sh"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", ENDLESS);
    let program = sandbox.spelrum(&["run", "sweep.toml", "--slots", "1"]);
    let mut command = tools.command("sh");
    // As nohup starts a program.
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(program.get_program());
    command.args(program.get_args()).current_dir(sandbox.path("")).stdin(Stdio::null());
    let mut run = Watched::spawn(command);
    run.read_until("playing endless");
    run.process.signal(Signal::HUP);
    run.process.signal(Signal::INT);
    run.read_until("finishing the games under way");
    run.process.signal(Signal::INT);
    assert_eq!(run.end(), Some(130));
}

#[test]
fn a_worker_that_is_asked_to_end_hands_back_what_it_has_not_played() {
    terminating().for_each(hands_back_what_it_has_not_played);
}

fn hands_back_what_it_has_not_played(signal: Signal) {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4_000));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let mut worker = Watched::start(&sandbox, &["worker", "--coordinator", url, "--slots", "1"]);
    wait_until("a game is settled", || sandbox.sql("c.db", "SELECT count(*) FROM games") != "0");
    worker.process.signal(signal);
    worker.read_until("finishing the games under way");
    assert_eq!(worker.end(), Some(0));
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM leases WHERE ended_by IS NULL"), "0");
}

#[test]
fn a_worker_without_a_coordinator_can_be_ended() {
    let sandbox = Sandbox::new();
    let arguments = ["worker", "--coordinator", "http://127.0.0.1:1", "--slots", "1"];
    let mut worker = Watched::start(&sandbox, &arguments);
    // It goes on trying until it is told to end.
    worker.read_until("the coordinator is away");
    worker.process.signal(Signal::INT);
    assert_eq!(worker.end(), Some(0));
}

#[test]
fn solving_ends_with_the_first_interrupt() {
    let sandbox = Sandbox::new();
    for (signal, exit) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut solve = Watched::start(&sandbox, &["solve", "pentago"]);
        solve.read_until("Ctrl-C gives up");
        solve.process.signal(signal);
        assert_eq!(solve.end(), Some(exit));
    }
}
