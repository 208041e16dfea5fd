//! Pieces on their squares, packed, and the orientation of the board by a recipe.

use cozy_chess::Piece;

use crate::tables::{Endgame, PIECES_MAX};

/// The squares of an endgame's pieces: a byte each, that of black's king highest, then white's king, the
/// third piece and the fourth. Missing pieces have 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Squares(u32);

/// The numbers of the files in each byte, and those of the ranks.
const FILES: u32 = 0x0707_0707;
const RANKS: u32 = 0x3838_3838;

impl Squares {
    /// From the squares in the order of [`Endgame::letters`].
    ///
    /// # Panics
    /// If there are no two kings.
    #[inline]
    pub(super) fn new(squares: &[u8]) -> Self {
        let at = |place: usize| squares.get(place).copied().unwrap_or(0);
        Self(u32::from_be_bytes([squares[1], squares[0], at(2), at(3)]))
    }

    /// In the order of [`Endgame::letters`]; 0 for missing pieces.
    #[inline]
    pub(super) const fn in_order(self) -> [u8; PIECES_MAX] {
        let [black, white, third, fourth] = self.0.to_be_bytes();
        [white, black, third, fourth]
    }

    /// The moves of a king from black's king to the edge of the board, from 0 to 3: the same in all images.
    #[inline]
    pub(super) fn black_king_to_edge(self) -> usize {
        let king = self.0 >> 24;
        let [file, rank] = [king & 7, king >> 3];
        file.min(7 - file).min(rank).min(7 - rank) as usize
    }

    /// The image under a symmetry of the board: bit 0 reverses files, bit 1 ranks, and bit 2 then
    /// exchanges files and ranks, as in tables.
    #[inline]
    const fn image(self, symmetry: u32) -> Self {
        let mut packed = self.0;
        if symmetry & 1 != 0 {
            packed ^= FILES;
        }
        if symmetry & 2 != 0 {
            packed ^= RANKS;
        }
        if symmetry & 4 != 0 {
            packed = (packed & FILES) << 3 | (packed & RANKS) >> 3;
        }
        Self(packed)
    }
}

/// The orientation of an endgame's positions before a network sees them.
///
/// - If the board has exactly one bishop, it stands on a light square: otherwise files are reversed. Without
///   bishops, or with more than one, this rule does not apply.
/// - Two like pieces are in the order of their squares.
/// - With rotations, among the remaining images (four with one bishop, eight otherwise) the one is taken that
///   has black's king on the highest rank, and on the first file of those; ties are decided likewise by
///   white's king, then the other pieces.
///
/// So with rotations a8 is the corner nearest to black's king, among those of the bishop's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation {
    /// The bytes that have a piece.
    used: u32,
    /// The shift of the only bishop's byte.
    bishop: Option<u32>,
    /// Whether the third and the fourth piece are alike.
    alike: bool,
    rotations: bool,
}

impl Orientation {
    pub(super) fn new(endgame: &Endgame, rotations: bool) -> Self {
        let men = endgame.men();
        let mut bishops = men
            .iter()
            .enumerate()
            .filter(|(_, man)| man.1 == Piece::Bishop)
            .map(|(place, _)| place);
        let bishop = match (bishops.next(), bishops.next()) {
            (Some(only), None) => Some(8 * (PIECES_MAX - 1 - only) as u32),
            _ => None,
        };
        Self {
            used: u32::MAX << (8 * (PIECES_MAX - men.len())),
            bishop,
            alike: men.len() == PIECES_MAX && men[2] == men[3],
            rotations,
        }
    }

    /// Whether all images of a position look the same.
    pub(super) const fn is_symmetric(&self) -> bool {
        self.rotations
    }

    /// The squares as a network sees them.
    #[inline]
    pub(super) fn seen(&self, squares: Squares) -> Squares {
        if self.rotations {
            self.class(squares)
        } else {
            self.in_order(self.with_light_bishop(squares))
        }
    }

    /// A representative of all images of a position: the one that is seen with rotations.
    #[inline]
    pub(super) fn class(&self, squares: Squares) -> Squares {
        // Ranks from the highest down are in the order of numbers.
        let upside_down = self.with_light_bishop(squares).image(2);
        let image = |symmetry| self.in_order(upside_down.image(symmetry));
        let least = self.symmetries().iter().map(|symmetry| image(*symmetry)).min();
        self.in_order(least.unwrap_or(upside_down).image(2))
    }

    /// The images of a position as a network without rotations sees them, possibly with repetitions.
    pub(super) fn images(&self, squares: Squares) -> impl Iterator<Item = Squares> {
        let (orientation, squares) = (*self, self.with_light_bishop(squares));
        self.symmetries().iter().map(move |symmetry| orientation.in_order(squares.image(*symmetry)))
    }

    /// The board turned by nothing, a quarter, a half and three quarters, as a network without rotations sees it,
    /// possibly with repetitions. A quarter turn exchanges the colours of squares: with one bishop files are then
    /// reversed, so that these are all images.
    pub(super) fn turns(&self, squares: Squares) -> impl Iterator<Item = Squares> {
        let turns = match self.bishop {
            None => &[0, 3, 5, 6],
            Some(_) => self.symmetries(),
        };
        let (orientation, squares) = (*self, self.with_light_bishop(squares));
        turns.iter().map(move |symmetry| orientation.in_order(squares.image(*symmetry)))
    }

