//! The dispatcher: one task that owns the scheduler and the right to write to the store.
//!
//! Services put well-formed requests into a bounded queue. The dispatcher drains a bounded batch of them, answers each
//! by the scheduler inside one transaction, stores what the scheduler needs after a restart, commits, and only then
//! sends the answers (group commit; invariants 4, 5). If anything fails, the whole batch is rolled back and refused,
//! and the scheduler is rebuilt from disk: memory never runs ahead of the disk.

mod batch;
mod courses;
mod exclusions;
mod forgetting;
mod health;
mod identity;
mod idle;
mod leading;
mod lease_clock;
mod meaning;
mod publishing;
mod removals;
mod reports;
mod request;
mod roster;
#[cfg(test)]
mod tests;
mod turns;
mod verifications;
mod wanted_builds;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::CellId;
use spelrum_proto::{Reason, Refusal};
use spelrum_scheduling::scheduler::{Policy, Scheduler, Snapshot};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use batch::Batch;
use courses::Courses;
use exclusions::Exclusions;
use forgetting::Forgetting;
use health::Watch;
use idle::Idlers;
use lease_clock::LeaseClock;
use meaning::Answer;
use publishing::Publishing;
use removals::Removals;
use request::{Arrived, Gathered, Held, Request};
use roster::{News, Roster};
use turns::Turns;

pub(crate) use batch::{submission_refusal, unknown_experiment};
pub use courses::CourseFactory;
pub use health::{Health, Unwell};
pub(crate) use identity::{Caller, Welcome};
pub(crate) use request::{
    AskedGames, Clock, Dispatch, Leased, Removal, Steering, Submission, Workforce,
};
pub(crate) use verifications::{cancelled, other_engine_revision};

use crate::faults::Faults;
use crate::metrics::Work;
use spelrum_store::StoreError;
use spelrum_store::contract::Store;

/// A transaction accepts no further request after this time, so that the write lock is short and the first request of a
/// batch does not wait for a long tail.
const BATCH_TIME_MAX: Duration = Duration::from_millis(20);

/// A transaction accepts no further request after this many reported games.
const BATCH_GAMES_MAX: usize = 1_000;

/// Most requests of a transaction.
const BATCH_REQUESTS_MAX: usize = 256;

/// Shortest time between two runs of the store's upkeep: while a reader blocks it, an immediate retry would only cost
/// time.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(1);

/// When callers whose batch failed should retry.
const FAILED_RETRY_AFTER: Duration = Duration::from_secs(1);

pub(crate) struct Dispatcher<S> {
    store: S,
    /// `None` after a failed transaction, until rebuilt from the store.
    scheduler: Option<Scheduler>,
    policy: Policy,
    roster: Roster,
    idlers: Idlers,
    turns: Turns,
    requests: mpsc::Receiver<Arrived>,
    clock: Clock,
    /// After a failed batch: the number of requests that still get a transaction each, so that one that the store
    /// cannot take fails alone.
    alone: usize,
    /// How long requests are taken into one batch: [`BATCH_TIME_MAX`], except in tests on a crowded machine.
    batch_time_max: Duration,
    /// Time of the last upkeep of the store.
    looked_after: Option<Instant>,
    removals: Removals,
    exclusions: Exclusions,
    forgetting: Forgetting,
    faults: Faults,
    courses: Courses,
    watch: Watch,
    publishing: Publishing,
    lease_clock: LeaseClock,
}

impl<S: Store> Dispatcher<S> {
    /// Reads the durable state.
    pub(crate) async fn start(
        mut store: S,
        policy: Policy,
        clock: Clock,
        faults: Faults,
        course_factory: Arc<CourseFactory>,
        work: Arc<Work>,
    ) -> Result<(Self, Dispatch), StoreError> {
        let mut roster = Roster::default();
        let mut courses = Courses::new(course_factory);
        let snapshot = playable_snapshot(&mut store).await?;
        courses.restart(&mut store).await?;
        let now = clock.now();
        roster.restart(&snapshot.leases, store.lease_holders().await?, now);
        let turns = Turns::new(policy.lease_duration_ms, now);
        let scheduler = Scheduler::restore(snapshot, policy.clone(), now);
        let (dispatch, requests) = Dispatch::new(clock);
        let removals = Removals::new(store.is_removing().await?);
        let exclusions = Exclusions::new(store.is_excluding().await?);
        let dispatcher = Self {
            store,
            scheduler: Some(scheduler),
            policy,
            roster,
            idlers: Idlers::default(),
            turns,
            requests,
            clock,
            alone: 0,
            batch_time_max: BATCH_TIME_MAX,
            looked_after: None,
            removals,
            exclusions,
            forgetting: Forgetting::new(),
            faults,
            courses,
            watch: Watch::new(),
            publishing: Publishing::new(work),
            lease_clock: LeaseClock::start(),
        };
        Ok((dispatcher, dispatch))
    }

