//! Removals in progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

/// Parts of an experiment that can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum Removing {
    /// The whole experiment.
    Everything,
    /// Its moves: games, rollups and results stay.
    Moves,
}

/// A removal at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Removal {
    /// The experiment's name, which may no longer be its own.
    pub experiment: String,
    /// The part that is removed.
    pub removing: Removing,
    /// Games to process.
    pub games: u64,
    /// Of these, games processed.
    pub games_done: u64,
    /// Whether the rows are deleted, and the file remains to be shrunk.
    pub is_shrinking: bool,
}
