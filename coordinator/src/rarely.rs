//! Log lines about what strangers do, so seldom that strangers cannot fill a disk with them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One line in so long at most.
const APART: Duration = Duration::from_secs(10);

/// Says when it is time for a line.
#[derive(Debug, Default)]
pub(crate) struct Rarely(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    /// What has happened since the last line.
    count: u64,
}

impl Rarely {
    /// It has happened so many times: how often since the last line, if there is to be one now.
    pub(crate) fn happened(&self, times: usize) -> Option<u64> {
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
        let rarely = Rarely::default();
        assert_eq!(rarely.happened(0), None);
        assert_eq!(rarely.happened(2), Some(2));
        assert_eq!(rarely.happened(3), None);
        assert_eq!(rarely.happened(1), None);
        rarely.0.lock().unwrap().last = None;
        assert_eq!(rarely.happened(1), Some(5));
    }
}
