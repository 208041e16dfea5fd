//! The eight symmetries of the board, and the key that is equal for positions they map to
//! each other.

use super::bitboard::{Bitboard, turned};

/// The symmetries: four rotations of the whole board, then the same after a reflection from left
/// to right. Each moves quadrant `source[to]` to `to` and permutes the cells inside every quadrant.
static SYMMETRIES: [Symmetry; 8] = [
    Symmetry::new([0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    Symmetry::new([2, 0, 3, 1], [6, 3, 0, 7, 4, 1, 8, 5, 2]),
    Symmetry::new([3, 2, 1, 0], [8, 7, 6, 5, 4, 3, 2, 1, 0]),
    Symmetry::new([1, 3, 0, 2], [2, 5, 8, 1, 4, 7, 0, 3, 6]),
    Symmetry::new([1, 0, 3, 2], [2, 1, 0, 5, 4, 3, 8, 7, 6]),
    Symmetry::new([0, 2, 1, 3], [0, 3, 6, 1, 4, 7, 2, 5, 8]),
    Symmetry::new([2, 3, 0, 1], [6, 7, 8, 3, 4, 5, 0, 1, 2]),
    Symmetry::new([3, 1, 2, 0], [8, 5, 2, 7, 4, 1, 6, 3, 0]),
];

struct Symmetry {
    source: [usize; 4],
    inside: [u16; 512],
}

impl Symmetry {
    const fn new(source: [usize; 4], inside: [u32; 9]) -> Self {
        Self { source, inside: turned(inside) }
    }

    fn apply(&self, board: Bitboard) -> Bitboard {
        let lane = |to: usize| u64::from(self.inside[board.quadrant(self.source[to])]) << (16 * to);
        Bitboard::from_bits(lane(0) | lane(1) | lane(2) | lane(3))
    }
}

/// The images of a pair of boards under the eight symmetries, the identity first.
pub(super) fn images(boards: [Bitboard; 2]) -> impl Iterator<Item = [Bitboard; 2]> {
    SYMMETRIES.iter().map(move |symmetry| boards.map(|board| symmetry.apply(board)))
}

/// The least image under the symmetries: equal for boards that they map to each other.
pub(super) fn canonical(boards: [Bitboard; 2]) -> [Bitboard; 2] {
    images(boards).fold(boards, Ord::min)
}
