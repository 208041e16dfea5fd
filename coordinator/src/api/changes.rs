//! Changes of experiments, and of who plays them.

use std::collections::BTreeMap;

use spelrum_answers::{
    Action, ExcludeWorkers, ExcludedWorkers, GetExperiment, OrderVerifications, Removable,
    RemoveExperiment, RemovedExperiment, Removing, SteerExperiment, SteeredExperiment, SubmitSweep,
    SubmittedSweep,
};
use spelrum_model::{ExperimentState, Task};
use spelrum_proto::limits::{
    NAME_BYTES_MAX, SWEEP_BYTES_MAX, SWEEP_FILES_BYTES_MAX, SWEEP_FILES_MAX,
};
use spelrum_proto::work::check_length;
use spelrum_proto::{Reason, Refusal};
use spelrum_sweep::SweepText;
use uuid::Uuid;

use super::questions::unanswered;
use super::{Answers, Api, Reply, Routes};
use crate::dispatcher::{Removal, Steering, Submission, submission_refusal};
use crate::services::{Planned, canonical_uuid, reading_failed};
use spelrum_answers::{ExperimentSummary, GetVerifications};
use spelrum_store::{Question as _, Sweep};

/// Adds the routes of all changes, and of what is asked before and after.
pub(super) fn add(routes: &mut Routes) {
    routes.add::<SubmitSweep>();
    routes.add::<SteerExperiment>();
    routes.add::<RemoveExperiment>();
    routes.add::<ExcludeWorkers>();
    routes.add::<OrderVerifications>();
    routes.add::<GetVerifications>();
}

impl Api {
    /// The experiment with this UUID or name.
    pub(super) async fn summary(&self, name: &str) -> Result<ExperimentSummary, Refusal> {
        let question = GetExperiment { experiment: name.to_owned() };
        question.answer(&self.readers).await.map_err(unanswered)
    }
}

impl Answers<SubmitSweep> for Api {
    async fn answer(&self, submit: SubmitSweep) -> Result<Reply<SubmittedSweep>, Refusal> {
        let SubmitSweep { experiment_uuid, sweep_toml, file_name, files, preview, new_experiment } =
            submit;
        let uuid = match experiment_uuid {
            Some(uuid) => canonical_uuid("experiment_uuid", &uuid)?,
            None => Uuid::new_v4().to_string(),
        };
        check_length("sweep_toml", &sweep_toml, SWEEP_BYTES_MAX)?;
        check_length("file_name", &file_name, NAME_BYTES_MAX)?;
        check_files(&files)?;
        let text = SweepText { files, ..SweepText::new(file_name, sweep_toml) };
        let Planned { text, plan, place } = self.planner.plan(text, &uuid, new_experiment).await?;
        let SweepText { text: toml, files, .. } = text;
        let (name, cells) = (plan.name.clone(), plan.cells.len() as u64);
        if preview {
            let sweep = Sweep {
                uuid: &uuid,
                toml: &toml,
                files: &files,
                plan: &plan,
                new_experiment,
                fills: None,
            };
            let preview = self.readers.preview(sweep).await;
            let preview = preview.map_err(|error| {
                submission_refusal(&error).unwrap_or_else(|| reading_failed(error))
            })?;
            return Ok(Reply::Small(SubmittedSweep {
                games: preview.games(&plan),
                existed: preview.existing.is_some(),
                experiment_uuid: preview.existing.map_or(uuid, |(uuid, _)| uuid),
                name,
                cells,
                change: preview.change,
                games_left: preview.games_left,
                claims: preview.claims,
            }));
        }
        let (fills, place) = (None, Some(place));
        let submission = Submission { uuid, toml, files, plan, new_experiment, fills, place };
        let submitted = self.dispatch.submit(submission).await?;
        Ok(Reply::Small(SubmittedSweep {
            experiment_uuid: submitted.uuid,
            name,
            cells,
            games: submitted.games,
            existed: submitted.existed,
            change: submitted.change,
            games_left: Vec::new(),
            claims: submitted.claims,
        }))
    }
}

