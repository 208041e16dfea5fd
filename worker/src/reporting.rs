//! Hands finished results in, and keeps each until it is acknowledged. A result names its lease
//! and its game and says all of it, so that sending it twice does no harm (invariant 4).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use spelrum_proto::Refusal;
use spelrum_proto::v1::result::What;
use spelrum_proto::v1::{self, Verdict};
use spelrum_tournament::{CellId, GameId, LeaseId};
use tonic::{Response, Status};

use crate::link::{CallError, Client, Link, Session};
use crate::outbox::Outbox;
use crate::pool::Pool;
use crate::slot::failed;

/// Hands results in.
pub(crate) struct Reporting<'w> {
    pub(crate) link: &'w Link,
    pub(crate) pool: &'w Pool,
    pub(crate) outbox: &'w Outbox,
    pub(crate) tally: &'w Tally,
}

/// What was acknowledged so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) acknowledged: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Reporting<'_> {
    /// Reports until the outbox is closed and empty.
    pub(crate) async fn run(&self) -> Result<(), CallError> {
        let results_max = self.link.session().await?.report_results_max;
        while let Some(report) = self.outbox.next_report(results_max).await {
            self.report(report.generation, &report.results).await?;
            self.outbox.settled();
        }
        Ok(())
    }

    async fn report(&self, generation: u64, results: &[v1::Result]) -> Result<(), CallError> {
        let started = Instant::now();
        let reported = self
            .link
            .call("Report", |client, session| send(client, session, generation, results))
            .await;
        match reported {
            Ok(response) => {
                tracing::debug!(results = results.len(), took = ?started.elapsed(), "reported");
                self.acknowledged(results, &response.verdicts);
                // None at all is said of results for a database that is gone.
                match results.get(response.verdicts.len()..) {
                    Some(rest) if !rest.is_empty() && rest.len() < results.len() => {
                        tracing::error!(unanswered = rest.len(), "results were left unanswered");
                        Box::pin(self.report(generation, rest)).await
                    }
                    _ => Ok(()),
                }
            }
            Err(CallError::Refused(refusal)) => {
                self.without_refused(generation, results, &refusal).await
            }
            Err(error @ CallError::Fatal(_)) => Err(error),
        }
    }

    /// After a report was refused for good: finds the result that the coordinator cannot take by
    /// halving, and reports its game as failed, so that its lease can end.
    async fn without_refused(
        &self,
        generation: u64,
        results: &[v1::Result],
        refusal: &Refusal,
    ) -> Result<(), CallError> {
        match results {
            [] => Ok(()),
            [result] => match as_failure(result, refusal) {
                Some(failure) => Box::pin(self.report(generation, &[failure])).await,
                None => {
                    tracing::error!(%refusal, "a failure was refused");
                    Ok(())
                }
            },
            several => {
                let (first, second) = several.split_at(several.len() / 2);
                Box::pin(self.report(generation, first)).await?;
                Box::pin(self.report(generation, second)).await
            }
        }
    }

    fn acknowledged(&self, results: &[v1::Result], verdicts: &[i32]) {
        for (result, &verdict) in results.iter().zip(verdicts) {
            let verdict = Verdict::try_from(verdict).unwrap_or(Verdict::Unspecified);
            if verdict == Verdict::Rejected {
                tracing::warn!(lease = result.lease_id, "the coordinator rejected a result");
            }
            self.tally.acknowledged.fetch_add(1, Ordering::Relaxed);
            if let Some(What::FailedGame(_)) = result.what {
                self.tally.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.pool.acknowledge(
            results.iter().take(verdicts.len()).map(|result| LeaseId(result.lease_id)),
        );
    }
}

/// Sends results, unless they belong to a results database that is gone: then there is nothing to
/// acknowledge.
async fn send(
    mut client: Client,
    session: Session,
    generation: u64,
    results: &[v1::Result],
) -> Result<Response<v1::ReportResponse>, Status> {
    if session.generation != generation {
        return Ok(Response::new(v1::ReportResponse::default()));
    }
    let request = v1::ReportRequest {
        worker_id: session.worker_id,
        coordinator_epoch: session.coordinator_epoch,
        results: results.to_vec(),
    };
    client.report(request).await
}

/// The failure that is reported in place of a played game whose result was refused.
fn as_failure(result: &v1::Result, refusal: &Refusal) -> Option<v1::Result> {
    let Some(What::Game(game)) = &result.what else { return None };
    tracing::error!(cell = game.cell_id, number = game.number, %refusal, "a result was refused");
    let game = GameId { cell: CellId(game.cell_id), number: game.number };
    let what = Some(failed(game, &format!("its result was refused: {refusal}")));
    Some(v1::Result { lease_id: result.lease_id, what })
}
