//! The exact solver: all rotations of a board at once.
//!
//! After Irving (2014, "Pentago is a First Player Win", arXiv 1404.0743): a node is a board of which
//! only the placements are known; for each way in which its quadrants can stand, one bit says
//! whether the side to move reaches its goal. A value is found by two yes-or-no questions, whether
//! it wins and whether it at least draws, instead of scores.
//!
//! A search from the root down (`forward`) is tried first. What it cannot decide soon is decided by
//! working out every board below the root once, from the full ones back (`retrograde`).

mod fives;
mod forward;
mod retrograde;
mod rotations;
mod subsets;
#[cfg(test)]
mod tests;

use super::bitboard::Bitboard;
use super::{Pentago, PentagoMove};
use crate::budget::Budget;
use crate::limits::Stop;
use crate::position::Position;
use crate::solver::Solver;

use fives::Fives;
use forward::{Forward, Goal, Halt, Run};
use retrograde::Retrograde;
use rotations::Rotations;

/// Pentago's solver.
///
/// A node is a board with all its rotations, made by a placement, under one goal.
#[derive(Debug, Default)]
pub struct PentagoSolver {
    forward: Forward,
    retrograde: Retrograde,
}

/// Nodes of the first search, which works fives out as it needs them: making their tables would
/// take longer than most positions do.
const FIRST_NODES: u64 = 200;
/// The second search, with tables, may make the retrograde pass's number of nodes divided by this.
const FORWARD_SHARE: u64 = 32;

impl Solver<Pentago> for PentagoSolver {
    fn value(&mut self, position: &Pentago, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        if !position.winning_cells().is_empty() {
            return Ok(1);
        }
        let mut solving = Solving::new(self, position);
        let (value, _) = solving.solve(budget, |run, goal| {
            let is_reached = run.root_reaches(goal)?;
            Ok(is_reached.then(Vec::new))
        })?;
        Ok(value)
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
        let wins_before_turn = !position.winning_cells().is_empty();
        let mut solving = Solving::new(self, position);
        let (value, good) = solving.solve(budget, |run, goal| {
            let good = run.good_after(goal)?;
            let is_reached = wins_before_turn || is_reached(&good);
            Ok(is_reached.then_some(good))
        })?;
        if let Some(good) = good {
            moves.retain(|&mv| reaches(mv, cells, &good));
        }
        Ok(value)
    }
}

/// What the search found of a goal: nothing if it is not reached; else, if that was asked for, the
/// rotations in which it is after a placement on each empty cell.
type Answer = Option<Vec<Rotations>>;

/// One position being solved.
struct Solving<'s> {
    solver: &'s mut PentagoSolver,
    position: &'s Pentago,
    /// Fives in tables, once they are needed.
    tables: Option<Fives>,
}

impl<'s> Solving<'s> {
    fn new(solver: &'s mut PentagoSolver, position: &'s Pentago) -> Self {
        Self { solver, position, tables: None }
    }

    /// The value, and what was found of the goal that is reached, if one is.
    ///
    /// How hard a position is cannot be told before. Most are decided within a few plies, which a
    /// search finds thousands of times sooner than the retrograde pass; where it has to go to the
    /// end of the game in most variations, the pass, whose nodes take a fraction of the time and
    /// never repeat, is sooner, and never takes longer than it takes. So a search of few nodes comes
    /// first, then one of more nodes, then the pass.
    fn solve(
        &mut self,
        budget: &mut Budget<'_>,
        mut search: impl FnMut(&mut Run<'_, '_>, Goal) -> Result<Answer, Halt>,
    ) -> Result<(i32, Answer), Stop> {
        let empty = self.position.empty_cells().count();
        let can_work_back = empty <= retrograde::EMPTY_MAX;
        let mut answers = Answers::default();
        let stages = if can_work_back {
            [(false, FIRST_NODES), (true, retrograde::boards(empty) / FORWARD_SHARE)]
        } else {
            [(false, u64::MAX); 2]
        };
        for (in_tables, allowance) in stages {
            for goal in GOALS {
                if answers.has(goal) {
                    continue;
                }
                match self.search(in_tables, allowance, goal, budget, &mut search) {
                    Ok(answer) => answers.add(goal, answer),
                    Err(Halt::Stop(stop)) => return Err(stop),
                    Err(Halt::Allowance) => {}
                }
                if let Some(value) = answers.value() {
                    return Ok(value);
                }
            }
        }
        let wins_before_turn = !self.position.winning_cells().is_empty();
        for goal in GOALS {
            if !answers.has(goal) {
                let good = self.work_back(goal, budget)?;
                let is_reached = wins_before_turn || is_reached(&good);
                answers.add(goal, is_reached.then_some(good));
            }
            if let Some(value) = answers.value() {
                return Ok(value);
            }
        }
        unreachable!("with both goals answered there is a value")
    }

