//! Pentago: 6×6 cells in four quadrants; place a marble, turn a quadrant, five in a row wins.
//!
//! White moves first. A turn places a marble on an empty cell, then turns any one quadrant (an
//! empty one too) a quarter turn; there is no pass. A placement that makes five or more in a row
//! for the mover wins at once, with no turn of a quadrant. After the quadrant has turned: if both
//! colours have five, it is a draw; if only one has, that one wins, even if it is not the mover's;
//! otherwise a full board is a draw.
//!
//! Under the rule `win_before_rotation = false`, the other published form, five counts only after
//! the turn of the quadrant, so every placement has its eight turns.

mod bitboard;
mod cell_bits;
mod equal_results;
pub mod evaluation;
mod game;
mod gtp;
mod knowledge;
mod moves;
mod notation;
mod patterns;
mod playout;
mod solver;
mod symmetry;
mod threats;

use std::fmt;

use crate::core::position::{Ending, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::Solvable;
use crate::core::termination::{Termination, TerminationInfo};

use bitboard::Bitboard;
pub use moves::{Direction, PentagoMove, Quadrant, Turn};
pub use solver::PentagoSolver;
pub use symmetry::Orientation;

/// A Pentago position.
///
/// The notation is 36 characters, `w`, `b` or `.`, row by row from the top left; the number of
/// marbles determines the side to move. A `+` follows if the last placement made five and so ended
/// the game, which the marbles alone do not distinguish from five made by a turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pentago {
    /// Marbles of the side to move (in a finished game: of the side that would be).
    own: Bitboard,
    /// Marbles of the opponent, who moved last.
    other: Bitboard,
    /// Marbles on the board; an even number means white is to move.
    marbles: u8,
    state: State,
    win_before_rotation: bool,
}

/// Whether and how a position is over: "mover" is the side that moved last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Going,
    MoverHasFive,
    OtherHasFive,
    BothHaveFive,
    FullBoard,
    FiveByPlacement,
}

/// A placement made five in a row; no quadrant was turned.
pub const FIVE_BY_PLACEMENT: Termination = Termination::new(&TerminationInfo {
    name: "five_by_placement",
    words: "five in a row by a placement",
});
/// After the turn of the quadrant exactly one side has five in a row.
pub const FIVE_BY_ROTATION: Termination = Termination::new(&TerminationInfo {
    name: "five_by_rotation",
    words: "five in a row after a turn",
});
/// After the turn of the quadrant both sides have five in a row: a draw.
pub const BOTH_FIVE: Termination =
    Termination::new(&TerminationInfo { name: "both_five", words: "both have five in a row" });

const CELLS: u8 = 36;
/// Turns that follow a placement: four quadrants, two directions.
const TURNS: u32 = 8;

impl Pentago {
    /// The empty board.
    #[must_use]
    pub const fn empty(win_before_rotation: bool) -> Self {
        Self {
            own: Bitboard::EMPTY,
            other: Bitboard::EMPTY,
            marbles: 0,
            state: State::Going,
            win_before_rotation,
        }
    }

    /// The number of marbles on the board.
    #[must_use]
    pub const fn marbles(&self) -> u32 {
        self.marbles as u32
    }

    /// Whether a placement that makes five wins at once: the rule the position is played under.
    #[must_use]
    pub const fn win_before_rotation(&self) -> bool {
        self.win_before_rotation
    }

    /// Marbles of the side to move.
    #[inline]
    pub(crate) const fn own(&self) -> Bitboard {
        self.own
    }

    /// Marbles of the opponent.
    #[inline]
    pub(crate) const fn other(&self) -> Bitboard {
        self.other
    }

    fn from_boards(
        own: Bitboard,
        other: Bitboard,
        marbles: u32,
        by_placement: bool,
        win_before_rotation: bool,
    ) -> Self {
        let marbles = marbles as u8;
        let state = if by_placement {
            State::FiveByPlacement
        } else {
            State::after_turn(other, own, marbles)
        };
        Self { own, other, marbles, state, win_before_rotation }
    }

    fn white_and_black(&self) -> [Bitboard; 2] {
        match self.to_move() {
            Side::First => [self.own, self.other],
            Side::Second => [self.other, self.own],
        }
    }

    #[inline]
    fn empty_cells(&self) -> Bitboard {
        Bitboard::ALL.without(self.own.or(self.other))
    }

    /// The empty cells on which a marble of the side to move wins before a turn.
    #[inline]
    fn winning_cells(&self) -> Bitboard {
        if self.win_before_rotation {
            self.own.completing().without(self.other)
        } else {
            Bitboard::EMPTY
        }
    }

    /// The legal move with this index, given the winning cells.
    #[inline]
    fn nth_move(&self, winning: Bitboard, wins: u32, index: u32) -> PentagoMove {
        match index.checked_sub(wins) {
            None => PentagoMove::placement(winning.nth(index)),
            Some(index) => {
                let cells = self.empty_cells().without(winning);
                PentagoMove::with_turn(cells.nth(index / TURNS), index % TURNS)
            }
        }
    }

