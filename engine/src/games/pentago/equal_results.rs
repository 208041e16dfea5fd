//! Moves that lead to the same board.
//!
//! Turning a quadrant that looks the same afterwards is as good as not turning it, whichever it is;
//! where half a turn changes nothing, both directions are one; and a marble can be placed where the
//! turn will bring it or elsewhere in the quadrant. Two moves lead to one board only if a quadrant
//! looks the same after half a turn, or would with one marble more of the mover's: the two boards
//! must agree in every quadrant, and a turned one agrees with an unturned one, or with one turned
//! the other way, in no other case.

use super::Pentago;
use super::bitboard::Bitboard;
use super::moves::PentagoMove;
use crate::position::Position;

/// For each filling of a quadrant: how many of its marbles half a turn brings to where none is.
static ODD: [u8; 512] = {
    let mut table = [0; 512];
    let mut marbles = 0_usize;
    while marbles < 512 {
        // Half a turn reverses the nine cells.
        let turned = ((marbles as u16).reverse_bits() >> 7) as usize;
        table[marbles] = (marbles & !turned).count_ones() as u8;
        marbles += 1;
    }
    table
};

/// Whether two moves of `own` can lead to the same board at all.
#[inline]
fn may_repeat(own: Bitboard, other: Bitboard) -> bool {
    (0..4).any(|q| ODD[own.quadrant(q)] <= 1 && ODD[other.quadrant(q)] == 0)
}

/// Lists the legal moves but those that lead to the same position as one listed before them.
pub(super) fn distinct_moves(position: &Pentago, moves: &mut Vec<PentagoMove>) {
    let first = moves.len();
    position.legal_moves(moves);
    if !may_repeat(position.own(), position.other()) {
        return;
    }
    let mut seen = Seen::new();
    let mut kept = first;
    for index in first..moves.len() {
        let mv = moves[index];
        let mut child = *position;
        child.play_unchecked(mv);
        // Placements that end the game are all different.
        if mv.turn_index().is_none() || seen.insert(child.own(), child.other()) {
            moves[kept] = mv;
            kept += 1;
        }
    }
    moves.truncate(kept);
}

/// A set of boards, with room for those of one position's moves: a hash table with open addressing.
struct Seen {
    slots: [u16; Self::SLOTS],
    boards: [[u64; 2]; Self::BOARDS],
    count: usize,
}

impl Seen {
    /// At most 36 cells and eight turns.
    const BOARDS: usize = 288;
    const SLOTS: usize = 1024;

    const fn new() -> Self {
        Self { slots: [0; Self::SLOTS], boards: [[0; 2]; Self::BOARDS], count: 0 }
    }

    /// Whether the board was not in the set.
    #[inline]
    fn insert(&mut self, own: Bitboard, other: Bitboard) -> bool {
        let board = [own.bits(), other.bits()];
        let mixed = (own.bits() ^ other.bits().rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (mixed >> 54) as usize;
        loop {
            match self.slots[slot] {
                0 => break,
                taken if self.boards[usize::from(taken) - 1] == board => return false,
                _ => slot = (slot + 1) % Self::SLOTS,
            }
        }
        self.boards[self.count] = board;
        self.count += 1;
        self.slots[slot] = self.count as u16;
        true
    }
}
