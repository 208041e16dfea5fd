//! Tests the tables' checks on an invented algorithm of an invented game.

use insta::assert_snapshot;

use super::super::shared;
use super::*;
use crate::core::expression::FeatureInfo;
use crate::core::limits::Limits;
use crate::core::problem::KeyProblem;

const EVALUATION_INFOS: &[EvaluationInfo] = &[
    EvaluationInfo {
        name: "runs",
        meaning: "Runs.",
        parameters: &[ParameterInfo::integer("three_weight", 0..=1_000, 3, "Three in a row.")],
    },
    EvaluationInfo { name: "zero", meaning: "Nothing.", parameters: &[] },
];

const ALGORITHM: AlgorithmInfo = AlgorithmInfo {
    meaning: "Made up.",
    name: "climber",
    parameters: &[
        shared::EVALUATION,
        shared::DEPTH,
        shared::NODES,
        shared::MOVE_TIME,
        ParameterInfo::limit("generations", 1_000, "Rounds.")
            .default_to(ParameterDefault::Integer(50)),
        ParameterInfo::integer("population", 2..=500, 40, "Climbers."),
        ParameterInfo::number("mutation_rate", 0.0..=1.0, 0.1, "Restlessness."),
        ParameterInfo::word("selection", &["roulette", "tournament"], "roulette", "Fate."),
        ParameterInfo::integer("tournament_size", 2..=9, 2, "Rivals.")
            .only_with("selection", ParameterDefault::Word("tournament")),
        ParameterInfo {
            added_later: true,
            ..ParameterInfo::switch("ropes", false, "Whether climbers use ropes.")
        },
    ],
    presets: &[
        Preset { name: "tuned", values: &[("population", ParameterDefault::Integer(64))] },
        Preset { name: "study", values: &[("selection", ParameterDefault::Word("tournament"))] },
    ],
    bounded_by: &["nodes", "generations", "move_time"],
};

fn parameters(toml_like: &str) -> Parameters {
    serde_json::from_str(&format!("{{{toml_like}}}")).unwrap()
}

fn read(toml_like: &str) -> Result<Settings, KeyProblem> {
    Settings::read(&ALGORITHM, "snakes", EVALUATION_INFOS, &parameters(toml_like))
}

fn canonical(toml_like: &str) -> String {
    serde_json::to_string(&read(toml_like).unwrap().canonical()).unwrap()
}

fn error(toml_like: &str) -> String {
    read(toml_like).unwrap_err().to_string()
}

