//! Workers: their introductions, speeds and exclusions, and when they are forgotten.

use std::collections::BTreeSet;

use spelrum_model::speed::Speed;
use spelrum_model::withheld::Barred;
use spelrum_model::{ExperimentId, WorkerId};
use spelrum_store::decisions::{
    APART_US, OF_WORKER_MAX, RECORD_BYTES_MAX, WORKERS_AT_ONCE, integer, is_known, labels_column,
    measured_unix_us, quota_columns,
};
use spelrum_store::{LeaseHolder, Refused, StoreError, WorkerIntroduction, WorkerProof};

use crate::numbers::{number, small};
use crate::transaction::PgTransaction;

/// The workers that hold live leases, by id.
pub(crate) async fn lease_holders(
    tx: &mut PgTransaction<'_>,
) -> Result<Vec<LeaseHolder>, StoreError> {
    let found = all!(
        tx,
        (i64, String, String, i64, i64),
        "SELECT worker_id, name, host, slots, engine_revision FROM workers
        WHERE worker_id IN (SELECT worker_id FROM leases WHERE ended_by IS NULL) ORDER BY worker_id"
    );
    let holder = |(worker, name, host, slots, revision)| LeaseHolder {
        worker: WorkerId(worker),
        name,
        host,
        slots: small(slots),
        engine_revision: small(revision),
    };
    Ok(found.into_iter().map(holder).collect())
}

/// Stores or finds a worker by its UUID.
pub(crate) async fn introduce(
    tx: &mut PgTransaction<'_>,
    worker: &WorkerIntroduction,
) -> Result<WorkerId, StoreError> {
    let now = tx.now_unix_us;
    let known = first!(tx, (i64,), "SELECT worker_id FROM workers WHERE uuid = $1", &worker.uuid);
    let id = match known {
        Some((id,)) => id,
        None => tx.take_ids("workers", 1).await?,
    };
    let machine = &worker.machine;
    let [quota_us, period_us] = quota_columns(machine.cpu_quota);
    run!(
        tx,
        "INSERT INTO workers (worker_id, uuid, name, host, slots, engine_revision, version, first_seen_unix_us,
            last_hello_unix_us, cpu_model, logical_cores, operating_system, build_commit, build_profile, cores,
            quiet_slots, cpu_quota_us, cpu_period_us, labels_json, credential)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
        ON CONFLICT (worker_id) DO UPDATE SET
            name = excluded.name, host = excluded.host, slots = excluded.slots,
            engine_revision = excluded.engine_revision, version = excluded.version,
            last_hello_unix_us = excluded.last_hello_unix_us, cpu_model = excluded.cpu_model,
            logical_cores = excluded.logical_cores, operating_system = excluded.operating_system,
            build_commit = excluded.build_commit, build_profile = excluded.build_profile,
            cores = excluded.cores, quiet_slots = excluded.quiet_slots, cpu_quota_us = excluded.cpu_quota_us,
            cpu_period_us = excluded.cpu_period_us, labels_json = excluded.labels_json,
            credential = excluded.credential",
        id,
        &worker.uuid,
        &worker.name,
        &worker.host,
        i64::from(worker.slots),
        i64::from(worker.engine_revision),
        &worker.version,
        now,
        &machine.cpu_model,
        machine.logical_cores.map(i64::from),
        &machine.operating_system,
        &machine.build_commit,
        &machine.build_profile,
        &machine.cores,
        machine.quiet_slots.map(i64::from),
        quota_us,
        period_us,
        labels_column(&machine.labels)?,
        &worker.credential,
    );
    Ok(WorkerId(id))
}

/// How the worker with this UUID proves its identity.
pub(crate) async fn proof(
    tx: &mut PgTransaction<'_>,
    uuid: &str,
) -> Result<Option<WorkerProof>, StoreError> {
    let sql = "SELECT secret_sha256, credential FROM workers WHERE uuid = $1";
    let found = first!(tx, (Option<Vec<u8>>, Option<String>), sql, uuid);
    Ok(found.map(|(secret, credential)| WorkerProof {
        // The table checks the length.
        secret_sha256: secret.and_then(|hash| hash.try_into().ok()),
        credential,
    }))
}

pub(crate) async fn keep_secret(
    tx: &mut PgTransaction<'_>,
    worker: WorkerId,
    sha256: [u8; 32],
) -> Result<(), StoreError> {
    let sql = "UPDATE workers SET secret_sha256 = $2 WHERE worker_id = $1";
    run!(tx, sql, worker.0, sha256.to_vec());
    Ok(())
}

/// Stores a worker's measurements, each once however often it is reported.
pub(crate) async fn store_speeds(
    tx: &mut PgTransaction<'_>,
    worker: WorkerId,
    speeds: &[Speed],
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    for speed in speeds.iter().filter(|speed| is_known(&speed.game)) {
        run!(
            tx,
            "INSERT INTO worker_speeds (worker_id, game, measured_unix_us, nodes_per_second, noise, slots)
            SELECT $1, $2, $3, $4, $5, $6
            WHERE NOT EXISTS (
                SELECT 1 FROM (
                    SELECT measured_unix_us, nodes_per_second, noise, slots FROM worker_speeds
                    WHERE worker_id = $1 AND game = $2 ORDER BY measured_unix_us DESC LIMIT 1) AS s
                WHERE s.measured_unix_us > $3::bigint - $7::bigint
                    OR s.nodes_per_second = $4 AND s.noise = $5 AND s.slots = $6)",
            worker.0,
            &speed.game,
            measured_unix_us(speed, now),
            integer(speed.nodes_per_second),
            f64::from(speed.noise_permille) / 1_000.0,
            i64::from(speed.slots),
            APART_US,
        );
    }
    Ok(())
}

