//! Knowledge of Amazons for searches.

use super::{Amazons, AmazonsMove, Orientation, rays};
use crate::core::knowledge::Knowledge;
use crate::core::position::{Position, mix};
use crate::games::rectangle::BITS;

/// The greatest distance of an arrow.
const DISTANCES: u16 = 9;
/// Arrows from a cell.
const ARROWS: u16 = 8 * DISTANCES;

/// The image of a move's code.
fn image(code: u16, orientation: Orientation) -> u16 {
    let direction = |direction: u16| orientation.of_direction(direction.into()) as u16;
    let (move_, arrow) = (code / ARROWS, code % ARROWS);
    let to = orientation.of_bit(u32::from(move_ / 8)) as u16;
    let (back, arrow, distance) = (move_ % 8, arrow / DISTANCES, arrow % DISTANCES);
    let move_ = to.wrapping_mul(8).wrapping_add(direction(back));
    move_.wrapping_mul(ARROWS).wrapping_add(direction(arrow) * DISTANCES + distance)
}

impl Knowledge for Amazons {
    const MOVE_CODES: usize = BITS * 8 * ARROWS as usize;

    type Orientation = Orientation;

    /// The amazon's new cell, the direction in which it came from there, and the arrow. The distance that it
    /// came is left out: in one position at most one amazon comes to a cell from each direction.
    fn move_code(mv: AmazonsMove) -> u16 {
        let back = rays::direction(mv.to.into(), mv.from.into()).map_or(0, |(back, _)| back as u16);
        let arrow = u16::from(mv.direction()) * DISTANCES + u16::from(mv.distance()) - 1;
        (8 * u16::from(mv.to) + back) * ARROWS + arrow
    }

    #[inline]
    fn table_key(&self) -> u64 {
        mix(self.words(Orientation::default()))
    }

    #[inline]
    fn reduced_key(&self) -> (u64, Orientation) {
        let (words, orientation) = self.reduced();
        (mix(words), orientation)
    }

    fn oriented(code: u16, orientation: Orientation) -> u16 {
        image(code, orientation)
    }

    fn restored(code: u16, orientation: Orientation) -> u16 {
        image(code, orientation.inverse())
    }

    fn can_win_at_once(&self) -> bool {
        self.winning_move().is_some()
    }

    /// The side to move wins with an odd ply, the other with an even one.
    fn plies_to_win(&self) -> [u32; 2] {
        [1, 2]
    }

    /// Arrows beside an amazon of the other side before others.
    #[inline]
    fn move_kind(&self, mv: AmazonsMove) -> u8 {
        u8::from(rays::beside(self.other) >> (mv.arrow() & 127) & 1 == 1)
    }

    /// Each arrow blocks a cell.
    #[inline]
    fn plies_left(&self) -> u32 {
        if self.is_over() { 0 } else { self.empty.count_ones() }
    }
}
