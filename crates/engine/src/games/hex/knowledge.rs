//! Knowledge of Hex for searches.

use super::{Hex, HexMove};
use crate::core::cells::Cells;
use crate::core::knowledge::{Knowledge, Losing, Sifted};
use crate::core::position::mix;

/// One of the two symmetries that leave each side its edges: as it is, or turned by 180 degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// The code of the last cell, whose image is the first one; 0 for the board as it is.
    last: u16,
}

impl Orientation {
    const fn apply(self, code: u16) -> u16 {
        if self.last == 0 || code > self.last { code } else { self.last - code }
    }
}

impl Knowledge for Hex {
    const MOVE_CODES: usize = HexMove::CODES;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: HexMove) -> u16 {
        mv.0
    }

    #[inline]
    fn table_key(&self) -> u64 {
        self.key(&self.stones)
    }

    #[inline]
    fn reduced_key(&self) -> (u64, Orientation) {
        let (stones, is_turned) = self.reduced();
        let last = if is_turned { self.move_to(self.last_cell()).0 } else { 0 };
        (self.key(&stones), Orientation { last })
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(code)
    }

    /// A board that was turned is turned back.
    fn restored(code: u16, orientation: Orientation) -> u16 {
        orientation.apply(code)
    }

    #[inline]
    fn can_win_at_once(&self) -> bool {
        !self.winning_cells(self.to_move).is_empty()
    }

    /// A stone changes nothing about the opponent's winning cells except for its own cell.
    fn remove_losing(&self, moves: &mut Vec<HexMove>, first: usize) -> Sifted {
        let winning = self.winning_cells(self.to_move.other());
        if winning.is_empty() {
            return Sifted::AllSafe;
        }
        let blocks =
            |mv: HexMove| winning.len() == 1 && self.bit(mv).is_some_and(|bit| winning.has(bit));
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
        let [own, other] =
            [self.to_move, self.to_move.other()].map(|side| self.distance(side.index()));
        [2 * own - 1, 2 * other]
    }

    /// Cells near the centre before those far away.
    #[inline]
    fn move_kind(&self, mv: HexMove) -> u8 {
        let Some((row, column)) = mv.cell() else { return 0 };
        let far = self.size() as i32 - 1;
        let (down, right) = (2 * row as i32 - far, 2 * column as i32 - far);
        let distance = down.abs().max(right.abs()).max((down + right).abs());
        (2 * far - distance).clamp(0, u8::MAX.into()) as u8
    }

    #[inline]
    fn plies_left(&self) -> u32 {
        let may_swap_later = self.count == 0 && self.has_swap_rule;
        if self.is_won {
            return 0;
        }
        self.empty_cells() + u32::from(may_swap_later || self.may_swap())
    }
}

impl Hex {
    /// The bit of the cell at the lower right.
    #[inline]
    const fn last_cell(&self) -> u32 {
        self.grid.bit(self.size() - 1, self.size() - 1)
    }

    /// The lesser of the board and the turned board, and whether that is the turned one.
    #[inline]
    pub(super) fn reduced(&self) -> ([Cells; 2], bool) {
        let turned = self.stones.each_ref().map(|stones| self.grid.turned(stones));
        if turned < self.stones { (turned, true) } else { (self.stones, false) }
    }

    /// The words of both sides' stones that have cells and the side to move, mixed.
    #[inline]
    pub(super) fn key(&self, stones: &[Cells; 2]) -> u64 {
        let words = stones.iter().flat_map(|stones| self.grid.words_of(stones));
        let turn = mix([self.to_move.index() as u64]);
        words.fold(turn, |state, word| mix([state ^ word]))
    }
}
