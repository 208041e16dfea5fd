//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// The wall-clock time in microseconds: for display, never for decisions, except for how long to keep unneeded data.
pub fn unix_now_us() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
