//! Results that are not records of their games: kept as they came, out of all statistics, for whoever
//! looks into the worker that sent them.

use spelrum_model::{GameId, LeaseId, WorkerId};

use crate::error::StoreError;
use crate::schema::numbers::integer;
use crate::write::transaction::Transaction;

/// Bytes of a record that are kept.
const RECORD_BYTES_MAX: usize = 64 * 1024;

/// Refused results of one worker that are kept (invariant 9): many show no more than a few do.
pub(crate) const OF_WORKER_MAX: i64 = 100;

/// A result that the referee refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Who reported it.
    pub worker: WorkerId,
    /// The lease it was reported under.
    pub lease: LeaseId,
    /// The game that it was to be a record of.
    pub game: GameId,
    /// The record as it came, in whatever form it came.
    pub record: Vec<u8>,
    /// What is wrong with it.
    pub problem: String,
}

/// Keeps refused results, each once, and says for each whether it is new. Of a record the beginning
/// is kept, of a worker's refused results the first.
///
/// # Errors
/// If the database fails.
pub(crate) async fn keep(
    tx: &mut Transaction<'_>,
    refused: &[Refused],
) -> Result<Vec<bool>, StoreError> {
    let mut new = Vec::with_capacity(refused.len());
    // These are few.
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
