//! Sources of results: a database file, or a coordinator that serves one.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use spelrum_answers::{
    CellCursor, CellResult, CellsPage, Comparisons, Detail, ExperimentSummary, FoundGame,
    MissingGame, Phases, Progress, Ratings, Report, RunResult, SettledCells, SettledGame, Status,
    WhichGame,
};
use spelrum_model::ExperimentState;
use spelrum_model::GameId;
use spelrum_proto::limits::{NUMBER_MAX, PAGE_SIZE_MAX, SQL_BYTES_MAX};
use spelrum_proto::results::{
    ComparisonsReader, PhasesReader, RatingsReader, ReportReader, cells_from_wire, game_from_wire,
    progress_from_wire, settled_cells_from_wire,
};
use spelrum_proto::{Reason, Refusal, WireError, v1};
use spelrum_store::{
    BackedUp, BackupError, QueryRows, Readers, SqlValue, StoreError, export_from_pieces, is_held,
};
use tonic::Status as WireStatus;

use super::locate::{from_file, only_database, only_experiment};
use crate::arguments::SourceArguments;
use crate::config::{self, ConfigFile, Target};
use crate::error::conversions::{failed_call, malformed};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::remote::connection::{self, Remote};
use crate::remote::retry_when_busy::take_turn;
use crate::terminal::notices;

/// A note that an experiment is unfinished and no process has its database open.
pub(crate) fn idle_note(experiment: &ExperimentSummary, db: &Path) -> Option<String> {
    let is_idle = experiment.state == ExperimentState::Running && !is_held(db);
    is_idle.then(|| {
        format!(
            "note: no process is playing {}; continue it with the command that started it, or serve it to workers: \
             spelrum coordinator --db {}",
            experiment.name,
            db.display()
        )
    })
}

/// A source of results. Both kinds answer the same queries alike.
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub(crate) enum ResultsSource {
    /// A results database on this machine, whether or not a coordinator has it open.
    File(Readers),
    /// A coordinator.
    Coordinator(Box<Remote>),
}

impl ResultsSource {
    /// Opens the source named by the command line, or else the environment or the config file; without any of these,
    /// the only database in the current directory.
    pub(crate) async fn open(arguments: &SourceArguments) -> Result<Self> {
        if let Some(db) = &arguments.db {
            let readers = Readers::open(db).await?;
            return Ok(Self::File(readers));
        }
        if let Some(target) = target(arguments)? {
            return Ok(Self::Coordinator(Box::new(connection::connect_remote(&target).await?)));
        }
        let db = only_database("find the results")?;
        notices::notify(&format!("note: results are read from {}", db.display()));
        Ok(Self::File(Readers::open(&db).await?))
    }

    /// Opens results and finds an experiment in them. In place of an experiment, the command line can name a database,
    /// or a sweep that `spelrum run` has played.
    pub(crate) async fn open_experiment(
        arguments: &SourceArguments,
        experiment: Option<&str>,
    ) -> Result<(Self, ExperimentSummary)> {
        let names_no_source = arguments.db.is_none() && arguments.coordinator.is_none();
        let located = experiment.filter(|_| names_no_source).and_then(from_file);
        let (source, experiment) = match located.transpose()? {
            Some(located) => (Self::File(Readers::open(&located.db).await?), located.experiment),
            None => (Self::open(arguments).await?, experiment.map(str::to_owned)),
        };
        let found = source.experiment(experiment.as_deref()).await?;
        Ok((source, found))
    }

