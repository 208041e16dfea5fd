//! Computes what a changed sweep would change in its stored experiment. Reads only: a preview uses a reader, a submit
//! the writer.

use serde::Deserialize;
use spelrum_model::change::{
    CELLS_EVER_MAX, CannotGrow, Comparison, DroppedCell, StoredCell, StoredDefinition,
    StoredExperiment,
};
use spelrum_model::{CellId, Plan, PlannedCell};
use spelrum_statistics::StopRule;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::settings;
use crate::write::cells::ROWS_AT_ONCE;
use crate::write::stop_rules;

/// Ids start at 1: no cell has this rule.
const NO_RULES_ID: i64 = 0;

/// A cell's row for the comparison.
#[derive(Deserialize)]
struct Row(usize, i64, u64, u64, u64, u8, u8, String, String, u64, Option<String>, Option<u64>, u8);

/// The row of a cell that the previous sweep named.
#[derive(Deserialize)]
struct NamedRow(i64, u64, u64, u64, u8, u8, u8, Option<[String; 3]>);

/// Compares a plan with the rows of an experiment, a bounded number of cells at a time.
pub(crate) async fn compare<'p>(
    connection: &mut SqliteConnection,
    experiment: i64,
    plan: &'p Plan,
) -> Result<Comparison<'p>, StoreError> {
    let mut comparison = Comparison::new(plan);
    for cells in plan.cells.chunks(ROWS_AT_ONCE) {
        let mut there = vec![None; cells.len()];
        for row in find_cells(connection, experiment, cells, plan.stop).await? {
            if let Some(place) = there.get_mut(row.0) {
                *place = Some(row.into());
            }
        }
        comparison.see(there);
    }
    find_dropped(&mut comparison, connection, experiment).await?;
    comparison.see_settings(&stored_experiment(connection, experiment).await?);
    Ok(comparison)
}

/// Refuses changes other than growth.
pub fn check(comparison: &Comparison<'_>, name: &str) -> Result<(), StoreError> {
    let name = name.to_owned();
    comparison.check().map_err(|problem| match problem {
        CannotGrow::NothingInCommon { rules_changed } => {
            StoreError::NothingInCommon { name, rules_changed }
        }
        CannotGrow::ManyCells { cells } => {
            StoreError::ManyCells { name, cells, max: CELLS_EVER_MAX }
        }
    })
}

impl From<Row> for StoredCell {
    fn from(row: Row) -> Self {
        let Row(
            _,
            cell,
            number,
            planned,
            next,
            in_sweep,
            timed,
            first,
            second,
            settled,
            place,
            stop_number,
            same_rule,
        ) = row;
        Self {
            cell: CellId(cell),
            number,
            games_planned: planned,
            next_number: next,
            in_sweep: in_sweep == 1,
            timed: timed == 1,
            player_names: [first, second],
            games_settled: settled,
            place: place.unwrap_or_default(),
            stop_number,
            has_plans_rule: same_rule == 1,
        }
    }
}

/// The existing rows of a few cells of a plan. One row of JSON takes a tenth of the time of as many rows.
// CROSS JOIN forces SQLite to use this order: each hash is looked up, and no table is scanned for it.
async fn find_cells(
    connection: &mut SqliteConnection,
    experiment: i64,
    cells: &[PlannedCell],
    rule: Option<StopRule>,
) -> Result<Vec<Row>, StoreError> {
    let rule = match rule {
        Some(rule) => Some(stop_rules::find(connection, rule).await?.unwrap_or(NO_RULES_ID)),
        None => None,
    };
    let hashes: Vec<String> = cells.iter().map(|cell| cell.definition_hash.to_string()).collect();
    let hashes = rows(&hashes)?;
    let found = sqlx::query_scalar!(
        r#"SELECT json_group_array(json_array(j.key, c.cell_id, c.number, c.games_planned,
                c.next_number, c.in_sweep = 1 AND c.superseded = 0, c.timed, c.first_player_name, c.second_player_name,
                coalesce(r.games + r.games_failed, 0),
                (SELECT group_concat(p.text, char(10)) FROM (
                    SELECT a.axis || '=' || a.value_text
                        || CASE WHEN a.value_number IS NULL OR a.value_text IN ('true', 'false')
                            THEN '' ELSE '#' END AS text
                    FROM cell_axes AS a WHERE a.cell_id = c.cell_id ORDER BY a.axis) AS p),
                c.stop_number, c.stop_rule_id IS ?3))
            AS "list!: String"
        FROM json_each(?1) AS j
        CROSS JOIN cells AS c ON c.definition_hash = j.value AND c.experiment_id = ?2
        LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id"#,
        hashes,
        experiment,
        rule
    )
    .fetch_one(connection)
    .await?;
    list(&found)
}

