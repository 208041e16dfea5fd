//! The exact solver: all rotations of a board at once.
//!
//! After Irving (2014, "Pentago is a First Player Win", arXiv 1404.0743): a node is a board of which
//! only the placements are known; for each way in which its quadrants can stand, one bit says
//! whether the side to move reaches its goal. A value is found by two yes-or-no questions, whether
//! it wins and whether it at least draws, instead of scores.
//!
//! A search from the root down (`forward`) is tried first. What it cannot decide soon is decided by
//! working out every board below the root once, from the full ones back (`sweep`).

mod fives;
mod forward;
mod rotations;
mod subsets;
mod sweep;
#[cfg(test)]
mod tests;

use super::bitboard::Bitboard;
use super::{Pentago, PentagoMove};
use crate::position::Position;
use crate::search::{Budget, Stop};
use crate::solve::Solver;

use fives::Fives;
use forward::{Forward, Halt, Run};
use rotations::Rotations;
use sweep::{Good, Sweep};

/// Pentago's solver.
///
/// A node is a board with all its rotations, made by a placement: in the search under one goal, in
/// the sweep under both.
#[derive(Debug, Default)]
pub struct PentagoSolver {
    forward: Forward,
    sweep: Sweep,
}

/// Nodes of the first search, which works fives out as it needs them: making their tables would
/// take longer than most positions do.
const FIRST_NODES: u64 = 200;
/// The second search, with tables, may make the sweep's number of nodes divided by this.
const SWEEP_SHARE: u64 = 8;
/// Empty cells up to which a sweep finds all optimal moves sooner than any search.
const SWEPT_AT_ONCE_MAX: u32 = 9;

impl Solver<Pentago> for PentagoSolver {
    fn value(&mut self, position: &Pentago, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        self.solve(position, budget, |run| run.value(), best_value)
    }

    fn optimal_moves(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
        moves: &mut Vec<PentagoMove>,
    ) -> Result<i32, Stop> {
        moves.clear();
        position.legal_moves(moves);
        let cells = position.empty_cells();
        let values = if cells.count() <= SWEPT_AT_ONCE_MAX {
            let fives = Fives::in_tables([position.own(), position.other()]);
            let good = self.sweep.run(&fives, position.win_before_rotation(), budget)?;
            values_of(moves, cells, good)
        } else {
            let wins_at_once = moves.iter().any(|mv| mv.turn_index().is_none());
            let values_of = |_: &Pentago, good: &[Good]| values_of(moves, cells, good);
            let search = |run: &mut Run<'_, '_>| run.good_after(wins_at_once);
            let search = |run: &mut Run<'_, '_>| search(run).map(|good| values_of(position, &good));
            self.solve(position, budget, search, values_of)?
        };
        let best = values.iter().copied().max().unwrap_or(-1);
        let mut values = values.into_iter();
        moves.retain(|_| values.next() == Some(best));
        Ok(best)
    }
}

impl PentagoSolver {
    /// What a search finds, or if that takes too many nodes what a sweep does.
    ///
    /// How hard a position is cannot be told before. Most are decided within a few plies, which a
    /// search finds thousands of times sooner than a sweep; where it has to go to the end of the
    /// game in most variations, the sweep, whose nodes take a third of the time and never repeat,
    /// is sooner, and never takes longer than it takes.
    fn solve<T>(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
        mut search: impl FnMut(&mut Run<'_, '_>) -> Result<T, Halt>,
        of_sweep: impl FnOnce(&Pentago, &[Good]) -> T,
    ) -> Result<T, Stop> {
        let marbles = [position.own(), position.other()];
        let empty = position.empty_cells().count();
        let can_sweep = empty <= sweep::EMPTY_MAX;
        let mut search_within = |fives: &Fives, allowance: u64, budget: &mut Budget<'_>| {
            let win_before_rotation = position.win_before_rotation();
            search(&mut self.forward.start(fives, win_before_rotation, allowance, budget))
        };
        let allowance = if can_sweep { FIRST_NODES } else { u64::MAX };
        match search_within(&Fives::as_needed(marbles), allowance, budget) {
            Ok(found) => return Ok(found),
            Err(Halt::Stop(stop)) => return Err(stop),
            Err(Halt::Allowance) => {}
        }
        let fives = Fives::in_tables(marbles);
        match search_within(&fives, sweep::boards(empty) / SWEEP_SHARE, budget) {
            Ok(found) => return Ok(found),
            Err(Halt::Stop(stop)) => return Err(stop),
            Err(Halt::Allowance) => {}
        }
        let good = self.sweep.run(&fives, position.win_before_rotation(), budget)?;
        Ok(of_sweep(position, good))
    }
}

/// The value of the best move, given what the sweep found.
fn best_value(position: &Pentago, good: &[Good]) -> i32 {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    values_of(&moves, position.empty_cells(), good).into_iter().max().unwrap_or(-1)
}

/// The values of root moves, given what the sweep found of each empty cell.
fn values_of(moves: &[PentagoMove], cells: Bitboard, good: &[Good]) -> Vec<i32> {
    moves.iter().map(|&mv| value_of(mv, cells, good)).collect()
}

/// The value of a root move, given what the sweep found of each empty cell.
fn value_of(mv: PentagoMove, cells: Bitboard, good: &[Good]) -> i32 {
    let Some((quadrant, direction)) = mv.turn_index() else { return 1 };
    let below = Bitboard::from_bits((1_u64 << mv.bit()) - 1);
    let [wins, draws] = good[cells.and(below).count() as usize];
    let turned = Rotations::one_turned(quadrant, if direction == 0 { 1 } else { 3 });
    let holds = |good: Rotations| !good.and(turned).is_empty();
    if holds(wins) {
        1
    } else if holds(draws) {
        0
    } else {
        -1
    }
}
