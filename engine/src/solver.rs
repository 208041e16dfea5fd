//! What finds the exact values of a game's positions, and a solver for any small game.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::budget::Budget;
use crate::knowledge::Knowledge;
use crate::limits::{EndedBy, Stop};
use crate::position::Position;
use crate::stack::PLIES_MAX;

/// A game that has a solver.
pub trait Solvable: Knowledge {
    /// What finds the exact values of the game's positions.
    type Solver: Solver<Self> + Default + Debug;
}

/// A solver of one game. It may keep its memory from call to call, never what it learnt: each call
/// takes the same nodes whatever came before.
pub trait Solver<P: Position>: Send {
    /// The value of a position that is not over, for the side to move: 1 a win, 0 a draw, -1 a
    /// loss.
    ///
    /// # Errors
    /// If a limit or the host stops it; then nothing is known.
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop>;

    /// The value of a position that is not over, as [`Solver::value`] gives it; `moves` becomes
    /// all moves that reach it, in canonical order.
    ///
    /// # Errors
    /// If a limit or the host stops it; then nothing is known.
    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop>;

    /// The value of a position that is not over; `moves` becomes some moves that reach it, one at
    /// least, in canonical order: for a player, who needs no more than one. Finding all of them may
    /// take far longer than finding the value.
    ///
    /// # Errors
    /// If a limit or the host stops it; then nothing is known.
    fn some_optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<Optimal, Stop> {
        let value = self.optimal_moves(position, budget, moves)?;
        Ok(Optimal { value, are_all: true })
    }

    /// Whether [`Solver::optimal_moves`] takes a position no longer than is known beforehand.
    fn lists_all_moves_soon(&self, _position: &P) -> bool {
        true
    }
}

/// Bytes of memory that a game's solver takes at most.
pub(crate) const SOLVER_BYTES_MAX: u64 = 256 << 20;

/// What a solver found of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optimal {
    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    pub value: i32,
    /// Whether the moves found to reach it are all that do.
    pub are_all: bool,
}

/// A solver for any small game: it goes through the tree, remembering values by canonical key.
/// A node is a position made by a move. Where a game lasts longer than [`PLIES_MAX`], it ends as at
/// a limit on the depth, since its stack is bounded.
#[derive(Debug, Default)]
pub struct PlainSolver {
    /// The values of positions for their side to move.
    known: BTreeMap<u64, i32>,
}

/// Values remembered at most: beyond, positions are solved again.
const KNOWN_MAX: usize = 1 << 20;

impl PlainSolver {
    fn child_value<P: Position>(
        &mut self,
        position: &P,
        mv: P::Move,
        plies_left: u32,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let Some(plies_left) = plies_left.checked_sub(1) else {
            return Err(Stop::Limit(EndedBy::Depth));
        };
        budget.enter()?;
        let mover = position.to_move();
        let mut child = position.clone();
        child.play_unchecked(mv);
        let value = self.value_of(&child, plies_left, budget)?;
        Ok(if child.to_move() == mover { value } else { -value })
    }

    fn value_of<P: Position>(
        &mut self,
        position: &P,
        plies_left: u32,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if let Some(ending) = position.ending() {
            return Ok(match ending.winner {
                None => 0,
                Some(winner) if winner == position.to_move() => 1,
                Some(_) => -1,
            });
        }
        let key = position.canonical_key();
        if let Some(&value) = self.known.get(&key) {
            return Ok(value);
        }
        let mut best = -1;
        for index in 0..position.legal_move_count() {
            let mv = position.nth_legal_move(index);
            best = best.max(self.child_value(position, mv, plies_left, budget)?);
            if best == 1 {
                break;
            }
        }
        if self.known.len() < KNOWN_MAX {
            self.known.insert(key, best);
        }
        Ok(best)
    }
}

impl<P: Position> Solver<P> for PlainSolver {
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        // What was learnt under other rules may have the same keys.
        self.known.clear();
        self.value_of(position, PLIES_MAX, budget)
    }

    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop> {
        self.known.clear();
        moves.clear();
        position.legal_moves(moves);
        let values = moves
            .iter()
            .map(|&mv| self.child_value(position, mv, PLIES_MAX, budget))
            .collect::<Result<Vec<i32>, Stop>>()?;
        let best = values.iter().copied().max().unwrap_or(-1);
        let mut values = values.into_iter();
        moves.retain(|_| values.next() == Some(best));
        Ok(best)
    }
}
