//! The JSON schema of the sweep file, by which editors complete, explain and check it.
//!
//! Algorithms, their parameters and games come from the engine's own tables; the language's keys are
//! here, with what an editor says of each. A schema sees one file without its meaning: it refuses
//! misspelt keys, wrong types and another algorithm's parameters, and leaves the rest to planning.

use serde_json::{Map, Value as Json, json};
use spelrum_engine::{
    ALGORITHMS, EvaluationInfo, GameInfo, ParameterDefault, ParameterInfo, ParameterKind, Rules,
    parameters_of, presets_of,
};

use super::axes::POINTS_MAX;
use crate::openings::OPENING_PLIES_MAX;
use crate::seeds::SEED_END;

/// The schema (JSON Schema, draft 7, which every TOML editor reads).
#[must_use]
pub fn sweep_schema() -> Json {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Spelrum sweep",
        "description": "An experiment: a game, players, and the conditions to compare them under.",
        "type": "object",
        "required": ["name", "game", "games", "players"],
        "additionalProperties": false,
        "properties": {
            "name": {
                "title": "Name",
                "description": "Names the experiment and its database: a letter, then letters, \
                                digits, `_` and `-`.",
                "type": "string",
                "pattern": NAME_PATTERN,
            },
            "description": {
                "title": "Description",
                "description": "What the experiment asks, in a sentence; reports show it.",
                "type": "string",
            },
            "game": game(),
            "seed": {
                "title": "Seed",
                "description": "Every random number of the experiment comes from it: openings, and \
                                whatever players draw. The same file gives the same games on every \
                                machine. Default: 1.",
                "type": "integer",
                "minimum": 0,
                "maximum": SEED_END - 1,
                "default": 1,
            },
            "games": games("Games in each cell: even, since both players play both colours of each \
                            opening, unless swap_sides is false. A larger number later continues \
                            the same experiment."),
            "swap_sides": {
                "title": "Swapped sides",
                "description": "Whether each opening is played twice, with the players' sides \
                                swapped. false: the first of a pairing moves first in every game, \
                                each from an opening of its own. Default: true.",
                "type": "boolean",
                "default": true,
            },
            "openings": openings(),
            "measure": {
                "title": "What is measured",
                "description": "\"score\": who wins. \"time\": also how long moves take, so that \
                                every cell counts as timed. Default: \"score\".",
                "enum": ["score", "time"],
                "default": "score",
            },
            "record": {
                "title": "What is stored",
                "description": "\"moves\": every game with its moves. \"games\": games without \
                                moves, and what is summed over them. Default: \"moves\".",
                "enum": ["moves", "games"],
                "default": "moves",
            },
            "max_plies": {
                "title": "Longest game",
                "description": "Plies from the opening after which a game is a draw. Default: \
                                \"unlimited\".",
                "anyOf": [{ "type": "integer", "minimum": 1, "maximum": u32::MAX }, unlimited()],
                "default": "unlimited",
            },
            "game_timeout": {
                "title": "Game timeout",
                "description": "A game that takes longer on the wall clock than this, such as \
                                \"10m\", fails and is tried again. Default: \"unlimited\".",
                "anyOf": [{ "type": "string", "pattern": TIMEOUT_PATTERN }, unlimited()],
                "default": "unlimited",
            },
            "priority": {
                "title": "Priority",
                "description": "Experiments with a larger number are played first; equal ones share \
                                the workers. Default: 0.",
                "type": "integer",
                "minimum": i32::MIN,
                "maximum": i32::MAX,
                "default": 0,
            },
            "pairing": pairing(),
            "anchors": {
                "title": "Anchors",
                "description": "Players that the others' strength is measured against: everybody \
                                else meets each of them at each point.",
                "type": "array",
                "items": player_name(),
            },
            "sample": sample(),
            "override": overrides(),
            "axes": axes(),
            "players": players(),
        },
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
    })
}

/// What stands in hundreds of places is defined once.
const REFERENCE: &str = "reference";
const RANGE: &str = "range";

fn reference() -> Json {
    json!({ "$ref": format!("#/definitions/{REFERENCE}") })
}

fn range() -> Json {
    json!({ "$ref": format!("#/definitions/{RANGE}") })
}

const NAME_PATTERN: &str = "^[A-Za-z][A-Za-z0-9_-]{0,63}$";
const DURATION_PATTERN: &str = "^[0-9]+(\\.[0-9]+)? *(us|µs|ms|s)$";
const TIMEOUT_PATTERN: &str = "^[0-9]+(\\.[0-9]+)? *(us|µs|ms|s|m|h)$";

