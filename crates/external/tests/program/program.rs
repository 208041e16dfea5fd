//! The tests' programs: misbehaving engines, the guard, and a program that holds an engine and is killed. The
//! first argument chooses.

mod gtp;
mod hold;
mod lines;
mod uci;
mod xboard;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let role = args.next().unwrap_or_default();
    if role == "guard" {
        return spelrum_external::guard::run(&["guard"], args);
    }
    if role == "bounded-guard" {
        let bound = Rlimit { current: Some(2 << 30), maximum: Some(2 << 30) };
        setrlimit(Resource::As, bound).expect("a bound can be lowered");
        return spelrum_external::guard::run(&["bounded-guard"], args);
    }
    let words: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    match role.to_str() {
        Some(hello @ ("uci" | "ugi")) => uci::run(hello, &words),
        Some("gtp") => gtp::run(&words),
        Some("lines") => lines::run(&words),
        Some("xboard") => xboard::run(&words),
        Some("hold") => hold::run(&words),
        Some("linger") => linger(),
        Some("parent") => {
            start(&["linger"], &words, false);
            ExitCode::SUCCESS
        }
        Some("parent-of-nothing") => {
            start(&["nothing"], &[], true);
            ExitCode::SUCCESS
        }
        Some("nothing") => ExitCode::SUCCESS,
        _ => ExitCode::from(64),
    }
}

/// Runs until it is killed, at no cost.
fn linger() -> ! {
    loop {
        std::thread::park();
    }
}

/// Uses this much processor time in each of some threads.
pub(crate) fn burn(time: Duration, threads: usize) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let used = || {
                    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
                };
                while used() < time {
                    std::hint::spin_loop();
                }
            });
        }
    });
}

/// Waits for a time.
pub(crate) fn wait(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
    }
}

/// Starts this program again, in its own group or not, and forgets it. `marks` distinguish its processes from
/// those of other tests.
#[expect(clippy::zombie_processes, reason = "an engine that leaves processes behind does so here")]
fn start(role: &[&str], marks: &[String], in_own_group: bool) {
    use std::os::unix::process::CommandExt as _;
    let program = std::env::current_exe().expect("the program knows where it is");
    let mut command = std::process::Command::new(program);
    command.args(role).args(marks);
    if in_own_group {
        command.process_group(0);
    }
    command.spawn().expect("a process can be started");
}
