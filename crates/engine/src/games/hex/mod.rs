//! Hex (Hein 1942, Nash 1948): stones on a rhombus of hexagons; red joins the top and bottom edges, blue the left
//! and right ones.
//!
//! Red moves first, a move puts a stone on an empty cell, and stones stay. Exactly one side joins its edges before
//! the board is full, so there are no draws. With the swap rule (the pie rule), blue's first move may instead swap
//! pieces: the red stone becomes a blue one on the mirrored cell, column and row exchanged, as HexWiki and the Hex
//! text protocol define `swap-pieces`.
//!
//! A cell has up to six neighbours: beside it in its row, above it and above to the right, below it and below to
//! the left. So a1, at the top left, is an obtuse corner: each row is shifted by half a cell to the right.
//!
//! # Representation
//!
//! A set of cells for each side's stones (`core::cells`), and one for the cells that its first edge reaches: the
//! cells of the edge, the stones joined to it, and their neighbours. A stone outside of that set cannot end the game,
//! and each cell enters it once, so a random game costs a few steps for each stone.

pub mod evaluation;
mod game;
mod knowledge;
mod notation;
mod paths;

use std::fmt;

use crate::core::cells::{Cells, Grid};
use crate::core::position::{Ending, LEAVES_MAX, Position, Side, SideName, product_of_moves};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};
use crate::core::wide::wide;

pub use knowledge::Orientation;

/// One side's edges are joined.
pub const EDGES_JOINED: Termination =
    Termination::new(&TerminationInfo { name: "edges_joined", words: "its edges are joined" });

/// The most cells in a row.
const SIZE_MAX: u32 = crate::core::cells::SIDE_MAX;

/// A Hex position.
///
/// The notation is a character for each cell, `r` (red, who moves first), `b` or `.`, row by row from the top left,
/// and after a space the side to move, `r` or `b`, which the stones alone do not show because of the swap rule.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Hex {
    /// Red's stones and blue's.
    stones: [Cells; 2],
    /// The cells that the top edge reaches by red's stones, and the left edge by blue's.
    reached: [Cells; 2],
    /// The number of stones.
    count: u16,
    grid: Grid,
    to_move: Side,
    /// Whether the second move of the game may swap pieces.
    has_swap_rule: bool,
    /// Whether the side that moved last has joined its edges.
    is_won: bool,
}

/// A stone on a cell, written as its column's letter from the left and its row from the top: `c2`; or
/// `swap-pieces`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexMove(u16);

impl HexMove {
    /// The second player takes the first stone over, mirrored.
    pub const SWAP_PIECES: Self = Self((SIZE_MAX * SIZE_MAX) as u16);

    /// The number of codes: one for each cell of the largest board, and one for swapping pieces.
    const CODES: usize = Self::SWAP_PIECES.0 as usize + 1;

    /// A stone on the cell in this row from the top and this column from the left, both from 0.
    ///
    /// # Panics
    /// If the row or column is not below 19.
    #[must_use]
    pub const fn new(row: u32, column: u32) -> Self {
        assert!(
            row < SIZE_MAX && column < SIZE_MAX,
            "the largest Hex board has 19 rows and columns"
        );
        Self((row * SIZE_MAX + column) as u16)
    }

    /// The row and column of the stone, from 0; `None` for swapping pieces.
    #[must_use]
    pub const fn cell(self) -> Option<(u32, u32)> {
        match self {
            Self::SWAP_PIECES => None,
            Self(cell) => Some((cell as u32 / SIZE_MAX, cell as u32 % SIZE_MAX)),
        }
    }
}

impl Hex {
    /// An empty board with so many cells in each row and column.
    ///
    /// # Panics
    /// If the size is not from 1 to 19.
    #[must_use]
    pub fn empty(size: u32, has_swap_rule: bool) -> Self {
        let grid = Grid::new(size, size);
        Self::of_stones(grid, [Cells::default(); 2], Side::First, has_swap_rule)
    }

    /// The number of stones on the board.
    #[must_use]
    pub const fn stones(&self) -> u32 {
        self.count as u32
    }

