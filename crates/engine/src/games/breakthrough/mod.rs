//! Breakthrough (Troyka 2000): pawns on two rows each; the first to reach the far row wins.
//!
//! White moves first, upwards. A pawn moves one row forward, straight or diagonally, onto an empty cell, and
//! captures diagonally forward only; capturing is not compulsory. A side wins when one of its pawns reaches
//! the row farthest from it, or when it captures the last pawn of the other. There are no draws, and a side to
//! move always has a move: nothing of its own stands diagonally before its foremost pawn. The rules are those
//! of Saffidine, Jouandeau & Cazenave 2012, "Solving Breakthrough with race patterns and job-level
//! proof number search", who solved boards up to 6×5.
//!
//! # Representation
//!
//! A 64-bit word for each side's pawns: the cell in column c (a is 0) and row r from the bottom is bit 8r + c,
//! whatever the size of the board. So moves in one direction are a shift of all pawns at once, and a flip of
//! the board from bottom to top is an exchange of bytes.

pub mod evaluation;
mod game;
mod knowledge;
mod notation;

use std::fmt;

use crate::core::bits::nth;
use crate::core::position::{Ending, Position, Side, SideName, mix_key};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};
use crate::core::wide::wide;
use crate::games::grid::{Cell, Grid};

pub use knowledge::Orientation;

/// A pawn reached the far row.
pub const FAR_ROW: Termination =
    Termination::new(&TerminationInfo { name: "far_row", words: "a pawn reached the far row" });
/// All pawns of a side are captured.
pub const ALL_CAPTURED: Termination = Termination::new(&TerminationInfo {
    name: "all_captured",
    words: "all pawns of a side are captured",
});

/// The column a.
const FIRST_COLUMN: u64 = 0x0101_0101_0101_0101;
/// The lowest row, of the greatest width.
const FIRST_ROW: u64 = 0xff;

/// A Breakthrough position.
///
/// The notation is a character for each cell, `w` (white, who moves first), `b` or `.`, row by row from the
/// top left, and after a space the side to move, `w` or `b`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Breakthrough {
    /// Pawns of the side to move.
    own: u64,
    /// Pawns of the other side.
    other: u64,
    to_move: Side,
    columns: u8,
    rows: u8,
}

/// A pawn's move. The notation is its two cells, `a2-a3`, with an x in a capture: `a2xb3`.
///
/// The order is by way, then by cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BreakthroughMove {
    way: Way,
    /// The bit of the cell that the pawn leaves.
    from: u8,
    /// Twice the bit of its new cell, and 1 for a capture.
    arrival: u8,
}

/// The column that a pawn moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Way {
    /// The next one to the left.
    Left,
    /// Its own.
    Straight,
    /// The next one to the right.
    Right,
}

impl Way {
    const ALL: [Self; 3] = [Self::Left, Self::Straight, Self::Right];
}

impl BreakthroughMove {
    const fn new(way: Way, from: u8, to: u8, captures: bool) -> Self {
        Self { way, from, arrival: to * 2 + captures as u8 }
    }

    /// The bit of the pawn's new cell.
    const fn to_bit(self) -> u8 {
        self.arrival / 2
    }

    /// The column and row of the pawn before the move, both from 0 on, from the left and from the bottom.
    #[must_use]
    pub const fn from(self) -> (u32, u32) {
        (self.from as u32 % 8, self.from as u32 / 8)
    }

    /// The column and row of the pawn after the move.
    #[must_use]
    pub const fn to(self) -> (u32, u32) {
        (self.to_bit() as u32 % 8, self.to_bit() as u32 / 8)
    }

    /// Whether the move captures a pawn.
    #[must_use]
    pub const fn captures(self) -> bool {
        self.arrival & 1 == 1
    }
}

impl Breakthrough {
    /// The start position of a board with this many columns, rows, and rows of pawns on either side.
    ///
    /// # Panics
    /// If columns or rows are not from 3 to 8, or there are no pawns, or no room for them.
    #[must_use]
    pub const fn new(columns: u32, rows: u32, pawn_rows: u32) -> Self {
        assert!(3 <= columns && columns <= 8 && 3 <= rows && rows <= 8, "no such board");
        assert!(1 <= pawn_rows && 2 * pawn_rows <= rows, "no such rows of pawns");
        let row = FIRST_ROW >> (8 - columns);
        let own = if pawn_rows == 1 { row } else { row | row << 8 };
        let other = own << (8 * (rows - pawn_rows));
        Self { own, other, to_move: Side::First, columns: columns as u8, rows: rows as u8 }
    }

