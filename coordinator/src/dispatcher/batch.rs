//! One transaction: requests in, answers held until the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_model::change::GAME_TIMEOUT;
use spelrum_model::speed::Speed;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, GameId, GameRange, LeaseId, WorkerId};
use spelrum_proto::work::{Grant, LeasedGames};
use spelrum_proto::{Reason, Refusal, WorkerSecret};
use spelrum_scheduling::scheduler::{CellState, Event, LeaseEnd, Scheduler, Tasks, Time};

use super::courses::Courses;
use super::identity::{Caller, Identified, SecretHash, Welcome, identify};
use super::idle::Idlers;
use super::lease_clock::Reading;
use super::meaning::{Answer, Consequences, read, withheld_text};
use super::request::{
    Arrived, Gathered, Held, Leased, Removal, Reply, Request, Steered, Steering, Submission,
    Submitted, Workforce,
};
use super::roster::{News, Roster};
use super::wanted_builds::wanted_builds;
use super::{BatchError, unexpected_answer};
use crate::access::Credential;
use crate::faults::Faults;
use crate::metrics::{Done, Work};
use spelrum_store::contract::WriteTransaction;
use spelrum_store::{
    Found, LeasedCell, Removing, Retry, StoreError, Submitted as Stored, Sweep, WorkerIntroduction,
};

/// Requests being answered inside one transaction.
pub(super) struct Batch<'d, T> {
    pub(super) transaction: T,
    pub(super) scheduler: &'d mut Scheduler,
    pub(super) roster: &'d mut Roster,
    idlers: &'d mut Idlers,
    epoch: i64,
    pub(super) faults: &'d Faults,
    pub(super) courses: &'d mut Courses,
    /// Applied to the roster after the commit.
    pub(super) news: Vec<News>,
    /// UUIDs of workers that say Hello for the first time; the roster gets them after the commit.
    newcomers: BTreeSet<String>,
    /// Secrets that workers presented for the first time, to be stored.
    brought: BTreeMap<WorkerId, SecretHash>,
    /// The clock by which leases are granted, at the start of the batch; `None` disables checks against it.
    pub(super) leases_at: Option<Reading>,
    /// Whether a removal or an exclusion was begun.
    pub(super) removing: bool,
    pub(super) excluding: bool,
    /// Whether the batch has surely written something.
    pub(super) has_written: bool,
    /// What the batch has done, to be counted after the commit.
    pub(super) done: Done,
}

/// When a worker that got no place should retry.
const FULL_RETRY_AFTER: Duration = Duration::from_secs(10);

/// When to try again to delete an experiment whose games are still held.
const HELD_RETRY_AFTER: Duration = Duration::from_secs(1);

/// A worker with this many refused results gets no more games until its restart.
const REFUSED_MAX: u64 = 10;

