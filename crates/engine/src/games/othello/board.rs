//! Flips and legal moves, on boards of 64 bits: the bit of a square is eight times its row from the
//! top plus its column from the left.
//!
//! Legal moves are found for a whole board at once, by parallel prefix in each direction (Kogge & Stone 1973,
//! as in programs for chess and Othello). The flips of one move are found on the eight rays from its square,
//! by a carry that runs through the other side's discs (as in Delorme's Edax).

/// Squares without the columns a and h: a run of flipped discs along a row or a diagonal lies
/// within.
const INNER: u64 = 0x7e7e_7e7e_7e7e_7e7e;

/// The four axes: the bits of a step, and the possible squares of a run's discs.
const AXES: [(u32, u64); 4] = [(1, INNER), (8, u64::MAX), (7, INNER), (9, INNER)];

/// The empty squares on which the side with the discs `own` may move.
#[inline(always)]
pub(super) const fn moves(own: u64, other: u64) -> u64 {
    reach(own, other).0
}

/// The discs that moves would flip first, each beside the square of its move.
#[inline(always)]
pub(super) const fn flipped_first(own: u64, other: u64) -> u64 {
    reach(own, other).1
}

/// The squares of moves, and beside each the discs that it would flip first.
#[inline(always)]
const fn reach(own: u64, other: u64) -> (u64, u64) {
    let empty = !(own | other);
    let (mut squares, mut flipped) = (0, 0);
    let mut axis = 0;
    while axis < AXES.len() {
        let (step, within) = AXES[axis];
        let taken = other & within;
        // Runs of one or two discs, then of four, then of six: no line has room for more.
        let (up_pairs, down_pairs) = (taken & taken << step, taken & taken >> step);
        let mut up = taken & own << step;
        let mut down = taken & own >> step;
        up |= taken & up << step;
        down |= taken & down >> step;
        up |= up_pairs & up << (2 * step);
        down |= down_pairs & down >> (2 * step);
        up |= up_pairs & up << (2 * step);
        down |= down_pairs & down >> (2 * step);
        let (up, down) = (up << step & empty, down >> step & empty);
        squares |= up | down;
        flipped |= up >> step | down << step;
        axis += 1;
    }
    (squares, flipped)
}

/// The discs that a move on an empty square flips; none if it is not legal.
#[inline(always)]
pub(super) const fn flips(square: u32, own: u64, other: u64) -> u64 {
    let rays = &RAYS[square as usize & 63];
    let mut flipped = 0;
    let mut ray = 0;
    while ray < 4 {
        // Towards higher bits: from the first square on, the carry runs through the other side's discs and
        // stops at the square behind them.
        let up = rays[ray];
        let end = (other | !up).wrapping_add(1) & up & own;
        flipped |= end.wrapping_sub((end != 0) as u64) & up;
        // Towards lower bits: the first square that has no such disc.
        let down = rays[4 + ray];
        let blank = down & !other;
        let end = (1 << 63) >> (blank | 1).leading_zeros() & blank & own;
        flipped |= end.wrapping_neg() << 1 & down;
        ray += 1;
    }
    flipped
}

/// The squares on the rows, columns and diagonals through a square.
#[inline]
pub(super) const fn lines_through(square: u32) -> u64 {
    LINES[square as usize & 63]
}

/// The squares beside discs, in any of the eight directions.
#[inline]
pub(super) const fn beside(discs: u64) -> u64 {
    const NOT_A: u64 = 0xfefe_fefe_fefe_fefe;
    const NOT_H: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let rows = (discs << 1 & NOT_A) | (discs >> 1 & NOT_H);
    let wide = discs | rows;
    rows | wide << 8 | wide >> 8
}

/// From each square, those on the rays: four towards higher bits, then the opposite ones.
static RAYS: [[u64; 8]; 64] = {
    const STEPS: [(i32, i32); 4] = [(0, 1), (1, -1), (1, 0), (1, 1)];
    let mut rays = [[0; 8]; 64];
    let mut square = 0;
    while square < 64 {
        let mut step = 0;
        while step < 4 {
            let (down, right) = STEPS[step];
            rays[square][step] = ray(square as i32, down, right);
            rays[square][4 + step] = ray(square as i32, -down, -right);
            step += 1;
        }
        square += 1;
    }
    rays
};

const fn ray(square: i32, down: i32, right: i32) -> u64 {
    let (mut row, mut column) = (square / 8 + down, square % 8 + right);
    let mut squares = 0;
    while row >= 0 && row < 8 && column >= 0 && column < 8 {
        squares |= 1 << (8 * row + column);
        row += down;
        column += right;
    }
    squares
}

static LINES: [u64; 64] = {
    let mut lines = [0; 64];
    let mut square = 0;
    while square < 64 {
        let mut ray = 0;
        while ray < 8 {
            lines[square] |= RAYS[square][ray];
            ray += 1;
        }
        square += 1;
    }
    lines
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;
    use crate::core::wide::wide;

    /// Step by step along each ray.
    fn flips_slowly(square: i32, own: u64, other: u64) -> u64 {
        let mut flipped = 0;
        for (down, right) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
        {
            let (mut row, mut column) = (square / 8, square % 8);
            let mut run = 0;
            loop {
                (row, column) = (row + down, column + right);
                if !(0..8).contains(&row) || !(0..8).contains(&column) {
                    break;
                }
                let bit = 1_u64 << (8 * row + column);
                if own & bit != 0 {
                    flipped |= run;
                    break;
                }
                if other & bit == 0 {
                    break;
                }
                run |= bit;
            }
        }
        flipped
    }

    /// On boards of any density, including unreachable ones, with wide instructions and without.
    #[test]
    fn flips_and_moves_are_what_steps_find() {
        let mut random = PlayoutRandom::from_seed(1);
        for round in 0..20_000 {
            let mut word = |density: u32| (0..density).fold(u64::MAX, |w, _| w & random.word());
            let taken = !word(round % 4);
            let colours = word(1 + round % 2);
            let (own, other) = (taken & colours, taken & !colours);
            let [mut found, mut beside_them] = [0, 0];
            for square in (0..64).filter(|square| taken >> square & 1 == 0) {
                let flipped = flips_slowly(square, own, other);
                let (square, text) = (square as u32, format_args!("{own:x} {other:x} {square}"));
                assert_eq!(flips(square, own, other), flipped, "{text}");
                assert_eq!(wide!(flips(square, own, other)), flipped, "{text}");
                found |= u64::from(flipped != 0) << square;
                beside_them |= flipped & beside(1 << square);
            }
            assert_eq!(moves(own, other), found, "{own:x} {other:x}");
            let widely = wide!([moves(own, other), flipped_first(own, other)]);
            assert_eq!(widely, [found, beside_them], "{own:x} {other:x}");
            assert_eq!(flipped_first(own, other), beside_them, "{own:x} {other:x}");
        }
    }

    #[test]
    fn lines_cross_the_board() {
        assert_eq!(lines_through(0).count_ones(), 21);
        assert_eq!(lines_through(27).count_ones(), 27);
        assert_eq!(beside(1), 0x302);
        assert_eq!(beside(1 << 63), 0x40c0 << 48);
    }
}
