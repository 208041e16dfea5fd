//! Finished results on their way to the coordinator, kept until acknowledged.

use std::collections::VecDeque;
use std::sync::Arc;

use spelrum_model::LeaseId;

use super::api::Outcome;
use crate::scheduler::Time;

/// Number of results that triggers a report: enough that the cost of a transaction is shared, few enough that
/// one takes some milliseconds.
pub(super) const REPORT_RESULTS: usize = 512;

/// Size that triggers a report, and its maximum unless its first result is larger.
pub(super) const REPORT_BYTES: usize = 1 << 20;

/// Age of the first result that triggers a report.
const REPORT_AFTER_MS: u64 = 200;

/// Load, in results or in bytes, at which no new lease is requested (invariant 9).
pub(super) const FULL: Load = Load { results: 16 * REPORT_RESULTS, bytes: 64 * REPORT_BYTES };

/// Load, in results or in bytes, at which no game is begun: otherwise the games of held leases might bring
/// results without a bound.
pub(super) const BRIMMING: Load = Load { results: 2 * FULL.results, bytes: 2 * FULL.bytes };

/// Results, as a load on the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) results: usize,
    pub(super) bytes: usize,
}

/// The results. Results being reported count until acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Outbox<R> {
    waiting: VecDeque<(usize, R)>,
    waiting_bytes: usize,
    /// When the first of these came, or became the first.
    waiting_since: Time,
    /// Results being reported, in pieces sent one after another: the first is repeated until acknowledged.
    pieces: VecDeque<Arc<Vec<R>>>,
    /// Load of all results.
    load: Load,
}

/// The outcome of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A changed report is sent instead.
    SayAgain,
    /// The failure of a game of this lease cannot be reported at all.
    GivenUp(LeaseId),
}

