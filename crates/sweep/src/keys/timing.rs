//! The keys of `timing`.

use serde_json::json;
use spelrum_model::disturbance::Timing;
use spelrum_model::speed::Scaling;

use super::{Key, Kind};

/// The keys of `timing`.
pub(crate) const TIMING: &[Key] = &[
    Key::new(
        "disturbed_above",
        "Disturbed above",
        "A timed game counts as [disturbed](timing.md#disturbed-games) if other processes used more than this \
         share of a player's thinking time.",
        Kind::Own(
            || json!({ "type": "number", "minimum": 0, "maximum": 1, "default": Timing::DISTURBED_ABOVE }),
        ),
    ),
    Key::new(
        "disturbed",
        "Disturbed games",
        "`\"count\"`: disturbed games count, with a mark. `\"replay\"`: they are \
         [replayed](timing.md#playing-again), and the last result counts.",
        Kind::Word { words: &["count", "replay"], default: Some("count") },
    ),
    Key::new(
        "replays_max",
        "Most replays",
        "With `disturbed = \"replay\"`: how often one game is replayed at most.",
        Kind::Whole {
            min: 1,
            max: Some(Timing::REPLAYS_MAX as i64),
            default: Some(Timing::REPLAYS as i64),
        },
    ),
    Key::new(
        "reference_speed",
        "Reference speed",
        "Time limits are [scaled by the speed of workers](timing.md#limits-that-are-scaled): they are as the \
         sweep says on a worker of this speed (nodes per second; `spelrum speed` shows a machine's), longer \
         on slower workers and shorter on faster ones.",
        Kind::Whole { min: 1, max: Some(Scaling::REFERENCE_MAX as i64), default: None },
    ).by_default("not scaled"),
    Key::new(
        "factor_max",
        "Greatest factor",
        "Scaled time limits last at most so many times as long as the sweep says, and at least the inverse of \
         it.",
        Kind::Own(|| json!({ "type": "number", "minimum": 1, "maximum": 100, "default": 4 })),
    ),
];
