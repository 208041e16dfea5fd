//! Workers: their introductions and proofs of identity.

use std::sync::Arc;

use spelrum_answers::Machine;
use spelrum_model::WorkerId;
use spelrum_model::engines::{BuiltEngines, OfferedEngine};

use crate::error::StoreError;
use crate::schema::machine_columns::{labels_column, quota_columns};
use crate::write::transaction::Transaction;

/// A worker as it introduced itself.
#[derive(Clone, Debug)]
pub struct WorkerIntroduction {
    /// Chosen by the worker at its start.
    pub uuid: String,
    /// A display name.
    pub name: String,
    /// The worker's machine.
    pub host: String,
    /// The worker's number of playing threads.
    pub slots: u32,
    /// The engine revision that the worker plays.
    pub engine_revision: u32,
    /// The version of the worker's program.
    pub version: String,
    /// Bytes of memory that the worker offers its slots together; `None` if not stated. Not stored.
    pub memory_bytes: Option<u64>,
    /// The worker's engines. Not stored.
    pub engines: Arc<[OfferedEngine]>,
    /// The engines that it builds from commits. Not stored.
    pub built: Arc<BuiltEngines>,
    /// Whether the worker trains networks for other workers. Not stored.
    pub trains: bool,
    /// Whether the worker verifies other workers' games. Not stored.
    pub verifies: bool,
    /// The machine that produces the worker's results.
    pub machine: Machine,
    /// The name of the token or client certificate used for Hello; `None` where neither is required.
    pub credential: Option<String>,
}

/// A worker's stored proof of identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerProof {
    /// SHA-256 of the worker's secret; `None` if it has not sent one yet.
    pub secret_sha256: Option<[u8; 32]>,
    /// As in [`WorkerIntroduction::credential`].
    pub credential: Option<String>,
}

/// Stores or finds a worker by its UUID.
///
/// # Errors
/// If the database fails.
pub(crate) async fn introduce(
    tx: &mut Transaction<'_>,
    worker: &WorkerIntroduction,
) -> Result<WorkerId, StoreError> {
    let now = tx.now_unix_us;
    let known = sqlx::query_scalar!(
        r#"SELECT worker_id AS "worker_id!" FROM workers WHERE uuid = ?"#,
        worker.uuid
    )
    .fetch_optional(tx.connection())
    .await?;
    let id = match known {
        Some(id) => id,
        None => tx.last_id("workers").await? + 1,
    };
    let machine = &worker.machine;
    let [quota_us, period_us] = quota_columns(machine.cpu_quota);
    let labels = labels_column(&machine.labels)?;
    sqlx::query!(
        "INSERT INTO workers (worker_id, uuid, name, host, slots, engine_revision, version,
            first_seen_unix_us, last_hello_unix_us, cpu_model, logical_cores, operating_system,
            build_commit, build_profile, cores, quiet_slots, cpu_quota_us, cpu_period_us, labels_json,
            credential)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19)
        ON CONFLICT (worker_id) DO UPDATE SET
            name = excluded.name, host = excluded.host, slots = excluded.slots,
            engine_revision = excluded.engine_revision, version = excluded.version,
            last_hello_unix_us = excluded.last_hello_unix_us, cpu_model = excluded.cpu_model,
            logical_cores = excluded.logical_cores,
            operating_system = excluded.operating_system,
            build_commit = excluded.build_commit, build_profile = excluded.build_profile,
            cores = excluded.cores, quiet_slots = excluded.quiet_slots,
            cpu_quota_us = excluded.cpu_quota_us, cpu_period_us = excluded.cpu_period_us,
            labels_json = excluded.labels_json, credential = excluded.credential",
        id,
        worker.uuid,
        worker.name,
        worker.host,
        worker.slots,
        worker.engine_revision,
        worker.version,
        now,
        machine.cpu_model,
        machine.logical_cores,
        machine.operating_system,
        machine.build_commit,
        machine.build_profile,
        machine.cores,
        machine.quiet_slots,
        quota_us,
        period_us,
        labels,
        worker.credential
    )
    .execute(tx.connection())
    .await?;
    Ok(WorkerId(id))
}

/// How the worker with this UUID proves its identity; `None` if there is no such worker.
///
/// # Errors
/// If the database fails.
pub(crate) async fn proof(
    tx: &mut Transaction<'_>,
    uuid: &str,
) -> Result<Option<WorkerProof>, StoreError> {
    let found = sqlx::query!("SELECT secret_sha256, credential FROM workers WHERE uuid = ?", uuid)
        .fetch_optional(tx.connection())
        .await?;
    Ok(found.map(|row| WorkerProof {
        // The table checks the length.
        secret_sha256: row.secret_sha256.and_then(|hash| hash.try_into().ok()),
        credential: row.credential,
    }))
}

/// Stores the SHA-256 of a worker's secret.
///
/// # Errors
/// If the database fails.
pub(crate) async fn keep_secret(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    sha256: [u8; 32],
) -> Result<(), StoreError> {
    let sha256 = sha256.as_slice();
    sqlx::query!("UPDATE workers SET secret_sha256 = ?1 WHERE worker_id = ?2", sha256, worker.0)
        .execute(tx.connection())
        .await?;
    Ok(())
}