    /// Whether a process plays or stores these results: always true for a coordinator.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Self::File(readers) => is_held(readers.path()),
            Self::Coordinator(_) => true,
        }
    }

    /// A note that experiments of a file are unfinished and no process has the file open.
    pub(crate) fn idle_note(&self, experiments: &[ExperimentSummary]) -> Option<String> {
        let Self::File(readers) = self else { return None };
        let is_unfinished =
            |experiment: &&ExperimentSummary| experiment.state == ExperimentState::Running;
        let unfinished = experiments.iter().find(is_unfinished)?;
        idle_note(unfinished, readers.path())
    }

    /// Starts a read-only statement written by a user. A coordinator has limits of its own beside this time limit.
    pub(crate) async fn query(
        &self,
        sql: &str,
        rows_max: Option<u32>,
        time_max: Option<Duration>,
    ) -> Result<Answer> {
        match self {
            Self::File(readers) => {
                let rows_max = rows_max.map_or(u64::MAX, u64::from);
                Ok(Answer::File(readers.own_query_rows(sql, rows_max, time_max).await?))
            }
            Self::Coordinator(remote) => {
                if sql.len() > SQL_BYTES_MAX {
                    let long = StoreError::LongQuery { bytes: sql.len(), bytes_max: SQL_BYTES_MAX };
                    return Err(long.into());
                }
                // The largest number means no limit.
                let rows_max = rows_max.map_or(u32::MAX, |most| most.clamp(1, u32::MAX - 1));
                let request = v1::QueryRequest { sql: sql.to_owned(), rows_max };
                let ask = async || remote.experiments.clone().query(request.clone()).await;
                let stream = take_turn(ask).await.map_err(query_failed)?;
                let mut answer = RemoteAnswer {
                    columns: Vec::new(),
                    waiting: Vec::new(),
                    stream: stream.into_inner(),
                    truncated: false,
                    time_left: time_max,
                    time_max: time_max.unwrap_or_default(),
                };
                answer.begin().await?;
                Ok(Answer::Coordinator(Box::new(answer)))
            }
        }
    }

    /// All experiments, oldest first.
    pub(crate) async fn experiments(&self) -> Result<Vec<ExperimentSummary>> {
        const ACTION: &str = "list the experiments";
        let remote = match self {
            Self::File(readers) => {
                return Ok(readers.experiments(None, u32::MAX).await?.experiments);
            }
            Self::Coordinator(remote) => remote,
        };
        let mut experiments = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = v1::ListExperimentsRequest {
                page_size: PAGE_SIZE_MAX,
                page_token,
                experiment: String::new(),
            };
            let page = remote.results.clone().list_experiments(request).await;
            let page = page.map_err(|status| failed_call(ACTION, &status))?.into_inner();
            experiments.extend(read_experiments(page.experiments, ACTION)?);
            if page.next_page_token.is_empty() {
                return Ok(experiments);
            }
            page_token = page.next_page_token;
        }
    }

    /// The experiment with this UUID or name; without either, the only experiment.
    pub(crate) async fn experiment(&self, name: Option<&str>) -> Result<ExperimentSummary> {
        match name {
            Some(name) => self.named_experiment(name).await,
            None => only_experiment(self.experiments().await?),
        }
    }

    async fn named_experiment(&self, name: &str) -> Result<ExperimentSummary> {
        let action = format!("find experiment {name}");
        let found = match self {
            Self::File(readers) => readers.experiment(name).await?,
            Self::Coordinator(remote) => {
                let experiment = name.to_owned();
                let request = v1::ListExperimentsRequest { experiment, ..Default::default() };
                let found = remote.results.clone().list_experiments(request).await;
                let found = found.map_err(|status| failed_call(&action, &status))?.into_inner();
                read_experiments(found.experiments, &action)?.pop()
            }
        };
        found.ok_or_else(|| {
            CliError::new(Exit::Input, action)
                .because("no experiment has this name or UUID")
                .help("list the experiments: spelrum list")
        })
    }

    /// An experiment's results, from one snapshot.
    pub(crate) async fn report(
        &self,
        experiment: &ExperimentSummary,
        detail: Detail,
    ) -> Result<Report> {
        let action = format!("report on {}", experiment.name);
        let report = match self {
            Self::File(readers) => readers.report(&experiment.uuid, detail).await?,
            Self::Coordinator(remote) => {
                let request = v1::GetReportRequest {
                    experiment: experiment.uuid.clone(),
                    depths: detail == Detail::Depths,
                };
                let failed = |status| failed_call(&action, &status);
                let mut results = remote.results.clone();
                let mut parts = take_turn(async || results.get_report(request.clone()).await)
                    .await
                    .map_err(failed)?
                    .into_inner();
                let mut report = ReportReader::default();
                while let Some(part) = parts.message().await.map_err(failed)? {
                    report.take(part).map_err(|error| malformed(&action, &error))?;
                }
                Some(report.finish().map_err(|error| malformed(&action, &error))?)
            }
        };
        report.ok_or_else(|| gone(action))
    }

    /// The ratings of an experiment's players, from one snapshot.
    pub(crate) async fn ratings(&self, experiment: &ExperimentSummary) -> Result<Ratings> {
        let action = format!("rate the players of {}", experiment.name);
        let remote = match self {
            Self::File(readers) => {
                let ratings = readers.ratings(&experiment.uuid).await?;
                return ratings.ok_or_else(|| gone(action));
            }
            Self::Coordinator(remote) => remote,
        };
        let request = v1::GetRatingsRequest { experiment: experiment.uuid.clone() };
        let parts =
            take_turn(async || remote.results.clone().get_ratings(request.clone()).await).await;
        let mut parts = parts.map_err(|status| failed_call(&action, &status))?.into_inner();
        let mut ratings = RatingsReader::default();
        while let Some(part) =
            parts.message().await.map_err(|status| failed_call(&action, &status))?
        {
            ratings.take(part).map_err(|error| malformed(&action, &error))?;
        }
        ratings.finish().map_err(|error| malformed(&action, &error))
    }

    /// The differences between an experiment's cells, from one snapshot.
    pub(crate) async fn comparisons(&self, experiment: &ExperimentSummary) -> Result<Comparisons> {
        let action = format!("compare the cells of {}", experiment.name);
        let remote = match self {
            Self::File(readers) => {
                let compared = readers.comparisons(&experiment.uuid).await?;
                return compared.ok_or_else(|| gone(action));
            }
            Self::Coordinator(remote) => remote,
        };
        let request = v1::GetComparisonsRequest { experiment: experiment.uuid.clone() };
        let parts =
            take_turn(async || remote.results.clone().get_comparisons(request.clone()).await).await;
        let mut parts = parts.map_err(|status| failed_call(&action, &status))?.into_inner();
        let mut compared = ComparisonsReader::default();
        while let Some(part) =
            parts.message().await.map_err(|status| failed_call(&action, &status))?
        {
            compared.take(part).map_err(|error| malformed(&action, &error))?;
        }
        compared.finish().map_err(|error| malformed(&action, &error))
    }

    /// The times of moves by phase, from one snapshot.
    pub(crate) async fn phases(&self, experiment: &ExperimentSummary) -> Result<Phases> {
        let action = format!("report the phases of {}", experiment.name);
        let remote = match self {
            Self::File(readers) => {
                let phases = readers.phases(&experiment.uuid).await?;
                return phases.ok_or_else(|| gone(action));
            }
            Self::Coordinator(remote) => remote,
        };
        let request = v1::GetPhasesRequest { experiment: experiment.uuid.clone() };
        let parts =
            take_turn(async || remote.results.clone().get_phases(request.clone()).await).await;
        let mut parts = parts.map_err(|status| failed_call(&action, &status))?.into_inner();
        let mut phases = PhasesReader::default();
        while let Some(part) =
            parts.message().await.map_err(|status| failed_call(&action, &status))?
        {
            phases.take(part).map_err(|error| malformed(&action, &error))?;
        }
        phases.finish().map_err(|error| malformed(&action, &error))
    }

    /// An experiment's progress.
    pub(crate) async fn progress(&self, experiment: &ExperimentSummary) -> Result<Progress> {
        const ACTION: &str = "continue watching";
        let progress = match self {
            Self::File(readers) => readers.progress(experiment.experiment).await?,
            Self::Coordinator(remote) => {
                let request = v1::GetProgressRequest { experiment: experiment.uuid.clone() };
                let answer = remote.results.clone().get_progress(request).await;
                let answer = unless_gone(answer, ACTION)?;
                let read = |progress| {
                    progress_from_wire(progress).map_err(|error| malformed(ACTION, &error))
                };
                answer.map(read).transpose()?
            }
        };
        progress.ok_or_else(|| gone(ACTION))
    }

    /// The results of an experiment's runs so far; empty if the experiment does not depend on its own results.
    pub(crate) async fn runs(&self, experiment: &ExperimentSummary) -> Result<Vec<RunResult>> {
        const ACTION: &str = "continue watching";
        let remote = match self {
            Self::File(readers) => return Ok(readers.runs(experiment.experiment).await?),
            Self::Coordinator(remote) => remote,
        };
        let request = v1::GetRunsRequest { experiment: experiment.uuid.clone() };
        let answer =
            take_turn(async || remote.results.clone().get_runs(request.clone()).await).await;
        let mut parts = unless_gone(answer, ACTION)?.ok_or_else(|| gone(ACTION))?;
        let mut runs = Vec::new();
        while let Some(part) =
            parts.message().await.map_err(|status| failed_call(ACTION, &status))?
        {
            for run in part.runs {
                runs.push(run.try_into().map_err(|error| malformed(ACTION, &error))?);
            }
        }
        Ok(runs)
    }

    /// The settled cells of an experiment with results after this game: a part of them if there are many, and where to
    /// continue.
    pub(crate) async fn settled_cells(
        &self,
        experiment: &ExperimentSummary,
        after_game_id: i64,
    ) -> Result<SettledCells> {
        const ACTION: &str = "continue watching";
        let settled = match self {
            Self::File(readers) => Some(
                readers.settled_cells(experiment.experiment, after_game_id, PAGE_SIZE_MAX).await?,
            ),
            Self::Coordinator(remote) => {
                let request = v1::ListCellsRequest {
                    experiment: experiment.uuid.clone(),
                    page_size: PAGE_SIZE_MAX,
                    page_token: String::new(),
                    settled_after: Some(after_game_id),
                };
                let answer = remote.results.clone().list_cells(request).await;
                let read = |answer| {
                    settled_cells_from_wire(answer).map_err(|error| malformed(ACTION, &error))
                };
                unless_gone(answer, ACTION)?.map(read).transpose()?
            }
        };
        settled.ok_or_else(|| gone(ACTION))
    }

    /// A settled game with its moves.
    pub(crate) async fn game(&self, wanted: WhichGame) -> Result<SettledGame> {
        let action = match wanted {
            WhichGame::Id(game_id) => format!("find game {game_id}"),
            WhichGame::InCell(GameId { cell, number }) => {
                format!("find game {number} of cell {cell}")
            }
        };
        let missing = |missing: MissingGame| {
            CliError::new(Exit::Input, action.clone()).because(missing).help(missing.remedy())
        };
        match self {
            Self::File(readers) => match readers.game(wanted).await? {
                FoundGame::Settled(game) => Ok(*game),
                FoundGame::Missing(why) => Err(missing(why)),
            },
            Self::Coordinator(remote) => {
                // Impossible games need no query.
                let wanted = match wanted {
                    WhichGame::Id(game_id) if game_id < 1 => {
                        return Err(missing(MissingGame::Id(game_id)));
                    }
                    WhichGame::InCell(game) if game.cell.0 < 1 => {
                        return Err(missing(MissingGame::Cell(game.cell)));
                    }
                    WhichGame::Id(_) => wanted,
                    WhichGame::InCell(GameId { cell, number }) => {
                        WhichGame::InCell(GameId { cell, number: number.min(NUMBER_MAX) })
                    }
                };
                let game = remote.results.clone().get_game(v1::GetGameRequest::from(wanted)).await;
                let game = game.map_err(|status| failed_call(&action, &status))?.into_inner();
                game_from_wire(game).map_err(|error| malformed(&action, &error))
            }
        }
    }

    /// A page of an experiment's cells in the grid's order, from the start or from where it continues.
    pub(crate) async fn cells(
        &self,
        experiment: &ExperimentSummary,
        from: Option<PageStart<CellCursor>>,
    ) -> Result<(Vec<String>, Vec<CellResult>, Option<PageStart<CellCursor>>)> {
        let action = format!("list the cells of {}", experiment.name);
        match self {
            Self::File(readers) => {
                let after = from.and_then(PageStart::cursor);
                let CellsPage { axes, cells, next } =
                    readers.cells(experiment.experiment, after, PAGE_SIZE_MAX).await?;
                Ok((axes, cells, next.map(PageStart::After)))
            }
            Self::Coordinator(remote) => {
                let request = v1::ListCellsRequest {
                    experiment: experiment.uuid.clone(),
                    page_size: PAGE_SIZE_MAX,
                    page_token: from.map(PageStart::token).unwrap_or_default(),
                    settled_after: None,
                };
                let page = remote.results.clone().list_cells(request).await;
                let page = page.map_err(|status| failed_call(&action, &status))?.into_inner();
                let cells = cells_from_wire(&page.axes, page.cells)
                    .map_err(|error| malformed(&action, &error))?;
                Ok((page.axes, cells, PageStart::page(page.next_page_token)))
            }
        }
    }

    /// Copies experiments with all their data into a separate database. `look` receives the progress in thousandths,
    /// where known, and can cancel the copy.
    pub(crate) async fn export(
        &self,
        experiments: &[ExperimentSummary],
        to: &Path,
        look: impl Fn(Option<u64>) -> ControlFlow<()> + Clone + Send + 'static,
    ) -> Result<BackedUp> {
        const ACTION: &str = "export";
        let remote = match self {
            Self::File(readers) => {
                let ids: Vec<_> =
                    experiments.iter().map(|experiment| experiment.experiment).collect();
                let (readers, to) = (readers.clone(), to.to_owned());
                let work = move || readers.export(&ids, &to, move || look(None));
                return joined(tokio::task::spawn_blocking(work).await);
            }
            Self::Coordinator(remote) => remote,
        };
        let mut received = export_from_pieces(to)?;
        let experiments = experiments.iter().map(|experiment| experiment.uuid.clone()).collect();
        let request = v1::ExportExperimentsRequest { experiments };
        let failed = |status| failed_call(ACTION, &status);
        let pieces =
            take_turn(async || remote.results.clone().export_experiments(request.clone()).await)
                .await;
        let mut pieces = pieces.map_err(failed)?.into_inner();
        let (mut bytes, mut total) = (0, 0);
        while let Some(part) = pieces.message().await.map_err(failed)? {
            total = total.max(part.bytes);
            bytes += part.piece.len() as u64;
            received.write(to, &part.piece)?;
            if look((total > 0).then(|| bytes * 1_000 / total)).is_break() {
                return Err(BackupError::GivenUp.into());
            }
        }
        if bytes != total {
            return Err(CliError::new(Exit::Network, ACTION)
                .because("the coordinator ended before all of it was there")
                .help("try again"));
        }
        joined(tokio::task::spawn_blocking(move || received.finish(move || look(None))).await)
    }

    /// The progress of experiments, or of one, with workers and what needs attention.
    pub(crate) async fn status(&self, name: Option<&str>) -> Result<Status> {
        const ACTION: &str = "ask for the status";
        match self {
            Self::File(readers) => {
                let (experiments, experiments_total) = match name {
                    None => readers.current_experiments().await?,
                    Some(name) => (vec![self.named_experiment(name).await?], 1),
                };
                Ok(Status {
                    experiments_total,
                    stops: readers.stops(&experiments).await?,
                    claims: readers.claims_to_report(&experiments).await?,
                    attention: readers.attention(&experiments).await?,
                    removals: readers.removals().await?,
                    experiments,
                    coordinator: None,
                })
            }
            Self::Coordinator(remote) => {
                let experiment = name.unwrap_or_default().to_owned();
                let request = v1::StatusRequest { experiment };
                let status = remote.experiments.clone().status(request).await;
                let status = status.map_err(|status| failed_call(ACTION, &status))?;
                let status: std::result::Result<_, WireError> = status.into_inner().try_into();
                status.map_err(|error| malformed(ACTION, &error))
            }
        }
    }
}

