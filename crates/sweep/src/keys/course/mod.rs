//! The keys of tables such as `find`, for experiments that depend on their own results.

pub(crate) mod evolve;
pub(crate) mod find;
pub(crate) mod tune;

use serde_json::json;

use crate::forms;

/// Most steps of one run, and of all runs of a sweep: a coordinator repeats them at a start (invariant 9).
pub(crate) const STEPS_MAX: i64 = 20_000;

/// Most runs of a sweep: their states are held while the sweep goes on (invariant 9).
pub(crate) const RUNS_MAX: usize = 1_000;

/// Most settings that one run tries at a time.
pub(crate) const AT_ONCE_MAX: i64 = 256;

/// A whole number, or an axis of such.
fn integer_form(min: i64, max: i64, default: i64) -> serde_json::Value {
    let integer = json!({ "type": "integer", "minimum": min, "maximum": max });
    json!({ "anyOf": [integer, forms::reference()], "default": default })
}
