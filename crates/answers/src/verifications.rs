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
    /// A reason for `not_played`: of several the first in alphabetical order.
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

/// Maximum number of pairs of workers and of waiting workers in an answer.
const NAMED_MAX: usize = 1_000;

/// The outcome of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The replay was identical.
    Same,
    /// It differed.
    Different,
    /// The game could not be replayed.
    NotPlayed,
}

impl Verdict {
    /// Returns the verdict with this stored name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "same" => Some(Self::Same),
            "different" => Some(Self::Different),
            "not played" => Some(Self::NotPlayed),
            _ => None,
        }
    }
}

/// A number of verifications with the same player, verifier and verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct VerificationCount {
    /// The worker that played; `None` if unknown.
    pub played_by: Option<NamedWorker>,
    /// The worker that replayed, if one did.
    pub verified_by: Option<NamedWorker>,
    /// The verdict; `None` while there is none.
    pub verdict: Option<Verdict>,
    /// Number of games.
    pub games: u64,
    /// Games of these that are leased.
    pub leased: u64,
    /// A reason why they could not be replayed.
    pub failure: Option<String>,
}

impl Verifications {
    /// Puts outcomes together from counts ordered by player, then by verifier, and from the differing games.
    #[must_use]
    pub fn new(
        counts: impl IntoIterator<Item = VerificationCount>,
        different: Vec<DifferentGame>,
    ) -> Self {
        let mut all = Self { different, ..Self::default() };
        for count in counts {
            let VerificationCount { played_by, verified_by, verdict, games, leased, failure } =
                count;
            let (same, different) = match verdict {
                None => {
                    let waiting =
                        WaitingVerifications { played_by, games, leased, has_worker: false };
                    all.waiting.push(waiting);
                    continue;
                }
                Some(Verdict::NotPlayed) => {
                    all.not_played += games;
                    let reasons = all.not_played_because.into_iter().chain(failure);
                    all.not_played_because = reasons.min();
                    continue;
                }
                Some(Verdict::Same) => (games, 0),
                Some(Verdict::Different) => (0, games),
            };
            all.different_total += different;
            let Some(verified_by) = verified_by else { continue };
            match all.pairs.last_mut() {
                Some(pair)
                    if (&pair.played_by, &pair.verified_by) == (&played_by, &verified_by) =>
                {
                    pair.same += same;
                    pair.different += different;
                }
                _ => all.pairs.push(VerifiedPair { played_by, verified_by, same, different }),
            }
        }
        all.pairs.truncate(NAMED_MAX);
        all.waiting.truncate(NAMED_MAX);
        all
    }
}
