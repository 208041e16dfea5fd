//! The builds of a sweep's engines: those that its submitter names, that the workers here have, or that the experiment
//! has already, or those of the first worker that offers them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use spelrum_answers as results;
use spelrum_answers::WorkerSummary;
use spelrum_model::Plan;
use spelrum_model::builds;
use spelrum_model::builds::{AWAITED_BUILD, Builds, short, with_builds};
use spelrum_model::engines::{NeededEngine, OfferedEngine, build_text};
use spelrum_programs::Programs;
use spelrum_proto::{Place, Reason, Refusal};
use spelrum_sweep::{SweepError, SweepText, plan_sweep};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use super::new_sweep::{check_rounds, check_tried};
use super::programs::program;
use super::{BUSY_RETRY_AFTER, reading_failed};
use crate::dispatcher::{Dispatch, Submission};
use spelrum_store::{Readers, StoredSweep};

/// Sweeps that can be planned, or wait to be stored, at once: each takes a core, and its plan may take hundreds of
/// megabytes.
const PLANS_MAX: usize = 2;

/// How long a sweep waits for the planning of other sweeps before its client gets a busy refusal.
const PLAN_PATIENCE: Duration = Duration::from_secs(5);

/// Workers that are named for each build.
const WORKERS_NAMED_MAX: usize = 3;

/// Plans sweeps with the builds that play.
#[derive(Clone)]
pub(crate) struct Planner {
    dispatch: Dispatch,
    readers: Readers,
    programs: Programs,
    heartbeat_interval: Duration,
    plans: Arc<Semaphore>,
}

/// A planned sweep, with the builds of its engines appended to its text.
pub(crate) struct Planned {
    pub(crate) text: SweepText,
    pub(crate) plan: Plan,
    pub(crate) place: OwnedSemaphorePermit,
}

impl Planner {
    pub(crate) fn new(
        dispatch: Dispatch,
        readers: Readers,
        programs: Programs,
        heartbeat_interval: Duration,
    ) -> Self {
        let plans = Arc::new(Semaphore::new(PLANS_MAX));
        Self { dispatch, readers, programs, heartbeat_interval, plans }
    }

    /// Plans a sweep that is submitted under this UUID.
    pub(crate) async fn plan(
        &self,
        text: SweepText,
        uuid: &str,
        new_experiment: bool,
    ) -> Result<Planned, Refusal> {
        let planned = self.plan_with_builds(text, uuid, new_experiment).await?;
        self.check_new(&planned.plan, uuid, new_experiment).await?;
        Ok(planned)
    }

    /// Refuses a sweep that names a pushed program that is not here, unless the experiment has exactly this sweep already. A
    /// submit with `preview` is not refused: programs are pushed after it.
    pub(crate) async fn check_programs(
        &self,
        Planned { text, plan, .. }: &Planned,
        uuid: &str,
        new_experiment: bool,
    ) -> Result<(), Refusal> {
        let demands = plan.engine_demands();
        let mut engines = demands.iter().flat_map(|demands| &demands.engines);
        let missing = engines.find(|need| {
            let hash = program(&need.engine);
            hash.is_some_and(|hash| self.programs.size(&hash).is_none())
        });
        let Some(missing) = missing else { return Ok(()) };
        let name = (!new_experiment).then_some(plan.name.as_str());
        let stored = self.readers.stored_sweep(uuid, name).await.map_err(reading_failed)?;
        let (sweep, _) = builds::split(&text.text);
        let is_known =
            |stored: &StoredSweep| stored.repeated || builds::split(&stored.toml).0 == sweep;
        if stored.as_ref().is_some_and(is_known) {
            return Ok(());
        }
        Err(Refusal::new(
            Reason::UnknownProgram,
            format!("the coordinator does not have the program of the engine {}", missing.engine),
            "push it, then submit again: spelrum engine push PROGRAM --coordinator URL",
        ))
    }