fn list<'j, T: Deserialize<'j>>(json: &'j str) -> Result<Vec<T>, StoreError> {
    serde_json::from_str(json).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

/// Finds the cells that the sweep no longer names. Usually there are none.
async fn find_dropped(
    comparison: &mut Comparison<'_>,
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<(), StoreError> {
    let there = sqlx::query!(
        r#"SELECT count(*) AS "cells!: u64",
            coalesce(sum(in_sweep = 1 AND superseded = 0), 0) AS "named!: u64",
            coalesce(sum(in_sweep = 1 AND superseded = 1), 0) AS "superseded!: u64"
        FROM cells WHERE experiment_id = ?"#,
        experiment
    )
    .fetch_one(&mut *connection)
    .await?;
    if !comparison.count(there.cells, there.named, there.superseded) {
        return Ok(());
    }
    let found = sqlx::query_scalar!(
        r#"SELECT json_group_array(json_array(c.cell_id, c.games_planned, c.next_number,
            coalesce(r.games + r.games_failed, 0), c.swap_sides, c.timed, c.superseded,
            CASE WHEN f.parameters_json ->> '$.engine' IS NOT NULL OR s.parameters_json ->> '$.engine' IS NOT NULL
                THEN json_array(k.definition_prefix, f.parameters_json, s.parameters_json) END)
            ORDER BY c.number, c.cell_id) AS "list!: String"
        FROM cells AS c
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        JOIN players AS f ON f.player_id = c.first_player_id
        JOIN players AS s ON s.player_id = c.second_player_id
        LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1"#,
        experiment
    )
    .fetch_one(&mut *connection)
    .await?;
    let named = list::<NamedRow>(&found)?.into_iter().map(
        |NamedRow(
            cell,
            games,
            next_number,
            games_settled,
            swap_sides,
            timed,
            superseded,
            engines,
        )| DroppedCell {
            cell: CellId(cell),
            games,
            next_number,
            games_settled,
            swap_sides: swap_sides == 1,
            timed: timed == 1,
            is_superseded: superseded == 1,
            engines: engines.map(|[prefix, first, second]| StoredDefinition {
                prefix,
                players: [first, second],
            }),
        },
    );
    comparison.drop_all_but_known(named.collect());
    for dropped in comparison.dropped_examples() {
        let cell = sqlx::query!(
            r#"SELECT axes, player, opponent FROM results WHERE cell_id = ?"#,
            dropped.0
        )
        .fetch_one(&mut *connection)
        .await?;
        let players = [cell.player, cell.opponent];
        comparison.name_dropped(dropped, cell.axes.unwrap_or_default(), players);
    }
    Ok(())
}

async fn stored_experiment(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<StoredExperiment, StoreError> {
    let axes = sqlx::query_scalar!(
        "SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number",
        experiment
    )
    .fetch_all(&mut *connection)
    .await?;
    let anchors = sqlx::query_scalar!(
        "SELECT player FROM experiment_anchors WHERE experiment_id = ? ORDER BY number",
        experiment
    )
    .fetch_all(&mut *connection)
    .await?;
    let conditions = sqlx::query_scalar!(
        "SELECT definition_prefix FROM conditions WHERE conditions_id IN (
            SELECT conditions_id FROM cells WHERE experiment_id = ? AND in_sweep = 1)",
        experiment
    )
    .fetch_all(&mut *connection)
    .await?;
    Ok(StoredExperiment {
        settings: settings::read(connection, experiment).await?,
        axes,
        anchors,
        definition_prefixes: conditions.into_iter().collect(),
    })
}
