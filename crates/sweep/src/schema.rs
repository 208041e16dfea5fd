//! The JSON schema of the sweep file, by which editors complete, explain and check it.
//!
//! Algorithms, their parameters and games come from the engine's own tables, the language's keys from
//! [`super::keys`]. A schema sees one file without its meaning: it refuses
//! misspelt keys, wrong types and another algorithm's parameters, and leaves the rest to planning.

use serde_json::{Map, Value as Json, json};
use spelrum_engine::expression::FORMULA_BYTES_MAX;
use spelrum_engine::{
    ALGORITHMS, EXTERNAL_ALGORITHMS, EvaluationInfo, GameInfo, ParameterDefault, ParameterInfo,
    ParameterKind, Rules, meaning_of, parameters_of, presets_of,
};
use spelrum_model::claims::CLAIMS_MAX;
use spelrum_model::course::OPTIONS;

use crate::adjudication::ADJUDICATION;
use crate::claim_keys::{self, CLAIM};
use crate::forms::{
    self, CLOCK_PATTERN, DURATION_PATTERN, NAME_PATTERN, RANGE, REFERENCE, reference, unlimited,
};
use crate::key::{self, Form, Key, Keys, object};
use crate::keys::course::tune::{PARAMETERS_MAX, TUNED};
use crate::keys::{self, Composite};
use crate::overrides::OVERRIDE;
use crate::pairing::{PAIRING_BESIDES, PAIRING_FORMS};
use crate::range;
use crate::stop::STOP;

/// The schema (JSON Schema, draft 7, which every TOML editor reads).
#[must_use]
pub fn sweep_schema() -> Json {
    let mut schema = object(keys::SWEEP);
    let members = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Spelrum sweep",
        "description": "An experiment: a game, players, and the conditions to compare them under.",
        // Whole pairs, unless sides are fixed.
        "if": {
            "required": ["swap_sides"],
            "properties": {
                "swap_sides": { "description": "Sides are fixed.", "const": false },
            },
        },
        "else": {
            "properties": {
                "games": whole_pairs(),
                "override": {
                    "description": "Whole pairs here, too.",
                    "items": { "properties": { "games": whole_pairs() } },
                },
            },
        },
        "definitions": { REFERENCE: reference_definition(), RANGE: range_definition() },
    });
    if let (Json::Object(schema), Json::Object(members)) = (&mut schema, members) {
        schema.extend(members);
    }
    schema
}

/// A name, or a name with rules.
fn game() -> Json {
    let names: Vec<&str> = Rules::games().iter().map(|game| game.name).collect();
    let mut forms = vec![json!({ "enum": names }), reference()];
    for game in Rules::games() {
        let mut rules = Map::new();
        let name = json!({ "const": game.name, "description": game.meaning });
        rules.insert("name".to_owned(), name);
        for rule in game.rules {
            rules.insert(rule.name.to_owned(), described_rule(rule));
        }
        forms.push(json!({
            "type": "object",
            "required": ["name"],
            "additionalProperties": false,
            "properties": rules,
        }));
    }
    json!({ "anyOf": forms })
}

fn described_rule(rule: &ParameterInfo) -> Json {
    json!({
        "description": format!("{} Default: {}.", rule.meaning, rule.default),
        "default": default_json(rule.default),
        "anyOf": [kind_json(rule.kind), reference()],
    })
}

/// A default, if a sweep can express it.
fn default_json(default: ParameterDefault) -> Option<Json> {
    match default {
        ParameterDefault::Bool(value) => Some(json!(value)),
        ParameterDefault::Integer(value) => Some(json!(value)),
        ParameterDefault::Number(value) => Some(json!(value)),
        ParameterDefault::Word(value) => Some(json!(value)),
        ParameterDefault::Integers(values) => Some(json!(values)),
        ParameterDefault::Unlimited => Some(json!("unlimited")),
        ParameterDefault::DurationUs(_) => Some(json!(default.to_string().trim_matches('"'))),
        ParameterDefault::FirstEvaluation
        | ParameterDefault::Required
        | ParameterDefault::Absent => None,
    }
}

