//! How much there is of everything, told to whoever counts: from time to time, and never asked for, so that
//! nobody waits for the dispatcher.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Dispatcher;
use crate::metrics::Work;

/// How often: it takes time with the number of workers and of experiments that go on.
const INTERVAL: Duration = Duration::from_millis(500);

/// Who counts, and when it is told next.
pub(super) struct Publishing {
    pub(super) work: Arc<Work>,
    due: Instant,
}

impl Publishing {
    /// It is told at once.
    pub(super) fn new(work: Arc<Work>) -> Self {
        Self { work, due: Instant::now() }
    }

    /// When it is told next.
    pub(super) fn due(&self) -> Instant {
        self.due
    }
}

impl<S> Dispatcher<S> {
    /// Tells, if it is time.
    pub(super) fn publish_if_due(&mut self) {
        let now = Instant::now();
        if now < self.publishing.due {
            return;
        }
        self.publishing.due = now + INTERVAL;
        let workers = self.roster.heard_within(self.policy.lease_duration_ms, self.clock.now());
        // Without a scheduler, after a transaction that has failed, all stays as it was.
        if let Some(scheduler) = &self.scheduler {
            self.publishing.work.set(scheduler.counts(), workers, &scheduler.withheld());
        }
    }
}
