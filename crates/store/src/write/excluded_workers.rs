//! Excluded workers: until they are readmitted, and including later starts that replace them.

use spelrum_model::{ExperimentId, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::transaction::Transaction;

/// Readmits workers, and the later starts of them that were excluded with them: to everything they were excluded from,
/// or only to an engine's games. Returns the readmitted workers.
///
/// # Errors
/// If the database fails.
pub(crate) async fn readmit(
    tx: &mut Transaction<'_>,
    workers: &[WorkerId],
    engine: Option<&str>,
) -> Result<Vec<WorkerId>, StoreError> {
    let list = rows(&workers.iter().map(|worker| worker.0).collect::<Vec<_>>())?;
    let now = tx.now_unix_us;
    let found = sqlx::query_scalar!(
        r#"UPDATE exclusions SET readmitted_unix_us = ?2
        WHERE readmitted_unix_us IS NULL AND (?3 IS NULL OR engine = ?3) AND EXISTS (
            SELECT 1 FROM workers AS own CROSS JOIN json_each(?1) AS j
            CROSS JOIN workers AS w ON w.worker_id = j.value
            WHERE own.worker_id = exclusions.worker_id AND own.name = w.name
                AND own.host = w.host)
        RETURNING worker_id"#,
        list,
        now,
        engine
    )
    .fetch_all(tx.connection())
    .await?;
    let mut found: Vec<WorkerId> = found.into_iter().map(WorkerId).collect();
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Excludes a worker that has said Hello, and has had no lease yet, from whatever an earlier start of it (a worker of
/// the same name and host) is excluded from. Returns these exclusions.
///
/// # Errors
/// If the database fails.
pub(crate) async fn inherit(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
) -> Result<Vec<Option<ExperimentId>>, StoreError> {
    let now = tx.now_unix_us;
    let found = sqlx::query_scalar!(
        r#"INSERT INTO exclusions (worker_id, experiment_id, requested_unix_us, done_unix_us)
        SELECT DISTINCT w.worker_id, x.experiment_id, ?2, ?2
        FROM workers AS w
        JOIN exclusions AS x ON x.readmitted_unix_us IS NULL AND x.worker_id <> w.worker_id
            AND x.engine IS NULL
        JOIN workers AS before ON before.worker_id = x.worker_id
            AND before.name = w.name AND before.host = w.host
        WHERE w.worker_id = ?1
            AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.worker_id = ?1)
            AND NOT EXISTS (
                SELECT 1 FROM exclusions AS own
                WHERE own.worker_id = ?1 AND own.experiment_id IS x.experiment_id
                    AND own.engine IS NULL AND own.readmitted_unix_us IS NULL)
        RETURNING experiment_id"#,
        worker.0,
        now
    )
    .fetch_all(tx.connection())
    .await?;
    let mut found: Vec<_> = found.into_iter().map(|id| id.map(ExperimentId)).collect();
    found.sort_unstable();
    Ok(found)
}

/// The workers excluded from an experiment or from all.
pub(crate) async fn excluded(
    tx: &mut Transaction<'_>,
) -> Result<Vec<(WorkerId, Option<ExperimentId>)>, StoreError> {
    let found = sqlx::query!(
        "SELECT DISTINCT worker_id, experiment_id FROM exclusions
        WHERE readmitted_unix_us IS NULL AND engine IS NULL ORDER BY worker_id, experiment_id"
    )
    .fetch_all(tx.connection())
    .await?;
    let who = |worker, from: Option<i64>| (WorkerId(worker), from.map(ExperimentId));
    Ok(found.into_iter().map(|row| who(row.worker_id, row.experiment_id)).collect())
}

/// Whether an excluded worker reported a cell's game.
pub(crate) async fn is_excluded(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    cell: i64,
) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (
            SELECT 1 FROM exclusions
            WHERE worker_id = ?1 AND readmitted_unix_us IS NULL
                AND (experiment_id IS NULL OR experiment_id = (
                    SELECT c.experiment_id FROM cells AS c WHERE c.cell_id = ?2))
                AND (engine IS NULL OR engine IN (
                    SELECT p.parameters_json ->> 'engine'
                    FROM cells AS c
                    JOIN players AS p
                        ON p.player_id IN (c.first_player_id, c.second_player_id)
                    WHERE c.cell_id = ?2))
            ) AS "any!: bool""#,
        worker.0,
        cell
    )
    .fetch_one(tx.connection())
    .await?)
}
