//! Amazons (Zamkauskas 1988): queens move and shoot arrows that block cells; the side that cannot move loses.
//!
//! Each side has four amazons. A turn is a move of one of them, as a queen's in chess but without captures, and
//! an arrow that it then shoots, which flies as it moves, to a cell that stays blocked for the rest of the game.
//! Neither may cross a cell with an amazon or an arrow; the arrow may cross or hit the cell that the
//! amazon left. White moves first. The board has 10×10 cells, with the amazons of each side on the third
//! and fourth row from its edge; smaller boards have them in proportion, as in OpenSpiel.
//!
//! # Representation
//!
//! Words of 128 bits for each side's amazons and for the empty cells (`games/rectangle.rs`). Moves are counted
//! without listing them, from the numbers of cells that queens on all empty cells reach, which are found for the
//! whole board at once as binary digits (`rays.rs`). A move is drawn among those of one amazon: the cells that it
//! reaches are moved together in each direction, step by step, as long as any of them stays on an empty
//! cell. The moves' order follows this.

pub mod evaluation;
mod game;
mod knowledge;
mod notation;
mod rays;

use std::fmt;

use crate::core::bits::nth_of_128;
use crate::core::position::{Ending, Position, Side, SideName, mix_key};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::Termination;
use crate::core::wide::wide;
use crate::games::grid::{Cell, Grid};
use crate::games::rectangle::{STEPS, all_cells, bit_of, cell_of};

pub use crate::games::rectangle::Orientation;

/// An Amazons position.
///
/// The notation is a character for each cell, `w` (an amazon of White, who moves first), `b`, `x` (an arrow) or
/// `.`, row by row from the top left, and after a space the side to move, `w` or `b`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amazons {
    /// Amazons of the side to move.
    own: u128,
    /// Amazons of the other side.
    other: u128,
    empty: u128,
    to_move: Side,
    size: u8,
}

/// An amazon's move and its arrow. The notation is the three cells: `d1-d7/g7`.
///
/// The order is by the amazon's cell, then by the arrow's direction and distance, then by the amazon's new
/// cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AmazonsMove {
    /// The bit of the amazon's cell.
    from: u8,
    /// The arrow's direction, one of [`STEPS`], times 16, and its distance.
    arrow: u8,
    /// The bit of the amazon's new cell.
    to: u8,
}

impl AmazonsMove {
    const fn direction(self) -> u8 {
        self.arrow / 16
    }

    const fn distance(self) -> u8 {
        self.arrow % 16
    }

    /// The bit of the arrow's cell.
    const fn arrow(self) -> u32 {
        let step = STEPS[self.direction() as usize % 8] * self.distance() as i32;
        (self.to as u32).wrapping_add_signed(step)
    }

    /// The columns and rows of the amazon before and after its move, and of the arrow, from 0 on, from the left
    /// and from the bottom.
    #[must_use]
    pub fn cells(self) -> [(u32, u32); 3] {
        [self.from.into(), self.to.into(), self.arrow()].map(|bit| {
            let cell = cell_of(bit);
            (cell.column, cell.row)
        })
    }
}

impl Amazons {
    /// The least size of a board.
    pub const SIZE_MIN: u32 = 4;
    /// The greatest size of a board.
    pub const SIZE_MAX: u32 = 10;

    /// The start position of a board with this many columns and rows.
    ///
    /// # Panics
    /// If `size` is not from [`Amazons::SIZE_MIN`] to [`Amazons::SIZE_MAX`].
    #[must_use]
    pub const fn new(size: u32) -> Self {
        assert!(Self::SIZE_MIN <= size && size <= Self::SIZE_MAX, "no such board");
        let (last, third) = (size - 1, (size - 1) / 3);
        let grid = Grid { columns: size, rows: size };
        let own = 1 << bit_of(Cell::new(third, 0))
            | 1 << bit_of(Cell::new(last - third, 0))
            | 1 << bit_of(Cell::new(0, third))
            | 1 << bit_of(Cell::new(last, third));
        let other = 1 << bit_of(Cell::new(third, last))
            | 1 << bit_of(Cell::new(last - third, last))
            | 1 << bit_of(Cell::new(0, last - third))
            | 1 << bit_of(Cell::new(last, last - third));
        let empty = all_cells(grid) & !(own | other);
        Self { own, other, empty, to_move: Side::First, size: size as u8 }
    }