/// The schema of a parameter's values.
fn kind_json(kind: ParameterKind) -> Json {
    match kind {
        ParameterKind::Switch => json!({ "type": "boolean" }),
        ParameterKind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        ParameterKind::Number { min, max } => {
            json!({ "type": "number", "minimum": min, "maximum": max })
        }
        ParameterKind::Word(words) => json!({ "enum": words }),
        ParameterKind::Limit { max } => json!({
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": max }, unlimited()],
        }),
        ParameterKind::Duration => json!({
            "anyOf": [{ "type": "string", "pattern": DURATION_PATTERN }, unlimited()],
        }),
        ParameterKind::Clock => json!({ "type": "string", "pattern": CLOCK_PATTERN }),
        ParameterKind::Evaluation => {
            let mut names: Vec<&str> =
                evaluations().iter().map(|(_, evaluation)| evaluation.name).collect();
            names.sort_unstable();
            names.dedup();
            json!({ "enum": names })
        }
        ParameterKind::Integers { count_min, count_max, min, max } => json!({
            "type": "array",
            "minItems": count_min,
            "maxItems": count_max,
            "items": {
                "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, reference()],
            },
        }),
        ParameterKind::Text { bytes_max } => json!({ "type": "string", "maxLength": bytes_max }),
        ParameterKind::Formula(_) => {
            json!({ "type": "string", "maxLength": FORMULA_BYTES_MAX })
        }
        ParameterKind::Nested => json!({ "type": "object" }),
        ParameterKind::Recipe(recipe) => {
            let keys = recipe.keys.iter().map(|info| {
                let Parameter { name, description, value, .. } = parameter(info);
                let value = json!({ "description": description, "anyOf": [value, reference()] });
                (name, value)
            });
            json!({ "type": "object", "properties": keys.collect::<serde_json::Map<_, _>>(), "additionalProperties": false })
        }
        ParameterKind::Content => json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
    }
}

impl Form for Composite {
    fn schema(&self) -> Json {
        match self {
            Self::Game => game(),
            Self::Stop => stop(),
            Self::Adjudication => adjudication(),
            Self::Openings => openings(),
            Self::ReferencePlayer => reference_player(),
            Self::Pairing => pairing(),
            Self::Overrides => overrides(),
            Self::Claims => claims(),
            Self::Players => players(),
            Self::TunedParameters => tuned_parameters(),
        }
    }
}

/// One of its keys.
fn stop() -> Json {
    let mut schema = object(STOP);
    schema["minProperties"] = 1.into();
    schema["maxProperties"] = 1.into();
    schema
}

/// One of its keys, or both.
fn adjudication() -> Json {
    let mut schema = object(ADJUDICATION);
    schema["minProperties"] = 1.into();
    schema
}

/// `"$depth"`, or `"$budget.ab"`.
fn reference_definition() -> Json {
    json!({
        "description": "The value of an axis: \"$depth\", or \"$budget.ab\" for a key of its tables.",
        "type": "string",
        "pattern": "^\\$[A-Za-z].*$",
    })
}

fn whole_pairs() -> Json {
    json!({ "description": "Whole pairs of games, since sides are swapped.", "multipleOf": 2 })
}

/// A word, an axis, a list, or a table for each kind.
fn openings() -> Json {
    let kind = |kind: &str, meaning: &str| json!({ "const": kind, "description": meaning });
    let start = kind("start", "Always the start of the game.");
    let random = kind("random", "Random play from the start; all different, none won in one move.");
    let all = kind("all", "Every position so many plies from the start, in a shuffled order.");
    let listed = kind("listed", "The positions that you list, in this order.");
    let book = kind("book", "The positions of an EPD or PGN file.");
    let ending =
        kind("ending", "Positions of a chess ending that white wins, by how far the mate is.");
    let form = |keys: Keys, kind: &Json, required: &[&str]| {
        let mut form = object(keys);
        form["properties"]["kind"] = kind.clone();
        form["required"] = json!(required);
        form
    };
    // An axis as the kind may name one that needs no plies.
    let mut swept = object(keys::OPENINGS_PLIES);
    swept["required"] = json!(["kind"]);
    let positions = object(keys::OPENINGS_LISTED)["properties"]["positions"].take();
    let mut listed_here = form(keys::OPENINGS_LISTED, &listed, &["kind", "positions"]);
    let mut listed_there = form(keys::OPENINGS_LISTED, &listed, &["kind", "file"]);
    for (form, other) in [(&mut listed_here, "file"), (&mut listed_there, "positions")] {
        if let Some(properties) = form["properties"].as_object_mut() {
            properties.remove(other);
        }
    }
    json!({
        "default": "start",
        "anyOf": [
            start,
            reference(),
            positions,
            form(keys::OPENINGS_START, &start, &["kind"]),
            form(keys::OPENINGS_PLIES, &random, &["kind", "plies"]),
            form(keys::OPENINGS_PLIES, &all, &["kind", "plies"]),
            listed_here,
            listed_there,
            form(keys::OPENINGS_BOOK, &book, &["kind", "file"]),
            form(keys::OPENINGS_ENDING, &ending, &["kind", "ending"]),
            swept,
        ],
    })
}