    /// Sets whether only one worker is expected.
    pub(crate) const fn expect_one_worker(&mut self, is_alone: bool) {
        self.roster.expect_one_worker(is_alone);
    }

    /// Handle that reports whether the dispatcher can do its work.
    pub(crate) fn health(&self, dispatch: Dispatch) -> Health {
        self.watch.health(dispatch)
    }

    /// Serves requests until `stop`, and then those still in the queue. Returns the store, and the error if one ended
    /// the dispatcher.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> (S, Result<(), StoreError>) {
        let ended = self.serve_until(stop).await;
        (self.store, ended)
    }

    /// Serves requests until `stop`.
    ///
    /// # Errors
    /// If another coordinator has the database now, the database is gone or damaged, or the disk has failed for too
    /// long.
    async fn serve_until(&mut self, stop: CancellationToken) -> Result<(), StoreError> {
        loop {
            self.publish_if_due();
            let deadline = self.scheduler.as_ref().and_then(Scheduler::next_deadline);
            let tick = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(self.clock.instant(at).into()).await,
                    None => std::future::pending().await,
                }
            };
            let removal_due = self.removals.due();
            let removal = async {
                match removal_due {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            let exclusion_due = self.exclusions.due();
            let exclusion = async {
                match exclusion_due {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            let damaged = self.store.damaged();
            let next_turn = self.clock.instant(self.turns.next()).into();
            let turn = tokio::select! {
                biased;
                error = damaged => {
                    tracing::error!("ending: {error}; {}", error.remedy());
                    self.watch.record_failure(&error, Instant::now());
                    return Err(error);
                }
                () = stop.cancelled(), if !self.requests.is_closed() => Turn::Stop,
                first = self.requests.recv() => match first {
                    Some(first) => Turn::Serve(Some(first)),
                    None => return Ok(()),
                },
                () = tick => Turn::Serve(None),
                () = removal => Turn::Remove,
                () = exclusion => Turn::Exclude,
                () = tokio::time::sleep_until(self.forgetting.due().into()) => Turn::Forget,
                () = tokio::time::sleep_until(next_turn) => Turn::Nothing,
                () = tokio::time::sleep_until(self.publishing.due().into()) => continue,
            };
            self.turns.begin(self.clock.now());
            match turn {
                Turn::Stop => self.requests.close(),
                Turn::Serve(first) => {
                    self.serve(first).await?;
                    // Also under an unbroken stream of requests.
                    if self.removals.has_its_turn() {
                        self.remove().await?;
                    }
                    if self.exclusions.has_its_turn() {
                        self.exclude().await?;
                    }
                    if self.forgetting.due() <= Instant::now() {
                        self.forget().await?;
                    }
                }
                Turn::Remove => self.remove().await?,
                Turn::Exclude => self.exclude().await?,
                Turn::Forget => _ = self.forget().await?,
                Turn::Nothing => {}
            }
        }
    }

    /// Serves one batch: the first request, unless the clock caused this turn, and those waiting behind it.
    async fn serve(&mut self, first: Option<Arrived>) -> Result<(), StoreError> {
        let mut next = first;
        if let Some(Arrived { at, request: Request::Workers { reply }, call: _ }) = next {
            // The list of workers is available whatever the disk does.
            let workers = self.roster.summaries(at);
            let verifying = self.roster.verifying();
            let offers = self.roster.offers(at);
            let workforce = Workforce::new(workers, verifying, offers, self.scheduler.as_ref());
            let _gone = reply.send(Ok(workforce));
            return Ok(());
        }
        if let Some(Arrived { request: Request::UnderWay { asked, reply }, .. }) = next {
            // Games under way do not need the database either.
            let started = self.scheduler.as_ref().map(|scheduler| asked.started(scheduler));
            let _gone = reply.send(Ok(started.unwrap_or_default()));
            return Ok(());
        }
        let mut held = Vec::new();
        let error = match self.commit_batch(&mut next, &mut held).await {
            Ok((news, has_written)) => {
                if has_written {
                    self.watch.record_write();
                }
                self.alone = self.alone.saturating_sub(held.len());
                news.into_iter().for_each(|news| self.roster.apply(news));
                for (sent, held) in held.into_iter().enumerate() {
                    if sent > 0 {
                        self.faults.amid_answers();
                    }
                    held.send();
                }
                return self.maintain_store().await;
            }
            Err(error) => error,
        };
        held.extend(next.map(|arrived| arrived.request.hold()));
        self.publishing.work.rolled_back();
        let refusal = error.refusal(held.len() == 1 && !error.is_transient());
        // The scheduler has seen events that are not on disk.
        self.scheduler = None;
        self.alone = self.alone.saturating_sub(1);
        if held.len() > 1 {
            self.alone = held.len();
        }
        let requests = held.len();
        held.into_iter().for_each(|held| held.refuse(&refusal));
        tracing::error!(requests, "a transaction was rolled back: {error}; {}", error.remedy());
        match error {
            BatchError::Store(error)
                if self.watch.record_failure(&error, Instant::now()) || error.is_final() =>
            {
                Err(error)
            }
            BatchError::Store(_) | BatchError::Unanswered { .. } => Ok(()),
        }
    }

    /// Runs the store's own upkeep, such as restarting its log (invariant 9): under load the store is never idle for
    /// long enough.
    ///
    /// # Errors
    /// If another coordinator has the database now, or the database is gone or damaged.
    async fn maintain_store(&mut self) -> Result<(), StoreError> {
        let was_just_now = self.looked_after.is_some_and(|at| at.elapsed() < UPKEEP_INTERVAL);
        if was_just_now || !self.store.is_upkeep_due() {
            return Ok(());
        }
        self.looked_after = Some(Instant::now());
        match self.store.upkeep().await {
            Err(error) if error.is_final() => Err(error),
            Err(error) => {
                // Nothing is lost: the next attempt may succeed.
                tracing::warn!("failed to tidy up: {error}; {}", error.remedy());
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Answers a batch and commits it. If that fails, `next` has the request that was not begun, and `held` the answers
    /// to all that were. Also returns whether the batch has surely written something.
    async fn commit_batch(
        &mut self,
        next: &mut Option<Arrived>,
        held: &mut Vec<Held>,
    ) -> Result<(Vec<News>, bool), BatchError> {
        let started = Instant::now();
        let now = self.clock.now();
        let scheduler = match &mut self.scheduler {
            Some(scheduler) => {
                scheduler.begin_turn(now, self.turns.take_gap_ms());
                scheduler
            }
            // Every lease begins anew, whatever was before.
            None => {
                self.turns.take_gap_ms();
                let snapshot = playable_snapshot(&mut self.store).await?;
                self.courses.restart(&mut self.store).await?;
                let holders = self.store.lease_holders().await?;
                self.roster.restart(&snapshot.leases, holders, now);
                tracing::info!("the scheduler is built again from the database");
                self.scheduler.insert(Scheduler::restore(snapshot, self.policy.clone(), now))
            }
        };
        let epoch = self.store.term().0;
        let transaction = self.store.begin().await?;
        let (roster, idlers) = (&mut self.roster, &mut self.idlers);
        let (faults, courses) = (&self.faults, &mut self.courses);
        let mut batch = Batch::new(transaction, scheduler, roster, idlers, epoch, faults, courses);
        batch.leases_at = Some(self.lease_clock.read());
        if next.is_none() {
            batch.tick(now).await?;
        }
        let (mut requests, mut games) = (0, 0);
        let mut gathered = Vec::new();
        while let Some(arrived) = next.take() {
            requests += 1;
            match arrived {
                // Reports are stored in one write, also around other workers' calls: which of two that wait is
                // answered first means nothing to workers.
                Arrived { at, request: Request::Report { caller, results, reply }, call } => {
                    if !reply.is_closed() {
                        games += results.len();
                        gathered.push(Gathered { caller, results, at, reply, call });
                    }
                }
                arrived if arrived.request.is_apart_from(&gathered) => {
                    let call = arrived.call.clone();
                    let served = batch.serve(arrived, held).instrument(call).await;
                    if let Err(error) = served {
                        held.extend(gathered.into_iter().map(Gathered::hold));
                        return Err(error);
                    }
                }
                arrived => {
                    let before = batch.serve_reports(std::mem::take(&mut gathered), held).await;
                    if let Err(error) = before {
                        // This request was not begun.
                        *next = Some(arrived);
                        return Err(error);
                    }
                    let call = arrived.call.clone();
                    batch.serve(arrived, held).instrument(call).await?;
                }
            }
            if self.alone > 0
                || requests >= BATCH_REQUESTS_MAX
                || games >= BATCH_GAMES_MAX
                || started.elapsed() >= self.batch_time_max
            {
                break;
            }
            *next = self.requests.try_recv().ok();
        }
        batch.serve_reports(gathered, held).await?;
        let (removing, excluding) = (batch.removing, batch.excluding);
        let has_written = batch.has_written;
        let news = batch.commit(now, &self.publishing.work).await?;
        if removing {
            self.removals.begin();
        }
        if excluding {
            self.exclusions.begin();
        }
        tracing::debug!(requests, games, took = ?started.elapsed(), "committed");
        Ok((news, has_written))
    }
}

/// The purpose of a dispatcher's turn.
enum Turn {
    /// Stop, as requested.
    Stop,
    /// Requests, or what is due.
    Serve(Option<Arrived>),
    /// The next piece of the removals.
    Remove,
    /// The next piece of the exclusions.
    Exclude,
    /// The next old leases or workers.
    Forget,
    /// Nothing, only to notice standstills.
    Nothing,
}

/// The durable state of everything that this engine can play: an experiment is played only by the revision of the
/// engine that it was submitted to (invariant 2).
async fn playable_snapshot(store: &mut impl Store) -> Result<Snapshot, StoreError> {
    let mut snapshot = store.snapshot().await?;
    for unplayable in store.unfinished_of_other_revisions(ENGINE_REVISION).await? {
        tracing::warn!(
            experiment = unplayable.name,
            engine_revision = unplayable.engine_revision,
            "not going on with an experiment of another engine (this one is {ENGINE_REVISION}): \
             use the release it was begun with, or submit its sweep with --new"
        );
        snapshot.experiments.retain(|experiment| experiment.experiment != unplayable.experiment);
    }
    let cells: BTreeSet<CellId> = snapshot
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.cells)
        .map(|cell| cell.cell)
        .collect();
    snapshot.leases.retain(|lease| lease.granted.iter().all(|range| cells.contains(&range.cell)));
    snapshot.attempts.retain(|attempts| cells.contains(&attempts.game.cell));
    Ok(snapshot)
}

/// The scheduler broke its promise to answer. Never seen; not worth ending the coordinator for.
fn unexpected_answer(event: &'static str, answer: Option<Answer>) -> BatchError {
    debug_assert!(false, "the scheduler answered {event} with {answer:?}");
    BatchError::Unanswered { event }
}

/// Why a transaction was rolled back.
#[derive(Debug, thiserror::Error)]
enum BatchError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to schedule: the scheduler did not answer {event}")]
    Unanswered { event: &'static str },
}

impl BatchError {
    /// Whether the same requests may succeed later.
    fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Unanswered { .. } => false,
        }
    }

    fn remedy(&self) -> String {
        match self {
            Self::Store(error) => error.remedy(),
            Self::Unanswered { .. } => "report this as a fault of the program".to_owned(),
        }
    }

    /// The refusal for callers. A request that failed alone, and not because of the disk, is `hopeless`: it would fail
    /// again.
    fn refusal(&self, hopeless: bool) -> Refusal {
        let (reason, retry_after) = match self {
            Self::Store(error) if error.is_final() => (Reason::Ending, None),
            Self::Store(_) | Self::Unanswered { .. } if hopeless => (Reason::Internal, None),
            Self::Store(_) | Self::Unanswered { .. } => (Reason::Busy, Some(FAILED_RETRY_AFTER)),
        };
        Refusal { retry_after, ..Refusal::new(reason, self.to_string(), self.remedy()) }
    }
}