    /// Columns and rows of the board.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size as u32
    }

    const fn grid(&self) -> Grid {
        Grid { columns: self.size as u32, rows: self.size as u32 }
    }

    fn white_and_black(&self) -> [u128; 2] {
        match self.to_move {
            Side::First => [self.own, self.other],
            Side::Second => [self.other, self.own],
        }
    }

    /// The character of a cell in the notation.
    fn letter(&self, cell: Cell) -> char {
        let bit = bit_of(cell);
        match self.white_and_black().map(|amazons| amazons >> bit & 1) {
            [0, 0] if self.empty >> bit & 1 == 1 => '.',
            [0, 0] => 'x',
            [0, _] => 'b',
            _ => 'w',
        }
    }

    /// The arrows of the amazon on a cell, by their direction and distance: calls `visit` with these and the
    /// cells that its arrows reach so, each from another new cell of the amazon, until it returns a result.
    #[inline(always)]
    fn arrows<R>(
        &self,
        from: u32,
        mut visit: impl FnMut(usize, u32, u128) -> Option<R>,
    ) -> Option<R> {
        let reached = rays::reach(from, self.empty);
        let empty = self.empty | 1 << from;
        rays::walk::<0, R>(reached, empty, &mut visit)
            .or_else(|| rays::walk::<1, R>(reached, empty, &mut visit))
            .or_else(|| rays::walk::<2, R>(reached, empty, &mut visit))
            .or_else(|| rays::walk::<3, R>(reached, empty, &mut visit))
            .or_else(|| rays::walk::<4, R>(reached, empty, &mut visit))
            .or_else(|| rays::walk::<5, R>(reached, empty, &mut visit))
            .or_else(|| rays::walk::<6, R>(reached, empty, &mut visit))
            .or_else(|| rays::walk::<7, R>(reached, empty, &mut visit))
    }

    /// The amazons of the side to move, and the moves of each.
    ///
    /// From each cell that an amazon reaches, it can shoot to all cells that a queen there reaches. It has left its own
    /// cell, so in the direction from which it came it can also shoot there, and to all cells that it might
    /// have reached in the direction opposite to its move.
    #[inline(always)]
    const fn moves_by_amazon(&self) -> [(u32, u32); 4] {
        let counts = rays::counts_of_reached(self.empty);
        let mut moves = [(0, 0); 4];
        let (mut amazons, mut index) = (self.own, 0);
        while amazons != 0 && index < moves.len() {
            let from = amazons.trailing_zeros();
            let by_direction = rays::reach_by_direction(from, self.empty);
            let (mut reached, mut sum, mut direction) = (0, 0, 0);
            while direction < 4 {
                let (cells, opposite) = (by_direction[direction], by_direction[direction + 4]);
                reached |= cells | opposite;
                let (count, opposite) = (cells.count_ones(), opposite.count_ones());
                sum += count + opposite + 2 * count * opposite;
                direction += 1;
            }
            let mut digit = 0;
            while digit < counts.len() {
                sum += (counts[digit] & reached).count_ones() << digit;
                digit += 1;
            }
            moves[index] = (from, sum);
            amazons &= amazons - 1;
            index += 1;
        }
        moves
    }

    /// The move of the amazon on a cell with this arrow, by its cell.
    const fn move_of(from: u32, direction: usize, distance: u32, arrow: u32) -> AmazonsMove {
        let to = arrow.wrapping_add_signed(-STEPS[direction] * distance as i32);
        AmazonsMove { from: from as u8, arrow: direction as u8 * 16 + distance as u8, to: to as u8 }
    }

    /// The move with this index among those of the amazons.
    #[inline(always)]
    fn nth_of(&self, amazons: [(u32, u32); 4], mut index: u32) -> AmazonsMove {
        for (from, moves) in amazons {
            if index >= moves {
                index -= moves;
                continue;
            }
            let nth = self.arrows(from, |direction, distance, arrows| {
                let moves = arrows.count_ones();
                if index >= moves {
                    index -= moves;
                    return None;
                }
                Some(Self::move_of(from, direction, distance, nth_of_128(arrows, index)))
            });
            if let Some(mv) = nth {
                return mv;
            }
        }
        panic!("there are fewer legal moves")
    }

    /// Calls `visit` with each legal move in canonical order, until it returns a result.
    fn each_move<R>(&self, mut visit: impl FnMut(AmazonsMove) -> Option<R>) -> Option<R> {
        let mut amazons = self.own;
        while amazons != 0 {
            let from = amazons.trailing_zeros();
            let result = self.arrows(from, |direction, distance, mut arrows| {
                while arrows != 0 {
                    let arrow = arrows.trailing_zeros();
                    if let Some(result) = visit(Self::move_of(from, direction, distance, arrow)) {
                        return Some(result);
                    }
                    arrows &= arrows - 1;
                }
                None
            });
            if result.is_some() {
                return result;
            }
            amazons &= amazons - 1;
        }
        None
    }

    /// Amazons of the side to move and of the other, and the empty cells, mapped by a symmetry, with the side
    /// to move, as words.
    #[inline]
    fn words(&self, orientation: Orientation) -> [u64; 7] {
        let [own, other, empty] =
            [self.own, self.other, self.empty].map(|cells| orientation.of_cells(cells));
        let halves = |cells: u128| (cells as u64, (cells >> 64) as u64);
        let ((a, b), (c, d), (e, f)) = (halves(own), halves(other), halves(empty));
        [a, b, c, d, e, f, self.to_move.index() as u64]
    }

    /// The least of the two mirror images, and the symmetry that maps to it.
    #[inline]
    fn reduced(&self) -> ([u64; 7], Orientation) {
        let mirror = Orientation::with_columns_reversed(self.grid());
        let [words, image] = [Orientation::default(), mirror].map(|to| self.words(to));
        if image < words { (image, mirror) } else { (words, Orientation::default()) }
    }
}

