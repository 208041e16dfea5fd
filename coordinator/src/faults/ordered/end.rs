//! Ends the process at a named point, as ordered by a test through the environment: really, by SIGKILL.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};
use spelrum_names::Names;

/// Names the point and how often it is passed before: `after-commit 3` is the fourth time.
const ORDER: &str = "SPELRUM_TEST_KILL_AT";

/// A point where a process can be ordered to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "kebab-case")]
pub(super) enum Point {
    /// Everything is written, and nothing is committed.
    BeforeCommit,
    /// The transaction is on disk, and no answer has been sent.
    AfterCommit,
    /// The transaction is on disk, and one answer has been sent.
    AmidAnswers,
}

/// The ordered end, if any.
#[derive(Debug, Default)]
pub(super) struct End(Option<(Point, AtomicU32)>);

impl End {
    /// Reads the order from the environment.
    ///
    /// # Panics
    /// If the order is invalid: no test should pass because nothing happened.
    pub(super) fn from_environment() -> Self {
        let Ok(order) = std::env::var(ORDER) else { return Self::default() };
        let read = order.split_once(' ').and_then(|(point, passes)| {
            Some((Point::named(point)?, AtomicU32::new(passes.parse().ok()?)))
        });
        assert!(read.is_some(), "{ORDER} is not an order: {order:?}");
        Self(read)
    }

    /// Ends the process if this is the ordered point.
    pub(super) fn reached(&self, point: Point) {
        let Some((_, passes)) = self.0.as_ref().filter(|(at, _)| *at == point) else { return };
        let passed =
            passes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |passes| passes.checked_sub(1));
        if passed.is_err() {
            let _dead = kill_process(getpid(), Signal::KILL);
            // Other threads may go on until the signal arrives, but not this one.
            loop {
                std::thread::park();
            }
        }
    }
}
