//! The `Experiments` service, for clients.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use spelrum_answers as results;
use spelrum_answers::{ExperimentSummary, LargestCell, WorkerSummary};
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, Task};
use spelrum_proto::limits::{
    NAME_BYTES_MAX, SQL_BYTES_MAX, SWEEP_BYTES_MAX, SWEEP_FILES_BYTES_MAX, SWEEP_FILES_MAX,
};
use spelrum_proto::v1::experiments_server::Experiments;
use spelrum_proto::work as wire;
use spelrum_proto::{Reason, Refusal, v1};
use spelrum_sweep::SweepText;
use tokio::sync::Semaphore;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::builds::{Planned, Planner};
use super::work::{canonical_uuid, millis};
use super::{BUSY_RETRY_AFTER, pages, reading_failed, verifications};
use crate::dispatcher::{
    Clock, Dispatch, Excluding, Exclusion, Removal, Steering, Submission, Workforce,
    submission_refusal, unknown_experiment,
};
use spelrum_store::{Readers, Removing, StoreError, Sweep};

/// Workers in one answer: well below the bytes of a message (invariant 9).
const WORKERS_MAX: usize = 1_000;

/// Engines of the workers in one answer, likewise.
const ENGINES_MAX: usize = 2_000;

/// Queries whose rows can be in memory at once.
const QUERIES_MAX: usize = 4;

pub(crate) struct ExperimentsService {
    dispatch: Dispatch,
    readers: Readers,
    epoch: i64,
    clock: Clock,
    heartbeat_interval: Duration,
    planner: Planner,
    queries: Arc<Semaphore>,
}

impl ExperimentsService {
    pub(crate) fn new(
        dispatch: Dispatch,
        readers: Readers,
        epoch: i64,
        clock: Clock,
        heartbeat_interval: Duration,
        planner: Planner,
    ) -> Self {
        Self {
            dispatch,
            readers,
            epoch,
            clock,
            heartbeat_interval,
            planner,
            queries: Arc::new(Semaphore::new(QUERIES_MAX)),
        }
    }

    /// The experiment with this UUID or name.
    async fn summary(&self, name: &str) -> Result<ExperimentSummary, Refusal> {
        check_length("experiment", name, NAME_BYTES_MAX)?;
        let summary = self.readers.experiment(name).await.map_err(reading_failed)?;
        summary.ok_or_else(|| unknown_experiment(name))
    }
}