    /// Refuses a sweep that is new and could not come to an end, or would waste games. Stored ones play on as they are.
    async fn check_new(
        &self,
        plan: &Plan,
        uuid: &str,
        new_experiment: bool,
    ) -> Result<(), Refusal> {
        if plan.course.is_none() {
            return Ok(());
        }
        let name = (!new_experiment).then_some(plan.name.as_str());
        let stored = self.readers.stored_sweep(uuid, name).await.map_err(reading_failed)?;
        if stored.is_some() {
            return Ok(());
        }
        check_rounds(plan)?;
        let demands = plan.engine_demands();
        if demands.is_empty() {
            return Ok(());
        }
        let workers = self.dispatch.workers().await?.workers;
        let here: Vec<_> = results::workers_here(&workers, self.heartbeat_interval).collect();
        check_tried(plan, &demands, &here)
    }

    async fn plan_with_builds(
        &self,
        text: SweepText,
        uuid: &str,
        new_experiment: bool,
    ) -> Result<Planned, Refusal> {
        let place = Arc::clone(&self.plans).acquire_owned();
        let Ok(Ok(place)) = tokio::time::timeout(PLAN_PATIENCE, place).await else {
            let problem = "other sweeps are being planned and stored";
            return Err(Refusal::busy(problem, BUSY_RETRY_AFTER));
        };
        let planned = plan(text, place).await?;
        let unbuilt = planned.plan.unbuilt();
        if unbuilt.is_empty() {
            return Ok(planned);
        }
        let Planned { mut text, plan: unnamed, place } = planned;
        let name = (!new_experiment).then_some(unnamed.name.as_str());
        let stored = self.readers.stored_sweep(uuid, name).await.map_err(reading_failed)?;
        let builds = self.builds(&unnamed, &unbuilt, &text.text, stored).await?;
        if builds.is_empty() {
            return Ok(Planned { text, plan: unnamed, place });
        }
        text.text = with_builds(&text.text, &builds);
        plan(text, place).await
    }

    /// The builds that play in a sweep that names none, except for engines that allow any build.
    async fn builds(
        &self,
        plan: &Plan,
        unbuilt: &BTreeSet<NeededEngine>,
        sweep_toml: &str,
        stored: Option<StoredSweep>,
    ) -> Result<Builds, Refusal> {
        let (is_stored, is_same, mut stored_builds) = match &stored {
            Some(StoredSweep { toml, repeated, .. }) => {
                let (text, stored_builds) = builds::split(toml);
                // Already carried out, so newer builds do not matter.
                if *repeated {
                    return Ok(stored_builds);
                }
                (true, text == sweep_toml, stored_builds)
            }
            None => (false, false, Builds::new()),
        };
        let workers = self.dispatch.workers().await?.workers;
        let present = || results::workers_here(&workers, self.heartbeat_interval);
        let mut builds = Builds::new();
        for need in unbuilt {
            let offered = offered(need, present());
            let build = match offered.as_slice() {
                [(build, _)] => Some(build_text(*build)),
                [] => match stored_builds.remove(&need.engine) {
                    Some(build) => Some(build),
                    None if is_stored && is_same => None,
                    None if plan.course.is_some() => return Err(unknown(&need.engine)),
                    None => Some(AWAITED_BUILD.to_owned()),
                },
                several => return Err(ambiguous(&need.engine, several)),
            };
            builds.extend(build.map(|build| (need.engine.clone(), build)));
        }
        Ok(builds)
    }

    /// Fills in the builds that a worker offers, in experiments that wait for them.
    pub(super) async fn fill(&self, engines: &[OfferedEngine]) {
        if engines.is_empty() {
            return;
        }
        let waiting = match self.readers.sweeps_that_await_builds().await {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::warn!(%error, "the experiments that await builds of engines cannot be read");
                return;
            }
        };
        for sweep in waiting {
            if let Err(refusal) = self.fill_one(&sweep, engines).await {
                tracing::warn!(
                    uuid = sweep.uuid,
                    problem = refusal.problem,
                    "an experiment still waits for the builds of its engines"
                );
            }
        }
    }

    async fn fill_one(
        &self,
        sweep: &StoredSweep,
        engines: &[OfferedEngine],
    ) -> Result<(), Refusal> {
        let (unfilled, mut builds) = builds::split(&sweep.toml);
        let sweep_text = |text: String| SweepText {
            files: sweep.files.clone(),
            ..SweepText::new(&sweep.name, text)
        };
        let Ok(place) = Arc::clone(&self.plans).acquire_owned().await else { return Ok(()) };
        let Planned { plan: unnamed, place, .. } =
            plan(sweep_text(unfilled.to_owned()), place).await?;
        let mut has_come = false;
        for need in unnamed.unbuilt() {
            if builds.get(&need.engine).is_none_or(|build| build != AWAITED_BUILD) {
                continue;
            }
            let Some(offer) = engines.iter().find(|offer| need.is_met_by(offer)) else { continue };
            has_come = true;
            builds.insert(need.engine, build_text(offer.build));
        }
        if !has_come {
            return Ok(());
        }
        let toml = with_builds(unfilled, &builds);
        let Planned { text, plan, place } = plan(sweep_text(toml), place).await?;
        let submission = Submission {
            uuid: Uuid::new_v4().to_string(),
            toml: text.text,
            files: text.files,
            plan,
            new_experiment: false,
            fills: Some(sweep.uuid.clone()),
            place: Some(place),
        };
        self.dispatch.submit(submission).await?;
        Ok(())
    }
}

