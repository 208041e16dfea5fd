//! A database, and the coordinator that has it, at a glance.

use spelrum_model::ExperimentId;
use spelrum_model::claims::ClaimStanding;

use crate::attention::Attention;
use crate::removal::Removal;
use crate::summary::{ExperimentSummary, WorkerSummary};

/// How far experiments are, who works, and what needs attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Experiments, oldest first; the newest, if there are very many.
    pub experiments: Vec<ExperimentSummary>,
    /// How many there are.
    pub experiments_total: u64,
    /// Where the stop rules of their cells stand: in the order of the experiments, a line for each rule.
    pub stops: Vec<StopsOf>,
    /// Claims that are exploratory since they came late, or that stay though their sweep states them no longer;
    /// the first of them, if there are very many.
    pub claims: Vec<ClaimOf>,
    /// What needs attention.
    pub attention: Vec<Attention>,
    /// What is being thrown away.
    pub removals: Vec<Removal>,
    /// What only a running coordinator knows.
    pub coordinator: Option<CoordinatorStatus>,
}

/// Where a stop rule of an experiment stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopsOf {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The rule in words.
    pub rule: String,
    /// Cells that have it.
    pub cells: u64,
    /// Of these, those that have ended by it, or since their players repeat their games.
    pub cells_ended: u64,
    /// Of these, those that ended after one round of their openings, since their players repeat their games.
    pub cells_one_round: u64,
}

/// How a claim of an experiment stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimOf {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The claim.
    pub claim: ClaimStanding,
}

/// What a running coordinator knows of itself and its workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoordinatorStatus {
    /// Its program's version.
    pub version: String,
    /// How often a coordinator was started on this database, this time included.
    pub epoch: i64,
    /// Milliseconds since its start.
    pub uptime_ms: u64,
    /// Workers; those that hold most games, if there are very many.
    pub workers: Vec<WorkerSummary>,
    /// How many there are.
    pub workers_total: u64,
}
