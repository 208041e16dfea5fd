//! Keys of positions.

use super::Go;
use crate::core::position::{Position, mix, mix_key};

/// The lowest bits of a canonical key, for the ko point, the passes just made and the side to move.
pub(super) const CODE_BITS: u32 = 12;

/// The words of both sides' stones, and one of all else that play goes by.
fn words(position: &Go, last: u64) -> [u64; 13] {
    let stones = position.stones.each_ref().map(|stones| stones.0);
    std::array::from_fn(|index| stones.as_flattened().get(index).copied().unwrap_or(last))
}

/// The ko point, the passes just made and the side to move: below 2^[`CODE_BITS`].
fn code(position: &Go) -> u64 {
    let ko = position.ko.map_or(0, |ko| 1 + u64::from(ko));
    ko << 3 | u64::from(position.passes) << 1 | position.to_move().index() as u64
}

/// See [`Position::canonical_key`]: a hash of the board, with the code of all else in its lowest bits.
pub(super) fn canonical_key(position: &Go) -> u64 {
    mix_key(words(position, 0)) ^ code(position)
}

/// A hash of the position and of the plies played.
pub(super) fn table_key(position: &Go) -> u64 {
    mix(words(position, u64::from(position.plies) << CODE_BITS | code(position)))
}
