//! The record of a played game.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use spelrum_names::Names;

use crate::core::limits::EndedBy;
use crate::core::position::Side;
use crate::core::termination::Termination;
use crate::search::WIN_MIN;

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The result for the player who moved first from the opening.
    pub outcome: Outcome,
    /// The margin for the same player: its lead at the end, in the game's unit
    /// ([`GameInfo::margin`](crate::GameInfo)), negative if the other led. `None` in a game without margins,
    /// and if the game did not end by its own rules.
    pub margin: Option<i32>,
    /// The reason for the game's end.
    pub termination: Termination,
    /// The side that moved first from the opening, not always the one that moves first from the
    /// game's start.
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
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    Names,
)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The player who moved first won.
    Win,
    /// Neither player won.
    Draw,
    /// The player who moved first lost.
    Loss,
}

/// One move of a recorded game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MoveRecord {
    /// 0 if the player who moved first from the opening made it, 1 for the other.
    #[serde(deserialize_with = "read_mover")]
    pub mover: u8,
    /// The move's notation.
    #[serde(rename = "move")]
    pub mv: String,
    /// Canonical key of the position before the move.
    pub position_key: u64,
    /// Legal moves in the position before the move.
    pub legal_moves: u32,
    /// The report of the search.
    pub search: SearchReport,
    /// Wall time of the move, in microseconds.
    pub wall_us: u64,
    /// Processor time of the thread that played, in microseconds. For an external engine, that of all threads of
    /// its processes since its last answer, in its first move of a game since the question; 0 if it is not known.
    pub cpu_us: u64,
    /// The number of times that the system took the core from the player's thread while it thought:
    /// involuntary context switches. `None` where the system does not report them, and for an external
    /// engine.
    pub involuntary_switches: Option<u64>,
    /// What an external player reported of its move beside its search; `None` for a built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remarks: Option<Box<Remarks>>,
}

/// What an external player reports of its move beside its search; it cannot be verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remarks {
    /// A text in several lines; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The probability of each move that has one, in millionths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub distribution: BTreeMap<String, u32>,
    /// Answers before the move that were refused, after which the player was asked again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u32,
    /// What it tells of its search beyond depth, nodes and score.
    #[serde(flatten)]
    pub details: SearchDetails,
}

/// What an external player reports of its search beyond its depth, nodes and score, in the terms of UCI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchDetails {
    /// Length of the longest line, in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seldepth: Option<u32>,
    /// How full its transposition table is, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hashfull: Option<u32>,
    /// Positions found in endgame tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tbhits: Option<u64>,
    /// The principal variation as it writes it; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pv: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Remarks {
    /// The most bytes of a note.
    pub const NOTE_BYTES_MAX: usize = 2_048;
    /// The most moves of a distribution.
    pub const MOVES_MAX: usize = 64;
    /// The most bytes of each.
    const MOVE_BYTES_MAX: usize = 64;
    /// The most bytes of a principal variation.
    pub const PV_BYTES_MAX: usize = 1_024;
    /// The greatest count, which SQL, JSON and JavaScript can hold exactly.
    const COUNT_MAX: u64 = (1 << 53) - 1;

    /// What no player tells in a result, in words.
    #[must_use]
    pub fn problem(&self) -> Option<&'static str> {
        let Self { note, distribution, details, .. } = self;
        let SearchDetails { hashfull, tbhits, pv, .. } = details;
        let is_plain = |text: &str| text.chars().all(|c| c == '\n' || !c.is_control());
        let is_share = |(mv, &millionths): (&String, &u32)| {
            !mv.is_empty()
                && mv.len() <= Self::MOVE_BYTES_MAX
                && is_plain(mv)
                && millionths <= 1_000_000
        };
        if note.len() > Self::NOTE_BYTES_MAX || !is_plain(note) {
            Some("the note on a move is too long, or has control characters")
        } else if distribution.len() > Self::MOVES_MAX || !distribution.iter().all(is_share) {
            Some("the probabilities of moves are too many, or are none")
        } else if pv.len() > Self::PV_BYTES_MAX || pv.chars().any(char::is_control) {
            Some("the principal variation of a move is too long, or has control characters")
        } else if hashfull.is_some_and(|permille| permille > 1_000) {
            Some("a transposition table is more than full")
        } else if tbhits.is_some_and(|hits| hits > Self::COUNT_MAX) {
            Some("the positions found in tables are too many")
        } else if *self == Self::default() {
            Some("a report on a move is empty")
        } else {
            None
        }
    }
}

