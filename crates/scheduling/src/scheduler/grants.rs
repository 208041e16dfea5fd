//! Granting leases to workers that ask for games.

use std::collections::BTreeSet;

use spelrum_model::demands::{Demands, Preference, Unmet};
use spelrum_model::withheld::Withheld;
use spelrum_model::{ExperimentId, GameId, GameRange, WorkerId};

use super::allocation::lease_share;
use super::api::{Effect, LeaseState};
use super::attempts::Next;
use super::batches::{Batch, LeaseRoom};
use super::cells::Cell;
use super::experiments::Experiment;
use super::lease_request::LeaseRequest;
use super::leases::Lease;
use super::machine::Scheduler;

/// Leases that a worker may hold beyond two for each slot (the current and the next): these are left over
/// from replies that it never got, and will expire.
const LEASES_BESIDE: usize = 8;

/// Credit, in microseconds of work, for an experiment that prefers what a worker has: an hour of one slot.
/// One that prefers what the worker lacks is debited as much.
const PREFERENCE_US: i128 = 3_600 * 1_000_000;

/// Most reported reasons why a worker gets nothing.
const REASONS_MAX: usize = 8;

/// The worker's task at an experiment's turn.
enum Work {
    /// Plays these games.
    Play(ExperimentId, Batch),
    /// Measures its speed at this game, for which the experiment's games wait.
    Measure(String),
}

impl Scheduler {
    /// Grants a lease, or returns when to ask again.
    pub(super) fn lease_wanted(&mut self, mut request: LeaseRequest<'_>) -> Effect {
        let LeaseRequest { worker, slots, .. } = request;
        let leases_max = 2 * usize::try_from(slots).unwrap_or(usize::MAX / 4) + LEASES_BESIDE;
        request.trains &= self.count_trainings(worker) < slots;
        self.conduct.record_contact(worker, self.now);
        let quarantined = || self.conduct.withheld(worker, self.now);
        let mut withheld = self.exclusions.withheld(worker).or_else(quarantined);
        if withheld.is_none() && self.leases.count_held_by(worker) < leases_max {
            let mut measuring = std::mem::take(&mut self.measuring);
            let mut order =
                self.shares.order(|experiment| self.preference_us(experiment, &request));
            let work = order.find_map(|experiment| {
                if self.exclusions.has(worker, experiment) {
                    withheld = Some(Withheld::Excluded);
                    return None;
                }
                let batch = self.batch(experiment, &request);
                if !batch.ranges.is_empty() {
                    return Some(Work::Play(experiment, batch));
                }
                let game = self.waits_for_speed(experiment, &request)?;
                measuring.ask(worker, game, self.now).then(|| Work::Measure(game.to_owned()))
            });
            drop(order);
            self.measuring = measuring;
            match work {
                Some(Work::Play(experiment, batch)) => {
                    return self.grant(worker, slots, experiment, batch);
                }
                Some(Work::Measure(game)) => {
                    let retry_after_ms = self.policy.retry_waiting_ms;
                    let (all_done, withheld, calibrate) = (false, None, Some(game));
                    return Effect::Idle { worker, retry_after_ms, all_done, withheld, calibrate };
                }
                None => {}
            }
            if withheld.is_none() {
                withheld = self.withheld_engine(worker);
            }
            if withheld.is_none() {
                let lacking = self.lacking(&request);
                withheld = (!lacking.is_empty()).then_some(Withheld::Unmet(lacking));
            }
        }
        let all_done = !self.any_running();
        let retry_after_ms =
            if all_done { self.policy.retry_done_ms } else { self.policy.retry_waiting_ms };
        Effect::Idle { worker, retry_after_ms, all_done, withheld, calibrate: None }
    }

    /// The game whose speed the worker must report to get games of an experiment, if that is why it gets
    /// none.
    fn waits_for_speed(
        &self,
        experiment: ExperimentId,
        request: &LeaseRequest<'_>,
    ) -> Option<&str> {
        let mut waiting = self.waiting_demands(self.experiments.get(&experiment)?);
        let lacks_speed =
            |demands: &Demands| matches!(request.lacks(demands), Some(Unmet::Measured(_)));
        if !waiting.any(lacks_speed) {
            return None;
        }
        let batch = self.batch(experiment, &request.with_hoped_speeds());
        let demands = self.cells.get(&batch.ranges.first()?.cell)?.demands()?;
        demands.speed.as_ref().map(|bounds| &*bounds.game)
    }

    /// The experiment's credit: how much less work it counts as having had.
    fn preference_us(&self, experiment: ExperimentId, request: &LeaseRequest<'_>) -> i128 {
        let experiment = self.experiments.get(&experiment);
        let demands = experiment.and_then(|experiment| experiment.with_work.demands().next());
        match request.preference(demands) {
            Preference::Preferred => PREFERENCE_US,
            Preference::Indifferent => 0,
            Preference::Disliked => -PREFERENCE_US,
        }
    }

    /// Demands of waiting games that a worker does not meet, except engines.
    fn lacking(&self, request: &LeaseRequest<'_>) -> Vec<Unmet> {
        let mut lacking = BTreeSet::new();
        for (id, experiment) in self.with_waiting() {
            if self.exclusions.has(request.worker, id) {
                continue;
            }
            lacking.extend(
                self.waiting_demands(experiment).filter_map(|demands| request.lacks(demands)),
            );
        }
        // Without speeds: the worker is measuring now, or has found that it cannot.
        lacking.retain(|unmet| !matches!(unmet, Unmet::Engines | Unmet::Measured(_)));
        // Cells with different time limits have different periods: only the strictest is reported.
        let mut has_period = false;
        lacking.retain(|unmet| {
            let is_period = matches!(unmet, Unmet::QuotaPeriod { .. });
            !is_period || !std::mem::replace(&mut has_period, true)
        });
        lacking.into_iter().take(REASONS_MAX).collect()
    }

