//! When workers without games ask again.

use std::time::Duration;

use spelrum_scheduling::scheduler::Time;

/// Spacing of the calls of workers without games, however many there are: 200 calls a second.
const APART_MS: u64 = 5;

/// No worker waits longer, even if the calls then come more often: the first games of a new experiment would wait as
/// long.
const WAIT_MS_MAX: u64 = 30_000;

/// When the last of the waiting workers is due back.
#[derive(Debug, Default)]
pub(super) struct Idlers {
    last: Time,
}

impl Idlers {
    /// When a worker without games should ask again; the scheduler demands a wait of at least `at_least`.
    pub(super) fn retry_after(&mut self, at_least: Duration, now: Time) -> Duration {
        let at_least_ms = u64::try_from(at_least.as_millis()).unwrap_or(u64::MAX);
        let earliest = now.0.saturating_add(at_least_ms);
        let latest = now.0.saturating_add(WAIT_MS_MAX).max(earliest);
        self.last = Time(self.last.0.saturating_add(APART_MS).clamp(earliest, latest));
        Duration::from_millis(self.last.0 - now.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const AT_LEAST: Duration = Duration::from_millis(500);

    /// Calls in a minute from this many workers that never get any games.
    fn calls_in_a_minute(workers: u64) -> usize {
        let mut idlers = Idlers::default();
        let mut coming: BTreeSet<_> = (0..workers).map(|worker| (0, worker)).collect();
        let mut calls = 0;
        while let Some((at, worker)) = coming.pop_first()
            && at < 120_000
        {
            // Not the first minute: all of them come at once at the start.
            calls += usize::from(at >= 60_000);
            let wait = idlers.retry_after(AT_LEAST, Time(at));
            assert!(wait >= AT_LEAST && wait <= Duration::from_millis(WAIT_MS_MAX));
            coming.insert((at + u64::try_from(wait.as_millis()).unwrap(), worker));
        }
        calls
    }

    #[test]
    fn a_few_workers_ask_as_often_as_the_scheduler_wants() {
        assert_eq!(calls_in_a_minute(1), 120);
        assert_eq!(calls_in_a_minute(50), 50 * 120);
    }

    #[test]
    fn the_calls_of_many_idle_workers_are_bounded() {
        let bound = 60 * 1_000 / usize::try_from(APART_MS).unwrap();
        assert!(calls_in_a_minute(1_000) <= bound);
        assert!(calls_in_a_minute(5_000) <= bound);
        // The largest number of workers: each comes every half minute.
        assert!(calls_in_a_minute(10_000) <= 2 * 10_000);
    }

    #[test]
    fn who_is_alone_again_waits_no_longer_than_before_the_crowd() {
        let mut idlers = Idlers::default();
        for _ in 0..1_000 {
            idlers.retry_after(AT_LEAST, Time(0));
        }
        assert!(idlers.retry_after(AT_LEAST, Time(0)) > Duration::from_secs(5));
        assert_eq!(idlers.retry_after(AT_LEAST, Time(20_000)), AT_LEAST);
    }

    #[test]
    fn a_long_wait_that_the_scheduler_wants_is_kept() {
        let long = Duration::from_millis(2 * WAIT_MS_MAX);
        assert_eq!(Idlers::default().retry_after(long, Time(7)), long);
    }
}
