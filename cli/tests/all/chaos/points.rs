//! A coordinator that ends by SIGKILL exactly around its commits: before one, after one of which nobody has
//! heard, and between two answers to it. It does so by its own hand, as nobody else could meet the moment
//! (`coordinator/src/faults/ordered/end.rs`).

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use rustix::process::Signal;

use super::cluster::{Cluster, DB, HEARTBEAT};
use super::kills;
use crate::sandbox::{Process, Sandbox};

/// Where it ends.
const POINTS: [&str; 3] = ["before-commit", "after-commit", "amid-answers"];

/// How often it passes the point before it ends there, in turn: while it starts, among the first Hellos, and
/// amid its work.
const PASSES: [u32; 5] = [0, 1, 4, 11, 25];

/// A coordinator that ends there. It may do so before it listens.
fn doomed(sandbox: &Sandbox, address: &str, point: &str, passes: u32) -> Process {
    let mut command = sandbox.spelrum(&["coordinator", "--db", DB, "--listen", address]);
    command.args(["--heartbeat", HEARTBEAT]);
    command.env("SPELRUM_TEST_KILL_AT", format!("{point} {passes}"));
    Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn a_coordinator_that_dies_around_its_commits_loses_nothing() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let (url, address) = (cluster.url(), cluster.address());
    let _workers = [1, 2, 3, 4].map(|_| sandbox.worker(&url, "1", &[]));
    let mut deaths = BTreeMap::new();
    for _ in 0..kills().div_ceil(3) {
        for passes in PASSES {
            for point in POINTS {
                // Also so that workers do not wait longer and longer.
                cluster.plays_on();
                cluster.coordinator.process.kill();
                let ended = doomed(&sandbox, &address, point, passes).wait();
                let by = ended.signal();
                assert_eq!(by, Some(Signal::KILL.as_raw()), "at {point} {passes}: {ended}");
                *deaths.entry(point).or_insert(0) += 1;
                cluster.restart();
            }
        }
    }
    eprintln!("killed at {deaths:?}; {} results came twice", cluster.repeats());
    assert!(POINTS.iter().all(|point| deaths[point] >= kills()), "{deaths:?}");
    // What was committed and not acknowledged was said again, and recognised.
    assert!(cluster.repeats() > 0);
    cluster.assert_ends_well();
}
