//! Scores that searches share.

use super::{WIN, WIN_MIN};
use crate::position::{Colour, Ending};

/// The greatest score of a loss.
const LOST_MAX: i32 = -WIN_MIN;

/// Below every score: nothing has been searched yet.
pub(super) const WORST: i32 = -WIN;

/// Above every other score of a root: won with the very next move.
pub(super) const BEST: i32 = WIN - 1;

/// The score of a game that ended `plies` after the root, for `side`.
#[inline]
pub(super) fn of_ending(ending: Ending, side: Colour, plies: u32) -> i32 {
    match ending.winner {
        None => 0,
        Some(winner) if winner == side => won_in(plies),
        Some(_) => -won_in(plies),
    }
}

/// A score of `child` for whoever moves there, as a score for `mover`, who made it by a move.
///
/// Sides are compared and not assumed to alternate: a position may keep the turn.
#[inline]
pub(super) const fn for_mover(mover: Colour, child_side: Colour, score: i32) -> i32 {
    if mover.index() == child_side.index() { score } else { -score }
}

/// The score of a game that is won `plies` after the root.
#[inline]
pub(super) fn won_in(plies: u32) -> i32 {
    // No search looks further than `DEPTH_MAX` plies: the conversion cannot fail.
    WIN - i32::try_from(plies).unwrap_or(WIN)
}

/// A score as seen from a position `ply` plies after the root, where a win or loss is so much
/// nearer.
#[inline]
pub(super) fn of_position(score: i32, ply: u32) -> i32 {
    farther(score, -i32::try_from(ply).unwrap_or(0))
}

/// The inverse of [`of_position`]: a position's own score as seen from the root.
#[inline]
pub(super) fn from_position(score: i32, ply: u32) -> i32 {
    farther(score, i32::try_from(ply).unwrap_or(0))
}

#[inline]
fn farther(score: i32, plies: i32) -> i32 {
    match score {
        WIN_MIN.. => score - plies,
        ..=LOST_MAX => score + plies,
        _ => score,
    }
}
