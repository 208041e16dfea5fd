//! Ratings of an experiment's players, from its counted games.

use std::collections::BTreeSet;

use spelrum_answers::{
    Clusters, ExperimentSummary, GamesToRate, Places, RATED_GAMES_MAX, Ratings, RatingsLimit,
    StatedClaim,
};
use spelrum_engine::Outcome;
use spelrum_model::{CellId, ExperimentId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::cells::places_of;
use crate::read::readers::Readers;
use crate::read::summaries::{find, summary};

/// The input of ratings.
struct Rateable {
    experiment: ExperimentSummary,
    anchors: BTreeSet<String>,
    games: GamesToRate,
}

impl Readers {
    /// Rates the players of the experiment with this UUID or name, in one snapshot, from every counted game; `None` if
    /// the experiment is missing.
    ///
    /// # Errors
    /// If the database fails, takes too long, or has more games or players than can be rated.
    pub async fn ratings(&self, which: &str) -> Result<Option<Ratings>, StoreError> {
        let Some(Rateable { experiment, anchors, games }) =
            self.in_time(self.rateable(which)).await?
        else {
            return Ok(None);
        };
        // With many players this would block the async thread for too long.
        let rating = tokio::task::spawn_blocking(move || games.rate(experiment, &anchors));
        let rated = match rating.await {
            Ok(rated) => rated,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        rated.map(Some).map_err(|limit| StoreError::ManyToRate { limit })
    }

    async fn rateable(&self, which: &str) -> Result<Option<Rateable>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
        let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
        let games = games_of(&mut snapshot, &experiment).await?;
        let anchors = anchors(&mut snapshot, id).await?;
        Ok(Some(Rateable { experiment, anchors, games }))
    }
}

/// The games of an experiment that ratings follow from.
async fn games_of(
    connection: &mut SqliteConnection,
    experiment: &ExperimentSummary,
) -> Result<GamesToRate, StoreError> {
    let id = experiment.experiment;
    if experiment.games_settled - experiment.games_failed > RATED_GAMES_MAX {
        return Err(StoreError::ManyToRate { limit: RatingsLimit::Games });
    }
    let rows = counted_games(connection, id, Clusters::Openings).await?;
    let cells = rows.iter().map(|row| row.cell_id);
    let places = places_of(connection, id, cells).await?;
    let games = games_to_rate(rows, &places, Clusters::Openings)?;
    if !games.has_one_opening() {
        return Ok(games);
    }
    games_to_rate(counted_games(connection, id, Clusters::Pairs).await?, &places, Clusters::Pairs)
}

/// Adds the differences of ratings that claims are about.
pub(crate) async fn add_leads(
    connection: &mut SqliteConnection,
    experiment: &ExperimentSummary,
    mut claims: Vec<StatedClaim>,
) -> Result<Vec<StatedClaim>, StoreError> {
    if !claims.iter().any(|claim| claim.statement.about.is_of_ratings()) {
        return Ok(claims);
    }
    let games = games_of(connection, experiment).await?;
    let adding = tokio::task::spawn_blocking(move || {
        let added = games.add_leads(&mut claims);
        added.map(|()| claims)
    });
    let added = match adding.await {
        Ok(added) => added,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    added.map_err(|limit| StoreError::ManyToRate { limit })
}

/// The counted games of a cell.
struct RatedCell {
    cell_id: i64,
    first_player_name: String,
    second_player_name: String,
    /// Each game, with commas between: its cluster times 6, plus 3 if the opponent moved first, plus its outcome.
    games: Option<String>,
}

/// Reads the counted games of all cells that the sweep names, one row per cell, since a row costs more than a game.
async fn counted_games(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    clusters: Clusters,
) -> Result<Vec<RatedCell>, StoreError> {
    let by_pairs = clusters == Clusters::Pairs;
    // The plus keeps SQLite from the index of counted games, whose order differs.
    Ok(sqlx::query_as!(
        RatedCell,
        r#"SELECT c.cell_id AS "cell_id!", c.first_player_name,
            -- Two names of one player are one: nobody is stronger than itself.
            CASE WHEN c.first_player_id = c.second_player_id THEN c.first_player_name
                ELSE c.second_player_name END AS "second_player_name!: String",
            (SELECT group_concat(n.game) FROM (
                SELECT CASE ?2 WHEN 1 THEN g.number / (1 + c.swap_sides) ELSE g.opening_id END * 6
                    + g.number % 2 * c.swap_sides * 3
                    + CASE g.outcome WHEN 'win' THEN 0 WHEN 'draw' THEN 1 ELSE 2 END AS game
                FROM games AS g
                WHERE g.cell_id = c.cell_id AND +g.counted = 1
                ORDER BY g.number) AS n) AS "games?: String"
        FROM cells AS c
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1
        ORDER BY c.number, c.cell_id"#,
        experiment.0,
        by_pairs
    )
    .fetch_all(connection)
    .await?)
}

fn games_to_rate(
    cells: Vec<RatedCell>,
    places: &Places,
    clusters: Clusters,
) -> Result<GamesToRate, StoreError> {
    let mut rated = GamesToRate::on(places.axes(), clusters);
    for RatedCell { cell_id, first_player_name, second_player_name, games } in cells {
        rated.cell(&places.values(CellId(cell_id)), first_player_name, second_player_name);
        rated.identify(CellId(cell_id));
        for game in games.iter().flat_map(|games| games.split(',')) {
            let unknown = || StoreError::UnknownValue { column: "games", value: game.to_owned() };
            let game: i64 = game.parse().map_err(|_| unknown())?;
            let outcome = match game % 3 {
                0 => Outcome::Win,
                1 => Outcome::Draw,
                _ => Outcome::Loss,
            };
            rated.game(game / 6, game / 3 % 2 == 0, outcome);
        }
    }
    Ok(rated)
}

async fn anchors(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<BTreeSet<String>, StoreError> {
    let anchors = sqlx::query_scalar!(
        "SELECT player FROM experiment_anchors WHERE experiment_id = ?",
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    Ok(anchors.into_iter().collect())
}
