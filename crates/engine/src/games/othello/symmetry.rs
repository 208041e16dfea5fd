//! The eight symmetries of the board.

/// One of the eight symmetries, as bits: 1, rows and columns are exchanged; then 2, the rows are
/// reversed; and 4, the columns are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation(u8);

/// The image of each square under each symmetry.
static SQUARES_TO: [[u8; 64]; 8] = {
    let mut to = [[0; 64]; 8];
    let mut orientation = 0;
    while orientation < 8 {
        let mut square = 0;
        while square < 64 {
            let (mut row, mut column) = (square / 8, square % 8);
            if orientation & 1 != 0 {
                (row, column) = (column, row);
            }
            if orientation & 2 != 0 {
                row = 7 - row;
            }
            if orientation & 4 != 0 {
                column = 7 - column;
            }
            to[orientation][square] = (8 * row + column) as u8;
            square += 1;
        }
        orientation += 1;
    }
    to
};

impl Orientation {
    /// The symmetry that undoes this one.
    pub(super) const fn inverse(self) -> Self {
        // If rows become columns, a reversal before the exchange is a reversal of the others after
        // it.
        match self.0 {
            3 => Self(5),
            5 => Self(3),
            _ => self,
        }
    }

    /// The image of a move's code; a pass stays a pass.
    pub(super) fn apply(self, code: u16) -> u16 {
        let to = &SQUARES_TO[usize::from(self.0) & 7];
        to.get(usize::from(code)).map_or(code, |&square| u16::from(square))
    }
}

/// The least of the eight images of two boards, and its symmetry.
#[inline]
pub(super) fn reduced(boards: [u64; 2]) -> ([u64; 2], Orientation) {
    let mut least = (boards, Orientation(0));
    for (orientation, image) in (1..).zip(images(boards).into_iter().skip(1)) {
        if image < least.0 {
            least = (image, Orientation(orientation));
        }
    }
    least
}

/// The images under the symmetries, in the order of their numbers.
#[inline]
fn images(boards: [u64; 2]) -> [[u64; 2]; 8] {
    let mut images = [boards; 8];
    images[1] = boards.map(transposed);
    for half in [0, 1] {
        images[half + 2] = images[half].map(u64::swap_bytes);
        images[half + 4] = images[half].map(with_columns_reversed);
        images[half + 6] = images[half + 2].map(with_columns_reversed);
    }
    images
}

/// Exchanges pairs of bits, of pairs, of fours in each byte (Warren 2013, "Hacker's Delight", section
/// 7-1).
#[inline]
const fn with_columns_reversed(board: u64) -> u64 {
    let board = board >> 1 & 0x5555_5555_5555_5555 | (board & 0x5555_5555_5555_5555) << 1;
    let board = board >> 2 & 0x3333_3333_3333_3333 | (board & 0x3333_3333_3333_3333) << 2;
    board >> 4 & 0x0f0f_0f0f_0f0f_0f0f | (board & 0x0f0f_0f0f_0f0f_0f0f) << 4
}

/// Exchanges rows and columns (Warren 2013, section 7-3).
#[inline]
const fn transposed(board: u64) -> u64 {
    let differs = (board ^ board >> 7) & 0x00aa_00aa_00aa_00aa;
    let board = board ^ differs ^ differs << 7;
    let differs = (board ^ board >> 14) & 0x0000_cccc_0000_cccc;
    let board = board ^ differs ^ differs << 14;
    let differs = (board ^ board >> 28) & 0x0000_0000_f0f0_f0f0;
    board ^ differs ^ differs << 28
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;

    #[test]
    fn boards_and_squares_go_the_same_ways() {
        let mut random = PlayoutRandom::from_seed(2);
        for _ in 0..200 {
            let boards = [random.word(), random.word() & random.word()];
            for (number, image) in (0..).zip(images(boards)) {
                let orientation = Orientation(number);
                for square in 0..64 {
                    let to = orientation.apply(square);
                    assert_eq!(orientation.inverse().apply(to), square);
                    for (board, image) in boards.into_iter().zip(image) {
                        assert_eq!(board >> square & 1, image >> to & 1, "{number} {square}");
                    }
                }
                assert_eq!(orientation.apply(64), 64);
                assert_eq!(reduced(image).0, reduced(boards).0);
            }
            let (least, Orientation(number)) = reduced(boards);
            assert_eq!(images(boards)[usize::from(number)], least);
        }
    }
}
