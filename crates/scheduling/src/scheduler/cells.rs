//! The places of one cell's games, without storing them one by one.
//!
//! A number below the cursor is in exactly one of four places: returned and free for any batch, returned and
//! to be leased alone, in a live lease, or settled. The first three are stored; all other numbers are
//! settled. So a game cannot be recorded in two places (invariants 4 and 6): `leased` maps a number to one
//! lease.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rangemap::RangeMap;
use spelrum_model::demands::Demands;
use spelrum_model::{CellId, ExperimentId, GameRange, LeaseId, WorkerId};
use spelrum_statistics::GameCounts;

use super::api::{CellProgress, CellState, Tasks};
use super::ranges::Numbers;
use crate::stopping::{Points, Prefix, Reading, Settled};

/// Upper limit for reported wall times: a day.
pub(super) const GAME_US_MAX: u64 = 86_400_000_000;

/// A cell of a running or paused experiment.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    experiment: ExperimentId,
    /// Whether the experiment's sweep names it. If not, its games are not handed out.
    in_sweep: bool,
    /// Whether its games come in pairs.
    swap_sides: bool,
    /// Number of games, unless its stop rule ends it earlier: see [`Cell::end`].
    games: u64,
    /// Determines where it ends (invariant 7): its stop rule, or whether its players repeat themselves.
    /// Boxed, since 100,000 cells may have none.
    prefix: Option<Box<Prefix>>,
    /// The cursor: the lowest number that was never leased.
    next_number: u64,
    /// Numbers below the cursor that any batch may take.
    returned: Numbers,
    /// Numbers below the cursor that must be leased alone.
    alone: BTreeSet<u64>,
    /// Numbers below the cursor that are in live leases.
    leased: RangeMap<u64, LeaseId>,
    /// Number of games in live leases.
    leased_count: u64,
    /// Its first player's results in the played games, as far as received.
    played: GameCounts,
    /// Moving average of a game's wall time, once one was measured. Not durable: after a restart a cell
    /// starts again with a small batch.
    game_us: Option<u64>,
    /// Bytes of memory that a game may take.
    memory_bytes: u64,
    /// Demands of a game on its worker beside memory, if any.
    demands: Option<Arc<Demands>>,
    /// Cells of its experiment that must be settled before its games are handed out.
    after: Option<Arc<[CellId]>>,
    /// Whether one of these is unsettled.
    waits: bool,
    /// Kind of its tasks.
    tasks: Tasks,
    /// Whether its games are timed.
    timed: bool,
    /// Whether the durable part changed since [`Cell::take_changed`].
    changed: bool,
}

/// Where a game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Beyond the cursor.
    NeverLeased,
    /// Free for any batch.
    Returned,
    /// To be leased alone.
    Alone,
    /// In this live lease.
    Leased(LeaseId),
    /// It has its result, or has finally failed.
    Settled,
}

impl Cell {
    /// Restores the durable state. Live leases follow.
    pub(super) fn new(experiment: ExperimentId, state: &CellState) -> Self {
        let mut returned = Numbers::default();
        for range in &state.returned {
            returned.insert(range.first..range.end());
        }
        let mut cell = Self {
            experiment,
            in_sweep: state.in_sweep,
            swap_sides: state.swap_sides,
            // A reduced sweep does not take back games that were already leased.
            games: games_with(state.swap_sides, state.games, state.next_number),
            prefix: state.reading.as_deref().cloned().map(|reading| Box::new(reading.into())),
            next_number: state.next_number,
            returned,
            alone: BTreeSet::new(),
            leased: RangeMap::new(),
            leased_count: 0,
            played: state.played,
            game_us: None,
            memory_bytes: state.memory_bytes,
            demands: state.demands.clone(),
            after: state.after.clone(),
            // Until first checked.
            waits: state.after.is_some(),
            tasks: state.tasks,
            timed: state.timed,
            changed: false,
        };
        cell.changed = cell.decision() != (state.decided_number, state.stop_number);
        cell
    }

    /// Restores a live lease's outstanding games, in the order of lease ids: a game that left a live lease
    /// unsettled has failed there, and is now returned or in a later lease.
    pub(super) fn restore_leased(&mut self, range: Range<u64>, lease: LeaseId) {
        if !range.is_empty() {
            self.next_number = self.next_number.max(range.end);
            self.games = games_with(self.swap_sides, self.games, self.next_number);
            self.leased.insert(range, lease);
        }
    }

