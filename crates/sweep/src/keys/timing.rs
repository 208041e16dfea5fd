//! The keys of `timing`.

use serde_json::json;
use spelrum_model::disturbance::Timing;
use spelrum_model::speed::Scaling;

use super::{Key, Kind};

/// The keys of `timing`.
pub(crate) static TIMING: [Key; 5] = [
    Key::new(
        "disturbed_above",
        "Disturbed above",
        "A timed game is disturbed if the machine took more than this share of a player's time for other work. \
         Default: 0.05.",
        Kind::Own(
            || json!({ "type": "number", "minimum": 0, "maximum": 1, "default": Timing::DISTURBED_ABOVE }),
        ),
    ),
    Key::new(
        "disturbed",
        "Disturbed games",
        "\"count\": disturbed games count, with a mark. \"replay\": they are played again, and the last result \
         counts. Default: \"count\".",
        Kind::Word { words: &["count", "replay"], default: Some("count") },
    ),
    Key::new(
        "replays_max",
        "Most replays",
        "How often one game is played again at most, where disturbed games are. Default: 2.",
        Kind::Whole {
            min: 1,
            max: Some(Timing::REPLAYS_MAX as i64),
            default: Some(Timing::REPLAYS as i64),
        },
    ),
    Key::new(
        "reference_speed",
        "Reference speed",
        "Time limits are scaled by the speed of the worker: they are as the sweep says on one that visits so many nodes \
         a second (`spelrum speed`), longer on slower ones, and shorter on faster ones. Default: they are not.",
        Kind::Whole { min: 1, max: Some(Scaling::REFERENCE_MAX as i64), default: None },
    ),
    Key::new(
        "factor_max",
        "Greatest factor",
        "Scaled time limits last at most so many times as long as the sweep says, and at least one such part of it. \
         Default: 4.",
        Kind::Own(|| json!({ "type": "number", "minimum": 1, "maximum": 100, "default": 4 })),
    ),
];
