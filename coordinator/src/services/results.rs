//! The `Results` service, for viewers.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream;
use spelrum_answers::{
    CellCursor, Detail, ExperimentSummary, FoundGame, GameCursor, GamesOf, GamesQuestion,
};
use spelrum_model::{CellId, ExperimentId, GameId, Task};
use spelrum_proto::limits::NAME_BYTES_MAX;
use spelrum_proto::results::{
    GamesScope, exported_experiments, game_to_wire, games_page_to_wire, games_request, which_game,
    whole_games_list, whole_games_to_wire,
};
use spelrum_proto::v1::results_server::Results;
use spelrum_proto::work::check_length;
use spelrum_proto::{Reason, Refusal, v1};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use super::comparison_parts::ComparisonParts;
use super::exports::export;
use super::overview_parts::OverviewParts;
use super::page_token::{Question, page_size};
use super::phase_parts::PhaseParts;
use super::rating_parts::RatingParts;
use super::report_parts::ReportParts;
use super::{BUSY_RETRY_AFTER, reading_failed};
use crate::dispatcher::unknown_experiment;
use spelrum_store::{Readers, StoreError};

/// Reports and ratings that can be in memory at once.
const REPORTS_MAX: usize = 2;

pub(crate) struct ResultsService {
    readers: Readers,
    reports: Arc<Semaphore>,
    /// Each export takes space on the disk until its client has it.
    exports: Arc<Semaphore>,
}

impl ResultsService {
    pub(crate) fn new(readers: Readers) -> Self {
        let [reports, exports] = [REPORTS_MAX, 1].map(|max| Arc::new(Semaphore::new(max)));
        Self { readers, reports, exports }
    }

    /// A place to make a report or ratings, kept until the last part is sent or the client is gone.
    fn place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        Arc::clone(&self.reports)
            .try_acquire_owned()
            .map_err(|_| Refusal::busy("too many other reports are being made", BUSY_RETRY_AFTER))
    }

    /// The experiment with this UUID or name.
    async fn experiment_id(&self, name: &str) -> Result<ExperimentId, Refusal> {
        check_length("experiment", name, NAME_BYTES_MAX)?;
        let experiment = self.readers.experiment_id(name).await.map_err(reading_failed)?;
        experiment.ok_or_else(|| unknown_experiment(name))
    }

    /// The experiments whose games are asked for.
    async fn find_games_scope(&self, question: GamesScope<'_>) -> Result<GamesOf, Refusal> {
        match question {
            GamesScope::Experiment(name) => {
                Ok(GamesOf::Experiment(self.experiment_id(name).await?))
            }
            GamesScope::Cell(cell) => {
                let planned = self.readers.games_planned(cell).await.map_err(reading_failed)?;
                planned.map(|_| GamesOf::Cell(cell)).ok_or_else(|| {
                    let problem = format!("there is no cell {cell}");
                    Refusal::new(Reason::UnknownCell, problem, "list an experiment's cells")
                })
            }
        }
    }
}

#[tonic::async_trait]
impl Results for ResultsService {
    type GetReportStream =
        Pin<Box<dyn Stream<Item = Result<v1::GetReportResponse, Status>> + Send>>;

    async fn get_report(
        &self,
        request: Request<v1::GetReportRequest>,
    ) -> Result<Response<Self::GetReportStream>, Status> {
        let v1::GetReportRequest { experiment, depths } = request.into_inner();
        check_length("experiment", &experiment, NAME_BYTES_MAX).map_err(Refusal::from)?;
        let place = self.place()?;
        let detail = if depths { Detail::Depths } else { Detail::Cells };
        let report = self.readers.report(&experiment, detail).await.map_err(reading_failed)?;
        let report = report.ok_or_else(|| unknown_experiment(&experiment))?;
        let parts = ReportParts::new(report).map(move |part| {
            let _place = &place;
            Ok(part)
        });
        Ok(Response::new(Box::pin(stream::iter(parts))))
    }

    type GetRatingsStream =
        Pin<Box<dyn Stream<Item = Result<v1::GetRatingsResponse, Status>> + Send>>;

