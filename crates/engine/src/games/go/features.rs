//! What evaluations and formulas count in a position.

use super::{Board, Cells, Go, by_size};
use crate::core::position::Side;
use crate::core::wide::wide;

impl Go {
    /// Stones of the side to move and of the other.
    #[must_use]
    pub fn stones_of_both(&self) -> [u32; 2] {
        [self.to_move, self.to_move.other()].map(|side| self.stones[side.index()].count())
    }

    /// Areas of the side to move and of the other, as they are scored: stones, and free points from which paths
    /// over free points reach only these.
    #[must_use]
    pub fn areas_of_both(&self) -> [u32; 2] {
        self.areas()
    }

    /// Free points beside stones of the side to move and of the other, each counted once for a side.
    #[must_use]
    pub fn liberties_of_both(&self) -> [u32; 2] {
        wide!(by_size!(self, W => {
            let board = self.words::<W>();
            [board.own, board.other].map(|stones| stones.beside(board.free).count())
        }))
    }

    /// Stones of the side to move and of the other, each with the free points nearer to them than to the other
    /// side's: what a side reaches in fewer steps over free points that no side reached before.
    #[must_use]
    pub fn influence_of_both(&self) -> [u32; 2] {
        wide!(by_size!(self, W => self.words::<W>().influence()))
    }

    /// Stones of the side to move and of the other in groups with a single free point beside them.
    #[must_use]
    pub fn in_atari_of_both(&self) -> [u32; 2] {
        wide!(by_size!(self, W => {
            let board = self.words::<W>();
            [board.in_atari(board.own), board.in_atari(board.other)]
        }))
    }

    /// Komi in half points, for the side to move: negative for Black.
    #[must_use]
    pub const fn komi_of_mover(&self) -> i32 {
        match self.to_move {
            Side::First => -(self.komi as i32),
            Side::Second => self.komi as i32,
        }
    }
}

impl<const W: usize> Board<W> {
    /// Both sides grow from their stones over free points, step by step; a point that both reach in one step
    /// belongs to neither and lets neither pass.
    #[inline(always)]
    fn influence(&self) -> [u32; 2] {
        let (mut own, mut other, mut free) = (self.own, self.other, self.free);
        loop {
            let [near_own, near_other] = [own, other].map(|side| side.beside(free));
            if near_own.is_empty() && near_other.is_empty() {
                return [own.count(), other.count()];
            }
            own = own.or(near_own.without(near_other));
            other = other.or(near_other.without(near_own));
            free = free.without(near_own).without(near_other);
        }
    }

    #[inline(always)]
    fn in_atari(&self, stones: Cells<W>) -> u32 {
        let mut left = stones;
        let mut in_atari = 0;
        while !left.is_empty() {
            let group = Cells::one(left.first()).flooded(left);
            left = left.without(group);
            if group.beside(self.free).count() == 1 {
                in_atari += group.count();
            }
        }
        in_atari
    }
}
