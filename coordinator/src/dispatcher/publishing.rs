//! Pushes the current totals to the metrics periodically, so that no metrics request waits for the dispatcher.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Dispatcher;
use crate::metrics::Work;

/// Publishing interval: the cost grows with the number of workers and of active experiments.
const INTERVAL: Duration = Duration::from_millis(500);

/// The target metrics, and the next time they are updated.
pub(super) struct Publishing {
    pub(super) work: Arc<Work>,
    due: Instant,
}

impl Publishing {
    /// Publishes for the first time at once.
    pub(super) fn new(work: Arc<Work>) -> Self {
        Self { work, due: Instant::now() }
    }

    /// When the next update is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }
}

impl<S> Dispatcher<S> {
    /// Publishes if an update is due.
    pub(super) fn publish_if_due(&mut self) {
        let now = Instant::now();
        if now < self.publishing.due {
            return;
        }
        self.publishing.due = now + INTERVAL;
        let workers = self.roster.heard_within(self.policy.lease_duration_ms, self.clock.now());
        // Without a scheduler, after a failed transaction, the gauges stay as they were.
        if let Some(scheduler) = &self.scheduler {
            self.publishing.work.set(scheduler.counts(), workers, &scheduler.withheld());
        }
    }
}
