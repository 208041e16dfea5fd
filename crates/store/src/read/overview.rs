//! How games were played: their lengths, their endings and their workers.

use std::collections::BTreeMap;

use spelrum_answers::{CellGames, Lengths, Machine, Overview, WorkerShare};
use spelrum_model::{ExperimentId, WorkerId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::cells::{REPORT_ROWS_MAX, all_cells};
use crate::read::readers::Readers;
use crate::read::summaries::{find, summary};
use crate::read::worker_effects;
use crate::schema::machine_columns::{labels_of, quota_of};
use crate::schema::numbers::count;

impl Readers {
    /// Summarises how the games of the experiment with this UUID or name were played, in one snapshot; `None` if the
    /// experiment is missing. Reads all its games.
    ///
    /// # Errors
    /// If the database fails, takes too long, or has more than [`REPORT_ROWS_MAX`] lengths of games by cell.
    pub async fn overview(&self, which: &str) -> Result<Option<Overview>, StoreError> {
        self.in_time(self.all_games(which)).await
    }

    async fn all_games(&self, which: &str) -> Result<Option<Overview>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
        let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
        let (axes, results) = all_cells(&mut snapshot, id).await?;
        let mut played = games_by_cell(&mut snapshot, id).await?;
        let cells = results.into_iter().filter_map(|result| {
            let rows = played.remove(&result.cell.0)?;
            let mut games = CellGames {
                cell: result.cell,
                axes: result.axes,
                player: result.player,
                opponent: result.opponent,
                lengths: Lengths::default(),
                terminations: BTreeMap::new(),
            };
            for GamesRow { plies, termination, games: count, .. } in rows {
                games.add(u32::try_from(plies).unwrap_or(u32::MAX), &termination, count);
            }
            Some(games)
        });
        let cells = cells.collect();
        let workers = workers(&mut snapshot, id).await?;
        let worker_effects = match experiment.task.is_game() {
            true => worker_effects::effects(&mut snapshot, &experiment, &workers).await?,
            false => Vec::new(),
        };
        Ok(Some(Overview { experiment, axes, workers, worker_effects, cells }))
    }
}

/// A group of similar games of one cell.
struct GamesRow {
    cell_id: i64,
    plies: u64,
    termination: String,
    games: u64,
}

/// The counted games of the cells that the sweep names.
async fn games_by_cell(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<BTreeMap<i64, Vec<GamesRow>>, StoreError> {
    let limit = count(REPORT_ROWS_MAX + 1);
    let found = sqlx::query_as!(
        GamesRow,
        r#"SELECT g.cell_id, g.plies AS "plies!", g.termination AS "termination!",
            count(*) AS "games!: u64"
        FROM cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND +g.counted = 1
        GROUP BY g.cell_id, g.plies, g.termination LIMIT ?2"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    if found.len() > REPORT_ROWS_MAX {
        return Err(StoreError::LargeReport { rows_max: REPORT_ROWS_MAX });
    }
    let mut by_cell: BTreeMap<i64, Vec<GamesRow>> = BTreeMap::new();
    for row in found {
        by_cell.entry(row.cell_id).or_default().push(row);
    }
    Ok(by_cell)
}

/// Workers that played counted games.
async fn workers(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<WorkerShare>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT w.worker_id AS "worker_id!", w.name, w.host, w.slots, w.engine_revision,
            w.version, w.cpu_model, w.logical_cores, w.operating_system, w.build_commit,
            w.build_profile, w.cores, w.quiet_slots, w.cpu_quota_us, w.cpu_period_us, w.labels_json,
            r.games, r.plies, r.wall_us
        FROM worker_results AS r CROSS JOIN workers AS w ON w.worker_id = r.worker_id
        WHERE r.experiment_id = ? AND r.games > 0 ORDER BY w.worker_id"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let workers = found.into_iter().map(|row| WorkerShare {
        worker: WorkerId(row.worker_id),
        name: row.name,
        host: row.host,
        slots: row.slots,
        engine_revision: row.engine_revision,
        version: row.version,
        machine: Machine {
            cpu_model: row.cpu_model,
            logical_cores: row.logical_cores,
            operating_system: row.operating_system,
            build_commit: row.build_commit,
            build_profile: row.build_profile,
            cores: row.cores,
            quiet_slots: row.quiet_slots,
            cpu_quota: quota_of([row.cpu_quota_us, row.cpu_period_us]),
            labels: labels_of(&row.labels_json),
        },
        games: row.games,
        plies: row.plies,
        wall_us: row.wall_us,
    });
    Ok(workers.collect())
}
