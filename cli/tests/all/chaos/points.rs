//! A coordinator that ends by SIGKILL exactly around its commits: before one, after one of which nobody has
//! heard, and between two answers to it. It does so by its own hand, as nobody else could meet the moment
//! (`coordinator/src/faults/ordered/end.rs`).

use std::collections::BTreeMap;

use super::cluster::Cluster;
use super::kills;
use crate::sandbox::Sandbox;

/// Where it ends.
pub(super) const POINTS: [&str; 3] = ["before-commit", "after-commit", "amid-answers"];

/// How often it passes the point before it ends there, in turn: while it starts, among the first Hellos, and
/// amid its work.
const PASSES: [u32; 4] = [0, 1, 4, 12];

/// How often more it ends at most, until a result comes twice.
const REPEAT_DEATHS_MAX: u32 = 40;

#[test]
fn a_coordinator_that_dies_around_its_commits_loses_nothing() {
    let sandbox = Sandbox::new();
    let mut cluster = Cluster::start(&sandbox);
    let url = cluster.url();
    let _workers = [1, 2, 3, 4].map(|_| sandbox.worker(&url, "1", &[]));
    let mut deaths = BTreeMap::new();
    for _ in 0..kills().div_ceil(10) {
        for passes in PASSES {
            for point in POINTS {
                // Also so that workers do not wait longer and longer.
                cluster.plays_on();
                cluster.die_at(point, passes);
                *deaths.entry(point).or_insert(0) += 1;
            }
        }
    }
    assert!(POINTS.iter().all(|point| deaths[point] >= PASSES.len()), "{deaths:?}");
    // On a busy machine those commits may all have been without results.
    for passes in 0..REPEAT_DEATHS_MAX {
        if cluster.repeats() > 0 {
            break;
        }
        cluster.plays_on();
        cluster.die_at("amid-answers", passes);
    }
    eprintln!("killed at {deaths:?}; {} results came twice", cluster.repeats());
    // What was committed and not acknowledged was said again, and recognised.
    assert!(cluster.repeats() > 0);
    cluster.assert_ends_well();
}
