//! The parts of a plan as rows: players, conditions, cells and their places, stop rules.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest as _, Sha256};
use spelrum_model::{DefinitionJson, Plan};
use spelrum_statistics::StopRule;
use spelrum_store::StoreError;
use spelrum_store::decisions::{RuleRow, count, hexadecimal, integer, rule_kind, safe};

use crate::transaction::PgTransaction;

/// Stores players that are new, given by their algorithms and parameters; returns the ids of all by their parameters.
pub(crate) async fn players(
    tx: &mut PgTransaction<'_>,
    players: &[(&str, &str)],
) -> Result<HashMap<String, i64>, StoreError> {
    let by_json: BTreeMap<&str, &str> =
        players.iter().map(|&(algorithm, json)| (json, algorithm)).collect();
    let hashes: Vec<String> =
        by_json.keys().map(|json| hexadecimal(&Sha256::digest(json))).collect();
    let (jsons, algorithms): (Vec<&str>, Vec<&str>) = by_json.into_iter().unzip();
    run!(
        tx,
        "INSERT INTO players (hash, algorithm, parameters_json)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
        ON CONFLICT (hash) DO NOTHING",
        &hashes,
        algorithms,
        jsons,
    );
    let found = all!(
        tx,
        (String, i64),
        "SELECT parameters_json, player_id FROM players WHERE hash = ANY($1)",
        hashes
    );
    Ok(found.into_iter().collect())
}

/// Stores conditions if they are new; returns their id. Those that exist keep their openings.
pub(crate) async fn conditions(
    tx: &mut PgTransaction<'_>,
    prefix: &str,
    openings_count: Option<u64>,
) -> Result<i64, StoreError> {
    let hash = hexadecimal(&Sha256::digest(prefix));
    run!(
        tx,
        "INSERT INTO conditions (hash, definition_prefix, openings_count) VALUES ($1, $2, $3)
        ON CONFLICT (hash) DO NOTHING",
        &hash,
        prefix,
        openings_count.map(integer),
    );
    Ok(value!(tx, i64, "SELECT conditions_id FROM conditions WHERE hash = $1", hash))
}

/// Stores a stop rule if it is new; returns its id. Its text is its name: equal rules have equal texts.
pub(crate) async fn stop_rule(
    tx: &mut PgTransaction<'_>,
    rule: Option<StopRule>,
) -> Result<Option<i64>, StoreError> {
    let Some(rule) = rule else { return Ok(None) };
    let RuleRow { precision, over_pairs, elo0, elo1, alpha, beta, model } = rule.into();
    run!(
        tx,
        "INSERT INTO stop_rules (rule, kind, precision, over_pairs, elo0, elo1, alpha, beta, model)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (rule) DO NOTHING",
        rule.to_string(),
        rule_kind(rule),
        precision,
        i16::from(over_pairs),
        elo0,
        elo1,
        alpha,
        beta,
        model,
    );
    let id = "SELECT stop_rule_id FROM stop_rules WHERE rule = $1";
    Ok(Some(value!(tx, i64, id, rule.to_string())))
}

/// Stores cells of a plan, given by their numbers, as new ones whose numbers begin with `first`; returns their ids.
pub(crate) async fn cells(
    tx: &mut PgTransaction<'_>,
    experiment: i64,
    plan: &Plan,
    numbers: &[usize],
    first: i64,
    asked_after: Option<i64>,
) -> Result<Vec<i64>, StoreError> {
    let all: Vec<_> =
        plan.players.iter().map(|player| (&*player.algorithm, &*player.parameters_json)).collect();
    let players = players(tx, &all).await?;
    let mut conditions = Vec::with_capacity(plan.conditions.len());
    for group in &plan.conditions {
        let definition = DefinitionJson::new(group);
        conditions.push(self::conditions(tx, definition.prefix(), group.openings_count).await?);
    }
    let stop_rule = stop_rule(tx, plan.stop).await?;
    let first_id = tx.take_ids("cells", numbers.len()).await?;
    let ids: Vec<i64> = (first_id..).take(numbers.len()).collect();
    let cells = || numbers.iter().map(|&number| &plan.cells[number]);
    let conditions_of = |cell: &spelrum_model::PlannedCell| &plan.conditions[cell.conditions];
    let player = |side: usize| {
        cells().map(|cell| players[&cell.players[side].parameters_json]).collect::<Vec<i64>>()
    };
    let name = |side: usize| {
        cells().map(|cell| cell.player_names[side].to_string()).collect::<Vec<String>>()
    };
    let checked = |what, value: fn(&spelrum_model::PlannedCell) -> u64| {
        cells().map(|cell| safe(what, value(cell))).collect::<Result<Vec<i64>, StoreError>>()
    };
    let seeds = checked("a cell's seed", |cell| cell.seed)?;
    let games = checked("a cell's games", |cell| cell.games)?;
    run!(
        tx,
        "INSERT INTO cells (experiment_id, stop_rule_id, asked_after, in_sweep, cell_id, number, definition_hash,
            conditions_id, seed, first_player_id, second_player_id, first_player_name, second_player_name,
            games_planned, timed, swap_sides, repeats)
        SELECT $1, $2, $3, 1, * FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::smallint[], $15::smallint[],
            $16::smallint[])",
        experiment,
        stop_rule,
        asked_after,
        &ids,
        numbers.iter().map(|&number| first + count(number)).collect::<Vec<i64>>(),
        cells().map(|cell| cell.definition_hash.to_string()).collect::<Vec<String>>(),
        cells().map(|cell| conditions[cell.conditions]).collect::<Vec<i64>>(),
        seeds,
        player(0),
        player(1),
        name(0),
        name(1),
        games,
        cells().map(|cell| i16::from(cell.timed)).collect::<Vec<i16>>(),
        cells().map(|cell| i16::from(conditions_of(cell).swap_sides)).collect::<Vec<i16>>(),
        cells().map(|cell| i16::from(cell.repeats)).collect::<Vec<i16>>(),
    );
    let placed: Vec<(i64, usize)> = ids.iter().copied().zip(numbers.iter().copied()).collect();
    place(tx, plan, &placed).await?;
    Ok(ids)
}

/// Gives cells the places of a plan's cells with these numbers, instead of those that they have.
pub(crate) async fn place(
    tx: &mut PgTransaction<'_>,
    plan: &Plan,
    placed: &[(i64, usize)],
) -> Result<(), StoreError> {
    let (mut cells, mut axes, mut values, mut texts) = (vec![], vec![], vec![], vec![]);
    for &(cell, number) in placed {
        for (axis, value) in plan.place(&plan.cells[number]) {
            cells.push(cell);
            axes.push(axis);
            values.push(value.number);
            texts.push(&*value.text);
        }
    }
    let all: Vec<i64> = placed.iter().map(|&(cell, _)| cell).collect();
    run!(tx, "DELETE FROM cell_axes WHERE cell_id = ANY($1)", all);
    run!(
        tx,
        "INSERT INTO cell_axes (cell_id, axis, value_number, value_text)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::double precision[], $4::text[])",
        cells,
        axes,
        values,
        texts,
    );
    Ok(())
}
