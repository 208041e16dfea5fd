//! One colour's marbles as a bitboard, and the tables that turn quadrants and find fives.
//!
//! A board is a `u64` of four 16-bit lanes, one for each quadrant (0 top left, 1 top right,
//! 2 bottom left, 3 bottom right); the low nine bits of a lane are the quadrant's cells, row by
//! row from its top left. A quadrant is thus an index below 512 into tables: turning it is one
//! load, and whether a colour has five is four loads and three ANDs. (Boards as four quadrants that
//! index tables are Irving's: 2014, "Pentago is a First Player Win", arXiv 1404.0743.)

use super::patterns::{LINES, completable, fulfilled, windows};

/// Cells of a quadrant.
pub(super) const LANE: u64 = 0x1ff;
/// Every cell of the board.
const BOARD: u64 = LANE | LANE << 16 | LANE << 32 | LANE << 48;
/// The centres of the four quadrants.
const CENTRES: u64 = 1 << 4 | 1 << 20 | 1 << 36 | 1 << 52;

/// The 32 lines of five cells.
static FIVES: [u64; LINES] = windows::<5, LINES>();
/// For each quadrant and its marbles: the lines that are complete there, one bit each.
pub(super) static FULL: [[u32; 512]; 4] = narrow(&fulfilled(&windows::<5, LINES>()));
/// For each quadrant and its marbles: the lines that lack exactly one cell there.
pub(super) static NEAR: [[u32; 512]; 4] = narrow(&completable(&fulfilled(&windows::<5, LINES>())));
/// For each direction (clockwise, counter-clockwise): a quadrant turned a quarter.
pub(super) const TURNED: [[u16; 512]; 2] =
    [turned([6, 3, 0, 7, 4, 1, 8, 5, 2]), turned([2, 5, 8, 1, 4, 7, 0, 3, 6])];
/// For each direction: which cells of a quadrant change when it is turned a quarter.
static CHANGED_BY_TURN: [[u16; 512]; 2] = [changed(&TURNED[0]), changed(&TURNED[1])];
/// The bit index of the marble with each rank in a quadrant; 0 if there are fewer.
static RANKED: [[u8; 9]; 512] = ranked();

/// One colour's marbles, or any set of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bitboard(u64);

impl Bitboard {
    /// No cell.
    pub(crate) const EMPTY: Self = Self(0);
    /// All 36 cells.
    pub(crate) const ALL: Self = Self(BOARD);

