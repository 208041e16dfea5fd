//! The tables of `docs/sweeps.md`, made from the language's keys and the engine's parameters.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;
use spelrum_engine::{
    ALGORITHMS, EXTERNAL_ALGORITHMS, ParameterDefault, ParameterInfo, ParameterKind, Rules,
    parameters_of,
};
use spelrum_test_support::{assert_generated, cell_text, table};

use crate::accuracy::OF_ACCURACY;
use crate::forms::{DURATION_PATTERN, RANGE, REFERENCE, TIMEOUT_PATTERN};
use crate::key::Key;
use crate::keys::{self, course};
use crate::{adjudication, claim_keys, placement, sample, stop, timing};

fn key_table(keys: &[&'static Key]) -> String {
    let mut rows = Vec::new();
    keys.iter().for_each(|key| add_key_rows("", key, &mut rows));
    table("key | default | may be | meaning", &rows)
}

/// Adds the key's row, and below it those of a rule of adjudication's own keys.
fn add_key_rows(owner: &str, key: &'static Key, rows: &mut Vec<String>) {
    let schema = key.form.schema();
    let default = match key.default_text(&schema) {
        _ if key.is_required => "required".to_owned(),
        Some(text) => text,
        None => "none".to_owned(),
    };
    let name = format!("{owner}{}", key.name);
    let may_be = composite_values(key.name).map_or_else(|| values(&schema), str::to_owned);
    rows.push(format!("| `{name}` | {default} | {may_be} | {} |", cell_text(key.meaning)));
    let below = match key.name {
        "resign" => adjudication::RESIGN,
        "draw" => adjudication::DRAW,
        "syzygy" => adjudication::SYZYGY,
        _ => &[],
    };
    below.iter().for_each(|key| add_key_rows(&format!("{name}."), key, rows));
}

/// The values of keys whose schema says more than a row has room for.
fn composite_values(key: &str) -> Option<&'static str> {
    match key {
        "name" => Some("a name"),
        "game" => Some("a name, a table or an axis"),
        "openings" | "positions" => Some("a name, a list, a table or an axis"),
        "pairing" => Some("a name or a table"),
        "override" | "claims" => Some("a list of tables"),
        _ => None,
    }
}

/// The values that a schema allows, in words.
fn values(schema: &Json) -> String {
    if let Some(forms) = schema["anyOf"].as_array() {
        let mut forms: Vec<String> = forms.iter().map(values).collect();
        forms.dedup();
        let last = forms.pop().unwrap();
        let others = forms.join(", ");
        return if others.is_empty() { last } else { format!("{others}, or {last}") };
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.trim_start_matches("#/definitions/");
        return [(REFERENCE, "an axis"), (RANGE, "a range")]
            .into_iter()
            .find_map(|(known, words)| (known == name).then(|| words.to_owned()))
            .unwrap();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => "true or false".to_owned(),
        "integer" if schema.get("multipleOf").is_some() => {
            format!("an even integer{}", range(schema))
        }
        "integer" => format!("an integer{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "string" => match schema["pattern"].as_str() {
            Some(DURATION_PATTERN) => "a time such as `\"10ms\"`".to_owned(),
            Some(TIMEOUT_PATTERN) => "a time such as `\"10m\"`".to_owned(),
            _ => "a text".to_owned(),
        },
        "array" => "a list".to_owned(),
        _ => "a table".to_owned(),
    }
}

fn range(schema: &Json) -> String {
    let to = if schema.get("minimum").is_some() { " to " } else { ", at most " };
    let bounds = [
        ("minimum", " from "),
        ("exclusiveMinimum", " above "),
        ("maximum", to),
        ("exclusiveMaximum", ", below "),
    ];
    let bound = |(key, words)| {
        let number = schema.get(key)?.to_string();
        Some(format!("{words}{}", number.trim_end_matches(".0")))
    };
    bounds.into_iter().filter_map(bound).collect()
}

fn default_text(default: ParameterDefault) -> String {
    let words =
        [ParameterDefault::FirstEvaluation, ParameterDefault::Required, ParameterDefault::Absent];
    if words.contains(&default) { default.to_string() } else { format!("`{default}`") }
}

