//! What is kept of a game that was played.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::core::limits::EndedBy;
use crate::core::position::Side;
use crate::core::termination::Termination;

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The result for the player who moved first from the opening.
    pub outcome: Outcome,
    /// By how much, for the same player: how far it was ahead at the end, in what the game counts
    /// ([`GameInfo::margin`](crate::GameInfo)), and negative where the other was. `None` in a game that
    /// counts nothing, and where something else than the game's own rules ended it.
    pub margin: Option<i32>,
    /// Why the game ended.
    pub termination: Termination,
    /// The side of the game that moved first from the opening: not always the one that moves first
    /// from the game's start.
    pub first_side: Side,
    /// One record for each ply.
    pub moves: Vec<MoveRecord>,
    /// Wall time of the whole game, in microseconds.
    pub wall_us: u64,
}

impl GameRecord {
    /// A key below 2^53 of the moves' notation, in order: equal games have equal hashes.
    ///
    /// The first 53 bits, big-endian, of the SHA-256 of every move's notation followed by a line
    /// feed. Part of the recorded data: it never changes.
    #[must_use]
    pub fn moves_hash(&self) -> u64 {
        let mut hash = Sha256::new();
        for record in &self.moves {
            hash.update(record.mv.as_bytes());
            hash.update(b"\n");
        }
        let first_bytes =
            hash.finalize().iter().take(8).fold(0, |key, &byte| key << 8 | u64::from(byte));
        first_bytes >> (64 - 53)
    }

    /// The number of moves. The positions are not stored: [`crate::replay_moves`] yields them.
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
    /// Processor time of the thread that played, in microseconds. An external engine thinks in a process of its own,
    /// and this is what it took to talk to it.
    pub cpu_us: u64,
    /// How often the system took the core from the player's thread while it thought: involuntary context switches.
    /// `None` where the system does not tell, and of an external engine.
    pub involuntary_switches: Option<u64>,
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
    /// Leaves of the full tree of `depth` (see [`crate::Position::full_tree_leaves`]); 0 without a
    /// search, and in a game that has no closed form for them. The arbiter works it out, between
    /// moves.
    pub full_tree_leaves: u64,
    /// The value found, for the side to move; `None` where the algorithm has none.
    pub score: Option<i32>,
    /// What ended the search.
    pub ended_by: EndedBy,
    /// How long an external engine says that it took, in microseconds; `None` of ours, and of one
    /// that does not say.
    pub told_us: Option<u64>,
}

impl SearchReport {
    /// There was nothing to choose from.
    pub(crate) const ONLY_MOVE: Self = Self {
        depth: 0,
        nodes: 0,
        evaluations: 0,
        full_tree_leaves: 0,
        score: None,
        ended_by: EndedBy::OnlyMove,
        told_us: None,
    };

    /// Nothing is known of how the move was found.
    pub const UNKNOWN: Self = Self { ended_by: EndedBy::Depth, ..Self::ONLY_MOVE };
}