    /// The set of the cells with these bits; others are dropped.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits & BOARD)
    }

    /// The bits, in the layout above.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// The set of one cell, by its bit's index.
    #[inline]
    pub(crate) const fn cell(bit: u32) -> Self {
        Self(1 << (bit & 63))
    }

    /// Whether the cell with this bit's index is in the set.
    #[inline]
    pub(super) const fn has(self, bit: u32) -> bool {
        self.0 >> (bit & 63) & 1 != 0
    }

    /// Whether no cell is in the set.
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Cells of either.
    #[inline]
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Cells of both.
    #[inline]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Cells of this one that are not in the other.
    #[inline]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// A quadrant's cells, as an index below 512.
    #[inline]
    pub(crate) const fn quadrant(self, quadrant: usize) -> usize {
        ((self.0 >> (16 * quadrant)) & LANE) as usize
    }

    /// The number of cells in the set.
    #[inline]
    pub(crate) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The number of quadrant centres in the set.
    #[inline]
    pub(crate) const fn centres(self) -> u32 {
        // One bit in each lane: the multiplication adds the lanes into the highest.
        ((((self.0 & CENTRES) >> 4).wrapping_mul(0x0001_0001_0001_0001)) >> 48) as u32
    }

    /// The bit index of the lowest cell. The set must not be empty.
    #[inline]
    pub(crate) const fn lowest(self) -> u32 {
        self.0.trailing_zeros()
    }

    /// The set without its lowest cell.
    #[inline]
    pub(crate) const fn without_lowest(self) -> Self {
        Self(self.0 & self.0.wrapping_sub(1))
    }

    /// The bit indices of the cells, the lowest first.
    #[inline]
    pub(crate) fn cells(mut self) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let lowest = (!self.is_empty()).then(|| self.lowest());
            self = self.without_lowest();
            lowest
        })
    }

    /// The bit index of the cell with this rank, the lowest having rank 0. The set must have more
    /// than `rank` cells.
    ///
    /// Two halvings and a table: no branch, since the half is unpredictable.
    #[inline]
    pub(crate) fn nth(self, rank: u32) -> u32 {
        let (mut bits, mut rank, mut base) = (self.0, rank, 0);
        for half in [32, 16] {
            let below = (bits & ((1 << half) - 1)).count_ones();
            let is_above = rank >= below;
            bits = if is_above { bits >> half } else { bits };
            rank -= if is_above { below } else { 0 };
            base += if is_above { half } else { 0 };
        }
        let ranked = &RANKED[(bits & LANE) as usize];
        base + u32::from(ranked[(rank as usize).min(8)])
    }

    /// The board after a quarter turn of one quadrant: direction 0 clockwise, 1 counter-clockwise.
    #[inline]
    pub(crate) fn turned(self, quadrant: usize, direction: usize) -> Self {
        let quadrant = quadrant & 3;
        let changed = u64::from(CHANGED_BY_TURN[direction & 1][self.quadrant(quadrant)]);
        Self(self.0 ^ changed << (16 * quadrant))
    }

    /// Whether five or more of the cells are in a row.
    #[inline]
    pub(crate) fn has_five(self) -> bool {
        let [a, b, c, d] = self.full();
        a & b & c & d != 0
    }

    /// The cells outside the set that would complete five in a row.
    #[inline]
    pub(crate) fn completing(self) -> Self {
        self.missing(self.lines().lacking_one)
    }

    /// The cells of these lines that are not in the set.
    #[inline]
    pub(super) fn missing(self, mut lines: u32) -> Self {
        let mut cells = 0;
        while lines != 0 {
            cells |= FIVES[(lines.trailing_zeros() & 31) as usize];
            lines &= lines - 1;
        }
        Self(cells & !self.0)
    }

    /// The lines that are complete in the set, and those that lack one cell.
    #[inline]
    pub(super) fn lines(self) -> Lines {
        self.line_parts().together()
    }

    /// The same for each quadrant's part of the lines.
    #[inline]
    pub(super) fn line_parts(self) -> LineParts {
        LineParts([self.lines_in(0), self.lines_in(1), self.lines_in(2), self.lines_in(3)])
    }

    #[inline]
    fn lines_in(self, quadrant: usize) -> Lines {
        Lines::in_quadrant(quadrant, self.quadrant(quadrant))
    }

    /// A quadrant's cells after a quarter turn of it.
    #[inline]
    pub(super) fn turned_quadrant(self, quadrant: usize, direction: usize) -> usize {
        let cells = self.quadrant(quadrant);
        cells ^ usize::from(CHANGED_BY_TURN[direction & 1][cells])
    }

    /// Whether a quadrant looks the same after a quarter turn.
    #[inline]
    pub(crate) fn is_same_after_quarter(self, quadrant: usize) -> bool {
        CHANGED_BY_TURN[0][self.quadrant(quadrant)] == 0
    }

    /// Whether a quadrant looks the same after half a turn.
    #[inline]
    pub(crate) fn is_same_after_half(self, quadrant: usize) -> bool {
        // Both quarter turns then change the same.
        let cells = self.quadrant(quadrant);
        CHANGED_BY_TURN[0][cells] == CHANGED_BY_TURN[1][cells]
    }

    /// For each quadrant, the lines that lack nothing in it.
    #[inline]
    pub(super) fn full(self) -> [u32; 4] {
        [
            FULL[0][self.quadrant(0)],
            FULL[1][self.quadrant(1)],
            FULL[2][self.quadrant(2)],
            FULL[3][self.quadrant(3)],
        ]
    }
}