    /// Demands of an experiment's waiting games: of cells with games for any batch, each once, then of games
    /// to be leased alone.
    pub(super) fn waiting_demands<'a>(
        &'a self,
        experiment: &'a Experiment,
    ) -> impl Iterator<Item = &'a Demands> {
        let apart = experiment.alone.iter().chain(&experiment.suspects);
        let apart = apart.filter_map(|game| self.cells.get(&game.cell));
        let apart = apart.filter(|cell| !cell.waits()).filter_map(|cell| cell.demands());
        experiment.with_work.demands().chain(apart.map(AsRef::as_ref))
    }

    /// Number of trainings that a worker holds.
    fn count_trainings(&self, worker: WorkerId) -> u64 {
        let is_training = |lease: &&Lease| {
            let cell = lease.granted.first().and_then(|range| self.cells.get(&range.cell));
            cell.is_some_and(Cell::is_training)
        };
        self.leases.held_by(worker).filter(is_training).count() as u64
    }

    /// The experiment's games for the worker. Games that were lost before come first: they hold up every
    /// decision about their cell (invariant 7). Unplayable ones are skipped.
    fn batch(&self, id: ExperimentId, request: &LeaseRequest<'_>) -> Batch {
        let Some(experiment) = self.experiments.get(&id) else { return Batch::default() };
        let &LeaseRequest { worker, slots, quiet_slots, .. } = request;
        let can_play =
            |game: &&GameId| self.cells.get(&game.cell).is_some_and(|cell| request.can_play(cell));
        let is_free =
            |game: &&GameId| can_play(game) && !self.is_left_to_others(**game, worker, id);
        let may_suspect = self.leases.held_by(worker).all(|lease| !lease.suspect);
        let suspect = experiment.suspects.iter().find(is_free).filter(|_| may_suspect);
        if let Some(game) = suspect.or_else(|| experiment.alone.iter().find(is_free)) {
            let range = GameRange { cell: game.cell, first: game.number, count: 1 };
            let work_us = u128::from(experiment.game_us.unwrap_or_default());
            return Batch { ranges: vec![range], work_us };
        }
        let games_left = u64::try_from(experiment.room()).unwrap_or(u64::MAX);
        // A pair is leased whole.
        if games_left < 2 || self.waits_for_others(worker, id) {
            return Batch::default();
        }
        let all_slots = self.leases.slots_with(worker, slots);
        let room =
            LeaseRoom::new(&self.policy, slots, all_slots, experiment.load, experiment.game_us)
                .with_quiet_slots(quiet_slots)
                .with_games_max(Some(games_left))
                .with_games_max(self.games_on_trial(worker, slots, id));
        let cells = experiment.with_work.matching(|demands| request.meets(demands));
        let cells = cells.filter_map(|id| self.cells.get(&id).map(|cell| (id, cell)));
        let cells = cells.filter(|(_, cell)| request.has_memory(cell));
        let mut recent_workers = None;
        let mut workers =
            || *recent_workers.get_or_insert_with(|| self.conduct.count_recent_workers(self.now));
        let mut share =
            |cell: &Cell| lease_share(cell, experiment.settings.allocation, &mut workers);
        room.fill(cells.map(|(id, cell)| (id, cell, share(cell))))
    }

    fn grant(
        &mut self,
        worker: WorkerId,
        slots: u64,
        experiment: ExperimentId,
        batch: Batch,
    ) -> Effect {
        let id = self.leases.next_id();
        for range in &batch.ranges {
            if let (1, Some(experiment)) = (range.count, self.experiments.get_mut(&experiment)) {
                experiment.take_apart(GameId { cell: range.cell, number: range.first });
            }
            self.change_cell(range.cell, |cell| cell.lease(range.first..range.end(), id));
        }
        self.shares.charge(experiment, batch.work_us);
        let lease = Lease {
            worker,
            experiment,
            outstanding: batch.ranges.iter().map(|range| range.count).sum(),
            suspect: self.is_suspect(&batch.ranges),
            granted: batch.ranges.clone(),
            started: BTreeSet::new(),
            deadline: self.deadline(),
        };
        self.leases.insert(id, lease, slots);
        let lost = batch.ranges.iter().filter(|range| self.attempts.any_lost(**range));
        let lost = lost.copied().collect();
        let (granted, outstanding) = (batch.ranges.clone(), batch.ranges.clone());
        self.note_granted(LeaseState { lease: id, worker, granted, outstanding });
        let duration_ms = self.policy.lease_duration_ms;
        Effect::Grant { worker, lease: id, ranges: batch.ranges, lost, duration_ms }
    }

    /// Whether this is a single game that was lost alone before.
    pub(super) fn is_suspect(&self, granted: &[GameRange]) -> bool {
        match granted {
            [only] if only.count == 1 => {
                let game = GameId { cell: only.cell, number: only.first };
                self.attempts.next(game, &self.policy) == Next::Suspect
            }
            _ => false,
        }
    }
}
