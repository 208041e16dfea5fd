//! Games under way, and their moves.

use std::sync::Arc;
use std::time::Instant;

use spelrum_answers::{
    FollowGame, FollowedGame, GameUnderWay, GamesUnderWay, ListExperiments, ListGamesUnderWay,
    MoveSoFar, UNDER_WAY_MAX,
};
use spelrum_model::{ExperimentId, GameId, PlayableCell, WorkerId};
use spelrum_proto::{Reason, Refusal};
use spelrum_store::Question as _;

use super::questions::unanswered;
use super::{Answers, Api, Reply};
use crate::followed::position_after;
use crate::services::reading_failed;

impl Answers<ListGamesUnderWay> for Api {
    async fn answer(&self, question: ListGamesUnderWay) -> Result<Reply<GamesUnderWay>, Refusal> {
        Ok(Reply::Small(self.games_under_way(question).await?))
    }
}

impl Answers<FollowGame> for Api {
    async fn answer(&self, question: FollowGame) -> Result<Reply<FollowedGame>, Refusal> {
        Ok(Reply::Small(self.follow(question).await?.0))
    }
}

impl Api {
    /// Games that are being played.
    pub(crate) async fn games_under_way(
        &self,
        question: ListGamesUnderWay,
    ) -> Result<GamesUnderWay, Refusal> {
        let experiment = self.summary(&question.experiment).await?.experiment;
        let mut started = self.dispatch.under_way().await?;
        started.retain(|(other, ..)| *other == experiment);
        started.sort_unstable();
        let games_total = started.len() as u64;
        started.truncate(UNDER_WAY_MAX);
        let mut games = Vec::with_capacity(started.len());
        let cells: Vec<_> = started.iter().map(|(_, game, _)| game.cell).collect();
        let names = self.readers.cells_named(&cells).await.map_err(reading_failed)?;
        let playable = self.referee.games(cells).await.map_err(reading_failed)?;
        for (_, game, worker) in started {
            let named = names.iter().find(|named| named.cell == game.cell);
            if let Some((named, cell)) = named.zip(playable.get(&game.cell)) {
                games.push(under_way(game, worker, &named.players, cell));
            }
        }
        Ok(GamesUnderWay { games, games_total })
    }

    /// A game under way with its moves, and its cell. Its worker is asked for them from now on.
    pub(crate) async fn follow(
        &self,
        FollowGame { cell, number }: FollowGame,
    ) -> Result<(FollowedGame, Arc<PlayableCell>), Refusal> {
        let id = GameId { cell, number };
        let not_under_way = || {
            let problem = format!("game {number} of cell {cell} is not being played");
            Refusal::new(Reason::UnknownGame, problem, "list the experiment's games under way")
        };
        let started = self.dispatch.under_way().await?;
        let (experiment, _, worker) =
            started.into_iter().find(|(_, game, _)| *game == id).ok_or_else(not_under_way)?;
        let mut names = self.readers.cells_named(&[cell]).await.map_err(reading_failed)?;
        let named = names.pop().ok_or_else(not_under_way)?;
        let mut playable = self.referee.games(vec![cell]).await.map_err(reading_failed)?;
        let playable = playable.remove(&cell).ok_or_else(not_under_way)?;
        let experiment_uuid = self.experiment_uuid(experiment).await?;
        let moves = self.followed.follow(id, worker, &playable, Instant::now())?;
        let texts = moves.iter().flatten().map(|MoveSoFar { mv, .. }| mv.as_str());
        let position = position_after(&playable, number, texts);
        let followed = FollowedGame {
            game: under_way(id, worker, &named.players, &playable),
            experiment: named.experiment,
            experiment_uuid,
            rules: playable.definition().rules.name().to_owned(),
            opening: playable.derive(number).opening.to_string(),
            position: position.map(|position| position.position()).unwrap_or_default(),
            moves,
        };
        Ok((followed, playable))
    }

    async fn experiment_uuid(&self, experiment: ExperimentId) -> Result<String, Refusal> {
        let after = Some(ExperimentId(experiment.0 - 1));
        let page = ListExperiments { after, limit: Some(1) }.answer(&self.readers).await;
        let mut experiments = page.map_err(unanswered)?.experiments.into_iter();
        Ok(experiments.next().map(|experiment| experiment.uuid).unwrap_or_default())
    }
}

fn under_way(
    game: GameId,
    worker: WorkerId,
    [first, second]: &[String; 2],
    cell: &PlayableCell,
) -> GameUnderWay {
    let is_first = cell.derive(game.number).first_player_moves_first;
    let players = if is_first { [first, second] } else { [second, first] };
    GameUnderWay { game, players: players.map(Clone::clone), worker }
}
