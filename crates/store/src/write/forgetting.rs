//! Deletes leases that ended long ago, and workers that left no trace (invariant 9): after years of work a database
//! has its games, but not the records of who was once to play them.

use std::collections::BTreeSet;

use spelrum_model::{LeaseId, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::integer;
use crate::write::transaction::Transaction;

/// Leases examined per step: about two milliseconds of work.
pub const LEASES_AT_ONCE: u32 = 1_000;

/// Workers examined per step, each by searches of four indexes.
pub const WORKERS_AT_ONCE: u32 = 1_000;

/// Examines some leases after this one, and deletes those that ended before the latest `kept` ones were granted and
/// that no worker can report for: all their games have a result, or their experiments are over. Later reports under a
/// deleted lease are rejected (invariant 6).
///
/// Returns the last lease examined, or `None` if none was left.
///
/// # Errors
/// If the database fails.
pub(crate) async fn forget_leases(
    tx: &mut Transaction<'_>,
    after: LeaseId,
    kept: u64,
) -> Result<Option<LeaseId>, StoreError> {
    let bound = tx.last_id("leases").await?.saturating_sub(integer(kept));
    let looked_at = sqlx::query!(
        r#"SELECT l.lease_id AS "lease_id!",
            l.ended_by IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM lease_ranges AS r
                JOIN cells AS c ON c.cell_id = r.cell_id
                JOIN experiments AS e ON e.experiment_id = c.experiment_id
                LEFT JOIN networks AS n ON n.network_id = c.trains_network_id
                LEFT JOIN verifications AS v ON v.cell_id = c.cell_id
                WHERE r.lease_id = l.lease_id AND e.state IN ('running', 'paused')
                    AND n.settled_unix_us IS NULL AND v.settled_unix_us IS NULL
                    AND r.games > (
                        SELECT count(*) FROM games AS g
                        WHERE g.cell_id = r.cell_id AND g.number >= r.first_number
                            AND g.number < r.first_number + r.games)
            ) AS "is_over!: bool"
        FROM leases AS l WHERE l.lease_id > ? AND l.lease_id <= ?
        ORDER BY l.lease_id LIMIT ?"#,
        after.0,
        bound,
        LEASES_AT_ONCE
    )
    .fetch_all(tx.connection())
    .await?;
    let over: Vec<i64> =
        looked_at.iter().filter(|row| row.is_over).map(|row| row.lease_id).collect();
    if !over.is_empty() {
        let over = rows(&over)?;
        sqlx::query!(
            "DELETE FROM lease_ranges WHERE lease_id IN (SELECT value FROM json_each(?))",
            over
        )
        .execute(tx.connection())
        .await?;
        sqlx::query!("DELETE FROM leases WHERE lease_id IN (SELECT value FROM json_each(?))", over)
            .execute(tx.connection())
            .await?;
    }
    Ok(looked_at.last().map(|row| LeaseId(row.lease_id)))
}
/// Examines some workers after this one, and deletes those whose last Hello was before this wall-clock time, that are
/// not among the `known`, and to which nothing refers: no lease, no result, and no exclusion except those that are
/// over or that an earlier start also has. A deleted worker that says Hello again is a new one: ids are never reused.
///
/// Returns the last worker examined, or `None` if none was left.
///
/// # Errors
/// If the database fails.
pub(crate) async fn forget_workers(
    tx: &mut Transaction<'_>,
    after: WorkerId,
    before_unix_us: i64,
    known: &BTreeSet<WorkerId>,
) -> Result<Option<WorkerId>, StoreError> {
    let looked_at = sqlx::query!(
        r#"SELECT w.worker_id AS "worker_id!",
            w.last_hello_unix_us < ?2
            AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.worker_id = w.worker_id)
            -- Whoever has a game has a row there.
            AND NOT EXISTS (SELECT 1 FROM worker_results AS r WHERE r.worker_id = w.worker_id)
            AND NOT EXISTS (SELECT 1 FROM uncounted_games AS u WHERE u.worker_id = w.worker_id)
            AND NOT EXISTS (SELECT 1 FROM refused_results AS f WHERE f.worker_id = w.worker_id)
            -- From what an earlier start of it is excluded too, the next one is all the same.
            AND NOT EXISTS (
                SELECT 1 FROM exclusions AS x WHERE x.worker_id = w.worker_id
                    AND (x.done_unix_us IS NULL OR x.readmitted_unix_us IS NULL AND NOT EXISTS (
                        SELECT 1 FROM workers AS first
                        JOIN exclusions AS y ON y.worker_id = first.worker_id
                        WHERE first.name = w.name AND first.host = w.host
                            AND first.worker_id < w.worker_id
                            AND y.experiment_id IS x.experiment_id AND y.engine IS x.engine
                            AND y.readmitted_unix_us IS NULL)))
            AND NOT EXISTS (SELECT 1 FROM networks AS n WHERE n.worker_id = w.worker_id)
            AND NOT EXISTS (
                SELECT 1 FROM verifications AS v WHERE v.played_by_worker_id = w.worker_id)
            AND NOT EXISTS (
                SELECT 1 FROM verifications AS v WHERE v.verified_by_worker_id = w.worker_id)
            AS "has_no_trace!: bool"
        FROM workers AS w WHERE w.worker_id > ?1 ORDER BY w.worker_id LIMIT ?3"#,
        after.0,
        before_unix_us,
        WORKERS_AT_ONCE
    )
    .fetch_all(tx.connection())
    .await?;
    let gone = looked_at
        .iter()
        .filter(|row| row.has_no_trace && !known.contains(&WorkerId(row.worker_id)));
    let gone: Vec<i64> = gone.map(|row| row.worker_id).collect();
    if !gone.is_empty() {
        let gone = rows(&gone)?;
        sqlx::query!(
            "DELETE FROM exclusions WHERE worker_id IN (SELECT value FROM json_each(?))",
            gone
        )
        .execute(tx.connection())
        .await?;
        sqlx::query!(
            "DELETE FROM worker_speeds WHERE worker_id IN (SELECT value FROM json_each(?))",
            gone
        )
        .execute(tx.connection())
        .await?;
        sqlx::query!(
            "DELETE FROM workers WHERE worker_id IN (SELECT value FROM json_each(?))",
            gone
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(looked_at.last().map(|row| WorkerId(row.worker_id)))
}