fn unlimited() -> Json {
    json!({ "const": "unlimited" })
}

/// `"$depth"`, or `"$budget.ab"`.
fn reference_definition() -> Json {
    json!({
        "description": "The value of an axis: \"$depth\", or \"$budget.ab\" for a key of its tables.",
        "type": "string",
        "pattern": "^\\$[A-Za-z].*$",
    })
}

/// The name of a player, or of one of its variants.
fn player_name() -> Json {
    json!({
        "description": "A player: its name for all its variants, or one variant such as \
                        \"ab(depth=3)\".",
        "type": "string",
    })
}

fn games(description: &str) -> Json {
    json!({
        "title": "Games",
        "description": description,
        "type": "integer",
        "minimum": 1,
    })
}

fn whole_pairs() -> Json {
    json!({ "description": "Whole pairs of games, since sides are swapped.", "multipleOf": 2 })
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
    json!({
        "title": "Game",
        "description": "The game, or a table of its name and its rules, which may be axes: \
                        { name = \"nim\", heaps = [3, 4, 5], misere = \"$misere\" }.",
        "anyOf": forms,
    })
}

fn described_rule(rule: &ParameterInfo) -> Json {
    json!({
        "description": format!("{} Default: {}.", rule.meaning, rule.default),
        "default": default_json(rule.default),
        "anyOf": [kind_json(rule.kind), reference()],
    })
}

fn openings() -> Json {
    let kind = |kind: &str, meaning: &str| json!({ "const": kind, "description": meaning });
    let positions = json!({
        "title": "Positions",
        "description": "Positions in the game's notation, each once up to symmetry.",
        "type": "array",
        "minItems": 1,
        "items": { "type": "string" },
    });
    let plies = json!({
        "title": "Plies",
        "description": "Plies from the start of the game.",
        "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": OPENING_PLIES_MAX },
            reference(),
        ],
    });
    let file = json!({
        "title": "File",
        "description": "A text file, from where the sweep is: one position on each line, comments \
                        after `#`.",
        "type": "string",
    });
    let form = |properties: Json, required: &[&str]| {
        json!({
            "type": "object",
            "required": required,
            "additionalProperties": false,
            "properties": properties,
        })
    };
    let random = kind("random", "Random play from the start; all different, none won in one move.");
    let all = kind("all", "Every position so many plies from the start, in a shuffled order.");
    let listed = kind("listed", "The positions that you list, in this order.");
    let swept_kind = json!({
        "description": "The kind: the value of an axis.",
        "anyOf": [reference()],
    });
    json!({
        "title": "Openings",
        "description": "Where games start. Pair k has the same opening in every cell, so that cells \
                        can be compared. Default: \"start\".",
        "default": "start",
        "anyOf": [
            kind("start", "Always the start of the game."),
            reference(),
            positions,
            form(json!({ "kind": kind("start", "Always the start of the game.") }), &["kind"]),
            form(json!({ "kind": random, "plies": plies }), &["kind", "plies"]),
            form(json!({ "kind": all, "plies": plies }), &["kind", "plies"]),
            form(json!({ "kind": listed, "positions": positions }), &["kind", "positions"]),
            form(json!({ "kind": listed, "file": file }), &["kind", "file"]),
            form(json!({ "kind": swept_kind, "plies": plies }), &["kind"]),
        ],
    })
}

fn pairing() -> Json {
    let names = json!({ "type": "array", "minItems": 1, "items": player_name() });
    let self_play = json!({
        "title": "Self-play",
        "description": "Whether everybody who plays also plays against itself. Default: false.",
        "type": "boolean",
        "default": false,
    });
    let form = |key: &str, meaning: &str, value: &Json| {
        let mut described = value.clone();
        described["description"] = meaning.into();
        json!({
            "type": "object",
            "required": [key],
            "additionalProperties": false,
            "properties": { key: described, "self_play": self_play },
        })
    };
    let pairs = json!({
        "type": "array",
        "minItems": 1,
        "items": { "type": "array", "minItems": 2, "maxItems": 2, "items": player_name() },
    });
    let heroes = json!({ "anyOf": [player_name(), names] });
    let between = json!({ "type": "array", "minItems": 2, "items": player_name() });
    json!({
        "title": "Pairing",
        "description": "Who meets whom at each point of the grid. Default: \"round-robin\".",
        "default": "round-robin",
        "anyOf": [
            { "const": "round-robin", "description": "Everybody meets everybody else." },
            { "const": "self-play", "description": "Everybody plays against itself." },
            form("round_robin", "These players meet each other.", &names),
            form("gauntlet", "One player, or each of several, meets everybody else.", &heroes),
            form("between", "Every two of these meet, but not the variants of one.", &between),
            form("pairs", "These pairs meet; twice the same player: it plays itself.", &pairs),
        ],
    })
}

