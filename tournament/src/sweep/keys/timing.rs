//! The keys of `timing`.

use serde_json::json;

use super::{Key, Kind};
use crate::disturbance::Timing;

/// The keys of `timing`.
pub(in crate::sweep) static TIMING: [Key; 1] = [Key::new(
    "disturbed_above",
    "Disturbed above",
    "A timed game is disturbed if the machine took more than this share of a player's time for other work. \
     Default: 0.05.",
    Kind::Own(
        || json!({ "type": "number", "minimum": 0, "maximum": 1, "default": Timing::DISTURBED_ABOVE }),
    ),
)];
