//! The rotations in which a colour has five in a row.

use super::super::bitboard::Bitboard;
use super::super::patterns::{LINES, windows};
use super::rotations::Rotations;
use super::subsets::{self, SETS_BETWEEN_LOOKS};
use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::memory;

/// For each quadrant and its marbles: the quarter turns of it that fill each line's part in it,
/// four bits for each line (bit `4 * line + turns`). A line without a part there is always filled.
pub(super) static FILLED_BY: [[u128; 512]; 4] = filled_by();
/// For each quadrant and its marbles: the lines that some quarter turns fill, one bit each.
static FILLABLE: [[u32; 512]; 4] = fillable(&FILLED_BY);
/// For each quadrant and its marbles: the quarter turns of it that leave exactly one marble missing in each
/// line's part, laid out as in [`FILLED_BY`].
static NEARLY_BY: [[u128; 512]; 4] = nearly_by(&FILLED_BY);
/// For each quadrant and its marbles: the lines that some quarter turns fill except for one marble.
static NEARLY_FILLABLE: [[u32; 512]; 4] = fillable(&NEARLY_BY);
/// For each quadrant, line and number of quarter turns: the cells of the quadrant that the turns
/// bring to the line.
static PARTS: [[[u16; 4]; LINES]; 4] = parts();
/// For each parity and set of turns of the first quadrant: the rotations with one of them.
static FIRST: [[Rotations; 16]; 2] = [rotations_with(0, 0), rotations_with(0, 1)];
/// The same for the other quadrants, whose turns the bit contains for either parity.
static OTHERS: [[Rotations; 16]; 3] =
    [rotations_with(1, 0), rotations_with(2, 0), rotations_with(3, 0)];

/// The fives of all boards below a root.
///
/// Boards are identified by the set of the root's empty cells that a side has placed on, as bits.
/// In tables the cells are numbered from 0; otherwise the bits are those of a [`Bitboard`].
#[derive(Debug, Default)]
pub(super) struct Fives {
    marbles: [Bitboard; 2],
    cells: u64,
    tables: Option<[Vec<[Rotations; 2]>; 2]>,
}

impl Fives {
    /// Fives below a root with these marbles of its side to move and of the other, computed at each
    /// call.
    pub(super) fn as_needed(marbles: [Bitboard; 2]) -> Self {
        let cells = Bitboard::ALL.without(marbles[0].or(marbles[1])).bits();
        Self { marbles, cells, tables: None }
    }

    /// The same in tables.
    ///
    /// # Errors
    /// If the budget stops it.
    ///
    /// # Panics
    /// If more than [`subsets::CELLS_MAX`] cells are empty.
    pub(super) fn in_tables(marbles: [Bitboard; 2], budget: &mut Budget<'_>) -> Result<Self, Stop> {
        let cells = Bitboard::ALL.without(marbles[0].or(marbles[1]));
        let empty = cells.count();
        assert!(empty <= subsets::CELLS_MAX, "the tables have a place for every set of cells");
        let mut table = |side: usize| {
            // The root's side to move places the first marble, and so half of them, rounded up.
            let most = (empty + 1 - side as u32) / 2;
            let fives_of = |set: u32| match set.count_ones() {
                count if count > most => [Rotations::NONE; 2],
                _ => fives(marbles[side].or(cells_of(cells, set))),
            };
            let mut table = Vec::new();
            memory::reserve_for_solver(&mut table, 1 << empty)?;
            for set in 0..1_u32 << empty {
                if set.is_multiple_of(SETS_BETWEEN_LOOKS) {
                    budget.look_between_nodes()?;
                }
                table.push(fives_of(set));
            }
            Ok::<_, Stop>(table)
        };
        let tables = [table(0)?, table(1)?];
        Ok(Self { marbles, cells: (1 << empty) - 1, tables: Some(tables) })
    }

    /// The set of all of the root's empty cells.
    pub(super) const fn cells(&self) -> u64 {
        self.cells
    }

    /// The rotations of even and of odd parity in which a side has five after placing on a set of
    /// cells. (0 is the root's side to move. It has at most half of the cells, rounded up, and the
    /// other half, rounded down.)
    #[inline]
    pub(super) fn rotations(&self, side: usize, set: u64) -> [Rotations; 2] {
        match &self.tables {
            Some(tables) => tables[side][set as usize],
            None => fives(self.marbles[side].or(Bitboard::from_bits(set))),
        }
    }

    /// For few empty cells: the fives of one side by set.
    pub(super) fn table(&self, side: usize) -> &[[Rotations; 2]] {
        self.tables.as_ref().map_or(&[], |tables| &tables[side])
    }
}