    /// Columns of the board.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        self.columns as u32
    }

    /// Rows of the board.
    #[must_use]
    pub const fn rows(&self) -> u32 {
        self.rows as u32
    }

    /// The numbers of pawns of White and Black.
    #[must_use]
    pub fn pawns(&self) -> [u32; 2] {
        self.white_and_black().map(u64::count_ones)
    }

    const fn grid(&self) -> Grid {
        Grid { columns: self.columns as u32, rows: self.rows as u32 }
    }

    fn white_and_black(&self) -> [u64; 2] {
        match self.to_move {
            Side::First => [self.own, self.other],
            Side::Second => [self.other, self.own],
        }
    }

    /// The row that a side wants to reach.
    #[inline(always)]
    const fn goal(&self, side: Side) -> u64 {
        match side {
            Side::First => FIRST_ROW << (8 * (self.rows - 1)),
            Side::Second => FIRST_ROW,
        }
    }

    /// The row before it.
    #[inline]
    const fn before_goal(&self, side: Side) -> u64 {
        match side {
            Side::First => FIRST_ROW << (8 * (self.rows - 2)),
            Side::Second => FIRST_ROW << 8,
        }
    }

    /// For each way, the pawns of a side that may move so.
    #[inline(always)]
    const fn movers(&self, own: u64, other: u64, side: Side) -> [u64; 3] {
        let last_column = FIRST_COLUMN << (self.columns - 1);
        let (to_left, to_right) = (own & !FIRST_COLUMN, own & !last_column);
        match side {
            Side::First => {
                [to_left & !(own >> 7), own & !((own | other) >> 8), to_right & !(own >> 9)]
            }
            Side::Second => {
                [to_left & !(own << 9), own & !((own | other) << 8), to_right & !(own << 7)]
            }
        }
    }

    /// For each way, the pawns that may move so; none if the game is over.
    #[inline(always)]
    const fn own_movers(&self) -> [u64; 3] {
        if self.is_lost() { [0; 3] } else { self.movers(self.own, self.other, self.to_move) }
    }

    /// Of these pawns, those whose move captures, by way.
    #[inline]
    const fn capturing(&self, [left, _, right]: [u64; 3], other: u64, side: Side) -> [u64; 3] {
        match side {
            Side::First => [left & other >> 7, 0, right & other >> 9],
            Side::Second => [left & other << 9, 0, right & other << 7],
        }
    }

    /// Whether the side that moved last has won.
    #[inline(always)]
    const fn is_lost(&self) -> bool {
        self.own == 0 || self.other & self.goal(self.to_move.other()) != 0
    }

    /// The move of the pawn on this bit.
    #[inline(always)]
    const fn move_of(&self, way: Way, from: u32) -> BreakthroughMove {
        let right = from + way as u32;
        let to = match self.to_move {
            Side::First => right + 7,
            Side::Second => right.wrapping_sub(9),
        };
        BreakthroughMove::new(way, from as u8, to as u8, self.other >> (to & 63) & 1 == 1)
    }

    /// The move with this index among those of the movers.
    #[inline(always)]
    const fn nth_of(&self, [left, straight, right]: [u64; 3], index: u32) -> BreakthroughMove {
        let (lefts, straights) = (left.count_ones(), straight.count_ones());
        if index < lefts {
            self.move_of(Way::Left, nth(left, index))
        } else if index - lefts < straights {
            self.move_of(Way::Straight, nth(straight, index - lefts))
        } else {
            self.move_of(Way::Right, nth(right, index - lefts - straights))
        }
    }

    /// The movers whose move wins at once.
    #[inline]
    fn winners(&self) -> [u64; 3] {
        if self.is_lost() {
            return [0; 3];
        }
        let movers = self.movers(self.own, self.other, self.to_move);
        let captures = self.capturing(movers, self.other, self.to_move);
        let is_last = self.other & self.other.wrapping_sub(1) == 0;
        let takes_last = captures.map(|from| if is_last { from } else { 0 });
        let before_goal = self.before_goal(self.to_move);
        [0, 1, 2].map(|way| movers[way] & before_goal | takes_last[way])
    }

    /// Each side's pawns mirrored from left to right.
    #[inline]
    fn mirrored(&self) -> [u64; 2] {
        let unused = 8 - self.columns;
        [self.own, self.other].map(|pawns| pawns.reverse_bits().swap_bytes() >> unused)
    }

    /// The least of the two mirror images of the pawns, and whether it is the other one.
    #[inline]
    fn reduced(&self) -> ([u64; 2], bool) {
        let (pawns, image) = ([self.own, self.other], self.mirrored());
        if image < pawns { (image, true) } else { (pawns, false) }
    }

    /// The position seen from the other side of the board: flipped from bottom to top, with the colours and
    /// the turn exchanged.
    #[must_use]
    pub fn with_sides_exchanged(&self) -> Self {
        let flip = |pawns: u64| pawns.swap_bytes() >> (8 * (8 - self.rows));
        Self {
            own: flip(self.own),
            other: flip(self.other),
            to_move: self.to_move.other(),
            ..*self
        }
    }
}