    async fn get_ratings(
        &self,
        request: Request<v1::GetRatingsRequest>,
    ) -> Result<Response<Self::GetRatingsStream>, Status> {
        let v1::GetRatingsRequest { experiment } = request.into_inner();
        check_length("experiment", &experiment, NAME_BYTES_MAX).map_err(Refusal::from)?;
        let place = self.place()?;
        // Work goes on after its caller has gone, and keeps the place for as long.
        let (readers, name) = (self.readers.clone(), experiment.clone());
        let rating = tokio::spawn(async move { (readers.ratings(&name).await, place) });
        let (ratings, place) = match rating.await {
            Ok(rated) => rated,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let ratings = ratings.map_err(too_much)?;
        let ratings = ratings.ok_or_else(|| unknown_experiment(&experiment))?;
        needs_games(&ratings.experiment)?;
        let parts = RatingParts::new(ratings).map(move |part| {
            let _place = &place;
            Ok(part)
        });
        Ok(Response::new(Box::pin(stream::iter(parts))))
    }

    type GetComparisonsStream =
        Pin<Box<dyn Stream<Item = Result<v1::GetComparisonsResponse, Status>> + Send>>;

    async fn get_comparisons(
        &self,
        request: Request<v1::GetComparisonsRequest>,
    ) -> Result<Response<Self::GetComparisonsStream>, Status> {
        let v1::GetComparisonsRequest { experiment } = request.into_inner();
        check_length("experiment", &experiment, NAME_BYTES_MAX).map_err(Refusal::from)?;
        let place = self.place()?;
        // Work goes on after its caller has gone, and keeps the place for as long.
        let (readers, name) = (self.readers.clone(), experiment.clone());
        let comparing = tokio::spawn(async move { (readers.comparisons(&name).await, place) });
        let (compared, place) = match comparing.await {
            Ok(compared) => compared,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let compared = compared.map_err(reading_failed)?;
        let compared = compared.ok_or_else(|| unknown_experiment(&experiment))?;
        needs_games(&compared.experiment)?;
        let parts = ComparisonParts::new(compared).map(move |part| {
            let _place = &place;
            Ok(part)
        });
        Ok(Response::new(Box::pin(stream::iter(parts))))
    }

    type GetPhasesStream =
        Pin<Box<dyn Stream<Item = Result<v1::GetPhasesResponse, Status>> + Send>>;

    async fn get_phases(
        &self,
        request: Request<v1::GetPhasesRequest>,
    ) -> Result<Response<Self::GetPhasesStream>, Status> {
        let v1::GetPhasesRequest { experiment } = request.into_inner();
        check_length("experiment", &experiment, NAME_BYTES_MAX).map_err(Refusal::from)?;
        let place = self.place()?;
        let phases = self.readers.phases(&experiment).await.map_err(too_much)?;
        let phases = phases.ok_or_else(|| unknown_experiment(&experiment))?;
        let parts = PhaseParts::new(phases).map(move |part| {
            let _place = &place;
            Ok(part)
        });
        Ok(Response::new(Box::pin(stream::iter(parts))))
    }

    type GetOverviewStream =
        Pin<Box<dyn Stream<Item = Result<v1::GetOverviewResponse, Status>> + Send>>;

    async fn get_overview(
        &self,
        request: Request<v1::GetOverviewRequest>,
    ) -> Result<Response<Self::GetOverviewStream>, Status> {
        let v1::GetOverviewRequest { experiment } = request.into_inner();
        check_length("experiment", &experiment, NAME_BYTES_MAX).map_err(Refusal::from)?;
        let place = self.place()?;
        let overview = self.readers.overview(&experiment).await.map_err(too_much)?;
        let overview = overview.ok_or_else(|| unknown_experiment(&experiment))?;
        let parts = OverviewParts::new(overview).map(move |part| {
            let _place = &place;
            Ok(part)
        });
        Ok(Response::new(Box::pin(stream::iter(parts))))
    }

    async fn get_progress(
        &self,
        request: Request<v1::GetProgressRequest>,
    ) -> Result<Response<v1::GetProgressResponse>, Status> {
        let name = &request.get_ref().experiment;
        let experiment = self.experiment_id(name).await?;
        let progress = self.readers.progress(experiment).await.map_err(reading_failed)?;
        let progress = progress.ok_or_else(|| unknown_experiment(name))?;
        Ok(Response::new(progress.into()))
    }

    type GetRunsStream = Pin<Box<dyn Stream<Item = Result<v1::GetRunsResponse, Status>> + Send>>;

    async fn get_runs(
        &self,
        request: Request<v1::GetRunsRequest>,
    ) -> Result<Response<Self::GetRunsStream>, Status> {
        let name = &request.get_ref().experiment;
        let experiment = self.experiment_id(name).await?;
        let place = self.place()?;
        let runs = self.readers.runs(experiment).await.map_err(too_much)?;
        // One at a time: each may have many generations, and long formulas.
        let parts = runs.into_iter().map(move |run| {
            let _place = &place;
            Ok(v1::GetRunsResponse { runs: vec![run.into()] })
        });
        Ok(Response::new(Box::pin(stream::iter(parts))))
    }

    async fn list_experiments(
        &self,
        request: Request<v1::ListExperimentsRequest>,
    ) -> Result<Response<v1::ListExperimentsResponse>, Status> {
        let v1::ListExperimentsRequest { page_size: size_requested, page_token, experiment } =
            request.into_inner();
        let size = page_size(size_requested)?;
        let question = Question::new("experiments", &experiment);
        let after = question.after(&page_token)?.map(|[after]| ExperimentId(signed(after)));
        if !experiment.is_empty() {
            check_length("experiment", &experiment, NAME_BYTES_MAX).map_err(Refusal::from)?;
            let summary = self.readers.experiment(&experiment).await.map_err(reading_failed)?;
            let summary = summary.ok_or_else(|| unknown_experiment(&experiment))?;
            return Ok(Response::new(v1::ListExperimentsResponse {
                experiments: vec![summary.into()],
                next_page_token: String::new(),
            }));
        }
        let page = self.readers.experiments(after, size).await.map_err(reading_failed)?;
        Ok(Response::new(v1::ListExperimentsResponse {
            experiments: page.experiments.into_iter().map(Into::into).collect(),
            next_page_token: token(&question, page.next.map(|ExperimentId(last)| [last])),
        }))
    }

    async fn list_cells(
        &self,
        request: Request<v1::ListCellsRequest>,
    ) -> Result<Response<v1::ListCellsResponse>, Status> {
        let v1::ListCellsRequest {
            experiment,
            page_size: size_requested,
            page_token,
            settled_after,
        } = request.into_inner();
        let size = page_size(size_requested)?;
        let experiment = self.experiment_id(&experiment).await?;
        let question = Question::new("cells", experiment);
        let after = question.after(&page_token)?;
        if let Some(after_game_id) = settled_after {
            if after_game_id < 0 || after.is_some() {
                return Err(Refusal::new(
                    Reason::Malformed,
                    "the message's field settled_after is negative, or page_token is set beside it",
                    "go on with the answer's last_game_id as settled_after",
                )
                .into());
            }
            let settled = self.readers.settled_cells(experiment, after_game_id, size).await;
            return Ok(Response::new(settled.map_err(reading_failed)?.into()));
        }
        let after = after.map(|[number, cell]| CellCursor { number, cell: CellId(signed(cell)) });
        let page = self.readers.cells(experiment, after, size).await.map_err(reading_failed)?;
        let next = page.next.map(|next| [signed(next.number), next.cell.0]);
        Ok(Response::new(v1::ListCellsResponse {
            next_page_token: token(&question, next),
            ..page.into()
        }))
    }

    async fn list_games(
        &self,
        request: Request<v1::ListGamesRequest>,
    ) -> Result<Response<v1::ListGamesResponse>, Status> {
        let request = request.get_ref();
        let size = page_size(request.page_size)?;
        let asked = games_request(request).map_err(Refusal::from)?;
        let scope = self.find_games_scope(asked.scope).await?;
        let asked = GamesQuestion { scope, filter: asked.filter, order: asked.order };
        let question = Question::new("games", asked);
        let after = games_after(&question, request)?;
        let page = self.readers.games(asked, after, size).await.map_err(reading_failed)?;
        Ok(Response::new(v1::ListGamesResponse {
            next_page_token: token(&question, page.next.map(game_keys)),
            ..games_page_to_wire(page)
        }))
    }

    async fn get_games(
        &self,
        request: Request<v1::GetGamesRequest>,
    ) -> Result<Response<v1::GetGamesResponse>, Status> {
        let request = whole_games_list(request.into_inner()).map_err(Refusal::from)?;
        let size = page_size(request.page_size)?;
        let asked = games_request(&request).map_err(Refusal::from)?;
        let scope = self.find_games_scope(asked.scope).await?;
        let asked = GamesQuestion { scope, filter: asked.filter, order: asked.order };
        let question = Question::new("whole games", asked);
        let page = self.readers.whole_games(asked, games_after(&question, &request)?, size).await;
        let page = page.map_err(reading_failed)?;
        Ok(Response::new(v1::GetGamesResponse {
            next_page_token: token(&question, page.next.map(game_keys)),
            ..whole_games_to_wire(page.games)
        }))
    }

    type ExportExperimentsStream =
        Pin<Box<dyn Stream<Item = Result<v1::ExportExperimentsResponse, Status>> + Send>>;

    async fn export_experiments(
        &self,
        request: Request<v1::ExportExperimentsRequest>,
    ) -> Result<Response<Self::ExportExperimentsStream>, Status> {
        let named = exported_experiments(request.into_inner()).map_err(Refusal::from)?;
        let mut experiments = Vec::with_capacity(named.len());
        for name in &named {
            experiments.push(self.experiment_id(name).await?);
        }
        let Ok(place) = Arc::clone(&self.exports).try_acquire_owned() else {
            return Err(Refusal::busy("another export is being made", BUSY_RETRY_AFTER).into());
        };
        Ok(Response::new(Box::pin(export(self.readers.clone(), experiments, place))))
    }

    async fn get_game(
        &self,
        request: Request<v1::GetGameRequest>,
    ) -> Result<Response<v1::GetGameResponse>, Status> {
        let requested = which_game(request.get_ref()).map_err(Refusal::from)?;
        match self.readers.game(requested).await.map_err(reading_failed)? {
            FoundGame::Settled(game) => Ok(Response::new(game_to_wire(*game))),
            FoundGame::Missing(missing) => {
                let refusal =
                    Refusal::new(Reason::UnknownGame, missing.to_string(), missing.remedy());
                Err(refusal.into())
            }
        }
    }
}

/// The game after which a list of games continues.
fn games_after(
    question: &Question,
    request: &v1::ListGamesRequest,
) -> Result<Option<GameCursor>, Refusal> {
    let keys = question.after(&request.page_token)?;
    Ok(keys.map(|[game_id, cell, number]| {
        let game = GameId { cell: CellId(signed(cell)), number };
        GameCursor { game_id: signed(game_id), game }
    }))
}

/// The keys of a game in a page token.
fn game_keys(GameCursor { game_id, game: GameId { cell, number } }: GameCursor) -> [i64; 3] {
    [game_id, cell.0, signed(number)]
}

/// The token of the page after an item; empty if there is no such page.
fn token<const KEYS: usize>(question: &Question, after: Option<[i64; KEYS]>) -> String {
    let unsigned = |key: i64| u64::try_from(key).unwrap_or(0);
    after.map_or_else(String::new, |keys| question.token(&keys.map(unsigned)))
}

/// A number below 2^53 as an id.
fn signed(key: u64) -> i64 {
    i64::try_from(key).unwrap_or(i64::MAX)
}

/// Oversized or slow requests are the caller's error.
fn too_much(error: StoreError) -> Refusal {
    if matches!(error, StoreError::ManyToRate { .. } | StoreError::SlowQuery { .. }) {
        Refusal::new(Reason::BadQuery, error.to_string(), error.remedy())
    } else {
        reading_failed(error)
    }
}

/// Refuses to compare strength in an experiment of choices, which has no winners.
fn needs_games(experiment: &ExperimentSummary) -> Result<(), Refusal> {
    match experiment.task {
        Task::Game => Ok(()),
        Task::Choice => {
            let problem =
                format!("{:?} is an accuracy experiment: its players meet nobody", experiment.name);
            Err(Refusal::new(Reason::WrongState, problem, "ask for its report"))
        }
    }
}
