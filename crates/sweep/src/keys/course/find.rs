//! The keys of `find`.

use super::{AT_ONCE_MAX, STEPS_MAX};
use crate::forms;
use crate::key::{Key, Keys, Own, Swept, Text, Whole, Word};

pub(crate) const FIND_LOGARITHMIC: Key<Word<bool>> = Key::new(
    "scale",
    "Scale",
    "Whether equal ratios (`\"log\"`) or equal differences (`\"linear\"`) are equal steps.",
    Word::first_of(&[("log", true), ("linear", false)]),
);

pub(crate) const FIND_STEPS: Key<Swept<Whole<u64>>> = Key::new(
    "steps",
    "Steps",
    "How many values are tried in all, each with `games` games.",
    Swept(Whole { min: 1, max: Some(STEPS_MAX), default: Some(50) }),
);

pub(crate) const FIND_AT_ONCE: Key<Swept<Whole<u64>>> = Key::new(
    "at_once",
    "At once",
    "How many values are tried at a time: more keep more workers busy, but are chosen with a little less \
     information.",
    Swept(Whole { min: 1, max: Some(AT_ONCE_MAX), default: Some(2) }),
);

/// The keys of `find`.
pub(crate) const FIND: Keys = &[
    &Key::new(
        "player",
        "Player",
        "The player whose parameter it is. Every other player in the `pairing` meets it, each in its own run.",
        Text,
    )
    .required(),
    &Key::new(
        "parameter",
        "Parameter",
        "A number or a duration that makes the player stronger as it grows: `nodes`, `move_time`, `depth`, \
         `simulations`, `generations`; or [an option of its engine](#options-of-engines), `options.Skill Level`. The \
         player itself does not set it.",
        Text,
    )
    .required(),
    &Key::new(
        "from",
        "From",
        "The least value to try.",
        Own(forms::led_end),
    )
    .required(),
    &Key::new(
        "to",
        "To",
        "The greatest value to try.",
        Own(forms::led_end),
    )
    .required(),
    &FIND_LOGARITHMIC,
    &FIND_STEPS,
    &FIND_AT_ONCE,
];