#[tonic::async_trait]
impl Experiments for ExperimentsService {
    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<v1::SubmitResponse>, Status> {
        let v1::SubmitRequest {
            experiment_uuid,
            sweep_toml,
            file_name,
            files,
            preview,
            new_experiment,
        } = request.into_inner();
        let uuid = canonical_uuid("experiment_uuid", &experiment_uuid)?;
        check_length("sweep_toml", &sweep_toml, SWEEP_BYTES_MAX)?;
        check_length("file_name", &file_name, NAME_BYTES_MAX)?;
        let text = SweepText { files: read_files(files)?, ..SweepText::new(file_name, sweep_toml) };
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
            return Ok(Response::new(v1::SubmitResponse {
                games: preview.games(&plan),
                existed: preview.existing.is_some(),
                experiment_uuid: preview.existing.map_or(uuid, |(uuid, _)| uuid),
                name,
                cells,
                change: preview.change.map(Into::into),
                games_left: preview.games_left,
                claims: preview.claims.into_iter().map(Into::into).collect(),
            }));
        }
        let (fills, place) = (None, Some(place));
        let submission = Submission { uuid, toml, files, plan, new_experiment, fills, place };
        let submitted = self.dispatch.submit(submission).await?;
        Ok(Response::new(v1::SubmitResponse {
            experiment_uuid: submitted.uuid,
            name,
            cells,
            games: submitted.games,
            existed: submitted.existed,
            change: submitted.change.map(Into::into),
            games_left: Vec::new(),
            claims: submitted.claims.into_iter().map(Into::into).collect(),
        }))
    }

    async fn status(
        &self,
        request: Request<v1::StatusRequest>,
    ) -> Result<Response<v1::StatusResponse>, Status> {
        let name = &request.get_ref().experiment;
        let (experiments, experiments_total) = if name.is_empty() {
            self.readers.current_experiments().await.map_err(reading_failed)?
        } else {
            (vec![self.summary(name).await?], 1)
        };
        let Workforce { mut workers, largest, wanted, verifying: _, offers, withheld } =
            self.dispatch.workers().await?;
        let workers_total = workers.len() as u64;
        let mut attention = self.readers.attention(&experiments).await.map_err(reading_failed)?;
        let missing =
            results::missing_engines(&experiments, &wanted, &workers, self.heartbeat_interval);
        let unplaced =
            results::unplaced(&experiments, &wanted, &workers, &offers, self.heartbeat_interval);
        let cells = largest.iter().map(|row| row.1).chain(missing.iter().map(|row| row.cell));
        let cells = cells.chain(unplaced.iter().map(|row| row.cell));
        let cells: Vec<CellId> = cells.collect();
        let cells = self.readers.cells_named(&cells).await.map_err(reading_failed)?;
        let named = |(_, cell, memory_bytes)| {
            let cell = cells.iter().find(|named| named.cell == cell)?.clone();
            Some(LargestCell { cell, memory_bytes })
        };
        let largest: Vec<LargestCell> = largest.into_iter().filter_map(named).collect();
        let workforce = results::Workforce {
            workers: &workers,
            largest: &largest,
            heartbeat_interval: self.heartbeat_interval,
        };
        results::attention_of_silent(&workers, self.heartbeat_interval, &mut attention);
        results::attention_of_workers(&experiments, workforce, &mut attention);
        results::attention_of_withheld(&workers, &withheld, &mut attention);
        results::attention_of_engines(&experiments, &missing, &cells, &mut attention);
        results::attention_of_placement(&experiments, &unplaced, &cells, &mut attention);
        let removals = self.readers.removals().await.map_err(reading_failed)?;
        let stops = self.readers.stops(&experiments).await.map_err(reading_failed)?;
        let claims = self.readers.claims_to_report(&experiments).await.map_err(reading_failed)?;
        keep_busiest(&mut workers);
        keep_first_engines(&mut workers);
        let status = results::Status {
            experiments,
            experiments_total,
            stops,
            claims,
            attention,
            removals,
            coordinator: Some(results::CoordinatorStatus {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                epoch: self.epoch,
                uptime_ms: millis(self.clock.elapsed()),
                workers,
                workers_total,
            }),
        };
        Ok(Response::new(status.into()))
    }

    async fn steer(
        &self,
        request: Request<v1::SteerRequest>,
    ) -> Result<Response<v1::SteerResponse>, Status> {
        let request = request.into_inner();
        let steering = match (request.action(), request.priority) {
            (v1::Action::Pause, _) => Steering::State(ExperimentState::Paused),
            (v1::Action::Resume, _) => Steering::State(ExperimentState::Running),
            (v1::Action::Cancel, _) => Steering::State(ExperimentState::Cancelled),
            (v1::Action::Priority, Some(priority)) => Steering::Priority(priority),
            (v1::Action::Priority, None) => {
                let problem = "the message's field priority is missing";
                return Err(Refusal::new(Reason::Malformed, problem, "say which priority").into());
            }
            (v1::Action::Retry, _) => Steering::Retry,
            (v1::Action::Unspecified, _) => {
                let problem = "the message's field action is missing or unknown";
                let remedy = "use pause, resume, cancel, priority or retry";
                return Err(Refusal::new(Reason::Malformed, problem, remedy).into());
            }
        };
        check_length("experiment", &request.experiment, NAME_BYTES_MAX)?;
        let steered = self.dispatch.steer(request.experiment, steering).await?;
        let experiment = Some(self.summary(&steered.uuid).await?.into());
        let games_retried = steered.games_retried;
        Ok(Response::new(v1::SteerResponse { experiment, games_retried }))
    }

    async fn remove(
        &self,
        request: Request<v1::RemoveRequest>,
    ) -> Result<Response<v1::RemoveResponse>, Status> {
        let request = request.into_inner();
        let removing = match request.what() {
            v1::RemoveWhat::Everything => Removing::Everything,
            v1::RemoveWhat::Moves => Removing::Moves,
            v1::RemoveWhat::Unspecified => {
                let problem = "the message's field what is missing or unknown";
                let remedy = "remove everything or the moves";
                return Err(Refusal::new(Reason::Malformed, problem, remedy).into());
            }
        };
        check_length("experiment", &request.experiment, NAME_BYTES_MAX)?;
        // First checks that the removal is allowed, and finds the experiment.
        let removal = Removal { experiment: request.experiment, what: removing, games: None };
        let uuid = self.dispatch.remove(removal).await?;
        let summary = self.summary(&uuid).await?;
        if removing == Removing::Moves && summary.task == Task::Choice {
            let problem =
                format!("{:?} is an accuracy experiment: its moves are its results", summary.name);
            let remedy = "keep them, or delete the experiment";
            return Err(Refusal::new(Reason::WrongState, problem, remedy).into());
        }
        let experiment = Some(summary.into());
        let removable = self.readers.removable(&uuid, removing).await.map_err(reading_failed)?;
        let nothing_to_do = removing == Removing::Moves && removable.moves == 0;
        if !request.preview && !nothing_to_do {
            let games = Some(removable.games);
            self.dispatch.remove(Removal { experiment: uuid, what: removing, games }).await?;
        }
        Ok(Response::new(v1::RemoveResponse {
            experiment,
            cells: removable.cells,
            games: removable.games,
            moves: removable.moves,
            bytes: removable.bytes,
        }))
    }

    async fn exclude(
        &self,
        request: Request<v1::ExcludeRequest>,
    ) -> Result<Response<v1::ExcludeResponse>, Status> {
        let request = request.into_inner();
        let excluding = match request.what() {
            v1::ExcludeWhat::Preview => Excluding::Nothing,
            v1::ExcludeWhat::Out => Excluding::Out { since_unix_us: request.since_unix_us },
            v1::ExcludeWhat::In => Excluding::In { engine: request.engine.clone() },
            v1::ExcludeWhat::Dismiss => Excluding::Dismissed,
            v1::ExcludeWhat::Unspecified => {
                let problem = "the message's field what is missing or unknown";
                let remedy = "use preview, out, in or dismiss";
                return Err(Refusal::new(Reason::Malformed, problem, remedy).into());
            }
        };
        check_length("worker", &request.worker, NAME_BYTES_MAX)?;
        check_length("experiment", &request.experiment, NAME_BYTES_MAX)?;
        check_length("engine", request.engine(), NAME_BYTES_MAX)?;
        let (worker, experiment) = (request.worker, request.experiment);
        let excluded =
            self.dispatch.exclude(Exclusion { worker, experiment, what: excluding }).await?;
        Ok(Response::new(excluded.into()))
    }

    async fn order_verifications(
        &self,
        request: Request<v1::OrderVerificationsRequest>,
    ) -> Result<Response<v1::OrderVerificationsResponse>, Status> {
        // Drawing reads many games.
        let Ok(_place) = Arc::clone(&self.queries).try_acquire_owned() else {
            let problem = "too many queries are running";
            return Err(Refusal::busy(problem, BUSY_RETRY_AFTER).into());
        };
        let request = request.into_inner();
        let ordered = verifications::order(&self.dispatch, &self.readers, request).await?;
        Ok(Response::new(ordered))
    }

    async fn get_verifications(
        &self,
        request: Request<v1::GetVerificationsRequest>,
    ) -> Result<Response<v1::GetVerificationsResponse>, Status> {
        let request = request.into_inner();
        let standing = verifications::standing(&self.dispatch, &self.readers, request).await?;
        Ok(Response::new(standing))
    }

    type QueryStream = Pin<Box<dyn Stream<Item = Result<v1::QueryResponse, Status>> + Send>>;

    async fn query(
        &self,
        request: Request<v1::QueryRequest>,
    ) -> Result<Response<Self::QueryStream>, Status> {
        let v1::QueryRequest { sql, rows_max } = request.into_inner();
        if sql.len() > SQL_BYTES_MAX {
            let long = StoreError::LongQuery { bytes: sql.len(), bytes_max: SQL_BYTES_MAX };
            return Err(query_failed(long).into());
        }
        // The place is kept until the last page is sent or the client is gone.
        let Ok(place) = Arc::clone(&self.queries).try_acquire_owned() else {
            let problem = "too many other queries are running";
            return Err(Refusal::busy(problem, BUSY_RETRY_AFTER).into());
        };
        let rows = self.readers.query_rows(&sql, pages::rows_max(rows_max)).await;
        let rows = rows.map_err(query_failed)?;
        let columns = rows.columns().to_vec();
        let head = v1::QueryResponse { columns, ..Default::default() };
        let pages = stream::try_unfold(Some((rows, place)), async |running| {
            let Some((mut rows, place)) = running else { return Ok(None) };
            let pages = match tokio::time::timeout(pages::QUIET, rows.next()).await {
                // A sign of life: the query goes on.
                Err(_) => vec![v1::QueryResponse::default()],
                Ok(next_rows) => match next_rows.map_err(query_failed)? {
                    Some(next_rows) => pages::split(next_rows)?,
                    None => {
                        let truncated = rows.truncated();
                        let last = v1::QueryResponse { truncated, ..Default::default() };
                        return Ok(Some((vec![last], None)));
                    }
                },
            };
            Ok::<_, Status>(Some((pages, Some((rows, place)))))
        });
        let pages = pages
            .map_ok(|pages| stream::iter(pages.into_iter().map(Ok::<_, Status>)))
            .try_flatten();
        Ok(Response::new(Box::pin(stream::iter([Ok(head)]).chain(pages))))
    }
}