impl<R: Outcome> Outbox<R> {
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waiting_since: Time(0),
            pieces: VecDeque::new(),
            load: Load::default(),
        }
    }

    /// Puts a result in.
    pub(super) fn push(&mut self, result: R, now: Time) {
        if self.waiting.is_empty() {
            self.waiting_since = now;
        }
        let bytes = result.bytes();
        self.waiting_bytes += bytes;
        self.load.results += 1;
        self.load.bytes += bytes;
        self.waiting.push_back((bytes, result));
    }

    /// Load of unacknowledged results.
    pub(super) const fn load(&self) -> Load {
        self.load
    }

    /// Whether the load is at least this, in results or in bytes.
    pub(super) const fn has(&self, load: Load) -> bool {
        self.load.results >= load.results || self.load.bytes >= load.bytes
    }

    /// Whether a report is due; `hurry` if no further results will come.
    pub(super) fn is_due(&self, results_max: usize, hurry: bool, now: Time) -> bool {
        !self.pieces.is_empty()
            || !self.waiting.is_empty()
                && (hurry
                    || self.waiting.len() >= results_max.min(REPORT_RESULTS)
                    || self.waiting_bytes >= REPORT_BYTES
                    || self.due_at().is_some_and(|at| at <= now))
    }

    /// The latest time of the next report.
    pub(super) fn due_at(&self) -> Option<Time> {
        (!self.waiting.is_empty()).then(|| Time(self.waiting_since.0 + REPORT_AFTER_MS))
    }

    /// The next report, if any: unchanged until acknowledged or refused.
    pub(super) fn report(&mut self, results_max: usize, now: Time) -> Option<Arc<Vec<R>>> {
        if self.pieces.is_empty() {
            let results = self.take(results_max.min(REPORT_RESULTS), now);
            if !results.is_empty() {
                self.pieces.push_back(Arc::new(results));
            }
        } else if let Some(first) = self.pieces.front()
            && first.len() > results_max
        {
            // A restarted coordinator may accept fewer at once.
            self.split(results_max);
        }
        self.pieces.front().cloned()
    }

    fn take(&mut self, results_max: usize, now: Time) -> Vec<R> {
        let mut bytes = 0;
        let mut results = Vec::new();
        while let Some((more, _)) = self.waiting.front()
            && results.len() < results_max
            && (results.is_empty() || bytes + more <= REPORT_BYTES)
            && let Some((more, result)) = self.waiting.pop_front()
        {
            bytes += more;
            results.push(result);
        }
        self.waiting_bytes -= bytes;
        self.waiting_since = now;
        results
    }

    fn split(&mut self, at: usize) {
        if let Some(first) = self.pieces.pop_front() {
            let mut first = Arc::unwrap_or_clone(first);
            let second = first.split_off(at.min(first.len()));
            for piece in [second, first] {
                if !piece.is_empty() {
                    self.pieces.push_front(Arc::new(piece));
                }
            }
        }
    }

    /// Removes and returns the acknowledged results: the first `count` of the last report.
    pub(super) fn acknowledged(&mut self, count: usize) -> Vec<R> {
        self.split(count);
        if count == 0 {
            return Vec::new();
        }
        let results = self.pieces.pop_front().map(Arc::unwrap_or_clone).unwrap_or_default();
        self.load.results -= results.len();
        self.load.bytes -= results.iter().map(Outcome::bytes).sum::<usize>();
        results
    }

    /// Handles a final refusal of the last report. Finds the unacceptable result by halving, and replaces it
    /// with a failure of its game, so that its lease can end.
    pub(super) fn refused(&mut self, problem: &str) -> Option<Refused> {
        let first = self.pieces.front()?;
        if first.len() > 1 {
            self.split(first.len() / 2);
            return Some(Refused::SayAgain);
        }
        let result = self.acknowledged(1).pop()?;
        let Some(failure) = result.refused(problem) else {
            return Some(Refused::GivenUp(result.lease()));
        };
        self.load.results += 1;
        self.load.bytes += failure.bytes();
        self.pieces.push_front(Arc::new(vec![failure]));
        Some(Refused::SayAgain)
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Every result that is kept.
    pub(super) fn results(&self) -> impl Iterator<Item = &R> {
        let under_way = self.pieces.iter().flat_map(|piece| piece.iter());
        under_way.chain(self.waiting.iter().map(|(_, result)| result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number, as a result of this many bytes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Numbered(u64, usize);

    impl Outcome for Numbered {
        fn lease(&self) -> LeaseId {
            LeaseId(1)
        }

        fn bytes(&self) -> usize {
            self.1
        }

        fn is_failure(&self) -> bool {
            self.1 == 0
        }

        fn refused(&self, _problem: &str) -> Option<Self> {
            (!self.is_failure()).then_some(Self(self.0, 0))
        }
    }

    fn outbox(results: &[Numbered]) -> Outbox<Numbered> {
        let mut outbox = Outbox::new();
        results.iter().for_each(|result| outbox.push(result.clone(), Time(0)));
        outbox
    }

    fn results(count: u64) -> Vec<Numbered> {
        (0..count).map(|number| Numbered(number, 10)).collect()
    }

    /// All reports, each acknowledged at once.
    fn all(outbox: &mut Outbox<Numbered>) -> Vec<Vec<Numbered>> {
        let mut reports = Vec::new();
        while let Some(report) = outbox.report(usize::MAX, Time(0)) {
            assert_eq!(outbox.acknowledged(report.len()), *report);
            reports.push(report.to_vec());
        }
        assert_eq!(outbox.load(), Load::default());
        reports
    }

    #[test]
    fn reports_hold_every_result_once_in_order() {
        let expected = results(1_503);
        let reports = all(&mut outbox(&expected));
        assert!(reports.iter().all(|report| (1..=REPORT_RESULTS).contains(&report.len())));
        assert_eq!(reports.concat(), expected);
    }

    #[test]
    fn a_report_is_bounded_in_bytes_and_never_empty() {
        let sizes = [2, 2, 10, 2, 2].map(|fifths| Numbered(0, REPORT_BYTES * fifths / 5));
        let lengths: Vec<_> = all(&mut outbox(&sizes)).iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 1, 2]);
    }

    #[test]
    fn a_report_goes_out_when_it_is_large_old_or_the_last() {
        let is_due =
            |results: &[Numbered], hurry, now| outbox(results).is_due(usize::MAX, hurry, Time(now));
        assert!(!is_due(&[], true, 1_000));
        assert!(!is_due(&results(511), false, 199));
        assert!(is_due(&results(511), false, 200));
        assert!(is_due(&results(1), true, 0));
        assert!(is_due(&results(512), false, 0));
        assert!(is_due(&[Numbered(0, REPORT_BYTES)], false, 0), "bytes count as well");
        assert!(outbox(&results(3)).is_due(3, false, Time(0)), "as many as the coordinator takes");
    }

    #[test]
    fn what_is_under_way_is_kept_as_it_is_until_it_is_acknowledged() {
        let mut outbox = outbox(&results(2));
        let first = outbox.report(9, Time(0)).unwrap();
        outbox.push(Numbered(2, 10), Time(0));
        assert_eq!(outbox.report(9, Time(0)), Some(first));
        assert_eq!(outbox.load(), Load { results: 3, bytes: 30 });
        assert_eq!(outbox.acknowledged(1), [Numbered(0, 10)]);
        assert_eq!(*outbox.report(9, Time(0)).unwrap(), [Numbered(1, 10)]);
        assert_eq!(outbox.acknowledged(1), [Numbered(1, 10)]);
        assert_eq!(*outbox.report(9, Time(0)).unwrap(), [Numbered(2, 10)]);
    }

    #[test]
    fn the_result_that_cannot_be_taken_is_found_by_halving() {
        let mut outbox = outbox(&results(11));
        let mut taken = Vec::new();
        let mut given_up = 0;
        while let Some(report) = outbox.report(usize::MAX, Time(0)) {
            if report.iter().any(|result| result.0 == 7 && result.1 > 0 || result.0 == 9) {
                given_up += u32::from(outbox.refused("no") == Some(Refused::GivenUp(LeaseId(1))));
            } else {
                taken.extend(outbox.acknowledged(report.len()));
            }
        }
        let expected = results(11).into_iter().filter(|result| result.0 != 9);
        let expected = expected.map(|result| if result.0 == 7 { Numbered(7, 0) } else { result });
        assert_eq!((taken, given_up), (expected.collect(), 1));
        assert_eq!(outbox.load(), Load::default());
    }

    #[test]
    fn it_is_full_of_results_or_of_bytes() {
        assert!(!outbox(&results(FULL.results as u64 - 1)).has(FULL));
        assert!(outbox(&results(FULL.results as u64)).has(FULL));
        let large = Numbered(0, REPORT_BYTES);
        let mut outbox = outbox(&vec![large; FULL.bytes / REPORT_BYTES]);
        assert!(outbox.has(FULL) && !outbox.has(BRIMMING));
        outbox.report(usize::MAX, Time(0));
        assert!(outbox.has(FULL), "what is under way counts");
        outbox.acknowledged(1);
        assert!(!outbox.has(FULL));
    }
}
