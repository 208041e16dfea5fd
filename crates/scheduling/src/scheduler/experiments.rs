//! An experiment: its cells with games to lease, and the amount of work in them.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::{
    Allocation, CellId, ExperimentId, ExperimentState, GameId, SchedulingSettings,
};

use super::allocation::Turn;
use super::attempts::Next;
use super::batches::Load;
use super::cells::Cell;
use super::cells::moving_average;
use super::needs::Need;
use super::with_work::WithWork;

/// An experiment that is not over, or ended only since the last drain.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    /// Whether its games are handed out.
    pub(super) state: ExperimentState,
    /// Whether more cells may come, so that it is not finished when its games are.
    pub(super) open: bool,
    /// All its cells.
    pub(super) cells: Vec<CellId>,
    /// Its sweep's settings, with its current priority.
    pub(super) settings: SchedulingSettings,
    /// Cells with games for any batch. Ids are given in the order of the grid.
    pub(super) with_work: WithWork,
    /// Games to be leased alone.
    pub(super) alone: BTreeSet<GameId>,
    /// Games to be leased alone by a worker that holds no other suspect.
    pub(super) suspects: BTreeSet<GameId>,
    /// Games without a final result.
    pub(super) unsettled: u128,
    /// Those of them that could be leased now, if it is running, by their needs. No count is 0.
    pub(super) waiting: BTreeMap<Need, u128>,
    /// Those of them that are leased.
    pub(super) leased: u128,
    /// Work left for any batch.
    pub(super) load: Load,
    /// Moving average of the wall time of its games, across all cells.
    pub(super) game_us: Option<u64>,
}

impl Experiment {
    /// An experiment without cells.
    pub(super) fn new(state: ExperimentState) -> Self {
        Self {
            state,
            open: false,
            cells: Vec::new(),
            settings: SchedulingSettings::default(),
            with_work: WithWork::default(),
            alone: BTreeSet::new(),
            suspects: BTreeSet::new(),
            unsettled: 0,
            waiting: BTreeMap::new(),
            leased: 0,
            load: Load { measured_us: 0, unmeasured_games: 0 },
            game_us: None,
        }
    }

    /// Whether it is finished or cancelled.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.state, ExperimentState::Finished | ExperimentState::Cancelled)
    }

    /// Whether it is running, and games of it wait to be handed out.
    pub(super) fn has_waiting(&self) -> bool {
        self.state == ExperimentState::Running
            && !(self.with_work.is_empty() && self.alone.is_empty() && self.suspects.is_empty())
    }

    /// Whether it has games to hand out now.
    pub(super) fn is_ready(&self) -> bool {
        self.has_waiting() && self.room() > 0
    }

    /// How many more of its games may be leased at the same time as those that are.
    pub(super) fn room(&self) -> u128 {
        let games_max = self.settings.games_at_once.map_or(u128::MAX, u128::from);
        games_max.saturating_sub(self.leased)
    }

    /// Accounts for a new or changed cell. `before` is its earlier sum, if any.
    pub(super) fn account(&mut self, id: CellId, before: Option<CellSum>, cell: &Cell) {
        let before = before.unwrap_or_default();
        let after = CellSum::new(cell, self.settings.allocation);
        self.unsettled =
            self.unsettled - u128::from(before.unsettled) + u128::from(after.unsettled);
        if before.waiting != after.waiting {
            change_waiting(&mut self.waiting, before.waiting, |games, more| games - more);
            change_waiting(&mut self.waiting, after.waiting, |games, more| games + more);
        }
        self.leased = self.leased - u128::from(before.leased) + u128::from(after.leased);
        self.load.measured_us =
            self.load.measured_us - before.load.measured_us + after.load.measured_us;
        self.load.unmeasured_games =
            self.load.unmeasured_games - before.load.unmeasured_games + after.load.unmeasured_games;
        if before.turn != after.turn || !cell.has_work() {
            self.with_work.remove(before.turn, id, cell);
        }
        if cell.has_work() {
            self.with_work.insert(after.turn, id, cell);
        }
        if before.task != after.task {
            let game = |number| GameId { cell: id, number };
            before.task.map(|number| self.alone.remove(&game(number)));
            self.alone.extend(after.task.map(game));
        }
    }

    /// Adds a returned game to those that wait to be leased alone.
    pub(super) fn set_apart(&mut self, game: GameId, next: Next) {
        match next {
            Next::Alone => self.alone.insert(game),
            Next::Suspect => self.suspects.insert(game),
            Next::Shared | Next::GiveUp => false,
        };
    }

    /// Removes a game from those that wait to be leased alone.
    pub(super) fn take_apart(&mut self, game: GameId) {
        self.alone.remove(&game);
        self.suspects.remove(&game);
    }

    /// Adds a measured wall time to the average.
    pub(super) fn measure(&mut self, wall_us: u64) {
        self.game_us = Some(moving_average(self.game_us, wall_us));
    }
}

/// A cell's contribution to its experiment's sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellSum {
    unsettled: u64,
    /// The games that could be leased now, if any, with their needs.
    waiting: Option<(Need, u64)>,
    leased: u64,
    load: Load,
    turn: Turn,
    /// The next training or verification that was never leased.
    task: Option<u64>,
}

impl CellSum {
    /// The sum of a cell, under this allocation.
    pub(super) fn new(cell: &Cell, allocation: Allocation) -> Self {
        let (unsettled, load) = (cell.unsettled(), Load::new(cell));
        let task = cell.next_task();
        let leased = cell.leased_count();
        let waiting = Some(cell.waiting_count()).filter(|games| *games > 0);
        let waiting = waiting.map(|games| (Need::new(cell), games));
        Self { unsettled, waiting, leased, load, turn: Turn::new(cell, allocation), task }
    }

    /// Whether it has unsettled games.
    pub(super) const fn is_unsettled(&self) -> bool {
        self.unsettled > 0
    }
}

/// Changes the count of waiting games with this need; removes it at 0.
fn change_waiting(
    waiting: &mut BTreeMap<Need, u128>,
    cells: Option<(Need, u64)>,
    change: impl Fn(u128, u128) -> u128,
) {
    let Some((need, games)) = cells else { return };
    let count = waiting.entry(need).or_default();
    *count = change(*count, u128::from(games));
    if *count == 0 {
        waiting.remove(&need);
    }
}

/// All of them.
pub(super) type Experiments = std::collections::BTreeMap<ExperimentId, Experiment>;
