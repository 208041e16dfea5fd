//! Results of cells by opening, for comparisons.

use spelrum_answers::{CellCursor, OpeningCursor, OpeningSums, OpeningsPage};
use spelrum_model::{CellId, ExperimentId};
use spelrum_statistics::GameTimes;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::numbers::integer;

impl Readers {
    /// Returns a page of results by opening, of the cells named by an experiment's sweep, in grid order: from the
    /// start, or after this opening.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn openings(
        &self,
        experiment: ExperimentId,
        after: Option<OpeningCursor>,
        openings_max: u32,
    ) -> Result<OpeningsPage, StoreError> {
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            page(&mut snapshot, experiment, after, openings_max).await
        };
        self.in_time(reading).await
    }
}

/// Returns a page within a snapshot.
pub(crate) async fn page(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    after: Option<OpeningCursor>,
    openings_max: u32,
) -> Result<OpeningsPage, StoreError> {
    let (number, cell, opening) = after.map_or((-1, 0, 0), |after| {
        (integer(after.cell.number), after.cell.cell.0, integer(after.opening_number))
    });
    // One extra row shows whether there are more.
    let limit = i64::from(openings_max) + 1;
    let found = sqlx::query!(
        r#"SELECT c.number AS "cell_number!: u64", o.cell_id AS "cell_id!",
            o.opening_number AS "opening_number!", o.games, o.wins, o.draws, o.losses,
            o.first_mover_half_points, o.pairs, o.pairs_half_points, o.pairs_won_by_first_mover,
            o.pairs_won_by_second_mover, o.games_moving_first, o.half_points_moving_first,
            o.first_player_searched_games, o.first_player_wall_us_mean_sum,
            o.first_player_wall_us_mean_log_sum, o.second_player_searched_games,
            o.second_player_wall_us_mean_sum, o.second_player_wall_us_mean_log_sum
        FROM cells AS c INDEXED BY cells_experiment
        CROSS JOIN cell_openings AS o ON o.cell_id = c.cell_id
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND c.number >= ?2
            AND (c.number, c.cell_id, o.opening_number) > (?2, ?3, ?4)
        ORDER BY c.number, c.cell_id, o.opening_number LIMIT ?5"#,
        experiment.0,
        number,
        cell,
        opening,
        limit
    )
    .fetch_all(connection)
    .await?;
    let found = found.into_iter().map(|row| {
        let sums = OpeningSums {
            opening_number: row.opening_number,
            games: row.games,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            first_mover_half_points: row.first_mover_half_points,
            games_moving_first: row.games_moving_first,
            half_points_moving_first: row.half_points_moving_first,
            pairs: row.pairs,
            pairs_half_points: row.pairs_half_points,
            pairs_won_by_first_mover: row.pairs_won_by_first_mover,
            pairs_won_by_second_mover: row.pairs_won_by_second_mover,
            times: [
                GameTimes {
                    games: row.first_player_searched_games,
                    wall_us_mean_sum: row.first_player_wall_us_mean_sum,
                    wall_us_mean_log_sum: row.first_player_wall_us_mean_log_sum,
                },
                GameTimes {
                    games: row.second_player_searched_games,
                    wall_us_mean_sum: row.second_player_wall_us_mean_sum,
                    wall_us_mean_log_sum: row.second_player_wall_us_mean_log_sum,
                },
            ],
        };
        let cell = CellCursor { number: row.cell_number, cell: CellId(row.cell_id) };
        (cell, sums)
    });
    Ok(OpeningsPage::new(found, usize::try_from(openings_max).unwrap_or(usize::MAX)))
}
