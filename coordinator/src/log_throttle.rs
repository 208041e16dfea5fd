//! Limits log lines about strangers, so that strangers cannot fill a disk with them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shortest time between two lines.
const APART: Duration = Duration::from_secs(10);

/// Decides when a line is due.
#[derive(Debug, Default)]
pub(crate) struct LogThrottle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    /// Events since the last line.
    count: u64,
}

impl LogThrottle {
    /// Records this many events. Returns the number since the last line if a line is due.
    pub(crate) fn record(&self, times: usize) -> Option<u64> {
        if times == 0 {
            return None;
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += times as u64;
        if state.last.is_some_and(|last| last.elapsed() < APART) {
            return None;
        }
        state.last = Some(Instant::now());
        Some(std::mem::take(&mut state.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_stands_for_many() {
        let throttle = LogThrottle::default();
        assert_eq!(throttle.record(0), None);
        assert_eq!(throttle.record(2), Some(2));
        assert_eq!(throttle.record(3), None);
        assert_eq!(throttle.record(1), None);
        throttle.0.lock().unwrap().last = None;
        assert_eq!(throttle.record(1), Some(5));
    }
}
