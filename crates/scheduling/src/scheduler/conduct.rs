//! Compares workers' failures, and quarantines workers that fail too much.
//!
//! A failed game alone does not incriminate its worker: it may fail wherever it is played. But games are the
//! same everywhere, so a game that failed at one worker and was then played by another does.
//!
//! 1. A failed game is leased alone next, and to a worker at which it has not failed, while there is one: for
//!    two minutes, since the workers there may be unable to play it.
//! 2. A worker at which 20 games in a row have failed gets no new ones of an experiment while some wait for
//!    other workers: otherwise it would go through all of it before they have played a few.
//! 3. If another worker plays a failed game, that is a *fault* of each worker at which it failed.
//! 4. A worker with 10 or more faults among its last 20 games, played or faults, is *quarantined*, if the
//!    worker that played the last of them does well: of 10 games or more at most one in eight is its fault.
//!    Otherwise the cause is the games, or the hour. Workers that play none of these games are no evidence.
//! 5. A quarantined worker's games are taken from it, and it gets none for ten minutes, or until an operator
//!    readmits it. Then it has a clean record.
//!
//! So a game that fails everywhere counts against no worker, and a lone worker has no faults. Nothing of this
//! is durable: a restarted coordinator has no faults on record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use spelrum_model::withheld::Withheld;
use spelrum_model::{CellId, GameId, WorkerId};

use super::api::Time;
use super::policy::Policy;

/// Number of a worker's latest games considered.
const GAMES: usize = 20;

/// Number of faults among them that leads to quarantine.
const FAULTS: usize = 10;

/// Number of failures in a row after which a worker gets no new games.
const FAILED_IN_A_ROW: usize = 20;

/// Minimum number of games that a worker needs as a standard for others.
const GAMES_TO_COMPARE: usize = 10;

/// Maximum share of faults among these: one in this many.
const FAULTS_TO_COMPARE: usize = 8;

/// How long a failed game is kept from the workers at which it failed, in lives of a lease.
const LEFT_TO_OTHERS: u64 = 4;

/// Length of a quarantine.
const QUARANTINE_MS: u64 = 10 * 60 * 1_000;

/// A worker that has called within this many milliseconds is there.
const LATELY_MS: u64 = 60_000;

/// Maximum number of remembered workers (invariant 9).
const WORKERS_MAX: usize = 10_000;

/// Records of the workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Conduct {
    workers: BTreeMap<WorkerId, Record>,
    /// Failed games without a result, where they failed, and until when they are reserved for other workers.
    failed: BTreeMap<GameId, Failed>,
    /// The same, indexed by worker.
    failed_at: BTreeSet<(WorkerId, GameId)>,
}

/// A worker.
#[derive(Clone, Debug, Default)]
struct Record {
    /// Time of its last call.
    last_contact: Time,
    /// Whether each of its latest games was its fault, oldest first.
    games: VecDeque<bool>,
    /// Number of failures since it last played a game.
    failed_in_a_row: usize,
    /// End of its quarantine.
    quarantined_until: Option<Time>,
}

#[derive(Clone, Debug, Default)]
struct Failed {
    at: BTreeSet<WorkerId>,
    others_until: Time,
}

impl Record {
    fn note(&mut self, is_fault: bool) {
        if self.games.len() == GAMES {
            self.games.pop_front();
        }
        self.games.push_back(is_fault);
    }

    fn faults(&self) -> usize {
        self.games.iter().filter(|is_fault| **is_fault).count()
    }

    /// Whether it does well enough to be a standard for others.
    fn is_reliable(&self) -> bool {
        self.games.len() >= GAMES_TO_COMPARE
            && FAULTS_TO_COMPARE * self.faults() <= self.games.len()
    }

    fn is_quarantined(&self, now: Time) -> bool {
        self.quarantined_until.is_some_and(|until| now < until)
    }
}

impl Conduct {
    /// Records a call of a worker.
    pub(super) fn record_contact(&mut self, worker: WorkerId, now: Time) {
        if !self.workers.contains_key(&worker) && self.workers.len() >= WORKERS_MAX {
            // The worker with the oldest last call.
            let oldest = self.workers.iter().min_by_key(|(_, record)| record.last_contact);
            let oldest = oldest.map(|(&worker, _)| worker);
            oldest.map(|worker| self.workers.remove(&worker));
        }
        let record = self.workers.entry(worker).or_default();
        record.last_contact = record.last_contact.max(now);
        if record.quarantined_until.is_some_and(|until| now >= until) {
            self.readmit(worker);
        }
    }

    /// Number of workers that have called within the last minute.
    pub(super) fn count_recent_workers(&self, now: Time) -> u64 {
        let is_recent = |record: &&Record| now.0.saturating_sub(record.last_contact.0) <= LATELY_MS;
        self.workers.values().filter(is_recent).count() as u64
    }

    /// Whether a worker has called within the life of a lease.
    pub(super) fn is_recent(&self, worker: WorkerId, now: Time, policy: &Policy) -> bool {
        let record = self.workers.get(&worker);
        record.is_some_and(|record| {
            now.0.saturating_sub(record.last_contact.0) < policy.lease_duration_ms
        })
    }

