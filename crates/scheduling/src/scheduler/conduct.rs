//! How workers do beside each other, and which of them get no games for a while.
//!
//! That a game fails says nothing of its worker: it may fail wherever it is played. But games are the same
//! everywhere, so one that failed at a worker and that another one then played says something of the first.
//!
//! 1. A game that failed is leased alone next, and to somebody else than those at whom it failed, while somebody
//!    else is there: for two minutes, since whoever is there may not be able to play it.
//! 2. A worker at whom 20 games in a row have failed gets no new ones of an experiment while some wait so for
//!    others: it would go through all of it before they have played a few.
//! 3. If another worker plays a game that failed, it is a *fault* of each at whom it did.
//! 4. A worker of whose last 20 games, played or faults, 10 or more are faults is *quarantined*, if whoever has
//!    played the last of them does well: of 10 games or more at most one in eight is its fault. Else it is the
//!    games, or the hour. That others do well who play none of these games says nothing.
//! 5. What it holds is taken from it, and it gets no games for ten minutes, or until somebody lets it in. Then it
//!    has a clean record.
//!
//! So a game that fails everywhere is nobody's fault, and a worker that is alone has none. Nothing of this is
//! durable: a coordinator that is started anew knows no faults.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use spelrum_model::withheld::Withheld;
use spelrum_model::{CellId, GameId, WorkerId};

use super::api::Time;
use super::policy::Policy;

/// Games of a worker that are looked at: the latest.
const GAMES: usize = 20;

/// Faults among them for which a worker is quarantined.
const FAULTS: usize = 10;

/// Games that have failed in a row with whom there are no new ones.
const FAILED_IN_A_ROW: usize = 20;

/// Games that a worker must have to be one that others are compared with.
const GAMES_TO_COMPARE: usize = 10;

/// One in so many of these may be its fault.
const FAULTS_TO_COMPARE: usize = 8;

/// For how long nobody gets a game at whom it failed, in lives of a lease.
const LEFT_TO_OTHERS: u64 = 4;

/// For how long a worker is quarantined.
const QUARANTINE_MS: u64 = 10 * 60 * 1_000;

/// Who has called within so many milliseconds is there.
const LATELY_MS: u64 = 60_000;

/// Workers that are remembered (invariant 9).
const WORKERS_MAX: usize = 10_000;

/// What is known of the workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Conduct {
    workers: BTreeMap<WorkerId, Record>,
    /// The games that failed and have no result, at whom they failed, and until when others may have them alone.
    failed: BTreeMap<GameId, Failed>,
    /// The same, by worker.
    failed_at: BTreeSet<(WorkerId, GameId)>,
}

/// A worker.
#[derive(Clone, Debug, Default)]
struct Record {
    /// When it called last.
    heard: Time,
    /// Whether each of its last games was its fault, the latest last.
    games: VecDeque<bool>,
    /// Games that have failed at it since it has played one.
    failed_in_a_row: usize,
    /// Until when it gets no games.
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

    /// Whether it does well enough that others can be compared with it.
    fn does_well(&self) -> bool {
        self.games.len() >= GAMES_TO_COMPARE
            && FAULTS_TO_COMPARE * self.faults() <= self.games.len()
    }

    fn is_quarantined(&self, now: Time) -> bool {
        self.quarantined_until.is_some_and(|until| now < until)
    }
}

impl Conduct {
    /// A worker called.
    pub(super) fn heard(&mut self, worker: WorkerId, now: Time) {
        if !self.workers.contains_key(&worker) && self.workers.len() >= WORKERS_MAX {
            // Who has not called for longest.
            let oldest = self.workers.iter().min_by_key(|(_, record)| record.heard);
            let oldest = oldest.map(|(&worker, _)| worker);
            oldest.map(|worker| self.workers.remove(&worker));
        }
        let record = self.workers.entry(worker).or_default();
        record.heard = record.heard.max(now);
        if record.quarantined_until.is_some_and(|until| now >= until) {
            self.readmit(worker);
        }
    }

    /// How many workers have called within the last minute.
    pub(super) fn heard_lately(&self, now: Time) -> u64 {
        let is_there = |it: &&Record| now.0.saturating_sub(it.heard.0) <= LATELY_MS;
        self.workers.values().filter(is_there).count() as u64
    }

