//! An experiment's settings as columns.

use spelrum_model::ExperimentSettings;
use spelrum_store::StoreError;
use spelrum_store::decisions::{SettingsColumns, integer};
use sqlx::Row as _;

use crate::numbers::{number, small};
use crate::transaction::PgTransaction;

/// Reads an experiment's settings.
pub(crate) async fn read(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
) -> Result<ExperimentSettings, StoreError> {
    let row = sqlx::query("SELECT * FROM experiments WHERE experiment_id = $1")
        .bind(experiment)
        .fetch_one(tx.connection())
        .await?;
    let optional = |column| row.try_get::<Option<i64>, _>(column);
    Ok(SettingsColumns {
        description: row.try_get("description")?,
        priority: row.try_get("priority")?,
        games_at_once: optional("games_at_once")?.map(small),
        allocation: row.try_get("allocation")?,
        record: row.try_get("record")?,
        record_details: row.try_get::<i16, _>("record_details")? == 1,
        game_timeout_us: optional("game_timeout_us")?.map(number),
        forfeits_max: optional("forfeits_max")?.map(number),
        disturbed_above: row.try_get("disturbed_above")?,
        replays_max: small(row.try_get("replays_max")?),
        reference_speed: optional("reference_speed")?.map(number),
        factor_max_permille: small(row.try_get("factor_max_permille")?),
        placement_json: row.try_get("placement_json")?,
        replicates: row.try_get("replicates")?,
        monotone_json: row.try_get("monotone_json")?,
    }
    .into())
}

/// Stores an experiment's text and settings. An experiment whose moves were dropped stores no more moves.
pub(crate) async fn write(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
    toml: &str,
    settings: &ExperimentSettings,
) -> Result<(), StoreError> {
    let columns = SettingsColumns::new(settings)?;
    run!(
        tx,
        "UPDATE experiments SET description = $2, priority = $3, allocation = $4,
            record = CASE WHEN pruned_unix_us IS NULL THEN $5 ELSE 'games' END,
            game_timeout_us = $6, forfeits_max = $7, disturbed_above = $8, replays_max = $9,
            reference_speed = $10, factor_max_permille = $11, placement_json = $12, games_at_once = $13,
            replicates = $14, monotone_json = $15, record_details = $16, sweep_toml = $17
        WHERE experiment_id = $1",
        experiment,
        columns.description,
        columns.priority,
        columns.allocation,
        columns.record,
        columns.game_timeout_us.map(integer),
        columns.forfeits_max.map(integer),
        columns.disturbed_above,
        i64::from(columns.replays_max),
        columns.reference_speed.map(integer),
        i64::from(columns.factor_max_permille),
        columns.placement_json,
        columns.games_at_once.map(i64::from),
        columns.replicates,
        columns.monotone_json,
        i16::from(columns.record_details),
        toml,
    );
    Ok(())
}
