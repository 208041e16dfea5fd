//! The keys of `find`.

use super::super::super::forms;
use super::super::{Key, Kind};
use super::{AT_ONCE_MAX, STEPS_MAX, integer_form};

/// Default number of steps of `find`.
pub(crate) const FIND_STEPS: i64 = 50;

/// Default number of values that `find` tries at a time.
pub(crate) const FIND_AT_ONCE: i64 = 2;

/// The keys of `find`.
pub(crate) static FIND: [Key; 7] = [
    Key::new(
        "player",
        "Player",
        "Player whose parameter is adjusted; each opponent that it meets has its own run.",
        Kind::Text,
    )
    .required(),
    Key::new(
        "parameter",
        "Parameter",
        "The parameter, a number or a duration, of which more makes the player stronger.",
        Kind::Text,
    )
    .required(),
    Key::new("from", "From", "The least value that is tried.", Kind::Own(forms::led_end))
        .required(),
    Key::new("to", "To", "The greatest.", Kind::Own(forms::led_end)).required(),
    Key::new(
        "scale",
        "Scale",
        "Whether equal ratios (\"log\") or equal differences (\"linear\") are equal steps. Default: \"log\".",
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
        "How many of them at a time, so that more workers have something to do.",
        Kind::Own(|| integer_form(1, AT_ONCE_MAX, FIND_AT_ONCE)),
    ),
];