    /// Whether a worker has called within the life of a lease.
    pub(super) fn is_there(&self, worker: WorkerId, now: Time, policy: &Policy) -> bool {
        let record = self.workers.get(&worker);
        record.is_some_and(|it| now.0.saturating_sub(it.heard.0) < policy.lease_duration_ms)
    }

    /// Why a worker gets no games.
    pub(super) fn withheld(&self, worker: WorkerId, now: Time) -> Option<Withheld> {
        let record = self.workers.get(&worker).filter(|record| record.is_quarantined(now))?;
        let left_ms = record.quarantined_until?.0.saturating_sub(now.0);
        Some(Withheld::Quarantined {
            faults: record.faults() as u64,
            games: record.games.len() as u64,
            left_ms,
        })
    }

    /// Lets a worker in. What failed at it before is not its fault any more.
    pub(super) fn readmit(&mut self, worker: WorkerId) {
        if let Some(record) = self.workers.get_mut(&worker) {
            *record = Record { heard: record.heard, ..Record::default() };
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

    /// A game has failed at a worker.
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

    /// Whether a game has failed at a worker and waits for another one that is there, and not `excluded`.
    pub(super) fn is_left_to_others(
        &self,
        game: GameId,
        worker: WorkerId,
        now: Time,
        policy: &Policy,
        excluded: impl Fn(WorkerId) -> bool,
    ) -> bool {
        let Some(failed) = self.failed.get(&game) else { return false };
        let may_have_it = |(other, record): (&WorkerId, &Record)| {
            now.0.saturating_sub(record.heard.0) < policy.lease_duration_ms
                && !failed.at.contains(other)
                && !record.is_quarantined(now)
                && !excluded(*other)
        };
        failed.at.contains(&worker)
            && now < failed.others_until
            && self.workers.iter().any(may_have_it)
    }

    /// A worker has played a game; returns whose fault it was before.
    pub(super) fn played(&mut self, game: GameId, worker: WorkerId) -> BTreeSet<WorkerId> {
        let mut at = self.settled(game);
        at.remove(&worker);
        for it in &at {
            if let Some(record) = self.workers.get_mut(it) {
                record.note(true);
            }
        }
        if let Some(record) = self.workers.get_mut(&worker) {
            record.note(false);
            record.failed_in_a_row = 0;
        }
        at
    }

    /// Forgets a game that is settled; returns at whom it has failed.
    pub(super) fn settled(&mut self, game: GameId) -> BTreeSet<WorkerId> {
        let at = self.failed.remove(&game).unwrap_or_default().at;
        for &worker in &at {
            self.failed_at.remove(&(worker, game));
        }
        at
    }

    /// Forgets a cell that is gone.
    pub(super) fn forget(&mut self, cell: CellId) {
        let number = |number| GameId { cell, number };
        let its = self.failed.range(number(0)..=number(u64::MAX));
        let games: Vec<_> = its.map(|(&game, _)| game).collect();
        for game in games {
            self.settled(game);
        }
    }

    /// Whether so many games in a row have failed at a worker that it gets no new ones.
    pub(super) fn fails_in_a_row(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|it| it.failed_in_a_row >= FAILED_IN_A_ROW)
    }

    /// The games that failed at a worker and have no result.
    pub(super) fn failed_at(&self, worker: WorkerId) -> impl Iterator<Item = GameId> + '_ {
        let game = |cell, number| GameId { cell: CellId(cell), number };
        let its = (worker, game(i64::MIN, 0))..=(worker, game(i64::MAX, u64::MAX));
        self.failed_at.range(its).map(|&(_, game)| game)
    }

    /// Who is quarantined.
    pub(super) fn quarantined(&self, now: Time) -> impl Iterator<Item = WorkerId> + '_ {
        self.workers.iter().filter(move |(_, it)| it.is_quarantined(now)).map(|(&id, _)| id)
    }

    /// Quarantines a worker, if it has as many faults as that takes, and who has `played` the last of them does
    /// well; says how many, of how many games.
    pub(super) fn quarantine(
        &mut self,
        worker: WorkerId,
        played: WorkerId,
        now: Time,
    ) -> Option<[u64; 2]> {
        let does_well = self.workers.get(&played).is_some_and(Record::does_well);
        let record = self.workers.get_mut(&worker)?;
        let (faults, games) = (record.faults(), record.games.len());
        if faults < FAULTS || record.is_quarantined(now) || !does_well {
            return None;
        }
        record.quarantined_until = Some(Time(now.0.saturating_add(QUARANTINE_MS)));
        Some([faults as u64, games as u64])
    }
}
