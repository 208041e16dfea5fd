//! Wall clocks that jump, of a coordinator and of its workers, each for itself. libfaketime, a program of others, says
//! what time it is; the clock that only goes on, goes on.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use spelrum_test_support::skip;

use super::cluster::{Cluster, DB, Terms};
use crate::sandbox::{Process, Sandbox, wait_until};

/// Where Debian has it.
const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// How far a clock is from the right time: days before and behind, years, and before there was a time of Unix.
const JUMPS: [&str; 6] = ["+3d", "-5d", "+0", "+20y", "-60y", "-1h"];

/// How many days it is from now to when the last lease was granted, by the coordinator's clock.
const DAYS_AWAY: &str = "SELECT (granted_unix_us - unixepoch() * 1000000) / 86400000000
    FROM leases ORDER BY lease_id DESC LIMIT 1";

/// A clock that is set by hand.
struct Clock(PathBuf);

impl Clock {
    fn new(sandbox: &Sandbox, name: &str) -> Self {
        let clock = Self(sandbox.path(name));
        clock.set("+0");
        clock
    }

    /// Lets whoever goes by it see another time, from within a second on.
    fn set(&self, jump: &str) {
        let new = self.0.with_extension("new");
        fs::write(&new, format!("{jump}\n")).unwrap();
        fs::rename(new, &self.0).unwrap();
    }

    /// Lets a command go by it.
    fn rule(&self, mut command: Command) -> Command {
        command.env("LD_PRELOAD", LIBRARY).env("FAKETIME_TIMESTAMP_FILE", &self.0);
        command.env("FAKETIME_CACHE_DURATION", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("FAKETIME_DONT_RESET", "1");
        command
    }
}

fn worker(sandbox: &Sandbox, clock: &Clock, url: &str) -> Process {
    let work = ["worker", "--coordinator", url, "--slots", "1"];
    let mut command = clock.rule(sandbox.spelrum(&work));
    Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn clocks_that_jump_take_no_games_away() {
    if !fs::exists(LIBRARY).unwrap() {
        return skip(format!("it needs {LIBRARY}"));
    }
    let sandbox = Sandbox::new();
    let [ours, first, second] = ["ours", "first", "second"].map(|name| Clock::new(&sandbox, name));
    let terms = Terms {
        // Leases of half a minute: none ends because a machine is busy.
        heartbeat: "5s",
        place: Box::new(|command| ours.rule(command)),
        ..Terms::default()
    };
    let mut cluster = Cluster::start_as(&sandbox, terms);
    let url = cluster.url();
    let _workers = [&first, &second].map(|clock| worker(&sandbox, clock, &url));
    for (at, jump) in JUMPS.into_iter().enumerate() {
        ours.set(jump);
        first.set(JUMPS[(at + 1) % JUMPS.len()]);
        second.set(JUMPS[(at + 2) % JUMPS.len()]);
        let days = match jump {
            "+3d" => 2..4,
            "-5d" => -6..-4,
            "+20y" => 7_000..7_400,
            // Shown as the first moment of Unix's time.
            "-60y" => -40_000..-20_000,
            _ => -1..1,
        };
        wait_until("the coordinator's clock has jumped", || {
            cluster.plays_on();
            days.contains(&sandbox.sql(DB, DAYS_AWAY).parse().unwrap())
        });
    }
    // So far apart are the clocks of the workers, too.
    let apart = "SELECT (max(started_unix_us) - min(started_unix_us)) / 86400000000 FROM games";
    assert!(cluster.number(apart) > 20_000);
    assert_eq!(cluster.number("SELECT count(*) FROM leases WHERE ended_by = 'expired'"), 0);
    cluster.assert_ends_well();
}