fn parameter_table(parameters: &[ParameterInfo]) -> String {
    let row = |info: &ParameterInfo| {
        let may_be = if info.kind == ParameterKind::Evaluation {
            "[an evaluation](#evaluations)".to_owned()
        } else if info.kind == ParameterKind::Duration {
            "a time such as `\"10ms\"`, or `\"unlimited\"`".to_owned()
        } else {
            info.kind.to_string()
        };
        let only = info.only_with.map(|(other, value)| {
            let is_any = value == ParameterDefault::Required;
            let value = if is_any { String::new() } else { format!(" = {value}") };
            format!("; only with `{other}{value}`")
        });
        format!(
            "| `{}` | {} | {may_be} | {}{} |",
            info.name,
            default_text(info.default),
            cell_text(info.meaning),
            only.unwrap_or_default()
        )
    };
    table("parameter | default | may be | meaning", &parameters.iter().map(row).collect::<Vec<_>>())
}

#[test]
fn the_pages_tables_are_those_of_the_keys_and_parameters() {
    let mut parts = BTreeMap::new();
    let (accuracy, sweep): (Vec<&Key>, Vec<&Key>) =
        keys::SWEEP.iter().copied().partition(|key| OF_ACCURACY.contains(&key.name));
    parts.insert("sweep".to_owned(), key_table(&sweep));
    parts.insert("accuracy".to_owned(), key_table(&accuracy));
    for (name, keys) in [
        ("timing", timing::TIMING),
        ("placement", placement::PLACEMENT),
        ("adjudication", adjudication::ADJUDICATION),
        ("sprt", stop::SPRT),
        ("ending", keys::OPENINGS_ENDING),
        ("sample", sample::SAMPLE),
        ("claims", claim_keys::CLAIM),
        ("find", course::find::FIND),
        ("tune", course::tune::TUNE),
        ("evolve", course::evolve::EVOLVE),
        ("race", course::race::RACE),
        ("found", keys::FOUND),
    ] {
        // The forms of openings share it, each with another value.
        let keys: Vec<&Key> = keys.iter().copied().filter(|key| key.name != "kind").collect();
        parts.insert(name.to_owned(), key_table(&keys));
    }
    for algorithm in [ALGORITHMS, EXTERNAL_ALGORITHMS].concat() {
        let parameters = parameters_of(algorithm);
        if !parameters.is_empty() {
            parts.insert(algorithm.to_owned(), parameter_table(parameters));
        }
    }
    let [mut games, mut rules, mut evaluations, mut weights, mut features] =
        [const { Vec::new() }; 5];
    for game in Rules::games() {
        let name = game.name;
        games.push(format!("| `\"{name}\"` | {} |", game.meaning));
        for &ParameterInfo { name: rule, default, meaning: text, .. } in game.rules {
            rules.push(format!(
                "| `{name}` | `{rule}` | {} | {} |",
                default_text(default),
                cell_text(text)
            ));
        }
        for evaluation in game.evaluations {
            let owner = format!("| `{name}` | `\"{}\"` |", evaluation.name);
            evaluations.push(format!("{owner} {} |", cell_text(evaluation.meaning)));
            for weight in evaluation.parameters {
                let (default, text) = (default_text(weight.default), cell_text(weight.meaning));
                weights.push(format!("{owner} `{}` | {default} | {text} |", weight.name));
                if let ParameterKind::Recipe(recipe) = weight.kind {
                    parts.insert(weight.name.to_owned(), parameter_table(recipe.keys));
                }
            }
        }
        for feature in Rules::from_name(name).unwrap().features() {
            features.push(format!("| `{name}` | `{}` | {} |", feature.name, feature.meaning));
        }
    }
    for (name, columns, rows) in [
        ("games", "game | what it is", games),
        ("rules", "game | rule | default | meaning", rules),
        ("evaluations", "game | evaluation | meaning", evaluations),
        ("weights", "game | evaluation | parameter | default | meaning", weights),
        ("features", "game | feature | what it counts", features),
    ] {
        parts.insert(name.to_owned(), table(columns, &rows));
    }
    assert_generated("docs/sweeps.md", parts);
}

/// The Python package has the names of the games, since it cannot ask for them before a program runs.
#[test]
fn the_python_package_lists_the_games() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/src/spelrum/players.py");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("GAMES = (\n").unwrap();
    let (_, after) = rest.split_once("\n)\n").unwrap();
    let games = Rules::games().into_iter().map(|game| format!("    \"{}\",", game.name));
    let games: Vec<String> = games.collect();
    let generated = format!("{before}GAMES = (\n{}\n)\n{after}", games.join("\n"));
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, generated).unwrap();
    } else {
        assert!(
            text == generated,
            "GAMES in {path:?} is out of date: run this test with INSTA_UPDATE=always"
        );
    }
}
