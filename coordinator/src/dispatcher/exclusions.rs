//! Exclusion of workers: decided at once, and carried out between the batches, a piece at a time, each in its own
//! transaction: discarded results and the games that the scheduler hands out again are on disk together.

use std::time::{Duration, Instant};

use spelrum_answers::{ExcludeWorkers, ExcludedWorkers, Exclusion};
use spelrum_model::ExperimentState;
use spelrum_model::WorkerId;
use spelrum_proto::{Reason, Refusal};
use spelrum_scheduling::scheduler::{Event, Time};
use tokio::sync::oneshot;
use tracing::Span;

use super::batch::{Batch, Failure};
use super::request::{Arrived, Request};
use super::roster::News;
use super::{Dispatcher, FAILED_RETRY_AFTER};
use spelrum_store::contract::{Store, WriteTransaction};
use spelrum_store::{Excludable, Retry, StoreError, TakenOut};

/// A piece begins no further step after this time.
const PIECE_TIME_MAX: Duration = Duration::from_millis(5);

/// When to retry readmitting a worker whose results are still being discarded.
const GOES_ON_RETRY_AFTER: Duration = Duration::from_secs(1);

/// When the next piece is due.
#[derive(Debug)]
pub(super) struct Exclusions {
    goes_on: bool,
    /// When idle: the next piece is due then.
    idle_due: Instant,
    /// When busy: at most half of the time is for exclusions.
    fair_due: Instant,
}

impl Exclusions {
    /// At startup, with or without unfinished exclusions.
    pub(super) fn new(goes_on: bool) -> Self {
        let now = Instant::now();
        Self { goes_on, idle_due: now, fair_due: now }
    }

    /// Notes a new exclusion.
    pub(super) fn begin(&mut self) {
        self.goes_on = true;
    }

    /// When the next piece is due, if the dispatcher is idle.
    pub(super) fn due(&self) -> Option<Instant> {
        self.goes_on.then_some(self.idle_due)
    }

    /// Whether the next piece is due although the dispatcher is busy.
    pub(super) fn has_its_turn(&self) -> bool {
        self.goes_on && Instant::now() >= self.fair_due
    }
}

impl<S: Store> Dispatcher<S> {
    /// Discards the next results.
    ///
    /// # Errors
    /// If another coordinator has the database now, or the database is gone.
    pub(super) async fn exclude(&mut self) -> Result<(), StoreError> {
        let started = Instant::now();
        let (reply, mut answer) = oneshot::channel();
        let (at, request) = (self.clock.now(), Request::ExcludeSome { reply });
        self.serve(Some(Arrived { at, request, call: Span::current() })).await?;
        let ended = Instant::now();
        self.exclusions.idle_due = ended;
        self.exclusions.fair_due = ended + (ended - started);
        match answer.try_recv() {
            Ok(Ok(goes_on)) => self.exclusions.goes_on = goes_on,
            // The piece was rolled back.
            Ok(Err(_)) | Err(_) => {
                self.exclusions.idle_due = ended + FAILED_RETRY_AFTER;
                self.exclusions.fair_due = self.exclusions.idle_due;
            }
        }
        Ok(())
    }
}

