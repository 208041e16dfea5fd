//! Sets of cells of boards with up to 19 rows and columns, as bits of a few words.
//!
//! A row has a bit for each cell from the left and then one that stays empty, so that steps from cell to cell
//! never run over into another row: the cell in row r from the top and column c has the bit r × (columns + 1) + c.

use std::ops::{BitAnd, BitOr, BitOrAssign};

use super::bits::nth;

/// The most rows, and columns, of a board.
pub(crate) const SIDE_MAX: u32 = 19;

const WORDS: usize = 6;

/// A set of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cells([u64; WORDS]);

/// The size of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Grid {
    columns: u8,
    rows: u8,
}

impl Grid {
    /// A board of this size.
    ///
    /// # Panics
    /// If there are no columns or rows, or more than [`SIDE_MAX`].
    pub(crate) const fn new(columns: u32, rows: u32) -> Self {
        assert!(columns > 0 && columns <= SIDE_MAX && rows > 0 && rows <= SIDE_MAX);
        Self { columns: columns as u8, rows: rows as u8 }
    }

    #[inline(always)]
    pub(crate) const fn columns(self) -> u32 {
        self.columns as u32
    }

    #[inline(always)]
    pub(crate) const fn rows(self) -> u32 {
        self.rows as u32
    }

    /// The number of cells.
    #[inline(always)]
    pub(crate) const fn len(self) -> u32 {
        self.columns() * self.rows()
    }

    /// Bits from a cell to the one below.
    #[inline(always)]
    pub(crate) const fn stride(self) -> u32 {
        self.columns() + 1
    }

    /// The bit of a cell.
    #[inline(always)]
    pub(crate) const fn bit(self, row: u32, column: u32) -> u32 {
        row * self.stride() + column
    }

    /// The row and column of a bit.
    #[inline]
    pub(crate) const fn place(self, bit: u32) -> (u32, u32) {
        (bit / self.stride(), bit % self.stride())
    }

    /// All cells.
    #[inline(always)]
    pub(crate) fn cells(self) -> &'static Cells {
        static ALL: [[Cells; SIDE_MAX as usize + 1]; SIDE_MAX as usize + 1] = all();
        // Sizes are far below this: the remainder saves a check.
        &ALL[usize::from(self.columns) % ALL.len()][usize::from(self.rows) % ALL.len()]
    }

    /// The rows of a set, from the top; a cell's bit is its column. Rows below the board are empty.
    #[inline]
    pub(crate) fn rows_of(self, cells: &Cells) -> [u32; SIDE_MAX as usize] {
        let mut rows = [0; SIDE_MAX as usize];
        for (row, bits) in (0..self.rows()).zip(&mut rows) {
            let (word, shift) = split(row * self.stride());
            let low = cells.0[word] >> shift;
            let high = cells.0.get(word + 1).map_or(0, |&next| next << 1 << (63 - shift));
            *bits = (low | high) as u32 & ((1 << self.columns) - 1);
        }
        rows
    }

    /// The set turned by 180 degrees.
    #[inline]
    pub(crate) fn turned(self, cells: &Cells) -> Cells {
        let last = self.bit(self.rows() - 1, self.columns() - 1);
        let mut reversed = cells.0;
        reversed.reverse();
        let reversed = Cells(reversed.map(u64::reverse_bits));
        let (words, bits) = split(WORDS as u32 * 64 - 1 - last);
        let mut turned = Cells::default();
        for (word, to) in turned.0.iter_mut().enumerate() {
            let low = reversed.0.get(word + words).map_or(0, |&from| from >> bits);
            let high = reversed.0.get(word + words + 1).map_or(0, |&from| from << 1 << (63 - bits));
            *to = low | high;
        }
        turned
    }

    /// The words of a set that can have cells.
    #[inline]
    pub(crate) fn words_of(self, cells: &Cells) -> &[u64] {
        let words = (self.stride() * self.rows()).div_ceil(64) as usize;
        &cells.0[..words.min(WORDS)]
    }
}

/// The word of a bit, and its place in the word.
#[inline(always)]
const fn split(bit: u32) -> (usize, u32) {
    ((bit / 64) as usize, bit % 64)
}

const fn all() -> [[Cells; SIDE_MAX as usize + 1]; SIDE_MAX as usize + 1] {
    let mut all = [[Cells([0; WORDS]); SIDE_MAX as usize + 1]; SIDE_MAX as usize + 1];
    let mut columns = 1;
    while columns <= SIDE_MAX {
        let mut rows = 1;
        while rows <= SIDE_MAX {
            let grid = Grid::new(columns, rows);
            let mut cells = all[columns as usize][rows as usize - 1];
            let mut column = 0;
            while column < columns {
                let (word, shift) = split(grid.bit(rows - 1, column));
                cells.0[word] |= 1 << shift;
                column += 1;
            }
            all[columns as usize][rows as usize] = cells;
            rows += 1;
        }
        columns += 1;
    }
    all
}

impl Cells {
    /// Every bit, also those that are not cells.
    pub(crate) const ALL: Self = Self([u64::MAX; WORDS]);

