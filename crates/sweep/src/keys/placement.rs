//! The keys of `placement`.

use serde_json::{Value as Json, json};
use spelrum_model::labels::{LABEL_BYTES_MAX, LABELS_MAX};
use spelrum_model::placement::QUOTA_PERIOD_MOST;
use spelrum_model::speed::Scaling;

use super::{Key, Kind};

/// The keys of `placement`.
pub(crate) const PLACEMENT: &[Key] = &[
    Key::new(
        "require",
        "Required labels",
        "Labels that a worker must have, all of them, to get games of this sweep: `[\"site=lab2\", \"gpu\"]`. \
         A label is `name=value`, or a name alone for any value; a list has at most 32.",
        Kind::Own(labels),
    ),
    Key::new(
        "prefer",
        "Preferred labels",
        "Workers with these labels, all of them, are given games of this sweep before those of others of the \
         same priority; workers that lack a label get them later.",
        Kind::Own(labels),
    ),
    Key::new(
        "speed_min",
        "Least speed",
        "A worker that is slower gets no timed games (nodes per second, as `spelrum speed` shows).",
        Kind::Whole { min: 1, max: Some(Scaling::REFERENCE_MAX as i64), default: None },
    ),
    Key::new(
        "noise_max",
        "Greatest noise",
        "A worker whose speed varies by more than this share, over time and between its slots (as `spelrum \
         speed` shows), gets no timed games.",
        Kind::Own(|| json!({ "type": "number", "minimum": 0, "maximum": 1 })),
    ),
    Key::new(
        "quota_period_max",
        "Longest period of a quota",
        "A worker without exclusive slots gets no timed games if its CPU quota has periods longer than this \
         share of the shortest time limit for a move.",
        Kind::Own(
            || json!({ "type": "number", "minimum": 0, "maximum": QUOTA_PERIOD_MOST, "default": 0.1 }),
        ),
    ),
];

fn labels() -> Json {
    let text =
        format!("^[A-Za-z0-9_.-]{{1,{LABEL_BYTES_MAX}}}(=[A-Za-z0-9_.-]{{0,{LABEL_BYTES_MAX}}})?$");
    json!({
        "type": "array",
        "items": { "type": "string", "pattern": text },
        "maxItems": LABELS_MAX,
    })
}
