//! Storing the parts of a plan's cells: players, conditions, and the cells themselves.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use spelrum_engine::{ParameterInfo, Rules, Value};
use spelrum_model::{
    CellId, Conditions, DefinitionJson, OpeningsRule, Plan, PlannedCell, PlannedPlayer,
};
use spelrum_scheduling::scheduler::CellState;

use crate::error::StoreError;
use crate::schema::encoding::{hexadecimal, rows};
use crate::schema::numbers::{count, integer, safe};
use crate::write::transaction::Transaction;
use crate::write::{networks, stop_rules};

/// Cells and players stored at a time, which bounds the memory for their rows.
pub(crate) const ROWS_AT_ONCE: usize = 2000;

/// Position of a plan's cells in their experiment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The number of the plan's first cell.
    pub(crate) first: i64,
    /// Number of cells whose results the experiment's course had received when it asked for these; `None` if its sweep
    /// names them.
    pub(crate) asked_after: Option<i64>,
}

/// Ids of a plan's players and conditions in the database: players by their content, conditions by their numbers in
/// the plan.
pub(crate) struct Parts {
    players: HashMap<Arc<PlannedPlayer>, i64>,
    conditions: Vec<i64>,
}

impl Parts {
    /// A plan's players with their ids in the database.
    pub(crate) fn players<'p>(&'p self, plan: &'p Plan) -> impl Iterator<Item = (i64, &'p str)> {
        plan.players.iter().map(|player| (self.players[player], &*player.parameters_json))
    }
}

/// Stores all cells of a plan as new ones of the experiment.
pub(crate) async fn insert_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    plan: &Plan,
) -> Result<Vec<CellState>, StoreError> {
    let parts = insert_parts(tx, plan).await?;
    let mut states = Vec::with_capacity(plan.cells.len());
    let numbers: Vec<usize> = (0..plan.cells.len()).collect();
    for numbers in numbers.chunks(ROWS_AT_ONCE) {
        let place = Place::default();
        states.extend(insert_some_cells(tx, experiment, plan, &parts, numbers, place).await?);
    }
    states.extend(networks::insert_trainings(tx, experiment, parts.players(plan)).await?);
    Ok(states)
}

/// Stores new players and conditions.
pub(crate) async fn insert_parts(
    tx: &mut Transaction<'_>,
    plan: &Plan,
) -> Result<Parts, StoreError> {
    let mut players = HashMap::with_capacity(plan.players.len());
    for at_once in plan.players.chunks(ROWS_AT_ONCE) {
        let ids = insert_players(tx, at_once).await?;
        players.extend(at_once.iter().map(Arc::clone).zip(ids));
    }
    let mut conditions = Vec::with_capacity(plan.conditions.len());
    for group in &plan.conditions {
        conditions.push(insert_conditions(tx, group).await?);
    }
    Ok(Parts { players, conditions })
}

