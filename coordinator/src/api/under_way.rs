//! Games under way, and their moves.

use std::sync::Arc;
use std::time::Instant;

use spelrum_answers::{
    FollowGame, FollowedGame, GameUnderWay, GamesUnderWay, ListExperiments, ListGamesUnderWay,
};
use spelrum_model::{ExperimentId, GameId, PlayableCell, WorkerId};
use spelrum_proto::{Reason, Refusal};
use spelrum_store::Question as _;

use super::questions::unanswered;
use super::{Answers, Api, Reply};
use crate::dispatcher::AskedGames;
use crate::followed::opening;
use crate::services::reading_failed;

impl Answers<ListGamesUnderWay> for Api {
    async fn answer(&self, question: ListGamesUnderWay) -> Result<Reply<GamesUnderWay>, Refusal> {
        let experiment = self.summary(&question.experiment).await?.experiment;
        Ok(Reply::Small(self.games_under_way(AskedGames::Experiment(experiment)).await?))
    }
}

impl Answers<FollowGame> for Api {
    async fn answer(&self, question: FollowGame) -> Result<Reply<FollowedGame>, Refusal> {
        Ok(Reply::Small(self.follow(question).await?.0))
    }
}

impl Api {
    /// Those of these games that are being played.
    pub(crate) async fn games_under_way(
        &self,
        asked: AskedGames,
    ) -> Result<GamesUnderWay, Refusal> {
        let (started, games_total) = self.dispatch.under_way(asked).await?;
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
        let (mut started, _) = self.dispatch.under_way(AskedGames::Game(id)).await?;
        let (experiment, _, worker) = started.pop().ok_or_else(not_under_way)?;
        let mut names = self.readers.cells_named(&[cell]).await.map_err(reading_failed)?;
        let named = names.pop().ok_or_else(not_under_way)?;
        let mut playable = self.referee.games(vec![cell]).await.map_err(reading_failed)?;
        let playable = playable.remove(&cell).ok_or_else(not_under_way)?;
        let experiment_uuid = self.experiment_uuid(experiment).await?.ok_or_else(not_under_way)?;
        let played = self.followed.follow(id, worker, &playable, Instant::now())?;
        let position = match &played {
            Some(played) => Some(played.position.position()),
            None => opening(&playable, number).map(|opening| opening.position()),
        };
        let followed = FollowedGame {
            game: under_way(id, worker, &named.players, &playable),
            experiment: named.experiment,
            experiment_uuid,
            rules: playable.definition().rules.name().to_owned(),
            opening: playable.derive(number).opening.to_string(),
            position: position.unwrap_or_default(),
            moves: played.map(|played| played.moves.clone()),
        };
        Ok((followed, playable))
    }

    /// The UUID of an experiment that is not deleted.
    async fn experiment_uuid(&self, experiment: ExperimentId) -> Result<Option<String>, Refusal> {
        let after = Some(ExperimentId(experiment.0 - 1));
        let page = ListExperiments { after, limit: Some(1) }.answer(&self.readers).await;
        let mut experiments = page.map_err(unanswered)?.experiments.into_iter();
        let same = experiments.find(|other| other.experiment == experiment);
        Ok(same.map(|experiment| experiment.uuid))
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
