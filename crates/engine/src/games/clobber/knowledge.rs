//! Knowledge of Clobber for searches.

use super::{Clobber, ClobberMove, Orientation, PAIRS_PER_MOVE, Way};
use crate::core::knowledge::{Knowledge, Losing, Sifted};
use crate::core::position::{Position, mix};
use crate::games::rectangle::{BITS, ROW_BITS, cell_of};

/// The ways of a stone, in a move's code.
const WAYS: u16 = Way::ALL.len() as u16;

/// The image of a move's code. The ways are every second direction of the board's.
fn image(code: u16, orientation: Orientation) -> u16 {
    let from = orientation.of_bit(u32::from(code / WAYS)) as u16;
    let way = orientation.of_direction(2 * usize::from(code % WAYS)) as u16 / 2;
    from.wrapping_mul(WAYS).wrapping_add(way)
}

impl Knowledge for Clobber {
    const MOVE_CODES: usize = BITS * WAYS as usize;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: ClobberMove) -> u16 {
        u16::from(mv.from) * WAYS + mv.way as u16
    }

    #[inline]
    fn table_key(&self) -> u64 {
        mix(self.words([self.own, self.other]))
    }

    fn reduced_key(&self) -> (u64, Orientation) {
        let (stones, orientation) = self.reduced();
        (mix(self.words(stones)), orientation)
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        image(code, orientation)
    }

    fn restored(code: u16, orientation: Orientation) -> u16 {
        image(code, orientation.inverse())
    }

    #[inline]
    fn can_win_at_once(&self) -> bool {
        self.winning_move().is_some()
    }

    /// A move and a reply take away fourteen pairs of stones at most.
    fn remove_losing(&self, moves: &mut Vec<ClobberMove>, first: usize) -> Sifted {
        if self.legal_move_count() > 2 * PAIRS_PER_MOVE {
            return Sifted::AllSafe;
        }
        let mut kept = first;
        for index in first..moves.len() {
            let mv = moves[index];
            let mut child = *self;
            child.play_unchecked(mv);
            moves[kept] = mv;
            kept += usize::from(child.winning_move().is_none());
        }
        let is_any_removed = kept < moves.len();
        moves.truncate(kept);
        if is_any_removed { Sifted::Removed(Losing::ToTheReply) } else { Sifted::AllSafe }
    }

    /// The side to move wins with an odd ply, the other with an even one.
    #[inline]
    fn plies_to_win(&self) -> [u32; 2] {
        let plies = self.legal_move_count().div_ceil(PAIRS_PER_MOVE).max(1);
        [plies | 1, plies.next_multiple_of(2)]
    }

    /// Moves from near the edge first, where stones have the fewest others beside them and are stranded soonest.
    #[inline]
    fn move_kind(&self, mv: ClobberMove) -> u8 {
        let cell = cell_of(mv.from.into());
        let from_edge = |place: u32, size: u32| place.min(size.wrapping_sub(1 + place));
        let columns = from_edge(cell.column, self.columns());
        let rows = from_edge(cell.row, self.rows());
        10_u8.saturating_sub(columns.min(rows) as u8)
    }

    /// Each move leaves its cell empty and keeps at least one stone; stones without any beside them have no part
    /// in that.
    #[inline]
    fn plies_left(&self) -> u32 {
        if self.is_over() {
            return 0;
        }
        let all = self.own | self.other;
        let beside = all << 1 | all >> 1 | all << ROW_BITS | all >> ROW_BITS;
        (all & beside).count_ones() - 1
    }
}