    /// Those that keep the colour of a bishop's square.
    const fn symmetries(&self) -> &'static [u32] {
        match self.bishop {
            None => &[0, 1, 2, 3, 4, 5, 6, 7],
            Some(_) => &[0, 3, 4, 7],
        }
    }

    #[inline]
    fn with_light_bishop(&self, squares: Squares) -> Squares {
        match self.bishop {
            // The square's file and rank have different parities.
            Some(byte) if (squares.0 ^ (squares.0 >> 3)) >> byte & 1 == 0 => squares.image(1),
            Some(_) | None => squares,
        }
    }

    #[inline]
    fn in_order(&self, squares: Squares) -> Squares {
        let mut packed = squares.0 & self.used;
        if self.alike {
            let pair = packed as u16;
            packed = packed & 0xffff_0000 | u32::from(pair.min(pair.swap_bytes()));
        }
        Squares(packed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn orientation(name: &str, rotations: bool) -> Orientation {
        Orientation::new(&name.parse().unwrap(), rotations)
    }

    fn is_light(square: u8) -> bool {
        (square % 8 + square / 8) % 2 == 1
    }

    /// The image in the obvious way: by file and rank.
    fn image(square: u8, symmetry: u32) -> u8 {
        let (mut file, mut rank) = (square % 8, square / 8);
        if symmetry & 1 != 0 {
            file = 7 - file;
        }
        if symmetry & 2 != 0 {
            rank = 7 - rank;
        }
        if symmetry & 4 != 0 {
            (file, rank) = (rank, file);
        }
        rank * 8 + file
    }

    const NAMES: [&str; 7] = ["KRK", "KBK", "KBNK", "KRKB", "KBKB", "KBBK", "KNNK"];

    proptest! {
        #[test]
        fn squares_are_unpacked_as_they_were_packed(squares: [u8; 4]) {
            let squares = squares.map(|square| square & 63);
            prop_assert_eq!(Squares::new(&squares).in_order(), squares);
            for symmetry in 0..8 {
                let expected = squares.map(|square| image(square, symmetry));
                prop_assert_eq!(Squares::new(&squares).image(symmetry).in_order(), expected);
            }
        }

        /// A class is the same whatever the orientation of the board and the order of like pieces; and a
        /// network without rotations sees the position itself, or its mirror image.
        #[test]
        fn images_are_of_one_class(squares: [u8; 4], name in prop::sample::select(&NAMES)) {
            let men = name.len();
            let squares = squares.map(|square| square & 63);
            let (plain, turned) = (orientation(name, false), orientation(name, true));
            let packed = |squares: [u8; 4]| Squares::new(&squares[..men]);
            let class = plain.class(packed(squares));
            prop_assert_eq!(turned.class(class), class);
            let mut images = std::collections::BTreeSet::new();
            for symmetry in 0..8 {
                let mut squares = squares.map(|square| image(square, symmetry));
                prop_assert_eq!(plain.class(packed(squares)), class);
                prop_assert_eq!(turned.seen(packed(squares)), class);
                images.insert(plain.seen(packed(squares)));
                if ["KBBK", "KNNK"].contains(&name) {
                    let seen = plain.seen(packed(squares));
                    squares.swap(2, 3);
                    prop_assert_eq!(plain.class(packed(squares)), class);
                    prop_assert_eq!(plain.seen(packed(squares)), seen);
                }
            }
            prop_assert_eq!(plain.images(packed(squares)).collect::<std::collections::BTreeSet<_>>(), images.clone());
            let black = |squares: &Squares| (squares.in_order()[1] / 8, 7 - squares.in_order()[1] % 8);
            prop_assert_eq!(images.iter().map(black).max(), Some(black(&class)));
            for seen in images {
                let places = seen.in_order();
                if ["KBK", "KBNK"].contains(&name) {
                    prop_assert!(is_light(places[2]));
                }
                if name == "KRKB" {
                    prop_assert!(is_light(places[3]));
                }
                prop_assert!(places[men..].iter().all(|square| *square == 0));
            }
        }
    }

    /// The nearest of the corners in which a bishop mates.
    #[test]
    fn with_rotations_a8_is_the_nearest_corner() {
        let far = |square: u8, corner: u8| {
            (square % 8).abs_diff(corner % 8).max((square / 8).abs_diff(corner / 8))
        };
        for king in 0..64 {
            for bishop in (0..64).filter(|bishop| *bishop != king) {
                let seen = orientation("KBNK", true).seen(Squares::new(&[9, king, bishop, 22]));
                let corners: &[u8] = if is_light(bishop) { &[7, 56] } else { &[0, 63] };
                let nearest = corners.iter().map(|corner| far(king, *corner)).min();
                assert_eq!(Some(far(seen.in_order()[1], 56)), nearest);
            }
            let seen = orientation("KRK", true).seen(Squares::new(&[9, king, 22]));
            let nearest = [0, 7, 56, 63].into_iter().map(|corner| far(king, corner)).min();
            assert_eq!(Some(far(seen.in_order()[1], 56)), nearest);
        }
    }
}
