//! Requests to the dispatcher, and the handle that services send them through.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use spelrum_answers::{ExcludeWorkers, ExcludedWorkers, UNDER_WAY_MAX, WorkerSummary};
use spelrum_model::ExperimentState;
use spelrum_model::change::Change;
use spelrum_model::claims::ClaimStanding;
use spelrum_model::demands::Offer;
use spelrum_model::speed::Speed;
use spelrum_model::wanted::Wanted;
use spelrum_model::withheld::Withheld;
use spelrum_model::{CellId, ExperimentId, GameId, LeaseId, Plan, WorkerId};
use spelrum_proto::work::{Grant, Reported};
use spelrum_proto::{Reason, Refusal, WorkerSecret, v1};
use spelrum_scheduling::scheduler::{Queued, Scheduler, Time};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tracing::Span;

use super::identity::{Caller, Welcome};
use spelrum_store::{Removing, ToVerify, WorkerIntroduction};

/// Requests that can wait for their turn (invariant 9).
pub(super) const QUEUE_MAX: usize = 256;

/// Time a request waits for a place in the queue before its caller gets a busy refusal.
const QUEUE_PATIENCE: Duration = Duration::from_secs(5);

/// When a caller that got no place should retry.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// One well-formed request: services have checked everything that needs no database.
pub(super) enum Request {
    /// A worker introduces itself; answered with its id and its secret.
    Hello {
        introduction: Box<WorkerIntroduction>,
        /// The secret from an earlier Hello.
        secret: Option<WorkerSecret>,
        reply: Reply<Welcome>,
    },
    /// A worker asks for games; answered also with the engines that it is to build.
    Lease { caller: Caller, slots: u32, speeds: Vec<Speed>, reply: Reply<(Leased, Vec<String>)> },
    /// A worker reports results; answered with a verdict for each.
    Report { caller: Caller, results: Vec<Reported>, reply: Reply<Vec<v1::Verdict>> },
    /// A worker is alive; answered with the leases that the worker must drop.
    Heartbeat {
        caller: Caller,
        leases: Vec<LeaseId>,
        playing: Vec<GameId>,
        reply: Reply<Vec<LeaseId>>,
    },
    /// A worker hands leases back.
    GiveBack { caller: Caller, leases: Vec<LeaseId>, reply: Reply<()> },
    /// A client submits a planned sweep.
    Submit { submission: Box<Submission>, reply: Reply<Submitted> },
    /// A client steers an experiment, named by UUID or name.
    Steer { experiment: String, what: Steering, reply: Reply<Steered> },
    /// A client deletes an experiment or its moves; answered with its UUID.
    Remove { removal: Removal, reply: Reply<String> },
    /// A client excludes workers, or readmits them.
    Exclude { exclude: ExcludeWorkers, reply: Reply<ExcludedWorkers> },
    /// The dispatcher itself discards the next results of excluded workers; answered with whether more are left.
    ExcludeSome { reply: Reply<bool> },
    /// A client asks for the list of workers.
    Workers { reply: Reply<Workforce> },
    /// A client pushes a program; answered with the engines that experiments need which are not over.
    NeededEngines { reply: Reply<BTreeSet<String>> },
    /// A client asks which of these games are being played, of which experiments and by which workers.
    UnderWay { asked: AskedGames, reply: Reply<Started> },
    /// A client asks for the games that wait, by their demands.
    Queued { reply: Reply<Vec<Queued>> },
    /// A client orders replays of an experiment's games by other workers; answered with the number ordered. The
    /// experiment is named by its UUID.
    Verify { experiment: String, games: Vec<ToVerify>, reply: Reply<u64> },
    /// A health check asks whether anything can be committed.
    Probe { reply: Reply<()> },
}

/// Games that may be under way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AskedGames {
    Experiment(ExperimentId),
    Cell(CellId),
    Game(GameId),
}

/// The first of the games that are being played, with their experiments and workers, and the number of all.
pub(crate) type Started = (Vec<(ExperimentId, GameId, WorkerId)>, u64);

impl AskedGames {
    pub(super) fn started(self, scheduler: &Scheduler) -> Started {
        let is_asked = |experiment, game: GameId| match self {
            Self::Experiment(id) => experiment == id,
            Self::Cell(id) => game.cell == id,
            Self::Game(id) => game == id,
        };
        scheduler.under_way(is_asked, UNDER_WAY_MAX)
    }
}

/// A report that is merged with those right behind it.
pub(super) struct Gathered {
    pub(super) caller: Caller,
    pub(super) results: Vec<Reported>,
    pub(super) at: Time,
    pub(super) reply: Reply<Vec<v1::Verdict>>,
    pub(super) call: Span,
}

