//! The last four empty squares, searched without lists, a table or a budget.

use super::super::board;

/// The discs of the side to move and of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Discs {
    pub(super) own: u64,
    pub(super) other: u64,
}

/// Less than any score, for a side that has not moved.
pub(super) const UNMOVED: i32 = -65;

impl Discs {
    pub(super) const fn empty(self) -> u64 {
        !(self.own | self.other)
    }

    /// The other side to move.
    pub(super) const fn passed(self) -> Self {
        Self { own: self.other, other: self.own }
    }

    /// The score of a game that is over: the mover's discs less the other's.
    pub(super) const fn score(self) -> i32 {
        self.own.count_ones() as i32 - self.other.count_ones() as i32
    }

    pub(super) const fn moves(self) -> u64 {
        board::moves(self.own, self.other)
    }

    /// The discs that a move on an empty square flips; none if it is not legal.
    #[inline]
    pub(super) const fn flips(self, square: u32) -> u64 {
        if NEIGHBOURS[square as usize & 63] & self.other == 0 {
            return 0;
        }
        board::flips(square, self.own, self.other)
    }

    /// The board after a move that flips these discs.
    #[inline]
    pub(super) const fn after(self, square: u32, flipped: u64) -> Self {
        Self { own: self.other ^ flipped, other: self.own | flipped | 1 << (square & 63) }
    }
}

/// The squares next to each square.
static NEIGHBOURS: [u64; 64] = {
    let mut near = [0; 64];
    let mut square = 0;
    while square < 64 {
        near[square] = board::beside(1 << square) & !(1 << square);
        square += 1;
    }
    near
};

/// The quadrant of a square, 0 to 3.
const fn quadrant(square: u32) -> u32 {
    square >> 4 & 2 | square >> 2 & 1
}

/// The score of a board with at most four empty squares, with `alpha` as the question of a search.
pub(super) fn last_score(board: Discs, alpha: i32) -> i32 {
    let mut squares = [0; 4];
    let mut left = board.empty();
    for square in &mut squares {
        *square = left.trailing_zeros() & 63;
        left &= left.wrapping_sub(1);
    }
    let [a, b, c, _] = squares;
    match board.empty().count_ones() {
        0 => board.score(),
        1 => last_one(board.own, a),
        2 => last_two(board, [a, b], alpha),
        3 => last_three(board, [a, b, c], alpha),
        _ => last_four(board, squares, alpha),
    }
}

/// The best of these squares for the side to move, each with those that are empty after it; if it has no move,
/// for the other side after a pass.
#[inline(always)]
fn best_of<const SQUARES: usize, Rest: Copy>(
    board: Discs,
    squares: [(u32, Rest); SQUARES],
    alpha: i32,
    search: impl Fn(Discs, Rest, i32) -> i32,
) -> i32 {
    let best_for = |board: Discs, alpha: i32| {
        let mut best = UNMOVED;
        for (square, rest) in squares {
            let flipped = board.flips(square);
            if flipped != 0 {
                best = best.max(-search(board.after(square, flipped), rest, -alpha - 1));
                if best > alpha {
                    break;
                }
            }
        }
        best
    };
    let best = best_for(board, alpha);
    if best != UNMOVED {
        return best;
    }
    let best = best_for(board.passed(), -alpha - 1);
    if best == UNMOVED { board.score() } else { -best }
}

/// As [`last_score`], with four empty squares. Those that are alone in their quadrants come first.
fn last_four(board: Discs, squares: [u32; 4], alpha: i32) -> i32 {
    let [a, b, c, d] = squares;
    let [qa, qb, qc, qd] = squares.map(quadrant);
    let [a, b, c, d] = if qa == qb {
        if qb == qc { [d, a, b, c] } else { [c, d, a, b] }
    } else if qa == qc {
        if qa == qd { [b, a, c, d] } else { [b, d, a, c] }
    } else if qa == qd {
        [b, c, a, d]
    } else if qb == qd {
        [a, c, b, d]
    } else if qb == qc {
        [a, d, b, c]
    } else {
        squares
    };
    let tries = [(a, [b, c, d]), (b, [a, c, d]), (c, [a, b, d]), (d, [a, b, c])];
    best_of(board, tries, alpha, last_three)
}

