//! The exact solver: all rotations of a board at once.
//!
//! After Irving (2014, "Pentago is a First Player Win", arXiv 1404.0743): a node is a board with known
//! placements only; for each rotation of its quadrants, one bit says whether the side to move reaches its
//! goal. A value follows from two yes-or-no questions, whether it wins and whether it at least draws, instead
//! of scores.
//!
//! With many empty cells, a search that deepens ply by ply (`deepening`) is tried first: most positions are
//! won or lost soon. For the rest, and near the end of the game, a search to the end (`forward`) gets a few
//! nodes, and then every board below the root is computed once, from the full ones back (`retrograde`).

mod deepening;
mod fives;
mod forward;
mod open_lines;
mod retrograde;
mod rotations;
mod subsets;
#[cfg(test)]
mod tests;
mod values;

use super::bitboard::Bitboard;
use super::{Pentago, PentagoMove};
use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::position::Position;
use crate::core::solver::{Optimal, Solver, value_of_ending};

use deepening::{Deepening, Found};
use fives::Fives;
use forward::{Forward, Goal, Halt, Run};
use retrograde::Retrograde;
use rotations::Rotations;

/// Pentago's solver.
///
/// A node is a board with all its rotations, made by a placement, under one goal or, in a pass for both, under both.
#[derive(Debug, Default)]
pub struct PentagoSolver {
    deepening: Deepening,
    forward: Forward,
    retrograde: Retrograde,
    /// Bytes that it may take, if more than every solver may.
    granted: u64,
}

/// Bytes to be granted for a pass below a root with 18 empty cells.
const BYTES_OF_18: u64 = 576 << 20;

/// The number of empty cells up to which the search to the end comes first.
const EMPTY_NEAR_END: u32 = 9;
/// Nodes of the first search near the end, which computes fives on demand: making their tables
/// would take longer than most positions do.
const FIRST_NODES: u64 = 200;
/// The second search, with tables, may make the retrograde pass's number of nodes divided by this.
const FORWARD_SHARE: u64 = 32;
/// The same for the deepening search.
const DEEPENING_SHARE: u64 = 128;