/// The marbles on the cells with these indices among `cells`.
fn cells_of(cells: Bitboard, set: u32) -> Bitboard {
    let mut marbles = Bitboard::EMPTY;
    let (mut left, mut set) = (cells, set);
    while set != 0 {
        if set & 1 == 1 {
            marbles = marbles.or(Bitboard::cell(left.lowest()));
        }
        left = left.without_lowest();
        set >>= 1;
    }
    marbles
}

/// The rotations of even and of odd parity in which the marbles have five in a row.
pub(super) fn fives(marbles: Bitboard) -> [Rotations; 2] {
    let quadrants: [usize; 4] = std::array::from_fn(|quadrant| marbles.quadrant(quadrant));
    let [a, b, c, d] = quadrants;
    let mut lines = FILLABLE[0][a] & FILLABLE[1][b] & FILLABLE[2][c] & FILLABLE[3][d];
    if lines == 0 {
        return [Rotations::NONE; 2];
    }
    let filled: [u128; 4] =
        std::array::from_fn(|quadrant| FILLED_BY[quadrant][quadrants[quadrant]]);
    let mut found = [Rotations::NONE; 2];
    while lines != 0 {
        let shift = 4 * lines.trailing_zeros();
        let turns = filled.map(|filled| (filled >> shift) as usize & 15);
        let others = OTHERS[0][turns[1]].and(OTHERS[1][turns[2]]).and(OTHERS[2][turns[3]]);
        for (found, first) in found.iter_mut().zip(&FIRST) {
            *found = found.or(first[turns[0]].and(others));
        }
        lines &= lines - 1;
    }
    found
}

/// The fives of one side, and those after one more placement.
#[derive(Debug)]
pub(super) struct OneMore {
    /// The rotations of even and of odd parity in which it has five already.
    pub(super) fives: [Rotations; 2],
    /// The cells that make a five in a further rotation.
    pub(super) cells: Bitboard,
    /// For each cell, by [`place`], the rotations in which a marble on it makes five.
    made: [[Rotations; 2]; PLACES],
}

/// Cells of the board.
const PLACES: usize = 36;

/// The index of a cell, by its bit, among all cells.
#[inline]
const fn place(bit: u32) -> usize {
    (bit - bit / 16 * 7) as usize
}

impl OneMore {
    /// The fives of a side with these marbles, which may place on the cells of `empty`.
    ///
    /// All cells are computed together: one marble can complete a line in those rotations in which
    /// a quadrant nearly fills its part and the others fill theirs.
    pub(super) fn new(marbles: Bitboard, empty: Bitboard) -> Self {
        let quadrants: [usize; 4] = std::array::from_fn(|quadrant| marbles.quadrant(quadrant));
        let full: [u32; 4] = std::array::from_fn(|at| FILLABLE[at][quadrants[at]]);
        let near: [u32; 4] = std::array::from_fn(|at| NEARLY_FILLABLE[at][quadrants[at]]);
        let mut found = Self {
            fives: [Rotations::NONE; 2],
            cells: Bitboard::EMPTY,
            made: [[Rotations::NONE; 2]; PLACES],
        };
        let (top, bottom) = (full[0] & full[1], full[2] & full[3]);
        if top & bottom != 0 {
            found.fives = fives(marbles);
        }
        let others_full = [full[1] & bottom, full[0] & bottom, top & full[3], top & full[2]];
        for quadrant in 0..4 {
            let mut lines = near[quadrant] & others_full[quadrant];
            while lines != 0 {
                let line = lines.trailing_zeros() as usize;
                lines &= lines - 1;
                found.complete(quadrants, quadrant, line, empty);
            }
        }
        found
    }

    /// Adds the rotations in which one marble in a quadrant completes a line.
    #[inline]
    fn complete(&mut self, quadrants: [usize; 4], quadrant: usize, line: usize, empty: Bitboard) {
        let turns_of = |table: &[[u128; 512]; 4], at: usize| {
            (table[at][quadrants[at]] >> (4 * line)) as usize & 15
        };
        let filled: [usize; 4] =
            std::array::from_fn(|at| if at == quadrant { 15 } else { turns_of(&FILLED_BY, at) });
        let others = OTHERS[0][filled[1]].and(OTHERS[1][filled[2]]).and(OTHERS[2][filled[3]]);
        let others = [FIRST[0][filled[0]].and(others), FIRST[1][filled[0]].and(others)];
        let mut nearly = turns_of(&NEARLY_BY, quadrant);
        while nearly != 0 {
            let turns = nearly.trailing_zeros() as usize;
            nearly &= nearly - 1;
            let lacking = PARTS[quadrant][line][turns] & !(quadrants[quadrant] as u16);
            let bit = 16 * quadrant as u32 + lacking.trailing_zeros();
            if !empty.has(bit) {
                continue;
            }
            self.cells = self.cells.or(Bitboard::cell(bit));
            for (parity, made) in self.made[place(bit)].iter_mut().enumerate() {
                let turned = match quadrant {
                    0 => FIRST[parity][1 << turns],
                    _ => OTHERS[quadrant - 1][1 << turns],
                };
                *made = made.or(others[parity].and(turned));
            }
        }
    }

