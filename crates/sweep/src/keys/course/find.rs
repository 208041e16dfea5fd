//! The keys of `find`.

use super::super::super::forms;
use super::super::{Key, Kind};
use super::{AT_ONCE_MAX, STEPS_MAX, integer_form};

/// Default number of steps of `find`.
pub(crate) const FIND_STEPS: i64 = 50;

/// Default number of values that `find` tries at a time.
pub(crate) const FIND_AT_ONCE: i64 = 2;

/// The keys of `find`.
pub(crate) const FIND: &[Key] = &[
    Key::new(
        "player",
        "Player",
        "The player whose parameter it is. Every other player in the `pairing` meets it, each in its own run.",
        Kind::Text,
    )
    .required(),
    Key::new(
        "parameter",
        "Parameter",
        "A number or a duration that makes the player stronger as it grows: `nodes`, `move_time`, `depth`, \
         `simulations`, `generations`. The player itself does not set it.",
        Kind::Text,
    )
    .required(),
    Key::new("from", "From", "The least value to try.", Kind::Own(forms::led_end))
        .required(),
    Key::new("to", "To", "The greatest value to try.", Kind::Own(forms::led_end)).required(),
    Key::new(
        "scale",
        "Scale",
        "Whether equal ratios (`\"log\"`) or equal differences (`\"linear\"`) are equal steps.",
        Kind::Word { words: &["log", "linear"], default: Some("log") },
    ),
    Key::new(
        "steps",
        "Steps",
        "How many values are tried in all, each with `games` games.",
        Kind::Own(|| integer_form(1, STEPS_MAX, FIND_STEPS)),
    ),
    Key::new(
        "at_once",
        "At once",
        "How many values are tried at a time: more keep more workers busy, but are chosen with a little less \
         information.",
        Kind::Own(|| integer_form(1, AT_ONCE_MAX, FIND_AT_ONCE)),
    ),
];
