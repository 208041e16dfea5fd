//! Scaling of time limits in an experiment's games, and the kinds of slots that played them.

use spelrum_answers::{PlayedOn, Scaled};
use spelrum_model::speed::Scaling;
use spelrum_model::{CellId, ExperimentId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::numbers::permille;

/// Scaling of an experiment's time limits, as configured and in the counted games of each cell.
pub(crate) async fn scaled(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    scaling: Option<Scaling>,
) -> Result<Scaled, StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", g.time_factor AS "time_factor!: f64",
            count(*) AS "games!: u64"
        FROM cells AS c JOIN games AS g ON g.cell_id = c.cell_id AND g.time_factor IS NOT NULL
        WHERE c.experiment_id = ? AND c.in_sweep = 1 AND g.counted = 1
        GROUP BY c.cell_id, g.time_factor ORDER BY c.cell_id, g.time_factor"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let mut scaled = Scaled { scaling, cells: Vec::new() };
    for row in found {
        if let Some(factor) = permille(row.time_factor) {
            scaled.add(CellId(row.cell_id), factor, row.games);
        }
    }
    Ok(scaled)
}

/// An experiment's counted timed games by the kind of slot that played them, including cells that its sweep no longer
/// names.
pub(crate) async fn played_on(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<PlayedOn, StoreError> {
    let row = sqlx::query!(
        r#"SELECT coalesce(sum(w.quiet_slots > 0), 0) AS "quiet!: u64",
            coalesce(sum(w.quiet_slots = 0), 0) AS "others!: u64",
            coalesce(sum(w.quiet_slots IS NULL), 0) AS "unknown!: u64"
        FROM cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id
            JOIN workers AS w ON w.worker_id = g.worker_id
        WHERE c.experiment_id = ? AND c.timed = 1 AND g.counted = 1"#,
        experiment.0
    )
    .fetch_one(connection)
    .await?;
    let [quiet, others, unknown] = [row.quiet, row.others, row.unknown];
    Ok(PlayedOn { quiet, others, unknown })
}
