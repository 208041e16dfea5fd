//! Workers' measurements of their machines.

use spelrum_engine::Rules;
use spelrum_model::WorkerId;
use spelrum_model::speed::Speed;

use crate::error::StoreError;
use crate::schema::numbers::integer;
use crate::write::transaction::Transaction;

/// The least time between two measurements of one game by one worker, in microseconds. A sooner report repeats the
/// previous measurement.
pub const APART_US: i64 = 1_000_000;

/// When a speed reported now was measured, in microseconds of Unix time.
pub fn measured_unix_us(speed: &Speed, now_unix_us: i64) -> i64 {
    now_unix_us.saturating_sub(integer(speed.age_ms).saturating_mul(1_000))
}

/// Whether a game is known here: speeds of other games are dropped, so that a worker's rows stay bounded.
pub fn is_known(game: &str) -> bool {
    Rules::from_name(game).is_ok()
}

/// Stores a worker's measurements, each once however often it is reported.
///
/// # Errors
/// If the database fails.
pub(crate) async fn store(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    speeds: &[Speed],
) -> Result<(), StoreError> {
    for speed in speeds.iter().filter(|speed| is_known(&speed.game)) {
        let measured_unix_us = measured_unix_us(speed, tx.now_unix_us);
        let nodes_per_second = integer(speed.nodes_per_second);
        let noise = f64::from(speed.noise_permille) / 1_000.0;
        sqlx::query!(
            "INSERT INTO worker_speeds (worker_id, game, measured_unix_us, nodes_per_second, noise,
                slots)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6
            WHERE NOT EXISTS (
                SELECT 1 FROM (
                    SELECT measured_unix_us, nodes_per_second, noise, slots FROM worker_speeds
                    WHERE worker_id = ?1 AND game = ?2 ORDER BY measured_unix_us DESC LIMIT 1) AS s
                WHERE s.measured_unix_us > ?3 - ?7
                    OR s.nodes_per_second = ?4 AND s.noise = ?5 AND s.slots = ?6)",
            worker.0,
            speed.game,
            measured_unix_us,
            nodes_per_second,
            noise,
            speed.slots,
            APART_US
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}
