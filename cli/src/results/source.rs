//! Sources of results: a database file, or a coordinator that serves one.

use std::ops::ControlFlow;
use std::path::Path;

use http_body_util::BodyExt as _;
use spelrum_answers::{
    CellCursor, CellsPage, Detail, EXPORT_PATH, ExperimentSummary, ExportExperiments, GameCursor,
    GamesFilter, GamesOrder, GetCellGame, GetExperiment, GetGame, GetProgress, GetReport, GetRuns,
    GetStatus, ListCells, ListExperiments, ListSettledCells, ListWholeCellGames, ListWholeGames,
    PAGE_ITEMS_MAX, Progress, Report, RunResult, SettledCells, SettledGame, Status, WhichGame,
    WholeGames,
};
use spelrum_model::{CellId, ExperimentState, GameId};
use spelrum_proto::api::{self, Api};
use spelrum_proto::{Reason, Refusal};
use spelrum_store::{
    BackedUp, BackupError, Question, Readers, Unanswered, export_from_pieces, is_held,
};
use tonic::Status as WireStatus;

use super::locate::{from_file, only_database, only_experiment};
use crate::arguments::SourceArguments;
use crate::config::{self, ConfigFile, Target};
use crate::error::conversions::failed_call;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::remote::connection;
use crate::remote::retry_when_busy::take_turn;
use crate::terminal::notices;

/// Whole games requested at once; a page holds fewer if they are long.
const WHOLE_GAMES_MAX: u32 = 250;

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
pub(crate) enum ResultsSource {
    /// A results database on this machine, whether or not a coordinator has it open.
    File(Readers),
    /// A coordinator.
    Coordinator(Api),
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
            return Ok(Self::Coordinator(connection::connect_to(&target).await?));
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

    /// Asks a question.
    pub(crate) async fn ask<Q: Question>(&self, action: &str, question: Q) -> Result<Q::Answer> {
        match self.try_ask(action, question).await? {
            Some(answer) => Ok(answer),
            None => Err(gone(action)),
        }
    }

    /// Asks a question; `None` if there is no such experiment.
    async fn try_ask<Q: Question>(&self, action: &str, question: Q) -> Result<Option<Q::Answer>> {
        match self {
            Self::File(readers) => match question.answer(readers).await {
                Ok(answer) => Ok(Some(answer)),
                Err(Unanswered::UnknownExperiment(_)) => Ok(None),
                Err(why) => Err(unanswered(action, why)),
            },
            Self::Coordinator(api) => match take_turn(async || api.call(&question).await).await {
                Ok(answer) => Ok(Some(answer)),
                Err(status) if is_gone(&status) => Ok(None),
                Err(status) => Err(failed_call(action, &status)),
            },
        }
    }

    /// All experiments, oldest first.
    pub(crate) async fn experiments(&self) -> Result<Vec<ExperimentSummary>> {
        let (mut experiments, mut after) = (Vec::new(), None);
        loop {
            let question = ListExperiments { after, limit: Some(PAGE_ITEMS_MAX) };
            let page = self.ask("list the experiments", question).await?;
            experiments.extend(page.experiments);
            after = page.next;
            if after.is_none() {
                return Ok(experiments);
            }
        }
    }

    /// The experiment with this UUID or name; without either, the only experiment.
    pub(crate) async fn experiment(&self, name: Option<&str>) -> Result<ExperimentSummary> {
        let Some(name) = name else { return only_experiment(self.experiments().await?) };
        let action = format!("find experiment {name}");
        let question = GetExperiment { experiment: name.to_owned() };
        self.try_ask(&action, question).await?.ok_or_else(|| {
            CliError::new(Exit::Input, action)
                .because("no experiment has this name or UUID")
                .help("list the experiments: spelrum list")
        })
    }

    /// An experiment's results.
    pub(crate) async fn report(
        &self,
        experiment: &ExperimentSummary,
        detail: Detail,
    ) -> Result<Report> {
        let action = format!("report on {}", experiment.name);
        self.ask(&action, GetReport { experiment: experiment.uuid.clone(), detail }).await
    }

    /// An experiment's progress.
    pub(crate) async fn progress(&self, experiment: &ExperimentSummary) -> Result<Progress> {
        self.ask(WATCH, GetProgress { experiment: experiment.uuid.clone() }).await
    }

    /// The results of an experiment's runs so far; empty if the experiment does not depend on its own results.
    pub(crate) async fn runs(&self, experiment: &ExperimentSummary) -> Result<Vec<RunResult>> {
        self.ask(WATCH, GetRuns { experiment: experiment.uuid.clone() }).await
    }

    /// The settled cells of an experiment with results after this game: a part of them if there are many, and where to
    /// continue.
    pub(crate) async fn settled_cells(
        &self,
        experiment: &ExperimentSummary,
        after_game_id: i64,
    ) -> Result<SettledCells> {
        let (experiment, limit) = (experiment.uuid.clone(), Some(PAGE_ITEMS_MAX));
        self.ask(WATCH, ListSettledCells { experiment, after_game_id, limit }).await
    }