/// The number of moves of these pawns.
#[inline(always)]
fn count([left, straight, right]: [u64; 3]) -> u32 {
    left.count_ones() + straight.count_ones() + right.count_ones()
}

impl Position for Breakthrough {
    type Move = BreakthroughMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "white", letter: 'w' }, SideName { word: "black", letter: 'b' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        self.to_move
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        if !self.is_lost() {
            return None;
        }
        let winner = self.to_move.other();
        let has_arrived = self.other & self.goal(winner) != 0;
        let termination = if has_arrived { FAR_ROW } else { ALL_CAPTURED };
        Some(Ending { winner: Some(winner), termination })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.is_lost()
    }

    fn legal_moves(&self, moves: &mut Vec<BreakthroughMove>) {
        for (way, mut from) in Way::ALL.into_iter().zip(self.own_movers()) {
            while from != 0 {
                moves.push(self.move_of(way, from.trailing_zeros()));
                from &= from - 1;
            }
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        count(self.own_movers())
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> BreakthroughMove {
        self.pick_move(|legal_moves| {
            assert!(index < legal_moves, "there are fewer legal moves");
            index
        })
        .1
    }

    #[inline]
    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, BreakthroughMove) {
        let movers = self.own_movers();
        let legal_moves = count(movers);
        let index = pick(legal_moves);
        assert!(index < legal_moves, "there are fewer legal moves");
        (legal_moves, self.nth_of(movers, index))
    }

    #[inline]
    fn winning_move(&self) -> Option<BreakthroughMove> {
        let winners = Way::ALL.into_iter().zip(self.winners());
        let (way, from) = winners.into_iter().find(|&(_, from)| from != 0)?;
        Some(self.move_of(way, from.trailing_zeros()))
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        wide!({
            while plies < plies_max {
                let movers = self.own_movers();
                let legal_moves = count(movers);
                // There is always a move until the game is over.
                if legal_moves == 0 {
                    break;
                }
                self.play_unchecked(self.nth_of(movers, random.below(legal_moves)));
                plies += 1;
            }
        });
        plies
    }

    #[inline]
    fn is_legal(&self, mv: BreakthroughMove) -> bool {
        let movers = self.own_movers()[mv.way as usize];
        movers >> (mv.from & 63) & 1 == 1 && self.move_of(mv.way, u32::from(mv.from)) == mv
    }

    #[inline(always)]
    fn play_unchecked(&mut self, mv: BreakthroughMove) {
        let to = 1 << (mv.to_bit() & 63);
        let own = self.own & !(1 << (mv.from & 63)) | to;
        self.own = self.other & !to;
        self.other = own;
        self.to_move = self.to_move.other();
    }

    /// The pawns, the lesser of the two mirror images, mixed with the side to move. The size of the board is not
    /// included.
    fn canonical_key(&self) -> u64 {
        let ([own, other], _) = self.reduced();
        mix_key([own, other, self.to_move.index() as u64])
    }

    fn board(&self) -> String {
        self.grid().board(|cell| self.letter(cell)) + &self.status()
    }

    fn parse_move(&self, text: &str) -> Result<BreakthroughMove, Problem> {
        notation::parse_move(self, text)
    }
}

impl Breakthrough {
    /// The character of a cell in the notation.
    fn letter(&self, cell: Cell) -> char {
        let bit = 8 * cell.row + cell.column;
        match self.white_and_black().map(|pawns| pawns >> bit & 1) {
            [0, 0] => '.',
            [0, _] => 'b',
            _ => 'w',
        }
    }
}

impl Solvable for Breakthrough {
    type Solver = PlainSolver;
}

impl fmt::Display for Breakthrough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.grid().write(self, |cell| self.letter(cell)))
    }
}

impl fmt::Debug for Breakthrough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Breakthrough({}x{} {self})", self.columns, self.rows)
    }
}

impl fmt::Display for BreakthroughMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = [self.from(), self.to()].map(|(column, row)| Cell::new(column, row));
        write!(f, "{from}{}{to}", if self.captures() { 'x' } else { '-' })
    }
}

impl fmt::Debug for BreakthroughMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