    /// After the last [`Cell::restore_leased`].
    pub(super) fn finish_restore(&mut self) {
        for range in self.returned.iter() {
            self.leased.remove(range);
        }
        self.leased_count = self.leased.iter().map(|(range, _)| range.end - range.start).sum();
    }

    /// The experiment it belongs to.
    pub(super) const fn experiment(&self) -> ExperimentId {
        self.experiment
    }

    /// Where a game is.
    pub(super) fn place(&self, number: u64) -> Place {
        if number >= self.next_number {
            Place::NeverLeased
        } else if let Some(lease) = self.leased.get(&number) {
            Place::Leased(*lease)
        } else if self.returned.contains(number) {
            Place::Returned
        } else if self.alone.contains(&number) {
            Place::Alone
        } else {
            Place::Settled
        }
    }

    /// Where it ends: at its stop, once its rule is reached, or with its last game; while it is unknown whether
    /// its players repeat themselves, behind the games that show it. Nothing else decides that.
    pub(super) fn end(&self) -> u64 {
        self.prefix.as_deref().map_or(self.games, |prefix| prefix.end(self.games))
    }

    /// Whether the game is handed out if free.
    pub(super) fn hands_out(&self, number: u64) -> bool {
        self.in_sweep && number < self.end()
    }

    /// Games for any batch: returned ones first, so that the settled ones become a prefix (invariant 7), then
    /// never leased ones. Empty if the sweep does not name the cell, and limited to its end.
    pub(super) fn available(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let end = if self.in_sweep { self.end() } else { 0 };
        let all = self.returned.iter().chain(std::iter::once(self.next_number..self.games));
        all.map(move |range| range.start..range.end.min(end)).take_while(|range| !range.is_empty())
    }

    /// Number of these games.
    pub(super) fn available_count(&self) -> u64 {
        if !self.in_sweep {
            return 0;
        }
        let end = self.end();
        self.returned.count() - self.returned.count_from(end) + end.saturating_sub(self.next_number)
    }

    /// Number of games that the experiment still waits for: those below its end without a final result, and
    /// leased ones anywhere; only the latter, if the sweep does not name the cell.
    pub(super) fn unsettled(&self) -> u64 {
        let alone = if self.in_sweep { self.alone.range(..self.end()).count() as u64 } else { 0 };
        self.available_count() + alone + self.leased_count
    }

    /// Number of its games that could be handed out now, if the experiment's are.
    pub(super) fn waiting_count(&self) -> u64 {
        if self.waits { 0 } else { self.unsettled() - self.leased_count }
    }

    /// The first player's points, from those of the player who moved first in the game.
    pub(super) const fn first_players(&self, number: u64, points: Points) -> Points {
        if self.swap_sides && number % 2 == 1 { points.swapped() } else { points }
    }

    /// The part of a range that is in a lease.
    pub(super) fn outstanding(&self, range: &GameRange, lease: LeaseId) -> Vec<Range<u64>> {
        let within = range.first..range.end();
        self.leased
            .overlapping(&within)
            .filter(|(_, holder)| **holder == lease)
            .map(|(part, _)| part.start.max(within.start)..part.end.min(within.end))
            .collect()
    }

    /// Puts games that are available, or waiting to be leased alone, into a lease.
    pub(super) fn lease(&mut self, range: Range<u64>, lease: LeaseId) {
        debug_assert!(!range.is_empty(), "a lease of nothing");
        let count = range.end - range.start;
        if range.start == self.next_number {
            debug_assert!(range.end <= self.games, "{range:?} is beyond the cell's games");
            self.next_number = range.end;
        } else if !(count == 1 && self.alone.remove(&range.start)) {
            let had = self.returned.remove(range.clone());
            debug_assert_eq!(had, count, "{range:?} was not free to be leased");
        }
        self.leased.insert(range, lease);
        self.leased_count += count;
        self.changed = true;
    }

    /// Puts games of a lease back for any batch.
    pub(super) fn give_back(&mut self, range: Range<u64>) {
        self.leased_count -= range.end - range.start;
        self.leased.remove(range.clone());
        self.returned.insert(range);
        self.changed = true;
    }

    /// Sets a returned game apart, to be leased alone.
    pub(super) fn set_apart(&mut self, number: u64) {
        if self.returned.remove(number..number + 1) == 1 {
            self.alone.insert(number);
        }
    }

