//! The phases of a worker's life.

use crate::scheduler::Time;

/// A phase of a worker's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Working,
    /// The worker wants nothing more, lets its games end and reports them.
    Finishing {
        /// How long it tries to report, once all games are over.
        report_until: Option<Time>,
        /// Whether it was asked to end now: then this is the end of everything.
        now: bool,
    },
    /// All is reported, or cannot be: the remaining leases go back.
    GivingBack {
        until: Time,
    },
    Ended,
}
