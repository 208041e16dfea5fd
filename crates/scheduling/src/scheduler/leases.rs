//! The live leases, by id, by deadline and by worker.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::{ExperimentId, GameId, GameRange, LeaseId, WorkerId};

use super::api::Time;

/// A live lease. Its games belong to one experiment, so that a share can be charged for it and a cancel ends
/// it whole. Only the cells record which games are outstanding.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    /// The worker that holds it.
    pub(super) worker: WorkerId,
    /// The experiment of its games.
    pub(super) experiment: ExperimentId,
    /// The games granted.
    pub(super) granted: Vec<GameRange>,
    /// Number of its games that have no result and have not left it otherwise.
    pub(super) outstanding: u64,
    /// Outstanding games that its worker reported as started.
    pub(super) started: BTreeSet<GameId>,
    /// Whether it holds one game that was lost alone before (see `attempts`).
    pub(super) suspect: bool,
    /// When it expires, unless a heartbeat names it.
    pub(super) deadline: Time,
}

impl Lease {
    /// Whether it held only one game from the start.
    pub(super) fn alone(&self) -> bool {
        matches!(self.granted.as_slice(), [only] if only.count == 1)
    }
}

/// All live leases.
#[derive(Clone, Debug, Default)]
pub(super) struct Leases {
    live: BTreeMap<LeaseId, Lease>,
    deadlines: BTreeSet<(Time, LeaseId)>,
    /// The workers that hold any.
    workers: BTreeMap<WorkerId, WorkerLeases>,
    /// Playing threads of these workers.
    slots: u64,
    /// The greatest id ever given (invariant 6: they only grow).
    last: i64,
}

/// A worker that holds leases.
#[derive(Clone, Debug, Default)]
struct WorkerLeases {
    slots: u64,
    leases: BTreeSet<LeaseId>,
}

impl Leases {
    /// No leases yet; the first id will follow `last`.
    pub(super) fn after(last: i64) -> Self {
        Self { last, ..Self::default() }
    }

    /// The id of the next lease. Every call returns another.
    pub(super) const fn next_id(&mut self) -> LeaseId {
        self.last += 1;
        LeaseId(self.last)
    }

    /// Adds a lease. `slots` are its worker's playing threads.
    pub(super) fn insert(&mut self, id: LeaseId, lease: Lease, slots: u64) {
        self.last = self.last.max(id.0);
        self.deadlines.insert((lease.deadline, id));
        let entry = self.workers.entry(lease.worker).or_default();
        self.slots = self.slots - entry.slots + slots;
        entry.slots = slots;
        entry.leases.insert(id);
        let before = self.live.insert(id, lease);
        debug_assert!(before.is_none(), "lease {id} was given twice");
    }

    /// Removes a lease.
    pub(super) fn remove(&mut self, id: LeaseId) -> Option<Lease> {
        let lease = self.live.remove(&id)?;
        self.deadlines.remove(&(lease.deadline, id));
        if let Some(entry) = self.workers.get_mut(&lease.worker) {
            entry.leases.remove(&id);
            if entry.leases.is_empty() {
                self.slots -= entry.slots;
                self.workers.remove(&lease.worker);
            }
        }
        Some(lease)
    }

    /// Renews a lease, if it is live and this worker's; returns whether it is.
    pub(super) fn renew(&mut self, id: LeaseId, worker: WorkerId, deadline: Time) -> bool {
        match self.live.get_mut(&id) {
            Some(lease) if lease.worker == worker => {
                self.deadlines.remove(&(lease.deadline, id));
                lease.deadline = lease.deadline.max(deadline);
                self.deadlines.insert((lease.deadline, id));
                true
            }
            Some(_) | None => false,
        }
    }

    /// Extends every lease by this time.
    pub(super) fn prolong(&mut self, ms: u64) {
        for lease in self.live.values_mut() {
            lease.deadline = Time(lease.deadline.0.saturating_add(ms));
        }
        self.deadlines = self.live.iter().map(|(&id, lease)| (lease.deadline, id)).collect();
    }

    /// A live lease.
    pub(super) fn get(&self, id: LeaseId) -> Option<&Lease> {
        self.live.get(&id)
    }

    /// A live lease.
    pub(super) fn get_mut(&mut self, id: LeaseId) -> Option<&mut Lease> {
        self.live.get_mut(&id)
    }

    /// All live leases, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LeaseId, &Lease)> {
        self.live.iter().map(|(&id, lease)| (id, lease))
    }

    /// Number of live leases.
    pub(super) fn count(&self) -> u64 {
        self.live.len() as u64
    }

    /// A lease whose deadline has come.
    pub(super) fn due(&self, now: Time) -> Option<LeaseId> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now).map(|&(_, id)| id)
    }

    /// The earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The leases of a worker.
    pub(super) fn held_by(&self, worker: WorkerId) -> impl Iterator<Item = &Lease> {
        let held = self.workers.get(&worker).into_iter().flat_map(|entry| &entry.leases);
        held.filter_map(|id| self.live.get(id))
    }

    /// The ids of the selected leases of a worker.
    pub(super) fn ids_held_by(
        &self,
        worker: WorkerId,
        is_meant: impl Fn(&Lease) -> bool,
    ) -> Vec<LeaseId> {
        let held = self.workers.get(&worker).into_iter().flat_map(|entry| &entry.leases);
        held.copied().filter(|id| self.live.get(id).is_some_and(&is_meant)).collect()
    }

    /// Number of leases that a worker holds.
    pub(super) fn count_held_by(&self, worker: WorkerId) -> usize {
        self.workers.get(&worker).map_or(0, |entry| entry.leases.len())
    }

    /// The playing threads of all workers that hold leases, counting this one.
    pub(super) fn slots_with(&self, worker: WorkerId, slots: u64) -> u64 {
        self.slots - self.workers.get(&worker).map_or(0, |entry| entry.slots) + slots
    }

    /// Panics if the indexes disagree.
    pub(super) fn assert_consistent(&self) {
        let deadlines: BTreeSet<_> = self.live.iter().map(|(&id, l)| (l.deadline, id)).collect();
        assert_eq!(deadlines, self.deadlines, "deadlines are out of step");
        let held: BTreeSet<_> =
            self.workers.iter().flat_map(|(&w, h)| h.leases.iter().map(move |&l| (w, l))).collect();
        let live: BTreeSet<_> = self.live.iter().map(|(&id, l)| (l.worker, id)).collect();
        assert_eq!(held, live, "holders are out of step");
        assert_eq!(self.slots, self.workers.values().map(|entry| entry.slots).sum::<u64>());
        assert!(self.live.last_key_value().is_none_or(|(id, _)| id.0 <= self.last));
        assert!(self.live.values().all(|lease| lease.outstanding > 0), "a finished lease lives");
    }
}