/// A player usable as a reference, with its parameters.
fn reference_player() -> Json {
    let form = |algorithm: &str| {
        let name = json!({ "const": algorithm, "description": meaning_of(algorithm) });
        let mut form = player(name, &parameters(&[algorithm]));
        form["required"] = json!(["algorithm"]);
        if let Some(properties) = form["properties"].as_object_mut() {
            key::names(keys::PLAYER).for_each(|key| drop(properties.remove(key)));
        }
        form
    };
    let forms = ["exact", "minimax", "table"].map(form);
    json!({ "type": "object", "anyOf": forms })
}

/// A word, or one form with optional additions.
fn pairing() -> Json {
    let form = |key: &&'static Key| {
        let mut form = object(PAIRING_BESIDES);
        form["required"] = json!([key.name]);
        form["properties"][key.name] = key.schema();
        form
    };
    let words = [
        json!({ "const": "round-robin", "description": "Every player meets every other player." }),
        json!({ "const": "self-play", "description": "Everybody plays against itself." }),
    ];
    let forms: Vec<Json> = words.into_iter().chain(PAIRING_FORMS.iter().map(form)).collect();
    json!({ "default": "round-robin", "anyOf": forms })
}

/// Each has either `games` or `skip`.
fn overrides() -> Json {
    let mut item = object(OVERRIDE);
    item["oneOf"] = json!([{ "required": ["games"] }, { "required": ["skip"] }]);
    json!({ "type": "array", "items": item })
}

/// Each has one bound of one figure.
fn claims() -> Json {
    let mut item = object(CLAIM);
    item["oneOf"] = claim_keys::bounds().map(|key| json!({ "required": [key] })).collect();
    json!({ "type": "array", "minItems": 1, "maxItems": CLAIMS_MAX, "items": item })
}

fn range_definition() -> Json {
    let mut range = object(range::RANGE);
    range["title"] = "Range".into();
    range["description"] =
        "{ from, to, step }, { from, to, factor } or { from, to, count }.".into();
    range["oneOf"] =
        json!([{ "required": ["step"] }, { "required": ["factor"] }, { "required": ["count"] }]);
    range["dependencies"] = json!({ "scale": ["count"] });
    range
}

/// One form for each algorithm, so that another one's parameters are refused, and one for players whose
/// algorithm is set elsewhere.
fn players() -> Json {
    let algorithms = [ALGORITHMS, EXTERNAL_ALGORITHMS].concat();
    let mut forms: Vec<Json> = algorithms
        .iter()
        .map(|&algorithm| {
            let name = json!({ "const": algorithm, "description": meaning_of(algorithm) });
            let mut form = player(name, &parameters(&[algorithm]));
            form["required"] = json!(["algorithm"]);
            form
        })
        .collect();
    let elsewhere = json!({
        "description": "The algorithm: the value of an axis.",
        "anyOf": [reference()],
    });
    let mut elsewhere = player(elsewhere, &parameters(&algorithms));
    let mentions =
        ["algorithm", "from", "like", "use", "vary"].map(|key| json!({ "required": [key] }));
    elsewhere["anyOf"] = json!(mentions);
    forms.push(elsewhere);
    json!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": { "pattern": NAME_PATTERN },
        "additionalProperties": {
            "description": "A player: an algorithm with its parameters and limits.",
            "type": "object",
            "anyOf": forms,
        },
    })
}

/// The parameters that `[tune]` decides.
fn tuned_parameters() -> Json {
    json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": PARAMETERS_MAX,
        "properties": {
            OPTIONS: {
                "description": "Options of the player's engine, by the engine's own names.",
                "type": "object",
                "additionalProperties": object(TUNED),
            },
        },
        "additionalProperties": object(TUNED),
    })
}

