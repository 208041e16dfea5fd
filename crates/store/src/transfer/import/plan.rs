//! Converts an imported experiment to a plan, so that it is stored like any other. Data that follow from a cell's
//! definition are not taken from the file, and the definition must match its hash.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelrum_engine::{Parameters, Value};
use spelrum_model::{
    AxisValue, CellDefinition, Conditions, DefinitionJson, Plan, PlannedAxis, PlannedCell,
    PlannedPlayer,
};

use super::source::{SourceCell, SourceExperiment};

/// Exclusive upper bound on the games of a cell.
const GAMES_MAX: u64 = 1 << 53;

/// Parses a cell's definition and checks it against the cell's hash.
pub(super) fn definition(cell: &SourceCell) -> Result<CellDefinition, String> {
    let [first, second] = &cell.parameters;
    let json = [&cell.definition_prefix, &**first, ",", second, "]}"].concat();
    let definition: CellDefinition = serde_json::from_str(&json)
        .map_err(|error| format!("the definition of cell {}: {error}", cell.id))?;
    let hash = definition.hash().to_string();
    if hash != cell.definition_hash || definition.canonical_json() != json {
        return Err(format!("the definition of cell {} is not the one of its hash", cell.id));
    }
    Ok(definition)
}

/// A plan of these cells alone, numbered in their order.
pub(super) fn plan(exported: &SourceExperiment, cells: &[&SourceCell]) -> Result<Plan, String> {
    let mut plan = Plan {
        name: exported.name.clone(),
        game: exported.game.clone(),
        seed: exported.seed,
        settings: exported.settings.clone(),
        stop: cells.first().and_then(|cell| cell.rule),
        anchors: exported.anchors.clone(),
        axes: exported
            .axes
            .iter()
            .map(|name| PlannedAxis { name: name.clone(), values: Vec::new() })
            .collect(),
        cells: Vec::with_capacity(cells.len()),
        names_builds: true,
        ..Plan::default()
    };
    let mut conditions: BTreeMap<&str, (usize, DefinitionJson)> = BTreeMap::new();
    let mut players: BTreeMap<&str, Arc<PlannedPlayer>> = BTreeMap::new();
    for cell in cells {
        let wrong = |what: &str| format!("cell {}: {what}", cell.id);
        let known = match conditions.get(&*cell.definition_prefix) {
            Some((known, json)) => (*known, json.clone()),
            None => {
                let definition = definition(cell)?;
                if definition.rules.name() != exported.game {
                    return Err(wrong("it is of another game than its experiment"));
                }
                let those = Conditions {
                    seed: definition.seed,
                    rules: definition.rules,
                    openings: definition.openings,
                    max_plies: definition.max_plies,
                    adjudication: definition.adjudication,
                    swap_sides: definition.swap_sides,
                    task: definition.task,
                    openings_count: cell.openings_count,
                };
                let json = DefinitionJson::new(&those);
                plan.conditions.push(those);
                let new = (plan.conditions.len() - 1, json);
                conditions.insert(&cell.definition_prefix, new.clone());
                new
            }
        };
        let (of_conditions, json) = known;
        let [first, second] = &cell.parameters;
        let (definition_hash, seed) = json.hash_and_seed(first, second);
        if definition_hash.to_string() != cell.definition_hash {
            return Err(wrong("its definition is not the one of its hash"));
        }
        let swaps = plan.conditions[of_conditions].swap_sides;
        if cell.games == 0 || cell.games >= GAMES_MAX || swaps && cell.games % 2 == 1 {
            return Err(wrong("no cell can have so many games"));
        }
        let mut its_players = Vec::with_capacity(2);
        for json in &cell.parameters {
            let player = match players.get(&**json) {
                Some(known) => Arc::clone(known),
                None => {
                    let new = Arc::new(planned_player(json).map_err(|what| wrong(&what))?);
                    plan.players.push(Arc::clone(&new));
                    players.insert(json, Arc::clone(&new));
                    new
                }
            };
            its_players.push(player);
        }
        let [first, second] = [0, 1].map(|side| Arc::clone(&its_players[side]));
        let mut axes = Vec::with_capacity(cell.places.len());
        for (axis, number, text) in &cell.places {
            let index = exported.axes.iter().position(|name| name == axis);
            // An axis of an earlier version of the sweep.
            let Some(index) = index else { continue };
            let values = &mut plan.axes[index].values;
            values.push(AxisValue { number: *number, text: text.clone() });
            axes.push((index, values.len() - 1));
        }
        plan.cells.push(PlannedCell {
            definition_hash,
            seed,
            conditions: of_conditions,
            players: [first, second],
            player_names: cell.names.each_ref().map(|name| Arc::from(&**name)),
            axes,
            games: cell.games,
            timed: cell.timed,
            repeats: cell.repeats,
        });
    }
    Ok(plan)
}

fn planned_player(json: &str) -> Result<PlannedPlayer, String> {
    let parameters: Parameters =
        serde_json::from_str(json).map_err(|error| format!("a player: {error}"))?;
    match parameters.get("algorithm") {
        Some(Value::Text(algorithm)) => {
            Ok(PlannedPlayer { algorithm: algorithm.clone(), parameters_json: json.to_owned() })
        }
        _ => Err("a player without an algorithm".to_owned()),
    }
}
