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
pub(crate) const TUNE: &[Key] = &[
    Key::new(
        "player",
        "Player",
        "The player to tune. It meets every other player of the `pairing`, or itself (`pairing = \
         \"self-play\"` where it is the only player).",
        Kind::Text,
    )
    .required(),
    Key::new(
        "parameters",
        "Parameters",
        "The parameters to tune, 1 to 32 of the player's, including those of its evaluation: `{ width = { \
         from = 0, to = 8 }, order = { choices = [true, false] } }`.",
        Kind::Composite(Composite::TunedParameters),
    )
    .required(),
    Key::new(
        "method",
        "Method",
        "`\"spsa\"`: all parameters are moved up or down together, and follow the side that wins. \
         `\"cma-es\"`: generations of settings; the better half of each decides where the next are drawn.",
        Kind::Word { words: &["spsa", "cma-es"], default: Some("spsa") },
    ),
    Key::new(
        "steps",
        "Steps",
        "Iterations of SPSA, or generations of CMA-ES.",
        Kind::Own(|| integer_form(1, STEPS_MAX, TUNE_STEPS)),
    ),
    Key::new(
        "at_once",
        "At once",
        "SPSA: iterations in progress at a time: more keep more workers busy.",
        Kind::Own(|| integer_form(1, AT_ONCE_MAX, TUNE_AT_ONCE)),
    ),
    Key::new(
        "step",
        "Step",
        "SPSA: the part of its perturbation that a parameter moves in the last iteration for each game that \
         one side won more than the other.",
        Kind::Own(|| number(1000.0)),
    ).by_default("60 / all pairs of a run"),
    Key::new(
        "perturbation",
        "Perturbation",
        "SPSA: how far each side is moved in the last iteration, as a part of the range `from` to `to`.",
        Kind::Own(|| number(0.5)),
    ).by_default("`0.05`"),
    Key::new(
        "population",
        "Population",
        "CMA-ES: how many settings a generation tries, for n parameters (a choice counts once for each of its \
         values).",
        Kind::Own(population),
    ).by_default("4 + 3 ln n"),
    Key::new(
        "confirm",
        "Confirm",
        "Games in each cell of the confirming match; 0: no match.",
        Kind::Whole { min: 0, max: Some(1 << 33), default: Some(TUNE_CONFIRM) },
    ),
];

/// The keys of a parameter of `tune`.
pub(crate) const TUNED: &[Key] = &[
    Key::new("from", "From", "The least value.", Kind::Own(forms::led_end)),
    Key::new("to", "To", "The greatest.", Kind::Own(forms::led_end)),
    Key::new("start", "Start", "Where it begins.", Kind::Own(|| json!({})))
        .by_default("the player's own value"),
    Key::new(
        "scale",
        "Scale",
        "Whether equal ratios (`\"log\"`) or equal differences (`\"linear\"`) are equal steps.",
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
