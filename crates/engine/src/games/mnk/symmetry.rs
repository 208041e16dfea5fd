//! The symmetries of the board: eight if it is square, otherwise four.

use super::Mnk;
use crate::core::cells::SIDE_MAX;
use crate::core::position::mix;

/// One of the symmetries of a board of some size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// The last column and row.
    last: [u8; 2],
    /// Bits: 1, rows and columns are exchanged; then 2, the rows are reversed; and 4, the columns are.
    number: u8,
}

/// The rows of both sides' stones; a cell's bit is its column.
type Rows = [[u32; SIDE_MAX as usize]; 2];

const EXCHANGED: u8 = 1;
const ROWS_REVERSED: u8 = 2;
const COLUMNS_REVERSED: u8 = 4;

impl Orientation {
    /// The image of a move's code.
    pub(super) fn apply(self, code: u16) -> u16 {
        let (mut row, mut column) = (code / SIDE_MAX as u16, code % SIDE_MAX as u16);
        if self.number & EXCHANGED != 0 {
            (row, column) = (column, row);
        }
        let [last_column, last_row] = self.last.map(u16::from);
        if self.number & ROWS_REVERSED != 0 {
            row = last_row.saturating_sub(row);
        }
        if self.number & COLUMNS_REVERSED != 0 {
            column = last_column.saturating_sub(column);
        }
        row * SIDE_MAX as u16 + column
    }

    /// The symmetry that undoes this one.
    pub(super) const fn inverse(self) -> Self {
        // If rows become columns, a reversal before the exchange is a reversal of the others after it.
        let number = match self.number {
            3 => 5,
            5 => 3,
            number => number,
        };
        Self { number, ..self }
    }
}

impl Mnk {
    /// A key of the least image of the stones, and the symmetry that leads to it.
    #[inline]
    pub(super) fn reduced(&self) -> (u64, Orientation) {
        let grid = self.shape.grid;
        let rows = self.stones.each_ref().map(|stones| grid.rows_of(stones));
        let exchanged = (grid.columns() == grid.rows()).then(|| exchanged(&rows));
        let mut least = (rows, 0);
        for (half, rows) in [(0, Some(rows)), (EXCHANGED, exchanged)] {
            let Some(rows) = rows else { continue };
            for reversals in [0, ROWS_REVERSED, COLUMNS_REVERSED, ROWS_REVERSED | COLUMNS_REVERSED]
            {
                let image = self.reversed(&rows, reversals);
                if image < least.0 {
                    least = (image, half | reversals);
                }
            }
        }
        let ([first, second], number) = least;
        let pairs = first.iter().zip(&second).take(grid.rows() as usize);
        let key = pairs.fold(0, |state, (&first, &second)| {
            mix([state ^ (u64::from(first) << 32 | u64::from(second))])
        });
        let last = [grid.columns() - 1, grid.rows() - 1].map(|last| last as u8);
        (key, Orientation { last, number })
    }

    #[inline]
    fn reversed(&self, rows: &Rows, reversals: u8) -> Rows {
        let mut reversed = *rows;
        for rows in &mut reversed {
            let rows = &mut rows[..self.rows() as usize];
            if reversals & ROWS_REVERSED != 0 {
                rows.reverse();
            }
            if reversals & COLUMNS_REVERSED != 0 {
                for row in rows {
                    *row = row.reverse_bits() >> (u32::BITS - self.columns());
                }
            }
        }
        reversed
    }
}

/// Rows and columns exchanged.
#[inline]
fn exchanged(rows: &Rows) -> Rows {
    let mut exchanged = [[0; SIDE_MAX as usize]; 2];
    for (rows, exchanged) in rows.iter().zip(&mut exchanged) {
        for (row, &bits) in rows.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                exchanged[bits.trailing_zeros() as usize] |= 1 << row;
                bits &= bits - 1;
            }
        }
    }
    exchanged
}
