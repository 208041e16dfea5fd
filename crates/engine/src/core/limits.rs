//! Limits of one move, and the reasons for which a search ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

use crate::core::parameters::Settings;

/// Limits of one move, in any combination. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Plies.
    pub depth: Option<u32>,
    /// Positions made by a move in the search.
    pub nodes: Option<u64>,
    /// Calls of the static evaluation.
    pub evaluations: Option<u64>,
    /// Generations of a genetic search.
    pub generations: Option<u64>,
    /// Wall time, in microseconds.
    pub move_time_us: Option<u64>,
}

impl Limits {
    /// The limits in a player's settings.
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            depth: settings.limit("depth").and_then(|plies| u32::try_from(plies).ok()),
            nodes: settings.limit("nodes"),
            evaluations: settings.limit("evaluations"),
            generations: settings.limit("generations"),
            move_time_us: settings.limit("move_time"),
        }
    }
}

/// Why a search must end now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A limit was reached: play the best move so far.
    Limit(EndedBy),
    /// There is no move to play.
    NoMove(NoMove),
}

impl From<MemoryRefused> for Stop {
    fn from(refused: MemoryRefused) -> Self {
        Self::NoMove(refused.into())
    }
}

/// Why a search has no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMove {
    /// The game is no longer wanted.
    Aborted,
    /// The system refused memory that the search needs.
    Memory(MemoryRefused),
}

impl From<MemoryRefused> for NoMove {
    fn from(refused: MemoryRefused) -> Self {
        Self::Memory(refused)
    }
}

/// Memory that the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system refused the {} MiB of memory that {} asks for",
    bytes.div_ceil(1 << 20),
    parameter.map_or_else(|| "the exact solver".to_owned(), |parameter| format!("`{parameter}`"))
)]
pub struct MemoryRefused {
    /// The parameter that sets the amount; `None` for an exact solver, which has none.
    pub parameter: Option<&'static str>,
    /// The amount requested.
    pub bytes: u64,
}

impl MemoryRefused {
    /// Advice, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> String {
        let remedy = "play fewer games at once, or use a machine with more memory";
        match self.parameter {
            Some(parameter) => format!("make `{parameter}` smaller, {remedy}"),
            None => remedy.to_owned(),
        }
    }
}

/// The reason for which a search ended. The names are stored in the results database.
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
    /// The limit on simulations.
    Simulations,
    /// The time limit; `nodes` is the count at which the clock stopped it (invariant 3).
    Time,
    /// The value is proven: searching deeper cannot change the move.
    Proven,
    /// There was only one legal move: nothing was searched.
    OnlyMove,
}

impl EndedBy {
    /// What the limit that ended work on a position bounds, in a word.
    pub(crate) const fn limit_name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Evaluations => "evaluation",
            Self::Generations => "generation",
            Self::Simulations => "simulation",
            Self::Depth => "depth",
            Self::Nodes | Self::Proven | Self::OnlyMove => "node",
        }
    }
}
