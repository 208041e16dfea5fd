//! Single positions, searched for a person.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{EndedBy, Parameters, Side};

use crate::call::call;

/// The path of [`AnalyzePosition`].
pub const ANALYSES_PATH: &str = "/api/v1/analyses";

/// Longest game whose position can be searched, in plies.
pub const ANALYZED_MOVES_MAX: usize = 2_000;

/// Longest line that an analysis can have, in plies.
pub const ANALYZED_LINE_PLIES_MAX: u32 = 16;

/// Reads a game up to a position, and lets a built-in player search it, within bounds of the coordinator. Nothing is
/// stored. A coordinator answers it only if it was started so that it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalyzePosition {
    /// The game's name, such as `pentago`.
    pub game: String,
    /// Its rules by name, as in a sweep; those that are not named are as usual.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub rules: Parameters,
    /// The position from which the game begins, in its notation; the start position without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub opening: Option<String>,
    /// The moves so far, in the game's notation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = ANALYZED_MOVES_MAX))]
    pub moves: Vec<String>,
    /// The parameters of the player that searches the position, as in a sweep's `[players.x]`. Without this and
    /// `stored_player` nothing is searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub player: Option<Parameters>,
    /// The player of an experiment that searches the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_player: Option<StoredPlayer>,
    /// Decides the player's random numbers, together with the number of moves.
    #[serde(default)]
    pub seed: u64,
    /// Most time for the whole answer, in milliseconds; the coordinator's bound without it, and at most that. Limits of
    /// the player itself hold as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u32>,
    /// Plies of the line that the answer has, the best move included. Each further ply takes a search of its own.
    #[serde(default)]
    #[schemars(range(max = ANALYZED_LINE_PLIES_MAX))]
    pub line_plies: u32,
}
call!(AnalyzePosition: Post "/api/v1/analyses" -> AnalyzedPosition);

/// A player of an experiment, with its parameters as in the first of its cells that has games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredPlayer {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// The player's name in that experiment.
    pub name: String,
}

/// A position, and what a player found in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnalyzedPosition {
    /// The position in the game's notation.
    pub position: String,
    /// Whose move it is; without meaning after the end.
    pub to_move: Side,
    /// The legal moves in the game's notation; none after the end.
    pub legal_moves: Vec<String>,
    /// How the game ended, if it did.
    pub ending: Option<PositionEnding>,
    /// All parameters of the player, as it searched; `None` without a player.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub player: Option<Parameters>,
    /// What the player found; `None` without a player, and after the end.
    pub analysis: Option<PositionAnalysis>,
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PositionEnding {
    /// The winner; `None` for a draw.
    pub winner: Option<Side>,
    /// The reason, by its stored name such as `three_in_a_row`.
    pub termination: String,
    /// The reason in words.
    pub words: String,
}

/// What a player found in a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PositionAnalysis {
    /// The move that it would play, in the game's notation.
    pub best_move: String,
    /// Its score, for the side to move; `None` if it has none.
    pub score: Option<i32>,
    /// 1, 0 or -1 for the side to move where the search has proven it.
    pub value: Option<i32>,
    /// Depth completed, in plies; 0 if it does not search.
    pub depth: u32,
    /// Positions made by a move in the search.
    pub nodes: u64,
    /// Calls of the static evaluation.
    pub evaluations: u64,
    /// Why the search ended. A time limit may be the coordinator's.
    pub ended_by: EndedBy,
    /// Wall time of the search, in microseconds.
    pub wall_us: u64,
    /// The best move and how the player would go on for both sides: each ply is found by a search of its own, in the
    /// time that is left. Shorter than asked for where the game ends or the time does.
    pub line: Vec<String>,
}
