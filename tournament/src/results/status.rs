//! A database, and the coordinator that has it, at a glance.

use super::attention::Attention;
use super::removal::Removal;
use super::summary::{ExperimentSummary, WorkerSummary};

/// How far experiments are, who works, and what needs somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Experiments, oldest first; the newest, if there are very many.
    pub experiments: Vec<ExperimentSummary>,
    /// How many there are.
    pub experiments_total: u64,
    /// What needs somebody.
    pub attention: Vec<Attention>,
    /// What is being thrown away.
    pub removals: Vec<Removal>,
    /// What only a running coordinator knows.
    pub coordinator: Option<CoordinatorStatus>,
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
