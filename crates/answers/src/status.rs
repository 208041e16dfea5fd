//! A database and its coordinator at a glance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::ExperimentId;
use spelrum_model::claims::ClaimStanding;

use crate::attention::Attention;
use crate::expected_games::ExpectedGames;
use crate::removal::Removal;
use crate::summary::{ExperimentSummary, WorkerSummary};

/// Progress of experiments, workers, and problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Experiments, oldest first; only the newest, if there are very many.
    pub experiments: Vec<ExperimentSummary>,
    /// Number of experiments.
    pub experiments_total: u64,
    /// State of the cells' stop rules: in the order of the experiments, a line for each rule.
    pub stops: Vec<StopsOf>,
    /// Claims that are exploratory because they were late, or that remain although their sweep no longer states them;
    /// only the first, if there are very many.
    pub claims: Vec<ClaimOf>,
    /// Problems that need attention.
    pub attention: Vec<Attention>,
    /// Removals in progress.
    pub removals: Vec<Removal>,
    /// State of the running coordinator, if there is one.
    pub coordinator: Option<CoordinatorStatus>,
}

/// State of an experiment's stop rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopsOf {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The rule in words.
    pub rule: String,
    /// Cells with this stop rule.
    pub cells: u64,
    /// Of these, cells ended by the rule, or because their players repeat their games.
    pub cells_ended: u64,
    /// Of these, cells that ended after one round of their openings, because their players repeat their games.
    pub cells_one_round: u64,
    /// Games that the experiment is still expected to play; `None` if it is not running.
    #[serde(default)]
    pub games_expected: Option<ExpectedGames>,
}

/// State of one of an experiment's claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimOf {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The claim.
    pub claim: ClaimStanding,
}

/// State that only a running coordinator has of itself and its workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoordinatorStatus {
    /// Its program's version.
    pub version: String,
    /// Number of coordinator starts on this database, including this one.
    pub epoch: i64,
    /// Milliseconds since its start.
    pub uptime_ms: u64,
    /// Workers; only those with the most games, if there are very many.
    pub workers: Vec<WorkerSummary>,
    /// Number of workers.
    pub workers_total: u64,
}
