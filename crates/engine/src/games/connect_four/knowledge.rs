//! Knowledge of Connect Four for searches.

use super::{CELLS, COLUMNS, ConnectFour, ConnectFourMove, fours, mirrored};
use crate::core::knowledge::{Knowledge, Losing, Sifted};

/// One of the two symmetries of the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// Whether left and right are exchanged.
    is_mirrored: bool,
}

impl Orientation {
    const fn apply(self, code: u16) -> u16 {
        if self.is_mirrored { COLUMNS as u16 - 1 - code } else { code }
    }
}

impl Knowledge for ConnectFour {
    const MOVE_CODES: usize = COLUMNS as usize;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: ConnectFourMove) -> u16 {
        u16::from(mv.0)
    }

    /// Unique to each position.
    #[inline]
    fn table_key(&self) -> u64 {
        self.packed()
    }

    #[inline]
    fn reduced_key(&self) -> (u64, Orientation) {
        let (packed, image) = (self.packed(), mirrored(self.packed()));
        (packed.min(image), Orientation { is_mirrored: image < packed })
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(code)
    }

    /// A mirror image is mirrored back.
    fn restored(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(code)
    }

    #[inline]
    fn can_win_at_once(&self) -> bool {
        fours::completing(self.own()) & self.open_cells() != 0
    }

    /// A disc leaves the opponent's winning cells unchanged, except for its own cell: it opens the
    /// one above.
    #[inline]
    fn remove_losing(&self, moves: &mut Vec<ConnectFourMove>, first: usize) -> Sifted {
        let open = self.open_cells();
        let winning = fours::completing(self.other());
        if winning & (open | open << 1) == 0 {
            return Sifted::AllSafe;
        }
        let mut kept = first;
        for index in first..moves.len() {
            let mv = moves[index];
            let cell = open & mv.cells();
            moves[kept] = mv;
            kept += usize::from(winning & (open ^ cell | cell << 1) == 0);
        }
        let is_any_removed = kept < moves.len();
        moves.truncate(kept);
        if is_any_removed { Sifted::Removed(Losing::ToTheReply) } else { Sifted::AllSafe }
    }

    #[inline]
    fn plies_to_win(&self) -> [u32; 2] {
        let (own, other) = (self.own(), self.other());
        [2 * fours::missing(own, other) - 1, 2 * fours::missing(other, own)]
    }

    /// The middle column before those beside it, and so on: the more lines go through a column's
    /// cells.
    #[inline]
    fn move_kind(&self, mv: ConnectFourMove) -> u8 {
        let middle = COLUMNS as u8 / 2;
        middle - mv.0.abs_diff(middle)
    }

    #[inline]
    fn plies_left(&self) -> u32 {
        CELLS - self.discs()
    }
}
