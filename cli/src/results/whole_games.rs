//! Games with their moves, in pages.

use spelrum_answers::{
    ExperimentSummary, GameCursor, GamesFilter, GamesOf, GamesOrder, GamesQuestion, WholeGame,
    WholeGames,
};
use spelrum_model::CellId;
use spelrum_proto::results::{filter_to_wire, order_to_wire, whole_games_from_wire};
use spelrum_proto::v1;

use super::source::{PageStart, ResultsSource};
use crate::error::Result;
use crate::error::conversions::{failed_call, malformed};

/// Whole games requested at once; a page holds fewer if they are long.
const WHOLE_GAMES_MAX: u32 = 250;

impl ResultsSource {
    /// A page of a cell's games with their moves, by number, from the start or from where it continues.
    pub(crate) async fn whole_games(
        &self,
        cell: CellId,
        filter: GamesFilter,
        from: Option<PageStart<GameCursor>>,
    ) -> Result<(Vec<WholeGame>, Option<PageStart<GameCursor>>)> {
        let question =
            GamesQuestion { scope: GamesOf::Cell(cell), filter, order: GamesOrder::Number };
        let scope = v1::list_games_request::Of::CellId(cell.0);
        self.games_of(&format!("read the games of cell {cell}"), question, scope, from).await
    }

    /// A page of an experiment's games with their moves, in the order of settling, from the start or from where it
    /// continues. The last page says where future games continue.
    pub(crate) async fn settled_games(
        &self,
        experiment: &ExperimentSummary,
        filter: GamesFilter,
        from: Option<PageStart<GameCursor>>,
    ) -> Result<(Vec<WholeGame>, Option<PageStart<GameCursor>>)> {
        let question = GamesQuestion {
            scope: GamesOf::Experiment(experiment.experiment),
            filter,
            order: GamesOrder::Settled,
        };
        let action = format!("read the games of {}", experiment.name);
        let scope = v1::list_games_request::Of::Experiment(experiment.uuid.clone());
        self.games_of(&action, question, scope, from).await
    }

    async fn games_of(
        &self,
        action: &str,
        question: GamesQuestion,
        scope: v1::list_games_request::Of,
        from: Option<PageStart<GameCursor>>,
    ) -> Result<(Vec<WholeGame>, Option<PageStart<GameCursor>>)> {
        match self {
            Self::File(readers) => {
                let after = from.and_then(PageStart::cursor);
                let WholeGames { games, next } =
                    readers.whole_games(question, after, WHOLE_GAMES_MAX).await?;
                Ok((games, next.map(PageStart::After)))
            }
            Self::Coordinator(remote) => {
                let list = v1::ListGamesRequest {
                    of: Some(scope),
                    page_size: WHOLE_GAMES_MAX,
                    page_token: from.map(PageStart::token).unwrap_or_default(),
                    filter: filter_to_wire(question.filter).into(),
                    order: order_to_wire(question.order).into(),
                };
                let request = v1::GetGamesRequest { list: Some(list) };
                let page = remote.results.clone().get_games(request).await;
                let mut page = page.map_err(|status| failed_call(action, &status))?.into_inner();
                let next = PageStart::page(std::mem::take(&mut page.next_page_token));
                let games =
                    whole_games_from_wire(page).map_err(|error| malformed(action, &error))?;
                Ok((games, next))
            }
        }
    }
}