fn sample() -> Json {
    json!({
        "title": "Sample",
        "description": "Plays some points of the grid instead of all of them, drawn by the seed.",
        "type": "object",
        "required": ["method", "points"],
        "additionalProperties": false,
        "properties": {
            "method": {
                "title": "Method",
                "description": "\"latin-hypercube\": every value of every axis equally often. \
                                \"random\": any points; more of them later keep the earlier ones.",
                "enum": ["latin-hypercube", "random"],
            },
            "points": {
                "title": "Points",
                "description": "How many points of the grid are played.",
                "type": "integer",
                "minimum": 1,
                "maximum": POINTS_MAX,
            },
            "axes": {
                "title": "Sampled axes",
                "description": "Only these axes are thinned, at every combination of the others. \
                                Default: all of them.",
                "type": "array",
                "minItems": 1,
                "items": { "type": "string" },
            },
        },
    })
}

fn overrides() -> Json {
    json!({
        "title": "Overrides",
        "description": "Other numbers of games for some cells, or none. Later overrides win.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["where"],
            "additionalProperties": false,
            "properties": {
                "where": {
                    "title": "Where",
                    "description": "Which cells: values of axes (a list means any of them), and \
                                    `player` and `opponent` by name.",
                    "type": "object",
                    "minProperties": 1,
                },
                "games": games("Games in each of these cells: even, unless swap_sides is false."),
                "skip": {
                    "title": "Skip",
                    "description": "These cells are not played.",
                    "const": true,
                },
            },
            "oneOf": [{ "required": ["games"] }, { "required": ["skip"] }],
        },
    })
}

fn axes() -> Json {
    json!({
        "title": "Axes",
        "description": "What changes from cell to cell. Players, the game and openings name an axis \
                        as \"$depth\", or \"$budget.ab\" if its values are tables.",
        "type": "object",
        "propertyNames": { "pattern": NAME_PATTERN, "not": { "enum": ["player", "opponent"] } },
        "additionalProperties": {
            "description": "The values of an axis: a list, or a range.",
            "anyOf": [{ "type": "array", "minItems": 1 }, range()],
        },
    })
}

fn range_definition() -> Json {
    let end = |meaning: &str| {
        json!({
            "description": meaning,
            "anyOf": [{ "type": "number" }, { "type": "string", "pattern": DURATION_PATTERN }],
        })
    };
    json!({
        "title": "Range",
        "description": "{ from, to, step }, { from, to, factor } or { from, to, count }.",
        "type": "object",
        "required": ["from", "to"],
        "additionalProperties": false,
        "properties": {
            "from": end("The first value."),
            "to": end("The last value; a step or a factor must meet it."),
            "step": end("What is added from value to value."),
            "factor": {
                "description": "What each value is multiplied by.",
                "type": "number",
                "exclusiveMinimum": 0,
            },
            "count": {
                "description": "How many values, both ends among them.",
                "type": "integer",
                "minimum": 2,
                "maximum": POINTS_MAX,
            },
            "scale": {
                "description": "With `count`: equal distances (\"linear\") or equal ratios \
                                (\"log\"). Default: \"linear\".",
                "enum": ["linear", "log"],
                "default": "linear",
            },
        },
        "oneOf": [{ "required": ["step"] }, { "required": ["factor"] }, { "required": ["count"] }],
        "dependencies": { "scale": ["count"] },
    })
}

