//! Boards of up to 10×10 cells in words of 128 bits, and their symmetries.
//!
//! The cell in column c (a is 0) and row r from the bottom is bit 11r + c, whatever the size of the board: the
//! eleventh bit of each row has no cell, so that a shift from cell to cell never runs into another row.

use super::grid::{Cell, Grid};

/// Bits of a row.
pub(super) const ROW_BITS: u32 = 11;
/// The most columns and rows.
pub(super) const SIZE_MAX: u32 = ROW_BITS - 1;
/// Bits of the largest board.
pub(super) const BITS: usize = (ROW_BITS * SIZE_MAX) as usize;

/// The bits of a step to the left, down, right and up, and those of the diagonals between them, in circular
/// order.
pub(super) const STEPS: [i32; 8] = [-1, -12, -11, -10, 1, 12, 11, 10];
/// The columns and rows of each step.
const OFFSETS: [(i32, i32); 8] =
    [(-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1)];

/// The number of a cell's bit.
#[inline]
pub(super) const fn bit_of(cell: Cell) -> u32 {
    ROW_BITS * cell.row + cell.column
}

/// The cell of a bit.
#[inline]
pub(super) const fn cell_of(bit: u32) -> Cell {
    Cell::new(bit % ROW_BITS, bit / ROW_BITS)
}

/// All cells of a board.
pub(super) const fn all_cells(grid: Grid) -> u128 {
    let (mut cells, mut row) = (0, 0);
    while row < grid.rows {
        cells |= ((1 << grid.columns) - 1) << (ROW_BITS * row);
        row += 1;
    }
    cells
}

/// The bits moved by a step, towards higher bits if it is positive.
#[inline(always)]
pub(super) const fn shifted(bits: u128, step: i32) -> u128 {
    if step >= 0 { bits << step } else { bits >> -step }
}

/// One of the symmetries of a board: four if it is a rectangle, eight if it is a square.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// 1: rows and columns are exchanged; then 2: rows are reversed, and 4: columns are.
    changes: u8,
    /// The size of the board; zeros for the identity of any.
    columns: u8,
    rows: u8,
}

impl Orientation {
    /// All symmetries of a board, the identity first.
    pub(super) fn all(grid: Grid) -> impl Iterator<Item = Self> {
        let is_square = grid.columns == grid.rows;
        let changes = (0..8).filter(move |changes| is_square || changes & 1 == 0);
        changes.map(move |changes| Self {
            changes,
            columns: grid.columns as u8,
            rows: grid.rows as u8,
        })
    }

    /// The symmetry that exchanges left and right.
    pub(super) const fn with_columns_reversed(grid: Grid) -> Self {
        Self { changes: 4, columns: grid.columns as u8, rows: grid.rows as u8 }
    }

    /// The symmetry that undoes this one.
    pub(super) const fn inverse(self) -> Self {
        // If rows become columns, a reversal before the exchange is a reversal of the others after it.
        let changes = match self.changes {
            3 => 5,
            5 => 3,
            changes => changes,
        };
        Self { changes, ..self }
    }

    /// The image of a cell's bit.
    pub(super) const fn of_bit(self, bit: u32) -> u32 {
        let Cell { mut column, mut row } = cell_of(bit);
        if self.changes & 1 != 0 {
            (column, row) = (row, column);
        }
        if self.changes & 2 != 0 {
            row = (self.rows as u32 - 1).wrapping_sub(row);
        }
        if self.changes & 4 != 0 {
            column = (self.columns as u32 - 1).wrapping_sub(column);
        }
        ROW_BITS.wrapping_mul(row).wrapping_add(column)
    }

    /// The image of one of the directions of [`STEPS`].
    pub(super) const fn of_direction(self, direction: usize) -> usize {
        let (mut right, mut up) = OFFSETS[direction % 8];
        if self.changes & 1 != 0 {
            (right, up) = (up, right);
        }
        if self.changes & 2 != 0 {
            up = -up;
        }
        if self.changes & 4 != 0 {
            right = -right;
        }
        let mut image = 0;
        while OFFSETS[image].0 != right || OFFSETS[image].1 != up {
            image += 1;
        }
        image
    }

    /// The image of a set of cells.
    pub(super) fn of_cells(self, cells: u128) -> u128 {
        let mut image = cells;
        if self.changes & 1 != 0 {
            image = transposed(image);
        }
        if self.changes & 2 != 0 {
            image = with_rows_reversed(image, self.rows.into());
        }
        if self.changes & 4 != 0 {
            // Both reversals are one of all bits.
            let top = ROW_BITS * (u32::from(self.rows) - 1) + u32::from(self.columns) - 1;
            image = with_rows_reversed(image.reverse_bits() >> (127 - top), self.rows.into());
        }
        image
    }
}

fn with_rows_reversed(cells: u128, rows: u32) -> u128 {
    (0..rows).fold(0, |image, row| {
        image | (cells >> (ROW_BITS * row) & ROW) << (ROW_BITS * (rows - 1 - row))
    })
}

/// A row becomes the column of its number.
fn transposed(cells: u128) -> u128 {
    (0..SIZE_MAX)
        .fold(0, |image, row| image | COLUMNS[(cells >> (ROW_BITS * row) & ROW) as usize] << row)
}

const ROW: u128 = (1 << SIZE_MAX) - 1;

/// For each set of cells of a row, the same set of the first column.
static COLUMNS: [u128; 1 << SIZE_MAX] = {
    let mut columns = [0; 1 << SIZE_MAX];
    let mut cells = 0;
    while cells < columns.len() {
        let mut column = 0;
        while column < SIZE_MAX {
            if cells >> column & 1 == 1 {
                columns[cells] |= 1 << (ROW_BITS * column);
            }
            column += 1;
        }
        cells += 1;
    }
    columns
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;

    #[test]
    fn sets_cells_and_steps_go_the_same_ways() {
        let mut random = PlayoutRandom::from_seed(1);
        for (columns, rows) in [(1, 1), (10, 10), (6, 5), (2, 9), (7, 7)] {
            let grid = Grid { columns, rows };
            let all = all_cells(grid);
            assert_eq!(all.count_ones(), grid.cells());
            assert_eq!(Orientation::all(grid).count(), if columns == rows { 8 } else { 4 });
            for orientation in Orientation::all(grid) {
                let cells = all & (u128::from(random.word()) << 64 | u128::from(random.word()));
                let mut image = 0;
                for bit in (0..BITS as u32).filter(|bit| all >> bit & 1 == 1) {
                    let to = orientation.of_bit(bit);
                    image |= (cells >> bit & 1) << to;
                    assert_eq!(orientation.inverse().of_bit(to), bit);
                    for (direction, step) in STEPS.into_iter().enumerate() {
                        let next = shifted(1 << bit, step) & all;
                        let step = STEPS[orientation.of_direction(direction)];
                        assert_eq!(orientation.of_cells(next), shifted(1 << to, step) & all);
                    }
                }
                assert_eq!(orientation.of_cells(cells), image, "{orientation:?}");
                assert_eq!(orientation.inverse().of_cells(image), cells);
            }
        }
        let cells = (0..BITS as u32).map(|bit| (bit, Orientation::default().of_bit(bit)));
        assert!(cells.into_iter().all(|(bit, image)| bit == image));
    }

    #[test]
    fn steps_are_their_offsets() {
        for (step, (right, up)) in STEPS.into_iter().zip(OFFSETS) {
            assert_eq!(step, right + ROW_BITS as i32 * up);
        }
    }
}
