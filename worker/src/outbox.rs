//! Finished results on their way to the coordinator: kept until they are acknowledged.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spelrum_proto::{v1, work};
use tokio::sync::Notify;

/// A report goes out when it has so many results: enough that the cost of a transaction is
/// shared, few enough that one takes some milliseconds.
const REPORT_RESULTS: usize = 512;

/// A report goes out when it has so many bytes.
const REPORT_BYTES: usize = 1 << 20;

/// A report goes out when its first result has waited for so long.
const REPORT_AFTER: Duration = Duration::from_millis(200);

/// No new lease is asked for while so many results wait (invariant 9).
const FULL_RESULTS: usize = 16 * REPORT_RESULTS;

/// The same for bytes: long games fill the memory sooner than they fill the list.
const FULL_BYTES: usize = 64 * REPORT_BYTES;

/// The results.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Told when there is something to send, and when it is closed.
    filled: Notify,
    /// Told when something was taken out.
    drained: Notify,
}

/// Results that go out together; never none.
#[derive(Debug)]
pub(crate) struct Report {
    /// Which results database they are for.
    pub(crate) generation: u64,
    pub(crate) results: Vec<v1::Result>,
}

#[derive(Debug, Default)]
struct State {
    results: VecDeque<v1::Result>,
    /// How many bytes these have on the wire.
    bytes: usize,
    /// How many more are in the report that is under way.
    sent: usize,
    /// Which results database they are for; see [`crate::link::Session::generation`].
    generation: u64,
    closed: bool,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), filled: Notify::new(), drained: Notify::new() }
    }

    /// Puts results in. Those of another results database than the one we talk to are forgotten.
    pub(crate) fn push(&self, generation: u64, results: Vec<v1::Result>) {
        let mut state = self.state();
        if results.is_empty() || generation != state.generation {
            return;
        }
        let before = state.results.len();
        state.bytes += results.iter().map(work::encoded_len).sum::<usize>();
        state.results.extend(results);
        let after = state.results.len();
        drop(state);
        if before == 0 || (before < REPORT_RESULTS && after >= REPORT_RESULTS) {
            self.filled.notify_one();
        }
    }

    /// Forgets everything: what comes from now on is for another results database.
    pub(crate) fn restart(&self, generation: u64) {
        let mut state = self.state();
        state.results.clear();
        state.bytes = 0;
        state.sent = 0;
        state.generation = generation;
        drop(state);
        self.drained.notify_one();
    }

    /// No more results come: [`Outbox::next_report`] ends when it has given out what there is.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_one();
    }

    /// The next report, when it is time for it. It is counted here until it is
    /// [settled](Outbox::settled). `None` when the outbox is closed and empty.
    pub(crate) async fn next_report(&self, results_max: usize) -> Option<Report> {
        let wanted = results_max.min(REPORT_RESULTS);
        self.wait(|state| !state.results.is_empty() || state.closed).await;
        let due = self.wait(|state| state.results.len() >= wanted || state.closed);
        // Elapsed or not, it is time.
        let _elapsed = tokio::time::timeout(REPORT_AFTER, due).await;
        let report = self.state().send(wanted);
        self.drained.notify_one();
        report
    }

    /// The report that was under way is acknowledged, or was refused for good.
    pub(crate) fn settled(&self) {
        self.state().sent = 0;
    }

    /// Waits until few enough results are waiting that new games may be asked for.
    pub(crate) async fn has_room(&self) {
        while self.state().is_full() {
            self.drained.notified().await;
        }
    }

    /// How many results are not acknowledged.
    pub(crate) fn len(&self) -> usize {
        let state = self.state();
        state.results.len() + state.sent
    }

    async fn wait(&self, until: impl Fn(&State) -> bool) {
        while !until(&self.state()) {
            self.filled.notified().await;
        }
    }

    /// A panic elsewhere leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_full(&self) -> bool {
        self.results.len() >= FULL_RESULTS || self.bytes >= FULL_BYTES
    }

    fn send(&mut self, results_max: usize) -> Option<Report> {
        let mut bytes = 0;
        let fitting = self
            .results
            .iter()
            .take(results_max)
            .take_while(|result| {
                let first = bytes == 0;
                bytes += work::encoded_len(result);
                first || bytes <= REPORT_BYTES
            })
            .count();
        let results: Vec<_> = self.results.drain(..fitting).collect();
        self.bytes -= results.iter().map(work::encoded_len).sum::<usize>();
        self.sent = results.len();
        (!results.is_empty()).then_some(Report { generation: self.generation, results })
    }
}

