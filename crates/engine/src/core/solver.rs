//! Solvers, which find exact values of positions, and a solver for any small game.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::core::budget::Budget;
use crate::core::knowledge::Knowledge;
use crate::core::limits::{EndedBy, Stop};
use crate::core::position::{Ending, Position, Side};
use crate::core::stack::PLIES_MAX;

/// A game that has a solver.
pub trait Solvable: Knowledge {
    /// The solver of the game's positions.
    type Solver: Solver<Self> + Default + Debug;
}

/// A solver of one game. It may reuse memory from call to call but not results: each call takes the
/// same nodes whatever came before.
pub trait Solver<P: Position>: Send {
    /// The value of a position that is not over, for the side to move: 1 a win, 0 a draw, -1 a
    /// loss.
    ///
    /// # Errors
    /// If a limit or the host stops it, or the system refuses memory; the value is then unknown.
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop>;

    /// The value of a position that is not over, as [`Solver::value`] gives it; `moves` becomes
    /// all moves that reach it, in canonical order.
    ///
    /// # Errors
    /// If a limit or the host stops it, or the system refuses memory; the value is then unknown.
    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop>;

    /// The value of a position that is not over; `moves` becomes at least one move that reaches it,
    /// in canonical order. Enough for a player, which needs only one: finding all may take far
    /// longer than finding the value.
    ///
    /// # Errors
    /// If a limit or the host stops it, or the system refuses memory; the value is then unknown.
    fn some_optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<Optimal, Stop> {
        let value = self.optimal_moves(position, budget, moves)?;
        Ok(Optimal { value, are_all: true })
    }

    /// The value of every legal move of a position that is not over, for the side to move there: 1 a
    /// win, 0 a draw, -1 a loss. `values` becomes the moves in canonical order, each with its value.
    ///
    /// # Errors
    /// If a limit or the host stops it, or the system refuses memory; the values are then unknown.
    fn move_values(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        values: &mut Vec<(P::Move, i32)>,
    ) -> Result<(), Stop> {
        values_by_child(position, budget, values, value_of_ending, |child, budget| {
            self.value(child, budget)
        })
    }

    /// Lets it take this much memory in bytes, if it can use more than 256 MiB. Refused memory leaves it with
    /// the slower way.
    fn grant_memory(&mut self, _bytes: u64) {}

    /// Whether [`Solver::optimal_moves`] takes a bounded time for a position.
    fn lists_all_moves_soon(&self, _position: &P) -> bool {
        true
    }
}

/// The value of an ended game for one side: 1 a win, 0 a draw, -1 a loss.
pub(crate) fn value_of_ending(ending: Ending, side: Side) -> i32 {
    match ending.winner {
        None => 0,
        Some(winner) if winner == side => 1,
        Some(_) => -1,
    }
}

/// The value of every legal move for the side to move, from the values of the resulting positions: `value_ended`
/// values a finished game for a side, `value_child` an unfinished position for its own side to move. Positions that
/// several moves lead to are valued once. A node is a position made by a move.
///
/// # Errors
/// If the budget forbids a node, or a valuation stops.
pub(crate) fn values_by_child<P: Position>(
    position: &P,
    budget: &mut Budget<'_>,
    values: &mut Vec<(P::Move, i32)>,
    value_ended: impl Fn(Ending, Side) -> i32,
    mut value_child: impl FnMut(&P, &mut Budget<'_>) -> Result<i32, Stop>,
) -> Result<(), Stop> {
    values.clear();
    let mover = position.to_move();
    let mut known: BTreeMap<u64, Vec<(P, i32)>> = BTreeMap::new();
    for index in 0..position.legal_move_count() {
        let mv = position.nth_legal_move(index);
        budget.enter()?;
        let mut child = position.clone();
        child.play_unchecked(mv);
        if let Some(ending) = child.ending() {
            values.push((mv, value_ended(ending, mover)));
            continue;
        }
        // Symmetric positions may share a key, and an evaluation may distinguish them.
        let alike = known.entry(child.canonical_key()).or_default();
        let value = match alike.iter().find(|(position, _)| *position == child) {
            Some(&(_, value)) => value,
            None => {
                let value = value_child(&child, budget)?;
                let value = if child.to_move() == mover { value } else { -value };
                alike.push((child, value));
                value
            }
        };
        values.push((mv, value));
    }
    Ok(())
}

/// The most memory in bytes that a game's solver takes.
pub(crate) const SOLVER_BYTES_MAX: u64 = 256 << 20;

/// A solver's result for a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optimal {
    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    pub value: i32,
    /// Whether the moves found are all that reach it.
    pub are_all: bool,
}

/// A solver for any small game: it searches the tree and caches values by canonical key and bound on the
/// plies left, which distinguishes positions that differ only in their counters. A node is a position made by
/// a move. A game longer than [`PLIES_MAX`] ends as at a depth limit, since the stack is bounded.
#[derive(Debug, Default)]
pub struct PlainSolver {
    /// The values of positions for their side to move.
    known: BTreeMap<(u64, u32), i32>,
}

/// Cached values at most; beyond this, positions are solved again.
const KNOWN_MAX: usize = 1 << 20;

impl PlainSolver {
    fn child_value<P: Knowledge>(
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

    fn value_of<P: Knowledge>(
        &mut self,
        position: &P,
        plies_left: u32,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if let Some(ending) = position.ending() {
            return Ok(value_of_ending(ending, position.to_move()));
        }
        let key = (position.canonical_key(), position.plies_left());
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

impl<P: Knowledge> Solver<P> for PlainSolver {
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        // Values under other rules may have the same keys.
        self.known.clear();
        self.value_of(position, PLIES_MAX, budget)
    }

    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop> {
        let mut values = Vec::new();
        self.move_values(position, budget, &mut values)?;
        let best = values.iter().map(|&(_, value)| value).max().unwrap_or(-1);
        moves.clear();
        moves.extend(values.iter().filter(|&&(_, value)| value == best).map(|&(mv, _)| mv));
        Ok(best)
    }

    fn move_values(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        values: &mut Vec<(P::Move, i32)>,
    ) -> Result<(), Stop> {
        self.known.clear();
        values.clear();
        for index in 0..position.legal_move_count() {
            let mv = position.nth_legal_move(index);
            values.push((mv, self.child_value(position, mv, PLIES_MAX, budget)?));
        }
        Ok(())
    }
}
