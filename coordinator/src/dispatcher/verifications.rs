//! Orders replays of games by workers other than those that played them.

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_proto::{Reason, Refusal};
use spelrum_scheduling::scheduler::{Event, Time};

use super::batch::{Batch, Failure};
use spelrum_store::contract::WriteTransaction;
use spelrum_store::{Found, Retry, ToVerify};

impl<T: WriteTransaction> Batch<'_, T> {
    /// Orders verifications for games of an experiment; returns their number. A finished experiment runs again until
    /// they are done.
    pub(super) async fn order_verifications(
        &mut self,
        name: &str,
        games: &[ToVerify],
        now: Time,
    ) -> Result<u64, Failure> {
        let Found { experiment, uuid, state } = self.find_experiment(name).await?;
        if state == ExperimentState::Cancelled {
            return Err(cancelled(name).into());
        }
        // The scheduler gets the experiment as a whole, reread from the store.
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
        let Retry { cells, attempts, settings, .. } =
            self.transaction.reload_experiment(experiment).await?;
        // The cells that the scheduler knows have not changed.
        let cells = if knows { ordered } else { cells };
        let attempts = if knows { Vec::new() } else { attempts };
        let event = Event::Submitted { experiment, settings, open, cells, attempts };
        self.handle(event, now).await?;
        tracing::info!(uuid, games = count, "games are to be verified");
        Ok(count)
    }
}

/// Refuses a cancelled experiment, whose games are no longer played.
pub(crate) fn cancelled(name: &str) -> Refusal {
    let problem = format!("the experiment {name:?} was cancelled, which is final");
    let remedy = "verify its games on this machine: leave out --on-workers";
    Refusal::new(Reason::WrongState, problem, remedy)
}

/// Refuses an experiment of another engine revision: this engine might play other games (invariant 2).
pub(crate) fn other_engine_revision(name: &str, revision: u32) -> Refusal {
    let problem = format!(
        "the games of {name:?} are of engine revision {revision}: what this one ({ENGINE_REVISION}) would play may be \
         other games"
    );
    let remedy = "verify with a coordinator and workers of the release that played them";
    Refusal::new(Reason::WrongState, problem, remedy)
}
