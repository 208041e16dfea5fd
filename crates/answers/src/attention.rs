//! Problems that need attention, in words, with remedies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

/// A problem that does not resolve itself, or that the user should know about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attention {
    /// Kind of problem.
    pub kind: AttentionKind,
    /// Name of the experiment concerned, if there is one.
    pub experiment: Option<String>,
    /// Number of games, results, workers, cells or bytes, depending on the kind.
    pub count: u64,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

/// Kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
#[schemars(with = "String")]
pub enum AttentionKind {
    /// Differing results of one deterministic game (invariant 2).
    Conflicts,
    /// Games with a different result when other workers verified them.
    Deviating,
    /// Results that are not valid records of their games (invariant 11).
    Refused,
    /// Games that finally failed.
    FailedGames,
    /// Games that a player forfeited.
    Forfeits,
    /// Games that were lost with their workers more than once.
    LostGames,
    /// An experiment begun by another engine.
    OtherEngine,
    /// An experiment that is paused.
    Paused,
    /// A removal in progress.
    Removal,
    /// A file system that is nearly full.
    LittleSpace,
    /// Silent workers that hold games, or held them until recently.
    SilentWorkers,
    /// Games wait, and no worker is connected.
    NoWorkers,
    /// A cell whose games may need more memory than any worker has.
    TooLarge,
    /// Cells whose games need engines that no worker has.
    MissingEngines,
    /// A worker that could not build or run an engine that games wait for.
    FailedBuild,
    /// Cells whose games require labels that no worker has.
    Unplaced,
    /// An excluded worker, which gets no games.
    Excluded,
    /// A worker that temporarily gets no games, because it fails far more often than others.
    Quarantined,
    /// A worker that gets no games of an engine, because only this worker forfeits them.
    Barred,
    /// A kind added by a later version.
    #[serde(untagged)]
    Other(String),
}