/// Stores new players; returns the ids of all.
async fn insert_players(
    tx: &mut Transaction<'_>,
    players: &[Arc<PlannedPlayer>],
) -> Result<Vec<i64>, StoreError> {
    let hash = |player: &Arc<PlannedPlayer>| hexadecimal(&Sha256::digest(&player.parameters_json));
    let hashes: Vec<String> = players.iter().map(hash).collect();
    let list = rows(&hashes)?;
    let known = sqlx::query!(
        r#"SELECT p.player_id AS "player_id!", p.hash FROM json_each(?) AS j
        CROSS JOIN players AS p ON p.hash = j.value"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let mut ids: HashMap<String, i64> =
        known.into_iter().map(|row| (row.hash, row.player_id)).collect();
    let mut next_id =
        sqlx::query_scalar!(r#"SELECT coalesce(max(player_id), 0) + 1 AS "id!: i64" FROM players"#)
            .fetch_one(tx.connection())
            .await?;
    let mut new: Vec<(i64, &str, &str, &str)> = Vec::new();
    for (hash, player) in hashes.iter().zip(players) {
        ids.entry(hash.clone()).or_insert_with(|| {
            new.push((next_id, hash, &player.algorithm, &player.parameters_json));
            next_id += 1;
            next_id - 1
        });
    }
    if !new.is_empty() {
        let new = rows(&new)?;
        sqlx::query!(
            "INSERT INTO players (player_id, hash, algorithm, parameters_json)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?)",
            new
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(hashes.iter().map(|hash| ids[hash]).collect())
}

/// Stores conditions if new; returns their id.
async fn insert_conditions(
    tx: &mut Transaction<'_>,
    conditions: &Conditions,
) -> Result<i64, StoreError> {
    let definition = DefinitionJson::new(conditions);
    let prefix = definition.prefix();
    let known = sqlx::query_scalar!(
        r#"SELECT conditions_id AS "id!" FROM conditions WHERE definition_prefix = ?"#,
        prefix
    )
    .fetch_optional(tx.connection())
    .await?;
    let openings_count = conditions.openings_count.map(integer);
    if let Some(known) = known {
        // Its openings stay unchanged: results have been summed by them.
        return Ok(known);
    }
    let id = sqlx::query_scalar!(
        r#"INSERT INTO conditions (definition_prefix, openings_count) VALUES (?, ?)
        RETURNING conditions_id AS "id!""#,
        prefix,
        openings_count
    )
    .fetch_one(tx.connection())
    .await?;
    let rules = rows(&rule_columns(&conditions.rules))?;
    sqlx::query!(
        "INSERT INTO condition_rules (conditions_id, rule, value_number, value_text)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?1)",
        rules,
        id
    )
    .execute(tx.connection())
    .await?;
    Ok(id)
}

/// Stores cells of a plan, given by their numbers, as new ones.
pub(crate) async fn insert_some_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    plan: &Plan,
    parts: &Parts,
    numbers: &[usize],
    place: Place,
) -> Result<Vec<CellState>, StoreError> {
    let Place { first, asked_after } = place;
    let first_id = tx.last_id("cells").await? + 1;
    let ids = || (first_id..).zip(numbers);
    let mut list = Vec::with_capacity(numbers.len());
    let mut states = Vec::with_capacity(numbers.len());
    for (id, &number) in ids() {
        let cell = &plan.cells[number];
        list.push(cell_row(id, number, first, plan, parts)?);
        states.push(CellState {
            swap_sides: plan.conditions[cell.conditions].swap_sides,
            timed: cell.timed,
            ..CellState::new(CellId(id), cell.games)
        });
    }
    let list = rows(&list)?;
    let stop_rule = stop_rules::stop_rule(tx, plan.stop).await?;
    sqlx::query!(
        "INSERT INTO cells (experiment_id, cell_id, number, definition_hash, conditions_id,
            seed, first_player_id, second_player_id, first_player_name, second_player_name,
            openings, opening_plies, plies_max, games_planned, timed, swap_sides, repeats,
            stop_rule_id, asked_after)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
            value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10,
            value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, ?3, ?4
        FROM jsonb_each(?1)",
        list,
        experiment,
        stop_rule,
        asked_after
    )
    .execute(tx.connection())
    .await?;
    insert_places(tx, plan, ids().map(|(id, &number)| (id, &plan.cells[number]))).await?;
    Ok(states)
}

/// Stores the places of cells on the axes.
pub(crate) async fn insert_places<'p>(
    tx: &mut Transaction<'_>,
    plan: &'p Plan,
    cells: impl Iterator<Item = (i64, &'p PlannedCell)>,
) -> Result<(), StoreError> {
    let places: Vec<(i64, &str, Option<f64>, &str)> = cells
        .flat_map(|(id, cell)| {
            let place = plan.place(cell);
            place.map(move |(axis, value)| (id, axis, value.number, &*value.text))
        })
        .collect();
    let places = rows(&places)?;
    sqlx::query!(
        "INSERT INTO cell_axes (cell_id, axis, value_number, value_text)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?)",
        places
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// A cell's own row without its experiment, in the order of the statement that inserts it.
#[derive(Serialize)]
struct CellRow<'p>(
    i64,
    i64,
    String,
    i64,
    i64,
    i64,
    i64,
    &'p str,
    &'p str,
    &'static str,
    Option<u32>,
    Option<u32>,
    i64,
    u8,
    u8,
    u8,
);

fn cell_row<'p>(
    id: i64,
    number: usize,
    from: i64,
    plan: &'p Plan,
    parts: &Parts,
) -> Result<CellRow<'p>, StoreError> {
    let cell = &plan.cells[number];
    let conditions = &plan.conditions[cell.conditions];
    let (openings, opening_plies) = match &conditions.openings {
        OpeningsRule::Start {} => ("start", None),
        OpeningsRule::Random { plies } => ("random", Some(*plies)),
        OpeningsRule::All { plies } => ("all", Some(*plies)),
        OpeningsRule::Strata { .. } => ("strata", None),
        OpeningsRule::Ending { .. } => ("ending", None),
        OpeningsRule::Listed { .. } => ("listed", None),
    };
    let [first, second] = cell.players.each_ref().map(|player| parts.players[player]);
    let [first_name, second_name] = &cell.player_names;
    Ok(CellRow(
        id,
        from + count(number),
        cell.definition_hash.to_string(),
        parts.conditions[cell.conditions],
        safe("a cell's seed", cell.seed)?,
        first,
        second,
        first_name,
        second_name,
        openings,
        opening_plies,
        conditions.max_plies,
        safe("a cell's games", cell.games)?,
        u8::from(cell.timed),
        u8::from(conditions.swap_sides),
        u8::from(cell.repeats),
    ))
}

/// A game's rules: name, numeric value if any, and text as in the sweep.
fn rule_columns(rules: &Rules) -> Vec<(&'static str, Option<f64>, String)> {
    let column = |(info, value): (&ParameterInfo, &Value)| {
        let (number, text) = match value {
            Value::Bool(on) => (Some(f64::from(u8::from(*on))), on.to_string()),
            Value::Integer(integer) => (Some(*integer as f64), integer.to_string()),
            Value::Number(number) => (Some(*number), number.to_string()),
            Value::Text(text) => (None, text.clone()),
            Value::List(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                (None, values.join(" "))
            }
            Value::Table(_) => (None, value.to_string()),
        };
        (info.name, number, text)
    };
    rules.values().map(column).collect()
}
