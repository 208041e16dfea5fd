//! Reports: looked up together, judged one by one, stored together, however many workers sent them.

use spelrum_proto::v1;
use spelrum_proto::work::Reported;
use spelrum_tournament::scheduler::{Event, Time};
use spelrum_tournament::{GameId, LeaseId, WorkerId};

use super::batch::{Batch, Failure, hold};
use super::meaning::{Answer, Consequences, Placement, read, report_of};
use super::request::{Gathered, Held};
use super::roster::News;
use super::{BatchError, unanswered};
use crate::store::contract::WriteTransaction;

/// A result with the worker that reported it, and when.
struct Delivered {
    worker: WorkerId,
    result: Reported,
    at: Time,
}

impl<T: WriteTransaction> Batch<'_, T> {
    /// Answers the reports that were gathered; the answers are held.
    ///
    /// What is looked up of them is looked up now: after all that this transaction has stored.
    pub(super) async fn serve_reports(
        &mut self,
        gathered: Vec<Gathered>,
        held: &mut Vec<Held>,
    ) -> Result<(), BatchError> {
        if gathered.is_empty() {
            return Ok(());
        }
        let mut delivered = Vec::new();
        let mut replies = Vec::with_capacity(gathered.len());
        for Gathered { caller, results, at, reply } in gathered {
            let known = self.known(caller, at).map(|worker| {
                let of_worker = |result| Delivered { worker, result, at };
                let before = delivered.len();
                delivered.extend(results.into_iter().map(of_worker));
                delivered.len() - before
            });
            replies.push((reply, known));
        }
        let (verdicts, result) = match self.take_results(delivered).await {
            Ok(verdicts) => (verdicts, Ok(())),
            // Nothing of it happened: all callers are told so.
            Err(error) => (Vec::new(), Err(error)),
        };
        let mut verdicts = verdicts.into_iter();
        for (reply, known) in replies {
            let answer = known.map(|results| verdicts.by_ref().take(results).collect());
            hold(held, reply, answer.map_err(Failure::from))?;
        }
        result
    }

    /// Takes results in, and gives one verdict for each, in order.
    async fn take_results(
        &mut self,
        delivered: Vec<Delivered>,
    ) -> Result<Vec<v1::Verdict>, BatchError> {
        let asked: Vec<(WorkerId, LeaseId, GameId)> =
            delivered.iter().map(|it| (it.worker, it.result.lease, it.result.game)).collect();
        let facts = self.transaction.facts(&asked).await?;
        let mut placement = Placement::default();
        let mut consequences = Consequences::default();
        for (Delivered { worker, result, at }, facts) in delivered.into_iter().zip(facts) {
            let Reported { lease, game, what } = result;
            let event = Event::Reported {
                worker,
                lease,
                game,
                what: report_of(&what),
                settled: facts.settled,
                leased: facts.leased,
            };
            let verdict = match read(self.scheduler.handle(event, at), &mut consequences) {
                Some(Answer::Verdict(verdict)) => verdict,
                other => return Err(unanswered("Reported", other)),
            };
            self.faults.at_result(game)?;
            placement.place((worker, lease, game), what, verdict);
            match placement.verdicts.last() {
                Some(v1::Verdict::Counted | v1::Verdict::Noted) => {
                    self.news.push(News::Taken(worker, lease));
                }
                Some(v1::Verdict::Rejected) => {
                    tracing::warn!(
                        %worker, %lease, %game,
                        "rejected a result: the game was never leased to it, or the rules do not allow it"
                    );
                }
                Some(v1::Verdict::Uncounted | v1::Verdict::Unspecified) | None => {}
            }
        }
        // In this order: what is stored as uncounted is compared with the settled result.
        let finished = std::mem::take(&mut consequences.finished);
        self.store(consequences).await?;
        self.store_placed(&placement).await?;
        self.store(Consequences { finished, failed: Vec::new() }).await?;
        Ok(placement.verdicts)
    }

    async fn store_placed(&mut self, placement: &Placement) -> Result<(), BatchError> {
        let Placement { counted, again, after_cancel, trained, noted, refused, verdicts: _ } =
            placement;
        if !counted.is_empty() {
            self.transaction.store_games(counted).await?;
        }
        if !again.is_empty() {
            self.transaction.store_uncounted(again, false).await?;
        }
        if !trained.is_empty() {
            self.transaction.store_trainings(trained).await?;
        }
        if !after_cancel.is_empty() {
            self.transaction.store_uncounted(after_cancel, true).await?;
        }
        if !refused.is_empty() {
            let new = self.transaction.keep_refused(refused).await?;
            let new = refused.iter().zip(new).filter(|(_, is_new)| *is_new);
            self.news.extend(new.map(|(refused, _)| News::Refused(refused.worker)));
        }
        if !noted.is_empty() {
            self.transaction.note_failures(noted).await?;
        }
        Ok(())
    }
}
