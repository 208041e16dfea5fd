//! The keys of `tune`.

use serde_json::json;
use spelrum_model::seeds::SEED_END;

use super::super::Composite;
use super::{AT_ONCE_MAX, STEPS_MAX};
use crate::forms;
use crate::key::Text;
use crate::key::{Key, Keys, Number, Own, Swept, Whole, Word};

/// Most parameters that are decided together.
pub(crate) const PARAMETERS_MAX: usize = 32;

/// Most choices of one parameter.
pub(crate) const CHOICES_MAX: usize = 16;

pub(crate) const IS_SPSA: Key<Word<bool>> = Key::new(
    "method",
    "Method",
    "`\"spsa\"`: all parameters are moved up or down together, and follow the side that wins. \
     `\"cma-es\"`: generations of settings; the better half of each decides where the next are drawn.",
    Word::first_of(&[("spsa", true), ("cma-es", false)]),
);

pub(crate) const TUNE_STEPS: Key<Swept<Whole<u64>>> = Key::new(
    "steps",
    "Steps",
    "Iterations of SPSA, or generations of CMA-ES.",
    Swept(Whole { min: 1, max: Some(STEPS_MAX), default: Some(100) }),
);

pub(crate) const TUNE_AT_ONCE: Key<Swept<Whole<u64>>> = Key::new(
    "at_once",
    "At once",
    "SPSA: iterations in progress at a time: more keep more workers busy.",
    Swept(Whole { min: 1, max: Some(AT_ONCE_MAX), default: Some(2) }),
);

pub(crate) const STEP: Key<Swept<Number>> = Key::new(
    "step",
    "Step",
    "SPSA: the part of its perturbation that a parameter moves in the last iteration for each game that \
     one side won more than the other.",
    Swept(Number::above_0(1000.0)),
)
.by_default("60 / all pairs of a run").example("0.05");

pub(crate) const PERTURBATION: Key<Swept<Number>> = Key::new(
    "perturbation",
    "Perturbation",
    "SPSA: how far each side is moved in the last iteration, as a part of the range `from` to `to`.",
    Swept(Number::above_0(0.5).or(0.05)),
);

pub(crate) const TUNE_POPULATION: Key<Swept<Whole<u64>>> = Key::new(
    "population",
    "Population",
    "CMA-ES: how many settings a generation tries, for n parameters (a choice counts once for each of its \
     values).",
    Swept(Whole { min: 2, max: Some(1_000), default: None }),
)
.by_default("4 + 3 ln n").example("20");

pub(crate) const CONFIRM: Key<Whole<u64>> = Key::new(
    "confirm",
    "Confirm",
    "Games in each cell of the confirming match; 0: no match.",
    Whole { min: 0, max: Some(SEED_END >> 20), default: Some(400) },
);

/// The keys of `tune`.
pub(crate) const TUNE: Keys = &[
    &Key::new(
        "player",
        "Player",
        "The player to tune. It meets every other player of the `pairing`, or itself (`pairing = \
         \"self-play\"` where it is the only player).",
        Text,
    )
    .required(),
    &Key::new(
        "parameters",
        "Parameters",
        "The parameters to tune, 1 to 32 of the player's, including those of its evaluation and \
         [options of its engine](#options-of-engines): `{ width = { from = 0, to = 8 }, order = { choices = [true, \
         false] } }`.",
        Composite::TunedParameters,
    )
    .required(),
    &IS_SPSA,
    &TUNE_STEPS,
    &TUNE_AT_ONCE,
    &STEP,
    &PERTURBATION,
    &TUNE_POPULATION,
    &CONFIRM,
];

pub(crate) const TUNED_LOGARITHMIC: Key<Word<bool>> = Key::new(
    "scale",
    "Scale",
    "Whether equal ratios (`\"log\"`) or equal differences (`\"linear\"`) are equal steps.",
    Word::first_of(&[("linear", false), ("log", true)]),
);

/// The keys of a parameter of `tune`.
pub(crate) const TUNED: Keys = &[
    &Key::new("from", "From", "The least value.", Own(forms::led_end)),
    &Key::new("to", "To", "The greatest.", Own(forms::led_end)),
    &Key::new("start", "Start", "Where it begins.", Own(|| json!({})))
        .by_default("the player's own value"),
    &TUNED_LOGARITHMIC,
    &Key::new(
        "choices",
        "Choices",
        "The values of a parameter that is not a number: words, true and false.",
        Own(choices),
    ),
];

fn choices() -> serde_json::Value {
    json!({ "anyOf": [
        { "type": "array", "minItems": 2, "maxItems": CHOICES_MAX },
        forms::reference(),
    ] })
}