    fn search(
        &mut self,
        in_tables: bool,
        allowance: u64,
        goal: Goal,
        budget: &mut Budget<'_>,
        search: &mut impl FnMut(&mut Run<'_, '_>, Goal) -> Result<Answer, Halt>,
    ) -> Result<Answer, Halt> {
        let before = self.position.win_before_rotation();
        let marbles = self.marbles();
        let as_needed;
        let fives = if in_tables {
            tables(&mut self.tables, marbles, budget).map_err(Halt::Stop)?
        } else {
            as_needed = Fives::as_needed(marbles);
            &as_needed
        };
        search(&mut self.solver.forward.start(fives, before, allowance, budget), goal)
    }

    /// For each empty cell, the rotations in which the side to move reaches the goal after placing
    /// there and turning.
    fn work_back(&mut self, goal: Goal, budget: &mut Budget<'_>) -> Result<Vec<Rotations>, Stop> {
        let marbles = self.marbles();
        let fives = tables(&mut self.tables, marbles, budget)?;
        self.solver.retrograde.run(fives, self.position.win_before_rotation(), goal, budget)
    }

    fn marbles(&self) -> [Bitboard; 2] {
        [self.position.own(), self.position.other()]
    }
}

/// The fives in tables, made if they are not yet.
fn tables<'t>(
    made: &'t mut Option<Fives>,
    marbles: [Bitboard; 2],
    budget: &mut Budget<'_>,
) -> Result<&'t Fives, Stop> {
    match made {
        Some(fives) => Ok(fives),
        None => Ok(made.insert(Fives::in_tables(marbles, budget)?)),
    }
}

const GOALS: [Goal; 2] = [Goal::Win, Goal::WinOrDraw];

/// What is known of the two goals.
#[derive(Default)]
struct Answers {
    win: Option<Answer>,
    win_or_draw: Option<Answer>,
}

impl Answers {
    fn has(&self, goal: Goal) -> bool {
        match goal {
            Goal::Win => self.win.is_some(),
            Goal::WinOrDraw => self.win_or_draw.is_some(),
        }
    }

    fn add(&mut self, goal: Goal, answer: Answer) {
        match goal {
            Goal::Win => self.win = Some(answer),
            Goal::WinOrDraw => self.win_or_draw = Some(answer),
        }
    }

    /// The value and what led to it, once it is decided.
    fn value(&mut self) -> Option<(i32, Answer)> {
        match (&mut self.win, &mut self.win_or_draw) {
            (Some(Some(good)), _) => Some((1, Some(std::mem::take(good)))),
            (_, Some(None)) => Some((-1, None)),
            (Some(None), Some(Some(good))) => Some((0, Some(std::mem::take(good)))),
            (Some(None) | None, _) => None,
        }
    }
}

/// Whether a goal is reached with any move, given the rotations in which it is for each empty cell.
fn is_reached(good: &[Rotations]) -> bool {
    good.iter().any(|good| !good.and(Rotations::UNTURNED.turned()).is_empty())
}

/// Whether a move of the root reaches a goal, given the rotations in which it does for each empty
/// cell. A placement that makes five reaches any.
fn reaches(mv: PentagoMove, cells: Bitboard, good: &[Rotations]) -> bool {
    let Some((quadrant, direction)) = mv.turn_index() else { return true };
    let below = Bitboard::from_bits((1_u64 << mv.bit()) - 1);
    let turned = Rotations::one_turned(quadrant, if direction == 0 { 1 } else { 3 });
    !good[cells.and(below).count() as usize].and(turned).is_empty()
}
