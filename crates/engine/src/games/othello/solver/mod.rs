//! Othello's endgame solver.
//!
//! Null-window searches answer whether a score exceeds a bound, with a transposition table (`search`). A win, a
//! draw or a loss takes two of them at most. The disc difference takes as many as it needs, each from the bound
//! that the one before left (MTD(f): Plaat, Schaeffer, Pijls & de Bruin 1996, "Best-first fixed-depth minimax
//! algorithms").

mod last;
mod search;
mod stability;
mod table;
#[cfg(test)]
mod tests;

use super::{Othello, OthelloMove};
use crate::core::budget::Budget;
use crate::core::limits::{MemoryRefused, Stop};
use crate::core::position::Position;
use crate::core::solver::{PlainSolver, Solver, value_of_ending, values_by_child};

use last::Discs;
use search::{Memory, Run};

/// Othello's solver.
///
/// A node is a position that a move on a square makes, with at least four squares empty; positions below are part
/// of the one with four. Near the end of the game, the nodes are those of [`PlainSolver`]. The table takes 48 MiB
/// at most.
#[derive(Debug, Default)]
pub struct OthelloSolver {
    plain: PlainSolver,
    memory: Memory,
}

/// The number of empty squares up to which values are left to the plain solver. It takes less than a millisecond
/// there, and the nodes of players that hand over to the solver so late are those of earlier versions.
const PLAIN_MAX: u32 = 6;

impl OthelloSolver {
    /// The discs of the side to move less the other's at the end of the game, if both sides play for as many more
    /// as possible. Empty squares do not count.
    ///
    /// ```
    /// use spelrum_engine::games::{Othello, othello::OthelloSolver};
    /// use spelrum_engine::search::{Budget, Limits};
    /// use spelrum_engine::{Game, Timeless};
    ///
    /// let position = "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwbwb. w";
    /// let position = Othello::parse(&Othello::rules(), position)?;
    /// let mut budget = Budget::new(&Limits::default(), &Timeless);
    /// assert_eq!(OthelloSolver::default().disc_difference(&position, &mut budget), Ok(62));
    /// # Ok::<(), spelrum_engine::Problem>(())
    /// ```
    ///
    /// # Errors
    /// If a limit or the host stops it, or the system refuses memory; the difference is then unknown.
    pub fn disc_difference(
        &mut self,
        position: &Othello,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let board = discs(position);
        let mut run = self.start(board, budget)?;
        let mut alpha = 0;
        let [mut lower, mut upper] = [-64, 64];
        loop {
            let score = run.search(board, alpha)?;
            if score > alpha {
                lower = score;
                alpha = score;
            } else {
                upper = score;
                alpha = score - 1;
            }
            if lower >= upper {
                return Ok(score);
            }
        }
    }

    /// Forgets earlier results.
    ///
    /// # Errors
    /// If the system refuses the table's memory.
    fn start<'s, 'b, 'h>(
        &'s mut self,
        board: Discs,
        budget: &'b mut Budget<'h>,
    ) -> Result<Run<'s, 'b, 'h>, MemoryRefused> {
        self.memory.start(board)?;
        Ok(Run::new(&mut self.memory, budget))
    }
}

impl Solver<Othello> for OthelloSolver {
    fn value(&mut self, position: &Othello, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        if is_near_end(position) {
            return self.plain.value(position, budget);
        }
        let board = discs(position);
        value_of(board, &mut self.start(board, budget)?)
    }

    fn optimal_moves(
        &mut self,
        position: &Othello,
        budget: &mut Budget<'_>,
        moves: &mut Vec<OthelloMove>,
    ) -> Result<i32, Stop> {
        if is_near_end(position) {
            return self.plain.optimal_moves(position, budget, moves);
        }
        let board = discs(position);
        let mut run = self.start(board, budget)?;
        let value = value_of(board, &mut run)?;
        moves.clear();
        for index in 0..position.legal_move_count() {
            let mv = position.nth_legal_move(index);
            let mut child = *position;
            child.play_unchecked(mv);
            // In a lost position every move loses.
            if value < 0 || run.enter(discs(&child), -value)? <= -value {
                moves.push(mv);
            }
        }
        Ok(value)
    }

    fn move_values(
        &mut self,
        position: &Othello,
        budget: &mut Budget<'_>,
        values: &mut Vec<(OthelloMove, i32)>,
    ) -> Result<(), Stop> {
        if is_near_end(position) {
            return self.plain.move_values(position, budget, values);
        }
        self.memory.start(discs(position))?;
        values_by_child(position, budget, values, value_of_ending, |child, budget| {
            value_of(discs(child), &mut Run::new(&mut self.memory, budget))
        })
    }
}

/// 1 if the side to move wins, 0 for a draw, -1 if it loses.
fn value_of(board: Discs, run: &mut Run<'_, '_, '_>) -> Result<i32, Stop> {
    let score = run.search(board, 0)?;
    // A score of 0 is a bound from above.
    Ok(if score == 0 { run.search(board, -1)?.signum() } else { score.signum() })
}

fn is_near_end(position: &Othello) -> bool {
    position.empty_squares() <= PLAIN_MAX
}

const fn discs(position: &Othello) -> Discs {
    Discs { own: position.own, other: position.other }
}
