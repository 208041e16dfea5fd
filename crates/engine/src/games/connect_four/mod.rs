//! Connect Four: seven columns of six cells; a disc falls to the lowest free cell of its column, and
//! four of one colour in a row, a column or a diagonal win.
//!
//! The first player's discs are red, the second's yellow. A full board without a four is a draw.
//!
//! # Representation
//!
//! Seven bits a column, the cell in column c (a is 0) and row r from the bottom being bit 7c + r (Tromp's
//! Fhourstones benchmark; Pons 2015, "Solving Connect 4", part 6). The seventh bit of each column has no cell
//! and stays empty. So shifts from cell to cell never run over into another column, and adding one to a
//! column's discs gives the cell of the next one.

pub mod evaluation;
mod fours;
mod game;
mod knowledge;
mod notation;

use std::fmt;

use crate::core::position::{Ending, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};

pub use knowledge::Orientation;

/// Four in a row.
pub const FOUR_IN_A_ROW: Termination =
    Termination::new(&TerminationInfo { name: "four_in_a_row", words: "four in a row" });

/// Columns, numbered from the left.
const COLUMNS: u32 = 7;
/// Cells of a column.
const ROWS: u32 = 6;
/// Cells of the board: no game has more plies.
const CELLS: u32 = COLUMNS * ROWS;
/// Bits of a column.
const COLUMN_BITS: u32 = ROWS + 1;
/// The lowest cell of each column.
const BOTTOM: u64 = {
    let (mut cells, mut column) = (0, 0);
    while column < COLUMNS {
        cells |= 1 << (COLUMN_BITS * column);
        column += 1;
    }
    cells
};
/// Every cell.
const BOARD: u64 = BOTTOM * ((1 << ROWS) - 1);

/// A Connect Four position.
///
/// The notation is 42 characters, `r` (red, who moves first), `y` (yellow) or `.`, row by row from
/// the top left.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectFour {
    /// Discs of the side to move.
    own: u64,
    /// Discs of both sides.
    all: u64,
    /// Whether the side that moved last has four in a row.
    is_won: bool,
}

/// A disc dropped into a column. The notation is the column's letter, a to g from the left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectFourMove(u8);

impl ConnectFourMove {
    /// The move into a column, numbered from the left (0 to 6).
    ///
    /// # Panics
    /// If `column` is not below 7.
    #[must_use]
    pub const fn new(column: u32) -> Self {
        assert!(column < COLUMNS, "a Connect Four board has 7 columns");
        Self(column as u8)
    }

    /// The column, numbered from the left (0 to 6).
    #[must_use]
    pub const fn column(self) -> u32 {
        self.0 as u32
    }

    /// The move that fills this cell, its bit being the only one.
    #[inline]
    const fn into_cell(cell: u64) -> Self {
        Self((cell.trailing_zeros() / COLUMN_BITS) as u8)
    }

    /// The bits of the column's cells.
    #[inline]
    const fn cells(self) -> u64 {
        ((1 << ROWS) - 1) << (COLUMN_BITS * self.0 as u32)
    }
}

impl ConnectFour {
    /// The empty board.
    #[must_use]
    pub const fn empty() -> Self {
        Self { own: 0, all: 0, is_won: false }
    }

    /// The number of discs on the board.
    #[must_use]
    pub const fn discs(&self) -> u32 {
        self.all.count_ones()
    }

    /// Discs of the side to move.
    #[inline]
    const fn own(&self) -> u64 {
        self.own
    }

    /// Discs of the side that moved last.
    #[inline]
    const fn other(&self) -> u64 {
        self.own ^ self.all
    }

    fn red_and_yellow(&self) -> [u64; 2] {
        match self.to_move() {
            Side::First => [self.own(), self.other()],
            Side::Second => [self.other(), self.own()],
        }
    }

    /// The cells in which the next disc may land, one in each column that is not full: none if the
    /// game is over.
    #[inline]
    const fn open_cells(&self) -> u64 {
        if self.is_won { 0 } else { (self.all + BOTTOM) & BOARD }
    }

    /// A number below 2^49 that is unique to the position: in each column, the discs of the side to move and
    /// all discs, as bits, are added. For n discs the sum is from 2^n - 1 to 2^(n + 1) - 2, so it determines
    /// n and with it the rest, and fits into the column's seven bits.
    #[inline]
    const fn packed(&self) -> u64 {
        self.own + self.all
    }
}

/// The columns in the opposite order.
#[inline]
fn mirrored(board: u64) -> u64 {
    const COLUMN: u64 = (1 << COLUMN_BITS) - 1;
    (0..COLUMNS).fold(0, |mirrored, column| {
        let cells = board >> (COLUMN_BITS * column) & COLUMN;
        mirrored | cells << (COLUMN_BITS * (COLUMNS - 1 - column))
    })
}

impl Position for ConnectFour {
    type Move = ConnectFourMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "red", letter: 'r' }, SideName { word: "yellow", letter: 'y' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        if self.discs().is_multiple_of(2) { Side::First } else { Side::Second }
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        if self.is_won {
            let winner = Some(self.to_move().other());
            Some(Ending { winner, termination: FOUR_IN_A_ROW })
        } else if self.all == BOARD {
            Some(Ending { winner: None, termination: Termination::FULL_BOARD })
        } else {
            None
        }
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.is_won || self.all == BOARD
    }

    fn legal_moves(&self, moves: &mut Vec<ConnectFourMove>) {
        let mut cells = self.open_cells();
        while cells != 0 {
            moves.push(ConnectFourMove::into_cell(cells));
            cells &= cells - 1;
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        self.open_cells().count_ones()
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> ConnectFourMove {
        let mut cells = self.open_cells();
        assert!(index < cells.count_ones(), "there are fewer legal moves");
        for _ in 0..index {
            cells &= cells - 1;
        }
        ConnectFourMove::into_cell(cells)
    }

    #[inline]
    fn winning_move(&self) -> Option<ConnectFourMove> {
        let wins = fours::completing(self.own) & self.open_cells();
        (wins != 0).then(|| ConnectFourMove::into_cell(wins))
    }

    #[inline]
    fn is_legal(&self, mv: ConnectFourMove) -> bool {
        self.open_cells() & mv.cells() != 0
    }

    #[inline]
    fn play_unchecked(&mut self, mv: ConnectFourMove) {
        let cells = mv.cells();
        // A full column has no such cell, and nothing is added to it.
        let disc = (self.all + (cells & BOTTOM)) & cells;
        let mover = self.own | disc;
        self.own ^= self.all;
        self.all |= disc;
        self.is_won = fours::has_four(mover);
    }

    /// The packed columns, the lesser of the two mirror images: exact.
    #[inline]
    fn canonical_key(&self) -> u64 {
        let packed = self.packed();
        packed.min(mirrored(packed))
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<ConnectFourMove, Problem> {
        notation::parse_move(text)
    }
}

impl Solvable for ConnectFour {
    type Solver = PlainSolver;
}

impl fmt::Display for ConnectFour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::write(self))
    }
}

impl fmt::Debug for ConnectFour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectFour({self})")
    }
}

impl fmt::Display for ConnectFourMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (b'a' + self.0) as char)
    }
}

impl fmt::Debug for ConnectFourMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