impl Gathered {
    /// The held answer of a report that was not begun, which can only be refused.
    pub(super) fn hold(self) -> Held {
        Held::unanswered(self.reply)
    }
}

/// Answer to [`Request::Workers`].
#[derive(Debug)]
pub(crate) struct Workforce {
    pub(crate) workers: Vec<WorkerSummary>,
    /// For each experiment that waits for workers, the cell whose games need most memory, and that memory.
    pub(crate) largest: Vec<(ExperimentId, CellId, u64)>,
    /// Work that waits for workers that meet its demands.
    pub(crate) wanted: Vec<Wanted>,
    /// Workers that verify games of other workers.
    pub(crate) verifying: BTreeSet<WorkerId>,
    /// What each worker offers beside memory.
    pub(crate) offers: BTreeMap<WorkerId, Offer>,
    /// Workers that get no games, and why.
    pub(crate) withheld: Vec<(WorkerId, Withheld)>,
}

impl Workforce {
    /// These workers, and the work that waits for them as far as the scheduler is available.
    pub(super) fn new(
        workers: Vec<WorkerSummary>,
        verifying: BTreeSet<WorkerId>,
        offers: BTreeMap<WorkerId, Offer>,
        scheduler: Option<&Scheduler>,
    ) -> Self {
        Self {
            workers,
            verifying,
            offers,
            largest: scheduler.map(Scheduler::largest_waiting).unwrap_or_default(),
            wanted: scheduler.map(Scheduler::wanted).unwrap_or_default(),
            withheld: scheduler.map(Scheduler::withheld).unwrap_or_default(),
        }
    }
}

/// A change to an experiment's state, priority or failed games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steering {
    /// A new state.
    State(ExperimentState),
    /// A new priority.
    Priority(i32),
    /// A retry of its failed games.
    Retry,
}

impl Steering {
    /// The change's name in the log.
    pub(super) fn name(self) -> String {
        match self {
            Self::State(state) => state.name().to_owned(),
            Self::Priority(priority) => format!("priority {priority}"),
            Self::Retry => "failed games again".to_owned(),
        }
    }
}

/// Answer to [`Request::Steer`].
#[derive(Debug)]
pub(crate) struct Steered {
    /// The experiment's UUID.
    pub(crate) uuid: String,
    /// Number of failed games that are retried.
    pub(crate) games_retried: u64,
}

/// A request to delete an experiment or its moves.
#[derive(Debug)]
pub(crate) struct Removal {
    /// A UUID or a name.
    pub(crate) experiment: String,
    /// The whole experiment, or its moves.
    pub(crate) what: Removing,
    /// Number of games concerned, as a confirmation; `None` only asks whether the removal is allowed.
    pub(crate) games: Option<u64>,
}

/// Answer to [`Request::Lease`].
#[derive(Debug)]
pub(crate) enum Leased {
    Grant(Grant),
    /// Nothing to do now.
    Idle {
        /// When to ask again.
        retry_after: Duration,
        /// Whether no running experiment has an unsettled game.
        all_done: bool,
        /// Why this worker gets none of the waiting games; empty if the worker is not the reason.
        withheld: String,
        /// The game whose speed the worker should measure; empty if none.
        calibrate: String,
    },
}

