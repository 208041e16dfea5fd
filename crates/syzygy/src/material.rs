//! The pieces of a table, and the names of tables.

use std::fmt;

use cozy_chess::{Board, Color, Piece};

/// The most pieces that the format has, kings included.
pub const PIECES_MAX: usize = 7;

/// The letters of a table's name, in its order.
const LETTERS: [(char, Piece); 6] = [
    ('K', Piece::King),
    ('Q', Piece::Queen),
    ('R', Piece::Rook),
    ('B', Piece::Bishop),
    ('N', Piece::Knight),
    ('P', Piece::Pawn),
];

/// The pieces of two sides: for each the counts of kings, queens, rooks, bishops, knights and pawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Material([[u8; 6]; 2]);

impl Material {
    /// The pieces on a board, white's first.
    pub(crate) fn from_board(board: &Board) -> Self {
        let count = |color, piece| board.colored_pieces(color, piece).len() as u8;
        Self(
            [Color::White, Color::Black].map(|color| LETTERS.map(|(_, piece)| count(color, piece))),
        )
    }

    /// The pieces of codes as a table has them: 1 for a pawn to 6 for a king, and 8 more for the second side.
    /// `None` if a code has no piece.
    pub(crate) fn from_codes(codes: &[u8]) -> Option<Self> {
        let mut counts = [[0; 6]; 2];
        for code in codes {
            let piece = 6_usize.checked_sub(usize::from(code & 7)).filter(|&piece| piece < 6)?;
            *counts.get_mut(usize::from(code >> 3))?.get_mut(piece)? += 1;
        }
        Some(Self(counts))
    }

    /// Reads a table's name, such as `KQvKR`; `None` if it is not a name as its generator writes it.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (first, second) = name.split_once('v')?;
        let counts = [first, second].map(|side| {
            LETTERS.map(|(letter, _)| side.chars().filter(|&found| found == letter).count())
        });
        if counts.as_flattened().iter().sum::<usize>() > PIECES_MAX {
            return None;
        }
        let material = Self(counts.map(|side| side.map(|count| count as u8)));
        let has_kings = material.0.iter().all(|side| side[0] == 1);
        (has_kings && material.pieces() > 2 && material.to_string() == name).then_some(material)
    }

    /// The same with the sides exchanged.
    pub(crate) fn exchanged(self) -> Self {
        let [first, second] = self.0;
        Self([second, first])
    }

    /// Whether both sides have the same pieces.
    pub(crate) fn is_symmetric(self) -> bool {
        self.0[0] == self.0[1]
    }

    /// The pieces in the order of sides in which files are named: the larger side first, then the one with the
    /// better best piece.
    pub(crate) fn ordered(self) -> Self {
        let rank = |side: [u8; 6]| (side.iter().sum::<u8>(), side);
        if rank(self.0[0]) < rank(self.0[1]) { self.exchanged() } else { self }
    }

    /// The number of pieces.
    pub(crate) fn pieces(self) -> usize {
        self.0.as_flattened().iter().map(|&count| usize::from(count)).sum()
    }

    /// The number of pawns of each side.
    pub(crate) fn pawns(self) -> [usize; 2] {
        self.0.map(|side| usize::from(side[5]))
    }

    /// The number of kinds of pieces of which a side has one.
    pub(crate) fn single_kinds(self) -> usize {
        self.0.as_flattened().iter().filter(|&&count| count == 1).count()
    }

    /// The number of kinds of pieces, those of the sides told apart.
    pub(crate) fn kinds(self) -> usize {
        self.0.as_flattened().iter().filter(|&&count| count > 0).count()
    }

    /// The tables of this many pieces: each once, the order of sides as in their names.
    pub(crate) fn all(pieces: usize) -> impl Iterator<Item = Self> {
        let others = pieces.saturating_sub(2);
        (0..=others / 2).flat_map(move |fewer| {
            let seconds = sides(fewer);
            sides(others - fewer).into_iter().flat_map(move |first| {
                let pairs = seconds.clone().into_iter().map(move |second| Self([first, second]));
                pairs.filter(|&material| material.ordered() == material)
            })
        })
    }
}

/// Every side with a king and this many other pieces.
fn sides(others: usize) -> Vec<[u8; 6]> {
    (0..others).fold(vec![[1, 0, 0, 0, 0, 0]], |smaller, _| {
        let more = smaller.into_iter().flat_map(|side| {
            // Each side once: a piece is added that is not better than those that it has.
            let worst = (1..6).rev().find(|&kind| side[kind] > 0).unwrap_or(1);
            (worst..6).map(move |kind| {
                let mut more = side;
                more[kind] += 1;
                more
            })
        });
        more.collect()
    })
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, side) in self.0.iter().enumerate() {
            if index == 1 {
                f.write_str("v")?;
            }
            for ((letter, _), &count) in LETTERS.iter().zip(side) {
                (0..count).try_for_each(|_| write!(f, "{letter}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_others_are_none() {
        for count in 3..=PIECES_MAX {
            let all: Vec<Material> = Material::all(count).collect();
            let expected = [5, 30, 110, 365, 1_001][count - 3];
            assert_eq!(all.len(), expected, "{count} pieces");
            for material in all {
                assert_eq!(Material::parse(&material.to_string()), Some(material));
                assert_eq!(material.exchanged().ordered(), material);
            }
        }
        for name in ["", "v", "KvK", "KQ", "QKvK", "KKvK", "KQvKRx", "KQQQQQQQvK", "kqvk", "KéQvK"]
        {
            assert_eq!(Material::parse(name), None, "{name}");
        }
    }
}
