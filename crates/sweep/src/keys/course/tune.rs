//! The keys of `tune`.

use serde_json::json;

use super::super::super::forms;
use super::super::{Composite, Key, Kind};
use super::{AT_ONCE_MAX, STEPS_MAX, integer_form};

/// Most parameters that are decided together.
pub(crate) const PARAMETERS_MAX: usize = 32;

/// Most choices of one parameter.
pub(crate) const CHOICES_MAX: usize = 16;

/// Most settings that a generation of CMA-ES tries.
pub(crate) const POPULATION_MAX: i64 = 1_000;

/// Default number of steps of `tune`.
pub(crate) const TUNE_STEPS: i64 = 100;

/// Default number of concurrent iterations of SPSA.
pub(crate) const TUNE_AT_ONCE: i64 = 2;

/// Default number of games that confirm the result.
pub(crate) const TUNE_CONFIRM: i64 = 400;

/// The keys of `tune`.
pub(crate) static TUNE: [Key; 9] = [
    Key::new(
        "player",
        "Player",
        "Player whose parameters are tuned: it meets all others of the pairing, or itself with other settings.",
        Kind::Text,
    )
    .required(),
    Key::new(
        "parameters",
        "Parameters",
        "What is tuned, by the names of parameters: { width = { from = 0, to = 8 }, order = { choices = [true, \
         false] } }.",
        Kind::Composite(Composite::TunedParameters),
    )
    .required(),
    Key::new(
        "method",
        "Method",
        "\"spsa\": all parameters are moved up or down together, and the side that wins is followed. \"cma-es\": \
         generations of settings, of which the better half says where the next are drawn. Default: \"spsa\".",
        Kind::Word { words: &["spsa", "cma-es"], default: Some("spsa") },
    ),
    Key::new(
        "steps",
        "Steps",
        "How many iterations of SPSA, or generations of CMA-ES.",
        Kind::Own(|| integer_form(1, STEPS_MAX, TUNE_STEPS)),
    ),
    Key::new(
        "at_once",
        "At once",
        "How many iterations of SPSA at a time, so that more workers have something to do.",
        Kind::Own(|| integer_form(1, AT_ONCE_MAX, TUNE_AT_ONCE)),
    ),
    Key::new(
        "step",
        "Step",
        "SPSA: the part of its perturbation that a parameter moves in the last iteration for each game won more. \
         Default: 60 by all pairs of a run.",
        Kind::Own(|| number(1000.0)),
    ),
    Key::new(
        "perturbation",
        "Perturbation",
        "SPSA: how far each side is moved in the last iteration, as a part of what a parameter may be. Default: 0.05.",
        Kind::Own(|| number(0.5)),
    ),
    Key::new(
        "population",
        "Population",
        "CMA-ES: how many settings a generation tries. Default: 4 + 3 ln n of n parameters.",
        Kind::Own(population),
    ),
    Key::new(
        "confirm",
        "Confirm",
        "How many games each cell has in which what was found is held against the start at the end. 0: none.",
        Kind::Whole { min: 0, max: Some(1 << 33), default: Some(TUNE_CONFIRM) },
    ),
];

/// The keys of a parameter of `tune`.
pub(crate) static TUNED: [Key; 5] = [
    Key::new("from", "From", "The least value.", Kind::Own(forms::led_end)),
    Key::new("to", "To", "The greatest.", Kind::Own(forms::led_end)),
    Key::new(
        "start",
        "Start",
        "Where it begins, if not with the value that the player has.",
        Kind::Own(|| json!({})),
    ),
    Key::new(
        "scale",
        "Scale",
        "Whether equal ratios (\"log\") or equal differences (\"linear\") are equal steps. Default: \"linear\".",
        Kind::Word { words: &["log", "linear"], default: Some("linear") },
    ),
    Key::new(
        "choices",
        "Choices",
        "The values of a parameter that is not a number: words, true and false.",
        Kind::Own(choices),
    ),
];

fn choices() -> serde_json::Value {
    json!({ "anyOf": [
        { "type": "array", "minItems": 2, "maxItems": CHOICES_MAX },
        forms::reference(),
    ] })
}

fn population() -> serde_json::Value {
    let integer = json!({ "type": "integer", "minimum": 2, "maximum": POPULATION_MAX });
    json!({ "anyOf": [integer, forms::reference()] })
}

/// A number above 0, or an axis of such.
fn number(most: f64) -> serde_json::Value {
    let number = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": most });
    json!({ "anyOf": [number, forms::reference()] })
}
