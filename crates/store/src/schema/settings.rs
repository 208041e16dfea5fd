//! An experiment's settings as columns.

use rusqlite::Row;
use serde_json::json;
use spelrum_model::disturbance::Timing;
use spelrum_model::placement::Placement;
use spelrum_model::{Allocation, ExperimentSettings, Record, SchedulingSettings};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::file_fields::{NAME_BYTES_MAX, TEXT_BYTES_MAX, optional, text};
use crate::schema::numbers::{safe, scaling, scaling_columns};

/// The columns, as read.
struct Columns {
    description: String,
    priority: i32,
    games_at_once: Option<u32>,
    allocation: String,
    record: String,
    record_details: bool,
    game_timeout_us: Option<u64>,
    forfeits_max: Option<u64>,
    disturbed_above: f64,
    replays_max: u32,
    reference_speed: Option<u64>,
    factor_max_permille: u32,
    placement_json: Option<String>,
    replicates: Option<String>,
    monotone_json: Option<String>,
}

impl From<Columns> for ExperimentSettings {
    fn from(columns: Columns) -> Self {
        Self {
            description: columns.description,
            scheduling: SchedulingSettings {
                priority: columns.priority,
                games_at_once: columns.games_at_once,
                allocation: Allocation::named(&columns.allocation).unwrap_or_default(),
            },
            record: match columns.record.as_str() {
                "moves" if columns.record_details => Record::Full,
                "moves" => Record::Moves,
                _ => Record::Games,
            },
            game_timeout_us: columns.game_timeout_us,
            forfeits_max: columns.forfeits_max,
            timing: Timing {
                disturbed_above: columns.disturbed_above,
                replays_max: columns.replays_max,
                scaling: scaling(columns.reference_speed, columns.factor_max_permille),
            },
            placement: Placement::from_json(columns.placement_json.as_deref()),
            replicates: columns.replicates,
            monotone: monotone(columns.monotone_json.as_deref()),
        }
    }
}

/// Reads an experiment's settings from a row of `experiments` in an untrusted file.
pub(crate) fn read_imported(row: &Row<'_>) -> rusqlite::Result<ExperimentSettings> {
    let columns = Columns {
        description: text(row, "description", TEXT_BYTES_MAX)?,
        priority: row.get("priority")?,
        games_at_once: row.get("games_at_once")?,
        allocation: row.get("allocation")?,
        record: row.get("record")?,
        record_details: row.get("record_details")?,
        game_timeout_us: optional(row, "game_timeout_us")?,
        forfeits_max: optional(row, "forfeits_max")?,
        disturbed_above: row.get("disturbed_above")?,
        replays_max: row.get("replays_max")?,
        reference_speed: optional(row, "reference_speed")?,
        factor_max_permille: row.get("factor_max_permille")?,
        placement_json: row.get("placement_json")?,
        replicates: row
            .get::<_, Option<String>>("replicates")?
            .filter(|name| name.len() <= NAME_BYTES_MAX),
        monotone_json: row
            .get::<_, Option<String>>("monotone_json")?
            .filter(|names| names.len() <= TEXT_BYTES_MAX),
    };
    Ok(columns.into())
}

/// The axes along which curves only rise or only fall.
pub(crate) fn monotone(json: Option<&str>) -> Vec<String> {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// Reads an experiment's settings.
pub(crate) async fn read(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<ExperimentSettings, StoreError> {
    let columns = sqlx::query_as!(
        Columns,
        r#"SELECT description, priority, allocation, record, record_details AS "record_details!: bool",
            game_timeout_us, forfeits_max, disturbed_above, replays_max, reference_speed, factor_max_permille,
            placement_json, games_at_once, replicates, monotone_json
        FROM experiments WHERE experiment_id = ?"#,
        experiment
    )
    .fetch_one(connection)
    .await?;
    Ok(columns.into())
}

/// Stores an experiment's settings. An experiment whose moves were dropped stores no more moves.
pub(crate) async fn write(
    connection: &mut SqliteConnection,
    experiment: i64,
    settings: &ExperimentSettings,
) -> Result<(), StoreError> {
    let ExperimentSettings { description, scheduling, timing, .. } = settings;
    let allocation = scheduling.allocation.name();
    let record = match settings.record {
        Record::Moves | Record::Full => "moves",
        Record::Games => "games",
    };
    let record_details = settings.record == Record::Full;
    let game_timeout_us = settings.game_timeout_us;
    let game_timeout_us =
        game_timeout_us.map(|us| safe("the sweep's game_timeout", us)).transpose()?;
    let forfeits_max = settings.forfeits_max;
    let forfeits_max =
        forfeits_max.map(|games| safe("the sweep's forfeits_max", games)).transpose()?;
    let (reference_speed, factor_max_permille) = scaling_columns(timing.scaling);
    let placement = settings.placement.to_json();
    let monotone = (!settings.monotone.is_empty()).then(|| json!(settings.monotone).to_string());
    sqlx::query!(
        "UPDATE experiments SET description = ?2, priority = ?3, allocation = ?4,
            record = CASE WHEN pruned_unix_us IS NULL THEN ?5 ELSE 'games' END,
            game_timeout_us = ?6, forfeits_max = ?7, disturbed_above = ?8, replays_max = ?9,
            reference_speed = ?10, factor_max_permille = ?11, placement_json = ?12, games_at_once = ?13,
            replicates = ?14, monotone_json = ?15, record_details = ?16
        WHERE experiment_id = ?1",
        experiment,
        description,
        scheduling.priority,
        allocation,
        record,
        game_timeout_us,
        forfeits_max,
        timing.disturbed_above,
        timing.replays_max,
        reference_speed,
        factor_max_permille,
        placement,
        scheduling.games_at_once,
        settings.replicates,
        monotone,
        record_details
    )
    .execute(connection)
    .await?;
    Ok(())
}
