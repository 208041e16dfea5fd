//! Effects of workers on scores, times and nodes, from the first games of each cell.

use spelrum_answers::{
    ComparedGame, ComparedRow, ExperimentSummary, WorkerEffects, WorkerShare, are_compared,
    compared_games, worker_effects,
};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::report::players;
use crate::schema::numbers::integer;

/// Effects of these workers, which played an experiment's counted games.
pub(crate) async fn effects(
    connection: &mut SqliteConnection,
    experiment: &ExperimentSummary,
    workers: &[WorkerShare],
) -> Result<Vec<WorkerEffects>, StoreError> {
    let workers: Vec<_> = workers.iter().map(WorkerShare::named).collect();
    if !are_compared(&workers) {
        return Ok(Vec::new());
    }
    let players = players(connection, experiment.experiment).await?;
    let below = integer(compared_games(experiment.cells));
    let found = sqlx::query_as!(
        ComparedRow,
        r#"SELECT g.cell_id, g.number AS "number: u64", c.swap_sides, c.first_player_id,
            c.second_player_id, g.worker_id AS "worker_id!",
            CASE g.outcome WHEN 'win' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END AS "half_points!: u8",
            m.side AS "side?", count(m.ply) AS "moves!: u64", total(m.cpu_us) AS "cpu_us!: f64",
            total(m.wall_us) AS "wall_us!: f64", total(m.nodes) AS "nodes!: f64"
        FROM cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id AND g.number < ?2
        LEFT JOIN moves AS m ON m.game_id = g.game_id AND m.ended_by <> 'only_move'
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND +g.counted = 1
            AND g.worker_id IS NOT NULL
        GROUP BY g.cell_id, g.number, m.side ORDER BY g.cell_id, g.number, m.side"#,
        experiment.experiment.0,
        below
    )
    .fetch_all(connection)
    .await?;
    let is_timed = |player| players.get(&player).is_some_and(|player| player.is_timed);
    Ok(worker_effects(&workers, &ComparedGame::from_rows(found, is_timed)))
}