/// Lines by the number of cells they lack in some part of the board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Those that lack nothing.
    pub(super) complete: u32,
    /// Those that lack exactly one cell.
    pub(super) lacking_one: u32,
}

/// Lines by the number of cells they lack in each quadrant.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineParts([Lines; 4]);

impl Lines {
    /// By the cells they lack in a quadrant with these cells.
    #[inline]
    pub(super) fn in_quadrant(quadrant: usize, cells: usize) -> Self {
        Self { complete: FULL[quadrant & 3][cells], lacking_one: NEAR[quadrant & 3][cells] }
    }

    /// By the cells they lack in two parts together.
    #[inline]
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            complete: self.complete & other.complete,
            lacking_one: self.lacking_one & other.complete | self.complete & other.lacking_one,
        }
    }
}

impl LineParts {
    /// By the cells they lack on the whole board.
    #[inline]
    pub(super) const fn together(&self) -> Lines {
        let [a, b, c, d] = self.0;
        a.and(b).and(c.and(d))
    }

    /// By the cells they lack in the three other quadrants.
    #[inline]
    pub(super) const fn without_quadrant(&self, quadrant: usize) -> Lines {
        let [a, b, c, d] = self.0;
        match quadrant {
            0 => b.and(c.and(d)),
            1 => a.and(c.and(d)),
            2 => a.and(b).and(d),
            _ => a.and(b).and(c),
        }
    }
}

/// Adds four two-bit numbers for each of the 32 lines of five, one from each quadrant: the low bits
/// in the low half of a word, the high ones in the high half. The sums, at most 5, are returned as
/// bits for one, two and four.
#[inline]
pub(crate) fn add_parts(parts: [u64; 4]) -> [u32; 3] {
    let split = |part: u64| (part as u32, (part >> 32) as u32);
    let add = |(a1, a2): (u32, u32), (b1, b2): (u32, u32)| {
        let carry = a1 & b1;
        (a1 ^ b1, a2 ^ b2 ^ carry, (a2 & b2) | (carry & (a2 ^ b2)))
    };
    let (top1, top2, top4) = add(split(parts[0]), split(parts[1]));
    let (bottom1, bottom2, bottom4) = add(split(parts[2]), split(parts[3]));
    let (ones, twos, fours) = add((top1, top2), (bottom1, bottom2));
    [ones, twos, fours | top4 | bottom4]
}

/// The table of a permutation of a quadrant's cells: `source[to]` is the cell that moves to `to`.
pub(super) const fn turned(source: [u32; 9]) -> [u16; 512] {
    let mut table = [0; 512];
    let mut cells = 0;
    while cells < 512 {
        let mut to = 0;
        while to < 9 {
            table[cells] |= ((cells as u16 >> source[to]) & 1) << to;
            to += 1;
        }
        cells += 1;
    }
    table
}

const fn changed(turned: &[u16; 512]) -> [u16; 512] {
    let mut table = [0; 512];
    let mut cells = 0;
    while cells < 512 {
        table[cells] = cells as u16 ^ turned[cells];
        cells += 1;
    }
    table
}

const fn ranked() -> [[u8; 9]; 512] {
    let mut table = [[0; 9]; 512];
    let mut cells = 0;
    while cells < 512 {
        let (mut rank, mut cell) = (0, 0);
        while cell < 9 {
            if cells >> cell & 1 == 1 {
                table[cells][rank] = cell;
                rank += 1;
            }
            cell += 1;
        }
        cells += 1;
    }
    table
}

const fn narrow(table: &[[u64; 512]; 4]) -> [[u32; 512]; 4] {
    let mut narrow = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            narrow[quadrant][cells] = table[quadrant][cells] as u32;
            cells += 1;
        }
        quadrant += 1;
    }
    narrow
}