impl Position for Amazons {
    type Move = AmazonsMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "white", letter: 'w' }, SideName { word: "black", letter: 'b' }];

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

    /// An amazon that can move can shoot back to where it came from.
    #[inline]
    fn is_over(&self) -> bool {
        rays::beside(self.own) & self.empty == 0
    }

    fn legal_moves(&self, moves: &mut Vec<AmazonsMove>) {
        let _: Option<()> = self.each_move(|mv| {
            moves.push(mv);
            None
        });
    }

    fn legal_move_count(&self) -> u32 {
        wide!(self.moves_by_amazon().into_iter().map(|(_, moves)| moves).sum())
    }

    fn nth_legal_move(&self, index: u32) -> AmazonsMove {
        self.nth_of(self.moves_by_amazon(), index)
    }

    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, AmazonsMove) {
        let amazons = self.moves_by_amazon();
        let legal_moves = amazons.into_iter().map(|(_, moves)| moves).sum();
        (legal_moves, self.nth_of(amazons, pick(legal_moves)))
    }

    /// A move fills two cells and empties one: it leaves the other side without a move only if at most two cells
    /// beside its amazons are empty, and these are the filled ones.
    fn winning_move(&self) -> Option<AmazonsMove> {
        let beside = rays::beside(self.other);
        if (beside & self.empty).count_ones() > 2 {
            return None;
        }
        self.each_move(|mv| {
            let filled = 1_u128 << mv.to | 1 << mv.arrow();
            let empty = (self.empty | 1 << mv.from) & !filled;
            (beside & empty == 0).then_some(mv)
        })
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        wide!({
            while plies < plies_max {
                let amazons = self.moves_by_amazon();
                let legal_moves: u32 = amazons.into_iter().map(|(_, moves)| moves).sum();
                // The game goes on as long as there is a move.
                if legal_moves == 0 {
                    break;
                }
                self.play_unchecked(self.nth_of(amazons, random.below(legal_moves)));
                plies += 1;
            }
        });
        plies
    }

    fn is_legal(&self, mv: AmazonsMove) -> bool {
        let (from, arrow) = (u32::from(mv.from), mv.arrow());
        let is_own = self.own >> (from & 127) & 1 == 1;
        if !is_own || rays::reach(from, self.empty) >> (mv.to & 127) & 1 == 0 {
            return false;
        }
        let empty = (self.empty | 1 << from) & !(1 << mv.to);
        arrow < u128::BITS && rays::reach(mv.to.into(), empty) >> arrow & 1 == 1
    }

    #[inline(always)]
    fn play_unchecked(&mut self, mv: AmazonsMove) {
        let [from, to, arrow] =
            [mv.from.into(), mv.to.into(), mv.arrow()].map(|bit| 1 << (bit & 127));
        let own = self.own & !from | to;
        self.own = self.other;
        self.other = own;
        self.empty = (self.empty | from) & !(to | arrow);
        self.to_move = self.to_move.other();
    }

    /// The cells, the lesser of the two mirror images, mixed with the side to move.
    fn canonical_key(&self) -> u64 {
        mix_key(self.reduced().0)
    }

    fn board(&self) -> String {
        self.grid().board(|cell| self.letter(cell)) + &self.status()
    }

    fn parse_move(&self, text: &str) -> Result<AmazonsMove, Problem> {
        notation::parse_move(self, text)
    }
}

impl Solvable for Amazons {
    type Solver = PlainSolver;
}

impl fmt::Display for Amazons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.grid().write(self, |cell| self.letter(cell)))
    }
}

impl fmt::Debug for Amazons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amazons({} {self})", self.size)
    }
}

impl fmt::Display for AmazonsMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to, arrow] = [self.from.into(), self.to.into(), self.arrow()].map(cell_of);
        write!(f, "{from}-{to}/{arrow}")
    }
}

impl fmt::Debug for AmazonsMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
