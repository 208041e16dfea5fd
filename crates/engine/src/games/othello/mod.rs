//! Othello: discs are placed on a board of 8×8 squares and flip the discs they enclose; the side with more
//! discs in the end wins.
//!
//! Black moves first. A move places a disc on an empty square so that it encloses a run of the other side's
//! discs in a straight line with another disc of the mover's, in at least one of the eight directions; all
//! enclosed discs are flipped. A side without such a move passes, which is a move of its own and then the
//! only legal one. When neither side can move, the game is over: the side with more discs wins, and equal
//! numbers are a draw.
//!
//! # Representation
//!
//! A 64-bit word for each side's discs, square by square from the top left, row by row (`board.rs`). A
//! position keeps the squares on which its side may move: they show whether the game is over and which moves
//! there are, so a random game or a search computes them once for each position.

mod board;
pub mod evaluation;
mod features;
mod game;
mod gtp;
mod knowledge;
mod moves;
mod notation;
mod solver;
mod symmetry;

use std::fmt;

use crate::core::bits::nth;
use crate::core::position::{Ending, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::solver::Solvable;
use crate::core::termination::{Termination, TerminationInfo};
use crate::core::wide::wide;

pub use features::SquareClass;
pub use moves::OthelloMove;
pub use solver::OthelloSolver;
pub use symmetry::Orientation;

/// Neither side can move, with empty squares and discs of both left.
pub const NO_MOVES: Termination =
    Termination::new(&TerminationInfo { name: "no_moves", words: "neither side can move" });
/// One side has no disc left, and there are empty squares.
pub const WIPED_OUT: Termination =
    Termination::new(&TerminationInfo { name: "wiped_out", words: "one side has no disc left" });

/// Squares of the board.
const SQUARES: u32 = 64;
/// The squares d4, e4, d5 and e5, which are never empty.
const CENTRE: u64 = 0x0000_0018_1800_0000;
/// White's discs at the start: d4 and e5.
const WHITE_AT_START: u64 = 0x0000_0010_0800_0000;

/// An Othello position.
///
/// The notation is 64 characters, `b` (black, who moves first), `w` or `.`, row by row from the top
/// left, and after a space the side to move, `b` or `w`, which the discs alone do not show because
/// of passes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Othello {
    /// Discs of the side to move.
    own: u64,
    /// Discs of the other side.
    other: u64,
    /// The squares on which the side to move may place a disc.
    moves: u64,
    to_move: Side,
    state: State,
}

/// Whether and how the game continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// The side to move has a square to move on.
    Moves,
    /// It has none, but the other side would have one.
    MustPass,
    /// Neither has.
    Over,
}

impl Othello {
    /// The start position.
    #[must_use]
    pub const fn initial() -> Self {
        Self::of_discs(CENTRE & !WHITE_AT_START, WHITE_AT_START, Side::First)
    }

    /// The number of discs on the board.
    #[must_use]
    pub const fn discs(&self) -> u32 {
        (self.own | self.other).count_ones()
    }

    /// Black's discs minus White's: in a finished game, the margin. Empty squares do not count.
    #[must_use]
    pub const fn disc_difference(&self) -> i32 {
        let difference = self.own.count_ones() as i32 - self.other.count_ones() as i32;
        match self.to_move {
            Side::First => difference,
            Side::Second => -difference,
        }
    }

    /// Discs of the side to move.
    #[inline]
    const fn own(&self) -> u64 {
        self.own
    }

    /// Discs of the other side.
    #[inline]
    const fn other(&self) -> u64 {
        self.other
    }

    #[inline(always)]
    const fn after(&self, mv: OthelloMove) -> Self {
        let (mut own, mut other) = (self.own, self.other);
        if let Some(square) = mv.square() {
            let flipped = board::flips(square, own, other);
            own |= flipped | 1 << square;
            other &= !flipped;
        }
        Self::of_discs(other, own, self.to_move.other())
    }