#[test]
fn the_canonical_map_spells_out_the_defaults_of_the_preset() {
    assert_snapshot!(canonical(""), @r#"{"algorithm":"climber","evaluation":"runs","generations":50,"mutation_rate":0.1,"population":64,"selection":"roulette","three_weight":3}"#);
    assert_snapshot!(canonical(r#""preset": "study", "move_time": "1.5ms", "depth": 4"#), @r#"{"algorithm":"climber","depth":4,"evaluation":"runs","generations":50,"move_time_us":1500,"mutation_rate":0.1,"population":40,"selection":"tournament","three_weight":3,"tournament_size":2}"#);
    assert_snapshot!(
        canonical(r#""nodes": 9, "generations": "unlimited", "evaluation": "zero", "mutation_rate": 1"#),
        @r#"{"algorithm":"climber","evaluation":"zero","generations":"unlimited","mutation_rate":1.0,"nodes":9,"population":64,"selection":"roulette"}"#
    );
}

#[test]
fn a_parameter_added_later_leaves_old_players_their_hash() {
    assert!(!canonical("").contains("ropes"));
    assert_eq!(canonical(""), canonical(r#""ropes": false"#));
    assert!(canonical(r#""ropes": true"#).contains("ropes"));
}

#[test]
fn the_canonical_map_reads_back_to_the_same_settings() {
    for text in [
        "",
        r#""preset": "study""#,
        r#""nodes": 9, "generations": "unlimited""#,
        r#""generations": "unlimited", "move_time_us": 12"#,
        r#""move_time": "unlimited", "mutation_rate": -0.0, "ropes": true"#,
        r#""evaluation": "zero", "selection": "tournament", "tournament_size": 5"#,
        r#""three_weight": 0"#,
    ] {
        let settings = read(text).unwrap();
        let canonical = settings.canonical();
        let again = Settings::read(&ALGORITHM, "snakes", EVALUATION_INFOS, &canonical).unwrap();
        assert_eq!(again, settings, "{text}");
        assert_eq!(again.canonical(), canonical, "{text}");
    }
}

#[test]
fn typed_readers() {
    let settings = read(r#""nodes": 9, "move_time": "2ms", "ropes": true"#).unwrap();
    assert_eq!(settings.integer("population"), 64);
    assert!((settings.number("mutation_rate") - 0.1).abs() < 1e-12);
    assert_eq!(settings.word("selection"), "roulette");
    assert!(settings.switch("ropes"));
    assert_eq!(
        Limits::from_settings(&settings),
        Limits {
            depth: None,
            nodes: Some(9),
            evaluations: None,
            generations: Some(50),
            move_time_us: Some(2_000),
        }
    );
}

#[test]
fn errors_name_the_key_and_the_remedy() {
    assert_snapshot!(error(r#""dpeth": 3"#), @"`climber` has no parameter `dpeth`; did you mean `depth`?");
    assert_snapshot!(error(r#""colour": "red""#), @"`climber` has no parameter `colour`; its parameters are `evaluation`, `depth`, `nodes`, `move_time`, `generations`, `population`, `mutation_rate`, `selection`, `tournament_size`, `ropes`, `three_weight`, `preset`");
    assert_snapshot!(error(r#""clock": "10s""#), @"`climber` has no parameter `clock`; time cannot limit its moves; leave the clock out, or give it to the other player alone");
    assert_snapshot!(error(r#""depth": 0"#), @r#"`depth` cannot be 0; write an integer from 1 to 1000, or "unlimited""#);
    assert_snapshot!(error(r#""depth": 1.0"#), @r#"`depth` cannot be 1.0; write an integer from 1 to 1000, or "unlimited""#);
    assert_snapshot!(error(r#""depth": "unlimitted""#), @r#"`depth` cannot be "unlimitted"; write an integer from 1 to 1000, or "unlimited""#);
    assert_snapshot!(error(r#""population": "unlimited""#), @r#"`population` cannot be "unlimited"; write an integer from 2 to 500"#);
    assert_snapshot!(error(r#""mutation_rate": 1.5"#), @"`mutation_rate` cannot be 1.5; write a number from 0 to 1");
    assert_snapshot!(error(r#""ropes": "yes""#), @r#"`ropes` cannot be "yes"; write true or false"#);
    assert_snapshot!(error(r#""selection": "turnament""#), @r#"`selection` cannot be "turnament"; did you mean "tournament"?"#);
    assert_snapshot!(error(r#""selection": 3"#), @r#"`selection` cannot be 3; write "roulette" or "tournament""#);
    assert_snapshot!(error(r#""preset": "tunned""#), @r#"`preset` cannot be "tunned"; did you mean "tuned"?"#);
    assert_snapshot!(error(r#""evaluation": "rnus""#), @r#"snakes has no evaluation "rnus"; did you mean "runs"?"#);
    assert_snapshot!(error(r#""evaluation": "material""#), @r#"snakes has no evaluation "material"; write "runs" or "zero""#);
    assert_snapshot!(error(r#""evaluation": "zero", "three_weight": 3"#), @r#"`three_weight` is not a parameter of the evaluation "zero"; leave it out, or choose the evaluation "runs""#);
    assert_snapshot!(error(r#""tournament_size": 3"#), @r#"`tournament_size` has no effect here; leave it out, or set `selection` to "tournament""#);
    assert_snapshot!(error(r#""move_time": "10""#), @r#"`move_time` cannot be "10"; write a duration such as "200us", "10ms" or "1.5s", or "unlimited""#);
    assert_snapshot!(error(r#""move_time": 10"#), @r#"`move_time` cannot be 10; write a duration such as "200us", "10ms" or "1.5s", or "unlimited""#);
    assert_snapshot!(error(r#""move_time": "0ms""#), @r#"`move_time` cannot be "0ms"; write a time from 1us to a day, or "unlimited""#);
    assert_snapshot!(error(r#""move_time_us": "10ms""#), @r#"`move_time_us` cannot be "10ms"; write an integer from 1 to 86400000000, or "unlimited""#);
    assert_snapshot!(error(r#""move_time_us": 10, "move_time": "10us""#), @"`move_time` is given twice, also as `move_time_us`; leave one of them out");
    assert_snapshot!(error(r#""generations": "unlimited", "depth": 3"#), @"nothing bounds the search of `climber`; limit at least one of `nodes`, `generations`, `move_time`");
}

#[test]
fn what_is_required_is_asked_for() {
    const STRICT: AlgorithmInfo = AlgorithmInfo {
        meaning: "Made up.",
        name: "strict",
        parameters: &[shared::DEPTH.default_to(ParameterDefault::Required)],
        presets: &[],
        bounded_by: &[],
    };
    let error = Settings::read(&STRICT, "snakes", &[], &Parameters::new()).unwrap_err();
    assert_snapshot!(error, @r#"`depth` is missing; write an integer from 1 to 1000, or "unlimited""#);
    let error = Settings::read(&STRICT, "snakes", &[], &parameters(r#""preset": "x""#));
    assert_snapshot!(error.unwrap_err(), @"`strict` has no parameter `preset`; its parameters are `depth`");
}

#[test]
fn a_formula_that_is_too_long_is_not_repeated() {
    const READER: AlgorithmInfo = AlgorithmInfo {
        meaning: "Made up.",
        name: "reader",
        parameters: &[ParameterInfo::formula(
            "formula",
            &[FeatureInfo::symmetric("snakes", "snakes")],
            "What counts.",
        )],
        presets: &[],
        bounded_by: &[],
    };
    let read = |formula: &str| {
        let given = Parameters::from([("formula".to_owned(), Value::Text(formula.to_owned()))]);
        Settings::read(&READER, "snakes", &[], &given)
    };
    let padded = |bytes: usize| format!("{:bytes$}", "snakes");
    let longest = read(&padded(FORMULA_BYTES_MAX)).unwrap();
    assert_eq!(longest.word("formula"), "snakes");
    let error = read(&padded(FORMULA_BYTES_MAX + 1)).unwrap_err();
    assert_eq!(error.place.as_deref(), Some("formula"));
    assert_snapshot!(error, @"`formula` has 16385 bytes; at most 16384 are allowed");
}
