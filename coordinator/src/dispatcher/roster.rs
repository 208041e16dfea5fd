//! Who works, as people see it in `Status`, and the memory that each offers. Kept in memory only.

use std::collections::BTreeMap;

use spelrum_proto::v1;
use spelrum_tournament::scheduler::{LeaseState, Time};
use spelrum_tournament::{GameRange, LeaseId, WorkerId};

use crate::store::WorkerIntroduction;

/// Workers that may be known at once (invariant 9).
pub(super) const WORKERS_MAX: usize = 10_000;

/// A worker that was silent for so long, and holds nothing, is forgotten. If it comes back, it
/// says Hello again.
const FORGET_AFTER_MS: u64 = 60 * 60 * 1_000;

/// The workers that have said Hello to this run of the coordinator.
#[derive(Debug, Default)]
pub(super) struct Roster {
    workers: BTreeMap<WorkerId, Entry>,
    /// Live leases: who holds each, and how many of its games have no result yet.
    leases: BTreeMap<LeaseId, (WorkerId, u64)>,
}

#[derive(Debug)]
struct Entry {
    introduction: WorkerIntroduction,
    heard: Time,
    playing: u64,
    reported: u64,
}

/// What has happened to a worker. Noted while a transaction is open, told after its commit.
#[derive(Debug)]
pub(super) enum News {
    /// It said Hello.
    Hello(WorkerId, WorkerIntroduction, Time),
    /// It was heard of.
    Heard(WorkerId, Time),
    /// It is playing so many games.
    Playing(WorkerId, u64),
    /// It was granted a lease of so many games.
    Granted(WorkerId, LeaseId, u64),
    /// One result of a lease was taken.
    Taken(WorkerId, LeaseId),
    /// A lease ended.
    Ended(LeaseId),
}

impl Roster {
    /// Takes the live leases from the store: at the start, and after a failed transaction.
    pub(super) fn restart(&mut self, leases: &[LeaseState]) {
        let games = |ranges: &[GameRange]| ranges.iter().map(|range| range.count).sum();
        self.leases =
            leases.iter().map(|it| (it.lease, (it.worker, games(&it.outstanding)))).collect();
    }

    /// Whether the worker has said Hello.
    pub(super) fn knows(&self, worker: WorkerId) -> bool {
        self.workers.contains_key(&worker)
    }

    /// The memory that a worker offers its slots together, if it says.
    pub(super) fn memory_of(&self, worker: WorkerId) -> Option<u64> {
        self.workers.get(&worker)?.introduction.memory_bytes
    }

    /// Whether the worker with this UUID has said Hello.
    pub(super) fn knows_uuid(&self, uuid: &str) -> bool {
        self.workers.values().any(|entry| entry.introduction.uuid == uuid)
    }

    /// Whether one more worker would be too many.
    pub(super) fn is_full(&self) -> bool {
        self.workers.len() >= WORKERS_MAX
    }

    /// Forgets workers that went away.
    pub(super) fn forget_silent(&mut self, now: Time) {
        let Self { workers, leases } = self;
        workers.retain(|&worker, entry| {
            now.0.saturating_sub(entry.heard.0) < FORGET_AFTER_MS
                || leases.values().any(|&(holder, _)| holder == worker)
        });
    }

    /// Takes note.
    pub(super) fn tell(&mut self, news: News) {
        match news {
            News::Hello(worker, introduction, heard) => {
                let reported = self.workers.get(&worker).map_or(0, |entry| entry.reported);
                let entry = Entry { introduction, heard, playing: 0, reported };
                self.workers.insert(worker, entry);
            }
            News::Heard(worker, at) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.heard = entry.heard.max(at);
                }
            }
            News::Playing(worker, games) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.playing = games;
                }
            }
            News::Granted(worker, lease, games) => {
                self.leases.insert(lease, (worker, games));
            }
            News::Taken(worker, lease) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.reported += 1;
                }
                if let Some((_, games)) = self.leases.get_mut(&lease) {
                    *games = games.saturating_sub(1);
                }
            }
            News::Ended(lease) => {
                self.leases.remove(&lease);
            }
        }
    }

    /// All workers, for people.
    pub(super) fn summaries(&self, now: Time) -> Vec<v1::WorkerSummary> {
        let mut leased = BTreeMap::<WorkerId, u64>::new();
        for &(worker, games) in self.leases.values() {
            *leased.entry(worker).or_default() += games;
        }
        let summary = |(&worker, entry): (&WorkerId, &Entry)| v1::WorkerSummary {
            worker_id: worker.0,
            name: entry.introduction.name.clone(),
            host: entry.introduction.host.clone(),
            slots: entry.introduction.slots,
            engine_revision: entry.introduction.engine_revision,
            silent_ms: now.0.saturating_sub(entry.heard.0),
            leased_games: leased.get(&worker).copied().unwrap_or(0),
            playing_games: entry.playing,
            reported_games: entry.reported,
            memory_bytes: entry.introduction.memory_bytes.unwrap_or(0),
        };
        self.workers.iter().map(summary).collect()
    }
}

#[cfg(test)]
mod tests {
    use spelrum_tournament::CellId;

    use super::*;

    fn introduction(name: &str) -> WorkerIntroduction {
        WorkerIntroduction {
            uuid: format!("of {name}"),
            name: name.to_owned(),
            host: "host".to_owned(),
            slots: 2,
            engine_revision: 1,
            version: "0".to_owned(),
            memory_bytes: None,
        }
    }

    #[test]
    fn a_worker_is_summed_up() {
        let mut roster = Roster::default();
        let worker = WorkerId(7);
        roster.tell(News::Hello(worker, introduction("a"), Time(100)));
        roster.tell(News::Granted(worker, LeaseId(1), 10));
        roster.tell(News::Granted(worker, LeaseId(2), 4));
        roster.tell(News::Taken(worker, LeaseId(1)));
        roster.tell(News::Ended(LeaseId(2)));
        roster.tell(News::Playing(worker, 2));
        roster.tell(News::Heard(worker, Time(150)));
        let [summary] = &roster.summaries(Time(175))[..] else { panic!("one worker") };
        assert_eq!(summary.leased_games, 9);
        assert_eq!(summary.playing_games, 2);
        assert_eq!(summary.reported_games, 1);
        assert_eq!(summary.silent_ms, 25);
        roster.tell(News::Hello(worker, introduction("a"), Time(200)));
        assert_eq!(roster.summaries(Time(200))[0].reported_games, 1, "a second Hello keeps it");
    }

    #[test]
    fn the_silent_are_forgotten_unless_they_hold_something() {
        let mut roster = Roster::default();
        for id in 1..=3 {
            roster.tell(News::Hello(WorkerId(id), introduction(&format!("w{id}")), Time(0)));
        }
        roster.tell(News::Heard(WorkerId(2), Time(FORGET_AFTER_MS)));
        roster.restart(&[LeaseState {
            lease: LeaseId(1),
            worker: WorkerId(3),
            granted: vec![GameRange { cell: CellId(1), first: 0, count: 4 }],
            outstanding: vec![GameRange { cell: CellId(1), first: 2, count: 2 }],
        }]);
        roster.forget_silent(Time(FORGET_AFTER_MS));
        assert!(!roster.knows(WorkerId(1)) && roster.knows(WorkerId(2)));
        assert!(roster.knows(WorkerId(3)));
        assert!(roster.knows_uuid("of w3") && !roster.knows_uuid("of w1"));
        assert_eq!(roster.summaries(Time(0))[1].leased_games, 2);
    }
}
