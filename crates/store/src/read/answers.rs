//! Answers to the questions of the API, whoever asks: a coordinator for its clients, or a command with the file.

use spelrum_answers::{
    Call, CellsPage, Comparisons, ExperimentSummary, ExperimentsPage, FoundGame, GameCursor,
    GamesFilter, GamesOf, GamesOrder, GamesPage, GamesQuestion, GetCellGame, GetComparisons,
    GetExperiment, GetGame, GetOutcomeLengths, GetOverview, GetPhases, GetProgress, GetRatings,
    GetReport, GetRuns, GetStatus, ListCellGames, ListCells, ListExperiments, ListGames,
    ListSettledCells, ListWholeCellGames, ListWholeGames, MissingGame, Overview,
    PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, Phases, Progress, Ratings, Report, RunResult, SettledCells,
    SettledGame, Status, WhichGame, WholeGames,
};
use spelrum_model::{CellId, ExperimentId, ExperimentState, GameId, Task};

use crate::error::StoreError;
use crate::read::readers::Readers;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The database cannot be read, or the answer is too large.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No experiment has this UUID or name.
    #[error("there is no experiment {0:?}")]
    UnknownExperiment(String),
    /// There is no such cell.
    #[error("there is no cell {0}")]
    UnknownCell(CellId),
    /// There is no such settled game.
    #[error(transparent)]
    MissingGame(#[from] MissingGame),
    /// Strength is not compared in an experiment of choices, which has no winners.
    #[error("{0:?} is an accuracy experiment, in which no games are won")]
    WithoutGames(String),
    /// A page of so many items is not 1 to [`PAGE_ITEMS_MAX`].
    #[error("a page of {0} items was asked for")]
    PageSize(u32),
}

/// A question that a database answers.
pub trait Question: Call {
    /// Whether its answer may be large, or take long to compute.
    const IS_LARGE: bool = false;

    /// Answers it. Results are of one snapshot; an experiment's name is looked up before it.
    ///
    /// # Errors
    /// If there is no answer, or the database fails.
    fn answer(
        self,
        readers: &Readers,
    ) -> impl Future<Output = Result<Self::Answer, Unanswered>> + Send;
}

/// What is done with every question.
pub trait EachQuestion {
    /// Does it with this one.
    fn question<Q: Question>(&mut self);
}

/// Goes through the questions that a coordinator answers as a file does: all but that of the status, to which it adds
/// what only it knows.
pub fn each_question(each: &mut impl EachQuestion) {
    each.question::<ListExperiments>();
    each.question::<GetExperiment>();
    each.question::<GetReport>();
    each.question::<GetRatings>();
    each.question::<GetComparisons>();
    each.question::<GetPhases>();
    each.question::<GetOverview>();
    each.question::<GetOutcomeLengths>();
    each.question::<GetProgress>();
    each.question::<GetRuns>();
    each.question::<ListCells>();
    each.question::<ListSettledCells>();
    each.question::<ListGames>();
    each.question::<ListCellGames>();
    each.question::<ListWholeGames>();
    each.question::<ListWholeCellGames>();
    each.question::<GetGame>();
    each.question::<GetCellGame>();
}

/// An answer about an experiment, or the error that there is no such experiment.
fn known<T>(answer: Option<T>, experiment: String) -> Result<T, Unanswered> {
    answer.ok_or(Unanswered::UnknownExperiment(experiment))
}

/// Number of items of a page where this many are asked for.
fn page_size(limit: Option<u32>) -> Result<u32, Unanswered> {
    let items = limit.unwrap_or(PAGE_ITEMS_DEFAULT);
    if (1..=PAGE_ITEMS_MAX).contains(&items) { Ok(items) } else { Err(Unanswered::PageSize(items)) }
}

async fn id_of(readers: &Readers, experiment: &str) -> Result<ExperimentId, Unanswered> {
    known(readers.experiment_id(experiment).await?, experiment.to_owned())
}

impl Question for ListExperiments {
    async fn answer(self, readers: &Readers) -> Result<ExperimentsPage, Unanswered> {
        Ok(readers.experiments(self.after, page_size(self.limit)?).await?)
    }
}

impl Question for GetExperiment {
    async fn answer(self, readers: &Readers) -> Result<ExperimentSummary, Unanswered> {
        known(readers.experiment(&self.experiment).await?, self.experiment)
    }
}

impl Question for GetReport {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<Report, Unanswered> {
        known(readers.report(&self.experiment, self.detail).await?, self.experiment)
    }
}

impl Question for GetRatings {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<Ratings, Unanswered> {
        let ratings = known(readers.ratings(&self.experiment).await?, self.experiment)?;
        of_games(&ratings.experiment)?;
        Ok(ratings)
    }
}

impl Question for GetComparisons {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<Comparisons, Unanswered> {
        let compared = known(readers.comparisons(&self.experiment).await?, self.experiment)?;
        of_games(&compared.experiment)?;
        Ok(compared)
    }
}

/// Refuses to compare strength in an experiment of choices.
fn of_games(experiment: &ExperimentSummary) -> Result<(), Unanswered> {
    match experiment.task {
        Task::Game => Ok(()),
        Task::Choice => Err(Unanswered::WithoutGames(experiment.name.clone())),
    }
}