    /// The number of cells in each row and column.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.grid.columns()
    }

    /// The position with the sides exchanged: every stone mirrored, column and row exchanged, in the other colour.
    /// With the swap rule the other side is to move there, and without that rule the same side, since red then never
    /// has fewer stones. `None` if play cannot reach that position, or only one of the two allows swapping pieces.
    #[must_use]
    pub fn with_sides_exchanged(&self) -> Option<Self> {
        let [red, blue] = self.stones;
        let stones = [paths::mirrored(self.grid, &blue), paths::mirrored(self.grid, &red)];
        let to_move = if self.has_swap_rule { self.to_move.other() } else { self.to_move };
        let exchanged = Self::of_stones(self.grid, stones, to_move, self.has_swap_rule);
        // With the same side to move, the winner of a finished game would move next.
        let is_reachable =
            notation::check_turn(&exchanged).is_ok() && (to_move != self.to_move || !self.is_won);
        (is_reachable && !self.may_swap() && !exchanged.may_swap()).then_some(exchanged)
    }

    /// The position with these stones.
    fn of_stones(grid: Grid, stones: [Cells; 2], to_move: Side, has_swap_rule: bool) -> Self {
        let count = stones.iter().map(Cells::len).sum::<u32>() as u16;
        let mut reached = [Side::First, Side::Second].map(|side| paths::first_edge(grid, side));
        let mut is_won = false;
        for side in [0, 1] {
            for cell in (stones[side] & reached[side]).iter() {
                is_won |= paths::reach(grid, side, &stones[side], &mut reached[side], cell);
            }
        }
        Self { stones, reached, count, grid, to_move, has_swap_rule, is_won }
    }

    #[inline(always)]
    fn empty_cells(&self) -> u32 {
        self.grid.len() - u32::from(self.count)
    }

    /// The empty cells as a set.
    #[inline(always)]
    fn empty_set(&self) -> Cells {
        self.grid.cells().without(&(self.stones[0] | self.stones[1]))
    }

    /// Whether the side to move may swap pieces: after the first stone.
    #[inline(always)]
    fn may_swap(&self) -> bool {
        self.count == 1 && self.has_swap_rule && self.to_move == Side::Second
    }

    #[inline(always)]
    fn bit(&self, mv: HexMove) -> Option<u32> {
        let (row, column) = mv.cell()?;
        let is_inside = row < self.size() && column < self.size();
        is_inside.then(|| self.grid.bit(row, column))
    }

    #[inline(always)]
    fn move_to(&self, bit: u32) -> HexMove {
        let (row, column) = self.grid.place(bit);
        HexMove((row * SIZE_MAX + column) as u16)
    }

    /// The bit of the empty cell with this rank, the lowest having rank 0.
    #[inline(always)]
    fn nth_empty(&self, rank: u32) -> Option<u32> {
        let [red, blue] = &self.stones;
        Cells::nth_outside(self.grid.cells(), [red, blue], rank)
    }

    #[inline(always)]
    fn place_stone(&mut self, bit: u32) {
        let side = self.to_move.index();
        let stones = &mut self.stones[side];
        stones.insert(bit);
        self.count += 1;
        let reached = &mut self.reached[side];
        if reached.has(bit) {
            self.is_won = paths::reach(self.grid, side, stones, reached, bit);
        }
        self.to_move = self.to_move.other();
    }

    fn swap_pieces(&mut self) {
        let stones = [Cells::default(), paths::mirrored(self.grid, &self.stones[0])];
        *self = Self::of_stones(self.grid, stones, Side::First, self.has_swap_rule);
    }

    #[inline(always)]
    fn play_on(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_won {
            let may_swap = u32::from(self.may_swap());
            match self.nth_empty(random.below(self.empty_cells() + may_swap)) {
                Some(bit) => self.place_stone(bit),
                None => self.swap_pieces(),
            }
            plies += 1;
        }
        plies
    }
}

impl Position for Hex {
    type Move = HexMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "red", letter: 'r' }, SideName { word: "blue", letter: 'b' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        self.to_move
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        let winner = Some(self.to_move.other());
        self.is_won.then_some(Ending { winner, termination: EDGES_JOINED })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.is_won
    }

    fn legal_moves(&self, moves: &mut Vec<HexMove>) {
        if self.is_won {
            return;
        }
        moves.extend(self.empty_set().iter().map(|bit| self.move_to(bit)));
        moves.extend(self.may_swap().then_some(HexMove::SWAP_PIECES));
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        if self.is_won { 0 } else { self.empty_cells() + u32::from(self.may_swap()) }
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> HexMove {
        assert!(index < self.legal_move_count(), "there are fewer legal moves");
        self.nth_empty(index).map_or(HexMove::SWAP_PIECES, |bit| self.move_to(bit))
    }

    #[inline]
    fn winning_move(&self) -> Option<HexMove> {
        self.winning_cells(self.to_move).first().map(|bit| self.move_to(bit))
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        wide!(self.play_on(random, plies_max))
    }

    #[inline]
    fn is_legal(&self, mv: HexMove) -> bool {
        if self.is_won {
            return false;
        }
        match self.bit(mv) {
            Some(bit) => !self.stones.iter().any(|stones| stones.has(bit)),
            None => mv == HexMove::SWAP_PIECES && self.may_swap(),
        }
    }

    #[inline]
    fn play_unchecked(&mut self, mv: HexMove) {
        match self.bit(mv) {
            Some(bit) => self.place_stone(bit),
            None => self.swap_pieces(),
        }
    }

    /// The stones of both sides, the lesser of the board and the board turned by 180 degrees, mixed with the side to
    /// move. The rules are not included.
    fn canonical_key(&self) -> u64 {
        self.key(&self.reduced().0) >> 11
    }

    /// A move for each empty cell, until the board is full, and one for swapping pieces.
    fn full_tree_leaves(&self, depth: u32) -> Option<u64> {
        let empty = u64::from(self.empty_cells());
        let filling = |empty: u64, depth| product_of_moves((1..=empty).rev(), depth);
        let leaves = if self.count == 0 && self.has_swap_rule && depth >= 2 {
            // Second stones, and a swap after each first stone.
            let swapped = empty.saturating_mul(filling(empty - 1, depth - 2));
            filling(empty, depth).saturating_add(swapped)
        } else if self.may_swap() && depth >= 1 {
            filling(empty, depth).saturating_add(filling(empty, depth - 1))
        } else {
            filling(u64::from(self.legal_move_count()), depth)
        };
        Some(leaves.min(LEAVES_MAX))
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<HexMove, Problem> {
        notation::parse_move(self.size(), text)
    }
}

impl Solvable for Hex {
    type Solver = PlainSolver;
}

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::write(self))
    }
}

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hex({self}{})", if self.has_swap_rule { "" } else { " without swap" })
    }
}

impl fmt::Display for HexMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cell() {
            None => f.write_str(notation::SWAP_PIECES),
            Some((row, column)) => write!(f, "{}{}", notation::letter(column), row + 1),
        }
    }
}

impl fmt::Debug for HexMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
