//! Experiments and workers at a glance.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::engines::{BuiltEngines, OfferedEngine};
use spelrum_model::labels::Label;
use spelrum_model::{ExperimentId, ExperimentState, Task, WorkerId};

use crate::attention::Attention;

/// An experiment's name, state and progress. The numbers are over the cells that its sweep names now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentSummary {
    /// Id in this database, never reused. Later experiments have greater ids.
    pub experiment: ExperimentId,
    /// Identifies the experiment in every database.
    pub uuid: String,
    /// Its name, which is not necessarily unique.
    pub name: String,
    /// The game's name.
    pub game: String,
    /// Meaning of its numbers: `games` below are choices in an accuracy experiment.
    #[serde(rename = "kind", with = "kind")]
    #[schemars(with = "String")]
    pub task: Task,
    /// State, which decides whether its games are handed out.
    pub state: ExperimentState,
    /// Experiments with a larger value go first.
    pub priority: i32,
    /// Its cells.
    pub cells: u64,
    /// Planned number of games of its cells.
    pub games_planned: u64,
    /// Games with a result, or finally failed.
    pub games_settled: u64,
    /// Of these, games that finally failed.
    pub games_failed: u64,
    /// Time of submission, in microseconds since 1970: for display.
    pub submitted_unix_us: i64,
}

/// Tasks in JSON: by the [kind](Task::experiments) of their experiments.
pub(crate) mod kind {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use spelrum_model::Task;

    pub(crate) fn serialize<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(task.experiments())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Task, D::Error> {
        let name = String::deserialize(deserializer)?;
        Task::from_experiments(&name)
            .ok_or_else(|| D::Error::custom(format_args!("unknown kind of experiments {name:?}")))
    }
}

impl ExperimentSummary {
    /// Returns the number of games that are not settled.
    #[must_use]
    pub fn games_unsettled(&self) -> u64 {
        self.games_planned.saturating_sub(self.games_settled)
    }

    /// Returns the number of games still to be played: 0 for a cancelled experiment.
    #[must_use]
    pub fn games_left(&self) -> u64 {
        if self.state == ExperimentState::Cancelled { 0 } else { self.games_unsettled() }
    }
}

/// A page of a list of experiments, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentsPage {
    /// The experiments.
    pub experiments: Vec<ExperimentSummary>,
    /// The last of them, after which the list continues, if it does.
    pub next: Option<ExperimentId>,
}

impl ExperimentsPage {
    /// Creates a page of at most this many of these experiments; one more than that means there is a next page.
    #[must_use]
    pub fn new(mut experiments: Vec<ExperimentSummary>, experiments_max: usize) -> Self {
        let has_more = experiments.len() > experiments_max;
        experiments.truncate(experiments_max);
        let next = has_more.then(|| experiments.last().map(|last| last.experiment)).flatten();
        Self { experiments, next }
    }
}

/// A worker. Fields that only a running coordinator has are 0 elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerSummary {
    /// The worker.
    pub worker: WorkerId,
    /// Its name, for display.
    pub name: String,
    /// Host name of its machine, for display.
    pub host: String,
    /// Number of concurrent games.
    pub slots: u32,
    /// Of its slots, the exclusive ones, which alone play timed games; 0 if all its slots play them.
    #[serde(default)]
    pub quiet_slots: u32,
    /// The revision of its engine.
    pub engine_revision: u32,
    /// Milliseconds since its last message.
    pub silent_ms: u64,
    /// Games leased to the worker without a result.
    pub leased_games: u64,
    /// Of these, games being played.
    pub playing_games: u64,
    /// Games reported by the worker.
    pub reported_games: u64,
    /// Games whose leases expired since the worker's last message or dismissal, and which others play.
    pub lost_games: u64,
    /// Bytes of memory for all its slots together, if reported.
    pub memory_bytes: Option<u64>,
    /// External engines that the worker offers; only the first, if there are very many.
    pub engines: Arc<[OfferedEngine]>,
    /// Number of its engines.
    pub engines_total: u64,
    /// The engines that the worker builds from commits, and those that it could not build.
    #[serde(default)]
    pub built: Arc<BuiltEngines>,
    /// Labels of its machine.
    pub labels: Arc<[Label]>,
    /// Name of the token or client certificate of its Hello, such as `token:lab`; `None` where neither is required.
    pub credential: Option<String>,
    /// How it has done since it said Hello to this run of the coordinator.
    #[serde(default)]
    pub conduct: WorkerConduct,
}

/// How a worker does, in this run of the coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerConduct {
    /// Version of its program; empty before its Hello.
    pub version: String,
    /// Milliseconds since its first Hello.
    pub known_ms: u64,
    /// Of the games reported, those that failed.
    pub failed_games: u64,
    /// Of the games reported, those that a player forfeited.
    pub forfeited_games: u64,
    /// Why it gets no games, or none of an engine; empty if nothing is withheld from it.
    pub withheld: Vec<Attention>,
}

/// A worker with its name and machine, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedWorker {
    /// The worker.
    pub worker: WorkerId,
    /// The worker's name.
    pub name: String,
    /// The worker's machine.
    pub host: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_cancelled_experiment_is_left() {
        let mut experiment = ExperimentSummary {
            experiment: ExperimentId(1),
            uuid: String::new(),
            name: String::new(),
            game: String::new(),
            task: spelrum_model::Task::Game,
            state: ExperimentState::Paused,
            priority: 0,
            cells: 1,
            games_planned: 10,
            games_settled: 4,
            games_failed: 0,
            submitted_unix_us: 0,
        };
        assert_eq!((experiment.games_left(), experiment.games_unsettled()), (6, 6));
        experiment.state = ExperimentState::Cancelled;
        assert_eq!((experiment.games_left(), experiment.games_unsettled()), (0, 6));
        // A sweep that was reduced may have more games than planned.
        experiment.games_settled = 12;
        assert_eq!(experiment.games_unsettled(), 0);
    }
}
