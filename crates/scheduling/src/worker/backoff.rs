//! Waits between retries: exponentially longer, with jitter, so that a thousand workers do not come back to a
//! restarted coordinator in the same instant.

use super::api::Jitter;

/// The first wait, before jitter, in milliseconds.
const FIRST_MS: u64 = 50;

/// The longest wait, before jitter: games go on soon after a coordinator is back or another one has taken over, and ten
/// thousand workers that wait for it make some thousand attempts a second, which are refused cheaply.
const LONGEST_MS: u64 = 2_000;

/// Waits after successive failures.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    next_ms: u64,
}

impl Backoff {
    pub(super) const fn new() -> Self {
        Self { next_ms: FIRST_MS }
    }

    /// The wait before another address is tried, which may answer though this one did not.
    pub(super) fn wait_elsewhere_ms(jitter: Jitter) -> u64 {
        jitter.longer(FIRST_MS)
    }

    /// The wait after one more failure: never less than asked for.
    pub(super) fn wait_ms(&mut self, at_least_ms: u64, jitter: Jitter) -> u64 {
        let wait = jitter.longer(self.next_ms.max(at_least_ms));
        self.next_ms = (self.next_ms * 2).min(LONGEST_MS);
        wait
    }
}

impl Jitter {
    /// This many milliseconds, and up to half as many again.
    pub(super) fn longer(self, ms: u64) -> u64 {
        let more = (u128::from(ms) * u128::from(self.0)) >> 33;
        ms.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_are_never_shorter_than_asked() {
        for jitter in [0, 1 << 31, u32::MAX].map(Jitter) {
            let mut backoff = Backoff::new();
            let mut at_least = FIRST_MS;
            for _ in 0..40 {
                let wait = backoff.wait_ms(0, jitter);
                assert!(at_least <= wait && wait <= at_least * 3 / 2, "{wait}");
                at_least = (at_least * 2).min(LONGEST_MS);
            }
            let wait = backoff.wait_ms(60_000, jitter);
            assert!((60_000..=90_000).contains(&wait));
        }
        assert_eq!(Jitter(0).longer(100), 100);
        assert_eq!(Jitter(1 << 31).longer(100), 125);
        assert_eq!(Jitter(u32::MAX).longer(u64::MAX), u64::MAX);
    }
}
