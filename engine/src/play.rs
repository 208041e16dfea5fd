//! Playing one game: a pure function of its setup, and of the clock where a limit is a time.

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::player::Player;
use crate::position::{NotationError, Termination};
use crate::rules::Rules;

/// Everything that decides a game.
#[derive(Clone, Copy, Debug)]
pub struct GameSetup<'a> {
    /// The game and its rules.
    pub rules: &'a Rules,
    /// The position the game starts from, in the game's notation.
    pub opening: &'a str,
    /// The player who moves first from the opening, and the other.
    pub players: [&'a Player; 2],
    /// The ChaCha8 keys of their random numbers, in the same order.
    pub keys: [[u8; 32]; 2],
    /// A game that is still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// For a replay: at which node count the clock stopped each move's search, `None` for a move
    /// that something else ended. Time limits are then not read from the clock at all.
    pub stops: Option<&'a [Option<u64>]>,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The result for the player who moved first from the opening.
    pub outcome: Outcome,
    /// Why the game ended.
    pub termination: Termination,
    /// One record for each ply.
    pub moves: Vec<MoveRecord>,
    /// Wall time of the whole game, in microseconds.
    pub wall_us: u64,
}

impl GameRecord {
    /// A key below 2^53 of the moves' notation, in order: equal games have equal hashes.
    #[must_use]
    pub fn moves_hash(&self) -> u64 {
        todo!("scaffold")
    }

    /// The final position's notation is not stored: replay the moves from the opening.
    #[must_use]
    pub fn plies(&self) -> u32 {
        u32::try_from(self.moves.len()).unwrap_or(u32::MAX)
    }
}

/// Win, draw or loss for the player who moved first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The player who moved first won.
    Win,
    /// Nobody won.
    Draw,
    /// The player who moved first lost.
    Loss,
}

/// One move of a recorded game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRecord {
    /// 0 if the player who moved first from the opening made it, 1 for the other.
    pub mover: u8,
    /// The move's notation.
    pub mv: String,
    /// Canonical key of the position before the move.
    pub position_key: u64,
    /// Legal moves in the position before the move.
    pub legal_moves: u32,
    /// What the search did.
    pub search: SearchReport,
    /// Wall time of the move, in microseconds.
    pub wall_us: u64,
    /// Processor time of the move, in microseconds.
    pub cpu_us: u64,
}

/// What a search says of itself, apart from its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchReport {
    /// Depth completed, in plies; 0 where the algorithm does not search.
    pub depth: u32,
    /// Positions made by a move in the search.
    pub nodes: u64,
    /// Calls of the static evaluation.
    pub evaluations: u64,
    /// Leaves of the full tree of `depth` (see `Position::full_tree_leaves`); 0 without a search.
    pub full_tree_leaves: u64,
    /// The value found, for the side to move; `None` where the algorithm has none.
    pub score: Option<i32>,
    /// What ended the search.
    pub ended_by: EndedBy,
}

/// What ended a search. The names are stored in the results database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The depth limit was reached, or the algorithm does not search.
    Depth,
    /// The node limit.
    Nodes,
    /// The limit on evaluations.
    Evaluations,
    /// The limit on generations.
    Generations,
    /// The time limit; `nodes` is where the clock stopped it (invariant 3).
    Time,
    /// The value is proven: searching deeper cannot change the move.
    Proven,
    /// There was only one legal move: nothing was searched.
    OnlyMove,
}

/// Why a game has no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The host asked to stop.
    #[error("the game was aborted")]
    Aborted,
    /// The opening is no position of this game, or is already over.
    #[error("failed to read the opening: {0}")]
    Opening(#[from] NotationError),
}

/// Plays one game.
///
/// # Errors
/// If the opening cannot be played from, or the host aborts.
pub fn play_game(_setup: &GameSetup<'_>, _host: &dyn Host) -> Result<GameRecord, PlayError> {
    todo!("scaffold")
}
