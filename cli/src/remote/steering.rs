//! Steering experiments, through a remote coordinator or one inside this process for a file.

use std::path::Path;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable as _};
use spelrum_answers::{
    Call, ExcludeWorkers, GetStatus, Removal, RemoveExperiment, RemovedExperiment,
};
use spelrum_proto::api::Api;
use spelrum_proto::{Reason, Refusal};
use spelrum_store::Readers;
use tonic::Status;

use crate::arguments::SourceArguments;
use crate::error::conversions::failed_call;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::database_holder;
use crate::local::embedded::Embedded;
use crate::remote::connection;
use crate::results::coordinator;
use crate::terminal::progress::RowsProgress;

/// Interval between looks at work in this process: short at first, since most work ends soon, then the bar's refresh
/// rate.
const LOOK_INTERVAL_MIN: Duration = Duration::from_millis(20);
const LOOK_INTERVAL_MAX: Duration = Duration::from_millis(200);

/// How often a call is retried that may succeed by itself: longer than the leases of a killed run live.
const RETRIES_MAX: usize = 9;

/// A coordinator to steer.
pub(crate) struct Steerer {
    api: Api,
    /// The coordinator inside this process, if there is one.
    embedded: Option<Embedded>,
}

impl Steerer {
    /// Connects to the source named by the command line, or else by the environment. Without any, the action fails.
    pub(crate) async fn open(source: &SourceArguments, action: &str) -> Result<Self> {
        match &source.db {
            Some(db) => Self::of_file(db).await,
            None => {
                let target = coordinator(source, action)?;
                Ok(Self { api: connection::connect_to(&target).await?, embedded: None })
            }
        }
    }

    async fn of_file(db: &Path) -> Result<Self> {
        // A coordinator would create a missing database.
        Readers::open(db).await?.close().await;
        // No games are played here whose times a search could disturb.
        match Embedded::start(db, None, true).await {
            Ok(embedded) => Ok(Self { api: embedded.api(), embedded: Some(embedded) }),
            // The process that has the database open steers instead.
            Err(error) if error.exit() == Exit::Busy => match database_holder::connect(db).await {
                Ok(Some(api)) => Ok(Self { api, embedded: None }),
                Ok(None) | Err(_) => Err(error.help(
                    "the coordinator that has it open must do this: name it with --coordinator URL instead \
                     of --db, or stop it",
                )),
            },
            Err(error) => Err(error),
        }
    }

    /// Whether the coordinator is inside this process.
    pub(crate) fn is_own(&self) -> bool {
        self.embedded.is_some()
    }

    /// Makes a call.
    pub(crate) async fn call<C: Call>(&self, call: &C, action: &str) -> Result<C::Answer> {
        self.api.call(call).await.map_err(|status| self.failed(action, &status))
    }

    /// Deletes experiments, or only previews the deletion.
    pub(crate) async fn remove(
        &self,
        request: &RemoveExperiment,
        action: &str,
    ) -> Result<RemovedExperiment> {
        // No worker plays games of a file without a coordinator: the leases only have to expire.
        let answer = (|| async { self.api.call(request).await })
            .retry(ConstantBuilder::new().with_max_times(RETRIES_MAX))
            .when(|_| self.is_own())
            .adjust(|status, another| another.and(leased(status)))
            .await;
        answer.map_err(|status| self.failed(action, &status))
    }

    /// Waits until all results of excluded workers are taken out, if the coordinator ends with this process.
    pub(crate) async fn finish_exclusions(
        &self,
        preview: &ExcludeWorkers,
        action: &str,
    ) -> Result<()> {
        if !self.is_own() {
            return Ok(());
        }
        let mut progress = RowsProgress::start("results taken out");
        let mut at_first = None;
        let mut wait = LOOK_INTERVAL_MIN;
        loop {
            let found = self.call(preview, action).await?;
            if !found.goes_on {
                progress.end();
                return Ok(());
            }
            let all = *at_first.get_or_insert(found.games);
            // The number of older results, which stay, is unknown.
            let total = preview.since_unix_us.is_none().then_some(all);
            progress.look(all.saturating_sub(found.games), total);
            tokio::time::sleep(wait).await;
            wait = LOOK_INTERVAL_MAX.min(2 * wait);
        }
    }

    /// The removals under way.
    pub(crate) async fn removals(&self, action: &str) -> Result<Vec<Removal>> {
        Ok(self.call(&GetStatus::default(), action).await?.removals)
    }

    /// Waits until all removals are done, if the coordinator ends with this process.
    pub(crate) async fn finish_removals(&self, action: &str) -> Result<()> {
        if !self.is_own() {
            return Ok(());
        }
        let mut progress = RowsProgress::start("games removed");
        let mut wait = LOOK_INTERVAL_MIN;
        loop {
            let removals = self.removals(action).await?;
            if removals.is_empty() {
                progress.end();
                return Ok(());
            }
            let games = removals.iter().map(|removal| removal.games).sum();
            progress.look(removals.iter().map(|removal| removal.games_done).sum(), Some(games));
            tokio::time::sleep(wait).await;
            wait = LOOK_INTERVAL_MAX.min(2 * wait);
        }
    }

    /// Stops the coordinator inside this process, if there is one.
    pub(crate) async fn close(self) -> Result<()> {
        let Self { api, embedded } = self;
        drop(api);
        match embedded {
            Some(embedded) => embedded.stop().await,
            None => Ok(()),
        }
    }

    fn failed(&self, action: &str, status: &Status) -> CliError {
        let error = failed_call(action, status);
        if self.is_own() { error.of_own_coordinator() } else { error }
    }
}

/// When to retry, if the call was refused because of leases that will expire.
fn leased(status: &Status) -> Option<Duration> {
    let refusal =
        Refusal::from_status(status).filter(|refusal| refusal.reason == Reason::WrongState)?;
    refusal.retry_after
}
