//! Costs of moves game by game, summed over openings.

use std::collections::HashMap;

use spelrum_model::ExperimentId;
use spelrum_statistics::{PlayerTimeSums, TimeSums};
use sqlx::SqliteConnection;

use crate::error::StoreError;

/// Clock that measures the time of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Wall clock.
    Wall,
    /// CPU time of the thinking thread, or of an external engine's processes.
    Cpu,
}

/// Summed times of each cell's players over its openings, by cell. A player that meets itself counts as the first
/// player, with the games of both sides.
pub(crate) async fn time_sums(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    clock: Clock,
    limit: i64,
) -> Result<HashMap<i64, TimeSums>, StoreError> {
    let clock = i64::from(clock == Clock::Cpu);
    let found = sqlx::query!(
        r#"SELECT n.cell_id AS "cell_id!",
            total(n.games) AS "games!: f64", total(n.means) AS "means!: f64",
            total(n.logs) AS "logs!: f64", total(n.games * n.games) AS "games_squared!: f64",
            total(n.games * n.means) AS "games_means!: f64",
            total(n.means * n.means) AS "means_squared!: f64",
            total(n.games * n.logs) AS "games_logs!: f64",
            total(n.logs * n.logs) AS "logs_squared!: f64",
            total(n.games_2) AS "games_2!: f64", total(n.means_2) AS "means_2!: f64",
            total(n.logs_2) AS "logs_2!: f64",
            total(n.games_2 * n.games_2) AS "games_squared_2!: f64",
            total(n.games_2 * n.means_2) AS "games_means_2!: f64",
            total(n.means_2 * n.means_2) AS "means_squared_2!: f64",
            total(n.games_2 * n.logs_2) AS "games_logs_2!: f64",
            total(n.logs_2 * n.logs_2) AS "logs_squared_2!: f64",
            total(n.games * n.games_2) AS "games_products!: f64",
            total(n.logs * n.logs_2) AS "logs_products!: f64",
            total(n.games * n.logs_2) AS "first_games_second_logs!: f64",
            total(n.logs * n.games_2) AS "first_logs_second_games!: f64"
        FROM (
            SELECT t.number, t.cell_id, t.first_games + t.is_self * t.second_games AS games,
                t.first_means + t.is_self * t.second_means AS means,
                t.first_logs + t.is_self * t.second_logs AS logs,
                (1 - t.is_self) * t.second_games AS games_2,
                (1 - t.is_self) * t.second_means AS means_2,
                (1 - t.is_self) * t.second_logs AS logs_2
            FROM (
                SELECT c.number, c.cell_id, c.first_player_id = c.second_player_id AS is_self,
                    o.first_player_searched_games AS first_games,
                    o.second_player_searched_games AS second_games,
                    CASE ?2 WHEN 1 THEN o.first_player_cpu_us_mean_sum
                        ELSE o.first_player_wall_us_mean_sum END AS first_means,
                    CASE ?2 WHEN 1 THEN o.second_player_cpu_us_mean_sum
                        ELSE o.second_player_wall_us_mean_sum END AS second_means,
                    CASE ?2 WHEN 1 THEN o.first_player_cpu_us_mean_log_sum
                        ELSE o.first_player_wall_us_mean_log_sum END AS first_logs,
                    CASE ?2 WHEN 1 THEN o.second_player_cpu_us_mean_log_sum
                        ELSE o.second_player_wall_us_mean_log_sum END AS second_logs
                FROM cells AS c INDEXED BY cells_experiment
                CROSS JOIN cell_openings AS o ON o.cell_id = c.cell_id
                WHERE c.experiment_id = ?1 AND c.in_sweep = 1) AS t) AS n
        GROUP BY n.number, n.cell_id LIMIT ?3"#,
        experiment.0,
        clock,
        limit
    )
    .fetch_all(connection)
    .await?;
    let read = found.into_iter().map(|row| {
        let first = PlayerTimeSums {
            games: row.games,
            means: row.means,
            logs: row.logs,
            games_squared: row.games_squared,
            games_means: row.games_means,
            means_squared: row.means_squared,
            games_logs: row.games_logs,
            logs_squared: row.logs_squared,
        };
        let second = PlayerTimeSums {
            games: row.games_2,
            means: row.means_2,
            logs: row.logs_2,
            games_squared: row.games_squared_2,
            games_means: row.games_means_2,
            means_squared: row.means_squared_2,
            games_logs: row.games_logs_2,
            logs_squared: row.logs_squared_2,
        };
        let sums = TimeSums {
            players: [first, second],
            games_products: row.games_products,
            logs_products: row.logs_products,
            first_games_second_logs: row.first_games_second_logs,
            first_logs_second_games: row.first_logs_second_games,
        };
        (row.cell_id, sums)
    });
    Ok(read.collect())
}
