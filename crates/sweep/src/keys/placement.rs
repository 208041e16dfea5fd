//! The keys of `placement`.

use serde_json::{Value as Json, json};
use spelrum_model::labels::{LABEL_BYTES_MAX, LABELS_MAX};
use spelrum_model::placement::QUOTA_PERIOD_MOST;
use spelrum_model::speed::Scaling;

use super::{Key, Kind};

/// The keys of `placement`.
pub(crate) static PLACEMENT: [Key; 5] = [
    Key::new(
        "require",
        "Required labels",
        "Labels that a worker must have to get games of this sweep, each of them: \"site=lab2\", or \"gpu\", whatever its \
         value is.",
        Kind::Own(labels),
    ),
    Key::new(
        "prefer",
        "Preferred labels",
        "Workers that have all these labels get games of this sweep sooner than those of others of the same priority, \
         workers that lack one get them later.",
        Kind::Own(labels),
    ),
    Key::new(
        "speed_min",
        "Least speed",
        "Workers that visit fewer nodes a second (`spelrum speed`) get no timed games of this sweep. Default: all get \
         them.",
        Kind::Whole { min: 1, max: Some(Scaling::REFERENCE_MAX as i64), default: None },
    ),
    Key::new(
        "noise_max",
        "Greatest noise",
        "Workers whose speed differs by more than this share between short spells and between slots (`spelrum speed`) \
         get no timed games of this sweep. Default: all get them.",
        Kind::Own(|| json!({ "type": "number", "minimum": 0, "maximum": 1 })),
    ),
    Key::new(
        "quota_period_max",
        "Longest period of a quota",
        "Workers without quiet slots whose CPU time is limited in each period get no timed games of this sweep if a \
         period is longer than this share of the shortest time limit for a move. Default: 0.1.",
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
