//! Changes of experiments, and of who plays them.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use spelrum_answers::{
    Action, Calibration, ExcludeWorkers, ExcludedWorkers, GetExperiment, OrderVerifications,
    PlanSweep, PlayingSlots, PlayingTime, Removable, RemoveExperiment, RemovedExperiment, Removing,
    SteerExperiment, SteeredExperiment, SubmitSweep, SubmittedSweep, SweepPlan, playing_time,
    workers_here,
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

/// Bounds of the games that are played to tell how long a sweep takes: by a thread, in the coordinator's memory.
const CALIBRATION: Calibration =
    Calibration { budget: Duration::from_secs(1), game_bytes_max: 64 << 20, prepares: false };

/// Adds the routes of all changes, and of what is asked before and after.
pub(super) fn add(routes: &mut Routes) {
    routes.add::<SubmitSweep>();
    routes.add::<PlanSweep>();
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

/// A sweep that was planned, and what submitting it would do.
struct Previewed {
    planned: Planned,
    submitted: SubmittedSweep,
}

impl Api {
    /// Checks and plans a sweep.
    async fn planned(
        &self,
        text: SweepText,
        uuid: &str,
        new_experiment: bool,
    ) -> Result<Planned, Refusal> {
        check_length("sweep_toml", &text.text, SWEEP_BYTES_MAX)?;
        check_length("file_name", &text.name, NAME_BYTES_MAX)?;
        check_files(&text.files)?;
        self.planner.plan(text, uuid, new_experiment).await
    }

    /// What submitting a sweep would do.
    async fn preview(
        &self,
        text: SweepText,
        uuid: String,
        new_experiment: bool,
    ) -> Result<Previewed, Refusal> {
        let planned = self.planned(text, &uuid, new_experiment).await?;
        let Planned { text, plan, .. } = &planned;
        let (toml, files) = (&text.text, &text.files);
        let sweep = Sweep { uuid: &uuid, toml, files, plan, new_experiment, fills: None };
        let preview = self.readers.preview(sweep).await;
        let preview = preview
            .map_err(|error| submission_refusal(&error).unwrap_or_else(|| reading_failed(error)))?;
        let submitted = SubmittedSweep {
            games: preview.games(plan),
            existed: preview.existing.is_some(),
            experiment_uuid: preview.existing.map_or(uuid, |(uuid, _)| uuid),
            name: plan.name.clone(),
            cells: plan.cells.len() as u64,
            change: preview.change,
            games_left: preview.games_left,
            claims: preview.claims,
        };
        Ok(Previewed { planned, submitted })
    }

    /// Plans a sweep, as its call answers it.
    pub(crate) async fn plan(&self, question: PlanSweep) -> Result<SweepPlan, Refusal> {
        match self.answer(question).await? {
            Reply::Small(plan) | Reply::Large(plan, _) => Ok(plan),
        }
    }

    /// Submits a sweep, as its call answers it.
    pub(crate) async fn submit(&self, submit: SubmitSweep) -> Result<SubmittedSweep, Refusal> {
        match self.answer(submit).await? {
            Reply::Small(submitted) | Reply::Large(submitted, _) => Ok(submitted),
        }
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
        let text = SweepText { files, ..SweepText::new(file_name, sweep_toml) };
        if preview {
            let Previewed { submitted, .. } = self.preview(text, uuid, new_experiment).await?;
            return Ok(Reply::Small(submitted));
        }
        let planned = self.planned(text, &uuid, new_experiment).await?;
        self.planner.check_programs(&planned, &uuid, new_experiment).await?;
        let Planned { text, plan, place } = planned;
        let SweepText { text: toml, files, .. } = text;
        let (name, cells) = (plan.name.clone(), plan.cells.len() as u64);
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

impl Answers<PlanSweep> for Api {
    async fn answer(&self, question: PlanSweep) -> Result<Reply<SweepPlan>, Refusal> {
        let PlanSweep { sweep_toml, file_name, files, new_experiment } = question;
        let text = SweepText { files, ..SweepText::new(file_name, sweep_toml) };
        let uuid = Uuid::new_v4().to_string();
        let Previewed { planned, submitted } = self.preview(text, uuid, new_experiment).await?;
        let uuid = &submitted.experiment_uuid;
        self.planner.check_programs(&planned, uuid, new_experiment).await?;
        let Planned { plan, place, .. } = planned;
        let workers = self.dispatch.workers().await?.workers;
        let here = || workers_here(&workers, self.heartbeat_interval);
        let slots: u64 = here().map(|worker| u64::from(worker.slots)).sum();
        let for_timed = here().map(|worker| match worker.quiet_slots {
            0 => worker.slots,
            quiet => quiet.min(worker.slots),
        });
        let for_timed: u64 = for_timed.map(u64::from).sum();
        let has_timed = plan.has_timed();
        let (depends_on_results, stop_rule) =
            (plan.course.is_some(), plan.stop.map(|rule| rule.describe()));
        let (game, task) = (plan.game.clone(), plan.task());
        let left = plan.left(&submitted.games_left).foreseen();
        let games_left = left.games();
        // It keeps the place of a sweep that is planned, even after the client has gone.
        let timed = tokio::task::spawn_blocking(move || {
            let _place = place;
            let slots = PlayingSlots { slots: slots.max(1), quiet_slots: for_timed };
            let begun = Instant::now();
            playing_time(&left, slots, CALIBRATION, &|| begun.elapsed())
        });
        let timed = timed.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        // What cannot be played here is said when it is played.
        let PlayingTime { seconds, is_at_least, .. } = timed.unwrap_or_default();
        Ok(Reply::Small(SweepPlan {
            submitted,
            game,
            task,
            games_left,
            depends_on_results,
            stop_rule,
            slots,
            timed_slots: has_timed.then_some(for_timed),
            seconds,
            seconds_at_least: is_at_least,
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
