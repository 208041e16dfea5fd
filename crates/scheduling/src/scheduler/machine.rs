//! The state machine: its state, its events, and the bookkeeping shared by all decisions.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::{CellId, ExperimentId, ExperimentState, GameId, LeaseId, SchedulingSettings};
use spelrum_statistics::GameCounts;

use super::allocation::Turn;
use super::api::{Attempts, CellState, Changes, Effect, Event, LeaseEnd, LeaseState, Time};
use super::attempts::AttemptBook;
use super::cells::Cell;
use super::conduct::Conduct;
use super::exclusions::Exclusions;
use super::experiments::{CellSum, Experiment, Experiments};
use super::forfeits::Forfeits;
use super::lease_request::LeaseRequest;
use super::leases::{Lease, Leases};
use super::measuring::Measuring;
use super::policy::Policy;
use super::shares::Shares;
use crate::stopping::Reading;

/// The scheduler. See the [module](super) for its decisions.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) policy: Policy,
    /// The latest time received. It never goes back.
    pub(super) now: Time,
    /// When the owner's turn began. Later than events that waited for it.
    pub(super) turn: Time,
    pub(super) cells: BTreeMap<CellId, Cell>,
    pub(super) experiments: Experiments,
    pub(super) leases: Leases,
    pub(super) attempts: AttemptBook,
    pub(super) shares: Shares,
    pub(super) exclusions: Exclusions,
    pub(super) conduct: Conduct,
    pub(super) forfeits: Forfeits,
    pub(super) measuring: Measuring,
    /// How many experiments are in the state `Running`.
    pub(super) running: usize,
    /// Effects without an event: experiments that a restart found complete.
    pub(super) pending: Vec<Effect>,
    /// Experiments that are over. The next drain forgets them: from then on the owner compares late reports
    /// of their games with the store.
    pub(super) over: BTreeSet<ExperimentId>,
    /// For each cell, the cells that wait for it: all of one experiment.
    pub(super) waiting: BTreeMap<CellId, BTreeSet<CellId>>,
    pub(super) changed_cells: BTreeSet<CellId>,
    /// Open experiments with a cell settled since the last `take_settled`.
    pub(super) settled: BTreeSet<ExperimentId>,
    pub(super) granted: Vec<LeaseState>,
    pub(super) ended: Vec<(LeaseId, LeaseEnd)>,
}

/// Facts the owner looked up for a reported game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Whether it has a settled result on disk.
    pub(super) settled: bool,
    /// Whether it was ever leased to the worker under the named lease.
    pub(super) leased: bool,
}

impl Scheduler {
    /// Begins the owner's turn of processing events. Leases granted or renewed from here on live from `now`:
    /// however long their workers' calls waited, the answers go out no earlier.
    ///
    /// `gap_ms` is how long the owner stood still before, unable to hear calls: every live lease is extended
    /// by it, since its worker may have called in vain.
    pub fn begin_turn(&mut self, now: Time, gap_ms: u64) {
        self.turn = self.turn.max(now);
        if gap_ms > 0 {
            self.leases.prolong(gap_ms);
        }
        self.debug_assert_consistent();
    }

