//! m,n,k games: k stones in a row win on a board of m columns and n rows. Tic-tac-toe is the 3,3,3-game, Gomoku the
//! 15,15,5-game.
//!
//! x moves first, a move puts a stone on an empty cell, and stones stay. A full board is a draw. Under the rule of
//! standard Gomoku (`overlines` is `no-win`), a run must be exactly k stones long to win; otherwise a longer one wins
//! as well (free Gomoku).
//!
//! # Representation
//!
//! A set of cells for each side's stones (`core::cells`). Cells are followed from the last stone on to see
//! whether it wins; the cells that would win, and lines by their stones, are found by shifting whole boards.

pub mod evaluation;
mod game;
mod knowledge;
mod lines;
mod notation;
mod symmetry;

use std::fmt;

use crate::core::cells::{Cells, Grid, SIDE_MAX};
use crate::core::position::{Ending, Position, Side, SideName, mix, product_of_moves};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};
use crate::core::wide::wide;

pub use symmetry::Orientation;

/// Enough stones in a row.
pub const LINE_COMPLETED: Termination =
    Termination::new(&TerminationInfo { name: "line_completed", words: "a line is complete" });

/// A position of an m,n,k game.
///
/// The notation is a character for each cell, `x` (who moves first), `o` or `.`, row by row from the top left.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Mnk {
    /// The stones of x and of o.
    stones: [Cells; 2],
    /// The number of stones.
    count: u16,
    shape: Shape,
    /// Whether the side that moved last has won.
    is_won: bool,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shape {
    grid: Grid,
    /// The stones of a winning line.
    in_a_row: u8,
    /// Whether longer lines win as well.
    overlines_win: bool,
}

/// A stone on a cell, written as its column's letter from the left and its row from the top: `c2`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MnkMove(u16);

impl MnkMove {
    /// The number of codes: one for each cell of the largest board.
    const CODES: usize = (SIDE_MAX * SIDE_MAX) as usize;

    /// A stone on the cell in this row from the top and this column from the left, both from 0.
    ///
    /// # Panics
    /// If the row or column is not below 19.
    #[must_use]
    pub const fn new(row: u32, column: u32) -> Self {
        assert!(row < SIDE_MAX && column < SIDE_MAX, "the largest board has 19 rows and columns");
        Self((row * SIDE_MAX + column) as u16)
    }

    /// The row and column of the stone, from 0.
    #[must_use]
    pub const fn cell(self) -> (u32, u32) {
        (self.0 as u32 / SIDE_MAX, self.0 as u32 % SIDE_MAX)
    }
}

impl Mnk {
    /// The number of stones on the board.
    #[must_use]
    pub const fn stones(&self) -> u32 {
        self.count as u32
    }

    /// The number of columns.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        self.shape.grid.columns()
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> u32 {
        self.shape.grid.rows()
    }

    /// The position with these stones.
    fn of_stones(shape: Shape, stones: [Cells; 2]) -> Self {
        let count = stones.iter().map(Cells::len).sum::<u32>() as u16;
        let is_won = stones.iter().any(|stones| shape.has_line(stones));
        Self { stones, count, shape, is_won }
    }

    #[inline(always)]
    const fn empty_cells(&self) -> u32 {
        self.shape.grid.len() - self.count as u32
    }

    /// The empty cells as a set.
    #[inline(always)]
    fn empty_set(&self) -> Cells {
        self.shape.grid.cells().without(&(self.stones[0] | self.stones[1]))
    }

    /// The stones of the side to move, and of the other.
    #[inline(always)]
    fn own_and_other(&self) -> [&Cells; 2] {
        let mover = self.to_move().index();
        [&self.stones[mover], &self.stones[1 - mover]]
    }

    #[inline(always)]
    fn bit(&self, mv: MnkMove) -> Option<u32> {
        let (row, column) = mv.cell();
        let is_inside = row < self.rows() && column < self.columns();
        is_inside.then(|| self.shape.grid.bit(row, column))
    }

    #[inline(always)]
    fn move_to(&self, bit: u32) -> MnkMove {
        let (row, column) = self.shape.grid.place(bit);
        MnkMove((row * SIDE_MAX + column) as u16)
    }

