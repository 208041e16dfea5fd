//! Knowledge of Breakthrough for searches.

use super::{Breakthrough, BreakthroughMove, FIRST_COLUMN, Way};
use crate::core::knowledge::{Knowledge, Losing, Sifted};
use crate::core::position::{Side, mix};

/// One of the two symmetries of the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// The number of columns if left and right are exchanged, else 0.
    mirrored_columns: u8,
}

impl Orientation {
    const fn apply(self, code: u16) -> u16 {
        if self.mirrored_columns == 0 {
            return code;
        }
        let (from, way) = (code / WAYS, code % WAYS);
        let (row, column) = (from / 8, from % 8);
        let column = (self.mirrored_columns as u16 - 1).wrapping_sub(column) % 8;
        (8 * row + column) * WAYS + (WAYS - 1 - way)
    }
}

/// The ways of a pawn, in a move's code.
const WAYS: u16 = Way::ALL.len() as u16;

impl Knowledge for Breakthrough {
    const MOVE_CODES: usize = 64 * WAYS as usize;

    type Orientation = Orientation;

    #[inline]
    fn move_code(mv: BreakthroughMove) -> u16 {
        u16::from(mv.from) * WAYS + mv.way as u16
    }

    #[inline]
    fn table_key(&self) -> u64 {
        mix([self.own, self.other, self.to_move.index() as u64])
    }

    #[inline]
    fn reduced_key(&self) -> (u64, Orientation) {
        let ([own, other], is_mirrored) = self.reduced();
        let mirrored_columns = if is_mirrored { self.columns } else { 0 };
        (mix([own, other, self.to_move.index() as u64]), Orientation { mirrored_columns })
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
        self.winners() != [0; 3]
    }

    /// A pawn one row before the far row always gets there, diagonally if not straight, so it must be captured;
    /// and a last pawn must not move to where it is captured.
    #[inline]
    fn remove_losing(&self, moves: &mut Vec<BreakthroughMove>, first: usize) -> Sifted {
        let opponent = self.to_move.other();
        let runners = self.other & self.before_goal(opponent);
        let is_last = self.own & self.own.wrapping_sub(1) == 0;
        if runners == 0 && !is_last {
            return Sifted::AllSafe;
        }
        let mut kept = first;
        for index in first..moves.len() {
            let mv = moves[index];
            let to = 1_u64 << mv.to_bit();
            let is_attacked = || {
                let other = self.other & !to;
                let movers = self.movers(other, to, opponent);
                self.capturing(movers, to, opponent) != [0; 3]
            };
            moves[kept] = mv;
            kept += usize::from(runners & !to == 0 && !(is_last && is_attacked()));
        }
        let is_any_removed = kept < moves.len();
        moves.truncate(kept);
        if is_any_removed { Sifted::Removed(Losing::ToTheReply) } else { Sifted::AllSafe }
    }

    /// By the foremost pawn, which takes a ply for each row, or by a ply for each capture.
    #[inline]
    fn plies_to_win(&self) -> [u32; 2] {
        let moves = |pawns, opposing: u64, side| {
            (self.rows() - 1 - self.foremost(pawns, side)).min(opposing.count_ones()).max(1)
        };
        let opponent = self.to_move.other();
        [
            2 * moves(self.own, self.other, self.to_move) - 1,
            2 * moves(self.other, self.own, opponent),
        ]
    }

    /// Captures before other moves, then by the row reached.
    #[inline]
    fn move_kind(&self, mv: BreakthroughMove) -> u8 {
        let row = match self.to_move {
            Side::First => mv.to_bit() / 8,
            Side::Second => self.rows.saturating_sub(1 + mv.to_bit() / 8),
        };
        row + if mv.captures() { 8 } else { 0 }
    }

    /// Each move brings a pawn one row forward, and the first on the far row ends the game.
    #[inline]
    fn plies_left(&self) -> u32 {
        if self.is_lost() {
            return 0;
        }
        let before_last = |pawns: u64, side| {
            pawns.count_ones() * (self.rows() - 2) - self.rows_advanced(pawns, side)
        };
        let own = before_last(self.own, self.to_move);
        let other = before_last(self.other, self.to_move.other());
        (own + other + 1).min(2 * own + 1).min(2 * other + 2)
    }
}

impl Breakthrough {
    /// The rows from a side's own edge that its foremost pawn has advanced; 0 without pawns.
    #[inline]
    pub(super) const fn foremost(&self, pawns: u64, side: Side) -> u32 {
        if pawns == 0 {
            return 0;
        }
        match side {
            Side::First => pawns.ilog2() / 8,
            Side::Second => self.rows() - 1 - pawns.trailing_zeros() / 8,
        }
    }

    /// The sum over a side's pawns of the rows from its own edge that they have advanced.
    #[inline]
    pub(super) const fn rows_advanced(&self, pawns: u64, side: Side) -> u32 {
        // A pawn counts once for each row that lies between.
        let (mut sum, mut row) = (0, 1);
        while row < self.rows {
            let passed = match side {
                Side::First => pawns >> (8 * row),
                Side::Second => pawns & ((1 << (8 * row)) - 1),
            };
            sum += passed.count_ones();
            row += 1;
        }
        sum
    }

    /// The number of a side's pawns that others of it stand diagonally behind.
    #[inline]
    pub(super) const fn guarded(&self, pawns: u64, side: Side) -> u32 {
        let last_column = FIRST_COLUMN << (self.columns - 1);
        let (to_left, to_right) = (pawns & !FIRST_COLUMN, pawns & !last_column);
        let guarded = match side {
            Side::First => pawns & (to_left << 7 | to_right << 9),
            Side::Second => pawns & (to_left >> 9 | to_right >> 7),
        };
        guarded.count_ones()
    }
}
