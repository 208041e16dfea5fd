//! Real processes on a real database file, and whatever may befall them. All are judged alike.
//!
//! | file | what befalls them |
//! |---|---|
//! | `kill.rs` | SIGKILL at random |
//! | `points.rs` | SIGKILL around a commit, by the coordinator's own hand |
//! | `reports.rs` | SIGKILL in the middle of a report and of its answer |
//! | `network.rs` | a network that is cut, stalls, is slow or breaks off one way |
//! | `hosts.rs` | the same between hosts with addresses of their own |
//! | `disk.rs` | a disk that becomes read-only, a database that another program has locked |
//! | `clocks.rs` | clocks that jump |
//! | `storm.rs` | all of it in a random order |
//!
//! `judge.rs` judges, `cluster.rs` has a coordinator and its workers, `proxy.rs` is what stands between them.

mod clocks;
mod cluster;
mod disk;
mod hosts;
mod judge;
mod kill;
mod network;
mod points;
mod proxy;
mod reports;
mod storm;

/// How often each test kills: `SPELRUM_KILLS`, or a few times.
pub(crate) fn kills() -> u64 {
    std::env::var("SPELRUM_KILLS").map_or(3, |kills| kills.parse().unwrap())
}
