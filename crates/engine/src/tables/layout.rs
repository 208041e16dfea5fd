//! What decides how the positions of an endgame are numbered: how many pieces there are, and which are pawns.

use cozy_chess::{Color, Piece};

use super::symmetry::{MIRROR_PAIRS, PAIRS};

/// The number of pieces and the places of pawns among them, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    men: u8,
    /// White's pawns and black's.
    pawns: [u8; 2],
}

impl Layout {
    pub(super) fn new(men: &[(Color, Piece)]) -> Self {
        let mut layout = Self { men: men.len() as u8, pawns: [0; 2] };
        for (place, &(color, piece)) in men.iter().enumerate() {
            if piece == Piece::Pawn {
                layout.pawns[color as usize] |= 1 << place;
            }
        }
        layout
    }

    /// The number of pieces.
    #[inline]
    pub(super) const fn men(self) -> usize {
        self.men as usize
    }

    #[inline]
    pub(super) const fn has_pawns(self) -> bool {
        self.pawns[0] | self.pawns[1] != 0
    }

    /// Whether a pawn can ever capture en passant.
    #[inline]
    pub(super) const fn has_en_passant(self) -> bool {
        self.pawns[0] != 0 && self.pawns[1] != 0
    }

    /// The colour of the pawn at this place; `None` for other pieces.
    #[inline]
    pub(super) const fn pawn(self, man: usize) -> Option<Color> {
        if self.pawns[0] >> man & 1 != 0 {
            Some(Color::White)
        } else if self.pawns[1] >> man & 1 != 0 {
            Some(Color::Black)
        } else {
            None
        }
    }

    /// Pairs of kings up to symmetry.
    #[inline]
    pub(super) const fn pairs(self) -> usize {
        if self.has_pawns() { MIRROR_PAIRS } else { PAIRS }
    }

    /// The number of places in a table.
    pub(super) const fn places(self) -> usize {
        (2 * self.pairs()) << (6 * (self.men() - 2))
    }
}
