//! The eight symmetries of the board, and the key that is equal for positions they map to
//! each other.

use super::bitboard::{Bitboard, turned};
use super::moves::PentagoMove;

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
    /// The image of a quadrant, its marbles as digits of a number in base three.
    ternary: [u16; 512],
    /// Where each cell of a quadrant goes.
    to: [u32; 9],
    /// Whether it turns clockwise into counter-clockwise.
    reflects: bool,
}

impl Symmetry {
    const fn new(source: [usize; 4], inside: [u32; 9]) -> Self {
        let table = turned(inside);
        let mut ternary = [0; 512];
        let mut marbles = 0;
        while marbles < 512 {
            let (mut cell, mut power) = (0, 1);
            while cell < 9 {
                ternary[marbles] += ((table[marbles] >> cell) & 1) * power;
                power *= 3;
                cell += 1;
            }
            marbles += 1;
        }
        let mut to = [0; 9];
        let mut cell = 0;
        while cell < 9 {
            to[inside[cell] as usize] = cell as u32;
            cell += 1;
        }
        // The images of a corner and its neighbours under the four rotations; all others reflect.
        let [a, b, _, c, ..] = inside;
        let reflects = !matches!((a, b, c), (0, 1, 3) | (6, 3, 7) | (8, 7, 5) | (2, 5, 1));
        Self { source, inside: table, ternary, to, reflects }
    }

    #[inline]
    fn packed(&self, [own, other]: [Bitboard; 2]) -> u64 {
        let lane = |to: usize| {
            let from = self.source[to];
            let digits = self.ternary[own.quadrant(from)] + 2 * self.ternary[other.quadrant(from)];
            u64::from(digits) << (15 * to)
        };
        lane(0) | lane(1) | lane(2) | lane(3)
    }

    fn apply(&self, board: Bitboard) -> Bitboard {
        let lane = |to: usize| u64::from(self.inside[board.quadrant(self.source[to])]) << (16 * to);
        Bitboard::from_bits(lane(0) | lane(1) | lane(2) | lane(3))
    }
}

/// A pair of boards as one number below 2^60, different for different pairs: 15 bits for each
/// quadrant, whose nine cells are digits in base three.
#[inline]
pub(super) fn packed(boards: [Bitboard; 2]) -> u64 {
    SYMMETRIES[0].packed(boards)
}

/// The least packed image under the symmetries, and its symmetry.
pub(super) fn reduced(boards: [Bitboard; 2]) -> (u64, Orientation) {
    let mut least = (u64::MAX, Orientation(0));
    for (number, symmetry) in (0..).zip(&SYMMETRIES) {
        let image = symmetry.packed(boards);
        if image < least.0 {
            least = (image, Orientation(number));
        }
    }
    least
}

/// One of the eight symmetries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation(u8);

impl Orientation {
    /// The symmetry that undoes this one: a quarter turn to the left for one to the right; every
    /// other is its own inverse.
    pub(super) const fn inverse(self) -> Self {
        match self.0 {
            1 => Self(3),
            3 => Self(1),
            _ => self,
        }
    }

    /// The image of a move.
    pub(super) fn apply(self, mv: PentagoMove) -> PentagoMove {
        let symmetry = &SYMMETRIES[usize::from(self.0) & 7];
        let to = |quadrant: usize| symmetry.source.iter().position(|&source| source == quadrant);
        let quadrant_to = |quadrant: usize| to(quadrant).unwrap_or(quadrant);
        let (quadrant, cell) = (mv.bit() as usize / 16, mv.bit() as usize % 16);
        let bit = 16 * quadrant_to(quadrant) as u32 + symmetry.to[cell % 9];
        match mv.turn_index() {
            None => PentagoMove::placement(bit),
            Some((quadrant, direction)) => {
                let direction = direction ^ usize::from(symmetry.reflects);
                PentagoMove::with_turn(bit, (2 * quadrant_to(quadrant) + direction) as u32)
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::position::Position;
    use crate::core::rng::Random;
    use crate::games::Pentago;

    /// Moving and mapping commutes; the inverse undoes a mapping; and the reduced key is the least
    /// packed image, exactly one for each class of equal positions.
    #[test]
    fn moves_and_positions_are_mapped_alike() {
        let mut random = Random::from_key([1; 32]);
        for _ in 0..40 {
            let mut position = Pentago::empty(true);
            while !position.is_over() {
                let mv = position.random_move(&mut random);
                let mut next = position;
                next.play_unchecked(mv);
                let boards = |position: &Pentago| [position.own(), position.other()];
                for (number, symmetry) in (0..8).zip(&SYMMETRIES) {
                    let orientation = Orientation(number);
                    let mapped = orientation.apply(mv);
                    assert_eq!(orientation.inverse().apply(mapped), mv);
                    let [own, other] = boards(&position).map(|board| symmetry.apply(board));
                    let mut image =
                        Pentago::from_boards(own, other, position.marbles(), false, true);
                    assert!(image.is_legal(mapped), "{position} {mv} {number}");
                    image.play_unchecked(mapped);
                    assert_eq!(boards(&image), boards(&next).map(|board| symmetry.apply(board)));
                    assert_eq!(reduced(boards(&image)).0, reduced(boards(&next)).0);
                }
                let (key, orientation) = reduced(boards(&next));
                let symmetry = &SYMMETRIES[usize::from(orientation.0)];
                assert_eq!(key, packed(boards(&next).map(|board| symmetry.apply(board))));
                position = next;
            }
        }
    }
}