/// One form for each algorithm, so that another one's parameters are refused, and one for players
/// whose algorithm stands elsewhere.
fn players() -> Json {
    let mut forms: Vec<Json> = ALGORITHMS
        .iter()
        .map(|&algorithm| {
            let name = json!({ "const": algorithm, "description": algorithm_meaning(algorithm) });
            let mut form = player(name, &parameters(&[algorithm]));
            form["required"] = json!(["algorithm"]);
            form
        })
        .collect();
    let elsewhere = json!({
        "description": "The algorithm: the value of an axis.",
        "anyOf": [reference()],
    });
    let mut elsewhere = player(elsewhere, &parameters(ALGORITHMS));
    let mentions = ["algorithm", "like", "use", "vary"].map(|key| json!({ "required": [key] }));
    elsewhere["anyOf"] = json!(mentions);
    forms.push(elsewhere);
    json!({
        "title": "Players",
        "description": "Who plays: each player under a header such as [players.alphabeta].",
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

fn algorithm_meaning(algorithm: &str) -> &'static str {
    match algorithm {
        "random" => "Plays any legal move.",
        "minimax" => "Searches every move to its depth.",
        "alpha-beta" => "Searches every move to its depth, but for what cannot change the result.",
        "genetic-minimax" => "Breeds lines of play, and backs their values up a reservation tree.",
        "exact" => "Solves the position to the end of the game, as far as its limits let it.",
        "mcts" => "Plays games at random from the ends of a tree that grows where they go well.",
        _ => "An algorithm.",
    }
}

/// A player with these parameters.
fn player(algorithm: Json, parameters: &[Parameter]) -> Json {
    let mut properties = Map::new();
    let mut varied = Map::new();
    let mut algorithm = algorithm;
    algorithm["title"] = "Algorithm".into();
    properties.insert("algorithm".into(), algorithm);
    properties.insert(
        "like".into(),
        json!({
            "title": "Like",
            "description": "Starts from what another player says; keys here replace its keys.",
            "type": "string",
        }),
    );
    properties.insert(
        "use".into(),
        json!({
            "title": "Use",
            "description": "Merges the tables of an axis into the player: \"$selection\", or a list \
                            of such.",
            "anyOf": [reference(), { "type": "array", "minItems": 1, "items": reference() }],
        }),
    );
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
            json!({ "title": name, "description": description, "anyOf": [list, range()] }),
        );
    }
    let algorithms = json!({ "type": "array", "minItems": 1, "items": { "enum": ALGORITHMS } });
    varied.insert("algorithm".into(), algorithms);
    properties.insert(
        "vary".into(),
        json!({
            "title": "Vary",
            "description": "One player for each combination of these values, lists or ranges: \
                            vary = { depth = [1, 2, 3] } makes ab(depth=1), ab(depth=2) and \
                            ab(depth=3).",
            "type": "object",
            "minProperties": 1,
            "additionalProperties": false,
            "properties": varied,
        }),
    );
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
    let mut found = Vec::<Parameter>::new();
    let mut add = |parameter: Parameter| {
        match found.iter_mut().find(|known| known.name == parameter.name) {
            None => found.push(parameter),
            // Of another algorithm or game: either form will do, and neither default.
            Some(known) if known.value != parameter.value => {
                known.value = json!({ "anyOf": [known.value, parameter.value] });
                known.default = None;
            }
            Some(known) => {
                if known.default != parameter.default {
                    known.default = None;
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
            let weights = evaluations().into_iter().flat_map(|(_, of)| of.parameters);
            weights.for_each(|info| add(parameter(info)));
        }
    }
    found
}

fn parameter(info: &ParameterInfo) -> Parameter {
    let (first, rest) = info.meaning.split_at(1);
    let meaning = format!("{}{}", first.to_uppercase(), rest.trim_end_matches('.'));
    let only = match info.only_with {
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

/// A default, where a sweep could write it.
fn default_json(default: ParameterDefault) -> Option<Json> {
    match default {
        ParameterDefault::Bool(value) => Some(json!(value)),
        ParameterDefault::Integer(value) => Some(json!(value)),
        ParameterDefault::Number(value) => Some(json!(value)),
        ParameterDefault::Word(value) => Some(json!(value)),
        ParameterDefault::Integers(values) => Some(json!(values)),
        ParameterDefault::Unlimited => Some(json!("unlimited")),
        ParameterDefault::FirstEvaluation | ParameterDefault::Required => None,
    }
}

/// What a parameter may be.
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
        ParameterKind::Evaluation => {
            let mut names: Vec<&str> = evaluations().iter().map(|(_, of)| of.name).collect();
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
        ParameterKind::Nested => json!({ "type": "object" }),
        ParameterKind::Content => json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }),
    }
}

fn kind_text(info: &ParameterInfo) -> String {
    if info.kind == ParameterKind::Evaluation {
        let of = |(game, of): (&str, &EvaluationInfo)| format!("\"{}\" ({game})", of.name);
        return format!(
            "One of {}",
            evaluations().into_iter().map(of).collect::<Vec<_>>().join(", ")
        );
    }
    let text = info.kind.to_string();
    let (first, rest) = text.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// Every evaluation with its game.
fn evaluations() -> Vec<(&'static str, &'static EvaluationInfo)> {
    let of = |game: &'static GameInfo| game.evaluations.iter().map(move |it| (game.name, it));
    Rules::games().into_iter().flat_map(of).collect()
}
