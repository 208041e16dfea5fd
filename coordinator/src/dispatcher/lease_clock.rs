//! The age of leases, by a clock that may be set.
//!
//! Grants are stored by the system's clock, which outlives a restart. If the clock is set back during a run, the time
//! since a grant would come out too short and honest results would be refused, so the step is added again. If the clock
//! is set back between two runs, results of earlier grants are accepted as far as the step is detectable.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Follows the system's clock.
#[derive(Debug)]
pub(super) struct LeaseClock {
    started: Instant,
    started_unix_us: i64,
    /// The smallest lag of the system's clock behind the monotonic one.
    least_lag_us: i64,
}

/// The clock at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    unix_us: i64,
    /// The most that the system's clock can have been set back since the first grant of this run.
    set_back_us: i64,
}

impl LeaseClock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), started_unix_us: unix_us(), least_lag_us: 0 }
    }

    pub(super) fn read(&mut self) -> Reading {
        let passed = i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX);
        self.read_at(passed, unix_us())
    }

    fn read_at(&mut self, passed_us: i64, unix_us: i64) -> Reading {
        let lag_us = passed_us.saturating_sub(unix_us.saturating_sub(self.started_unix_us));
        self.least_lag_us = self.least_lag_us.min(lag_us);
        Reading { unix_us, set_back_us: lag_us.saturating_sub(self.least_lag_us) }
    }
}

impl Reading {
    /// The longest possible time since a grant; `None` if the grant lies in the future, as after the clock was set
    /// back.
    pub(super) fn since(self, granted_unix_us: i64) -> Option<Duration> {
        let us = self.unix_us.saturating_sub(granted_unix_us).saturating_add(self.set_back_us);
        u64::try_from(us).ok().map(Duration::from_micros)
    }
}

fn unix_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn clock() -> LeaseClock {
        LeaseClock { started: Instant::now(), started_unix_us: 100 * HOUR, least_lag_us: 0 }
    }

    fn hours(since: Option<Duration>) -> Option<i64> {
        since.map(|since| i64::try_from(since.as_micros()).unwrap() / HOUR)
    }

    #[test]
    fn time_passes_as_it_does() {
        let mut clock = clock();
        assert_eq!(hours(clock.read_at(2 * HOUR, 102 * HOUR).since(101 * HOUR)), Some(1));
        // Granted by an earlier run.
        assert_eq!(hours(clock.read_at(3 * HOUR, 103 * HOUR).since(50 * HOUR)), Some(53));
    }

    #[test]
    fn a_clock_that_is_set_back_takes_no_time_away() {
        let mut clock = clock();
        clock.read_at(HOUR, 101 * HOUR);
        // Granted at 101; then the clock is set back by five hours, and two pass.
        assert_eq!(hours(clock.read_at(3 * HOUR, 98 * HOUR).since(101 * HOUR)), Some(2));
        // The clock was ahead by five hours at this grant, and was corrected since.
        let mut clock = self::clock();
        clock.read_at(HOUR, 106 * HOUR);
        assert_eq!(hours(clock.read_at(3 * HOUR, 103 * HOUR).since(106 * HOUR)), Some(2));
        // Set back while no coordinator ran.
        assert_eq!(self::clock().read_at(HOUR, 101 * HOUR).since(102 * HOUR), None);
    }

    /// A suspended machine's monotonic clock stands still, while a worker on another machine plays on.
    #[test]
    fn a_suspended_machine_counts_the_time_of_its_sleep() {
        let mut clock = clock();
        assert_eq!(hours(clock.read_at(HOUR, 110 * HOUR).since(100 * HOUR)), Some(10));
    }
}
