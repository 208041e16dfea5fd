//! Knowledge of ultimate tic-tac-toe for searches.

use super::{ANY, NINE, Orientation, UltimateTicTacToe, UltimateTicTacToeMove, halves, lines};
use crate::core::knowledge::{Knowledge, Losing, Sifted};
use crate::core::position::{Position, Side, mix};

impl Knowledge for UltimateTicTacToe {
    const MOVE_CODES: usize = NINE * NINE;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: UltimateTicTacToeMove) -> u16 {
        u16::from(mv.0)
    }

    #[inline]
    fn table_key(&self) -> u64 {
        mix(halves(self.packed(Orientation::default())))
    }

    fn reduced_key(&self) -> (u64, Orientation) {
        let (packed, orientation) = self.reduced();
        (mix(halves(packed)), orientation)
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

    /// The other side wins at once in some boards: a move must not send it there, unless the move itself spoils
    /// that board.
    fn remove_losing(&self, moves: &mut Vec<UltimateTicTacToeMove>, first: usize) -> Sifted {
        let opponent = self.to_move.other();
        let wins = (0..NINE).filter(|&board| self.winning_in(board, opponent) != 0);
        let wins: u16 = wins.fold(0, |boards, board| boards | 1 << board);
        if wins == 0 {
            return Sifted::AllSafe;
        }
        let mut kept = first;
        for index in first..moves.len() {
            let mv = moves[index];
            let mut after = *self;
            after.play_unchecked(mv);
            // The other boards are as they were.
            let own_board = u16::from(after.winning_in(mv.board(), opponent) != 0) << mv.board();
            let wins = wins & !(1 << mv.board()) | own_board;
            let reached = if after.target == ANY { wins } else { wins & 1 << after.target };
            moves[kept] = mv;
            kept += usize::from(reached == 0);
        }
        let is_any_removed = kept < moves.len();
        moves.truncate(kept);
        if is_any_removed { Sifted::Removed(Losing::ToTheReply) } else { Sifted::AllSafe }
    }

    /// By the marks that the three boards of a line lack at least.
    fn plies_to_win(&self) -> [u32; 2] {
        let marks =
            |side: Side| self.marks_to_win(side).unwrap_or(NINE as u32 * NINE as u32).max(1);
        [2 * marks(self.to_move) - 1, 2 * marks(self.to_move.other())]
    }

    /// Marks that win a board, then those that leave the other side in one board.
    #[inline]
    fn move_kind(&self, mv: UltimateTicTacToeMove) -> u8 {
        let marks = self.marks[self.to_move.index()][mv.board()];
        let wins = lines::completing(marks) >> mv.cell() & 1 == 1;
        let sends = self.open_in(mv.cell()) != 0;
        2 * u8::from(wins) + u8::from(sends)
    }

    #[inline]
    fn plies_left(&self) -> u32 {
        self.open.count_ones()
    }
}

impl UltimateTicTacToe {
    /// The marks that a side needs at least to win three boards in a row; `None` if it cannot win any more.
    fn marks_to_win(&self, side: Side) -> Option<u32> {
        let [own, other] = [side, side.other()].map(Side::index);
        let marks = |board: usize| {
            if self.won[own] >> board & 1 == 1 {
                return Some(0);
            }
            if self.open_in(board) == 0 {
                return None;
            }
            lines::missing(self.marks[own][board], self.marks[other][board])
        };
        let boards: [Option<u32>; NINE] = std::array::from_fn(marks);
        let line = |line: &u16| -> Option<u32> {
            (0..NINE).filter(|board| line >> board & 1 == 1).map(|board| boards[board]).sum()
        };
        lines::LINES.iter().filter_map(line).min()
    }
}