/// A planned sweep.
#[derive(Debug)]
pub(crate) struct Submission {
    /// Chosen by the client.
    pub(crate) uuid: String,
    /// The sweep's text.
    pub(crate) toml: String,
    /// The files that the sweep names, by those names.
    pub(crate) files: BTreeMap<String, String>,
    /// The sweep's meaning.
    pub(crate) plan: Plan,
    /// Whether the sweep becomes a new experiment, even if one of its name exists.
    pub(crate) new_experiment: bool,
    /// The UUID of the experiment whose awaited builds this sweep fills in.
    pub(crate) fills: Option<String>,
    /// Its place among the few plans allowed in memory at once (invariant 9).
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

/// Answer to [`Request::Submit`].
#[derive(Debug)]
pub(crate) struct Submitted {
    /// The experiment's UUID: that of the existing one, if it existed.
    pub(crate) uuid: String,
    /// Whether the experiment existed.
    pub(crate) existed: bool,
    /// The sweep's changes to the experiment, if it existed.
    pub(crate) change: Option<Change>,
    /// The experiment's number of games.
    pub(crate) games: u64,
    /// The state of the experiment's claims.
    pub(crate) claims: Vec<ClaimStanding>,
}

impl Request {
    /// Whether the request can be dropped because its caller has gone: its answer was never sent, and a caller that
    /// still needs it asks again. Otherwise an overloaded coordinator would do everything twice and fall ever further
    /// behind.
    ///
    /// A heartbeat and returned leases are processed nevertheless. They cost little, and no caller will repeat them:
    /// the heartbeat names the game that killed its worker, and returning leases is a worker's last call.
    pub(super) fn is_abandoned(&self) -> bool {
        match self {
            Self::Hello { reply, .. } => reply.is_closed(),
            Self::Lease { reply, .. } => reply.is_closed(),
            Self::Report { reply, .. } => reply.is_closed(),
            Self::Submit { reply, .. } => reply.is_closed(),
            Self::Steer { reply, .. } => reply.is_closed(),
            Self::Remove { reply, .. } => reply.is_closed(),
            Self::Exclude { reply, .. } => reply.is_closed(),
            Self::ExcludeSome { reply } => reply.is_closed(),
            Self::Workers { reply } => reply.is_closed(),
            Self::NeededEngines { reply } => reply.is_closed(),
            Self::UnderWay { reply, .. } => reply.is_closed(),
            Self::Queued { reply } => reply.is_closed(),
            Self::Verify { reply, .. } => reply.is_closed(),
            Self::Probe { reply } => reply.is_closed(),
            Self::Heartbeat { .. } | Self::GiveBack { .. } => false,
        }
    }

    /// Whether this is the everyday call of a worker without one of these reports, so that it may be served before them.
    pub(super) fn is_apart_from(&self, reports: &[Gathered]) -> bool {
        let (Self::Lease { caller, .. } | Self::Heartbeat { caller, .. }) = self else {
            return false;
        };
        reports.iter().all(|report| report.caller.worker != caller.worker)
    }

    /// The held answer of a request that was not begun, which can only be refused.
    pub(super) fn hold(self) -> Held {
        match self {
            Self::Hello { reply, .. } => Held::unanswered(reply),
            Self::Lease { reply, .. } => Held::unanswered(reply),
            Self::Report { reply, .. } => Held::unanswered(reply),
            Self::Heartbeat { reply, .. } => Held::unanswered(reply),
            Self::GiveBack { reply, .. } => Held::unanswered(reply),
            Self::Submit { reply, .. } => Held::unanswered(reply),
            Self::Steer { reply, .. } => Held::unanswered(reply),
            Self::Remove { reply, .. } => Held::unanswered(reply),
            Self::Exclude { reply, .. } => Held::unanswered(reply),
            Self::ExcludeSome { reply } => Held::unanswered(reply),
            Self::Workers { reply } => Held::unanswered(reply),
            Self::NeededEngines { reply } => Held::unanswered(reply),
            Self::UnderWay { reply, .. } => Held::unanswered(reply),
            Self::Queued { reply } => Held::unanswered(reply),
            Self::Verify { reply, .. } => Held::unanswered(reply),
            Self::Probe { reply } => Held::unanswered(reply),
        }
    }
}

/// An answer that waits for the commit (invariant 5).
pub(super) struct Held(Box<Answering>);

/// Sends the answer, or the refusal in its place.
type Answering = dyn FnOnce(Option<&Refusal>) + Send;

impl Held {
    /// Holds an answer until the commit makes it true.
    pub(super) fn new<T: Send + 'static>(reply: Reply<T>, answer: Result<T, Refusal>) -> Self {
        Self(Box::new(move |failed| {
            // A caller that has gone away does not need it.
            let _gone = reply.send(match failed {
                None => answer,
                Some(refusal) => Err(refusal.clone()),
            });
        }))
    }

    fn unanswered<T: Send + 'static>(reply: Reply<T>) -> Self {
        Self::new(reply, Err(ending()))
    }

    /// Sends the answer.
    pub(super) fn send(self) {
        (self.0)(None);
    }

    /// Reports to the caller that the request had no effect.
    pub(super) fn refuse(self, refusal: &Refusal) {
        (self.0)(Some(refusal));
    }
}

/// A request with its time of arrival. The scheduler uses that time, so a heartbeat that waited behind a slow commit
/// counts as punctual.
pub(super) struct Arrived {
    pub(super) at: Time,
    pub(super) request: Request,
    /// The caller's span, for the log.
    pub(super) call: Span,
}

/// Handle through which services reach the dispatcher; cheap to clone.
#[derive(Clone)]
pub(crate) struct Dispatch {
    requests: mpsc::Sender<Arrived>,
    clock: Clock,
}

