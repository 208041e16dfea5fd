//! Durations and results of a fleet's calls.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use spelrum_names::Names;
use spelrum_proto::v1::Verdict;

/// Times are exact to three figures, up to ten minutes.
const LONGEST_US: u64 = 600_000_000;
const FIGURES: u8 = 3;

/// A worker's call, in the order of a worker's life. The names are those of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "PascalCase")]
pub(crate) enum Call {
    Hello,
    GetCell,
    Lease,
    Report,
    Heartbeat,
    GiveBack,
}

/// Durations of one kind of call.
#[derive(Clone, Debug)]
pub(crate) struct CallTimes {
    /// Calls that were answered.
    pub(crate) answered: u64,
    /// Calls without an answer, or refused.
    pub(crate) failed: u64,
    /// The median of the answered calls, in microseconds.
    pub(crate) median_us: u64,
    pub(crate) p95_us: u64,
    pub(crate) p99_us: u64,
    pub(crate) longest_us: u64,
}

/// The measurements.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The measuring time.
    pub(crate) time: Duration,
    /// By kind of call.
    pub(crate) calls: [CallTimes; Call::ALL.len()],
    /// Games that were counted, and those reported but not counted.
    pub(crate) counted: u64,
    pub(crate) not_counted: u64,
    /// Leases granted, and requests without any work available.
    pub(crate) leases: u64,
    pub(crate) nothing_to_do: u64,
    /// Leases dropped at the coordinator's request.
    pub(crate) dropped: u64,
    /// How often a welcomed worker had to say Hello again.
    pub(crate) came_back: u64,
    /// The error of the first failed call.
    pub(crate) first_failure: Option<String>,
}

/// Shared by all workers.
#[derive(Debug)]
pub(crate) struct Tally(Mutex<Noted>);

#[derive(Debug)]
struct Noted {
    since: Instant,
    joined: u64,
    gave_up: Option<String>,
    calls: [Times; Call::ALL.len()],
    counted: u64,
    not_counted: u64,
    leases: u64,
    nothing_to_do: u64,
    dropped: u64,
    came_back: u64,
    first_failure: Option<String>,
}

#[derive(Clone, Debug)]
struct Times {
    answered: Option<Histogram<u64>>,
    failed: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self(Mutex::new(Noted::new(0, None)))
    }
}

impl Noted {
    fn new(joined: u64, gave_up: Option<String>) -> Self {
        Self {
            since: Instant::now(),
            joined,
            gave_up,
            // These bounds are valid.
            calls: std::array::from_fn(|_| Times {
                answered: Histogram::new_with_bounds(1, LONGEST_US, FIGURES).ok(),
                failed: 0,
            }),
            counted: 0,
            not_counted: 0,
            leases: 0,
            nothing_to_do: 0,
            dropped: 0,
            came_back: 0,
            first_failure: None,
        }
    }
}

impl Tally {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Discards everything but the workers present.
    pub(crate) fn begin(&self) {
        let mut noted = self.noted();
        *noted = Noted::new(noted.joined, noted.gave_up.take());
    }

    pub(crate) fn answered(&self, call: Call, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(LONGEST_US);
        if let Some(times) = &mut self.noted().calls[call as usize].answered {
            times.saturating_record(us);
        }
    }

    pub(crate) fn failed(&self, call: Call, problem: &str) {
        let mut noted = self.noted();
        noted.calls[call as usize].failed += 1;
        noted.first_failure.get_or_insert_with(|| format!("{}: {problem}", call.name()));
    }

    /// Counts a welcomed worker: for the first time, or again.
    pub(crate) fn welcomed(&self, is_first: bool) {
        let mut noted = self.noted();
        if is_first { noted.joined += 1 } else { noted.came_back += 1 }
    }

    pub(crate) fn joined(&self) -> u64 {
        self.noted().joined
    }

    pub(crate) fn leased(&self, is_granted: bool) {
        let mut noted = self.noted();
        if is_granted { noted.leases += 1 } else { noted.nothing_to_do += 1 }
    }

    pub(crate) fn dropped(&self, leases: usize) {
        self.noted().dropped += leases as u64;
    }

    pub(crate) fn reported(&self, verdicts: &[i32]) {
        let counted =
            verdicts.iter().filter(|verdict| **verdict == i32::from(Verdict::Counted)).count();
        let mut noted = self.noted();
        noted.counted += counted as u64;
        noted.not_counted += (verdicts.len() - counted) as u64;
    }

    pub(crate) fn give_up(&self, why: String) {
        self.noted().gave_up.get_or_insert(why);
    }

    pub(crate) fn gave_up(&self) -> Option<String> {
        self.noted().gave_up.clone()
    }

    pub(crate) fn measured(&self) -> Measured {
        let noted = self.noted();
        let calls = Call::ALL.map(|call| {
            let Times { answered, failed } = &noted.calls[call as usize];
            let at = |quantile: f64| {
                answered.as_ref().map_or(0, |times| times.value_at_quantile(quantile))
            };
            CallTimes {
                answered: answered.as_ref().map_or(0, Histogram::len),
                failed: *failed,
                median_us: at(0.5),
                p95_us: at(0.95),
                p99_us: at(0.99),
                longest_us: answered.as_ref().map_or(0, Histogram::max),
            }
        });
        Measured {
            time: noted.since.elapsed(),
            calls,
            counted: noted.counted,
            not_counted: noted.not_counted,
            leases: noted.leases,
            nothing_to_do: noted.nothing_to_do,
            dropped: noted.dropped,
            came_back: noted.came_back,
            first_failure: noted.first_failure.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_measured_and_forgotten() {
        let tally = Tally::default();
        tally.welcomed(true);
        for ms in 1..=100 {
            tally.answered(Call::Lease, Duration::from_millis(ms));
        }
        tally.failed(Call::Report, "no");
        tally.failed(Call::Lease, "later");
        let (counted, noted) = (i32::from(Verdict::Counted), i32::from(Verdict::Noted));
        tally.reported(&[counted, noted, counted]);
        tally.welcomed(false);
        let measured = tally.measured();
        let lease = &measured.calls[Call::Lease as usize];
        assert_eq!((lease.answered, lease.failed), (100, 1));
        let near = |us: u64, ms: u64| us.abs_diff(ms * 1_000) <= ms * 10;
        assert!(near(lease.median_us, 50) && near(lease.p99_us, 99), "{lease:?}");
        assert!(near(lease.longest_us, 100));
        assert_eq!((measured.counted, measured.not_counted, measured.came_back), (2, 1, 1));
        assert_eq!(measured.first_failure.as_deref(), Some("Report: no"));
        tally.begin();
        let measured = tally.measured();
        assert_eq!((measured.counted, measured.came_back, tally.joined()), (0, 0, 1));
        assert!(measured.calls.iter().all(|times| times.answered == 0 && times.failed == 0));
    }
}
