//! How long to wait before trying again: exponentially longer, with jitter, so that a thousand
//! workers do not come back to a restarted coordinator in the same instant.

use std::time::Duration;

use rand::RngExt as _;

/// The first wait, before jitter.
const FIRST: Duration = Duration::from_millis(50);

/// The longest wait.
const LONGEST: Duration = Duration::from_secs(10);

/// Waits after successive failures.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { next: FIRST, failures: 0 }
    }

    /// Failures so far.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// How long to wait after one more failure: never less than the other side asked for.
    pub(crate) fn wait(&mut self, asked_for: Option<Duration>) -> Duration {
        let wait = jittered(self.next.max(asked_for.unwrap_or_default()));
        self.next = (self.next * 2).min(LONGEST);
        self.failures += 1;
        wait
    }
}

/// Up to half as much again, by chance.
pub(crate) fn jittered(wait: Duration) -> Duration {
    wait + wait.mul_f64(rand::rng().random_range(0.0..0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_are_never_shorter_than_asked() {
        let mut backoff = Backoff::new();
        let mut at_least = FIRST;
        for failure in 0..40 {
            assert_eq!(backoff.failures(), failure);
            let wait = backoff.wait(None);
            assert!(at_least <= wait && wait <= at_least.mul_f64(1.5), "{wait:?}");
            at_least = (at_least * 2).min(LONGEST);
        }
        let asked = Duration::from_secs(60);
        let wait = backoff.wait(Some(asked));
        assert!(asked <= wait && wait <= asked.mul_f64(1.5));
    }
}