    /// Settles a game, and returns its former place. Settling it twice changes nothing.
    pub(super) fn settle(&mut self, number: u64, settled: Settled) -> Place {
        let place = self.place(number);
        match place {
            Place::NeverLeased | Place::Settled => return place,
            Place::Returned => {
                self.returned.remove(number..number + 1);
                self.changed = true;
            }
            Place::Alone => {
                self.alone.remove(&number);
                self.changed = true;
            }
            Place::Leased(_) => {
                self.leased.remove(number..number + 1);
                self.leased_count -= 1;
            }
        }
        if let Settled::Played(points, _) = settled {
            self.played.0[points.half_points()] += 1;
        }
        let before = self.decision();
        if let Some(prefix) = &mut self.prefix {
            prefix.tell(number, settled);
        }
        self.changed |= self.decision() != before;
        place
    }

    /// Returns settled games for replay; its rule, if any, reads the remaining results.
    pub(super) fn reopen(&mut self, numbers: &[u64], reading: Option<Reading>) {
        for &number in numbers {
            if self.place(number) == Place::Settled {
                self.returned.insert(number..number + 1);
                self.changed = true;
            }
        }
        self.reread(reading);
    }

    /// Restarts its rule on new input.
    fn reread(&mut self, reading: Option<Reading>) {
        let before = self.decision();
        self.prefix = reading.map(|reading| Box::new(reading.into()));
        self.changed |= self.decision() != before;
    }

    /// Updates the settings from the sweep.
    pub(super) fn set_planned(&mut self, state: &CellState) {
        self.in_sweep = state.in_sweep;
        self.timed = state.timed;
        self.demands.clone_from(&state.demands);
        // Games played under another allocation, before the last start.
        if state.played.games() > self.played.games() {
            self.played = state.played;
        }
        self.games = games_with(self.swap_sides, state.games, self.next_number);
        let rule = self.prefix.as_deref().map(Prefix::rule);
        if rule != state.reading.as_ref().map(|reading| reading.rule) {
            self.reread(state.reading.as_deref().cloned());
            self.changed |= self.decision() != (state.decided_number, state.stop_number);
        }
    }

    /// Up to where its rule has read, and where it ends the cell.
    fn decision(&self) -> (u64, Option<u64>) {
        let read = |prefix: &Prefix| (prefix.decided_number(), prefix.stop_number());
        self.prefix.as_deref().map_or((0, None), read)
    }

    /// Its first player's results in the played games.
    pub(super) const fn played(&self) -> &GameCounts {
        &self.played
    }

    /// Sets the results from the store.
    pub(super) const fn set_played(&mut self, played: GameCounts) {
        self.played = played;
    }

    /// Number of games in live leases.
    pub(super) const fn leased_count(&self) -> u64 {
        self.leased_count
    }

    /// The average wall time of a game, once one was measured.
    pub(super) const fn game_us(&self) -> Option<u64> {
        self.game_us
    }

    /// Bytes of memory that a game may take.
    pub(super) const fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Demands of a game on its worker beside memory, if any.
    pub(super) const fn demands(&self) -> Option<&Arc<Demands>> {
        self.demands.as_ref()
    }

    /// Cells that must be settled before its games are handed out.
    pub(super) fn after(&self) -> &[CellId] {
        self.after.as_deref().unwrap_or_default()
    }

    /// Whether one of these is unsettled.
    pub(super) const fn waits(&self) -> bool {
        self.waits
    }

    /// Sets whether one of these is unsettled.
    pub(super) const fn set_waits(&mut self, waits: bool) {
        self.waits = waits;
    }

    /// Whether its tasks are trainings.
    pub(super) const fn is_training(&self) -> bool {
        matches!(self.tasks, Tasks::Trainings)
    }

    /// Whether its tasks are verifications.
    pub(super) const fn is_verification(&self) -> bool {
        matches!(self.tasks, Tasks::Verifications { .. })
    }

    /// Whether its tasks are games; other tasks are leased one by one, and measure nothing.
    pub(super) const fn has_games(&self) -> bool {
        matches!(self.tasks, Tasks::Games)
    }

    /// Whether its tasks exclude this worker, since it played the games that they verify.
    pub(super) fn is_for_others(&self, than: WorkerId) -> bool {
        matches!(self.tasks, Tasks::Verifications { not_by } if not_by == Some(than))
    }

    /// Whether its games are timed.
    pub(super) const fn is_timed(&self) -> bool {
        self.timed
    }

    /// Whether it has games that any batch may take now.
    pub(super) fn has_work(&self) -> bool {
        self.has_games() && !self.waits && self.available_count() > 0
    }