impl Question for GetPhases {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<Phases, Unanswered> {
        known(readers.phases(&self.experiment).await?, self.experiment)
    }
}

impl Question for GetOverview {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<Overview, Unanswered> {
        known(readers.overview(&self.experiment).await?, self.experiment)
    }
}

impl Question for GetProgress {
    async fn answer(self, readers: &Readers) -> Result<Progress, Unanswered> {
        let id = id_of(readers, &self.experiment).await?;
        known(readers.progress(id).await?, self.experiment)
    }
}

impl Question for GetRuns {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<Vec<RunResult>, Unanswered> {
        let id = id_of(readers, &self.experiment).await?;
        Ok(readers.runs(id).await?)
    }
}

impl Question for ListCells {
    async fn answer(self, readers: &Readers) -> Result<CellsPage, Unanswered> {
        let size = page_size(self.limit)?;
        let id = id_of(readers, &self.experiment).await?;
        Ok(readers.cells(id, self.after, size).await?)
    }
}

impl Question for ListSettledCells {
    async fn answer(self, readers: &Readers) -> Result<SettledCells, Unanswered> {
        let size = page_size(self.limit)?;
        let id = id_of(readers, &self.experiment).await?;
        Ok(readers.settled_cells(id, self.after_game_id, size).await?)
    }
}

/// Which games a list asks for, and which page of them.
struct GamesAsked {
    filter: GamesFilter,
    order: GamesOrder,
    after: Option<GameCursor>,
    size: u32,
}

impl GamesAsked {
    fn about(self, scope: GamesOf) -> (GamesQuestion, Option<GameCursor>, u32) {
        let Self { filter, order, after, size } = self;
        (GamesQuestion { scope, filter, order }, after, size)
    }
}

macro_rules! games_asked {
    ($call:expr) => {
        GamesAsked {
            filter: $call.filter,
            order: $call.order,
            after: $call.after,
            size: page_size($call.limit)?,
        }
    };
}

/// A cell that exists.
async fn scope_of_cell(readers: &Readers, cell: CellId) -> Result<GamesOf, Unanswered> {
    match readers.games_planned(cell).await? {
        Some(_) => Ok(GamesOf::Cell(cell)),
        None => Err(Unanswered::UnknownCell(cell)),
    }
}

impl Question for ListGames {
    async fn answer(self, readers: &Readers) -> Result<GamesPage, Unanswered> {
        let asked = games_asked!(self);
        let scope = GamesOf::Experiment(id_of(readers, &self.experiment).await?);
        let (question, after, size) = asked.about(scope);
        Ok(readers.games(question, after, size).await?)
    }
}

impl Question for ListCellGames {
    async fn answer(self, readers: &Readers) -> Result<GamesPage, Unanswered> {
        let asked = games_asked!(self);
        let (question, after, size) = asked.about(scope_of_cell(readers, self.cell).await?);
        Ok(readers.games(question, after, size).await?)
    }
}

impl Question for ListWholeGames {
    async fn answer(self, readers: &Readers) -> Result<WholeGames, Unanswered> {
        let asked = games_asked!(self);
        let scope = GamesOf::Experiment(id_of(readers, &self.experiment).await?);
        let (question, after, size) = asked.about(scope);
        Ok(readers.whole_games(question, after, size).await?)
    }
}

impl Question for ListWholeCellGames {
    async fn answer(self, readers: &Readers) -> Result<WholeGames, Unanswered> {
        let asked = games_asked!(self);
        let (question, after, size) = asked.about(scope_of_cell(readers, self.cell).await?);
        Ok(readers.whole_games(question, after, size).await?)
    }
}

impl Question for GetGame {
    async fn answer(self, readers: &Readers) -> Result<SettledGame, Unanswered> {
        game(readers, WhichGame::Id(self.game_id)).await
    }
}

impl Question for GetCellGame {
    async fn answer(self, readers: &Readers) -> Result<SettledGame, Unanswered> {
        let Self { cell, number } = self;
        game(readers, WhichGame::InCell(GameId { cell, number })).await
    }
}

async fn game(readers: &Readers, which: WhichGame) -> Result<SettledGame, Unanswered> {
    match readers.game(which).await? {
        FoundGame::Settled(game) => Ok(*game),
        FoundGame::Missing(missing) => Err(missing.into()),
    }
}

/// What a file knows: it has no workers that are connected.
impl Question for GetStatus {
    async fn answer(self, readers: &Readers) -> Result<Status, Unanswered> {
        let (experiments, experiments_total) = match self.experiment {
            None => readers.current_experiments().await?,
            Some(experiment) => (vec![GetExperiment { experiment }.answer(readers).await?], 1),
        };
        let mut stops = readers.stops(&experiments).await?;
        for row in &mut stops {
            let is_running = experiments.iter().any(|experiment| {
                experiment.experiment == row.experiment
                    && experiment.state == ExperimentState::Running
            });
            if is_running {
                let progress = readers.progress(row.experiment).await?;
                row.games_expected = progress.and_then(|progress| progress.games_expected);
            }
        }
        Ok(Status {
            experiments_total,
            stops,
            claims: readers.claims_to_report(&experiments).await?,
            attention: readers.attention(&experiments).await?,
            removals: readers.removals().await?,
            experiments,
            coordinator: None,
        })
    }
}
