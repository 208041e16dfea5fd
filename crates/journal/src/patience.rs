//! When a coordinator may take a database over.

use std::time::Duration;

/// How long an owner must be silent.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// How long the owner has been silent, by this coordinator's own monotonic clock. Nobody else's clock matters: only that
/// the owner's beat, which grows, was the same at both ends of an interval of ours.
#[derive(Debug)]
pub(crate) struct Patience {
    silence: Duration,
    seen: Option<Seen>,
}

#[derive(Debug)]
struct Seen {
    term: i64,
    beat: i64,
    /// When the answer had arrived that was the first with this beat.
    since: Duration,
}

impl Patience {
    pub(crate) fn new(silence: Duration) -> Self {
        Self { silence, seen: None }
    }

    /// Takes in what the server answered; returns whether the owner is silent for long enough. The question was sent at
    /// `asked` and answered at `answered`, and the beat was read at some time between: the interval that counts begins
    /// with an answer and ends with a question.
    pub(crate) fn is_over(
        &mut self,
        (term, beat): (i64, i64),
        asked: Duration,
        answered: Duration,
    ) -> bool {
        match &self.seen {
            Some(seen) if (seen.term, seen.beat) == (term, beat) => {
                asked.saturating_sub(seen.since) >= self.silence
            }
            _ => {
                self.seen = Some(Seen { term, beat, since: answered });
                false
            }
        }
    }

    /// Begins anew: the server did not answer, so that the owner may not have reached it either.
    pub(crate) fn begin_anew(&mut self) {
        self.seen = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silence_that_was_watched_counts() {
        let seconds = Duration::from_secs;
        let mut patience = Patience::new(seconds(10));
        assert!(!patience.is_over((1, 1), seconds(0), seconds(3)));
        assert!(!patience.is_over((1, 1), seconds(12), seconds(20)), "9 s since the first answer");
        assert!(patience.is_over((1, 1), seconds(13), seconds(14)));
        assert!(!patience.is_over((1, 2), seconds(15), seconds(15)), "it is alive");
        assert!(!patience.is_over((2, 2), seconds(26), seconds(26)), "another one is alive");
        patience.begin_anew();
        assert!(!patience.is_over((2, 2), seconds(40), seconds(40)), "the server was away");
        assert!(patience.is_over((2, 2), seconds(50), seconds(50)));
    }
}
