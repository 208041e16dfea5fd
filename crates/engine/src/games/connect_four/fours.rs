//! Lines of four, by shifting whole boards: the bits at a distance of 1 are a column's neighbours,
//! of 7 a row's, of 8 and 6 those of the diagonals that rise and fall to the right.

use super::{BOARD, CELLS, COLUMN_BITS};

/// The lines of one direction.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// From a cell of a line to the next, in bits.
    step: u32,
    /// The first cells of the lines.
    first: u64,
}

const DIRECTIONS: [Direction; 4] = [
    Direction::new(1),
    Direction::new(COLUMN_BITS),
    Direction::new(COLUMN_BITS - 1),
    Direction::new(COLUMN_BITS + 1),
];

/// The number of lines: 21 in columns, 24 in rows, 12 on either kind of diagonal.
pub(super) const LINES: u32 = {
    let (mut lines, mut direction) = (0, 0);
    while direction < DIRECTIONS.len() {
        lines += DIRECTIONS[direction].first.count_ones();
        direction += 1;
    }
    lines
};

impl Direction {
    const fn new(step: u32) -> Self {
        Self { step, first: BOARD & BOARD >> step & BOARD >> (2 * step) & BOARD >> (3 * step) }
    }
}

/// Whether four of the discs lie in a line.
#[inline]
pub(super) fn has_four(discs: u64) -> bool {
    DIRECTIONS.iter().any(|&Direction { step, .. }| {
        let pairs = discs & discs >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

/// The cells, occupied or not, on which one more disc makes four.
#[inline]
pub(super) fn completing(discs: u64) -> u64 {
    let mut cells = 0;
    for Direction { step, .. } in DIRECTIONS {
        let (before, after) = (discs << step, discs >> step);
        let two_before = before & discs << (2 * step);
        let two_after = after & discs >> (2 * step);
        cells |= two_before & (discs << (3 * step) | after);
        cells |= two_after & (discs >> (3 * step) | before);
    }
    cells & BOARD
}

/// The number of lines with one, two and three of a side's discs and none of the other's, for both
/// sides.
///
/// Numbers of discs are counted for all lines of a direction at once, in binary, at the bit of the
/// line's first cell.
#[inline]
pub(super) fn count_open([own, other]: [u64; 2]) -> [[u32; 3]; 2] {
    let mut counts = [[0; 3]; 2];
    for direction in DIRECTIONS {
        let numbers = [own, other].map(|discs| Numbers::new(discs, direction.step));
        for (side, count) in counts.iter_mut().enumerate() {
            let open = direction.first & !numbers[1 - side].any();
            let Numbers { ones, twos, .. } = numbers[side];
            count[0] += (open & ones & !twos).count_ones();
            count[1] += (open & !ones & twos).count_ones();
            count[2] += (open & ones & twos).count_ones();
        }
    }
    counts
}

/// The fewest discs that a side lacks in a line without any of the other's; more than there are
/// cells if there is no such line.
#[inline]
pub(super) fn missing(own: u64, other: u64) -> u32 {
    let (mut open, mut one, mut two, mut three) = (0, 0, 0, 0);
    for Direction { step, first } in DIRECTIONS {
        let lines = first & !Numbers::new(other, step).any();
        let Numbers { ones, twos, .. } = Numbers::new(own, step);
        open |= lines;
        one |= lines & ones;
        two |= lines & twos;
        three |= lines & ones & twos;
    }
    match (open, one, two, three) {
        (0, ..) => CELLS + 1,
        (_, 0, 0, _) => 4,
        (_, _, 0, _) => 3,
        (_, _, _, 0) => 2,
        _ => 1,
    }
}

/// The numbers of discs, 0 to 4, on the lines that begin at each cell, as bits for one, two and
/// four.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    ones: u64,
    twos: u64,
    fours: u64,
}

impl Numbers {
    #[inline]
    const fn new(discs: u64, step: u32) -> Self {
        // Of the first two cells of each line, and the last two: the same, two cells on.
        let (odd, both) = (discs ^ discs >> step, discs & discs >> step);
        let (last_odd, last_both) = (odd >> (2 * step), both >> (2 * step));
        let carry = odd & last_odd;
        Self { ones: odd ^ last_odd, twos: both ^ last_both ^ carry, fours: both & last_both }
    }

    #[inline]
    const fn any(self) -> u64 {
        self.ones | self.twos | self.fours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_69_lines() {
        let counts = DIRECTIONS.map(|direction| direction.first.count_ones());
        assert_eq!((counts, LINES), ([21, 24, 12, 12], 69));
    }
}
