//! Knowledge of Pentago for searches.

use super::moves::PentagoMove;
use super::symmetry::{self, Orientation};
use super::threats::Defence;
use super::{CELLS, Pentago, equal_results, threats};
use crate::core::knowledge::{Knowledge, Losing, Sifted};

impl Knowledge for Pentago {
    const MOVE_CODES: usize = PentagoMove::CODES;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: PentagoMove) -> u16 {
        mv.code()
    }

    /// A cell has three states, a quadrant 19,683, which fit into 15 bits, and a board into 60: no
    /// two positions share a key.
    #[inline]
    fn table_key(&self) -> u64 {
        symmetry::packed([self.own, self.other])
    }

    fn reduced_key(&self) -> (u64, Orientation) {
        symmetry::reduced([self.own, self.other])
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(PentagoMove::from_code(code)).code()
    }

    fn restored(code: u16, orientation: Orientation) -> u16 {
        orientation.inverse().apply(PentagoMove::from_code(code)).code()
    }

    fn distinct_moves(&self, moves: &mut Vec<PentagoMove>) {
        equal_results::distinct_moves(self, moves);
    }

    #[inline]
    fn can_win_at_once(&self) -> bool {
        threats::can_win(self.own, self.other, self.win_before_rotation)
    }

    fn remove_losing(&self, moves: &mut Vec<PentagoMove>, first: usize) -> Sifted {
        let Some(defence) = self.defence() else { return Sifted::AllSafe };
        let mut removed = None;
        let mut kept = first;
        for index in first..moves.len() {
            let mv = moves[index];
            let turn = mv.turn();
            debug_assert!(turn.is_some(), "a side that can win at once needs no defence");
            let turn = mv.turn_number();
            if defence.safe[turn].has(mv.bit()) {
                moves[kept] = mv;
                kept += 1;
            } else if defence.loses_at_once[turn] {
                removed = removed.or(Some(Losing::AtOnce));
            } else {
                removed = Some(Losing::ToTheReply);
            }
        }
        moves.truncate(kept);
        removed.map_or(Sifted::AllSafe, Sifted::Removed)
    }

    #[inline]
    fn plies_to_win(&self) -> [u32; 2] {
        let own = threats::missing(self.own);
        let other = threats::missing(self.other);
        [(2 * own).saturating_sub(1).max(1), (2 * other).max(1)]
    }

    /// A placement on a quadrant's centre, which no turn moves, before one beside a marble, before
    /// the rest.
    #[inline]
    fn move_kind(&self, mv: PentagoMove) -> u8 {
        let taken = self.own.or(self.other);
        if mv.bit() % 16 == 4 { 2 } else { u8::from(taken.quadrant(mv.bit() as usize / 16) != 0) }
    }

    fn plies_left(&self) -> u32 {
        u32::from(CELLS - self.marbles)
    }
}

impl Pentago {
    /// The defences of the side to move, which cannot win at once, against a loss at once or to the
    /// next reply; `None` if no reply can win after any move.
    #[inline]
    pub(crate) fn defence(&self) -> Option<Defence> {
        // The last placement has no reply.
        if self.marbles + 1 >= CELLS {
            return None;
        }
        threats::defence(self.own, self.other, self.win_before_rotation)
    }
}
