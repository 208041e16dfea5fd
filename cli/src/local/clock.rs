//! This machine's clocks, for the engine, which has none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::Host;

/// Wall time since construction, and the CPU time of the calling thread.
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
        // This clock's times always fit a `Duration`.
        clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
    }
}

/// A clock that stops the search once the caller has given up.
pub(crate) struct Patience {
    clock: Clock,
    given_up: Arc<AtomicBool>,
}

impl Patience {
    /// Setting `given_up` stops the search.
    pub(crate) fn new(given_up: &Arc<AtomicBool>) -> Self {
        Self { clock: Clock::default(), given_up: Arc::clone(given_up) }
    }
}

impl Host for Patience {
    fn wall(&self) -> Duration {
        self.clock.wall()
    }

    fn cpu(&self) -> Duration {
        self.clock.cpu()
    }

    fn aborted(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}
