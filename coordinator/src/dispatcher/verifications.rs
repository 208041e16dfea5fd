//! Ordering that games are played once more by others than who played them.

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_proto::{Reason, Refusal};
use spelrum_scheduling::scheduler::{Event, Time};

use super::batch::{Batch, Failure};
use spelrum_store::contract::WriteTransaction;
use spelrum_store::{Found, Retry, ToVerify};

impl<T: WriteTransaction> Batch<'_, T> {
    /// Lets games of an experiment be verified; returns how many were ordered. One that was finished runs again until
    /// they are.
    pub(super) async fn order_verifications(
        &mut self,
        which: &str,
        games: &[ToVerify],
        now: Time,
    ) -> Result<u64, Failure> {
        let Found { experiment, uuid, state } = self.found(which).await?;
        if state == ExperimentState::Cancelled {
            return Err(cancelled(which).into());
        }
        // What the scheduler is told of the experiment as a whole is read again.
        self.store_changes().await?;
        let ordered = self.transaction.order_verifications(experiment, games).await?;
        if ordered.is_empty() {
            return Ok(0);
        }
        let count = ordered.len() as u64;
        if state == ExperimentState::Finished {
            self.transaction.set_state(experiment, ExperimentState::Running).await?;
        }
        let knows = self.scheduler.knows(experiment);
        let open = self.scheduler.is_open(experiment);
        let Retry { cells, attempts, priority, allocation, .. } =
            self.transaction.whole(experiment).await?;
        // Those that it knows have not changed.
        let cells = if knows { ordered } else { cells };
        let attempts = if knows { Vec::new() } else { attempts };
        let event = Event::Submitted { experiment, priority, open, allocation, cells, attempts };
        self.handle(event, now).await?;
        tracing::info!(uuid, games = count, "games are to be verified");
        Ok(count)
    }
}

/// Nothing is played of an experiment that was cancelled.
pub(crate) fn cancelled(which: &str) -> Refusal {
    let problem = format!("the experiment {which:?} was cancelled, which is final");
    let remedy = "verify its games on this machine: leave out --on-workers";
    Refusal::new(Reason::WrongState, problem, remedy)
}

/// What this engine would play may be other games (invariant 2).
pub(crate) fn of_other_engine(which: &str, revision: u32) -> Refusal {
    let problem = format!(
        "the games of {which:?} are of engine revision {revision}: what this one ({ENGINE_REVISION}) would play may be \
         other games"
    );
    let remedy = "verify with a coordinator and workers of the release that played them";
    Refusal::new(Reason::WrongState, problem, remedy)
}
