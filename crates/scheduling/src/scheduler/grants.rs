//! Granting leases to workers that ask for games.

use std::collections::BTreeSet;

use spelrum_model::demands::{Demands, Liking, Unmet};
use spelrum_model::withheld::Withheld;
use spelrum_model::{ExperimentId, GameId, GameRange, WorkerId};

use super::allocation::share_of_lease;
use super::api::{Effect, LeaseState};
use super::asking::Asking;
use super::attempts::Next;
use super::batches::{Batch, LeaseRoom};
use super::cells::Cell;
use super::experiments::Experiment;
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
enum Found {
    /// Plays these games.
    Plays(ExperimentId, Batch),
    /// Measures its speed at this game, for which the experiment's games wait.
    Measures(String),
}

impl Scheduler {
    /// Grants a lease, or returns when to ask again.
    pub(super) fn lease_wanted(&mut self, mut asking: Asking<'_>) -> Effect {
        let Asking { worker, slots, .. } = asking;
        let leases_max = 2 * usize::try_from(slots).unwrap_or(usize::MAX / 4) + LEASES_BESIDE;
        asking.trains &= self.trainings_of(worker) < slots;
        self.conduct.heard(worker, self.now);
        let quarantined = || self.conduct.withheld(worker, self.now);
        let mut withheld = self.exclusions.withheld(worker).or_else(quarantined);
        if withheld.is_none() && self.leases.count_of(worker) < leases_max {
            let mut measuring = std::mem::take(&mut self.measuring);
            let mut order = self.shares.order(|experiment| self.less_us(experiment, &asking));
            let found = order.find_map(|experiment| {
                if self.exclusions.has(worker, experiment) {
                    withheld = Some(Withheld::Excluded);
                    return None;
                }
                let batch = self.batch(experiment, &asking);
                if !batch.ranges.is_empty() {
                    return Some(Found::Plays(experiment, batch));
                }
                let game = self.waits_for_speed(experiment, &asking)?;
                measuring.ask(worker, game, self.now).then(|| Found::Measures(game.to_owned()))
            });
            drop(order);
            self.measuring = measuring;
            match found {
                Some(Found::Plays(experiment, batch)) => {
                    return self.grant(worker, slots, experiment, batch);
                }
                Some(Found::Measures(game)) => {
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
                let lacking = self.lacking(&asking);
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
    fn waits_for_speed(&self, experiment: ExperimentId, asking: &Asking<'_>) -> Option<&str> {
        let mut waiting = self.waiting_demands(self.experiments.get(&experiment)?);
        let lacks_speed = |it: &Demands| matches!(asking.lacks(it), Some(Unmet::Measured(_)));
        if !waiting.any(lacks_speed) {
            return None;
        }
        let batch = self.batch(experiment, &asking.hopeful());
        let demands = self.cells.get(&batch.ranges.first()?.cell)?.demands()?;
        demands.speed.as_ref().map(|bounds| &*bounds.game)
    }

    /// The experiment's credit: how much less work it counts as having had.
    fn less_us(&self, experiment: ExperimentId, asking: &Asking<'_>) -> i128 {
        let experiment = self.experiments.get(&experiment);
        let demands = experiment.and_then(|it| it.with_work.demands().next());
        match asking.liking(demands) {
            Liking::Preferred => PREFERENCE_US,
            Liking::Indifferent => 0,
            Liking::Disliked => -PREFERENCE_US,
        }
    }

    /// Demands of waiting games that a worker does not meet, except engines.
    fn lacking(&self, asking: &Asking<'_>) -> Vec<Unmet> {
        let mut lacking = BTreeSet::new();
        for (id, experiment) in self.ready() {
            if self.exclusions.has(asking.worker, id) {
                continue;
            }
            lacking.extend(self.waiting_demands(experiment).filter_map(|it| asking.lacks(it)));
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
    fn trainings_of(&self, worker: WorkerId) -> u64 {
        let is_training = |lease: &&Lease| {
            let cell = lease.granted.first().and_then(|range| self.cells.get(&range.cell));
            cell.is_some_and(Cell::is_training)
        };
        self.leases.of(worker).filter(is_training).count() as u64
    }

    /// The experiment's games for the worker. Games that were lost before come first: they hold up every
    /// decision about their cell (invariant 7). Unplayable ones are skipped.
    fn batch(&self, id: ExperimentId, asking: &Asking<'_>) -> Batch {
        let Some(experiment) = self.experiments.get(&id) else { return Batch::default() };
        let &Asking { worker, slots, quiet_slots, .. } = asking;
        let can_play =
            |game: &&GameId| self.cells.get(&game.cell).is_some_and(|cell| asking.can_play(cell));
        let is_free =
            |game: &&GameId| can_play(game) && !self.is_left_to_others(**game, worker, id);
        let may_suspect = self.leases.of(worker).all(|lease| !lease.suspect);
        let suspect = experiment.suspects.iter().find(is_free).filter(|_| may_suspect);
        if let Some(game) = suspect.or_else(|| experiment.alone.iter().find(is_free)) {
            let range = GameRange { cell: game.cell, first: game.number, count: 1 };
            let work_us = u128::from(experiment.game_us.unwrap_or_default());
            return Batch { ranges: vec![range], work_us };
        }
        if self.waits_for_others(worker, id) {
            return Batch::default();
        }
        let all_slots = self.leases.slots_with(worker, slots);
        let room =
            LeaseRoom::new(&self.policy, slots, all_slots, experiment.load, experiment.game_us)
                .with_quiet_slots(quiet_slots)
                .with_games_max(self.games_at_once(worker, slots, id));
        let cells = experiment.with_work.for_whom(|demands| asking.meets(demands));
        let cells = cells.filter_map(|id| self.cells.get(&id).map(|cell| (id, cell)));
        let cells = cells.filter(|(_, cell)| asking.has_memory(cell));
        let mut heard = None;
        let mut workers = || *heard.get_or_insert_with(|| self.conduct.heard_lately(self.now));
        let mut share = |cell: &Cell| share_of_lease(cell, experiment.allocation, &mut workers);
        room.fill(cells.map(|(id, cell)| (id, cell, share(cell))))
    }

    fn grant(&mut self, worker: WorkerId, slots: u64, of: ExperimentId, batch: Batch) -> Effect {
        let id = self.leases.next_id();
        for range in &batch.ranges {
            if let (1, Some(experiment)) = (range.count, self.experiments.get_mut(&of)) {
                experiment.take_apart(GameId { cell: range.cell, number: range.first });
            }
            self.change_cell(range.cell, |cell| cell.lease(range.first..range.end(), id));
        }
        self.shares.charge(of, batch.work_us);
        let lease = Lease {
            worker,
            experiment: of,
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
