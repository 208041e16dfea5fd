//! One call at a time of each kind: when to make it, and how long it may take.
//!
//! A call that was given up may still wait in the coordinator's queue: repeated at once and given up again,
//! it would only lengthen the queue. So the next call of its kind has twice the patience; or, where a longer
//! patience would delay other calls, it waits at least as long as the last one took. Heartbeats do neither:
//! repeated when the patience is over, they are still rarer than the coordinator wants them, and keep leases
//! alive.

use super::api::{Failure, Jitter};
use super::backoff::Backoff;
use crate::scheduler::Time;

/// Maximum number of times that patience doubles.
const DOUBLINGS_MAX: u32 = 3;

/// The calls of one kind.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    state: State,
    backoff: Backoff,
    manner: Manner,
    /// Calls given up, and requests for a Hello, since the last answer.
    timeouts: u32,
    hellos: u32,
}

/// The consequence of a call that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// More patience: the call delays no others.
    Patient,
    /// A rest: a call under way delays others.
    Reluctant,
    /// Only the usual wait.
    Regular,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    UnderWay {
        since: Time,
    },
    /// No call before this time.
    Waiting(Time),
}

impl Lane {
    pub(super) const fn new(manner: Manner) -> Self {
        Self { state: State::Free, backoff: Backoff::new(), manner, timeouts: 0, hellos: 0 }
    }

    /// Whether a call may be made.
    pub(super) fn is_open(&self, now: Time) -> bool {
        match self.state {
            State::Free => true,
            State::UnderWay { .. } => false,
            State::Waiting(until) => until <= now,
        }
    }

    /// Whether a call is under way.
    pub(super) const fn is_under_way(&self) -> bool {
        matches!(self.state, State::UnderWay { .. })
    }

    /// When a call may be made again, if it waits for that.
    pub(super) const fn opens_at(&self) -> Option<Time> {
        match self.state {
            State::Waiting(until) => Some(until),
            State::Free | State::UnderWay { .. } => None,
        }
    }

    /// Starts a call, and returns its patience in milliseconds, given that of the first.
    pub(super) fn begin(&mut self, now: Time, patience_ms: u64) -> u64 {
        self.state = State::UnderWay { since: now };
        match self.manner {
            Manner::Patient => patience_ms << self.timeouts.min(DOUBLINGS_MAX),
            Manner::Reluctant | Manner::Regular => patience_ms,
        }
    }

    /// The call has an answer, even if a refusal.
    pub(super) fn answered(&mut self) {
        *self = Self::new(self.manner);
    }

    /// The call has failed.
    pub(super) fn failed(&mut self, failure: &Failure, now: Time, jitter: Jitter) {
        let State::UnderWay { since } = self.state else { return };
        let at_least_ms = match failure {
            Failure::SayHello => {
                self.hellos += 1;
                if self.hellos == 1 {
                    // At once: the coordinator was restarted. If Hello does not help, the coordinator must
                    // not be flooded with it.
                    self.state = State::Free;
                    return;
                }
                0
            }
            Failure::TimedOut => {
                self.timeouts += 1;
                match self.manner {
                    Manner::Reluctant => now.0.saturating_sub(since.0),
                    Manner::Patient | Manner::Regular => 0,
                }
            }
            Failure::Elsewhere => {
                let wait_ms = Backoff::wait_elsewhere_ms(jitter);
                self.state = State::Waiting(Time(now.0.saturating_add(wait_ms)));
                return;
            }
            Failure::Away { retry_after_ms } => retry_after_ms.unwrap_or(0),
            Failure::Refused { .. } | Failure::Unwanted => 0,
        };
        let wait_ms = self.backoff.wait_ms(at_least_ms, jitter);
        self.state = State::Waiting(Time(now.0.saturating_add(wait_ms)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: Jitter = Jitter(0);

    #[test]
    fn a_call_that_was_given_up_is_not_made_again_and_again() {
        let mut patient = Lane::new(Manner::Patient);
        let mut reluctant = Lane::new(Manner::Reluctant);
        let mut regular = Lane::new(Manner::Regular);
        let mut now = Time(0);
        let mut patiences = Vec::new();
        for _ in 0..6 {
            let patience = patient.begin(now, 15_000);
            patiences.push(patience);
            now.0 += patience;
            patient.failed(&Failure::TimedOut, now, NO);
            now = patient.opens_at().unwrap();
        }
        assert_eq!(patiences, [15_000, 30_000, 60_000, 120_000, 120_000, 120_000]);
        for _ in 0..6 {
            assert_eq!(reluctant.begin(now, 15_000), 15_000);
            now.0 += 15_000;
            reluctant.failed(&Failure::TimedOut, now, NO);
            let next = reluctant.opens_at().unwrap();
            assert!(next.0 >= now.0 + 15_000);
            now = next;
        }
        for _ in 0..6 {
            assert_eq!(regular.begin(now, 15_000), 15_000);
            now.0 += 15_000;
            regular.failed(&Failure::TimedOut, now, NO);
            let next = regular.opens_at().unwrap();
            assert!(next.0 < now.0 + 15_000);
            now = next;
        }
        patient.begin(now, 15_000);
        patient.answered();
        assert!(patient.is_open(now));
        assert_eq!(patient.begin(now, 15_000), 15_000);
    }

    #[test]
    fn a_coordinator_that_is_new_is_called_at_once_but_only_once() {
        let mut lane = Lane::new(Manner::Patient);
        lane.begin(Time(0), 15_000);
        assert!(lane.is_under_way() && !lane.is_open(Time(9)));
        lane.failed(&Failure::SayHello, Time(0), NO);
        assert!(lane.is_open(Time(0)));
        lane.begin(Time(0), 15_000);
        lane.failed(&Failure::SayHello, Time(0), NO);
        assert!(!lane.is_open(Time(0)) && lane.is_open(Time(50)));
        lane.begin(Time(50), 15_000);
        lane.failed(&Failure::Away { retry_after_ms: Some(777) }, Time(50), NO);
        assert_eq!(lane.opens_at(), Some(Time(827)));
    }

    #[test]
    fn waits_grow_once_all_addresses_were_tried() {
        let mut lane = Lane::new(Manner::Patient);
        let mut now = Time(0);
        let mut waits = Vec::new();
        for _ in 0..3 {
            for failure in [Failure::Elsewhere, Failure::Away { retry_after_ms: None }] {
                lane.begin(now, 15_000);
                lane.failed(&failure, now, NO);
                let next = lane.opens_at().unwrap();
                waits.push(next.0 - now.0);
                now = next;
            }
        }
        assert_eq!(waits, [50, 50, 50, 100, 50, 200]);
    }
}
