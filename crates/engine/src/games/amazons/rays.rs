//! Moves of queens: from one cell by its rays, from many cells at once by fills.

use crate::games::rectangle::{BITS, STEPS, cell_of, shifted};

/// From each cell, those in each direction up to the edge of the largest board.
static RAYS: [[u128; 8]; BITS] = {
    let mut rays = [[0; 8]; BITS];
    let mut bit = 0;
    while bit < BITS {
        let mut direction = 0;
        while direction < 8 {
            let mut next = bit as i32 + STEPS[direction];
            while next >= 0 && next < BITS as i32 && cell_of(next as u32).column < 10 {
                rays[bit][direction] |= 1 << next;
                next += STEPS[direction];
            }
            direction += 1;
        }
        bit += 1;
    }
    rays
};

/// The cells that a queen on a cell reaches over empty ones.
#[inline(always)]
pub(super) const fn reach(bit: u32, empty: u128) -> u128 {
    let [a, b, c, d, e, f, g, h] = reach_by_direction(bit, empty);
    a | b | c | d | e | f | g | h
}

/// The same in each direction.
#[inline(always)]
pub(super) const fn reach_by_direction(bit: u32, empty: u128) -> [u128; 8] {
    let rays = &RAYS[bit as usize % BITS];
    let (mut cells, mut direction) = ([0; 8], 0);
    while direction < 4 {
        // The steps of the first four directions lead to lower bits: the blocked cell with the highest bit ends
        // the ray. The lowest bit stands for none, and is a cell that its ray may reach.
        let ray = rays[direction];
        let blocked = ray & !empty | 1;
        cells[direction] = ray & (u128::MAX << (127 - blocked.leading_zeros())) & empty;
        let ray = rays[direction + 4];
        let blocked = ray & !empty;
        cells[direction + 4] = ray & (blocked ^ blocked.wrapping_sub(1)) & empty;
        direction += 1;
    }
    cells
}

/// The number of cells that a queen on each empty cell reaches, at most 35: the words have a binary digit of it
/// each, the lowest first.
#[inline(always)]
pub(super) const fn counts_of_reached(empty: u128) -> [u128; 6] {
    let mut sums = [0; 6];
    add(&mut sums, run_lengths::<{ STEPS[0] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[1] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[2] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[3] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[4] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[5] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[6] }>(empty));
    add(&mut sums, run_lengths::<{ STEPS[7] }>(empty));
    sums
}

/// Adds numbers to others, bit by bit of all words at once.
#[inline(always)]
const fn add(sums: &mut [u128; 6], [a, b, c, d]: [u128; 4]) {
    let numbers = [a, b, c, d, 0, 0];
    let (mut carry, mut digit) = (0, 0);
    while digit < sums.len() {
        let (sum, number) = (sums[digit], numbers[digit]);
        sums[digit] = sum ^ number ^ carry;
        carry = sum & number | carry & (sum ^ number);
        digit += 1;
    }
}

/// The number of empty cells that follow upon each empty cell in the direction opposite to a step, at most nine,
/// as binary digits.
///
/// Each of the sets of cells that at least so many follow upon holds the next one, so that their exclusive or is
/// the lowest digit, that of every second one the next, and so on.
#[inline(always)]
const fn run_lengths<const STEP: i32>(empty: u128) -> [u128; 4] {
    let one = empty & shifted(empty, STEP);
    let two = empty & shifted(one, STEP);
    let three = empty & shifted(two, STEP);
    let four = empty & shifted(three, STEP);
    let short = [one ^ two ^ three ^ four, two ^ four, four, 0];
    if four == 0 {
        return short;
    }
    let five = empty & shifted(four, STEP);
    let six = empty & shifted(five, STEP);
    let seven = empty & shifted(six, STEP);
    let eight = empty & shifted(seven, STEP);
    let nine = empty & shifted(eight, STEP);
    [short[0] ^ five ^ six ^ seven ^ eight ^ nine, short[1] ^ six ^ eight, four ^ eight, eight]
}

/// Moves cells step by step in a direction, as long as any of them are empty then: calls `visit` with the
/// direction, the distance and these cells, until it returns a result.
#[inline(always)]
pub(super) fn walk<const DIRECTION: usize, R>(
    cells: u128,
    empty: u128,
    visit: &mut impl FnMut(usize, u32, u128) -> Option<R>,
) -> Option<R> {
    let mut cells = shifted(cells, STEPS[DIRECTION]) & empty;
    let mut distance = 1;
    while cells != 0 {
        if let Some(result) = visit(DIRECTION, distance, cells) {
            return Some(result);
        }
        cells = shifted(cells, STEPS[DIRECTION]) & empty;
        distance += 1;
    }
    None
}

/// The cells that queens on these cells reach.
#[inline]
pub(super) const fn reach_of_all(queens: u128, empty: u128) -> u128 {
    let (mut cells, mut direction) = (0, 0);
    while direction < 8 {
        let mut reached = shifted(queens, STEPS[direction]) & empty;
        while reached != 0 {
            cells |= reached;
            reached = shifted(reached, STEPS[direction]) & empty;
        }
        direction += 1;
    }
    cells
}

/// The cells beside these, on the board or not.
#[inline]
pub(super) const fn beside(cells: u128) -> u128 {
    let wide = cells | cells << 1 | cells >> 1;
    wide | wide << 11 | wide >> 11
}

/// The direction from one cell to another on one line, and their distance.
pub(super) fn direction(from: u32, to: u32) -> Option<(usize, u32)> {
    let direction =
        (0..8).find(|&direction| RAYS[from as usize % BITS][direction] >> to & 1 == 1)?;
    let (from, to) = (cell_of(from), cell_of(to));
    Some((direction, from.column.abs_diff(to.column).max(from.row.abs_diff(to.row))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;
    use crate::games::grid::Grid;
    use crate::games::rectangle::all_cells;

    #[test]
    fn reached_cells_are_those_of_single_steps() {
        let mut random = PlayoutRandom::from_seed(1);
        for round in 0..500 {
            let board = all_cells(Grid { columns: 4 + round % 7, rows: 4 + round % 7 });
            let mut word = || u128::from(random.word()) << 64 | u128::from(random.word());
            let empty = board & (word() | word());
            let (mut both, queens) = (0, board & !empty & word());
            for bit in (0..BITS as u32).filter(|bit| board >> bit & 1 == 1) {
                let mut cells = 0;
                for (place, step) in STEPS.into_iter().enumerate() {
                    let (mut cell, mut distance) = (shifted(1 << bit, step), 1);
                    while cell & empty != 0 {
                        cells |= cell;
                        assert_eq!(direction(bit, cell.ilog2()), Some((place, distance)));
                        (cell, distance) = (shifted(cell, step), distance + 1);
                    }
                }
                assert_eq!(reach(bit, empty), cells);
                let digits = counts_of_reached(empty).into_iter().zip(0..);
                let count: u32 =
                    digits.map(|(word, digit)| ((word >> bit & 1) as u32) << digit).sum();
                assert_eq!(count, if empty >> bit & 1 == 1 { cells.count_ones() } else { 0 });
                if queens >> bit & 1 == 1 {
                    both |= cells;
                }
            }
            assert_eq!(reach_of_all(queens, empty), both);
        }
        assert_eq!(direction(0, 13), None);
    }
}