/// Cuts a list of workers to the size of an answer: keeps those that hold the most games, then those heard from most
/// recently.
fn keep_busiest(workers: &mut Vec<WorkerSummary>) {
    if workers.len() > WORKERS_MAX {
        workers.sort_by_key(|worker| (Reverse(worker.leased_games), worker.silent_ms));
        workers.truncate(WORKERS_MAX);
        workers.sort_by_key(|worker| worker.worker);
    }
}

/// Cuts the workers' engines to the size of an answer: at most the same number for each worker.
fn keep_first_engines(workers: &mut [WorkerSummary]) {
    let engines_total: usize = workers.iter().map(|worker| worker.engines.len()).sum();
    if engines_total > ENGINES_MAX {
        let each = ENGINES_MAX / workers.len();
        for worker in workers {
            let engines = &worker.engines[..worker.engines.len().min(each)];
            worker.engines = engines.into();
        }
    }
}

fn check_length(field: &str, text: &str, max: usize) -> Result<(), Refusal> {
    Ok(wire::check_length(field, text, max)?)
}

/// The files of a sweep by name, with limits on number and size, and without duplicates.
fn read_files(files: Vec<v1::SweepFile>) -> Result<BTreeMap<String, String>, Refusal> {
    let malformed = |problem: String, remedy: String| {
        Err(Refusal::new(Reason::Malformed, format!("the message's field files {problem}"), remedy))
    };
    if files.len() > SWEEP_FILES_MAX {
        let remedy = format!("send at most {SWEEP_FILES_MAX}");
        return malformed(format!("has {} files", files.len()), remedy);
    }
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if bytes > SWEEP_FILES_BYTES_MAX {
        let remedy = format!("send at most {SWEEP_FILES_BYTES_MAX}");
        return malformed(format!("has {bytes} bytes of text"), remedy);
    }
    let mut by_name = BTreeMap::new();
    for v1::SweepFile { name, text } in files {
        check_length("files.name", &name, NAME_BYTES_MAX)?;
        if by_name.contains_key(&name) {
            return malformed(format!("has {name:?} twice"), "send each file once".to_owned());
        }
        by_name.insert(name, text);
    }
    Ok(by_name)
}

/// An error in a query is the client's; an error of the disk is not.
fn query_failed(error: StoreError) -> Refusal {
    if matches!(
        error,
        StoreError::NotAQuery { .. }
            | StoreError::WrongQuery { .. }
            | StoreError::SlowQuery { .. }
            | StoreError::SlowReader { .. }
            | StoreError::LargeQuery { .. }
            | StoreError::LongQuery { .. }
    ) {
        Refusal::new(Reason::BadQuery, error.to_string(), error.remedy())
    } else {
        reading_failed(error)
    }
}
