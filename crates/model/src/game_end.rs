//! The recorded end of a game.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{Outcome, Side, Termination};

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameEnd {
    /// The side of the game that moved first from the opening.
    pub first_side: Side,
    /// The result for the player that moved first.
    pub outcome: Outcome,
    /// The margin for the same player, in the game's unit ([`spelrum_engine::GameRecord::margin`]).
    pub margin: Option<i32>,
    /// Why it ended.
    #[schemars(with = "String")]
    pub termination: Termination,
    /// The number of plies.
    pub plies: u32,
    /// The hash of its moves, equal for equal games.
    pub moves_hash: u64,
}