    /// The next task that was never leased, for tasks other than games.
    pub(super) fn next_task(&self) -> Option<u64> {
        let is_next = !self.has_games() && self.in_sweep && self.next_number < self.end();
        is_next.then_some(self.next_number)
    }

    /// Adds a measured wall time to the average.
    pub(super) fn measure(&mut self, wall_us: u64) {
        self.game_us = Some(moving_average(self.game_us, wall_us));
    }

    /// Whether the durable part changed since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The durable part.
    pub(super) fn progress(&self, cell: CellId) -> CellProgress {
        let mut returned = self.returned.clone();
        for &number in &self.alone {
            returned.insert(number..number + 1);
        }
        let game_range = |r: Range<u64>| GameRange { cell, first: r.start, count: r.end - r.start };
        let (decided_number, stop_number) = self.decision();
        CellProgress {
            cell,
            next_number: self.next_number,
            returned: returned.iter().map(game_range).collect(),
            decided_number,
            stop_number,
        }
    }

    /// The games to be leased alone.
    pub(super) fn alone(&self) -> impl Iterator<Item = u64> + '_ {
        self.alone.iter().copied()
    }

    /// The leases that hold games, and the number in each range.
    pub(super) fn leased_by(&self) -> impl Iterator<Item = (LeaseId, u64)> + '_ {
        self.leased.iter().map(|(range, &lease)| (lease, range.end - range.start))
    }

    /// Panics if a game below the cursor is in two places, or one beyond it in any.
    pub(super) fn assert_consistent(&self) {
        let mut seen = Numbers::default();
        let mut count = 0;
        let alone = self.alone.iter().map(|&number| number..number + 1);
        for range in
            self.returned.iter().chain(alone).chain(self.leased.iter().map(|l| l.0.clone()))
        {
            assert!(range.end <= self.next_number, "{range:?} is beyond the cursor");
            count += range.end - range.start;
            seen.insert(range);
        }
        assert_eq!(seen.count(), count, "invariant 6: a game is in two places: {self:?}");
        let leased: u64 = self.leased.iter().map(|(r, _)| r.end - r.start).sum();
        assert_eq!(leased, self.leased_count, "leased games are miscounted");
        assert!(self.next_number <= self.games, "the cursor is beyond the cell's games");
        let open = self.returned.count() + self.alone.len() as u64 + self.leased_count;
        assert_eq!(open, count, "games are lost");
        let end = self.end();
        let beyond = self.returned.iter().filter(|range| range.end > end);
        let beyond: u64 = beyond.map(|range| range.end - range.start.max(end)).sum();
        let beyond = beyond + self.alone.iter().filter(|&&number| number >= end).count() as u64;
        let waited_for = if self.in_sweep {
            open - beyond + end.saturating_sub(self.next_number)
        } else {
            self.leased_count
        };
        assert_eq!(self.unsettled(), waited_for, "unsettled games are miscounted");
        let available: u64 = self.available().map(|range| range.end - range.start).sum();
        assert_eq!(available, self.available_count(), "available games are miscounted");
        let (decided_number, stop_number) = self.decision();
        assert!(decided_number <= self.next_number, "a rule has read what was never leased");
        assert!(stop_number.is_none_or(|stop| stop == decided_number));
        let open = self.returned.iter().next().map(|range| range.start);
        let open = open.into_iter().chain(self.alone.first().copied());
        let open = open.chain(self.leased.iter().next().map(|(range, _)| range.start));
        assert!(open.min().is_none_or(|first| decided_number <= first), "invariant 7: {self:?}");
    }
}

/// The end of a cell with this many games: a started pair is kept whole.
const fn games_with(swap_sides: bool, games: u64, next_number: u64) -> u64 {
    let begun = if swap_sides { next_number.next_multiple_of(2) } else { next_number };
    if games > begun { games } else { begun }
}

/// Updates a moving average with a measured time.
pub(super) fn moving_average(average_us: Option<u64>, wall_us: u64) -> u64 {
    let wall_us = wall_us.clamp(1, GAME_US_MAX);
    average_us.map_or(wall_us, |average| (7 * average + wall_us) / 8).max(1)
}

#[cfg(test)]
mod tests {
    use super::games_with;

    #[test]
    fn a_pair_that_was_begun_is_not_left_half() {
        assert_eq!([games_with(true, 4, 5), games_with(true, 8, 5)], [6, 8]);
        // With fixed sides there are no halves.
        assert_eq!([games_with(false, 4, 5), games_with(false, 5, 5)], [5, 5]);
        assert_eq!(games_with(false, 7, 5), 7);
    }
}
