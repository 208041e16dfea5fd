//! A simultaneous reading of a host's clocks.

use std::time::Duration;

use crate::core::host::Host;

/// Both clocks at one moment, and the thread's interruptions up to then.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    wall: Duration,
    cpu: Duration,
    involuntary_switches: Option<u64>,
}

impl Reading {
    pub(crate) fn take(host: &dyn Host) -> Self {
        Self {
            wall: host.wall(),
            cpu: host.cpu(),
            involuntary_switches: host.involuntary_switches(),
        }
    }

    /// Wall and processor time since an earlier moment, in microseconds.
    pub(crate) fn since(self, earlier: Self) -> (u64, u64) {
        let us = |now: Duration, then: Duration| {
            u64::try_from(now.saturating_sub(then).as_micros()).unwrap_or(u64::MAX)
        };
        (us(self.wall, earlier.wall), us(self.cpu, earlier.cpu))
    }

    /// Involuntary context switches since an earlier moment, if known.
    pub(crate) fn switches_since(self, earlier: Self) -> Option<u64> {
        Some(self.involuntary_switches?.saturating_sub(earlier.involuntary_switches?))
    }
}