    /// Why a worker gets no games, if it is quarantined.
    pub(super) fn withheld(&self, worker: WorkerId, now: Time) -> Option<Withheld> {
        let record = self.workers.get(&worker).filter(|record| record.is_quarantined(now))?;
        let left_ms = record.quarantined_until?.0.saturating_sub(now.0);
        Some(Withheld::Quarantined {
            faults: record.faults() as u64,
            games: record.games.len() as u64,
            left_ms,
        })
    }

    /// Readmits a worker. Earlier failures no longer count as its faults.
    pub(super) fn readmit(&mut self, worker: WorkerId) {
        if let Some(record) = self.workers.get_mut(&worker) {
            *record = Record { last_contact: record.last_contact, ..Record::default() };
        }
        let games: Vec<_> = self.failed_at(worker).collect();
        for game in games {
            self.failed_at.remove(&(worker, game));
            if let Some(failed) = self.failed.get_mut(&game) {
                failed.at.remove(&worker);
                if failed.at.is_empty() {
                    self.failed.remove(&game);
                }
            }
        }
    }

    /// Records a failed game.
    pub(super) fn failed(&mut self, game: GameId, worker: WorkerId, now: Time, policy: &Policy) {
        let failed = self.failed.entry(game).or_default();
        failed.at.insert(worker);
        self.failed_at.insert((worker, game));
        if let Some(record) = self.workers.get_mut(&worker) {
            record.failed_in_a_row += 1;
        }
        let others_ms = LEFT_TO_OTHERS.saturating_mul(policy.lease_duration_ms);
        failed.others_until = Time(now.0.saturating_add(others_ms));
    }

    /// Whether a game has failed at a worker and waits for another one that is there and not `excluded`.
    pub(super) fn is_left_to_others(
        &self,
        game: GameId,
        worker: WorkerId,
        now: Time,
        policy: &Policy,
        excluded: impl Fn(WorkerId) -> bool,
    ) -> bool {
        let Some(failed) = self.failed.get(&game) else { return false };
        let may_have_it = |(candidate, record): (&WorkerId, &Record)| {
            now.0.saturating_sub(record.last_contact.0) < policy.lease_duration_ms
                && !failed.at.contains(candidate)
                && !record.is_quarantined(now)
                && !excluded(*candidate)
        };
        failed.at.contains(&worker)
            && now < failed.others_until
            && self.workers.iter().any(may_have_it)
    }

    /// Records a played game; returns the workers at which it had failed.
    pub(super) fn played(&mut self, game: GameId, worker: WorkerId) -> BTreeSet<WorkerId> {
        let mut failed_workers = self.settled(game);
        failed_workers.remove(&worker);
        for faulty in &failed_workers {
            if let Some(record) = self.workers.get_mut(faulty) {
                record.note(true);
            }
        }
        if let Some(record) = self.workers.get_mut(&worker) {
            record.note(false);
            record.failed_in_a_row = 0;
        }
        failed_workers
    }

    /// Forgets a settled game; returns the workers at which it had failed.
    pub(super) fn settled(&mut self, game: GameId) -> BTreeSet<WorkerId> {
        let failed_workers = self.failed.remove(&game).unwrap_or_default().at;
        for &worker in &failed_workers {
            self.failed_at.remove(&(worker, game));
        }
        failed_workers
    }

    /// Forgets a removed cell.
    pub(super) fn forget(&mut self, cell: CellId) {
        let number = |number| GameId { cell, number };
        let its = self.failed.range(number(0)..=number(u64::MAX));
        let games: Vec<_> = its.map(|(&game, _)| game).collect();
        for game in games {
            self.settled(game);
        }
    }

    /// Whether a worker gets no new games because of its failures in a row.
    pub(super) fn fails_in_a_row(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|record| record.failed_in_a_row >= FAILED_IN_A_ROW)
    }

    /// Games without a result that failed at the worker.
    pub(super) fn failed_at(&self, worker: WorkerId) -> impl Iterator<Item = GameId> + '_ {
        let game = |cell, number| GameId { cell: CellId(cell), number };
        let its = (worker, game(i64::MIN, 0))..=(worker, game(i64::MAX, u64::MAX));
        self.failed_at.range(its).map(|&(_, game)| game)
    }

    /// The quarantined workers.
    pub(super) fn quarantined(&self, now: Time) -> impl Iterator<Item = WorkerId> + '_ {
        self.workers.iter().filter(move |(_, record)| record.is_quarantined(now)).map(|(&id, _)| id)
    }

    /// Quarantines a worker with enough faults, if the worker that `played` the last of them does well;
    /// returns how many faults, of how many games.
    pub(super) fn quarantine(
        &mut self,
        worker: WorkerId,
        played: WorkerId,
        now: Time,
    ) -> Option<[u64; 2]> {
        let is_reliable = self.workers.get(&played).is_some_and(Record::is_reliable);
        let record = self.workers.get_mut(&worker)?;
        let (faults, games) = (record.faults(), record.games.len());
        if faults < FAULTS || record.is_quarantined(now) || !is_reliable {
            return None;
        }
        record.quarantined_until = Some(Time(now.0.saturating_add(QUARANTINE_MS)));
        Some([faults as u64, games as u64])
    }
}
