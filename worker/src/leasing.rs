//! Asks for games before the slots run out of them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use spelrum_proto::work::{Grant, LeasedGames};
use spelrum_proto::{WireError, v1};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::WorkerError;
use crate::backoff::jittered;
use crate::cells::Cells;
use crate::link::{CallError, Link};
use crate::outbox::Outbox;
use crate::pool::{Games, Lease, Pool};

/// Definitions that are fetched at once.
const FETCHES: usize = 8;

/// Never ask again sooner than this, whatever the coordinator says.
const RETRY_AFTER_MIN: Duration = Duration::from_millis(10);

/// When to ask again after a refusal that trying again may not mend.
const REFUSED_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Asks for games.
pub(crate) struct Leasing<'w> {
    pub(crate) link: &'w Link,
    pub(crate) pool: &'w Pool,
    pub(crate) outbox: &'w Outbox,
    pub(crate) cells: &'w Cells,
    /// Held while Lease or Heartbeat is under way: a heartbeat must not miss a lease whose grant
    /// is still travelling (docs/protocol.md).
    pub(crate) lease_or_heartbeat: &'w Mutex<()>,
    pub(crate) slots: u32,
    /// Whether to end when there is nothing left to do.
    pub(crate) exit_when_done: bool,
}

/// Answer to a Lease.
enum Answer {
    Granted(Arc<Lease>, Grant),
    Idle { retry_after: Duration, all_done: bool },
    Malformed(WireError),
}

impl Leasing<'_> {
    /// Asks until `finish`, or until there is nothing left to do.
    pub(crate) async fn run(&self, finish: &CancellationToken) -> Result<(), CallError> {
        loop {
            let wanted = async {
                self.outbox.has_room().await;
                self.pool.wants_more().await;
            };
            if finish.run_until_cancelled(wanted).await.is_none() {
                return Ok(());
            }
            // Not cut off by `finish`: a lease that was granted is one we must know of.
            let answer = match self.ask(finish).await {
                Ok(Some(answer)) => answer,
                Ok(None) => return Ok(()),
                Err(CallError::Refused(refusal)) => {
                    tracing::error!(%refusal, "asking for games was refused");
                    Answer::Idle { retry_after: REFUSED_RETRY_AFTER, all_done: false }
                }
                Err(error @ CallError::Fatal(_)) => return Err(error),
            };
            let idle = match answer {
                Answer::Granted(lease, grant) => {
                    match finish.run_until_cancelled(self.accept(&lease, grant)).await {
                        Some(accepted) => accepted?,
                        None => return Ok(()),
                    }
                    continue;
                }
                Answer::Idle { all_done: true, .. } if self.is_done() => {
                    tracing::info!("nothing is left to do");
                    return Ok(());
                }
                Answer::Idle { retry_after, .. } => self.idle(retry_after.max(RETRY_AFTER_MIN)),
                Answer::Malformed(error) => {
                    return Err(CallError::Fatal(WorkerError::Malformed(error)));
                }
            };
            if finish.run_until_cancelled(idle).await.is_none() {
                return Ok(());
            }
        }
    }

    async fn ask(&self, finish: &CancellationToken) -> Result<Option<Answer>, CallError> {
        self.link
            .call_until(finish, "Lease", move |mut client, session| async move {
                // From here until we hold the lease, nobody says Heartbeat.
                let _alone = self.lease_or_heartbeat.lock().await;
                let request = v1::LeaseRequest {
                    worker_id: session.worker_id,
                    coordinator_epoch: session.coordinator_epoch,
                    slots: self.slots,
                };
                let response = client.lease(request).await?;
                Ok(response.map(|response| self.read(response, session.generation)))
            })
            .await
    }

    fn read(&self, response: v1::LeaseResponse, generation: u64) -> Answer {
        let v1::LeaseResponse { grant, retry_after_ms, all_done } = response;
        let Some(grant) = grant else {
            return Answer::Idle { retry_after: Duration::from_millis(retry_after_ms), all_done };
        };
        match Grant::try_from(grant) {
            Ok(grant) => {
                let games = grant.games.iter().map(|games| games.range.count).sum();
                tracing::debug!(lease = %grant.lease, games, "leased");
                Answer::Granted(self.pool.hold(grant.lease, generation, games), grant)
            }
            Err(error) => Answer::Malformed(error),
        }
    }

    /// Lets the slots play a lease's games, each range as soon as its cell is known.
    async fn accept(&self, lease: &Arc<Lease>, grant: Grant) -> Result<(), CallError> {
        let cells =
            stream::iter(grant.games)
                .map(|games| async move {
                    Ok((games, self.cells.get(games.definition, self.link).await?))
                })
                .buffered(FETCHES);
        let mut cells = pin!(cells);
        while let Some((LeasedGames { range, game_timeout, .. }, cell)) = cells.try_next().await? {
            self.pool.add(lease, cell, Games { range, game_timeout });
        }
        Ok(())
    }

    /// Whether a coordinator that has nothing left to do is a reason to end.
    fn is_done(&self) -> bool {
        self.exit_when_done && self.pool.held().is_empty()
    }

    /// Waits until asking again makes sense: at the latest when the coordinator said, and before
    /// that when the last lease that we hold has ended.
    async fn idle(&self, retry_after: Duration) {
        let emptied = async {
            if self.pool.held().is_empty() {
                std::future::pending().await
            } else {
                self.pool.emptied().await
            }
        };
        // Elapsed or not, it is time.
        let _elapsed = tokio::time::timeout(jittered(retry_after), emptied).await;
    }
}
