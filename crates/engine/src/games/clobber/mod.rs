//! Clobber (Albert, Grossman, Nowakowski & Wolfe 2005, "An introduction to Clobber"): a stone moves onto a stone of
//! the other side beside it, which is removed; the side that cannot move loses.
//!
//! At the start every cell has a stone, black on the cells that are dark on a chessboard, as a1 is, and white on
//! the others. Black moves first. A move takes a stone to one of the cells beside it, in its row or column, on which a
//! stone of the other side lies, and removes that stone. Whatever stones lie there, one side can move if the
//! other can, so the last move wins. The 6×5 board is usual for people, 8×8 and 10×10 for programs.
//!
//! # Representation
//!
//! A word of 128 bits for each side's stones (`games/rectangle.rs`). Pairs of opposing stones side by side in one
//! direction are found by a shift of all stones at once; each is a move of either side.

pub mod evaluation;
mod game;
mod knowledge;
mod notation;

use std::fmt;

use crate::core::bits::nth_of_128;
use crate::core::position::{Ending, Position, Side, SideName, mix_key};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::Termination;
use crate::core::wide::wide;
use crate::games::grid::{Cell, Grid};
use crate::games::rectangle::{ROW_BITS, all_cells, bit_of, cell_of};

pub use crate::games::rectangle::Orientation;

/// A Clobber position.
///
/// The notation is a character for each cell, `b` (black, who moves first), `w` or `.`, row by row from the top
/// left, and after a space the side to move, `b` or `w`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clobber {
    /// Stones of the side to move.
    own: u128,
    /// Stones of the other side.
    other: u128,
    to_move: Side,
    columns: u8,
    rows: u8,
}

/// A stone's move onto the stone beside it. The notation is the two cells: `a1-a2`.
///
/// The order is by direction, then by cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClobberMove {
    way: Way,
    /// The bits of the two cells.
    from: u8,
    to: u8,
}

/// The direction of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Way {
    Left,
    Down,
    Right,
    Up,
}

impl Way {
    const ALL: [Self; 4] = [Self::Left, Self::Down, Self::Right, Self::Up];

    /// The bits from a cell to the next one.
    const fn step(self) -> i32 {
        match self {
            Self::Left => -1,
            Self::Down => -(ROW_BITS as i32),
            Self::Right => 1,
            Self::Up => ROW_BITS as i32,
        }
    }
}

impl ClobberMove {
    const fn new(way: Way, from: u32) -> Self {
        Self { way, from: from as u8, to: from.wrapping_add_signed(way.step()) as u8 }
    }

    /// The column and row of the stone before the move, both from 0 on, from the left and from the bottom.
    #[must_use]
    pub const fn from(self) -> (u32, u32) {
        let cell = cell_of(self.from as u32);
        (cell.column, cell.row)
    }

    /// The column and row of the stone after the move.
    #[must_use]
    pub const fn to(self) -> (u32, u32) {
        let cell = cell_of(self.to as u32);
        (cell.column, cell.row)
    }
}

impl Clobber {
    /// The start position of a board with this many columns and rows.
    ///
    /// # Panics
    /// If there are more than 10 columns or rows, or fewer than two cells.
    #[must_use]
    pub const fn new(columns: u32, rows: u32) -> Self {
        assert!(1 <= columns && columns <= 10 && 1 <= rows && rows <= 10, "no such board");
        assert!(columns * rows > 1, "no room for two stones");
        let mut dark = 0;
        let mut bit = 0;
        while bit < u128::BITS {
            let cell = cell_of(bit);
            if (cell.column + cell.row).is_multiple_of(2) {
                dark |= 1 << bit;
            }
            bit += 1;
        }
        let all = all_cells(Grid { columns, rows });
        Self {
            own: all & dark,
            other: all & !dark,
            to_move: Side::First,
            columns: columns as u8,
            rows: rows as u8,
        }
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

    /// The numbers of black and white stones.
    #[must_use]
    pub fn stones_of_sides(&self) -> [u32; 2] {
        self.black_and_white().map(u128::count_ones)
    }

    const fn grid(&self) -> Grid {
        Grid { columns: self.columns as u32, rows: self.rows as u32 }
    }

    fn black_and_white(&self) -> [u128; 2] {
        match self.to_move {
            Side::First => [self.own, self.other],
            Side::Second => [self.other, self.own],
        }
    }

    /// For each way, the stones of the side to move that may move so.
    #[inline(always)]
    const fn movers(&self) -> [u128; 4] {
        let Self { own, other, .. } = *self;
        [own & other << 1, own & other << ROW_BITS, own & other >> 1, own & other >> ROW_BITS]
    }

    /// The move with this index among those of the movers.
    #[inline(always)]
    fn nth_of(movers: [u128; 4], mut index: u32) -> ClobberMove {
        for (way, from) in Way::ALL.into_iter().zip(movers) {
            let moves = from.count_ones();
            if index < moves {
                return ClobberMove::new(way, nth_of_128(from, index));
            }
            index -= moves;
        }
        panic!("there are fewer legal moves")
    }

    /// Stones of the side to move and of the other, least among the images under the board's symmetries, and the
    /// symmetry that maps to them.
    fn reduced(&self) -> ([u128; 2], Orientation) {
        let image = |orientation: Orientation| {
            ([self.own, self.other].map(|stones| orientation.of_cells(stones)), orientation)
        };
        let images = Orientation::all(self.grid()).map(image);
        images.min_by_key(|&(stones, _)| stones).unwrap_or_default()
    }

    /// The stones with the side to move, as words.
    #[inline]
    const fn words(&self, [own, other]: [u128; 2]) -> [u64; 5] {
        let to_move = self.to_move.index() as u64;
        [own as u64, (own >> 64) as u64, other as u64, (other >> 64) as u64, to_move]
    }

    /// The character of a cell in the notation.
    fn letter(&self, cell: Cell) -> char {
        match self.black_and_white().map(|stones| stones >> bit_of(cell) & 1) {
            [0, 0] => '.',
            [0, _] => 'w',
            _ => 'b',
        }
    }
}

/// The number of moves of these stones.
#[inline(always)]
fn count([left, down, right, up]: [u128; 4]) -> u32 {
    left.count_ones() + down.count_ones() + right.count_ones() + up.count_ones()
}

impl Position for Clobber {
    type Move = ClobberMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "black", letter: 'b' }, SideName { word: "white", letter: 'w' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        self.to_move
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        let winner = Some(self.to_move.other());
        self.is_over().then_some(Ending { winner, termination: Termination::CANNOT_MOVE })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.movers() == [0; 4]
    }

