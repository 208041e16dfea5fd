//! Valid recipes, and errors for others.

use spelrum_engine::network::Recipe;
use spelrum_engine::{ParameterKind, Value};

use super::{LARGE, PLAIN, read, recipe};

#[test]
fn a_recipe_spells_everything_out() {
    let parameters = recipe(r#"{"ending": "kbnk"}"#).parameters().clone();
    insta::assert_snapshot!(serde_json::to_string(&parameters).unwrap());
    assert_eq!(Recipe::from_parameters(&parameters).unwrap(), recipe(r#"{"ending": "KBNK"}"#));
    for json in [PLAIN, LARGE] {
        let recipe = recipe(json);
        assert_eq!(Recipe::from_parameters(recipe.parameters()).unwrap(), recipe);
        assert_eq!(recipe.parameters().contains_key("mirrored"), json == PLAIN);
    }
    // The order in which pieces are named is no part of it.
    assert_eq!(recipe(r#"{"ending": "KNBK"}"#), recipe(r#"{"ending": "KBNK"}"#));
    // What came later is not spelt out at its default: networks keep their names.
    let plain = PLAIN.replace("{", r#"{"augmented": false, "regions": 1, "#);
    assert_eq!(recipe(&plain).parameters(), recipe(PLAIN).parameters());
    let other = recipe(&plain.replace("false, \"regions\": 1", "true, \"regions\": 2"));
    assert_eq!(other.parameters().len(), recipe(PLAIN).parameters().len() + 2);
    // A whole number is a number.
    let recipe_of_krk = recipe(r#"{"ending": "KRK", "target_start": 1, "target_over": 32}"#);
    assert_eq!(recipe_of_krk.parameters()["target_over"], Value::Number(32.0));
}

#[test]
fn every_key_has_a_reference_for_people() {
    for info in Recipe::PARAMETERS {
        assert!(info.meaning.ends_with('.'), "{}", info.name);
        let is_bounded = !matches!(
            info.kind,
            ParameterKind::Nested | ParameterKind::Limit { .. } | ParameterKind::Duration
        );
        assert!(is_bounded, "{}", info.name);
    }
}

#[test]
fn what_is_wrong_is_named_with_a_remedy() {
    let error = |json: &str| {
        let error = read(json).unwrap_err();
        format!("{}: {error}", error.place.as_deref().unwrap_or_default())
    };
    let of_krk = |more: &str| error(&format!(r#"{{"ending": "KRK", {more}}}"#));
    let errors = [
        error("{}"),
        error(r#"{"ending": "KPK"}"#),
        error(r#"{"ending": "KK"}"#),
        error(r#"{"ending": "KKR"}"#),
        error(r#"{"ending": "KRKR"}"#),
        error(r#"{"ending": "KBBNK"}"#),
        error(r#"{"ending": "KBBNNQRRK"}"#),
        error(r#"{"ending": 3}"#),
        of_krk(r#""algorithm": "network""#),
        of_krk(r#""epoch": 3"#),
        of_krk(r#""inputs": "onehot""#),
        of_krk(r#""mirrored": false"#),
        of_krk(r#""augmented": true"#),
        of_krk(r#""regions": 5"#),
        of_krk(r#""hidden": []"#),
        of_krk(r#""hidden": [3, 0]"#),
        of_krk(r#""hidden": [1025]"#),
        of_krk(r#""hidden": [1, 1, 1, 1]"#),
        of_krk(r#""hidden": 30"#),
        of_krk(r#""hidden": [64], "inputs": "king-pairs""#),
        of_krk(r#""hidden": [1024, 1024], "inputs": "distances""#),
        error(r#"{"ending": "KBNK", "epochs": 100000}"#),
        of_krk(r#""epochs": 0"#),
        of_krk(r#""examples": -1"#),
        of_krk(r#""examples": 16777217"#),
        of_krk(r#""validation": 0"#),
        of_krk(r#""batch": 5000"#),
        of_krk(r#""rate": 0"#),
        of_krk(r#""rate": 1e300"#),
        of_krk(r#""target_start": 1.5"#),
        of_krk(r#""target_over": 0"#),
        of_krk(r#""balance": 2"#),
        of_krk(r#""seed": 9007199254740992"#),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_recipe_says_how_large_it_is() {
    let sizes = |json: &str| {
        let recipe = recipe(json);
        (recipe.weights(), recipe.steps(), recipe.memory_bytes() >> 20)
    };
    // 8 inputs and a bias to 30 units, these and a bias to the output.
    let study = r#"{"ending": "KRK", "inputs": "coordinates", "networks": "one", "hidden": [30],
        "examples": 30000, "epochs": 10}"#;
    assert_eq!(sizes(study), ((7 + 1) * 30 + 31, 300_000, 1));
    let each = r#"{"ending": "KBNK", "inputs": "all-distances", "networks": "each", "hidden": [30, 8],
        "examples": 30000, "epochs": 10}"#;
    assert_eq!(sizes(each).0, 2 * ((15 + 1) * 30 + 31 * 8 + 9));
    assert_eq!(sizes(each).1, 600_000);
    let regions = study.replace("{", r#"{"regions": 3, "#);
    assert_eq!(sizes(&regions), (3 * sizes(study).0, 900_000, 1));
    // Two networks, 462 pairs of kings and a square for each other piece; eight images of each.
    assert_eq!(sizes(r#"{"ending": "KBNK", "epochs": 1}"#).1, 2 * 462 * 64 * 64);
    let all = r#"{"ending": "KBNK", "epochs": 1, "rotations": false, "networks": "black"}"#;
    assert_eq!(sizes(all).1, 8 * 462 * 64 * 64);
    // Three lists of examples at most, and the weights.
    assert_eq!(
        sizes(all).2,
        1 + (3 * 4 * 8 * 462 * 64 * 64 + 3 * 4 * 2 * (sizes(all).0 as u64)) / (1 << 20)
    );
    assert_eq!(recipe(all).endgame().name(), "KBNK");
}
