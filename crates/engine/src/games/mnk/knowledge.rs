//! Knowledge of m,n,k games for searches.

use super::{Mnk, MnkMove, Orientation};
use crate::core::knowledge::{Knowledge, Losing, Sifted};
use crate::core::position::Position;

impl Knowledge for Mnk {
    const MOVE_CODES: usize = MnkMove::CODES;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: MnkMove) -> u16 {
        mv.0
    }

    #[inline]
    fn table_key(&self) -> u64 {
        self.key()
    }

    #[inline]
    fn reduced_key(&self) -> (u64, Orientation) {
        self.reduced()
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(code)
    }

    fn restored(code: u16, orientation: Orientation) -> u16 {
        orientation.inverse().apply(code)
    }

    #[inline]
    fn can_win_at_once(&self) -> bool {
        !self.winning_cells(self.to_move()).is_empty()
    }

    /// A stone changes nothing about the opponent's winning cells except for its own cell.
    fn remove_losing(&self, moves: &mut Vec<MnkMove>, first: usize) -> Sifted {
        let winning = self.winning_cells(self.to_move().other());
        if winning.is_empty() {
            return Sifted::AllSafe;
        }
        let is_only = winning.len() == 1;
        let blocks = |mv| is_only && self.bit(mv).is_some_and(|bit| winning.has(bit));
        let mut kept = first;
        for index in first..moves.len() {
            moves[kept] = moves[index];
            kept += usize::from(blocks(moves[index]));
        }
        let is_any_removed = kept < moves.len();
        moves.truncate(kept);
        if is_any_removed { Sifted::Removed(Losing::ToTheReply) } else { Sifted::AllSafe }
    }

    fn plies_to_win(&self) -> [u32; 2] {
        let mover = self.to_move().index();
        let lacking = self.lacking();
        [2 * lacking[mover] - 1, 2 * lacking[1 - mover]]
    }

    /// Cells near the centre before those near the edges.
    #[inline]
    fn move_kind(&self, mv: MnkMove) -> u8 {
        let (row, column) = mv.cell();
        let nearest = |place: u32, count: u32| place.min((count - 1).saturating_sub(place));
        (nearest(row, self.rows()) + nearest(column, self.columns())) as u8
    }

    #[inline]
    fn plies_left(&self) -> u32 {
        self.legal_move_count()
    }
}