#[cfg(test)]
mod tests {
    use spelrum_proto::limits::REPORT_RESULTS_MAX;

    use super::*;

    fn results(from: u64, count: u64) -> Vec<v1::Result> {
        let result = |number| v1::Result {
            lease_id: 1,
            what: Some(v1::result::What::Game(v1::Game { number, ..Default::default() })),
        };
        (from..from + count).map(result).collect()
    }

    /// The next report, acknowledged at once.
    async fn next(outbox: &Outbox) -> Option<Vec<v1::Result>> {
        let report = outbox.next_report(REPORT_RESULTS_MAX).await?;
        outbox.settled();
        Some(report.results)
    }

    #[tokio::test]
    async fn reports_hold_every_result_once_in_order() {
        let outbox = Outbox::new();
        outbox.push(0, results(0, 1_500));
        outbox.push(0, Vec::new());
        outbox.push(0, results(1_500, 3));
        outbox.close();
        let mut all = Vec::new();
        while let Some(report) = next(&outbox).await {
            assert!(!report.is_empty() && report.len() <= REPORT_RESULTS);
            all.extend(report);
        }
        assert_eq!(all, results(0, 1_503));
        assert_eq!(outbox.len(), 0);
    }

    /// A single result does not wait for others for long, nor does nobody who waits miss it.
    #[tokio::test]
    async fn a_single_result_goes_out() {
        let outbox = Outbox::new();
        let pushing = async {
            tokio::task::yield_now().await;
            outbox.push(0, results(7, 1));
        };
        let (report, ()) = tokio::join!(next(&outbox), pushing);
        assert_eq!(report, Some(results(7, 1)));
    }

    #[tokio::test]
    async fn a_report_is_bounded_in_bytes_and_never_empty() {
        let outbox = Outbox::new();
        let mut large = results(0, 5);
        for result in &mut large {
            let Some(v1::result::What::Game(game)) = &mut result.what else { unreachable!() };
            game.opening = "x".repeat(REPORT_BYTES * 2 / 5);
        }
        if let Some(v1::result::What::Game(game)) = &mut large[2].what {
            game.opening = "x".repeat(REPORT_BYTES * 2);
        }
        outbox.push(0, large);
        outbox.close();
        let mut lengths = Vec::new();
        while let Some(report) = next(&outbox).await {
            lengths.push(report.len());
        }
        assert_eq!(lengths, [2, 1, 2]);
    }

    #[tokio::test]
    async fn what_is_under_way_is_kept_until_it_is_settled() {
        let outbox = Outbox::new();
        outbox.push(0, results(0, 2));
        let sent = outbox.next_report(REPORT_RESULTS_MAX).await.unwrap();
        outbox.push(0, results(2, 1));
        assert_eq!(outbox.len(), 3);
        assert_eq!(sent.results, results(0, 2));
        outbox.settled();
        assert_eq!(outbox.len(), 1);
        assert_eq!(next(&outbox).await.unwrap(), results(2, 1));
        assert_eq!(outbox.len(), 0);
    }

    #[tokio::test]
    async fn nothing_is_carried_into_another_database() {
        let outbox = Outbox::new();
        outbox.push(0, results(0, 2));
        let _under_way = outbox.next_report(REPORT_RESULTS_MAX).await;
        outbox.push(0, results(2, 2));
        outbox.restart(1);
        assert_eq!(outbox.len(), 0);
        outbox.push(0, results(4, 2));
        assert_eq!(outbox.len(), 0, "a slot had still played for the other one");
        outbox.push(1, results(6, 2));
        assert_eq!(outbox.len(), 2);
    }

    #[tokio::test]
    async fn a_full_outbox_wants_no_more_games() {
        let mut long = results(0, 70);
        for result in &mut long {
            if let Some(v1::result::What::Game(game)) = &mut result.what {
                game.opening = "x".repeat(REPORT_BYTES - 100);
            }
        }
        for (many, taken) in [(results(0, FULL_RESULTS as u64), REPORT_RESULTS), (long, 1)] {
            let outbox = Outbox::new();
            outbox.push(0, many);
            assert!(outbox.state().is_full());
            let draining = async {
                let mut first = None;
                while outbox.state().is_full() {
                    tokio::task::yield_now().await;
                    let report = next(&outbox).await.unwrap();
                    first.get_or_insert(report.len());
                }
                first
            };
            let ((), first) = tokio::join!(outbox.has_room(), draining);
            assert_eq!(first, Some(taken));
        }
    }
}
