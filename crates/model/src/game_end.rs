//! The end of a game, as it is recorded.

use spelrum_engine::{Outcome, Side, Termination};

/// What a game came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// The side of the game that moved first from the opening.
    pub first_side: Side,
    /// The result for the player who moved first.
    pub outcome: Outcome,
    /// By how much, for the same player, in what the game counts ([`spelrum_engine::GameRecord::margin`]).
    pub margin: Option<i32>,
    /// Why it ended.
    pub termination: Termination,
    /// How many plies it took.
    pub plies: u32,
    /// Equal games have equal hashes.
    pub moves_hash: u64,
}
