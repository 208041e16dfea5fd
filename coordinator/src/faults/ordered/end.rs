//! A process that ends at a named point, as a test orders by the environment: a real one, by SIGKILL.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// Names the point and how often it is passed before: `after-commit 3` is the fourth time.
const ORDER: &str = "SPELRUM_TEST_KILL_AT";

/// Where a process may be ordered to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// Everything is written, and nothing is committed.
    BeforeCommit,
    /// It is on disk, and nobody has heard of it.
    AfterCommit,
    /// It is on disk, and one has heard of it.
    AmidAnswers,
}

impl Point {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "before-commit" => Self::BeforeCommit,
            "after-commit" => Self::AfterCommit,
            "amid-answers" => Self::AmidAnswers,
            _ => return None,
        })
    }
}

/// The end that is ordered, if one is.
#[derive(Debug, Default)]
pub(super) struct End(Option<(Point, AtomicU32)>);

impl End {
    /// What the environment orders.
    ///
    /// # Panics
    /// If that is not understood: no test should pass because nothing happened.
    pub(super) fn from_environment() -> Self {
        let Ok(order) = std::env::var(ORDER) else { return Self::default() };
        let read = order.split_once(' ').and_then(|(point, passes)| {
            Some((Point::of(point)?, AtomicU32::new(passes.parse().ok()?)))
        });
        assert!(read.is_some(), "{ORDER} is not an order: {order:?}");
        Self(read)
    }

    /// Ends the process if this is where it was ordered to.
    pub(super) fn reached(&self, point: Point) {
        let Some((_, passes)) = self.0.as_ref().filter(|(at, _)| *at == point) else { return };
        let passed =
            passes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |passes| passes.checked_sub(1));
        if passed.is_err() {
            let _dead = kill_process(getpid(), Signal::KILL);
            // Whatever goes on until the signal is heeded, it is not this.
            loop {
                std::thread::park();
            }
        }
    }
}