    fn legal_moves(&self, moves: &mut Vec<ClobberMove>) {
        for (way, mut from) in Way::ALL.into_iter().zip(self.movers()) {
            while from != 0 {
                moves.push(ClobberMove::new(way, from.trailing_zeros()));
                from &= from - 1;
            }
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        count(self.movers())
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> ClobberMove {
        Self::nth_of(self.movers(), index)
    }

    #[inline]
    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, ClobberMove) {
        let movers = self.movers();
        let legal_moves = count(movers);
        (legal_moves, Self::nth_of(movers, pick(legal_moves)))
    }

    /// A move after which no stones of both sides lie side by side: it takes away seven pairs of them at most.
    fn winning_move(&self) -> Option<ClobberMove> {
        let movers = self.movers();
        if count(movers) > PAIRS_PER_MOVE {
            return None;
        }
        for (way, mut from) in Way::ALL.into_iter().zip(movers) {
            while from != 0 {
                let mv = ClobberMove::new(way, from.trailing_zeros());
                let mut child = *self;
                child.play_unchecked(mv);
                if child.is_over() {
                    return Some(mv);
                }
                from &= from - 1;
            }
        }
        None
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        wide!({
            while plies < plies_max {
                let movers = self.movers();
                let legal_moves = count(movers);
                // The game goes on as long as there is a move.
                if legal_moves == 0 {
                    break;
                }
                self.play_unchecked(Self::nth_of(movers, random.below(legal_moves)));
                plies += 1;
            }
        });
        plies
    }

    #[inline]
    fn is_legal(&self, mv: ClobberMove) -> bool {
        self.movers()[mv.way as usize] >> (mv.from & 127) & 1 == 1
    }

    #[inline(always)]
    fn play_unchecked(&mut self, mv: ClobberMove) {
        let to = 1 << (mv.to & 127);
        let own = self.own & !(1 << (mv.from & 127)) | to;
        self.own = self.other & !to;
        self.other = own;
        self.to_move = self.to_move.other();
    }

    /// The stones, least among the images under the board's symmetries, mixed with the side to move. The size of
    /// the board is not included.
    fn canonical_key(&self) -> u64 {
        mix_key(self.words(self.reduced().0))
    }

    fn board(&self) -> String {
        self.grid().board(|cell| self.letter(cell)) + &self.status()
    }

    fn parse_move(&self, text: &str) -> Result<ClobberMove, Problem> {
        notation::parse_move(self, text)
    }
}

/// Pairs of opposing stones side by side that a move takes away at most: four of the stone that moves and
/// four of the one that is removed, one of which is both.
const PAIRS_PER_MOVE: u32 = 7;

impl Solvable for Clobber {
    type Solver = PlainSolver;
}

impl fmt::Display for Clobber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.grid().write(self, |cell| self.letter(cell)))
    }
}

impl fmt::Debug for Clobber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clobber({}x{} {self})", self.columns, self.rows)
    }
}

impl fmt::Display for ClobberMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", cell_of(self.from.into()), cell_of(self.to.into()))
    }
}

impl fmt::Debug for ClobberMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