    #[inline(always)]
    const fn of_discs(own: u64, other: u64, to_move: Side) -> Self {
        let moves = board::moves(own, other);
        let state = if moves != 0 {
            State::Moves
        } else if board::moves(other, own) != 0 {
            State::MustPass
        } else {
            State::Over
        };
        Self { own, other, moves, to_move, state }
    }

    fn black_and_white(&self) -> [u64; 2] {
        match self.to_move {
            Side::First => [self.own, self.other],
            Side::Second => [self.other, self.own],
        }
    }

    /// Whether a legal move on this square ends the game with more discs for the mover.
    fn wins(&self, square: u32) -> bool {
        let flipped = board::flips(square, self.own, self.other);
        let (own, other) = (self.own | flipped | 1 << square, self.other & !flipped);
        own.count_ones() > other.count_ones()
            && board::moves(other, own) == 0
            && board::moves(own, other) == 0
    }
}

impl Position for Othello {
    type Move = OthelloMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "black", letter: 'b' }, SideName { word: "white", letter: 'w' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        self.to_move
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        if self.state != State::Over {
            return None;
        }
        let termination = if self.discs() == SQUARES {
            Termination::FULL_BOARD
        } else if self.own == 0 || self.other == 0 {
            WIPED_OUT
        } else {
            NO_MOVES
        };
        let winner = match self.disc_difference() {
            0 => None,
            1.. => Some(Side::First),
            ..0 => Some(Side::Second),
        };
        Some(Ending { winner, termination })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn legal_moves(&self, moves: &mut Vec<OthelloMove>) {
        if self.state == State::MustPass {
            moves.push(OthelloMove::PASS);
        }
        let mut squares = self.moves;
        while squares != 0 {
            moves.push(OthelloMove::lowest(squares));
            squares &= squares - 1;
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        self.moves.count_ones() + u32::from(self.state == State::MustPass)
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> OthelloMove {
        assert!(index < self.legal_move_count(), "there are fewer legal moves");
        if self.state == State::MustPass {
            return OthelloMove::PASS;
        }
        OthelloMove::new(nth(self.moves, index))
    }

    /// A move after which neither side can move. Most are rejected quickly: the flips of a move lie on the
    /// lines through its square, so any other move whose first flip lies elsewhere remains legal.
    fn winning_move(&self) -> Option<OthelloMove> {
        if self.state != State::Moves {
            return None;
        }
        wide!({
            let elsewhere = board::flipped_first(self.own, self.other);
            let mut squares = self.moves;
            while squares != 0 {
                let square = squares.trailing_zeros();
                if elsewhere & !board::lines_through(square) == 0 && self.wins(square) {
                    return Some(OthelloMove::new(square));
                }
                squares &= squares - 1;
            }
            None
        })
    }

    #[inline]
    fn is_legal(&self, mv: OthelloMove) -> bool {
        match mv.square() {
            None => self.state == State::MustPass,
            Some(square) => self.moves >> square & 1 == 1,
        }
    }

    #[inline]
    fn play_unchecked(&mut self, mv: OthelloMove) {
        *self = wide!(self.after(mv));
    }

    /// The discs of both sides, least among the eight images under the board's symmetries, mixed with the
    /// side to move.
    fn canonical_key(&self) -> u64 {
        let ([own, other], _) = symmetry::reduced([self.own, self.other]);
        crate::core::position::mix_key(self.words(own, other))
    }

    fn margin(&self) -> Option<i32> {
        self.is_over().then(|| self.disc_difference())
    }

    /// With the discs, where the game is over.
    fn status(&self) -> String {
        match self.ending() {
            None => format!("{} to move", Self::side_name(self.to_move)),
            Some(ending) => {
                let [black, white] = self.black_and_white().map(u64::count_ones);
                format!("{}, {black} to {white}", Self::describe(ending))
            }
        }
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<OthelloMove, Problem> {
        moves::parse_move(text)
    }
}

impl Solvable for Othello {
    type Solver = OthelloSolver;
}

impl fmt::Display for Othello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::write(self))
    }
}

impl fmt::Debug for Othello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Othello({self})")
    }
}
