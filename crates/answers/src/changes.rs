//! The changes that a coordinator can be asked for: to experiments, and to who plays them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::Task;
use spelrum_model::WorkerId;
use spelrum_model::change::Change;
use spelrum_model::claims::ClaimStanding;

use crate::call::call;
use crate::removal::Removing;
use crate::summary::{ExperimentSummary, NamedWorker, kind};

/// Submits a sweep as an experiment, or updates the experiment of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitSweep {
    /// The UUID of a new experiment, made by the client, so that a repeated submit changes nothing. Without one the
    /// coordinator makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uuid"))]
    pub experiment_uuid: Option<String>,
    /// The sweep file's text.
    #[schemars(length(min = 1))]
    pub sweep_toml: String,
    /// The sweep file's name, for messages.
    #[serde(default)]
    pub file_name: String,
    /// Texts of the files that the sweep names, by their names there; they are never opened as paths.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Only say what would happen.
    #[serde(default)]
    pub preview: bool,
    /// Create a separate experiment even if there is one of the sweep's name.
    #[serde(default)]
    pub new_experiment: bool,
}
call!(SubmitSweep: Post "/api/v1/experiments" -> SubmittedSweep);

/// What a submit did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubmittedSweep {
    /// The experiment's UUID: that of the existing one, if it existed.
    pub experiment_uuid: String,
    /// The experiment's name.
    pub name: String,
    /// Cells of the sweep.
    pub cells: u64,
    /// Games of the experiment.
    pub games: u64,
    /// Whether an experiment of this UUID or name existed.
    pub existed: bool,
    /// The sweep's changes to the existing experiment; `None` if the sweep is unchanged, or this submit was carried
    /// out before.
    pub change: Option<Change>,
    /// In a preview: the number of games left in each cell, in the grid's order.
    pub games_left: Vec<u64>,
    /// The state of the experiment's claims; in a preview the expected one.
    pub claims: Vec<ClaimStanding>,
}

/// Plans a sweep, and says what submitting it would do and how long its games would take. It changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanSweep {
    /// The sweep file's text.
    #[schemars(length(min = 1))]
    pub sweep_toml: String,
    /// The sweep file's name, for messages.
    #[serde(default)]
    pub file_name: String,
    /// Texts of the files that the sweep names, by their names there; they are never opened as paths.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Plan a separate experiment even if there is one of the sweep's name.
    #[serde(default)]
    pub new_experiment: bool,
}
call!(PlanSweep: Post "/api/v1/plans" -> SweepPlan);

/// What submitting a sweep would do, and what is left to play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepPlan {
    /// What the submit would do.
    pub submitted: SubmittedSweep,
    /// The game.
    pub game: String,
    /// Meaning of its numbers: its games are choices in an accuracy experiment.
    #[serde(rename = "kind", with = "kind")]
    #[schemars(with = "String")]
    pub task: Task,
    /// Games or choices left to play, at most.
    pub games_left: u64,
    /// Whether its games depend on earlier results: then the cells are runs, and all figures are upper bounds.
    pub depends_on_results: bool,
    /// The rule that may end a cell early, in words: then all figures are upper bounds.
    pub stop_rule: Option<String>,
    /// Slots of the connected workers; 0 without workers.
    pub slots: u64,
    /// Slots of the connected workers that play timed games: of a worker with exclusive slots only these. `None` if no game
    /// is timed.
    pub timed_slots: Option<u64>,
    /// Seconds that what is left takes on these slots, or on one slot without workers, if they are as fast as the
    /// coordinator's machine, which has played a few of the games; `None` if none of them ended in time.
    pub seconds: Option<f64>,
    /// Whether `seconds` is a lower bound: games of external engines, large ones and long ones are not timed.
    pub seconds_at_least: bool,
}

/// A change of what is done for an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Hand out no more games.
    Pause,
    /// Hand out games again.
    Resume,
    /// Hand out no more games, ever.
    Cancel,
    /// Set the priority.
    Priority,
    /// Play finally failed games again.
    Retry,
}

/// Pauses, resumes, cancels or retries an experiment, or sets its priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteerExperiment {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// What to do.
    pub action: Action,
    /// With [`Action::Priority`]: experiments with a larger value go first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
}
call!(SteerExperiment: Post "/api/v1/experiments/{experiment}/steer" -> SteeredExperiment);

/// A steered experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SteeredExperiment {
    /// Its state now.
    pub experiment: ExperimentSummary,
    /// With [`Action::Retry`]: the number of games that are played again.
    pub games_retried: u64,
}

/// Deletes an experiment, or only its moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveExperiment {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// All of it, or the moves.
    pub what: Removing,
    /// Only say what would be deleted.
    #[serde(default)]
    pub preview: bool,
}
call!(RemoveExperiment: Delete "/api/v1/experiments/{experiment}" -> RemovedExperiment);

/// What a removal deletes, or would delete: it goes on after the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedExperiment {
    /// The experiment's state before.
    pub experiment: ExperimentSummary,
    /// The amount.
    #[serde(flatten)]
    pub removable: Removable,
}

/// What is deleted with an experiment, or with its moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Removable {
    /// Removed cells, or cells that lose moves.
    pub cells: u64,
    /// Removed games, or games that lose moves.
    pub games: u64,
    /// Removed moves.
    pub moves: u64,
    /// Approximate bytes of the file that are freed.
    pub bytes: u64,
}

/// A change of whether workers' results count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// Change nothing, and say what excluding them would do.
    Preview,
    /// Discard their results, and have others play these games.
    Exclude,
    /// Readmit them.
    Readmit,
    /// No longer report them as silent.
    Dismiss,
}

/// Excludes workers, readmits them, or no longer reports silent ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExcludeWorkers {
    /// The id of a worker, or the name of one or more.
    pub worker: String,
    /// The UUID or name of the only experiment that is concerned; all without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// What to do.
    pub what: Exclusion,
    /// With [`Exclusion::Exclude`]: results of games that began before this time by the workers' clocks stay, in
    /// microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_unix_us: Option<i64>,
    /// With [`Exclusion::Readmit`]: only to the games of this engine, from which they were barred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
}
call!(ExcludeWorkers: Post "/api/v1/workers/{worker}/exclusion" -> ExcludedWorkers);

/// What the exclusion of workers did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedWorkers {
    /// The matching workers.
    pub workers: Vec<NamedWorker>,
    /// Number of their counted results in the scope of the exclusion, regardless of time.
    pub games: u64,
    /// Experiments that keep the results.
    pub kept: Vec<KeptResults>,
    /// Whether their results are being discarded.
    pub goes_on: bool,
    /// Readmitted workers.
    pub readmitted: Vec<WorkerId>,
    /// Workers that were reported as silent and no longer are.
    pub dismissed: Vec<WorkerId>,
}

/// An experiment that keeps an excluded worker's results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptResults {
    /// The experiment's name.
    pub experiment: String,
    /// Whether a course has used the results for its decisions; otherwise they are choices.
    pub has_course: bool,
    /// Number of results.
    pub games: u64,
}