/// The result of a separate thread.
fn joined(
    ended: std::result::Result<std::result::Result<BackedUp, BackupError>, tokio::task::JoinError>,
) -> Result<BackedUp> {
    match ended {
        Ok(made) => Ok(made?),
        Err(error) => match error.try_into_panic() {
            // Resumes in the handler that reports all of the program's panics.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(CliError::new(Exit::Internal, "wait for a thread").because(error)),
        },
    }
}

/// Where a list continues.
#[derive(Clone)]
pub(crate) enum PageStart<C> {
    /// In a file: after this item.
    After(C),
    /// At a coordinator: at the page with this token.
    Page(String),
}

impl<C> PageStart<C> {
    pub(super) fn cursor(self) -> Option<C> {
        match self {
            Self::After(cursor) => Some(cursor),
            Self::Page(_) => None,
        }
    }

    pub(super) fn token(self) -> String {
        match self {
            Self::After(_) => String::new(),
            Self::Page(token) => token,
        }
    }

    pub(super) fn page(token: String) -> Option<Self> {
        (!token.is_empty()).then_some(Self::Page(token))
    }
}

/// The rows of a statement, as they arrive. Dropping the value ends the statement.
pub(crate) enum Answer {
    /// From a file.
    File(QueryRows),
    /// From a coordinator.
    Coordinator(Box<RemoteAnswer>),
}

