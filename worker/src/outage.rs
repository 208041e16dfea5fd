//! Decides when to log an outage of the coordinator: once, if it lasts.

use std::time::{Duration, Instant};

/// The duration of an outage before it is logged.
const ANNOUNCED_AFTER: Duration = Duration::from_secs(2);

/// An outage of the coordinator; a connection that is reset and back at once does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outage {
    #[default]
    None,
    /// No answer since this moment.
    Since(Instant),
    /// It was logged, with or without a remedy: a connection may end without a reason, which the next one may
    /// give.
    Announced { remedy: bool },
}

impl Outage {
    /// Records a failed call after this wait. Returns whether to log it.
    pub(crate) fn failed(&mut self, now: Instant, waited: Duration, has_remedy: bool) -> bool {
        let since = match *self {
            Self::None => now.checked_sub(waited).unwrap_or(now),
            Self::Since(since) => since,
            Self::Announced { remedy } => {
                *self = Self::Announced { remedy: remedy || has_remedy };
                return has_remedy && !remedy;
            }
        };
        let is_announced = now.duration_since(since) >= ANNOUNCED_AFTER;
        *self =
            if is_announced { Self::Announced { remedy: has_remedy } } else { Self::Since(since) };
        is_announced
    }

    /// Records an answered call. Returns whether to log it.
    pub(crate) fn answered(&mut self) -> bool {
        matches!(std::mem::take(self), Self::Announced { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_that_lasts_is_logged_once() {
        let start = Instant::now() + Duration::from_secs(60);
        let mut outage = Outage::default();
        let failed = |outage: &mut Outage, ms, has_remedy| {
            outage.failed(start + Duration::from_millis(ms), Duration::ZERO, has_remedy)
        };
        assert!(!failed(&mut outage, 0, false));
        assert!(!outage.answered(), "a reset that was over at once");
        assert!(!failed(&mut outage, 5_000, false) && !failed(&mut outage, 6_900, true));
        assert!(failed(&mut outage, 7_000, false) && !failed(&mut outage, 9_000, false));
        assert!(failed(&mut outage, 9_500, true), "what to do about it was not known before");
        assert!(!failed(&mut outage, 9_600, true) && !failed(&mut outage, 9_700, false));
        assert!(outage.answered() && !outage.answered());
        let waited = Duration::from_secs(15);
        let later = start + Duration::from_secs(30);
        assert!(outage.failed(later, waited, false), "it has waited for long");
    }
}
