//! The clocks of this machine, for the engine, which has none.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::Host;

/// Wall time since it was made, and the processor time of the calling thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Host for Clock {
    fn wall(&self) -> Duration {
        self.start.elapsed()
    }

    fn cpu(&self) -> Duration {
        // This clock never shows a time that a `Duration` cannot hold.
        clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
    }
}
