//! Verifications: games that other workers play again, to compare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::{Difference, GameId};

use crate::call::{call, experiment_question};
use crate::summary::{ExperimentSummary, NamedWorker};

/// Draws games of an experiment, and has those that are not verified yet played again by other workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderVerifications {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// Number of games to draw.
    #[schemars(range(min = 1, max = 10_000))]
    pub games: u32,
    /// Determines which.
    #[serde(default)]
    pub seed: u64,
}
call!(OrderVerifications: Post "/api/v1/experiments/{experiment}/verifications" -> OrderedVerifications);

/// What became of the drawn games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OrderedVerifications {
    /// Ordered now.
    pub ordered: u64,
    /// Verified before by this engine, or waiting for it.
    pub known: u64,
    /// Without a result.
    pub without_result: u64,
    /// Played by external engines, which are not asked again.
    pub with_engines: u64,
    /// Bounded by a clock, without a record of where it stopped the searches.
    pub not_recorded: u64,
    /// Of another engine revision.
    pub other_engine: u64,
}

experiment_question! {
    /// The outcomes of an experiment's verifications, and what waits.
    GetVerifications: "/api/v1/experiments/{experiment}/verifications" -> VerificationsStanding
}

/// The outcomes of an experiment's verifications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerificationsStanding {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// The outcomes.
    #[serde(flatten)]
    pub verifications: Verifications,
}

/// Outcomes of verifications.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verifications {
    /// Pairs of player and verifier, with counts of identical and differing games.
    pub pairs: Vec<VerifiedPair>,
    /// Verifications without a verdict, by original player.
    pub waiting: Vec<WaitingVerifications>,
    /// Differing games, oldest verdict first; cut off if there are very many.
    pub different: Vec<DifferentGame>,
    /// Total number of differing games.
    pub different_total: u64,
    /// Games that could not be replayed.
    pub not_played: u64,
    /// The most frequent reason for `not_played`.
    pub not_played_because: Option<String>,
}

/// Games of one worker that another worker verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedPair {
    /// The worker that played; `None` if unknown.
    pub played_by: Option<NamedWorker>,
    /// The worker that replayed.
    pub verified_by: NamedWorker,
    /// Identical games.
    pub same: u64,
    /// Differing games.
    pub different: u64,
}

/// Games of one worker that wait for verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingVerifications {
    /// The worker that played.
    pub played_by: Option<NamedWorker>,
    /// Number of games.
    pub games: u64,
    /// Games of these that are leased.
    pub leased: u64,
    /// Whether a worker is connected that can verify them.
    pub has_worker: bool,
}

/// A game whose replay differed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferentGame {
    /// Id of the game; `None` once its result was discarded.
    pub game_id: Option<i64>,
    /// Its cell and its number there.
    pub game: GameId,
    /// The worker that played.
    pub played_by: Option<NamedWorker>,
    /// The worker that replayed.
    pub verified_by: NamedWorker,
    /// The first difference.
    pub difference: Difference,
}
