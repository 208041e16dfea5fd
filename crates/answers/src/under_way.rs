//! Games that are being played, and the moves of those that people follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::{CellId, GameId, WorkerId};

use crate::call::{call, experiment_question};

/// Most games of one answer.
pub const UNDER_WAY_MAX: usize = 100;

/// A game that a worker has reported as started, and that has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameUnderWay {
    /// Its cell and its number there.
    pub game: GameId,
    /// Names of the first and of the second mover.
    pub players: [String; 2],
    /// The worker that plays it.
    pub worker: WorkerId,
}

/// Games under way of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GamesUnderWay {
    /// At most 100 of them, by cell and number.
    pub games: Vec<GameUnderWay>,
    /// The number of all, tasks that are no games among them.
    pub games_total: u64,
}

/// A move of a game under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MoveSoFar {
    /// The move, in the game's notation.
    pub mv: String,
    /// Depth of its search as its worker has it; 0 if unknown.
    pub depth: u32,
    /// Its score likewise, for the player that moves.
    pub score: Option<i32>,
}

/// A game under way with its moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FollowedGame {
    /// The game, its players and its worker.
    pub game: GameUnderWay,
    /// The name of its experiment.
    pub experiment: String,
    /// The UUID of its experiment.
    pub experiment_uuid: String,
    /// The name of what is played, such as `pentago`.
    pub rules: String,
    /// The opening position, in the game's notation.
    pub opening: String,
    /// The moves that its worker has reported, which are legal: at most the first 1,000; `None` before its first report.
    pub moves: Option<Vec<MoveSoFar>>,
    /// The position after them.
    pub position: String,
}

experiment_question! {
    /// Games of an experiment that are being played.
    ListGamesUnderWay: "/api/v1/experiments/{experiment}/games-under-way" -> GamesUnderWay
}

/// A game that is being played, with its moves so far: its worker reports them about each second while this is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowGame {
    /// The cell.
    pub cell: CellId,
    /// The game's number in the cell, from 0.
    pub number: u64,
}
call!(FollowGame: Get "/api/v1/cells/{cell}/games/{number}/under-way" -> FollowedGame);