impl Solver<Pentago> for PentagoSolver {
    fn value(&mut self, position: &Pentago, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        if position.winning_move().is_some() {
            return Ok(1);
        }
        if let Some(found) = self.deepen(position, budget)? {
            return Ok(found.value());
        }
        let mut solving = Solving::new(self, position, false);
        let (value, _) = solving.solve(Answers::default(), budget, |run, goal| {
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
        let found = self.some_optimal_moves(position, budget, moves)?;
        if found.are_all {
            return Ok(found.value);
        }
        moves.clear();
        position.legal_moves(moves);
        if self.can_work_back(position) {
            self.list_moves(Answers::of_value(found.value), position, budget, moves)
        } else {
            self.retain_moves_of(found.value, position, budget, moves)?;
            Ok(found.value)
        }
    }

    fn some_optimal_moves(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
        moves: &mut Vec<PentagoMove>,
    ) -> Result<Optimal, Stop> {
        moves.clear();
        if position.empty_cells().count() > EMPTY_NEAR_END
            && let Some(mv) = position.winning_move()
        {
            moves.push(mv);
            return Ok(Optimal { value: 1, are_all: false });
        }
        position.legal_moves(moves);
        match self.deepen(position, budget)? {
            None => {
                let value = self.list_moves(Answers::default(), position, budget, moves)?;
                Ok(Optimal { value, are_all: true })
            }
            Some(Found::Win(bit, good)) => {
                moves.retain(|&mv| mv.bit() == bit && turns_into(mv, good));
                Ok(Optimal { value: 1, are_all: false })
            }
            Some(Found::Loss) => Ok(Optimal { value: -1, are_all: true }),
            Some(Found::Draw) if self.can_work_back(position) => {
                let value = self.list_moves(Answers::of_value(0), position, budget, moves)?;
                Ok(Optimal { value, are_all: true })
            }
            Some(Found::Draw) => {
                self.retain_moves_of(0, position, budget, moves)?;
                Ok(Optimal { value: 0, are_all: true })
            }
        }
    }

    fn move_values(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
        values: &mut Vec<(PentagoMove, i32)>,
    ) -> Result<(), Stop> {
        self.value_all_moves(position, budget, values)
    }

    /// Not where only a grant allows the pass, which then takes seconds.
    fn lists_all_moves_soon(&self, position: &Pentago) -> bool {
        position.empty_cells().count() <= retrograde::EMPTY_MAX_UNASKED
    }

    fn grant_memory(&mut self, bytes: u64) {
        self.granted = bytes;
    }
}

impl PentagoSolver {
    /// Takes the memory that a pass for this position needs, if only a grant allows it: refused, there is
    /// no such pass.
    fn take_granted(&mut self, position: &Pentago) {
        let empty = position.empty_cells().count();
        if empty > retrograde::EMPTY_MAX_UNASKED
            && self.can_work_back(position)
            && self.retrograde.reserve(empty, 1).is_err()
        {
            self.granted = 0;
        }
    }

    /// Whether few enough cells are empty to compute every board below a position.
    fn can_work_back(&self, position: &Pentago) -> bool {
        let most = match self.granted {
            BYTES_OF_18.. => retrograde::EMPTY_MAX,
            _ => retrograde::EMPTY_MAX_UNASKED,
        };
        position.empty_cells().count() <= most
    }

    /// The result of deepening, if it decides the position. Only for a side to move that cannot win
    /// at once.
    fn deepen(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Found>, Stop> {
        let empty = position.empty_cells().count();
        if empty <= EMPTY_NEAR_END {
            return Ok(None);
        }
        self.take_granted(position);
        let allowance = if self.can_work_back(position) {
            retrograde::boards(empty) / DEEPENING_SHARE
        } else {
            u64::MAX
        };
        let marbles = [position.own(), position.other()];
        let before = position.win_before_rotation();
        match self.deepening.run(marbles, before, allowance, budget) {
            Ok(found) => Ok(Some(found)),
            Err(Halt::Allowance) => Ok(None),
            Err(Halt::Stop(stop)) => Err(stop),
        }
    }

    /// The value of a position with some known results; keeps those of `moves` that reach it.
    fn list_moves(
        &mut self,
        known: Answers,
        position: &Pentago,
        budget: &mut Budget<'_>,
        moves: &mut Vec<PentagoMove>,
    ) -> Result<i32, Stop> {
        let cells = position.empty_cells();
        let wins_before_turn = !position.winning_cells().is_empty();
        let mut solving = Solving::new(self, position, true);
        let (value, good) = solving.solve(known, budget, |run, goal| {
            let good = run.good_after(goal)?;
            let is_reached = wins_before_turn || is_reached(&good);
            Ok(is_reached.then_some(good))
        })?;
        if let Some(good) = good {
            moves.retain(|&mv| reaches(mv, cells, &good));
        }
        Ok(value)
    }

    /// Keeps those of a position's moves that reach its value, by solving the position after each.
    fn retain_moves_of(
        &mut self,
        value: i32,
        position: &Pentago,
        budget: &mut Budget<'_>,
        moves: &mut Vec<PentagoMove>,
    ) -> Result<(), Stop> {
        let mut stopped = None;
        moves.retain(|&mv| {
            let mut child = *position;
            child.play_unchecked(mv);
            let found = match child.ending() {
                Some(ending) => Ok(value_of_ending(ending, child.to_move())),
                None if stopped.is_some() => return false,
                None => self.value(&child, budget),
            };
            found.map_or_else(
                |stop| {
                    stopped = Some(stop);
                    false
                },
                |found| -found == value,
            )
        });
        stopped.map_or(Ok(()), Err)
    }
}

/// The result of the search for a goal: empty if it is not reached; otherwise, if requested, the
/// rotations in which it is after a placement on each empty cell.
type Answer = Option<Vec<Rotations>>;

/// One position being solved.
struct Solving<'s> {
    solver: &'s mut PentagoSolver,
    position: &'s Pentago,
    /// Fives in tables, once they are needed.
    tables: Option<Fives>,
    /// Whether all moves that reach the value are needed, not the value alone.
    lists_moves: bool,
}

impl<'s> Solving<'s> {
    fn new(solver: &'s mut PentagoSolver, position: &'s Pentago, lists_moves: bool) -> Self {
        Self { solver, position, tables: None, lists_moves }
    }

    /// The value, and the results for the reached goal, if any.
    ///
    /// The difficulty of a position is unknown beforehand. Most are decided within a few plies,
    /// which a search finds thousands of times sooner than the retrograde pass. If most variations
    /// go to the end of the game, the pass is faster, since its nodes take a fraction of the time
    /// and never repeat, and its time is bounded. So near the end a search of few nodes comes
    /// first, then one of more nodes, then the pass.
    fn solve(
        &mut self,
        mut answers: Answers,
        budget: &mut Budget<'_>,
        mut search: impl FnMut(&mut Run<'_, '_>, Goal) -> Result<Answer, Halt>,
    ) -> Result<(i32, Answer), Stop> {
        let empty = self.position.empty_cells().count();
        let second = (true, retrograde::boards(empty) / FORWARD_SHARE);
        // Further from the end, deepening finds the value if a search does so soon; but not the
        // moves that reach it.
        let stages = match (empty <= EMPTY_NEAR_END, self.lists_moves) {
            (true, _) => &[(false, FIRST_NODES), second][..],
            (false, true) => &[second],
            (false, false) => &[],
        };
        for &(in_tables, allowance) in stages {
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
        let answer = |good: Vec<Rotations>| {
            let is_reached = wins_before_turn || is_reached(&good);
            is_reached.then_some(good)
        };
        if !GOALS.iter().any(|&goal| answers.has(goal)) && empty <= retrograde::EMPTY_MAX_BOTH {
            let good = self.work_back::<2>(Goal::Win, budget)?;
            answers.add(Goal::Win, answer(good.iter().map(|good| good[0]).collect()));
            answers.add(Goal::WinOrDraw, answer(good.iter().map(|good| good[1]).collect()));
        }
        for goal in GOALS {
            if !answers.has(goal) {
                let good = self.work_back::<1>(goal, budget)?;
                answers.add(goal, answer(good.into_iter().flatten().collect()));
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
        let run = self.solver.forward.start(fives, before, allowance, budget);
        search(&mut run.map_err(|refused| Halt::Stop(refused.into()))?, goal)
    }

    /// For each empty cell, the rotations in which the side to move reaches the goal after placing
    /// there and turning; with two, the other goal second.
    fn work_back<const N: usize>(
        &mut self,
        goal: Goal,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<[Rotations; N]>, Stop> {
        let before = self.position.win_before_rotation();
        let marbles = self.marbles();
        let fives = tables(&mut self.tables, marbles, budget)?;
        // Its memory is needed here.
        self.solver.deepening = Deepening::default();
        self.solver.retrograde.run(fives, before, goal, budget)
    }

    fn marbles(&self) -> [Bitboard; 2] {
        [self.position.own(), self.position.other()]
    }
}

/// The fives in tables, made on first use.
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

/// Known answers for the two goals.
#[derive(Default)]
struct Answers {
    win: Option<Answer>,
    win_or_draw: Option<Answer>,
}

impl Answers {
    /// The consequence of a value alone, a win or a draw: the goal that is left to answer.
    fn of_value(value: i32) -> Self {
        let win = if value == 1 { None } else { Some(None) };
        Self { win, win_or_draw: None }
    }

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

/// Whether any move reaches a goal, given the rotations in which it does for each empty cell.
fn is_reached(good: &[Rotations]) -> bool {
    good.iter().any(|good| !good.and(Rotations::UNTURNED.turned()).is_empty())
}

/// Whether a move of the root reaches a goal, given the rotations in which it does for each empty
/// cell. A placement that makes five reaches any.
fn reaches(mv: PentagoMove, cells: Bitboard, good: &[Rotations]) -> bool {
    let below = Bitboard::from_bits((1_u64 << mv.bit()) - 1);
    turns_into(mv, good[cells.and(below).count() as usize])
}

/// Whether the move's turn leads to one of these rotations. A placement that makes five needs none.
fn turns_into(mv: PentagoMove, good: Rotations) -> bool {
    let Some((quadrant, direction)) = mv.turn_index() else { return true };
    let turned = Rotations::one_turned(quadrant, if direction == 0 { 1 } else { 3 });
    !good.and(turned).is_empty()
}
