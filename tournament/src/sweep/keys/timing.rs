//! The keys of `timing`.

use serde_json::json;

use super::{Key, Kind};
use crate::disturbance::Timing;

/// The keys of `timing`.
pub(in crate::sweep) static TIMING: [Key; 3] = [
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
];
