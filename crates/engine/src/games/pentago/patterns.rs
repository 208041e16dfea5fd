//! Compile-time tables for patterns: sets of cells to test for completeness.
//!
//! A pattern is complete if and only if each quadrant has its part of it. So for every quadrant and
//! each of its 512 fillings, a table holds the set of patterns (one bit each) whose part lies in
//! the filling; the AND of the four entries of a board is the set of patterns on it.

use super::cell_bits::bit_of_cell;

/// The number of lines of five cells.
pub(crate) const LINES: usize = 32;

/// Every straight window of `LENGTH` adjacent cells: horizontal, vertical, then both diagonals.
/// `COUNT` must be their number.
pub(crate) const fn windows<const LENGTH: usize, const COUNT: usize>() -> [u64; COUNT] {
    const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];
    let mut windows = [0; COUNT];
    let mut found = 0;
    let mut direction = 0;
    while direction < 4 {
        let (down, right) = DIRECTIONS[direction];
        let mut cell = 0;
        while cell < 36 {
            let (row, column) = (cell / 6, cell % 6);
            let steps = LENGTH as i32 - 1;
            let (last_row, last_column) = (row + steps * down, column + steps * right);
            if last_row < 6 && last_column >= 0 && last_column < 6 {
                let mut step = 0;
                while step <= steps {
                    let cell = (row + step * down) * 6 + column + step * right;
                    windows[found] |= 1 << bit_of_cell(cell as u32);
                    step += 1;
                }
                found += 1;
            }
            cell += 1;
        }
        direction += 1;
    }
    assert!(found == COUNT, "COUNT is the number of windows");
    windows
}

/// For each quadrant and its marbles: the patterns whose part in the quadrant is complete. A
/// pattern without a part in a quadrant lacks nothing in it.
pub(crate) const fn fulfilled(patterns: &[u64]) -> [[u64; 512]; 4] {
    assert!(patterns.len() <= 64, "one bit for each pattern");
    let all = if patterns.len() == 64 { u64::MAX } else { (1 << patterns.len()) - 1 };
    let mut table = [[all; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        // From the full quadrant down: removing a cell removes the patterns through it.
        let mut cells = 511;
        while cells > 0 {
            cells -= 1;
            let absent = (!cells as u32).trailing_zeros();
            let through = patterns_through(patterns, quadrant as u32 * 16 + absent);
            table[quadrant][cells] = table[quadrant][cells | 1 << absent] & !through;
        }
        quadrant += 1;
    }
    table
}

/// From a table of [`fulfilled`]: the patterns that lack exactly one cell in the quadrant.
pub(crate) const fn completable(fulfilled: &[[u64; 512]; 4]) -> [[u64; 512]; 4] {
    let mut table = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            let mut cell = 0;
            while cell < 9 {
                table[quadrant][cells] |= fulfilled[quadrant][cells | 1 << cell];
                cell += 1;
            }
            table[quadrant][cells] &= !fulfilled[quadrant][cells];
            cells += 1;
        }
        quadrant += 1;
    }
    table
}

const fn patterns_through(patterns: &[u64], bit: u32) -> u64 {
    let mut through = 0;
    let mut pattern = 0;
    while pattern < patterns.len() {
        through |= ((patterns[pattern] >> bit) & 1) << pattern;
        pattern += 1;
    }
    through
}
