//! Knowledge of Othello for searches.

use super::features::SquareClass;
use super::{Orientation, Othello, OthelloMove, SQUARES, State, symmetry};
use crate::core::knowledge::Knowledge;
use crate::core::position::{Position, Side, mix};

impl Knowledge for Othello {
    const MOVE_CODES: usize = OthelloMove::CODES;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: OthelloMove) -> u16 {
        mv.code()
    }

    #[inline]
    fn table_key(&self) -> u64 {
        mix(self.words(self.own(), self.other()))
    }

    #[inline]
    fn reduced_key(&self) -> (u64, Orientation) {
        let ([own, other], orientation) = symmetry::reduced([self.own(), self.other()]);
        (mix(self.words(own, other)), orientation)
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(code)
    }

    fn restored(code: u16, orientation: Orientation) -> u16 {
        orientation.inverse().apply(code)
    }

    #[inline]
    fn can_win_at_once(&self) -> bool {
        self.winning_move().is_some()
    }

    /// Corners, which are never flipped, before the edges, and moves that give away a corner last.
    #[inline]
    fn move_kind(&self, mv: OthelloMove) -> u8 {
        mv.square().map_or(0, |square| PROMISE[SquareClass::of_square(square) as usize])
    }

    /// Each empty square is a ply, and a pass may come before each, except for the first if there is a move
    /// now.
    #[inline]
    fn plies_left(&self) -> u32 {
        let empty = SQUARES - self.discs();
        match self.state {
            State::Moves => 2 * empty - 1,
            State::MustPass => 2 * empty,
            State::Over => 0,
        }
    }
}

/// The rank of moves on the classes of squares, from a to j.
const PROMISE: [u8; 10] = [9, 2, 7, 6, 1, 3, 4, 8, 5, 0];

impl Othello {
    /// The discs of the side to move and of the other, or images of them, with the side to move: d4 has a
    /// disc in exactly one of the words, or, if White is to move, in both or none.
    #[inline]
    pub(super) const fn words(&self, own: u64, other: u64) -> [u64; 2] {
        const D4: u64 = 1 << 27;
        let is_whites_turn = matches!(self.to_move, Side::Second);
        [own, if is_whites_turn { other ^ D4 } else { other }]
    }
}
