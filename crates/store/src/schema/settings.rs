//! An experiment's settings as columns.

use rusqlite::Row;
use serde_json::json;
use spelrum_model::disturbance::Timing;
use spelrum_model::placement::Placement;
use spelrum_model::{Allocation, ExperimentSettings, Record, SchedulingSettings};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::file_fields::{NAME_BYTES_MAX, TEXT_BYTES_MAX, optional, text};
use crate::schema::numbers::{integer, safe, scaling, scaling_columns};

/// An experiment's settings as columns of `experiments`, each as the column of its name.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of its name")]
pub struct Columns {
    pub description: String,
    pub priority: i32,
    pub games_at_once: Option<u32>,
    pub allocation: String,
    pub record: String,
    pub record_details: bool,
    pub game_timeout_us: Option<u64>,
    pub forfeits_max: Option<u64>,
    pub disturbed_above: f64,
    pub replays_max: u32,
    pub reference_speed: Option<u64>,
    pub factor_max_permille: u32,
    pub placement_json: Option<String>,
    pub replicates: Option<String>,
    pub monotone_json: Option<String>,
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

impl Columns {
    /// The columns of settings.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn new(settings: &ExperimentSettings) -> Result<Self, StoreError> {
        let ExperimentSettings { description, scheduling, timing, .. } = settings;
        let check = |what, number: Option<u64>| {
            number.map(|number| safe(what, number).map(i64::unsigned_abs)).transpose()
        };
        let (reference_speed, factor_max_permille) = scaling_columns(timing.scaling);
        Ok(Self {
            description: description.clone(),
            priority: scheduling.priority,
            games_at_once: scheduling.games_at_once,
            allocation: scheduling.allocation.name().to_owned(),
            record: match settings.record {
                Record::Moves | Record::Full => "moves",
                Record::Games => "games",
            }
            .to_owned(),
            record_details: settings.record == Record::Full,
            game_timeout_us: check("the sweep's game_timeout", settings.game_timeout_us)?,
            forfeits_max: check("the sweep's forfeits_max", settings.forfeits_max)?,
            disturbed_above: timing.disturbed_above,
            replays_max: timing.replays_max,
            reference_speed: reference_speed.map(i64::unsigned_abs),
            factor_max_permille,
            placement_json: settings.placement.to_json(),
            replicates: settings.replicates.clone(),
            monotone_json: (!settings.monotone.is_empty())
                .then(|| json!(settings.monotone).to_string()),
        })
    }
}

/// Stores an experiment's settings. An experiment whose moves were dropped stores no more moves.
pub(crate) async fn write(
    connection: &mut SqliteConnection,
    experiment: i64,
    settings: &ExperimentSettings,
) -> Result<(), StoreError> {
    let columns = Columns::new(settings)?;
    let [game_timeout_us, forfeits_max, reference_speed] =
        [columns.game_timeout_us, columns.forfeits_max, columns.reference_speed]
            .map(|number| number.map(integer));
    sqlx::query!(
        "UPDATE experiments SET description = ?2, priority = ?3, allocation = ?4,
            record = CASE WHEN pruned_unix_us IS NULL THEN ?5 ELSE 'games' END,
            game_timeout_us = ?6, forfeits_max = ?7, disturbed_above = ?8, replays_max = ?9,
            reference_speed = ?10, factor_max_permille = ?11, placement_json = ?12, games_at_once = ?13,
            replicates = ?14, monotone_json = ?15, record_details = ?16
        WHERE experiment_id = ?1",
        experiment,
        columns.description,
        columns.priority,
        columns.allocation,
        columns.record,
        game_timeout_us,
        forfeits_max,
        columns.disturbed_above,
        columns.replays_max,
        reference_speed,
        columns.factor_max_permille,
        columns.placement_json,
        columns.games_at_once,
        columns.replicates,
        columns.monotone_json,
        columns.record_details
    )
    .execute(connection)
    .await?;
    Ok(())
}