async fn plan(text: SweepText, place: OwnedSemaphorePermit) -> Result<Planned, Refusal> {
    // The plan keeps the place, even after the client has gone.
    let planned = tokio::task::spawn_blocking(move || {
        let plan = plan_sweep(&text);
        (text, plan, place)
    });
    match planned.await {
        Ok((text, Ok(plan), place)) => Ok(Planned { text, plan, place }),
        Ok((_, Err(error), _)) => Err(bad_sweep(error)),
        Err(error) => {
            tracing::error!(%error, "planning a sweep panicked");
            let problem = "the sweep cannot be planned: the program failed at it";
            let remedy = "report this sweep as a fault of the program";
            Err(Refusal::new(Reason::Internal, problem, remedy))
        }
    }
}

/// The builds of an engine that workers have, each with the names of those workers.
fn offered<'w>(
    need: &NeededEngine,
    workers: impl Iterator<Item = &'w WorkerSummary>,
) -> Vec<([u8; 32], Vec<&'w str>)> {
    let mut offered: BTreeMap<[u8; 32], Vec<&str>> = BTreeMap::new();
    for worker in workers {
        for offer in worker.engines.iter().filter(|offer| need.is_met_by(offer)) {
            offered.entry(offer.build).or_default().push(&worker.name);
        }
    }
    offered.into_iter().collect()
}

fn ambiguous(engine: &str, offered: &[([u8; 32], Vec<&str>)]) -> Refusal {
    let describe = |(build, workers): &([u8; 32], Vec<&str>)| {
        let named: Vec<&str> = workers.iter().copied().take(WORKERS_NAMED_MAX).collect();
        let more = if workers.len() > named.len() { ", …" } else { "" };
        format!("{} ({}{more})", short(&build_text(*build)), named.join(", "))
    };
    let builds: Vec<String> = offered.iter().map(describe).collect();
    let [first, ..] = offered else { return unknown(engine) };
    Refusal::new(
        Reason::WrongState,
        format!("the workers have several builds of the engine {engine}: {}", builds.join(" and ")),
        format!(
            "give all of them the same, or say which one plays: build = \"{}\" at the player; or \
             any_build = true in the sweep, if they are the same player to you",
            short(&build_text(first.0))
        ),
    )
}

fn unknown(engine: &str) -> Refusal {
    Refusal::new(
        Reason::WrongState,
        format!("no worker that is here has the engine {engine}, so that its build is not known"),
        "start a worker that has it first, since what was found of one build says nothing of another; or say \
         any_build = true in the sweep",
    )
}

/// The refusal of a sweep, with the place of its error.
pub(crate) fn bad_sweep(error: SweepError) -> Refusal {
    // A position in a file that the sweep names is not one in the sweep; the problem's text states it.
    let place = error.place.filter(|_| error.file.is_none()).map(|span| Place {
        line: error.line,
        offset: span.offset(),
        length: span.len(),
    });
    let problem = match (&error.file, error.line) {
        (Some(file), Some(line)) => format!("{file}, line {line}: {}", error.problem),
        (None, Some(line)) => format!("line {line}: {}", error.problem),
        (_, None) => error.problem,
    };
    Refusal { place, ..Refusal::new(Reason::BadSweep, problem, error.remedy) }
}
