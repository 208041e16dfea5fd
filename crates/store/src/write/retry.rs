//! Retrying games that finally failed: their records are withdrawn, as if they had been leased and returned.

use std::collections::BTreeMap;

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{CellId, ExperimentId, GameId, SchedulingSettings};
use spelrum_scheduling::scheduler::{Attempts, CellState};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::settings;
use crate::write::transaction::Transaction;
use crate::write::{networks, requirements, rollups, scheduling, stop_readings, verifications};

/// The games to replay, and the scheduler's facts about them.
#[derive(Clone, Debug, Default)]
pub struct Retry {
    /// The games, in order.
    pub games: Vec<GameId>,
    /// All cells of the experiment, with these games among the returned ones.
    pub cells: Vec<CellState>,
    /// Attempts of the experiment's unsettled games.
    pub attempts: Vec<Attempts>,
    /// The experiment's settings for the scheduler.
    pub settings: SchedulingSettings,
}

/// Withdraws the results of an experiment's failed games: those that count, in cells that its sweep names. Clears
/// their attempts; the stop rules of their cells start again from the first unit. The scheduler's pending changes of
/// cells must be stored first.
///
/// # Errors
/// If the experiment has a course of its own or is of another engine, or the database fails.
pub(crate) async fn retry_failed(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
) -> Result<Retry, StoreError> {
    let found = sqlx::query!(
        r#"SELECT name, course IS NOT NULL AS "has_course!: bool", engine_revision
        FROM experiments WHERE experiment_id = ?"#,
        experiment.0
    )
    .fetch_one(tx.connection())
    .await?;
    if found.has_course {
        return Err(StoreError::HasCourse { name: found.name });
    }
    if found.engine_revision != ENGINE_REVISION {
        // This engine can play different games (invariant 2).
        return Err(StoreError::OtherEngine { name: found.name, revision: found.engine_revision });
    }
    let failed = sqlx::query!(
        r#"DELETE FROM games WHERE game_id IN (
            SELECT g.game_id
            FROM cells AS c INDEXED BY cells_experiment
            CROSS JOIN cell_results AS r ON r.cell_id = c.cell_id AND r.games_failed > 0
            CROSS JOIN games AS g ON g.cell_id = c.cell_id
            WHERE c.experiment_id = ? AND c.in_sweep = 1 AND c.superseded = 0 AND g.failure IS NOT NULL
                AND (c.stop_number IS NULL OR g.number < c.stop_number))
        RETURNING cell_id AS "cell_id!", number AS "number: u64""#,
        experiment.0
    )
    .fetch_all(tx.connection())
    .await?;
    let trainings = networks::retry_trainings(tx, experiment.0).await?;
    if failed.is_empty() && trainings.is_empty() {
        return Ok(Retry::default());
    }
    let mut numbers: Vec<(i64, u64)> =
        failed.into_iter().map(|row| (row.cell_id, row.number)).collect();
    let mut failed: BTreeMap<i64, i64> = BTreeMap::new();
    for (cell, _) in &numbers {
        *failed.entry(*cell).or_default() += 1;
    }
    numbers.extend(trainings.iter().map(|task| (task.cell.0, task.number)));
    numbers.sort_unstable();
    let mut results = rollups::cell_results(tx, failed.keys().copied()).await?;
    for (cell, count) in &failed {
        results.entry(*cell).or_default().games_failed -= count;
    }
    rollups::write_cell_results(tx, &results).await?;
    let list = rows(&numbers)?;
    sqlx::query!(
        "DELETE FROM attempts WHERE (cell_id, number) IN (
            SELECT value ->> 0, value ->> 1 FROM jsonb_each(?))",
        list
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "INSERT INTO returned_ranges (cell_id, first_number, games)
        SELECT value ->> 0, value ->> 1, 1 FROM jsonb_each(?)
        WHERE true ON CONFLICT DO NOTHING",
        list
    )
    .execute(tx.connection())
    .await?;
    let cells = rows(&failed.into_keys().collect::<Vec<_>>())?;
    sqlx::query!(
        "UPDATE cells SET decided_number = 0
        WHERE cell_id IN (SELECT value FROM jsonb_each(?))",
        cells
    )
    .execute(tx.connection())
    .await?;
    // As if the cells never had a result.
    sqlx::query!(
        "DELETE FROM cell_results WHERE games = 0 AND games_failed = 0
            AND cell_id IN (SELECT value FROM jsonb_each(?))
            AND NOT EXISTS (SELECT 1 FROM games AS g WHERE g.cell_id = cell_results.cell_id)",
        cells
    )
    .execute(tx.connection())
    .await?;
    let state = reload(tx, experiment).await?;
    let game = |(cell, number)| GameId { cell: CellId(cell), number };
    Ok(Retry { games: numbers.into_iter().map(game).collect(), ..state })
}

/// The scheduler's state of an experiment that it has dropped from memory, without the games.
///
/// # Errors
/// If the database fails.
pub(crate) async fn reload(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
) -> Result<Retry, StoreError> {
    let mut cells = scheduling::cell_states(tx, experiment.0).await?;
    requirements::add_to_cells(tx, experiment.0, &mut cells).await?;
    stop_readings::add_to_cells(tx, experiment.0, &mut cells).await?;
    scheduling::add_played(tx, experiment.0, &mut cells).await?;
    networks::add_to_cells(tx, experiment.0, &mut cells).await?;
    verifications::add_to_cells(tx, experiment.0, &mut cells).await?;
    Ok(Retry {
        games: Vec::new(),
        cells,
        attempts: scheduling::open_attempts(tx, Some(experiment.0)).await?,
        settings: settings::read(tx.connection(), experiment.0).await?.scheduling,
    })
}
