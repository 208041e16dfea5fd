//! The schema that editors check sweeps by: its keys are pinned, it takes every sweep there is, and
//! refuses slips.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::Value as Json;
use spelrum_sweep::{SweepText, plan_sweep, sweep_schema};

use crate::reference::{Example, examples};
use crate::{example_sweeps, project_file};

fn validator() -> Validator {
    jsonschema::validator_for(&sweep_schema()).unwrap()
}

fn json(text: &str) -> Json {
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    serde_json::to_value(table).unwrap()
}

/// What is wrong with a sweep as an editor sees it.
fn errors(validator: &Validator, text: &str) -> Vec<String> {
    validator.iter_errors(&json(text)).map(|error| error.to_string()).collect()
}

/// Collects a line for each key of a schema: its name, and the types, words, bounds and defaults that it has.
fn collect_keys(schema: &Json, keys: &mut BTreeSet<String>) {
    const PINNED: [&str; 6] = ["type", "const", "enum", "default", "minimum", "maximum"];
    match schema {
        Json::Object(members) => {
            if let Some(Json::Object(properties)) = members.get("properties") {
                for (name, value) in properties {
                    let pinned =
                        PINNED.iter().filter_map(|key| Some(format!(" {key} {}", value.get(key)?)));
                    keys.insert(format!("{name}:{}", pinned.collect::<String>()));
                }
            }
            members.values().for_each(|member| collect_keys(member, keys));
        }
        Json::Array(values) => values.iter().for_each(|value| collect_keys(value, keys)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// A key that goes missing here was removed or renamed, which breaks sweeps; new ones are added to the file.
#[test]
fn keys_types_and_defaults_are_pinned() {
    let mut keys = BTreeSet::new();
    collect_keys(&sweep_schema(), &mut keys);
    let keys = keys.into_iter().collect::<Vec<_>>().join("\n");
    let written_by = "INSTA_UPDATE=always cargo test --workspace --test sweep_language writes it";
    insta::with_settings!({ description => written_by }, { insta::assert_snapshot!(keys) });
}

/// Every sweep of the project: the examples, the reference's, and what `spelrum new` writes.
fn sweeps() -> Vec<(String, String)> {
    let mut sweeps = example_sweeps();
    for Example { line, sweep } in examples() {
        sweeps.push((format!("docs/sweeps.md:{line}"), sweep.text));
    }
    for template in ["first", "depth", "time", "time-odds", "ladder", "tuning"] {
        let path = format!("cli/templates/{template}.toml");
        sweeps.push((path.clone(), project_file(&path)));
    }
    sweeps
}

#[test]
fn every_sweep_of_the_project_is_taken() {
    let validator = validator();
    for (name, text) in sweeps() {
        let errors = errors(&validator, &text);
        assert!(errors.is_empty(), "{name}: {errors:#?}\n{text}");
    }
}

const BASE: &str = r#"
name = "x"
game = "pentago"
games = 10
openings = { kind = "random", plies = 2 }
pairing = { gauntlet = "ab" }

[axes]
depth = { from = 1, to = 3, step = 1 }

[players.ab]
algorithm = "alpha-beta"
depth = "$depth"
move_time = "10ms"

[players.gm]
algorithm = "genetic-minimax"
preset = "study"
depth = 3
"#;

/// Slips, each a piece of the sweep above and what it became.
const SLIPS: &[(&str, &str)] = &[
    // Misspelt keys.
    ("games = 10", "gmaes = 10"),
    ("name = \"x\"", "nam = \"x\""),
    ("plies = 2", "plys = 2"),
    ("step = 1", "steps = 1"),
    ("gauntlet", "gantlet"),
    ("move_time", "movetime"),
    ("[axes]", "[axis]"),
    // Wrong types and values.
    ("games = 10", "games = \"10\""),
    ("games = 10", "games = 11"),
    ("games = 10", "games = 0"),
    ("games = 10", "games = 11\nswap_sides = true"),
    ("games = 10", "games = 0\nswap_sides = false"),
    ("games = 10", "games = 10\nswap_sides = 0"),
    ("name = \"x\"", "name = \"x y\""),
    ("name = \"x\"", "name = 3"),
    ("\"pentago\"", "\"pentagon\""),
    ("\"pentago\"", "{ name = \"nim\", heap = [3] }"),
    ("\"pentago\"", "{ name = \"pentago\", win_before_rotation = 1 }"),
    ("\"pentago\"", "{ misere = true }"),
    ("kind = \"random\"", "kind = \"radnom\""),
    ("plies = 2", "plies = 2.5"),
    ("plies = 2", "plies = 2, positions = [\"x\"]"),
    ("{ from = 1, to = 3, step = 1 }", "3"),
    ("{ from = 1, to = 3, step = 1 }", "[]"),
    ("step = 1", "step = 1, factor = 2"),
    ("step = 1", "step = 1, scale = \"log\""),
    (", step = 1", ""),
    ("from = 1", "from = true"),
    ("{ gauntlet = \"ab\" }", "\"roundrobin\""),
    ("{ gauntlet = \"ab\" }", "{ gauntlet = \"ab\", between = [\"ab\", \"gm\"] }"),
    ("{ gauntlet = \"ab\" }", "{ pairs = [[\"ab\"]] }"),
    ("\"alpha-beta\"", "\"alphabeta\""),
    ("depth = 3", "depth = 0"),
    ("depth = 3", "depth = \"deep\""),
    ("depth = 3", "depth = [1, 2]"),
    ("\"10ms\"", "\"10 minutes\""),
    ("[axes]", "claims = []\n[axes]"),
    ("[axes]", "error_rate = 0.5\n[axes]"),
    ("[axes]", "[[claims]]\ntext = \"x\"\nplayer = \"ab\"\n[axes]"),
    ("[axes]", "[[claims]]\ntext = \"x\"\nscore_above = 0.5\n[axes]"),
    ("[axes]", "[[claims]]\ntext = \"x\"\nplayer = \"ab\"\nscore_above = 1.5\n[axes]"),
    (
        "[axes]",
        "[[claims]]\ntext = \"x\"\nplayer = \"ab\"\nscore_above = 0.5\nscore_below = 0.5\n[axes]",
    ),
    (
        "[axes]",
        "[[claims]]\ntext = \"x\"\nplayer = \"ab\"\nscore_above = 0.5\nin = \"most\"\n[axes]",
    ),
    ("[axes]", "[[claims]]\ntext = \"x\"\nplayer = \"ab\"\nscore_over = 0.5\n[axes]"),
    ("\"10ms\"", "10"),
    ("\"study\"", "\"studied\""),
    ("depth = 3", "depth = 3\ncrossover_rate = 1.5"),
    ("depth = 3", "depth = 3\nvary = { population = 3 }"),
    ("depth = 3", "depth = 3\nvary = { populations = [3] }"),
    ("depth = 3", "depth = 3\nuse = \"selection\""),
    ("games = 10", "games = 10\nseed = -1"),
    ("games = 10", "games = 10\nmeasure = \"tim\""),
    ("games = 10", "games = 10\nrecord = true"),
    ("games = 10", "games = 10\nmax_plies = 0"),
    ("games = 10", "games = 10\nadjudication = {}"),
    ("games = 10", "games = 10\nadjudication = { resign = { moves = 3 } }"),
    ("games = 10", "games = 10\nadjudication = { resign = { score = 0 } }"),
    ("games = 10", "games = 10\nadjudication = { draw = { score = 10, both = true } }"),
    ("games = 10", "games = 10\nadjudication = { draw = { score = -1 } }"),
    ("games = 10", "games = 10\ngame_timeout = 10"),
    ("games = 10", "games = 10\ntiming = 0.05"),
    ("games = 10", "games = 10\ntiming = { disturbed_above = 1.5 }"),
    ("games = 10", "games = 10\ntiming = { disturbed_over = 0.05 }"),
    ("games = 10", "games = 10\ntiming = { disturbed = \"reply\" }"),
    ("games = 10", "games = 10\ntiming = { disturbed = \"replay\", replays_max = 0 }"),
    ("games = 10", "games = 10\nplacement = [\"site=a\"]"),
    ("games = 10", "games = 10\nplacement = { require = \"site=a\" }"),
    ("games = 10", "games = 10\nplacement = { require = [\"=a\"] }"),
    ("games = 10", "games = 10\nplacement = { requires = [\"site=a\"] }"),
    ("games = 10", "games = 10\nstop = 0.03"),
    ("games = 10", "games = 10\nstop = {}"),
    ("games = 10", "games = 10\nstop = { precision = 0.5 }"),
    ("games = 10", "games = 10\nstop = { precision = \"0.1\" }"),
    ("games = 10", "games = 10\npriority = 0.5"),
    ("games = 10", "games = 10\ngames_at_once = 1"),
    ("games = 10", "games = 10\nreplicates = 5"),
    ("games = 10", "games = 10\nanchors = \"ab\""),
    ("games = 10", "games = 10\nsample = { method = \"latin\", points = 2 }"),
    ("games = 10", "games = 10\nsample = { method = \"random\" }"),
    ("games = 10", "games = 10\noverride = [{ where = { depth = 1 } }]"),
    ("games = 10", "games = 10\noverride = [{ where = { depth = 1 }, games = 3 }]"),
    ("games = 10", "games = 10\noverride = [{ where = { depth = 1 }, games = 2, skip = true }]"),
    ("games = 10", "games = 10\noverride = [{ games = 2 }]"),
    // Another algorithm's parameters.
    ("move_time = \"10ms\"", "population = 3"),
    ("move_time = \"10ms\"", "preset = \"study\""),
    ("preset = \"study\"", "iterative = true"),
    ("preset = \"study\"", "shuffle = true"),
    ("\"alpha-beta\"", "\"random\""),
];

#[test]
fn slips_are_refused_as_planning_refuses_them() {
    let validator = validator();
    assert_eq!(errors(&validator, BASE), Vec::<String>::new());
    for (from, to) in SLIPS {
        assert!(BASE.contains(from), "{from}");
        let text = BASE.replacen(from, to, 1);
        assert!(!errors(&validator, &text).is_empty(), "the schema takes {from} as {to}");
        assert!(plan_sweep(&SweepText::new("x", &*text)).is_err(), "a plan takes {from} as {to}");
    }
}

/// Where sides are fixed, games need not come in pairs.
#[test]
fn odd_numbers_of_games_are_taken_with_fixed_sides() {
    let validator = validator();
    let games = "games = 7\nswap_sides = false\noverride = [{ where = { depth = 1 }, games = 3 }]";
    let text = BASE.replacen("games = 10", games, 1);
    assert_eq!(errors(&validator, &text), Vec::<String>::new());
    plan_sweep(&SweepText::new("x", &*text)).unwrap();
}

/// Whatever key an editor stands on, it has something to say.
#[test]
fn every_key_is_explained() {
    fn look(schema: &Json, path: &str, keys: &mut usize) {
        match schema {
            Json::Object(members) => {
                for (key, value) in members {
                    let path = format!("{path}/{key}");
                    if let ("properties", Json::Object(properties)) = (key.as_str(), value) {
                        for (name, property) in properties {
                            let explained = property.get("description").is_some()
                                || name == "algorithm" && path.contains("vary");
                            assert!(explained, "{path}/{name} has no description");
                            // Links lead from the page alone.
                            let text = property["description"].as_str().unwrap_or_default();
                            assert!(!text.contains("]("), "{path}/{name}: {text}");
                            *keys += 1;
                        }
                    }
                    look(value, &path, keys);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| look(item, path, keys)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    let mut keys = 0;
    look(&sweep_schema(), "", &mut keys);
    assert!(keys > 100, "{keys} keys");
}