    /// Handles one event. Leases due at `now` expire before the event.
    pub fn handle(&mut self, event: Event, now: Time) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = std::mem::take(&mut self.pending);
        self.expire(&mut effects);
        match event {
            Event::Submitted { experiment, settings, open, cells, attempts } => {
                self.submitted(experiment, settings, open, cells, attempts, &mut effects);
            }
            Event::Extended { experiment, cells, open } => {
                self.extended(experiment, cells, open, &mut effects);
            }
            Event::Steered { experiment, state } => self.steered(experiment, state),
            Event::Prioritized { experiment, priority } => self.prioritized(experiment, priority),
            Event::Removed { experiment } => self.removed(experiment),
            Event::Reopened { experiment, games, readings, played } => {
                self.reopened(experiment, &games, readings, &played, &mut effects);
            }
            Event::Excluded { worker, experiment } => {
                self.excluded(worker, experiment, &mut effects);
            }
            Event::Barred { worker, barred } => self.bar(worker, barred, &mut effects),
            Event::Readmitted { worker, engine } => {
                if engine.is_none() {
                    self.exclusions.readmit(worker);
                    self.conduct.readmit(worker);
                }
                self.forfeits.readmit(worker, engine.as_deref());
            }
            Event::LeaseWanted {
                worker,
                slots,
                quiet_slots,
                memory_bytes,
                offer,
                trains,
                verifies,
            } => {
                let offer = self.allowed_offer(worker, offer);
                let mut request =
                    LeaseRequest::new(worker, (slots, quiet_slots), memory_bytes, &offer);
                (request.trains, request.verifies) = (trains, verifies);
                effects.push(self.lease_wanted(request));
            }
            Event::Heartbeat { worker, leases, playing } => {
                effects.push(self.heartbeat(worker, &leases, &playing));
            }
            Event::GivenBack { worker, lease } => self.given_back(worker, lease, &mut effects),
            Event::Reported { worker, lease, game, report, settled, leased } => {
                let facts = Facts { settled, leased };
                self.reported(worker, lease, game, report, facts, &mut effects);
            }
            Event::Tick => {}
        }
        self.debug_assert_consistent();
        effects
    }

    /// When `Tick` next has an effect.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        if self.pending.is_empty() { self.leases.next_deadline() } else { Some(self.now) }
    }

    /// Whether live leases hold games of the experiment.
    #[must_use]
    pub fn holds_leases(&self, experiment: ExperimentId) -> bool {
        self.leases.iter().any(|(_, lease)| lease.experiment == experiment)
    }

    /// Drains the changes that must be stored before the replies are sent.
    pub fn take_changes(&mut self) -> Changes {
        let changed = std::mem::take(&mut self.changed_cells);
        let progress = |id| self.cells.get(&id).map(|cell| cell.progress(id));
        let changes = Changes {
            cells: changed.into_iter().filter_map(progress).collect(),
            granted: std::mem::take(&mut self.granted),
            ended: std::mem::take(&mut self.ended),
            attempts: self.attempts.take_changed(),
        };
        for experiment in std::mem::take(&mut self.over) {
            self.forget(experiment);
        }
        changes
    }

    /// Whether some experiment is running.
    pub(super) const fn any_running(&self) -> bool {
        self.running > 0
    }

    /// Changes a cell, and all sums and indexes over cells with it.
    pub(super) fn change_cell<R>(
        &mut self,
        id: CellId,
        change: impl FnOnce(&mut Cell) -> R,
    ) -> Option<R> {
        let cell = self.cells.get_mut(&id)?;
        let experiment = self.experiments.get_mut(&cell.experiment())?;
        let before = CellSum::new(cell, experiment.settings.allocation);
        let result = change(cell);
        experiment.account(id, Some(before), cell);
        if cell.take_changed() {
            self.changed_cells.insert(id);
        }
        if cfg!(debug_assertions) {
            cell.assert_consistent();
        }
        let ready = experiment.is_ready();
        let is_settled = cell.unsettled() == 0;
        if experiment.open && before.is_unsettled() && is_settled {
            self.settled.insert(cell.experiment());
        }
        self.shares.set_ready(cell.experiment(), ready);
        if before.is_unsettled() == is_settled {
            for waiting in self.waiting.get(&id).cloned().unwrap_or_default() {
                self.update_waiting(waiting);
            }
        }
        Some(result)
    }

    /// Updates whether games of a cell wait for other cells.
    pub(super) fn update_waiting(&mut self, id: CellId) {
        let is_unsettled =
            |id: &CellId| self.cells.get(id).is_some_and(|cell| cell.unsettled() > 0);
        let Some(cell) = self.cells.get(&id) else { return };
        let waits = cell.after().iter().any(is_unsettled);
        if waits != cell.waits() {
            self.change_cell(id, |cell| cell.set_waits(waits));
        }
    }

    /// Records a new cell's special needs: tasks other than games, or cells to wait for.
    pub(super) fn track_waiting(&mut self, id: CellId) {
        let Some(cell) = self.cells.get(&id) else { return };
        if !cell.has_games() {
            self.attempts.always_alone(id);
        }
        for before in cell.after() {
            self.waiting.entry(*before).or_default().insert(id);
        }
    }

    /// Whether no more of a cell will be played: all its games are settled, up to its end, and none is
    /// leased. `None` if its experiment is unknown or over.
    #[must_use]
    pub fn is_settled(&self, cell: CellId) -> Option<bool> {
        self.cells.get(&cell).map(|cell| cell.unsettled() == 0)
    }

    /// Whether the experiment is known: one that is over may be forgotten.
    #[must_use]
    pub fn knows(&self, experiment: ExperimentId) -> bool {
        self.experiments.contains_key(&experiment)
    }

    /// Whether the owner may add cells to the experiment.
    #[must_use]
    pub fn is_open(&self, experiment: ExperimentId) -> bool {
        self.experiments
            .get(&experiment)
            .is_some_and(|experiment| experiment.open && !experiment.is_over())
    }

    /// Takes the set of open experiments to re-evaluate: those with a newly settled cell, and all after a
    /// restart.
    pub fn take_settled(&mut self) -> BTreeSet<ExperimentId> {
        std::mem::take(&mut self.settled)
    }

    /// Whether the experiment is over, but not forgotten yet.
    pub(super) fn is_over(&self, id: ExperimentId) -> bool {
        self.experiments.get(&id).is_some_and(Experiment::is_over)
    }

    /// Notes that a lease was granted.
    pub(super) fn note_granted(&mut self, lease: LeaseState) {
        self.granted.push(lease);
    }

    /// Removes a lease. The caller places its outstanding games.
    pub(super) fn end_lease(&mut self, id: LeaseId, why: LeaseEnd) -> Option<Lease> {
        let lease = self.leases.remove(id)?;
        self.ended.push((id, why));
        Some(lease)
    }

    /// Puts a game that has left its lease among those that wait to be leased again.
    pub(super) fn set_apart(&mut self, game: GameId) {
        let next = self.attempts.next(game, &self.policy);
        let Some(cell) = self.cells.get(&game.cell) else { return };
        if cell.hands_out(game.number)
            && let Some(experiment) = self.experiments.get_mut(&cell.experiment())
        {
            experiment.set_apart(game, next);
        }
        self.change_cell(game.cell, |cell| cell.set_apart(game.number));
    }

    /// Ends an experiment whose games are all settled and which gets no more cells.
    pub(super) fn finish_if_settled(&mut self, id: ExperimentId, effects: &mut Vec<Effect>) {
        let finished = |e: &Experiment| e.unsettled == 0 && !e.open && !e.is_over();
        if self.experiments.get(&id).is_some_and(finished) {
            self.set_state(id, ExperimentState::Finished);
            effects.push(Effect::Finished { experiment: id });
        }
    }

    fn submitted(
        &mut self,
        id: ExperimentId,
        settings: SchedulingSettings,
        open: bool,
        cells: Vec<CellState>,
        attempts: Vec<Attempts>,
        effects: &mut Vec<Effect>,
    ) {
        let known_state = self.experiments.get(&id).map(|experiment| experiment.state);
        if known_state == Some(ExperimentState::Cancelled) {
            return; // Final.
        }
        if known_state.is_none() {
            self.experiments.insert(id, Experiment::new(ExperimentState::Paused));
        }
        self.set_settings(id, settings);
        if known_state.is_none_or(|state| state == ExperimentState::Finished) {
            self.run_again(id, effects);
        }
        if let Some(experiment) = self.experiments.get_mut(&id) {
            experiment.open = open;
        }
        for attempts in attempts {
            if !self.cells.contains_key(&attempts.game.cell) {
                self.attempts.restore(attempts);
            }
        }
        self.take_cells(id, &cells);
        self.finish_if_settled(id, effects);
    }

    /// Resumes a finished experiment. If its last lease ran out in this same event, the owner is not notified
    /// that it was finished.
    fn run_again(&mut self, id: ExperimentId, effects: &mut Vec<Effect>) {
        self.set_state(id, ExperimentState::Running);
        effects.retain(|effect| *effect != Effect::Finished { experiment: id });
    }

    /// Sets an experiment's settings; reorders its cells under another allocation.
    pub(super) fn set_settings(&mut self, id: ExperimentId, settings: SchedulingSettings) {
        self.shares.set_priority(id, settings.priority);
        let Some(experiment) = self.experiments.get_mut(&id) else { return };
        let before = std::mem::replace(&mut experiment.settings, settings);
        self.shares.set_ready(id, experiment.is_ready());
        let allocation = settings.allocation;
        if before.allocation == allocation {
            return;
        }
        for id in std::mem::take(&mut experiment.with_work).ids() {
            if let Some(cell) = self.cells.get(&id) {
                experiment.with_work.insert(Turn::new(cell, allocation), id, cell);
            }
        }
    }

    fn extended(
        &mut self,
        id: ExperimentId,
        cells: Vec<CellState>,
        open: bool,
        effects: &mut Vec<Effect>,
    ) {
        let Some(experiment) =
            self.experiments.get_mut(&id).filter(|experiment| !experiment.is_over())
        else {
            return;
        };
        debug_assert!(experiment.open, "{id} is extended and was closed");
        experiment.open = open;
        self.take_cells(id, &cells);
        self.finish_if_settled(id, effects);
    }

    /// Adds cells, or updates known ones from the sweep.
    fn take_cells(&mut self, id: ExperimentId, cells: &[CellState]) {
        for state in cells {
            match self.cells.get(&state.cell).map(Cell::experiment) {
                None => {
                    self.cells.insert(state.cell, Cell::new(id, state));
                    self.track_waiting(state.cell);
                    self.add_to_experiment(state.cell);
                }
                Some(owner) => {
                    debug_assert_eq!(owner, id, "cell {} is of two experiments", state.cell);
                    if owner == id {
                        self.plan_cell(state);
                    }
                }
            }
        }
        // They may wait for cells that came after them.
        for state in cells.iter().filter(|state| state.after.is_some()) {
            self.update_waiting(state.cell);
        }
    }

    /// Updates a known cell from the sweep.
    fn plan_cell(&mut self, state: &CellState) {
        if let Some(cell) = self.cells.get(&state.cell)
            && cell.demands() != state.demands.as_ref()
            && let Some(experiment) = self.experiments.get_mut(&cell.experiment())
        {
            // It returns among cells with the same demands.
            let turn = Turn::new(cell, experiment.settings.allocation);
            experiment.with_work.remove(turn, state.cell, cell);
        }
        self.change_cell(state.cell, |cell| cell.set_planned(state));
        self.place_apart(state.cell);
    }

    /// Updates which games of a cell wait to be leased alone: only those that it hands out. For use after a
    /// change of that.
    pub(super) fn place_apart(&mut self, id: CellId) {
        let Some(cell) = self.cells.get(&id) else { return };
        let Some(experiment) = self.experiments.get_mut(&cell.experiment()) else { return };
        for number in cell.alone() {
            let game = GameId { cell: id, number };
            if cell.hands_out(number) {
                experiment.set_apart(game, self.attempts.next(game, &self.policy));
            } else {
                experiment.take_apart(game);
            }
        }
        let ready = experiment.is_ready();
        self.shares.set_ready(cell.experiment(), ready);
    }

    fn reopened(
        &mut self,
        id: ExperimentId,
        games: &[GameId],
        readings: Vec<(CellId, Reading)>,
        played: &[(CellId, GameCounts)],
        effects: &mut Vec<Effect>,
    ) {
        let Some(state) = self.experiments.get(&id).map(|experiment| experiment.state) else {
            return;
        };
        if state == ExperimentState::Cancelled {
            return; // Final.
        }
        let mut readings: BTreeMap<CellId, Reading> = readings.into_iter().collect();
        let mut numbers: BTreeMap<CellId, Vec<u64>> = BTreeMap::new();
        for game in games {
            numbers.entry(game.cell).or_default().push(game.number);
        }
        for (id, numbers) in numbers {
            let reading = readings.remove(&id);
            self.change_cell(id, |cell| cell.reopen(&numbers, reading));
            if self.cells.get(&id).is_some_and(|cell| !cell.has_games()) {
                numbers.iter().for_each(|&number| self.set_apart(GameId { cell: id, number }));
            }
            self.place_apart(id);
        }
        for &(id, counts) in played {
            self.change_cell(id, |cell| cell.set_played(counts));
        }
        if state == ExperimentState::Finished && self.experiments[&id].unsettled > 0 {
            self.run_again(id, effects);
        }
    }

    fn steered(&mut self, id: ExperimentId, state: ExperimentState) {
        if self.experiments.get(&id).is_none_or(Experiment::is_over) {
            return;
        }
        match state {
            ExperimentState::Running | ExperimentState::Paused => self.set_state(id, state),
            ExperimentState::Cancelled => {
                self.set_state(id, state);
                self.cancel_leases(id);
            }
            // Only its results finish an experiment.
            ExperimentState::Finished => {}
        }
    }

    fn prioritized(&mut self, id: ExperimentId, priority: i32) {
        if let Some(experiment) = self.experiments.get(&id).filter(|known| !known.is_over()) {
            self.set_settings(id, SchedulingSettings { priority, ..experiment.settings });
        }
    }

    fn removed(&mut self, id: ExperimentId) {
        self.cancel_leases(id);
        self.set_state(id, ExperimentState::Cancelled);
        self.over.remove(&id);
        self.exclusions.forget(id);
        let cells = self
            .experiments
            .get(&id)
            .map(|experiment| experiment.cells.clone())
            .unwrap_or_default();
        self.forget(id);
        for cell in cells {
            self.attempts.remove(cell);
            self.changed_cells.remove(&cell);
        }
    }

    fn cancel_leases(&mut self, id: ExperimentId) {
        let is_its = |(_, lease): &(LeaseId, &Lease)| lease.experiment == id;
        let leases: Vec<_> = self.leases.iter().filter(is_its).map(|l| l.0).collect();
        for lease in leases {
            self.end_lease(lease, LeaseEnd::Cancelled);
        }
    }

    /// Sets an experiment's state; the caller handles the consequences.
    pub(super) fn set_state(&mut self, id: ExperimentId, state: ExperimentState) {
        let Some(experiment) = self.experiments.get_mut(&id) else { return };
        self.running -= usize::from(experiment.state == ExperimentState::Running);
        self.running += usize::from(state == ExperimentState::Running);
        experiment.state = state;
        if experiment.is_over() {
            self.over.insert(id);
        } else {
            self.over.remove(&id);
        }
        self.shares.set_ready(id, experiment.is_ready());
    }

    /// Forgets an experiment that is over.
    fn forget(&mut self, id: ExperimentId) {
        self.shares.remove(id);
        for cell in self.experiments.remove(&id).into_iter().flat_map(|e| e.cells) {
            self.cells.remove(&cell);
            self.waiting.remove(&cell);
            self.attempts.forget(cell);
            self.conduct.forget(cell);
            self.forfeits.forget(cell);
        }
    }

    /// When a lease that is granted or renewed now expires.
    pub(super) const fn deadline(&self) -> Time {
        let now = if self.now.0 > self.turn.0 { self.now } else { self.turn };
        Time(now.0.saturating_add(self.policy.lease_duration_ms))
    }
}