/// As [`last_score`], with three empty squares.
fn last_three(board: Discs, [a, b, c]: [u32; 3], alpha: i32) -> i32 {
    let [a, b, c] = if quadrant(a) == quadrant(b) {
        [c, a, b]
    } else if quadrant(a) == quadrant(c) {
        [b, a, c]
    } else {
        [a, b, c]
    };
    best_of(board, [(a, [b, c]), (b, [a, c]), (c, [a, b])], alpha, last_two)
}

/// As [`last_score`], with two empty squares.
#[inline]
fn last_two(board: Discs, [a, b]: [u32; 2], alpha: i32) -> i32 {
    best_of(board, [(a, b), (b, a)], alpha, |board, square, _| last_one(board.own, square))
}

/// The score with one empty square, for the side with these discs; all else is the other's.
#[inline]
fn last_one(own: u64, square: u32) -> i32 {
    let discs = own.count_ones() as i32;
    let flipped = flipped_last(own, square);
    if flipped != 0 {
        return 2 * (discs + flipped) - 62;
    }
    let flipped = flipped_last(!own & !(1 << (square & 63)), square);
    if flipped != 0 { 2 * (discs - flipped) - 64 } else { 2 * discs - 63 }
}

/// How many discs a move on the only empty square flips, for the side with these discs: by the square's four
/// lines, each gathered into a byte by a multiplication (Isenberg's kindergarten bitboards).
#[inline]
fn flipped_last(own: u64, square: u32) -> i32 {
    const A_FILE: u64 = 0x0101_0101_0101_0101;
    const TO_ROW: u64 = 0x0102_0408_1020_4080;
    let place = square as usize & 63;
    let (row, column) = (place / 8, place % 8);
    let byte = |bits: u64| (bits >> 56) as usize;
    let by_column = &FLIPPED[column];
    let along_row = by_column[(own >> (8 * row)) as usize & 255];
    let along_column = FLIPPED[row][byte((own >> column & A_FILE).wrapping_mul(TO_ROW))];
    let [up, down] = DIAGONALS[place];
    let along_up = by_column[byte((own & up).wrapping_mul(A_FILE))];
    let along_down = by_column[byte((own & down).wrapping_mul(A_FILE))];
    i32::from(along_row + along_column) + i32::from(along_up + along_down)
}

/// How many discs a disc placed on a line flips, by its place and the places of own discs, where every other
/// place has a disc. Diagonals are shorter than a line: places beyond their ends have no own disc, which flips
/// nothing either.
static FLIPPED: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut place = 0;
    while place < 8 {
        let mut own = 0;
        while own < 256 {
            let mut step = -1;
            while step <= 1 {
                let (mut at, mut run) = (place as i32 + step, 0);
                while step != 0 && at >= 0 && at < 8 {
                    if own >> at & 1 == 1 {
                        table[place][own] += run;
                        break;
                    }
                    run += 1;
                    at += step;
                }
                step += 2;
            }
            own += 1;
        }
        place += 1;
    }
    table
};

/// The two diagonals through each square, without it.
static DIAGONALS: [[u64; 2]; 64] = {
    let mut diagonals = [[0; 2]; 64];
    let mut square = 0;
    while square < 64 {
        let mut other = 0;
        while other < 64 {
            let (down, right) = (other / 8 - square / 8, other % 8 - square % 8);
            if other != square && down == -right {
                diagonals[square as usize][0] |= 1 << other;
            }
            if other != square && down == right {
                diagonals[square as usize][1] |= 1 << other;
            }
            other += 1;
        }
        square += 1;
    }
    diagonals
};
