//! Scores shared by all searches.

use crate::core::position::{Ending, Side};

/// The score of a win that is on the board. A win in n plies scores `WIN - n`, a loss in n plies
/// `-(WIN - n)`: a sooner win is above a later one, and every win above any evaluation.
pub const WIN: i32 = 1_000_000;

/// Scores from here on (and below its negative) are wins and losses that the search has seen.
/// Evaluations stay strictly between. `WIN_MIN` itself is a proven win of unknown length: no search
/// looks so far that it could mean plies.
pub const WIN_MIN: i32 = WIN - 10_000;

/// The greatest score of a loss.
const LOST_MAX: i32 = -WIN_MIN;

/// Below every score: nothing has been searched yet.
pub(crate) const WORST: i32 = -WIN;

/// Above every other score of a root: won with the very next move.
pub(crate) const BEST: i32 = WIN - 1;

/// The score of a game that ended `plies` after the root, for `side`.
#[inline]
pub(crate) fn of_ending(ending: Ending, side: Side, plies: u32) -> i32 {
    match ending.winner {
        None => 0,
        Some(winner) if winner == side => won_in(plies),
        Some(_) => -won_in(plies),
    }
}

/// Converts the score of `child`, for its side to move, to a score for `mover`, whose move led
/// there.
///
/// Sides are compared rather than assumed to alternate: a position may keep the turn.
#[inline]
pub(crate) const fn for_mover(mover: Side, child_side: Side, score: i32) -> i32 {
    if mover.index() == child_side.index() { score } else { -score }
}

/// The score of a game that is won `plies` after the root.
#[inline]
pub(crate) fn won_in(plies: u32) -> i32 {
    // No search looks further than `DEPTH_MAX` plies: the conversion cannot fail.
    WIN - i32::try_from(plies).unwrap_or(WIN)
}

/// A score relative to a position `ply` plies after the root, where a win or loss is that much
/// nearer.
#[inline]
pub(crate) fn of_position(score: i32, ply: u32) -> i32 {
    farther(score, -i32::try_from(ply).unwrap_or(0))
}

/// The inverse of [`of_position`]: a position's own score relative to the root.
#[inline]
pub(crate) fn from_position(score: i32, ply: u32) -> i32 {
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
