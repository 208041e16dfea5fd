//! Workers that played the games of the file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use spelrum_answers::Machine;
use spelrum_model::WorkerId;

use super::error::ImportError;
use super::source::Source;
use crate::error::StoreError;
use crate::schema::file_fields::{NAME_BYTES_MAX, optional, text};
use crate::schema::machine_columns::{labels_column, labels_of, quota_columns, quota_of};
use crate::write::transaction::Transaction;

/// A worker, with the UUID that identifies it everywhere.
#[derive(Clone)]
pub(super) struct SourceWorker {
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) host: String,
    pub(super) slots: u32,
    pub(super) engine_revision: u32,
    pub(super) version: String,
    pub(super) first_seen_unix_us: i64,
    pub(super) last_hello_unix_us: i64,
    pub(super) machine: Machine,
}

impl Source {
    /// Reads a worker of the file.
    pub(super) fn worker(&self, id: i64) -> Result<SourceWorker, ImportError> {
        let found = self.all(
            "SELECT uuid, name, host, slots, engine_revision, version, first_seen_unix_us,
                last_hello_unix_us, cpu_model, logical_cores, operating_system, build_commit,
                build_profile, cores, quiet_slots, cpu_quota_us, cpu_period_us, labels_json
            FROM workers WHERE worker_id = ?",
            [id],
            |row| {
                Ok(SourceWorker {
                    uuid: text(row, 0, NAME_BYTES_MAX)?,
                    name: text(row, 1, NAME_BYTES_MAX)?,
                    host: text(row, 2, NAME_BYTES_MAX)?,
                    slots: row.get(3)?,
                    engine_revision: row.get(4)?,
                    version: text(row, 5, NAME_BYTES_MAX)?,
                    first_seen_unix_us: row.get(6)?,
                    last_hello_unix_us: row.get(7)?,
                    machine: Machine {
                        cpu_model: text(row, 8, NAME_BYTES_MAX)?,
                        logical_cores: row.get(9)?,
                        operating_system: text(row, 10, NAME_BYTES_MAX)?,
                        build_commit: text(row, 11, NAME_BYTES_MAX)?,
                        build_profile: text(row, 12, NAME_BYTES_MAX)?,
                        cores: text(row, 13, NAME_BYTES_MAX)?,
                        quiet_slots: row.get(14)?,
                        cpu_quota: quota_of([optional(row, 15)?, optional(row, 16)?]),
                        labels: labels_of(&row.get::<_, String>(17)?),
                    },
                })
            },
        )?;
        found.into_iter().next().ok_or_else(|| self.wrong(format!("it has no worker {id}")))
    }
}

/// Workers met so far, by their number in the file: their ids here, and their UUIDs.
pub(super) type MetWorkers = BTreeMap<i64, (WorkerId, String)>;

/// Returns the id here of a worker of the file, storing the worker when it is first met.
pub(super) async fn meet(
    transaction: &mut Transaction<'_>,
    source: &Source,
    met: &mut MetWorkers,
    id: i64,
) -> Result<WorkerId, ImportError> {
    match met.entry(id) {
        Entry::Occupied(known) => Ok(known.get().0),
        Entry::Vacant(new) => {
            let worker = source.worker(id)?;
            let known = import_worker(transaction, &worker).await?;
            Ok(new.insert((known, worker.uuid)).0)
        }
    }
}

/// Finds the worker with this UUID, or stores it as the file describes it.
async fn import_worker(
    tx: &mut Transaction<'_>,
    worker: &SourceWorker,
) -> Result<WorkerId, StoreError> {
    let known = sqlx::query_scalar!(
        r#"SELECT worker_id AS "worker_id!" FROM workers WHERE uuid = ?"#,
        worker.uuid
    )
    .fetch_optional(tx.connection())
    .await?;
    if let Some(known) = known {
        return Ok(WorkerId(known));
    }
    let id = tx.last_id("workers").await? + 1;
    let machine = &worker.machine;
    let [quota_us, period_us] = quota_columns(machine.cpu_quota);
    let labels = labels_column(&machine.labels)?;
    sqlx::query!(
        "INSERT INTO workers (worker_id, uuid, name, host, slots, engine_revision, version,
            first_seen_unix_us, last_hello_unix_us, cpu_model, logical_cores, operating_system,
            build_commit, build_profile, cores, quiet_slots, cpu_quota_us, cpu_period_us, labels_json)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19)",
        id,
        worker.uuid,
        worker.name,
        worker.host,
        worker.slots,
        worker.engine_revision,
        worker.version,
        worker.first_seen_unix_us,
        worker.last_hello_unix_us,
        machine.cpu_model,
        machine.logical_cores,
        machine.operating_system,
        machine.build_commit,
        machine.build_profile,
        machine.cores,
        machine.quiet_slots,
        quota_us,
        period_us,
        labels
    )
    .execute(tx.connection())
    .await?;
    Ok(WorkerId(id))
}