    /// The bit of the empty cell with this rank, the lowest having rank 0.
    #[inline(always)]
    fn nth_empty(&self, rank: u32) -> Option<u32> {
        let [first, second] = &self.stones;
        Cells::nth_outside(self.shape.grid.cells(), [first, second], rank)
    }

    #[inline(always)]
    fn place_stone(&mut self, bit: u32) {
        let stones = &mut self.stones[usize::from(self.count % 2)];
        stones.insert(bit);
        self.count += 1;
        self.is_won = self.shape.is_line_through(stones, bit);
    }

    /// The empty cells on which a stone of a side wins; none if the game is over.
    #[inline]
    fn winning_cells(&self, side: Side) -> Cells {
        let stones = &self.stones[side.index()];
        // x has half of the stones, rounded up.
        let number = (u32::from(self.count) + 1 - side.index() as u32) / 2;
        if self.is_won || number + 1 < u32::from(self.shape.in_a_row) {
            return Cells::default();
        }
        wide!(self.shape.completing(stones)) & self.empty_set()
    }

    #[inline(always)]
    fn play_on(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_over() {
            let Some(bit) = self.nth_empty(random.below(self.empty_cells())) else { break };
            self.place_stone(bit);
            plies += 1;
        }
        plies
    }
}

impl Position for Mnk {
    type Move = MnkMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "x", letter: 'x' }, SideName { word: "o", letter: 'o' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        if self.count.is_multiple_of(2) { Side::First } else { Side::Second }
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        if self.is_won {
            let winner = Some(self.to_move().other());
            Some(Ending { winner, termination: LINE_COMPLETED })
        } else if self.empty_cells() == 0 {
            Some(Ending { winner: None, termination: Termination::FULL_BOARD })
        } else {
            None
        }
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.is_won || self.empty_cells() == 0
    }

    fn legal_moves(&self, moves: &mut Vec<MnkMove>) {
        if !self.is_won {
            moves.extend(self.empty_set().iter().map(|bit| self.move_to(bit)));
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        if self.is_won { 0 } else { self.empty_cells() }
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> MnkMove {
        let bit = if self.is_won { None } else { self.nth_empty(index) };
        match bit {
            Some(bit) => self.move_to(bit),
            None => panic!("there are fewer legal moves"),
        }
    }

    #[inline]
    fn winning_move(&self) -> Option<MnkMove> {
        self.winning_cells(self.to_move()).first().map(|bit| self.move_to(bit))
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        wide!(self.play_on(random, plies_max))
    }

    #[inline]
    fn is_legal(&self, mv: MnkMove) -> bool {
        let is_empty = |bit| !self.stones.iter().any(|stones| stones.has(bit));
        !self.is_won && self.bit(mv).is_some_and(is_empty)
    }

    #[inline]
    fn play_unchecked(&mut self, mv: MnkMove) {
        if let Some(bit) = self.bit(mv) {
            self.place_stone(bit);
        }
    }

    /// The rows of x's and o's stones, least among the board's images (eight if it is square, otherwise four), mixed.
    /// The rules are not included.
    fn canonical_key(&self) -> u64 {
        self.reduced().0 >> 11
    }

    /// One move for each empty cell, until the board is full.
    fn full_tree_leaves(&self, depth: u32) -> Option<u64> {
        let moves = u64::from(self.legal_move_count());
        Some(product_of_moves((1..=moves).rev(), depth))
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<MnkMove, Problem> {
        notation::parse_move(self.shape.grid, text)
    }
}

impl Mnk {
    /// The stones' words that have cells, mixed.
    #[inline]
    fn key(&self) -> u64 {
        let words = self.stones.iter().flat_map(|stones| self.shape.grid.words_of(stones));
        words.fold(0, |state, word| mix([state ^ word]))
    }
}

impl Solvable for Mnk {
    type Solver = PlainSolver;
}

impl fmt::Display for Mnk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::write(self))
    }
}

impl fmt::Debug for Mnk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { in_a_row, overlines_win, .. } = self.shape;
        let (columns, rows) = (self.columns(), self.rows());
        let exactly = if overlines_win { "" } else { "exactly " };
        write!(f, "Mnk({self}, {columns}×{rows}, {exactly}{in_a_row} in a row)")
    }
}

impl fmt::Display for MnkMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, column) = self.cell();
        write!(f, "{}{}", notation::letter(column), row + 1)
    }
}

impl fmt::Debug for MnkMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