    /// The rotations of a parity in which a marble on the cell with this bit makes five.
    #[inline]
    pub(super) fn made(&self, bit: u32, parity: usize) -> Rotations {
        self.made[place(bit)][parity]
    }

    /// The rotations of a parity in which it has five after a placement on any cell.
    #[inline]
    pub(super) fn any(&self, parity: usize) -> Rotations {
        self.any_of(self.cells, parity)
    }

    /// The same after a placement on any cell but the one with this bit.
    #[inline]
    pub(super) fn any_but(&self, bit: u32, parity: usize) -> Rotations {
        self.any_of(self.cells.without(Bitboard::cell(bit)), parity)
    }

    #[inline]
    fn any_of(&self, cells: Bitboard, parity: usize) -> Rotations {
        cells.cells().fold(self.fives[parity], |any, bit| any.or(self.made(bit, parity)))
    }
}

const fn nearly_by(filled_by: &[[u128; 512]; 4]) -> [[u128; 512]; 4] {
    let mut table = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            let mut cell = 0;
            while cell < 9 {
                table[quadrant][cells] |= filled_by[quadrant][cells | 1 << cell];
                cell += 1;
            }
            table[quadrant][cells] &= !filled_by[quadrant][cells];
            cells += 1;
        }
        quadrant += 1;
    }
    table
}

const fn parts() -> [[[u16; 4]; LINES]; 4] {
    let lines = windows::<5, LINES>();
    let mut table = [[[0; 4]; LINES]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut line = 0;
        while line < LINES {
            let mut part = (lines[line] >> (16 * quadrant)) as u32 & 0x1ff;
            let mut turns = 0;
            while turns < 4 {
                table[quadrant][line][turns] = part as u16;
                part = turned_back(part);
                turns += 1;
            }
            line += 1;
        }
        quadrant += 1;
    }
    table
}

const fn filled_by() -> [[u128; 512]; 4] {
    let lines = windows::<5, LINES>();
    let mut table = [[u128::MAX; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        // For each cell, the lines and turns whose part, turned back, needs a marble there.
        let mut needing = [0_u128; 9];
        let mut line = 0;
        while line < LINES {
            let mut part = (lines[line] >> (16 * quadrant)) as u32 & 0x1ff;
            let mut turns = 0;
            while turns < 4 {
                let mut cell = 0;
                while cell < 9 {
                    if part >> cell & 1 == 1 {
                        needing[cell] |= 1 << (4 * line + turns);
                    }
                    cell += 1;
                }
                part = turned_back(part);
                turns += 1;
            }
            line += 1;
        }
        // From the full quadrant down, as in `fulfilled`.
        let mut cells = 511;
        while cells > 0 {
            cells -= 1;
            let absent = (!cells as u32).trailing_zeros() as usize;
            table[quadrant][cells] = table[quadrant][cells | 1 << absent] & !needing[absent];
        }
        quadrant += 1;
    }
    table
}

/// The cells of a quadrant that a quarter turn to the right brings to these.
const fn turned_back(cells: u32) -> u32 {
    // The origin of the marble that a turn brings to each cell.
    const SOURCE: [u32; 9] = [6, 3, 0, 7, 4, 1, 8, 5, 2];
    let mut before = 0;
    let mut to = 0;
    while to < 9 {
        before |= (cells >> to & 1) << SOURCE[to];
        to += 1;
    }
    before
}

const fn fillable(filled_by: &[[u128; 512]; 4]) -> [[u32; 512]; 4] {
    let mut table = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            let mut line = 0;
            while line < LINES {
                if (filled_by[quadrant][cells] >> (4 * line)) as u32 & 15 != 0 {
                    table[quadrant][cells] |= 1 << line;
                }
                line += 1;
            }
            cells += 1;
        }
        quadrant += 1;
    }
    table
}

/// For each set of turns: the rotations of a parity in which the quadrant has made one of them.
const fn rotations_with(quadrant: usize, parity: u32) -> [Rotations; 16] {
    let mut table = [Rotations::NONE; 16];
    let mut bit = 0;
    while bit < 128 {
        let others = [bit >> 1 & 3, bit >> 3 & 3, bit >> 5 & 3];
        let turns = match quadrant {
            0 => 2 * (bit & 1) + ((parity + others[0] + others[1] + others[2]) & 1),
            _ => others[quadrant - 1],
        };
        let mut set = 0;
        while set < 16 {
            if set >> turns & 1 == 1 {
                table[set].0 |= 1 << bit;
            }
            set += 1;
        }
        bit += 1;
    }
    table
}
