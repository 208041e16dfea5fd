//! Where a worker is in its life.

use crate::scheduler::Time;

/// Where a worker is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Working,
    /// It wants nothing more, lets its games end and reports them.
    Finishing {
        /// How long it tries to report, once all games are over.
        report_until: Option<Time>,
        /// Whether it was told to end now: then this is the end of everything.
        now: bool,
    },
    /// All is reported, or cannot be: what is left goes back.
    GivingBack {
        until: Time,
    },
    Ended,
}