impl<T: WriteTransaction> Batch<'_, T> {
    /// Excludes workers, readmits them, or only returns the effect that excluding them would have.
    pub(super) async fn exclude(
        &mut self,
        exclude: ExcludeWorkers,
        now: Time,
    ) -> Result<ExcludedWorkers, Failure> {
        let ExcludeWorkers { worker: name, experiment, what, since_unix_us, engine } = exclude;
        let stored = match &experiment {
            None => None,
            Some(named) => Some(self.find_experiment(named).await?),
        };
        let experiment = experiment.unwrap_or_default();
        let from = stored.as_ref().map(|stored| stored.experiment);
        let excludable = self.transaction.excludable(&name, from).await?;
        if excludable.workers.is_empty() {
            let problem = format!("there is no worker with the id or name {name:?}");
            let remedy =
                "`spelrum status` shows those that work, `spelrum verify` whose games differ";
            return Err(Refusal::new(Reason::UnknownWorker, problem, remedy).into());
        }
        if excludable.more {
            let most = excludable.workers.len();
            let problem = format!("more than {most} workers are called {name:?}");
            let remedy = "name them by their ids, as the table workers has them (spelrum sql)";
            return Err(Refusal::new(Reason::WrongState, problem, remedy).into());
        }
        let mut readmitted = Vec::new();
        let mut dismissed = Vec::new();
        match what {
            Exclusion::Preview | Exclusion::Dismiss => {}
            Exclusion::Exclude => {
                if let Some(kept) = stored.as_ref().and(excludable.kept.first()) {
                    return Err(not_excludable(&experiment, kept.has_course).into());
                }
                for worker in &excludable.workers {
                    self.transaction.begin_exclusion(worker.worker, from, since_unix_us).await?;
                    let event = Event::Excluded { worker: worker.worker, experiment: from };
                    self.handle(event, now).await?;
                    tracing::warn!(worker = %worker.worker, name = worker.name, host = worker.host, experiment,
                        "a worker is excluded: its games are replayed by other workers");
                }
                self.excluding = true;
            }
            Exclusion::Readmit => {
                if excludable.goes_on {
                    let problem = format!("results of {name:?} are still being taken out");
                    let remedy = "try again when they are";
                    let refusal = Refusal::new(Reason::WrongState, problem, remedy);
                    let retry_after = Some(GOES_ON_RETRY_AFTER);
                    return Err(Refusal { retry_after, ..refusal }.into());
                }
                let workers: Vec<WorkerId> =
                    excludable.workers.iter().map(|worker| worker.worker).collect();
                readmitted = self.transaction.readmit(&workers, engine.as_deref()).await?;
                let withheld = self.scheduler.withheld();
                if engine.is_none() {
                    let withheld = withheld.into_iter().map(|(worker, _)| worker);
                    readmitted.extend(withheld.filter(|worker| workers.contains(worker)));
                }
                readmitted.sort_unstable();
                readmitted.dedup();
                for &worker in &readmitted {
                    let engine = engine.clone();
                    self.handle(Event::Readmitted { worker, engine }, now).await?;
                    tracing::info!(%worker, "a worker is readmitted");
                }
            }
        }
        if matches!(what, Exclusion::Dismiss | Exclusion::Exclude) {
            let workers = excludable.workers.iter().map(|worker| worker.worker);
            dismissed = workers.filter(|&worker| self.roster.lost_games(worker) > 0).collect();
            self.news.extend(dismissed.iter().map(|&worker| News::Dismissed(worker)));
        }
        let Excludable { workers, more: _, games, kept, goes_on } = excludable;
        Ok(ExcludedWorkers { workers, games, kept, goes_on, readmitted, dismissed })
    }

    /// Extends to a worker that has said Hello the exclusions of its earlier starts.
    pub(super) async fn exclude_again(
        &mut self,
        worker: WorkerId,
        now: Time,
    ) -> Result<(), Failure> {
        for experiment in self.transaction.inherit_exclusions(worker).await? {
            self.handle(Event::Excluded { worker, experiment }, now).await?;
            tracing::warn!(%worker, "a worker is excluded, as one of its name on its host was");
        }
        for barred in self.transaction.inherit_bars(worker).await? {
            tracing::warn!(%worker, engine = barred.engine,
                "a worker gets no games of an engine, as one of its name on its host did not");
            self.handle(Event::Barred { worker, barred }, now).await?;
        }
        Ok(())
    }

    /// Discards some results; returns whether more may be left.
    pub(super) async fn exclude_some(&mut self, now: Time) -> Result<bool, Failure> {
        let started = Instant::now();
        while started.elapsed() < PIECE_TIME_MAX {
            self.store_changes().await?;
            let Some(pieces) = self.transaction.exclude_some().await? else { return Ok(false) };
            for piece in pieces {
                self.reopen(piece, now).await?;
            }
        }
        Ok(true)
    }

    /// Replays games whose results were discarded.
    async fn reopen(&mut self, piece: TakenOut, now: Time) -> Result<(), Failure> {
        let TakenOut { experiment, state, is_of_this_engine, cell, games, reading, played } = piece;
        if games.is_empty() || state == ExperimentState::Cancelled {
            return Ok(());
        }
        if state == ExperimentState::Finished {
            self.transaction.set_state(experiment, ExperimentState::Running).await?;
        }
        // The release that began the experiment goes on with it (invariant 2).
        if !is_of_this_engine {
            return Ok(());
        }
        let event = if self.scheduler.knows(experiment) {
            let readings = reading.into_iter().map(|reading| (cell, *reading)).collect();
            Event::Reopened { experiment, games, readings, played: vec![(cell, played)] }
        } else {
            let Retry { cells, attempts, settings, .. } =
                self.transaction.reload_experiment(experiment).await?;
            Event::Submitted { experiment, settings, open: false, cells, attempts }
        };
        self.handle(event, now).await?;
        Ok(())
    }
}

/// Why an experiment keeps a worker's results.
fn not_excludable(experiment: &str, has_course: bool) -> Refusal {
    let problem = if has_course {
        format!("the course of {experiment:?} has decided by these results, which cannot be undone")
    } else {
        format!(
            "the choices of {experiment:?} share what its positions are worth, whoever found that"
        )
    };
    let remedy = "exclude the worker from all experiments, which keeps it out, and submit the sweep again with --new";
    Refusal::new(Reason::WrongState, problem, remedy)
}