/// A player with these parameters.
fn player(algorithm: Json, parameters: &[Parameter]) -> Json {
    let mut properties = Map::new();
    let mut varied = Map::new();
    let mut algorithm = algorithm;
    algorithm["title"] = "Algorithm".into();
    properties.insert("algorithm".into(), algorithm);
    for Parameter { name, description, default, value } in parameters {
        let mut schema = json!({
            "title": name,
            "description": description,
            "anyOf": [value, reference()],
        });
        if let Some(default) = default {
            schema["default"] = default.clone();
        }
        properties.insert(name.clone(), schema);
        let list = json!({ "type": "array", "minItems": 1, "items": value });
        varied.insert(
            name.clone(),
            json!({ "title": name, "description": description, "anyOf": [list, forms::range()] }),
        );
    }
    let names = [ALGORITHMS, EXTERNAL_ALGORITHMS].concat();
    let algorithms = json!({ "type": "array", "minItems": 1, "items": { "enum": names } });
    varied.insert("algorithm".into(), algorithms);
    for key in keys::PLAYER {
        let mut schema = key.schema();
        if key.name == "vary" {
            schema["properties"] = Json::Object(std::mem::take(&mut varied));
        }
        properties.insert(key.name.to_owned(), schema);
    }
    json!({ "additionalProperties": false, "properties": properties })
}

/// A parameter of one algorithm, or of several.
struct Parameter {
    name: String,
    description: String,
    default: Option<Json>,
    value: Json,
}

/// The parameters of these algorithms, `preset` and evaluations' weights among them, by name.
fn parameters(algorithms: &[&str]) -> Vec<Parameter> {
    let mut parameters = Vec::<Parameter>::new();
    let mut add = |parameter: Parameter| {
        match parameters.iter_mut().find(|existing| existing.name == parameter.name) {
            None => parameters.push(parameter),
            // In different algorithms or games: either form will do, without a default.
            Some(existing) if existing.value != parameter.value => {
                existing.value = json!({ "anyOf": [existing.value, parameter.value] });
                existing.default = None;
            }
            Some(existing) => {
                if existing.default != parameter.default {
                    existing.default = None;
                }
            }
        }
    };
    for &algorithm in algorithms {
        let presets = presets_of(algorithm);
        if let Some(default) = presets.first() {
            add(Parameter {
                name: "preset".to_owned(),
                description: format!(
                    "Values for all parameters that are not named. Default: \"{default}\"."
                ),
                default: Some(json!(default)),
                value: json!({ "enum": presets }),
            });
        }
        let infos = parameters_of(algorithm);
        infos.iter().for_each(|info| add(parameter(info)));
        if infos.iter().any(|info| info.kind == ParameterKind::Evaluation) {
            let weights =
                evaluations().into_iter().flat_map(|(_, evaluation)| evaluation.parameters);
            weights.for_each(|info| add(parameter(info)));
        }
    }
    parameters
}

fn parameter(info: &ParameterInfo) -> Parameter {
    let (first, rest) = info.meaning.split_at(1);
    let meaning = format!("{}{}", first.to_uppercase(), rest.trim_end_matches('.'));
    let only = match info.only_with {
        Some((name, ParameterDefault::Required)) => format!(" Only with {name}."),
        Some((name, value)) => format!(" Only with {name} = {value}."),
        None => String::new(),
    };
    Parameter {
        name: info.name.to_owned(),
        description: format!("{meaning}. {}. Default: {}.{only}", kind_text(info), info.default),
        default: default_json(info.default),
        value: kind_json(info.kind),
    }
}

fn kind_text(info: &ParameterInfo) -> String {
    if info.kind == ParameterKind::Evaluation {
        let quoted = |(game, evaluation): (&str, &EvaluationInfo)| {
            format!("\"{}\" ({game})", evaluation.name)
        };
        return format!(
            "One of {}",
            evaluations().into_iter().map(quoted).collect::<Vec<_>>().join(", ")
        );
    }
    let text = info.kind.to_string();
    let (first, rest) = text.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// Every evaluation with its game.
fn evaluations() -> Vec<(&'static str, &'static EvaluationInfo)> {
    let evaluations_of = |game: &'static GameInfo| {
        game.evaluations.iter().map(move |evaluation| (game.name, evaluation))
    };
    Rules::games().into_iter().flat_map(evaluations_of).collect()
}
