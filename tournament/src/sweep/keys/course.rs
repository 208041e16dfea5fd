//! The keys of `find`, and below it of `evolve`: of experiments that depend on their own results.

pub(in crate::sweep) mod evolve;

use serde_json::json;

use super::super::schema;
use super::{Key, Kind};

/// Most steps of one run, and of all runs of a sweep: a coordinator that starts goes through them again
/// (invariant 9).
pub(in crate::sweep) const STEPS_MAX: i64 = 20_000;

/// Most runs of a sweep: what each knows is held while it goes on (invariant 9).
pub(in crate::sweep) const RUNS_MAX: usize = 1_000;

/// Most settings that one run tries at a time.
pub(in crate::sweep) const AT_ONCE_MAX: i64 = 256;

/// Steps of `find` where the sweep does not say.
pub(in crate::sweep) const FIND_STEPS: i64 = 50;

/// How many values `find` tries at a time where the sweep does not say.
pub(in crate::sweep) const FIND_AT_ONCE: i64 = 2;

/// The keys of `find`.
pub(in crate::sweep) static FIND: [Key; 7] = [
    Key::new(
        "player",
        "Player",
        "Whose parameter it is; everybody whom it meets has a run of its own.",
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
    Key::new("from", "From", "The least value that is tried.", Kind::Own(schema::led_end))
        .required(),
    Key::new("to", "To", "The greatest.", Kind::Own(schema::led_end)).required(),
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
        Kind::Own(|| whole(1, STEPS_MAX, FIND_STEPS)),
    ),
    Key::new(
        "at_once",
        "At once",
        "How many of them at a time, so that more workers have something to do.",
        Kind::Own(|| whole(1, AT_ONCE_MAX, FIND_AT_ONCE)),
    ),
];

/// A whole number, or an axis of such.
fn whole(min: i64, max: i64, default: i64) -> serde_json::Value {
    let whole = json!({ "type": "integer", "minimum": min, "maximum": max });
    json!({ "anyOf": [whole, schema::reference()], "default": default })
}