/// The coordinator's monotonic clock, from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now() }
    }

    /// Time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn now(self) -> Time {
        Time(u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Converts the scheduler's time to an instant.
    pub(super) fn instant(self, time: Time) -> Instant {
        self.started + Duration::from_millis(time.0)
    }
}

impl Dispatch {
    pub(super) fn new(clock: Clock) -> (Self, mpsc::Receiver<Arrived>) {
        let (requests, receiver) = mpsc::channel(QUEUE_MAX);
        (Self { requests, clock }, receiver)
    }

    pub(crate) async fn hello(
        &self,
        introduction: Box<WorkerIntroduction>,
        secret: Option<WorkerSecret>,
    ) -> Result<Welcome, Refusal> {
        self.ask(|reply| Request::Hello { introduction, secret, reply }).await
    }

    pub(crate) async fn lease(
        &self,
        caller: Caller,
        slots: u32,
        speeds: Vec<Speed>,
    ) -> Result<(Leased, Vec<String>), Refusal> {
        self.ask(|reply| Request::Lease { caller, slots, speeds, reply }).await
    }

    pub(crate) async fn report(
        &self,
        caller: Caller,
        results: Vec<Reported>,
    ) -> Result<Vec<v1::Verdict>, Refusal> {
        self.ask(|reply| Request::Report { caller, results, reply }).await
    }

    pub(crate) async fn heartbeat(
        &self,
        caller: Caller,
        leases: Vec<LeaseId>,
        playing: Vec<GameId>,
    ) -> Result<Vec<LeaseId>, Refusal> {
        self.ask(|reply| Request::Heartbeat { caller, leases, playing, reply }).await
    }

    pub(crate) async fn give_back(
        &self,
        caller: Caller,
        leases: Vec<LeaseId>,
    ) -> Result<(), Refusal> {
        self.ask(|reply| Request::GiveBack { caller, leases, reply }).await
    }

    pub(crate) async fn submit(&self, submission: Submission) -> Result<Submitted, Refusal> {
        let submission = Box::new(submission);
        self.ask(|reply| Request::Submit { submission, reply }).await
    }

    pub(crate) async fn steer(
        &self,
        experiment: String,
        steering: Steering,
    ) -> Result<Steered, Refusal> {
        self.ask(|reply| Request::Steer { experiment, what: steering, reply }).await
    }

    pub(crate) async fn remove(&self, removal: Removal) -> Result<String, Refusal> {
        self.ask(|reply| Request::Remove { removal, reply }).await
    }

    pub(crate) async fn exclude(
        &self,
        exclude: ExcludeWorkers,
    ) -> Result<ExcludedWorkers, Refusal> {
        self.ask(|reply| Request::Exclude { exclude, reply }).await
    }

    pub(crate) async fn verify(
        &self,
        experiment: String,
        games: Vec<ToVerify>,
    ) -> Result<u64, Refusal> {
        self.ask(|reply| Request::Verify { experiment, games, reply }).await
    }

    pub(crate) async fn workers(&self) -> Result<Workforce, Refusal> {
        self.ask(|reply| Request::Workers { reply }).await
    }

    /// Those of these games that are being played.
    pub(crate) async fn under_way(&self, asked: AskedGames) -> Result<Started, Refusal> {
        self.ask(|reply| Request::UnderWay { asked, reply }).await
    }

    /// The engines that experiments need which are not over.
    pub(crate) async fn needed_engines(&self) -> Result<BTreeSet<String>, Refusal> {
        self.ask(|reply| Request::NeededEngines { reply }).await
    }

    /// The games that wait, by their demands.
    pub(crate) async fn queued(&self) -> Result<Vec<Queued>, Refusal> {
        self.ask(|reply| Request::Queued { reply }).await
    }

    pub(super) async fn ask<T>(
        &self,
        request: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        let at = self.clock.now();
        let place = tokio::time::timeout(QUEUE_PATIENCE, self.requests.reserve()).await;
        match place {
            Ok(Ok(place)) => {
                place.send(Arrived { at, request: request(reply), call: Span::current() });
            }
            Ok(Err(_closed)) => return Err(ending()),
            Err(_elapsed) => {
                return Err(Refusal::busy("the coordinator is busy", BUSY_RETRY_AFTER));
            }
        }
        answer.await.unwrap_or_else(|_dropped| Err(ending()))
    }
}

/// The answer of a coordinator that accepts no more requests.
fn ending() -> Refusal {
    Refusal {
        retry_after: Some(BUSY_RETRY_AFTER),
        ..Refusal::new(
            Reason::Ending,
            "the coordinator is ending",
            "it goes on where it stopped when it is started again",
        )
    }
}
