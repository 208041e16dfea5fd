//! Effects of workers on scores, times and nodes, from the first games of each cell.

use std::collections::BTreeMap;

use spelrum_answers::{
    ComparedGame, ComparedMoves, CostedPlayer, WorkerEffects, WorkerShare, are_compared,
    compared_games, worker_effects,
};
use spelrum_model::{CellId, ExperimentId, WorkerId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::numbers::integer;

/// Facts shared by all games of a cell.
struct ComparedCell {
    swap_sides: bool,
    /// Whether moves of the first and of the second player have a time limit.
    is_timed: [bool; 2],
}

/// Effects of these workers, which played an experiment's counted games.
pub(crate) async fn effects(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    workers: &[WorkerShare],
) -> Result<Vec<WorkerEffects>, StoreError> {
    let workers: Vec<_> = workers.iter().map(WorkerShare::named).collect();
    if !are_compared(&workers) {
        return Ok(Vec::new());
    }
    let cells = cells(connection, experiment).await?;
    let below = integer(compared_games(cells.len() as u64));
    let found = sqlx::query!(
        r#"SELECT g.cell_id, g.number AS "number: u64", g.worker_id AS "worker_id!",
            CASE g.outcome WHEN 'win' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END AS "half_points!: u8",
            m.side AS "side?", count(m.ply) AS "moves!: u64", total(m.cpu_us) AS "cpu_us!: f64",
            total(m.wall_us) AS "wall_us!: f64", total(m.nodes) AS "nodes!: f64"
        FROM cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id AND g.number < ?2
        LEFT JOIN moves AS m ON m.game_id = g.game_id AND m.ended_by <> 'only_move'
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND +g.counted = 1
            AND g.worker_id IS NOT NULL
        GROUP BY g.cell_id, g.number, m.side ORDER BY g.cell_id, g.number, m.side"#,
        experiment.0,
        below
    )
    .fetch_all(connection)
    .await?;
    let mut games: Vec<ComparedGame> = Vec::new();
    for row in found {
        let Some(cell) = cells.get(&row.cell_id) else { continue };
        let (id, number) = (CellId(row.cell_id), row.number);
        let is_swapped = cell.swap_sides && number % 2 == 1;
        if games.last().is_none_or(|last| (last.cell, last.number) != (id, number)) {
            games.push(ComparedGame {
                cell: id,
                number,
                swap_sides: cell.swap_sides,
                worker: WorkerId(row.worker_id),
                half_points: if is_swapped { 2 - row.half_points } else { row.half_points },
                moves: cell
                    .is_timed
                    .map(|is_timed| ComparedMoves { is_timed, ..ComparedMoves::default() }),
            });
        }
        let (Some(side), Some(game)) = (row.side, games.last_mut()) else { continue };
        let moves = &mut game.moves[usize::from((side == 1) != is_swapped)];
        let (cpu_us, wall_us, nodes) = (row.cpu_us, row.wall_us, row.nodes);
        let is_timed = moves.is_timed;
        *moves = ComparedMoves { is_timed, moves: row.moves, cpu_us, wall_us, nodes };
    }
    Ok(worker_effects(&workers, &games))
}

async fn cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<BTreeMap<i64, ComparedCell>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id, c.swap_sides AS "swap_sides!", f.parameters_json AS first_json,
            s.parameters_json AS second_json
        FROM cells AS c
        JOIN players AS f ON f.player_id = c.first_player_id
        JOIN players AS s ON s.player_id = c.second_player_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let is_timed = |json: &str| CostedPlayer::from_json(json).time_limit_us.is_some();
    let players = found.into_iter().map(|row| {
        let is_timed = [is_timed(&row.first_json), is_timed(&row.second_json)];
        (row.cell_id, ComparedCell { swap_sides: row.swap_sides, is_timed })
    });
    Ok(players.collect())
}
