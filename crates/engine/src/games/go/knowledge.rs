//! Knowledge of Go for searches.

use super::{Go, GoMove, STRIDE, keys};
use crate::core::knowledge::Knowledge;
use crate::core::position::Position;

impl Knowledge for Go {
    const MOVE_CODES: usize = GoMove::CODES;

    /// None: see [`Knowledge::reduced_key`].
    type Orientation = ();

    #[inline]
    fn move_code(mv: GoMove) -> u16 {
        mv.code()
    }

    /// With the plies played, which equal boards seldom differ in, and which decide when the game ends.
    fn table_key(&self) -> u64 {
        keys::table_key(self)
    }

    /// As [`Knowledge::table_key`]: superko compares points, so images are not the same position.
    fn reduced_key(&self) -> (u64, ()) {
        (self.table_key(), ())
    }

    fn can_win_at_once(&self) -> bool {
        self.winning_move().is_some()
    }

    /// Without a pass just made, the game ends by two more at the earliest, or by its length. The side to move
    /// can lose at once: by a stone that restores an earlier board.
    fn plies_to_win(&self) -> [u32; 2] {
        let is_near = self.passes > 0 || self.is_last_ply();
        [if is_near { 1 } else { 2 }, 1]
    }

    /// Points away from the edge first, up to the fourth row and column; then those nearer to it; then a pass.
    #[inline]
    fn move_kind(&self, mv: GoMove) -> u8 {
        mv.cell().map_or(0, |cell| {
            let from_edge = |line: u32| line.min(self.size().wrapping_sub(line + 1));
            1 + from_edge(cell % STRIDE).min(from_edge(cell / STRIDE)).min(3) as u8
        })
    }

    fn plies_left(&self) -> u32 {
        if self.is_over() { 0 } else { self.plies_max() - u32::from(self.plies) }
    }
}
