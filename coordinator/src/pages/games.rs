//! Lists of games: of an experiment, or of one of its cells, with the filters of the API in their address.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use serde::Deserialize;
use spelrum_answers::{
    Detail, GameCursor, GamesFilter, GamesOrder, GetExperiment, GetReport, ListCellGames, ListGames,
};
use spelrum_model::CellId;
use spelrum_proto::Refusal;
use spelrum_report::pages::{self, Place};
use spelrum_store::{Question as _, Unanswered};

use super::{Pages, address};
use crate::api::{from_query, unanswered};
use crate::dispatcher::AskedGames;

/// Games of a page.
const GAMES_SHOWN: u32 = 50;

/// What an address asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GamesAddress {
    experiment: String,
    cell: Option<CellId>,
    #[serde(default)]
    filter: GamesFilter,
    #[serde(default)]
    order: GamesOrder,
    after: Option<GameCursor>,
}

pub(super) async fn games(
    State(pages): State<Arc<Pages>>,
    Path(experiment): Path<String>,
    uri: Uri,
) -> Response {
    let making = Arc::clone(&pages);
    let query = uri.query().unwrap_or_default().to_owned();
    let make = async move {
        let experiment = [("experiment".to_owned(), experiment)];
        making.games(from_query(&experiment, &query)?).await
    };
    pages.page(address(&uri), make).await
}

impl Pages {
    async fn games(&self, asked: GamesAddress) -> Result<String, Refusal> {
        let GamesAddress { experiment, cell, filter, order, after } = asked;
        let readers = &self.api.readers;
        let experiment = GetExperiment { experiment }.answer(readers).await.map_err(unanswered)?;
        let (uuid, limit) = (experiment.uuid.clone(), Some(GAMES_SHOWN));
        let (report, games) = match cell {
            None => {
                let question = ListGames { experiment: uuid, filter, order, after, limit };
                (None, question.answer(readers).await)
            }
            Some(cell) => {
                let report = GetReport { experiment: uuid, detail: Detail::Cells };
                let report = report.answer(readers).await.map_err(unanswered)?;
                if report.cells.iter().all(|other| other.cell != cell) {
                    return Err(unanswered(Unanswered::UnknownCell(cell)));
                }
                let question = ListCellGames { cell, filter, order, after, limit };
                (Some((report, cell)), question.answer(readers).await)
            }
        };
        let games = games.map_err(unanswered)?;
        let asked = cell.map_or(AskedGames::Experiment(experiment.experiment), AskedGames::Cell);
        let under_way = self.api.games_under_way(asked).await?;
        let title = format!("Games of {}", experiment.name);
        let cell = report.as_ref().map(|(report, cell)| (report, *cell));
        let contents = pages::games(&experiment, cell, (filter, order), (&under_way, &games));
        Ok(pages::page(Place::Elsewhere, &title, "", &contents, self.api.may_play()))
    }
}