fn read_mover<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        mover @ (0 | 1) => Ok(mover),
        mover => Err(D::Error::custom(format_args!("mover is {mover}, not 0 or 1"))),
    }
}

/// A search's report, apart from its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchReport {
    /// Depth completed, in plies; 0 if the algorithm does not search.
    pub depth: u32,
    /// Positions made by a move in the search.
    pub nodes: u64,
    /// Calls of the static evaluation.
    pub evaluations: u64,
    /// Leaves of the full tree of `depth` (see [`crate::Position::full_tree_leaves`]); 0 without a
    /// search, and in a game without a closed form. The arbiter computes it, between moves.
    pub full_tree_leaves: u64,
    /// The value found, for the side to move; `None` if the algorithm has none.
    pub score: Option<i32>,
    /// The reason for which the search ended.
    pub ended_by: EndedBy,
    /// The time that an external engine reports, in microseconds; `None` for built-in players, and
    /// if it reports none.
    pub told_us: Option<u64>,
}

impl SearchReport {
    /// There was only one legal move.
    pub(crate) const ONLY_MOVE: Self = Self {
        depth: 0,
        nodes: 0,
        evaluations: 0,
        full_tree_leaves: 0,
        score: None,
        ended_by: EndedBy::OnlyMove,
        told_us: None,
    };

    /// The report of a move from an unknown source.
    pub const UNKNOWN: Self = Self { ended_by: EndedBy::Depth, ..Self::ONLY_MOVE };

    /// The game's value for the side to move, 1, 0 or -1, as far as the search has proven it.
    ///
    /// A proof requires a search of every relevant line down to its depth. A search cut off by a limit is no proof:
    /// genetic minimax may lack the reply that refutes its win, alpha-beta the move that avoids its loss. A draw is
    /// proven if, besides, no line reached the horizon, so that no position was evaluated.
    #[must_use]
    pub fn proven_value(&self) -> Option<i32> {
        let (is_complete, proves_draws) = match self.ended_by {
            EndedBy::Proven => (true, true),
            EndedBy::Depth => (true, self.evaluations == 0),
            EndedBy::Nodes
            | EndedBy::Evaluations
            | EndedBy::Generations
            | EndedBy::Simulations
            | EndedBy::Time
            | EndedBy::OnlyMove => (false, false),
        };
        match self.score? {
            score if score >= WIN_MIN => is_complete.then_some(1),
            score if score <= -WIN_MIN => is_complete.then_some(-1),
            _ => proves_draws.then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::WIN;

    #[test]
    fn a_value_is_only_stated_where_it_is_proven() {
        let proven = |score, evaluations, ended_by| {
            SearchReport { score, evaluations, ended_by, ..SearchReport::UNKNOWN }.proven_value()
        };
        assert_eq!(proven(Some(WIN - 3), 9, EndedBy::Depth), Some(1));
        assert_eq!(proven(Some(3 - WIN), 9, EndedBy::Depth), Some(-1));
        assert_eq!(proven(Some(0), 9, EndedBy::Proven), Some(0));
        assert_eq!(proven(Some(0), 0, EndedBy::Depth), Some(0));
        assert_eq!(proven(Some(0), 9, EndedBy::Depth), None);
        assert_eq!(proven(None, 0, EndedBy::Depth), None);
        for cut_off in [EndedBy::Nodes, EndedBy::Evaluations, EndedBy::Generations, EndedBy::Time] {
            assert_eq!(proven(Some(WIN - 3), 9, cut_off), None);
            assert_eq!(proven(Some(3 - WIN), 9, cut_off), None);
            assert_eq!(proven(Some(0), 0, cut_off), None);
        }
    }
}
