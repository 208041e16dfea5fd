//! Lines of k cells and runs of stones, by following cells from a stone or by shifting whole boards.

use super::{Mnk, Shape};
use crate::core::cells::{Cells, SIDE_MAX};
use crate::core::wide::wide;

/// Lines that lack at most so many stones are counted.
pub(super) const LACKING_MAX: usize = 4;

/// Binary digits of a number of stones in a line.
const DIGITS: usize = 5;

const _: () = assert!(SIDE_MAX < 1 << DIGITS);

impl Shape {
    /// From a cell to the next of a line, in bits: to the right, below, to the lower right and to the lower left.
    #[inline(always)]
    const fn steps(self) -> [u32; 4] {
        let stride = self.grid.stride();
        [1, stride, stride + 1, stride - 1]
    }

    /// Whether the run through a stone wins.
    #[inline(always)]
    pub(super) fn is_line_through(self, stones: &Cells, stone: u32) -> bool {
        self.steps().into_iter().any(|step| {
            let mut length = 1;
            let mut next = stone + step;
            while stones.has(next) {
                length += 1;
                next += step;
            }
            // Below the first bit it wraps around, beyond all words.
            next = stone.wrapping_sub(step);
            while stones.has(next) {
                length += 1;
                next = next.wrapping_sub(step);
            }
            self.wins(length)
        })
    }

    #[inline(always)]
    const fn wins(self, length: u32) -> bool {
        let in_a_row = self.in_a_row as u32;
        length == in_a_row || length > in_a_row && self.overlines_win
    }

    /// Whether any run of the stones wins.
    pub(super) fn has_line(self, stones: &Cells) -> bool {
        stones.iter().any(|stone| self.is_line_through(stones, stone))
    }

    /// The cells, occupied or not, on which one more stone wins.
    #[inline(always)]
    pub(super) fn completing(self, stones: &Cells) -> Cells {
        let wanted = usize::from(self.in_a_row) - 1;
        let mut winning = Cells::default();
        for step in self.steps() {
            let after = Self::runs(stones, wanted, |cells| cells.down(step));
            let before = Self::runs(stones, wanted, |cells| cells.up(step));
            for number in 0..=wanted {
                let (mut left, mut right) = (before[number], after[wanted - number]);
                if !self.overlines_win {
                    left = left.without(&before[number + 1]);
                    right = right.without(&after[wanted - number + 1]);
                }
                winning |= left & right;
            }
        }
        winning
    }

    /// The cells that have at least so many stones directly before them, for each number up to one more than wanted:
    /// `from` moves a set from stones to the cells behind them.
    #[inline(always)]
    fn runs(
        stones: &Cells,
        wanted: usize,
        from: impl Fn(&Cells) -> Cells,
    ) -> [Cells; SIDE_MAX as usize + 1] {
        let mut runs = [Cells::default(); SIDE_MAX as usize + 1];
        runs[0] = Cells::ALL;
        for number in 1..=wanted + 1 {
            runs[number] = from(&(*stones & runs[number - 1]));
            if runs[number].is_empty() {
                break;
            }
        }
        runs
    }

    /// The first cells of the lines of one direction.
    #[inline(always)]
    fn first_cells(self, step: u32) -> Cells {
        let cells = *self.grid.cells();
        (1..self.in_a_row).fold(cells, |first, _| cells & first.down(step))
    }
}

/// The numbers of a side's stones on the lines of one direction, at the bit of each line's first cell.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// The binary digits, the lowest first.
    digits: [Cells; DIGITS],
    /// Lines with a stone.
    any: Cells,
}

impl Numbers {
    #[inline(always)]
    fn new(stones: &Cells, step: u32, in_a_row: u8) -> Self {
        let mut digits = [Cells::default(); DIGITS];
        let mut any = Cells::default();
        let mut shifted = *stones;
        let needed = (u8::BITS - in_a_row.leading_zeros()) as usize;
        for _ in 0..in_a_row {
            any |= shifted;
            let mut carry = shifted;
            for digit in &mut digits[..needed] {
                let both = *digit & carry;
                *digit = (*digit | carry).without(&both);
                carry = both;
            }
            shifted = shifted.down(step);
        }
        Self { digits, any }
    }

    /// The lines with this number of stones.
    #[inline(always)]
    fn equal(&self, number: u32, lines: Cells) -> Cells {
        self.digits.iter().enumerate().fold(lines, |lines, (place, digit)| {
            if number >> place & 1 == 1 { lines & *digit } else { lines.without(digit) }
        })
    }

    /// The greatest number of stones on some of the lines; `None` if there are no lines.
    #[inline(always)]
    fn greatest(&self, mut lines: Cells) -> Option<u32> {
        let mut greatest = 0;
        for (place, digit) in self.digits.iter().enumerate().rev() {
            let more = lines & *digit;
            if !more.is_empty() {
                greatest |= 1 << place;
                lines = more;
            }
        }
        (!lines.is_empty()).then_some(greatest)
    }
}

impl Mnk {
    /// The directions in which there are lines, with their first cells and both sides' numbers.
    #[inline(always)]
    fn numbers(&self) -> impl Iterator<Item = (Cells, [Numbers; 2])> {
        let shape = self.shape;
        let in_a_row = shape.in_a_row;
        // With one stone in a row, every direction has the same lines.
        let directions = if in_a_row == 1 { 1 } else { 4 };
        shape.steps().into_iter().take(directions).map(move |step| {
            let numbers = self.stones.each_ref().map(|stones| Numbers::new(stones, step, in_a_row));
            (shape.first_cells(step), numbers)
        })
    }

    /// The number of lines with stones of one side only that lack one to four stones, for each side.
    pub(super) fn count_open(&self) -> [[u32; LACKING_MAX]; 2] {
        wide!(self.open_counts())
    }

    #[inline(always)]
    fn open_counts(&self) -> [[u32; LACKING_MAX]; 2] {
        let mut counts = [[0; LACKING_MAX]; 2];
        for (first, numbers) in self.numbers() {
            for (side, counts) in counts.iter_mut().enumerate() {
                let open = (first & numbers[side].any).without(&numbers[1 - side].any);
                for (lacking, count) in (1..).zip(counts) {
                    if let Some(stones) = u32::from(self.shape.in_a_row).checked_sub(lacking) {
                        *count += numbers[side].equal(stones, open).len();
                    }
                }
            }
        }
        counts
    }

    /// The fewest stones that a side lacks in a line without any of the other's, for each side; more than there are
    /// cells if there is no such line.
    pub(super) fn lacking(&self) -> [u32; 2] {
        wide!(self.fewest_lacking())
    }

    #[inline(always)]
    fn fewest_lacking(&self) -> [u32; 2] {
        let mut lacking = [self.shape.grid.len() + 1; 2];
        for (first, numbers) in self.numbers() {
            for (side, lacking) in lacking.iter_mut().enumerate() {
                let open = first.without(&numbers[1 - side].any);
                if let Some(stones) = numbers[side].greatest(open) {
                    *lacking = (*lacking).min(u32::from(self.shape.in_a_row) - stones);
                }
            }
        }
        // Where overlines do not win, a line may be full although the game goes on.
        lacking.map(|lacking| lacking.max(1))
    }
}
