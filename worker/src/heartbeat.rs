//! Says that the worker lives, which leases it holds and which games it is playing. What a
//! heartbeat does not name is not renewed (invariant 6).

use std::sync::Arc;
use std::time::Duration;

use spelrum_proto::{v1, work};
use spelrum_tournament::LeaseId;
use tokio::sync::Mutex;
use tokio::time::{Instant, MissedTickBehavior};

use crate::WorkerError;
use crate::link::{CallError, Link};
use crate::pool::Pool;
use crate::slot::Playing;

/// Heartbeats before their time are no closer together than this: many slots that start long games
/// share one.
const HASTENED_APART: Duration = Duration::from_millis(100);

/// Says Heartbeat.
pub(crate) struct Heartbeats<'w> {
    pub(crate) link: &'w Link,
    pub(crate) pool: &'w Pool,
    pub(crate) playing: &'w [Arc<Playing>],
    /// See [`crate::leasing::Leasing::lease_or_heartbeat`].
    pub(crate) lease_or_heartbeat: &'w Mutex<()>,
}

impl Heartbeats<'_> {
    /// Says it for ever, at the interval the coordinator asked for, and before its time when a
    /// game has started that must be named.
    pub(crate) async fn run(&self) -> Result<(), CallError> {
        let mut interval = interval(self.link.session().await?.heartbeat_interval);
        // The first is due one interval after Hello.
        interval.tick().await;
        let mut hastened = None::<Instant>;
        loop {
            let before_time = async {
                self.pool.heartbeat_hastened().await;
                if let Some(last) = hastened {
                    tokio::time::sleep_until(last + HASTENED_APART).await;
                }
            };
            // A tick that cuts the wait short names the game as well.
            tokio::select! {
                _ = interval.tick() => {}
                () = before_time => hastened = Some(Instant::now()),
            }
            let drop = match self.say().await {
                Ok(drop) => drop,
                Err(CallError::Refused(refusal)) => {
                    tracing::error!(%refusal, "a heartbeat was refused");
                    continue;
                }
                Err(error @ CallError::Fatal(_)) => return Err(error),
            };
            if !drop.is_empty() {
                tracing::info!(leases = ?drop, "dropping leases that are no longer ours");
                self.pool.drop_leases(drop);
            }
            // After a restart the coordinator may want another interval.
            let wanted = self.link.session().await?.heartbeat_interval;
            if wanted != interval.period() {
                interval = self::interval(wanted);
                interval.tick().await;
            }
        }
    }

    async fn say(&self) -> Result<Vec<LeaseId>, CallError> {
        let response = self
            .link
            .call("Heartbeat", move |mut client, session| async move {
                let _alone = self.lease_or_heartbeat.lock().await;
                let playing = self.playing.iter().filter_map(|slot| slot.game());
                let request = v1::HeartbeatRequest {
                    worker_id: session.worker_id,
                    coordinator_epoch: session.coordinator_epoch,
                    lease_ids: self.pool.held().into_iter().map(|lease| lease.0).collect(),
                    playing: playing
                        .map(|game| v1::GameId { cell_id: game.cell.0, number: game.number })
                        .collect(),
                };
                client.heartbeat(request).await
            })
            .await?;
        work::lease_ids(&response.drop_lease_ids)
            .map_err(|error| CallError::Fatal(WorkerError::Malformed(error)))
    }
}

fn interval(period: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