    #[inline]
    fn move_count(&self, wins: u32) -> u32 {
        match self.state {
            State::Going => u32::from(CELLS - self.marbles) * TURNS - wins * (TURNS - 1),
            State::MoverHasFive
            | State::OtherHasFive
            | State::BothHaveFive
            | State::FullBoard
            | State::FiveByPlacement => 0,
        }
    }
}

impl State {
    /// The state after a turn of a quadrant.
    #[inline]
    fn after_turn(mover: Bitboard, other: Bitboard, marbles: u8) -> Self {
        match (mover.has_five(), other.has_five()) {
            (true, true) => Self::BothHaveFive,
            (true, false) => Self::MoverHasFive,
            (false, true) => Self::OtherHasFive,
            (false, false) if marbles >= CELLS => Self::FullBoard,
            (false, false) => Self::Going,
        }
    }
}

impl Position for Pentago {
    type Move = PentagoMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "white", letter: 'w' }, SideName { word: "black", letter: 'b' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        if self.marbles.is_multiple_of(2) { Side::First } else { Side::Second }
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        let mover = self.to_move().other();
        let (winner, termination) = match self.state {
            State::Going => return None,
            State::MoverHasFive => (Some(mover), FIVE_BY_ROTATION),
            State::OtherHasFive => (Some(mover.other()), FIVE_BY_ROTATION),
            State::BothHaveFive => (None, BOTH_FIVE),
            State::FullBoard => (None, Termination::FULL_BOARD),
            State::FiveByPlacement => (Some(mover), FIVE_BY_PLACEMENT),
        };
        Some(Ending { winner, termination })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.state != State::Going
    }

    fn legal_moves(&self, moves: &mut Vec<PentagoMove>) {
        if self.is_over() {
            return;
        }
        let winning = self.winning_cells();
        let mut wins = winning;
        while !wins.is_empty() {
            moves.push(PentagoMove::placement(wins.lowest()));
            wins = wins.without_lowest();
        }
        let mut cells = self.empty_cells().without(winning);
        while !cells.is_empty() {
            let bit = cells.lowest();
            moves.extend((0..TURNS).map(|turn| PentagoMove::with_turn(bit, turn)));
            cells = cells.without_lowest();
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        self.move_count(self.winning_cells().count())
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> PentagoMove {
        self.pick_move(|_| index).1
    }

    #[inline]
    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, PentagoMove) {
        let winning = self.winning_cells();
        let wins = winning.count();
        let legal_moves = self.move_count(wins);
        let index = pick(legal_moves);
        assert!(index < legal_moves, "there are fewer legal moves");
        (legal_moves, self.nth_move(winning, wins, index))
    }

    fn winning_move(&self) -> Option<PentagoMove> {
        if self.is_over() {
            return None;
        }
        threats::winning_move(self.own, self.other, self.win_before_rotation)
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        self.play_fast(random, plies_max)
    }

    fn play_decisively(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        self.play_decisively_fast(random, plies_max)
    }

    fn is_legal(&self, mv: PentagoMove) -> bool {
        let cell = Bitboard::cell(mv.bit());
        let wins = !self.winning_cells().and(cell).is_empty();
        !self.is_over()
            && !self.empty_cells().and(cell).is_empty()
            && wins == mv.turn_index().is_none()
    }

    #[inline]
    fn play_unchecked(&mut self, mv: PentagoMove) {
        let mut mover = self.own.or(Bitboard::cell(mv.bit()));
        let mut other = self.other;
        self.marbles += 1;
        self.state = match mv.turn_index() {
            None => State::FiveByPlacement,
            Some((quadrant, direction)) => {
                mover = mover.turned(quadrant, direction);
                other = other.turned(quadrant, direction);
                State::after_turn(mover, other, self.marbles)
            }
        };
        (self.own, self.other) = (other, mover);
    }

    /// The boards (white, black) whose bits are least among the eight images under the symmetries
    /// of the whole board, mixed with whether a placement ended the game; the rules are not a part.
    fn canonical_key(&self) -> u64 {
        let [white, black] = symmetry::canonical(self.white_and_black());
        let ended = u64::from(self.state == State::FiveByPlacement);
        crate::core::position::mix_key([white.bits(), black.bits() | ended << 63])
    }

    /// Eight moves for each empty cell, until the board is full.
    fn full_tree_leaves(&self, depth: u32) -> Option<u64> {
        if self.is_over() {
            return Some(1);
        }
        Some(crate::core::position::product_of_moves(
            (1..=u64::from(CELLS - self.marbles)).rev().map(|empty| u64::from(TURNS) * empty),
            depth,
        ))
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<PentagoMove, Problem> {
        moves::parse_move(text)
    }
}

impl Solvable for Pentago {
    type Solver = PentagoSolver;
}

impl fmt::Display for Pentago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::write(self))
    }
}

impl fmt::Debug for Pentago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pentago({self})")
    }
}