    /// Whether the cell with this bit is in the set.
    #[inline(always)]
    pub(crate) fn has(&self, bit: u32) -> bool {
        let (word, shift) = split(bit);
        self.0.get(word).is_some_and(|bits| bits >> shift & 1 == 1)
    }

    /// Adds a cell, and returns whether it is new. A bit beyond the words is not added.
    #[inline(always)]
    pub(crate) fn insert(&mut self, bit: u32) -> bool {
        let (word, shift) = split(bit);
        let Some(bits) = self.0.get_mut(word) else { return false };
        let is_new = *bits >> shift & 1 == 0;
        *bits |= 1 << shift;
        is_new
    }

    /// Takes out the lowest cell.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        for (word, bits) in (0..).zip(&mut self.0) {
            if *bits != 0 {
                let bit = 64 * word + bits.trailing_zeros();
                *bits &= *bits - 1;
                return Some(bit);
            }
        }
        None
    }

    /// The bits of the cells, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        let mut cells = *self;
        std::iter::from_fn(move || cells.pop())
    }

    /// The lowest bit.
    #[inline]
    pub(crate) fn first(mut self) -> Option<u32> {
        self.pop()
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, bits| all | bits) == 0
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    /// The cells of this set that are not in another.
    #[inline(always)]
    pub(crate) fn without(mut self, other: &Self) -> Self {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= !other;
        }
        self
    }

    /// The cells moved towards higher bits, by less than 64.
    #[inline(always)]
    pub(crate) fn up(&self, bits: u32) -> Self {
        Self(std::array::from_fn(|word| {
            let before = if word == 0 { 0 } else { self.0[word - 1] };
            self.0[word] << bits | before >> 1 >> (63 - bits)
        }))
    }

    /// The cells moved towards lower bits, by less than 64.
    #[inline(always)]
    pub(crate) fn down(&self, bits: u32) -> Self {
        Self(std::array::from_fn(|word| {
            let after = if word + 1 == WORDS { 0 } else { self.0[word + 1] };
            self.0[word] >> bits | after << 1 << (63 - bits)
        }))
    }

    /// The bit with this rank among the cells of `all` that are in neither of two sets, the lowest having rank 0;
    /// `None` if there are fewer.
    #[inline(always)]
    pub(crate) fn nth_outside(all: &Self, sets: [&Self; 2], mut rank: u32) -> Option<u32> {
        let words = all.0.iter().zip(&sets[0].0).zip(&sets[1].0);
        for (word, ((all, first), second)) in (0..).zip(words) {
            let bits = all & !(first | second);
            let count = bits.count_ones();
            if rank < count {
                return Some(64 * word + nth(bits, rank));
            }
            rank -= count;
        }
        None
    }
}

impl BitAnd for Cells {
    type Output = Self;

    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits &= other;
        }
        self
    }
}

impl BitOr for Cells {
    type Output = Self;

    #[inline(always)]
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl BitOrAssign for Cells {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits |= other;
        }
    }
}

impl FromIterator<u32> for Cells {
    fn from_iter<I: IntoIterator<Item = u32>>(bits: I) -> Self {
        let mut cells = Self::default();
        for bit in bits {
            cells.insert(bit);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;

    #[test]
    fn sets_are_lists_of_places() {
        let mut random = PlayoutRandom::from_seed(4);
        for columns in 1..=SIDE_MAX {
            for rows in [1, 2, 5, 11, 18, 19] {
                let grid = Grid::new(columns, rows);
                let all: Vec<u32> = grid.cells().iter().collect();
                let places =
                    (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                assert!(all.iter().map(|&bit| grid.place(bit)).eq(places));
                assert_eq!((grid.len(), grid.cells().len()), (rows * columns, rows * columns));
                let chosen: Vec<u32> =
                    all.iter().copied().filter(|_| random.below(3) > 0).collect();
                let cells: Cells = chosen.iter().copied().collect();
                assert!(cells.iter().eq(chosen.iter().copied()));
                for (rank, &bit) in (0..).zip(&chosen) {
                    let none = Cells::default();
                    assert_eq!(Cells::nth_outside(&cells, [&none; 2], rank), Some(bit));
                }
                let others = grid.cells().without(&cells);
                let past = others.len();
                assert_eq!(Cells::nth_outside(grid.cells(), [&cells; 2], past), None);
                assert_eq!(others | cells, *grid.cells());
                assert!((others & cells).is_empty());

                let turned = |bit| {
                    let (row, column) = grid.place(bit);
                    grid.bit(rows - 1 - row, columns - 1 - column)
                };
                assert_eq!(grid.turned(&cells), chosen.iter().map(|&bit| turned(bit)).collect());
                let listed = grid.rows_of(&cells);
                for &bit in &all {
                    let (row, column) = grid.place(bit);
                    assert_eq!(listed[row as usize] >> column & 1 == 1, cells.has(bit));
                }
                let step = grid.stride();
                let below: Cells = chosen.iter().map(|bit| bit + step).collect();
                assert_eq!(cells.up(step), below);
                assert_eq!(
                    below.down(step),
                    chosen.iter().copied().filter(|bit| bit + step < 384).collect()
                );
            }
        }
    }
}
