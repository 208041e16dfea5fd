//! Disturbed games of each cell, and how many of them were replayed.

use std::collections::BTreeMap;

use spelrum_answers::DisturbedGames;
use spelrum_model::{CellId, ExperimentId};
use sqlx::SqliteConnection;

use crate::error::StoreError;

/// Counted and replayed disturbed games of each cell of an experiment.
pub(crate) async fn disturbed(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<DisturbedGames>, StoreError> {
    let mut cells: BTreeMap<i64, DisturbedGames> = BTreeMap::new();
    let none =
        |cell| DisturbedGames { cell: CellId(cell), games: 0, replayed: 0, half_points_before: 0 };
    let marked = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", count(*) AS "games!: u64"
        FROM cells AS c JOIN games AS g ON g.cell_id = c.cell_id AND g.disturbed = 1
        WHERE c.experiment_id = ? AND c.in_sweep = 1 AND g.counted = 1
        GROUP BY c.cell_id"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in marked {
        cells.entry(row.cell_id).or_insert_with(|| none(row.cell_id)).games = row.games;
    }
    // The first disturbed result of a game is its first result of all.
    let replayed = sqlx::query!(
        r#"SELECT g.cell_id AS "cell_id!", count(*) AS "games!: u64",
            sum((CASE f.outcome WHEN 'win' THEN 1 WHEN 'loss' THEN -1 ELSE 0 END
                - CASE g.outcome WHEN 'win' THEN 1 WHEN 'loss' THEN -1 ELSE 0 END)
                * (1 - 2 * (g.number % 2 * c.swap_sides))) AS "half_points!: i64"
        FROM (
            SELECT u.cell_id, u.number, min(u.uncounted_game_id) AS first_id
            FROM cells AS n JOIN uncounted_games AS u ON u.cell_id = n.cell_id
            WHERE n.experiment_id = ? AND n.in_sweep = 1 AND u.reason = 'disturbed'
            GROUP BY u.cell_id, u.number) AS r
        JOIN uncounted_games AS f ON f.uncounted_game_id = r.first_id
        JOIN games AS g ON g.cell_id = r.cell_id AND g.number = r.number AND g.counted = 1
        JOIN cells AS c ON c.cell_id = g.cell_id
        GROUP BY g.cell_id"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in replayed {
        let disturbed = cells.entry(row.cell_id).or_insert_with(|| none(row.cell_id));
        (disturbed.replayed, disturbed.half_points_before) = (row.games, row.half_points);
    }
    Ok(cells.into_values().collect())
}
