//! Sets of points, as bits.

use super::STRIDE;

/// Words of the largest board: 19 rows of [`STRIDE`] bits.
pub(super) const WORDS: usize = 6;
/// Words of boards of up to nine rows.
pub(super) const SMALL: usize = 3;

/// A set of points of a board with `W` words: the point in row r (from the bottom) and column c is bit
/// [`STRIDE`]·r + c. Bits outside of the board are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Cells<const W: usize>(pub(super) [u64; W]);

impl<const W: usize> Cells<W> {
    pub(super) const EMPTY: Self = Self([0; W]);

    /// All points of a board.
    pub(super) const fn board(size: u32) -> Self {
        let mut cells = Self::EMPTY;
        let mut row = 0;
        while row < size {
            let mut column = 0;
            while column < size {
                let cell = STRIDE * row + column;
                cells.0[(cell / 64) as usize] |= 1 << (cell % 64);
                column += 1;
            }
            row += 1;
        }
        cells
    }

    #[inline(always)]
    pub(super) const fn one(cell: u32) -> Self {
        let mut cells = Self::EMPTY;
        cells.0[(cell / 64) as usize] = 1 << (cell % 64);
        cells
    }

    /// The same set in another number of words, which must have room for it.
    #[inline(always)]
    pub(super) fn resized<const V: usize>(self) -> Cells<V> {
        let mut cells = Cells::EMPTY;
        let words = V.min(W);
        cells.0[..words].copy_from_slice(&self.0[..words]);
        cells
    }

    #[inline(always)]
    pub(super) fn zip(self, other: Self, word: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|index| word(self.0[index], other.0[index])))
    }

    #[inline(always)]
    pub(super) fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(always)]
    pub(super) fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline(always)]
    pub(super) fn without(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    #[inline(always)]
    pub(super) fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    pub(super) fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline(always)]
    pub(super) const fn has(self, cell: u32) -> bool {
        self.0[(cell / 64) as usize] >> (cell % 64) & 1 == 1
    }

    /// The lowest point of a set that is not empty.
    #[inline(always)]
    pub(super) fn first(self) -> u32 {
        self.nth(0)
    }

    /// The point with this index, in ascending order.
    ///
    /// # Panics
    /// If there are fewer points.
    #[inline(always)]
    pub(super) fn nth(self, mut index: u32) -> u32 {
        for (place, &word) in (0..).zip(&self.0) {
            let count = word.count_ones();
            if index < count {
                let mut word = word;
                for _ in 0..index {
                    word &= word - 1;
                }
                return 64 * place + word.trailing_zeros();
            }
            index -= count;
        }
        panic!("there are fewer points")
    }

    /// The points in ascending order.
    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        (0..).zip(self.0).flat_map(|(place, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| 64 * place + word.trailing_zeros())?;
                word &= word - 1;
                Some(bit)
            })
        })
    }

    #[inline(always)]
    fn up(self, by: u32) -> Self {
        Self(std::array::from_fn(|index| {
            let carried = if index == 0 { 0 } else { self.0[index - 1] >> (64 - by) };
            self.0[index] << by | carried
        }))
    }

    #[inline(always)]
    fn down(self, by: u32) -> Self {
        Self(std::array::from_fn(|index| {
            let carried = if index + 1 == W { 0 } else { self.0[index + 1] << (64 - by) };
            self.0[index] >> by | carried
        }))
    }

    /// The points beside points of this set, within `among`: on the board, since what a shift carries over
    /// the right edge lies in the unused bits of a row.
    #[inline(always)]
    pub(super) fn beside(self, among: Self) -> Self {
        let sideways = self.up(1).or(self.down(1));
        sideways.or(self.up(STRIDE)).or(self.down(STRIDE)).and(among)
    }

    /// These points of `among`, and all that are connected to them there.
    #[inline(always)]
    pub(super) fn flooded(self, among: Self) -> Self {
        let mut flooded = self.and(among);
        loop {
            let grown = flooded.or(flooded.beside(among));
            if grown == flooded {
                return flooded;
            }
            flooded = grown;
        }
    }
}