impl Answer {
    /// Column names.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::File(rows) => rows.columns(),
            Self::Coordinator(answer) => &answer.columns,
        }
    }

    /// The next rows; nothing after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Vec<SqlValue>>>> {
        match self {
            Self::File(rows) => Ok(rows.next().await?),
            Self::Coordinator(answer) => answer.next().await,
        }
    }

    /// Whether rows were left out. Known after the last row.
    pub(crate) fn truncated(&self) -> bool {
        match self {
            Self::File(rows) => rows.truncated(),
            Self::Coordinator(answer) => answer.truncated,
        }
    }
}

/// A coordinator's answer to a statement.
pub(crate) struct RemoteAnswer {
    columns: Vec<String>,
    /// Rows received with the columns.
    waiting: Vec<Vec<SqlValue>>,
    stream: tonic::Streaming<v1::QueryResponse>,
    truncated: bool,
    time_left: Option<Duration>,
    time_max: Duration,
}

impl RemoteAnswer {
    async fn begin(&mut self) -> Result<()> {
        if let Some(first) = self.message().await? {
            self.columns = first.columns;
            self.waiting = first.rows.into_iter().map(row).collect();
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Vec<Vec<SqlValue>>>> {
        loop {
            let rows = std::mem::take(&mut self.waiting);
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
            match self.message().await? {
                None => return Ok(None),
                Some(part) => self.waiting = part.rows.into_iter().map(row).collect(),
            }
        }
    }

    async fn message(&mut self) -> Result<Option<v1::QueryResponse>> {
        let part = match self.time_left {
            None => self.stream.message().await,
            Some(left) => {
                let before = Instant::now();
                let Ok(part) = tokio::time::timeout(left, self.stream.message()).await else {
                    return Err(StoreError::SlowQuery { seconds: self.time_max.as_secs() }.into());
                };
                self.time_left = Some(left.saturating_sub(before.elapsed()));
                part
            }
        };
        let part = part.map_err(query_failed)?;
        self.truncated |= part.as_ref().is_some_and(|part| part.truncated);
        Ok(part)
    }
}

fn query_failed(status: WireStatus) -> CliError {
    failed_call("query", &status)
}

/// The coordinator named by the command line, or else the environment or the config file, if no results database is
/// named. Without any, the action fails.
pub(crate) fn coordinator(arguments: &SourceArguments, action: &str) -> Result<Target> {
    target(arguments)?.ok_or_else(|| {
        CliError::new(Exit::Usage, action)
            .because("neither --db nor --coordinator is given")
            .help("name the database that a run left behind, such as --db NAME.db")
    })
}

/// The coordinator named by the command line, or else the environment or the config file.
fn target(arguments: &SourceArguments) -> Result<Option<Target>> {
    config::target(&ConfigFile::read()?, arguments.coordinator.as_ref(), &arguments.trust)
}

fn read_experiments(
    experiments: Vec<v1::ExperimentSummary>,
    action: &str,
) -> Result<Vec<ExperimentSummary>> {
    let read: std::result::Result<_, WireError> =
        experiments.into_iter().map(ExperimentSummary::try_from).collect();
    read.map_err(|error| malformed(action, &error))
}

/// The answer about an experiment; `None` if the experiment no longer exists.
fn unless_gone<T>(
    answer: std::result::Result<tonic::Response<T>, WireStatus>,
    action: &str,
) -> Result<Option<T>> {
    let is_gone = |status: &WireStatus| {
        Refusal::from_status(status)
            .is_some_and(|refusal| refusal.reason == Reason::UnknownExperiment)
    };
    match answer {
        Ok(answer) => Ok(Some(answer.into_inner())),
        Err(status) if is_gone(&status) => Ok(None),
        Err(status) => Err(failed_call(action, &status)),
    }
}

/// The error of a deleted experiment.
pub(super) fn gone(action: impl Into<String>) -> CliError {
    CliError::new(Exit::Input, action.into())
        .because("the experiment is gone")
        .help("list the experiments: spelrum list")
}

fn row(row: v1::Row) -> Vec<SqlValue> {
    use v1::sql_value::Value;
    row.values
        .into_iter()
        .map(|value| match value.value {
            None => SqlValue::Null,
            Some(Value::Integer(integer)) => SqlValue::Integer(integer),
            Some(Value::Real(real)) => SqlValue::Real(real),
            Some(Value::Text(text)) => SqlValue::Text(text),
            Some(Value::Blob(bytes)) => SqlValue::Blob(bytes),
        })
        .collect()
}
