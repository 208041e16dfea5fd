//! How workers do, kept in full, and who is quarantined by it.

use std::collections::BTreeMap;

use spelrum_model::withheld::Withheld;
use spelrum_model::{ExperimentId, GameId, WorkerId};
use spelrum_scheduling::scheduler::{Effect, Tasks};

use super::Judge;

/// All that there is to know of the workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Conduct {
    heard: BTreeMap<WorkerId, u64>,
    /// Each game that it played or that was its fault, since its record was clean.
    games: BTreeMap<WorkerId, Vec<bool>>,
    quarantined: BTreeMap<WorkerId, u64>,
    /// How many failed at it since it has played one.
    in_a_row: BTreeMap<WorkerId, usize>,
    /// At whom a game without a result failed, and when it did last.
    failed: BTreeMap<GameId, (Vec<WorkerId>, u64)>,
}

impl Conduct {
    fn last(&self, worker: WorkerId) -> &[bool] {
        let games = self.games.get(&worker).map_or(&[][..], Vec::as_slice);
        &games[games.len().saturating_sub(20)..]
    }

    fn faults(&self, worker: WorkerId) -> usize {
        self.last(worker).iter().filter(|is_fault| **is_fault).count()
    }

    pub(super) fn clean(&mut self, worker: WorkerId) {
        self.games.remove(&worker);
        self.quarantined.remove(&worker);
        self.in_a_row.remove(&worker);
        for (at, _) in self.failed.values_mut() {
            at.retain(|failed_worker| *failed_worker != worker);
        }
    }

    /// Forgets games of which nothing is wanted any more.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(GameId) -> bool) {
        self.failed.retain(|game, _| is_wanted(*game));
    }
}

impl Judge {
    pub(super) fn heard(&mut self, worker: WorkerId) {
        self.conduct.heard.insert(worker, self.now);
        if self.conduct.quarantined.get(&worker).is_some_and(|&until| self.now >= until) {
            self.conduct.clean(worker);
        }
    }

    /// How many workers have called within the last minute.
    pub(super) fn recent_worker_count(&self) -> u64 {
        let is_there = |&&heard: &&u64| self.now - heard <= 60_000;
        self.conduct.heard.values().filter(is_there).count() as u64
    }

    fn is_quarantined(&self, worker: WorkerId) -> bool {
        self.conduct.quarantined.get(&worker).is_some_and(|&until| self.now < until)
    }

    pub(super) fn quarantined(&self, worker: WorkerId) -> Option<Withheld> {
        self.is_quarantined(worker).then(|| Withheld::Quarantined {
            faults: self.conduct.faults(worker) as u64,
            games: self.conduct.last(worker).len() as u64,
            left_ms: self.conduct.quarantined[&worker] - self.now,
        })
    }

    pub(super) fn failed_at(&mut self, game: GameId, worker: WorkerId) {
        let now = self.now;
        let (at, when) = self.conduct.failed.entry(game).or_default();
        at.push(worker);
        *when = now;
        if self.conduct.heard.contains_key(&worker) {
            *self.conduct.in_a_row.entry(worker).or_default() += 1;
        }
    }

    /// Whether a worker gets nothing new of an experiment, since what failed at it is to be played first.
    pub(super) fn waits_for_others(&self, worker: WorkerId, experiment: ExperimentId) -> bool {
        self.conduct.in_a_row.get(&worker).is_some_and(|&failed| failed >= 20)
            && self.conduct.failed.keys().any(|game| {
                self.cells.get(&game.cell).is_some_and(|cell| cell.experiment == experiment)
                    && self.is_left_to_others(*game, worker)
            })
    }

    /// Whether a worker must not have a game now that has failed at it.
    pub(super) fn is_left_to_others(&self, game: GameId, worker: WorkerId) -> bool {
        let Some((at, when)) = self.conduct.failed.get(&game) else { return false };
        let cell = &self.cells[&game.cell];
        if matches!(cell.tasks, Tasks::Verifications { .. }) {
            return false;
        }
        let experiment = cell.experiment;
        let is_there = |(candidate, heard): (&WorkerId, &u64)| {
            self.now - heard < self.policy.lease_duration_ms
                && !at.contains(candidate)
                && !self.is_quarantined(*candidate)
                && !self.is_excluded(*candidate, experiment)
        };
        at.contains(&worker)
            && self.now < when + 4 * self.policy.lease_duration_ms
            && self.conduct.heard.iter().any(is_there)
    }

    /// A worker has played a game.
    pub(super) fn played(&mut self, game: GameId, worker: WorkerId, expected: &mut Vec<Effect>) {
        let (mut at, _) = self.conduct.failed.remove(&game).unwrap_or_default();
        at.sort_unstable();
        at.dedup();
        at.retain(|failed_worker| *failed_worker != worker);
        let is_known = |failed_worker: &WorkerId| self.conduct.heard.contains_key(failed_worker);
        let noted = at.iter().map(|failed_worker| (*failed_worker, true)).chain([(worker, false)]);
        let noted: Vec<_> = noted.filter(|(noted_worker, _)| is_known(noted_worker)).collect();
        for (noted_worker, is_fault) in noted {
            self.conduct.games.entry(noted_worker).or_default().push(is_fault);
        }
        self.conduct.in_a_row.remove(&worker);
        let last = self.conduct.last(worker);
        let is_reliable = last.len() >= 10 && 8 * self.conduct.faults(worker) <= last.len();
        for faulty in at {
            let (faults, games) = (self.conduct.faults(faulty), self.conduct.last(faulty).len());
            if faults >= 10 && is_reliable && !self.is_quarantined(faulty) {
                self.conduct.quarantined.insert(faulty, self.now + 600_000);
                let (faults, games) = (faults as u64, games as u64);
                expected.push(Effect::Quarantined { worker: faulty, faults, games });
                self.take_leases(faulty, None, expected);
            }
        }
    }

    pub(super) fn is_settled_now(&mut self, game: GameId) {
        self.conduct.failed.remove(&game);
    }
}
