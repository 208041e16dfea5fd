//! The clock on the wall.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, by the clock on the wall, in microseconds: for people, never for decisions, but for how long what
/// nobody needs is kept.
pub fn unix_now_us() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
