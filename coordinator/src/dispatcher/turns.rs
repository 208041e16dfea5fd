//! The dispatcher's turns, and gaps between them: the process or its machine was stopped, or the disk was slow. No call
//! could be received then, so no worker counts as silent.

use spelrum_scheduling::scheduler::Time;

/// Turns in the life of a lease, also without any work.
const TURNS_PER_LEASE: u64 = 12;

/// When turns began.
#[derive(Debug)]
pub(super) struct Turns {
    /// Expected longest duration of a turn.
    turn_ms: u64,
    begun: Time,
    gap_ms: u64,
}

impl Turns {
    /// Begins the first turn now.
    pub(super) fn new(lease_duration_ms: u64, now: Time) -> Self {
        Self { turn_ms: (lease_duration_ms / TURNS_PER_LEASE).max(1), begun: now, gap_ms: 0 }
    }

    /// When the next turn begins at the latest.
    pub(super) fn next(&self) -> Time {
        Time(self.begun.0.saturating_add(self.turn_ms))
    }

    /// Begins a turn. If the previous one took more than twice as long as expected, the excess was a gap, and that turn
    /// ages a lease only by the expected time. So leases still age while every turn is slow.
    pub(super) fn begin(&mut self, now: Time) {
        let took_ms = now.0.saturating_sub(self.begun.0);
        self.begun = now;
        if took_ms > 2 * self.turn_ms {
            tracing::info!(
                "heard nobody for {took_ms} ms: this program was stopped, or its disk is slow; \
                 workers keep their games for that much longer"
            );
            self.gap_ms += took_ms - self.turn_ms;
        }
    }

    /// Total length of the gaps since the last call of this function.
    pub(super) fn take_gap_ms(&mut self) -> u64 {
        std::mem::take(&mut self.gap_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_in_time_leave_no_gap() {
        let mut turns = Turns::new(30_000, Time(100));
        assert_eq!(turns.next(), Time(2_600));
        for now in [200, 2_700, 5_300, 10_300] {
            turns.begin(Time(now));
        }
        assert_eq!(turns.take_gap_ms(), 0);
    }

    #[test]
    fn what_a_turn_takes_too_long_is_a_gap_once() {
        let mut turns = Turns::new(30_000, Time(0));
        turns.begin(Time(40_000));
        turns.begin(Time(41_000));
        turns.begin(Time(51_000));
        assert_eq!(turns.take_gap_ms(), 37_500 + 7_500);
        assert_eq!(turns.take_gap_ms(), 0);
    }

    #[test]
    fn leases_of_any_length_have_turns() {
        let mut turns = Turns::new(0, Time(0));
        assert_eq!(turns.next(), Time(1));
        turns.begin(Time(u64::MAX));
        assert_eq!(turns.next(), Time(u64::MAX));
    }
}
