//! Reports: looked up together, judged one by one, stored together, whichever workers sent them.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_answers::ForfeitKind;
use spelrum_engine::Outcome;
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, GameId, LeaseId, WorkerId};
use spelrum_proto::v1;
use spelrum_proto::work::{Reported, ReportedWhat};
use spelrum_scheduling::scheduler::{Event, Time, Verdict};
use tracing::Span;

use super::batch::{Batch, Failure, hold_reply};
use super::meaning::{
    Answer, Consequences, Placement, plays_again, read, refuse_too_long, refuse_wrong_scaling,
    scheduler_report,
};
use super::request::{Gathered, Held};
use super::roster::{GameEnding, News};
use super::{BatchError, unexpected_answer};
use spelrum_store::contract::WriteTransaction;
use spelrum_store::{Deviation, StoppedForForfeits};

/// A result with the worker that reported it, and the time.
struct Delivered {
    worker: WorkerId,
    result: Reported,
    at: Time,
    /// The index of the call that brought the result.
    call: usize,
}

impl<T: WriteTransaction> Batch<'_, T> {
    /// Answers the gathered reports; the answers are held.
    ///
    /// Lookups happen now: after all that this transaction has stored.
    pub(super) async fn serve_reports(
        &mut self,
        gathered: Vec<Gathered>,
        held: &mut Vec<Held>,
    ) -> Result<(), BatchError> {
        if gathered.is_empty() {
            return Ok(());
        }
        let mut delivered = Vec::new();
        let mut calls = Vec::with_capacity(gathered.len());
        let mut replies = Vec::with_capacity(gathered.len());
        for Gathered { caller, results, at, reply, call } in gathered {
            let count = self.check_caller(&caller, at).map(|worker| {
                let call = calls.len();
                let of_worker = |result| Delivered { worker, result, at, call };
                let before = delivered.len();
                delivered.extend(results.into_iter().map(of_worker));
                delivered.len() - before
            });
            replies.push((reply, count));
            calls.push(call);
        }
        let (verdicts, result) = match self.take_results(delivered, &calls).await {
            Ok(verdicts) => (verdicts, Ok(())),
            // None of the reports took effect, so all callers get the error.
            Err(error) => (Vec::new(), Err(error)),
        };
        let mut verdicts = verdicts.into_iter();
        for (reply, count) in replies {
            let answer = count.map(|results| verdicts.by_ref().take(results).collect());
            hold_reply(held, reply, answer.map_err(Failure::from))?;
        }
        result
    }

    /// Processes results, and returns one verdict for each, in order.
    async fn take_results(
        &mut self,
        delivered: Vec<Delivered>,
        calls: &[Span],
    ) -> Result<Vec<v1::Verdict>, BatchError> {
        let references: Vec<(WorkerId, LeaseId, GameId)> = delivered
            .iter()
            .map(|delivery| (delivery.worker, delivery.result.lease, delivery.result.game))
            .collect();
        let facts = self.transaction.facts(&references).await?;
        let now = delivered.iter().map(|delivery| delivery.at).max();
        let mut placement = Placement::default();
        let mut consequences = Consequences::default();
        let mut unwelcome = BTreeMap::<usize, Unwelcome>::new();
        let mut forfeited = BTreeSet::new();
        let mut kept = BTreeMap::<GameId, BTreeSet<LeaseId>>::new();
        for (Delivered { worker, result, at, call }, facts) in delivered.into_iter().zip(facts) {
            let Reported { lease, game, what } = result;
            let since = |granted| self.leases_at.and_then(|clock| clock.since(granted));
            let what = refuse_wrong_scaling(what);
            let what = refuse_too_long(what, facts.granted_unix_us.and_then(since));
            let kept = kept.entry(game).or_default();
            let is_again = facts.is_kept || kept.contains(&lease);
            let plays_again = plays_again(&facts, lease, &what, kept);
            let forfeit = self.lost_by_forfeit(game, &what).await?;
            let ending = ending(&what);
            forfeited.extend(forfeit.as_ref().map(|_| game.cell));
            let event = Event::Reported {
                worker,
                lease,
                game,
                report: scheduler_report(&what, plays_again, forfeit),
                settled: facts.settled,
                leased: facts.leased,
            };
            let verdict = match read(self.scheduler.handle(event, at), &mut consequences) {
                Some(Answer::Verdict(verdict)) => verdict,
                answer => return Err(unexpected_answer("Reported", answer)),
            };
            self.faults.at_result(game)?;
            if verdict == Verdict::Disturbed && !is_again {
                kept.insert(lease);
                self.news.push(News::Taken(worker, lease, ending));
            }
            self.count(&what, verdict);
            match verdict {
                Verdict::Refused | Verdict::Rejected => {
                    let first = Unwelcome { worker, lease, game, results: 0 };
                    unwelcome.entry(call).or_insert(first).results += 1;
                }
                Verdict::Counts
                | Verdict::Noted
                | Verdict::Again
                | Verdict::AfterCancel
                | Verdict::Disturbed
                | Verdict::Excluded => {
                    calls[call].in_scope(|| log_verdict(worker, lease, game, verdict));
                }
            }
            placement.place((worker, lease, game), what, verdict);
            match placement.verdicts.last() {
                Some(v1::Verdict::Counted | v1::Verdict::Noted) => {
                    self.news.push(News::Taken(worker, lease, ending));
                }
                Some(v1::Verdict::Rejected | v1::Verdict::Uncounted | v1::Verdict::Unspecified)
                | None => {}
            }
        }
        for (call, results) in unwelcome {
            calls[call].in_scope(|| results.log());
        }
        // In this order: a result stored as uncounted is compared with the settled one.
        let finished = std::mem::take(&mut consequences.finished);
        self.store(consequences).await?;
        self.store_placed(&placement).await?;
        let now = now.unwrap_or_default();
        self.stop_for_forfeits(forfeited, now).await?;
        self.store(Consequences { finished, ..Consequences::default() }).await?;
        Ok(placement.verdicts)
    }

    /// The engine that forfeited a game, if any, and after how many plies.
    async fn lost_by_forfeit(
        &mut self,
        game: GameId,
        result: &ReportedWhat,
    ) -> Result<Option<(String, u64)>, BatchError> {
        let ReportedWhat::Played(played) = result else { return Ok(None) };
        let record = &played.record;
        let loser = match record.outcome {
            _ if ForfeitKind::from_termination(record.termination).is_none() => return Ok(None),
            Outcome::Loss => 0,
            Outcome::Win => 1,
            Outcome::Draw => return Ok(None),
        };
        let [first, second] = self.transaction.engines_of_sides(game).await?;
        let engine = if loser == 0 { first } else { second };
        Ok(engine.map(|engine| (engine, record.moves.len() as u64)))
    }

    /// Pauses experiments with these cells in which a player has forfeited more games than the sweep allows.
    async fn stop_for_forfeits(
        &mut self,
        cells: BTreeSet<CellId>,
        now: Time,
    ) -> Result<(), BatchError> {
        if cells.is_empty() {
            return Ok(());
        }
        let cells: Vec<CellId> = cells.into_iter().collect();
        for stopped in self.transaction.stop_for_forfeits(&cells).await? {
            let StoppedForForfeits { experiment, name, player, forfeits, forfeits_max } = stopped;
            tracing::warn!(
                name,
                player,
                forfeits,
                forfeits_max,
                "an experiment is paused: a player has forfeited more games than its sweep allows"
            );
            let state = ExperimentState::Paused;
            self.handle(Event::Steered { experiment, state }, now).await?;
        }
        Ok(())
    }

    /// Counts a result by its destination.
    fn count(&mut self, result: &ReportedWhat, verdict: Verdict) {
        let done = &mut self.done;
        *match verdict {
            Verdict::Counts if matches!(result, ReportedWhat::Trained(_)) => &mut done.trained,
            Verdict::Counts if matches!(result, ReportedWhat::Verified(_)) => &mut done.verified,
            Verdict::Counts => &mut done.finished,
            Verdict::Noted => &mut done.attempts,
            Verdict::Again => &mut done.again,
            Verdict::AfterCancel => &mut done.over,
            Verdict::Excluded => &mut done.excluded,
            Verdict::Disturbed => &mut done.disturbed,
            Verdict::Refused => &mut done.irregular,
            Verdict::Rejected => &mut done.not_leased,
        } += 1;
    }

    async fn store_placed(&mut self, placement: &Placement) -> Result<(), BatchError> {
        let Placement {
            counted,
            again,
            after_cancel,
            disturbed,
            trained,
            verified,
            noted,
            refused,
            verdicts: _,
        } = placement;
        if !counted.is_empty() {
            self.transaction.store_games(counted).await?;
        }
        if !again.is_empty() {
            self.transaction.store_uncounted(again, false).await?;
        }
        if !disturbed.is_empty() {
            self.transaction.store_disturbed(disturbed).await?;
        }
        if !trained.is_empty() {
            self.transaction.store_trainings(trained).await?;
        }
        if !verified.is_empty() {
            let deviations = self.transaction.store_verifications(verified).await?;
            self.done.deviating += deviations.len() as u64;
            for Deviation { game: GameId { cell, number }, played_by, verified_by, ply } in
                deviations
            {
                let played_by = played_by.map(|worker| worker.0);
                tracing::warn!(%cell, number, played_by, %verified_by, ply,
                    "a game came out otherwise when another worker played it again: one of the two is wrong");
            }
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

fn ending(what: &ReportedWhat) -> GameEnding {
    match what {
        ReportedWhat::Failed { .. } => GameEnding::Failed,
        ReportedWhat::Played(played)
            if ForfeitKind::from_termination(played.record.termination).is_some() =>
        {
            GameEnding::Forfeited
        }
        ReportedWhat::Played(_)
        | ReportedWhat::Trained(_)
        | ReportedWhat::Verified(_)
        | ReportedWhat::Irregular { .. } => GameEnding::Played,
    }
}

/// Unexpected results of one report: the first, and their number.
struct Unwelcome {
    worker: WorkerId,
    lease: LeaseId,
    game: GameId,
    results: usize,
}

impl Unwelcome {
    /// Logs a warning.
    fn log(&self) {
        let Self { worker, lease, game: GameId { cell, number }, results } = self;
        tracing::warn!(
            %worker, %lease, %cell, number, results,
            "rejected results, of which this is the first: their games were never leased to the worker (as after \
             a backup was put in the database's place), or the rules do not allow them"
        );
    }
}

/// Logs a result for debugging.
fn log_verdict(worker: WorkerId, lease: LeaseId, game: GameId, verdict: Verdict) {
    let GameId { cell, number } = game;
    tracing::debug!(%worker, %lease, %cell, number, ?verdict, "took a result");
}