/// Why a request has no answer.
pub(super) enum Failure {
    /// The request is refused; the transaction goes on.
    Refused(Refusal),
    Batch(BatchError),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Batch(error.into())
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl<'d, T: WriteTransaction> Batch<'d, T> {
    pub(super) fn new(
        transaction: T,
        scheduler: &'d mut Scheduler,
        roster: &'d mut Roster,
        idlers: &'d mut Idlers,
        epoch: i64,
        faults: &'d Faults,
        courses: &'d mut Courses,
    ) -> Self {
        Self {
            transaction,
            scheduler,
            roster,
            idlers,
            epoch,
            faults,
            courses,
            news: Vec::new(),
            newcomers: BTreeSet::new(),
            brought: BTreeMap::new(),
            leases_at: None,
            removing: false,
            excluding: false,
            has_written: false,
            done: Done::default(),
        }
    }

    /// Runs the scheduler's due work.
    pub(super) async fn tick(&mut self, now: Time) -> Result<(), BatchError> {
        let mut consequences = Consequences::default();
        read(self.scheduler.handle(Event::Tick, now), &mut consequences);
        self.store(consequences).await
    }

    /// Answers one request; the answer is held.
    pub(super) async fn serve(
        &mut self,
        arrived: Arrived,
        held: &mut Vec<Held>,
    ) -> Result<(), BatchError> {
        if arrived.request.is_abandoned() {
            return Ok(());
        }
        let Arrived { at: now, request, call } = arrived;
        match request {
            Request::Hello { introduction, secret, reply } => {
                let answer = self.hello(introduction, secret, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Lease { caller, slots, speeds, reply } => {
                let answer = self.lease(caller, slots, speeds, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Report { caller, results, reply } => {
                let gathered = Gathered { caller, results, at: now, reply, call };
                self.serve_reports(vec![gathered], held).await
            }
            Request::Heartbeat { caller, leases, playing, reply } => {
                let answer = self.heartbeat(caller, leases, playing, now).await;
                hold_reply(held, reply, answer)
            }
            Request::GiveBack { caller, leases, reply } => {
                let answer = self.give_back(caller, leases, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Submit { submission, reply } => {
                let answer = self.submit(*submission, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Steer { experiment, what: steering, reply } => {
                let answer = self.steer(&experiment, steering, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Remove { removal, reply } => {
                let answer = self.remove(removal, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Exclude { exclude, reply } => {
                let answer = self.exclude(exclude, now).await;
                hold_reply(held, reply, answer)
            }
            Request::ExcludeSome { reply } => {
                let answer = self.exclude_some(now).await;
                hold_reply(held, reply, answer)
            }
            Request::Verify { experiment, games, reply } => {
                let answer = self.order_verifications(&experiment, &games, now).await;
                hold_reply(held, reply, answer)
            }
            Request::Probe { reply } => {
                let answer = self.transaction.touch().await.map_err(Failure::from);
                self.has_written = answer.is_ok();
                hold_reply(held, reply, answer)
            }
            Request::Workers { reply } => {
                // The transaction can undo none of this.
                let workers = self.roster.summaries(now);
                let verifying = self.roster.verifying();
                let offers = self.roster.offers(now);
                let workforce = Workforce::new(workers, verifying, offers, Some(self.scheduler));
                let _gone = reply.send(Ok(workforce));
                Ok(())
            }
            Request::NeededEngines { reply } => {
                let _gone = reply.send(Ok(self.scheduler.needed_engines()));
                Ok(())
            }
            Request::UnderWay { asked, reply } => {
                let _gone = reply.send(Ok(asked.started(self.scheduler)));
                Ok(())
            }
            Request::Queued { reply } => {
                let _gone = reply.send(Ok(self.scheduler.queued()));
                Ok(())
            }
        }
    }

    /// Stores what the scheduler needs after a restart, commits, and updates the counters. From then on the answers are
    /// true.
    pub(super) async fn commit(
        mut self,
        now: Time,
        counted: &Work,
    ) -> Result<Vec<News>, BatchError> {
        self.lead(now).await?;
        self.store_changes().await?;
        for (worker, SecretHash(sha256)) in std::mem::take(&mut self.brought) {
            self.transaction.keep_worker_secret(worker, sha256).await?;
        }
        let started = Instant::now();
        self.faults.at_commit().await?;
        self.transaction.commit().await?;
        self.faults.after_commit();
        counted.committed(self.done, started.elapsed());
        Ok(self.news)
    }

    /// Stores what the scheduler needs after a restart, as of this point of the transaction.
    pub(super) async fn store_changes(&mut self) -> Result<(), StoreError> {
        let changes = self.scheduler.take_changes();
        self.transaction.apply(&changes).await?;
        for granted in &changes.granted {
            let games = granted.granted.iter().map(|range| range.count).sum();
            self.news.push(News::Granted(granted.worker, granted.lease, games));
        }
        let expired = changes.ended.iter().filter(|(_, why)| *why == LeaseEnd::Expired);
        self.done.expired += expired.count() as u64;
        self.done.granted += changes.granted.len() as u64;
        self.news.extend(changes.ended.iter().map(|&(lease, why)| News::Ended(lease, why)));
        Ok(())
    }

    async fn hello(
        &mut self,
        introduction: Box<WorkerIntroduction>,
        presented: Option<WorkerSecret>,
        now: Time,
    ) -> Result<Welcome, Failure> {
        let Identified { secret, lock } = self.identify(&introduction, presented).await?;
        // A known worker takes no further place.
        if !self.roster.contains_uuid(&introduction.uuid) {
            self.newcomers.insert(introduction.uuid.clone());
            if !self.roster.has_places(self.newcomers.len(), now) {
                self.newcomers.remove(&introduction.uuid);
                let problem = "the coordinator has as many workers as it can have";
                let remedy = "give each worker more slots instead; places become free when workers \
                              go away";
                let refusal = Refusal::new(Reason::Busy, problem, remedy);
                return Err(Refusal { retry_after: Some(FULL_RETRY_AFTER), ..refusal }.into());
            }
        }
        let worker = self.transaction.introduce(&introduction).await?;
        self.exclude_again(worker, now).await?;
        tracing::info!(
            %worker,
            name = introduction.name,
            host = introduction.host,
            slots = introduction.slots,
            "a worker said hello"
        );
        self.news.push(News::Hello(worker, introduction, lock, now));
        Ok(Welcome { worker, secret })
    }

    /// Checks a Hello: a worker with a known UUID must prove that it is the same worker.
    async fn identify(
        &mut self,
        introduction: &WorkerIntroduction,
        presented: Option<WorkerSecret>,
    ) -> Result<Identified, Failure> {
        let uuid = &introduction.uuid;
        let mut kept = self.transaction.worker_proof(uuid).await?;
        let worker = self.roster.worker_with_uuid(uuid);
        if let (Some(kept), Some(worker)) = (&mut kept, worker)
            && let Some(SecretHash(sha256)) = self.brought.get(&worker)
        {
            kept.secret_sha256 = Some(*sha256);
        }
        let by = introduction.credential.as_deref();
        identify(kept.as_ref(), presented, by, rand::random()).map_err(|impostor| {
            if let Some(times) = self.roster.impostors.record(1) {
                let name = &introduction.name;
                tracing::warn!(times, name, by, ?impostor,
                    "refused calls that name workers and do not prove to be theirs; the last is a Hello by this name");
            }
            impostor.refuse_hello().into()
        })
    }

    async fn lease(
        &mut self,
        caller: Caller,
        slots: u32,
        speeds: Vec<Speed>,
        now: Time,
    ) -> Result<(Leased, Vec<String>), Failure> {
        let worker = self.check_caller(&caller, now)?;
        self.transaction.store_speeds(worker, &speeds).await?;
        if self.roster.refused(worker) >= REFUSED_MAX {
            let problem = format!(
                "{REFUSED_MAX} results of this worker are not games that the rules allow: it gets no more"
            );
            let remedy = "use a worker of the coordinator's release; if it is one, test the memory of its \
                machine (the table refused_results has what it said)";
            return Err(Refusal::new(Reason::Malformed, problem, remedy).into());
        }
        let memory_bytes = self.roster.memory(worker);
        self.roster.record_speeds(worker, speeds, now);
        let offer = self.roster.offer(worker, now);
        let trains = self.roster.trains(worker);
        let verifies = self.roster.verifies(worker);
        let quiet_slots = self.roster.quiet_slots(worker);
        let built = self.roster.built(worker);
        let builds = match built.has_no_source() {
            true => Vec::new(),
            false => wanted_builds(&self.scheduler.wanted(), &offer, &built),
        };
        let event = Event::LeaseWanted {
            worker,
            slots,
            quiet_slots,
            memory_bytes,
            offer,
            trains,
            verifies,
        };
        match self.handle(event, now).await? {
            Some(Answer::Grant { lease, ranges, lost, duration }) => {
                let games = self.leased_games(ranges, &lost).await?;
                tracing::debug!(%worker, %lease, ranges = games.len(), "granted");
                Ok((Leased::Grant(Grant { lease, duration, games }), builds))
            }
            Some(Answer::Idle { retry_after, all_done, withheld, calibrate }) => {
                let retry_after = self.idlers.retry_after(retry_after, now);
                let withheld = withheld.map(|why| withheld_text(why, worker)).unwrap_or_default();
                let calibrate = calibrate.unwrap_or_default();
                // One that gets no games has no use for builds.
                let builds = if withheld.is_empty() { builds } else { Vec::new() };
                Ok((Leased::Idle { retry_after, all_done, withheld, calibrate }, builds))
            }
            answer => Err(unexpected_answer("LeaseWanted", answer).into()),
        }
    }

    async fn heartbeat(
        &mut self,
        caller: Caller,
        leases: Vec<LeaseId>,
        playing: Vec<GameId>,
        now: Time,
    ) -> Result<Vec<LeaseId>, Failure> {
        let worker = self.check_caller(&caller, now)?;
        self.news.push(News::Playing(worker, playing.len() as u64));
        match self.handle(Event::Heartbeat { worker, leases, playing }, now).await? {
            Some(Answer::Drop(leases)) => Ok(leases),
            answer => Err(unexpected_answer("Heartbeat", answer).into()),
        }
    }

    async fn give_back(
        &mut self,
        caller: Caller,
        leases: Vec<LeaseId>,
        now: Time,
    ) -> Result<(), Failure> {
        let worker = self.check_caller(&caller, now)?;
        for lease in leases {
            self.handle(Event::GivenBack { worker, lease }, now).await?;
        }
        Ok(())
    }

    async fn submit(&mut self, submission: Submission, now: Time) -> Result<Submitted, Failure> {
        let Submission { uuid, toml, files, plan, new_experiment, fills, place: _place } =
            submission;
        let (uuid, toml, files, plan) = (&uuid, &toml, &files, &plan);
        let fills = fills.as_deref();
        let sweep = Sweep { uuid, toml, files, plan, new_experiment, fills };
        // The games leased so far limit where a shrunken cell can end.
        self.store_changes().await?;
        let stored = match self.transaction.submit(sweep).await {
            Ok(stored) => stored,
            Err(error) => match submission_refusal(&error) {
                Some(refusal) => return Err(refusal.into()),
                None => return Err(error.into()),
            },
        };
        let Stored { experiment, uuid, existed, change, tell, cells, attempts, games, claims } =
            stored;
        let is_timeout_other =
            change.as_ref().is_some_and(|change| change.has_changed(GAME_TIMEOUT));
        if !existed || change.is_some() {
            let name = &plan.name;
            let is_changed = change.is_some();
            tracing::info!(name, uuid, games, is_changed, "an experiment was submitted");
        }
        if tell {
            let settings = plan.settings.scheduling;
            // A course of a new experiment only: a later sweep never changes it.
            let course = if existed { None } else { self.new_course(plan) };
            let open = course.is_some();
            let course = course.map(|course| {
                let games = cells.iter().filter(|state| state.tasks == Tasks::Games);
                let ids: Vec<CellId> = games.map(|state| state.cell).collect();
                (course, ids)
            });
            let event = Event::Submitted { experiment, settings, open, cells, attempts };
            self.handle(event, now).await?;
            if let Some((course, ids)) = course {
                self.transaction.open_course(experiment).await?;
                self.begin_course(experiment, course, plan, ids, now).await?;
            }
        }
        if is_timeout_other {
            // Work that took too long, or had too little time, may succeed now.
            let stored_experiment = self.find_experiment(&uuid).await?;
            self.retry(&stored_experiment, now).await?;
        }
        Ok(Submitted { uuid, existed, change, games, claims })
    }

    async fn steer(
        &mut self,
        name: &str,
        steering: Steering,
        now: Time,
    ) -> Result<Steered, Failure> {
        let stored = self.find_experiment(name).await?;
        let uuid = stored.uuid.clone();
        let steered = |games_retried| Steered { uuid, games_retried };
        match stored.state {
            ExperimentState::Finished if steering == Steering::Retry => {}
            ExperimentState::Running | ExperimentState::Paused => {}
            state if steering == Steering::State(state) => return Ok(steered(0)),
            ExperimentState::Cancelled => {
                let problem = format!("the experiment {name:?} was cancelled, which is final");
                let remedy = "submit its sweep again with --new";
                return Err(Refusal::new(Reason::WrongState, problem, remedy).into());
            }
            ExperimentState::Finished => {
                let problem = format!("the experiment {name:?} is finished");
                let remedy = "there is nothing left to steer; more games would make it run again";
                return Err(Refusal::new(Reason::WrongState, problem, remedy).into());
            }
        }
        let experiment = stored.experiment;
        let event = match steering {
            Steering::State(state) => {
                self.transaction.set_state(experiment, state).await?;
                Event::Steered { experiment, state }
            }
            Steering::Priority(priority) => {
                self.transaction.set_priority(experiment, priority).await?;
                Event::Prioritized { experiment, priority }
            }
            Steering::Retry => return Ok(steered(self.retry(&stored, now).await?)),
        };
        self.handle(event, now).await?;
        tracing::info!(which = name, what = steering.name(), "an experiment was steered");
        Ok(steered(0))
    }

    /// Retries the failed games of an experiment. Returns their number.
    async fn retry(&mut self, found: &Found, now: Time) -> Result<u64, Failure> {
        let Found { experiment, uuid, state } = found;
        let experiment = *experiment;
        self.store_changes().await?;
        let retried = match self.transaction.retry_failed(experiment).await {
            Ok(retried) => retried,
            Err(error @ StoreError::HasCourse { .. }) => {
                let problem = "an experiment that takes a course of its own plays no game again";
                let refusal = Refusal::new(Reason::WrongState, problem, error.remedy());
                return Err(refusal.into());
            }
            Err(StoreError::OtherEngine { revision, .. }) => {
                let problem = format!(
                    "the experiment is of engine revision {revision}: what this one ({ENGINE_REVISION}) would \
                     play may be other games"
                );
                let remedy =
                    "use the release that it was begun with, or submit its sweep with --new";
                return Err(Refusal::new(Reason::WrongState, problem, remedy).into());
            }
            Err(error) => return Err(error.into()),
        };
        let Retry { games, cells, attempts, settings } = retried;
        let count = games.len() as u64;
        if count == 0 {
            return Ok(0);
        }
        if *state == ExperimentState::Finished {
            self.transaction.set_state(experiment, ExperimentState::Running).await?;
        }
        let event = if self.scheduler.knows(experiment) {
            let played = cells.iter().map(|state| (state.cell, state.played)).collect();
            let reading = |state: CellState| Some((state.cell, *state.reading?));
            let readings = cells.into_iter().filter_map(reading).collect();
            Event::Reopened { experiment, games, readings, played }
        } else {
            Event::Submitted { experiment, settings, open: false, cells, attempts }
        };
        self.handle(event, now).await?;
        tracing::info!(uuid, games = count, "failed games are played again");
        Ok(count)
    }

    async fn remove(&mut self, removal: Removal, now: Time) -> Result<String, Failure> {
        let Removal { experiment: name, what, games } = removal;
        // Expiry ends leases.
        self.handle(Event::Tick, now).await?;
        let Found { experiment, uuid, state } = self.find_experiment(&name).await?;
        if what == Removing::Everything && state == ExperimentState::Running {
            let problem = format!("the experiment {name:?} is running");
            let remedy = "pause or cancel it first: `spelrum pause`, `spelrum cancel`";
            return Err(Refusal::new(Reason::WrongState, problem, remedy).into());
        }
        if what == Removing::Everything && self.scheduler.holds_leases(experiment) {
            let problem = format!("workers still play games of the experiment {name:?}");
            let remedy = "cancel it first (`spelrum cancel`), or try again when they are played";
            let refusal = Refusal::new(Reason::WrongState, problem, remedy);
            return Err(Refusal { retry_after: Some(HELD_RETRY_AFTER), ..refusal }.into());
        }
        if let Some(games) = games {
            self.transaction.begin_removal(experiment, what, games).await?;
            if what == Removing::Everything {
                self.handle(Event::Removed { experiment }, now).await?;
            }
            self.removing = true;
            tracing::info!(which = name, ?what, games, "an experiment is being removed");
        }
        Ok(uuid)
    }

    pub(super) async fn find_experiment(&mut self, name: &str) -> Result<Found, Failure> {
        self.transaction.experiment(name).await?.ok_or_else(|| unknown_experiment(name).into())
    }

    /// The caller's worker id, if the worker has said Hello to this run of the coordinator and proves its identity
    /// (invariant 6).
    pub(super) fn check_caller(&mut self, caller: &Caller, now: Time) -> Result<WorkerId, Refusal> {
        if caller.epoch != self.epoch || !self.roster.contains(caller.worker) {
            let problem = format!(
                "the coordinator (epoch {}) does not know worker {} (of epoch {})",
                self.epoch, caller.worker, caller.epoch
            );
            return Err(Refusal::new(Reason::SayHello, problem, "say Hello, then try again"));
        }
        let worker = caller.worker;
        match self.roster.check(caller) {
            Ok(None) => {}
            Ok(Some(secret)) => {
                self.brought.insert(worker, secret);
                self.news.push(News::Proved(worker));
            }
            Err(impostor) => {
                if let Some(times) = self.roster.impostors.record(1) {
                    let by = caller.credential.as_ref().map(Credential::as_str);
                    tracing::warn!(times, %worker, by, ?impostor,
                        "refused calls that name workers and do not prove to be theirs; the last named this worker");
                }
                return Err(impostor.refuse_call(worker));
            }
        }
        self.roster.record_contact(worker, now);
        Ok(worker)
    }

    /// Passes one event to the scheduler, and stores the consequences.
    pub(super) async fn handle(
        &mut self,
        event: Event,
        now: Time,
    ) -> Result<Option<Answer>, BatchError> {
        let mut consequences = Consequences::default();
        let answer = read(self.scheduler.handle(event, now), &mut consequences);
        self.store(consequences).await?;
        Ok(answer)
    }

    pub(super) async fn store(&mut self, consequences: Consequences) -> Result<(), BatchError> {
        if !consequences.failed.is_empty() {
            for (GameId { cell, number }, message) in &consequences.failed {
                tracing::warn!(%cell, number, message, "a game is settled as failed");
            }
            self.done.failed += consequences.failed.len() as u64;
            self.transaction.settle_failed(&consequences.failed).await?;
        }
        for (worker, faults, games) in consequences.quarantined {
            tracing::warn!(%worker, faults, games, "a worker is quarantined: its failed games succeeded on other workers");
            self.done.quarantined += 1;
        }
        for (worker, barred) in consequences.barred {
            let Barred { engine, forfeits, games, of_others: [others, others_games] } = &barred;
            tracing::warn!(%worker, engine, forfeits, games, others, others_games,
                "a worker gets no more games of an engine, which forfeits them there and not elsewhere: \
                 what it played with it is played by others");
            self.transaction.bar(worker, &barred).await?;
            self.excluding = true;
        }
        for experiment in consequences.finished {
            tracing::info!(%experiment, "an experiment is finished");
            self.transaction.set_state(experiment, ExperimentState::Finished).await?;
        }
        Ok(())
    }

    /// Adds to each range the cell data that its worker needs.
    async fn leased_games(
        &mut self,
        ranges: Vec<GameRange>,
        lost: &[GameRange],
    ) -> Result<Vec<LeasedGames>, Failure> {
        let mut cells: Vec<CellId> = ranges.iter().map(|range| range.cell).collect();
        cells.sort_unstable();
        cells.dedup();
        let leased_cells = self.transaction.leased_cells(&cells).await?;
        let cell_of: BTreeMap<_, _> = cells.into_iter().zip(leased_cells).collect();
        let leased = ranges.into_iter().map(|range| {
            let LeasedCell { definition, game_timeout, timed, scaling } = cell_of[&range.cell];
            let name_before_play = lost.contains(&range);
            LeasedGames { range, definition, game_timeout, name_before_play, timed, scaling }
        });
        Ok(leased.collect())
    }
}

/// Holds an answer. An error of the store ends the transaction; its caller is held too.
pub(super) fn hold_reply<T: Send + 'static>(
    held: &mut Vec<Held>,
    reply: Reply<T>,
    answer: Result<T, Failure>,
) -> Result<(), BatchError> {
    let (answer, result) = match answer {
        Ok(answer) => (Ok(answer), Ok(())),
        Err(Failure::Refused(refusal)) => (Err(refusal), Ok(())),
        Err(Failure::Batch(error)) => (Err(error.refusal(true)), Err(error)),
    };
    held.push(Held::new(reply, answer));
    result
}

/// The refusal for a sweep that cannot be stored, if the sweep is the cause.
pub(crate) fn submission_refusal(error: &StoreError) -> Option<Refusal> {
    let reason = if let StoreError::TooLarge { .. } = error {
        Reason::BadSweep
    } else if let StoreError::Cancelled { .. } = error {
        Reason::WrongState
    } else if matches!(
        error,
        StoreError::NothingInCommon { .. }
            | StoreError::OtherEngine { .. }
            | StoreError::ManyCells { .. }
            | StoreError::HasCourse { .. }
    ) {
        Reason::NameTaken
    } else {
        return None;
    };
    Some(Refusal::new(reason, error.to_string(), error.remedy()))
}

/// Refuses an unknown UUID or name of an experiment.
pub(crate) fn unknown_experiment(name: &str) -> Refusal {
    let problem = format!("there is no experiment with the UUID or name {name:?}");
    Refusal::new(Reason::UnknownExperiment, problem, "`spelrum list` shows all")
}
