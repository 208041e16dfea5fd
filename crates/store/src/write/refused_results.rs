//! Results that are not valid records of their games: kept as they came, outside all statistics, for investigating the
//! worker that sent them.

use spelrum_model::{GameId, LeaseId, WorkerId};

use crate::error::StoreError;
use crate::schema::numbers::integer;
use crate::write::transaction::Transaction;

/// Bytes kept of a record.
const RECORD_BYTES_MAX: usize = 64 * 1024;

/// Refused results kept per worker (invariant 9): many show no more than a few do.
pub const OF_WORKER_MAX: i64 = 100;

/// A result refused by the referee.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The reporting worker.
    pub worker: WorkerId,
    /// The lease it was reported under.
    pub lease: LeaseId,
    /// The game that it claims to record.
    pub game: GameId,
    /// The record as it came, in any form.
    pub record: Vec<u8>,
    /// The problem with the record.
    pub problem: String,
}

/// Keeps refused results, each once, and returns for each whether it is new. Keeps the beginning of a record, and the
/// first refused results of a worker.
///
/// # Errors
/// If the database fails.
pub(crate) async fn keep(
    tx: &mut Transaction<'_>,
    refused: &[Refused],
) -> Result<Vec<bool>, StoreError> {
    let mut new = Vec::with_capacity(refused.len());
    // Refused results are few.
    for Refused { worker, lease, game, record, problem } in refused {
        let (number, now) = (integer(game.number), tx.now_unix_us);
        let record = &record[..record.len().min(RECORD_BYTES_MAX)];
        let inserted = sqlx::query!(
            "INSERT INTO refused_results (lease_id, cell_id, number, worker_id, problem, record,
                received_unix_us)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
            WHERE (SELECT count(*) FROM refused_results WHERE worker_id = ?4) < ?8
            ON CONFLICT (lease_id, cell_id, number) DO NOTHING",
            lease.0,
            game.cell.0,
            number,
            worker.0,
            problem,
            record,
            now,
            OF_WORKER_MAX
        )
        .execute(tx.connection())
        .await?;
        new.push(inserted.rows_affected() > 0);
    }
    Ok(new)
}
