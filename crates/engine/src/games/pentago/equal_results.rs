//! Moves that lead to the same board.
//!
//! Turning a quadrant that looks the same afterwards has the same result for every such quadrant;
//! if half a turn changes nothing, both directions are one; and a marble can be placed at its final
//! cell or at the cell from which the turn brings it there. Two moves lead to one board only if a
//! quadrant looks the same after half a turn, or would with one more marble of the mover's: the two
//! boards must agree in every quadrant, and a turned one agrees with an unturned one, or with one
//! turned the other way, in no other case.

use super::Pentago;
use super::bitboard::Bitboard;
use super::moves::PentagoMove;
use crate::core::position::Position;

/// For each filling of a quadrant: the number of its marbles that half a turn moves to an empty
/// cell.
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

/// Lists the legal moves except those that lead to the same position as an earlier one.
pub(super) fn distinct_moves(position: &Pentago, moves: &mut Vec<PentagoMove>) {
    let first = moves.len();
    position.legal_moves(moves);
    let (own, other) = (position.own(), position.other());
    if !may_repeat(own, other) {
        return;
    }
    let both = [own, other];
    let is_idle = [0, 1, 2, 3].map(|q| both.iter().all(|board| board.is_same_after_quarter(q)));
    let is_one = [0, 1, 2, 3].map(|q| both.iter().all(|board| board.is_same_after_half(q)));
    // For each quadrant, the first turn of another that changes nothing.
    let idle_turn = [0, 1, 2, 3].map(|q| (0..4).find(|&turned| turned != q && is_idle[turned]));
    let mut seen = Seen::new(0, other);
    let mut kept = first;
    for index in first..moves.len() {
        let mv = moves[index];
        let placed = mv.bit() as usize / 16;
        if placed != seen.quadrant {
            seen = Seen::new(placed, other);
        }
        let is_new = match mv.turn_index() {
            // Placements that end the game are all different.
            None => true,
            Some((turned, direction)) if turned == placed => {
                let filled = own.or(Bitboard::cell(mv.bit()));
                let cells = filled.turned_quadrant(turned, direction);
                seen.insert(cells, other.turned_quadrant(turned, direction))
            }
            Some((turned, direction)) if is_idle[turned] => {
                let filled = own.or(Bitboard::cell(mv.bit())).quadrant(placed);
                idle_turn[placed] == Some(turned)
                    && direction == 0
                    && seen.insert(filled, other.quadrant(placed))
            }
            Some((turned, direction)) => !(is_one[turned] && direction == 1),
        };
        moves[kept] = mv;
        kept += usize::from(is_new);
    }
    moves.truncate(kept);
}

/// The appearances of one quadrant after moves that changed no other.
struct Seen {
    quadrant: usize,
    /// The opponent's marbles there as they are, and after either turn.
    others: [usize; 3],
    /// For each of these, a set of fillings by the mover: one bit each.
    fillings: [[u64; 8]; 3],
}

impl Seen {
    fn new(quadrant: usize, other: Bitboard) -> Self {
        let turned = |direction| other.turned_quadrant(quadrant, direction);
        let others = [other.quadrant(quadrant), turned(0), turned(1)];
        Self { quadrant, others, fillings: [[0; 8]; 3] }
    }

    /// Adds an appearance; returns whether it is new.
    fn insert(&mut self, own: usize, other: usize) -> bool {
        let way = self.others.iter().position(|&seen| seen == other).unwrap_or(0);
        let word = &mut self.fillings[way][own / 64];
        let is_new = *word >> (own % 64) & 1 == 0;
        *word |= 1 << (own % 64);
        is_new
    }
}