    /// A settled game with its moves.
    pub(crate) async fn game(&self, wanted: WhichGame) -> Result<SettledGame> {
        match wanted {
            WhichGame::Id(game_id) => {
                self.ask(&format!("find game {game_id}"), GetGame { game_id }).await
            }
            WhichGame::InCell(GameId { cell, number }) => {
                let action = format!("find game {number} of cell {cell}");
                self.ask(&action, GetCellGame { cell, number }).await
            }
        }
    }

    /// A page of an experiment's cells in the grid's order, from the start or from where it continues.
    pub(crate) async fn cells(
        &self,
        experiment: &ExperimentSummary,
        after: Option<CellCursor>,
    ) -> Result<CellsPage> {
        let action = format!("list the cells of {}", experiment.name);
        let (experiment, limit) = (experiment.uuid.clone(), Some(PAGE_ITEMS_MAX));
        self.ask(&action, ListCells { experiment, after, limit }).await
    }

    /// A page of a cell's games with their moves, by number, from the start or from where it continues.
    pub(crate) async fn whole_games(
        &self,
        cell: CellId,
        filter: GamesFilter,
        after: Option<GameCursor>,
    ) -> Result<WholeGames> {
        let action = format!("read the games of cell {cell}");
        let (order, limit) = (GamesOrder::Number, Some(WHOLE_GAMES_MAX));
        self.ask(&action, ListWholeCellGames { cell, filter, order, after, limit }).await
    }

    /// A page of an experiment's games with their moves, in the order of settling, from the start or from where it
    /// continues. The last page says where future games continue.
    pub(crate) async fn settled_games(
        &self,
        experiment: &ExperimentSummary,
        filter: GamesFilter,
        after: Option<GameCursor>,
    ) -> Result<WholeGames> {
        let action = format!("read the games of {}", experiment.name);
        let (order, limit) = (GamesOrder::Settled, Some(WHOLE_GAMES_MAX));
        let experiment = experiment.uuid.clone();
        self.ask(&action, ListWholeGames { experiment, filter, order, after, limit }).await
    }

    /// The progress of experiments, or of one, with workers and what needs attention.
    pub(crate) async fn status(&self, name: Option<&str>) -> Result<Status> {
        // Checks the name first, for its own error.
        let experiment = match name {
            None => None,
            Some(name) => Some(self.experiment(Some(name)).await?.uuid),
        };
        self.ask("ask for the status", GetStatus { experiment }).await
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
        let api = match self {
            Self::File(readers) => {
                let ids: Vec<_> =
                    experiments.iter().map(|experiment| experiment.experiment).collect();
                let (readers, to) = (readers.clone(), to.to_owned());
                let work = move || readers.export(&ids, &to, move || look(None));
                return joined(tokio::task::spawn_blocking(work).await);
            }
            Self::Coordinator(api) => api,
        };
        let mut received = export_from_pieces(to)?;
        let experiments = experiments.iter().map(|experiment| experiment.uuid.clone()).collect();
        let failed = |status| failed_call(ACTION, &status);
        let body = api::json(&ExportExperiments { experiments }).map_err(failed)?;
        let ask = async || api.send("POST", EXPORT_PATH, Some(body.clone())).await;
        let answer = take_turn(ask).await.map_err(failed)?;
        let total = api::content_length(&answer);
        let mut pieces = answer.into_body();
        let mut bytes = 0;
        while let Some(frame) = pieces.frame().await {
            let Ok(piece) = frame.map_err(failed)?.into_data() else { continue };
            bytes += piece.len() as u64;
            received.write(to, &piece)?;
            let share = total.filter(|&total| total > 0).map(|total| bytes * 1_000 / total);
            if look(share).is_break() {
                return Err(BackupError::GivenUp.into());
            }
        }
        if total.is_some_and(|total| total != bytes) {
            return Err(CliError::new(Exit::Network, ACTION)
                .because("the coordinator ended before all of it was there")
                .help("try again"));
        }
        joined(tokio::task::spawn_blocking(move || received.finish(move || look(None))).await)
    }
}

/// What a command does that asks again and again.
const WATCH: &str = "continue watching";

/// The error of a file's question without an answer.
fn unanswered(action: &str, why: Unanswered) -> CliError {
    match why {
        Unanswered::Store(error) => error.into(),
        Unanswered::MissingGame(missing) => {
            CliError::new(Exit::Input, action).because(missing).help(missing.remedy())
        }
        Unanswered::UnknownExperiment(_) => gone(action),
        Unanswered::UnknownCell(_) | Unanswered::WithoutGames(_) | Unanswered::PageSize(_) => {
            CliError::new(Exit::Input, action).because(why)
        }
    }
}

fn is_gone(status: &WireStatus) -> bool {
    Refusal::from_status(status).is_some_and(|refusal| refusal.reason == Reason::UnknownExperiment)
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

/// The error of a deleted experiment.
fn gone(action: impl Into<String>) -> CliError {
    CliError::new(Exit::Input, action.into())
        .because("the experiment is gone")
        .help("list the experiments: spelrum list")
}