/// Keeps refused results, each once, and returns for each whether it is new.
pub(crate) async fn keep_refused(
    tx: &mut PgTransaction<'_>,
    refused: &[Refused],
) -> Result<Vec<bool>, StoreError> {
    let now = tx.now_unix_us;
    let mut new = Vec::with_capacity(refused.len());
    for Refused { worker, lease, game, record, problem } in refused {
        let inserted = run!(
            tx,
            "INSERT INTO refused_results (lease_id, cell_id, number, worker_id, problem, record, received_unix_us)
            SELECT $1, $2, $3, $4, $5, $6, $7
            WHERE (SELECT count(*) FROM refused_results WHERE worker_id = $4) < $8
            ON CONFLICT (lease_id, cell_id, number) DO NOTHING",
            lease.0,
            game.cell.0,
            integer(game.number),
            worker.0,
            // A worker decides what is in it.
            problem.replace('\0', " "),
            &record[..record.len().min(RECORD_BYTES_MAX)],
            now,
            OF_WORKER_MAX,
        );
        new.push(inserted > 0);
    }
    Ok(new)
}

/// The workers excluded from an experiment or from all.
pub(crate) async fn excluded(
    tx: &mut PgTransaction<'_>,
) -> Result<Vec<(WorkerId, Option<ExperimentId>)>, StoreError> {
    let found = all!(
        tx,
        (i64, Option<i64>),
        "SELECT DISTINCT worker_id, experiment_id FROM exclusions
        WHERE readmitted_unix_us IS NULL AND engine IS NULL
        ORDER BY worker_id, experiment_id NULLS FIRST"
    );
    let who = |(worker, from): (i64, Option<i64>)| (WorkerId(worker), from.map(ExperimentId));
    Ok(found.into_iter().map(who).collect())
}

/// The columns of a bar.
pub(crate) type BarRow = (i64, String, i64, i64, i64, i64);

/// A bar from its columns.
pub(crate) fn read_bar(
    (worker, engine, forfeits, games, others, others_games): BarRow,
) -> (WorkerId, Barred) {
    let [forfeits, games] = [forfeits, games].map(number);
    let of_others = [others, others_games].map(number);
    (WorkerId(worker), Barred { engine, forfeits, games, of_others })
}

/// The workers barred from engines.
pub(crate) async fn barred(
    tx: &mut PgTransaction<'_>,
) -> Result<Vec<(WorkerId, Barred)>, StoreError> {
    let found = all!(
        tx,
        BarRow,
        "SELECT worker_id, engine, forfeits, engine_games, forfeits_of_others, engine_games_of_others
        FROM exclusions WHERE engine IS NOT NULL AND readmitted_unix_us IS NULL
        ORDER BY worker_id, engine COLLATE \"C\""
    );
    Ok(found.into_iter().map(read_bar).collect())
}

/// Deletes workers that left no trace; returns the last one looked at.
pub(crate) async fn forget(
    tx: &mut PgTransaction<'_>,
    after: WorkerId,
    before_unix_us: i64,
    known: &BTreeSet<WorkerId>,
) -> Result<Option<WorkerId>, StoreError> {
    // From what an earlier start of it is excluded too, the next one is all the same.
    let looked_at = all!(
        tx,
        (i64, bool),
        "SELECT w.worker_id, w.last_hello_unix_us < $2
            AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.worker_id = w.worker_id)
            AND NOT EXISTS (SELECT 1 FROM games AS g WHERE g.worker_id = w.worker_id)
            AND NOT EXISTS (SELECT 1 FROM uncounted_games AS u WHERE u.worker_id = w.worker_id)
            AND NOT EXISTS (SELECT 1 FROM refused_results AS f WHERE f.worker_id = w.worker_id)
            AND NOT EXISTS (
                SELECT 1 FROM exclusions AS x WHERE x.worker_id = w.worker_id
                    AND (x.done_unix_us IS NULL OR x.readmitted_unix_us IS NULL AND NOT EXISTS (
                        SELECT 1 FROM workers AS first
                        JOIN exclusions AS y ON y.worker_id = first.worker_id
                        WHERE first.name = w.name AND first.host = w.host AND first.worker_id < w.worker_id
                            AND y.experiment_id IS NOT DISTINCT FROM x.experiment_id
                            AND y.engine IS NOT DISTINCT FROM x.engine
                            AND y.readmitted_unix_us IS NULL)))
            AND NOT EXISTS (SELECT 1 FROM networks AS n WHERE n.worker_id = w.worker_id)
            AND NOT EXISTS (SELECT 1 FROM verifications AS v
                WHERE w.worker_id IN (v.played_by_worker_id, v.verified_by_worker_id))
        FROM workers AS w WHERE w.worker_id > $1 ORDER BY w.worker_id LIMIT $3",
        after.0,
        before_unix_us,
        i64::from(WORKERS_AT_ONCE)
    );
    let gone: Vec<i64> = looked_at
        .iter()
        .filter(|(worker, has_no_trace)| *has_no_trace && !known.contains(&WorkerId(*worker)))
        .map(|(worker, _)| *worker)
        .collect();
    run!(tx, "DELETE FROM workers WHERE worker_id = ANY($1)", gone);
    Ok(looked_at.last().map(|(worker, _)| WorkerId(*worker)))
}