/// Limits the number and size of a sweep's files.
fn check_files(files: &BTreeMap<String, String>) -> Result<(), Refusal> {
    let malformed = |problem: String, remedy: String| {
        Err(Refusal::new(Reason::Malformed, format!("the message's field files {problem}"), remedy))
    };
    if files.len() > SWEEP_FILES_MAX {
        let remedy = format!("send at most {SWEEP_FILES_MAX}");
        return malformed(format!("has {} files", files.len()), remedy);
    }
    let bytes: usize = files.values().map(String::len).sum();
    if bytes > SWEEP_FILES_BYTES_MAX {
        let remedy = format!("send at most {SWEEP_FILES_BYTES_MAX}");
        return malformed(format!("has {bytes} bytes of text"), remedy);
    }
    for name in files.keys() {
        check_length("files", name, NAME_BYTES_MAX)?;
    }
    Ok(())
}

impl Answers<SteerExperiment> for Api {
    async fn answer(&self, steer: SteerExperiment) -> Result<Reply<SteeredExperiment>, Refusal> {
        let SteerExperiment { experiment, action, priority } = steer;
        let steering = match (action, priority) {
            (Action::Pause, None) => Steering::State(ExperimentState::Paused),
            (Action::Resume, None) => Steering::State(ExperimentState::Running),
            (Action::Cancel, None) => Steering::State(ExperimentState::Cancelled),
            (Action::Retry, None) => Steering::Retry,
            (Action::Priority, Some(priority)) => Steering::Priority(priority),
            (Action::Priority, None) => {
                let problem = "the message's field priority is missing";
                return Err(Refusal::new(Reason::Malformed, problem, "say which priority"));
            }
            (Action::Pause | Action::Resume | Action::Cancel | Action::Retry, Some(_)) => {
                let problem = "the message's field priority is given with another action";
                return Err(Refusal::new(Reason::Malformed, problem, "leave it out"));
            }
        };
        check_length("experiment", &experiment, NAME_BYTES_MAX)?;
        let steered = self.dispatch.steer(experiment, steering).await?;
        let experiment = self.summary(&steered.uuid).await?;
        Ok(Reply::Small(SteeredExperiment { experiment, games_retried: steered.games_retried }))
    }
}

impl Answers<RemoveExperiment> for Api {
    async fn answer(&self, remove: RemoveExperiment) -> Result<Reply<RemovedExperiment>, Refusal> {
        let RemoveExperiment { experiment, what, preview } = remove;
        check_length("experiment", &experiment, NAME_BYTES_MAX)?;
        // First checks that the removal is allowed, and finds the experiment.
        let uuid = self.dispatch.remove(Removal { experiment, what, games: None }).await?;
        let experiment = self.summary(&uuid).await?;
        if what == Removing::Moves && experiment.task == Task::Choice {
            let problem = format!(
                "{:?} is an accuracy experiment: its moves are its results",
                experiment.name
            );
            let remedy = "keep them, or delete the experiment";
            return Err(Refusal::new(Reason::WrongState, problem, remedy));
        }
        let removable: Removable =
            self.readers.removable(&uuid, what).await.map_err(reading_failed)?;
        let nothing_to_do = what == Removing::Moves && removable.moves == 0;
        if !preview && !nothing_to_do {
            let games = Some(removable.games);
            self.dispatch.remove(Removal { experiment: uuid, what, games }).await?;
        }
        Ok(Reply::Small(RemovedExperiment { experiment, removable }))
    }
}

impl Answers<ExcludeWorkers> for Api {
    async fn answer(&self, exclude: ExcludeWorkers) -> Result<Reply<ExcludedWorkers>, Refusal> {
        check_length("worker", &exclude.worker, NAME_BYTES_MAX)?;
        check_length(
            "experiment",
            exclude.experiment.as_deref().unwrap_or_default(),
            NAME_BYTES_MAX,
        )?;
        check_length("engine", exclude.engine.as_deref().unwrap_or_default(), NAME_BYTES_MAX)?;
        Ok(Reply::Small(self.dispatch.exclude(exclude).await?))
    }
}
