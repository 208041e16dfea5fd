use std::collections::BTreeMap;
use std::time::Duration;

use spelrum_answers::Machine;
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_model::{GameId, LeaseId};
use spelrum_proto::work::{Grant, Reported, ReportedWhat};
use spelrum_proto::{Reason, v1};
use spelrum_scheduling::scheduler::{Policy, Time};
use spelrum_sweep::{SweepText, plan_sweep};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tracing::Span;

use super::request::Reply;
use super::*;
use crate::metrics::Metrics;
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Readers, Removing, WorkerIntroduction, Writer};

/// A dispatcher whose turns the test takes.
struct Site {
    dispatcher: Dispatcher<Writer>,
    dispatch: Dispatch,
    faults: Faults,
    epoch: i64,
    readers: Readers,
    _directory: TempDir,
}

impl Site {
    async fn new() -> Self {
        Self::with_courses(Arc::new(|_| None)).await
    }

    async fn with_courses(course_factory: Arc<CourseFactory>) -> Self {
        let directory = TempDir::new().unwrap();
        let writer = Writer::open(&directory.path().join("results.db")).await.unwrap();
        let (readers, epoch) = (writer.readers(), writer.epoch());
        let (policy, faults) = (Policy::default(), Faults::default());
        let (clock, work) = (Clock::start(), Metrics::new(ENGINE_REVISION, &[]).unwrap().work);
        let started =
            Dispatcher::start(writer, policy, clock, faults.clone(), course_factory, work).await;
        let (mut dispatcher, dispatch) = started.unwrap();
        // On a crowded machine a batch would end by the clock.
        dispatcher.batch_time_max = Duration::MAX;
        Self { dispatcher, dispatch, faults, epoch, readers, _directory: directory }
    }

    /// One request that arrived after this many milliseconds, and its answer.
    async fn ask<T>(
        &mut self,
        ms: u64,
        request: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        let arrived = Arrived { at: Time(ms), request: request(reply), call: Span::none() };
        self.dispatcher.serve(Some(arrived)).await.unwrap();
        answer.await.expect("an answer")
    }

    /// The same, but the caller no longer waits for the answer.
    async fn abandon<T>(&mut self, request: impl FnOnce(Reply<T>) -> Request) {
        let (reply, _) = oneshot::channel();
        let arrived = Arrived { at: Time(0), request: request(reply), call: Span::none() };
        self.dispatcher.serve(Some(arrived)).await.unwrap();
    }

    async fn hello(&mut self, ms: u64, name: &str) -> Result<Caller, Refusal> {
        let introduction = introduction(name);
        let welcome =
            self.ask(ms, |reply| Request::Hello { introduction, secret: None, reply }).await?;
        Ok(caller(welcome, self.epoch))
    }

    async fn lease(&mut self, ms: u64, caller: &Caller) -> Leased {
        let caller = caller.clone();
        let lease = |reply| Request::Lease { caller, slots: 1, speeds: Vec::new(), reply };
        self.ask(ms, lease).await.unwrap().0
    }

    async fn granted(&mut self, ms: u64, caller: &Caller) -> Grant {
        match self.lease(ms, caller).await {
            Leased::Grant(grant) => grant,
            idle @ Leased::Idle { .. } => panic!("{idle:?}"),
        }
    }

    /// Queues reports one behind the other, and serves them together.
    async fn report_together(
        &mut self,
        reports: Vec<(Caller, Vec<Reported>)>,
    ) -> Vec<Result<Vec<v1::Verdict>, Refusal>> {
        let count = reports.len();
        let waiting: Vec<_> = reports
            .into_iter()
            .map(|(caller, results)| {
                let dispatch = self.dispatch.clone();
                tokio::spawn(async move { dispatch.report(caller, results).await })
            })
            .collect();
        while self.dispatcher.requests.len() < count {
            tokio::task::yield_now().await;
        }
        let first = self.dispatcher.requests.recv().await;
        self.dispatcher.serve(first).await.unwrap();
        assert!(self.dispatcher.requests.is_empty(), "served together");
        let mut answers = Vec::new();
        for answer in waiting {
            answers.push(answer.await.unwrap());
        }
        answers
    }

    /// Workers that said Hello to runs of the coordinator before this one.
    async fn introduce_earlier(&mut self, workers: u32) {
        let mut transaction = self.dispatcher.store.begin().await.unwrap();
        for worker in 0..workers {
            transaction.introduce(&introduction(&format!("earlier {worker}"))).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }

    /// Deletes all old leases and workers that can be deleted; returns the workers that are left.
    async fn forget(&mut self) -> Vec<String> {
        while self.dispatcher.forget().await.unwrap() {}
        let left = self.readers.workers(u32::MAX).await.unwrap();
        left.into_iter().map(|worker| worker.name).collect()
    }

    async fn submit(&mut self, name: &str) {
        let submission = Box::new(submission(name));
        self.ask(0, |reply| Request::Submit { submission, reply }).await.unwrap();
    }

    /// The state of each experiment, by name.
    async fn states(&self) -> BTreeMap<String, String> {
        let experiments = self.readers.experiments(None, 100).await.unwrap().experiments;
        experiments
            .into_iter()
            .map(|experiment| (experiment.name, experiment.state.name().to_owned()))
            .collect()
    }
}

fn caller(Welcome { worker, secret }: Welcome, epoch: i64) -> Caller {
    Caller { worker, epoch, secret: Some(secret), credential: None }
}

fn introduction(name: &str) -> Box<WorkerIntroduction> {
    Box::new(WorkerIntroduction {
        uuid: format!("of {name}"),
        name: name.to_owned(),
        host: "host".to_owned(),
        slots: 1,
        engine_revision: ENGINE_REVISION,
        version: "0".to_owned(),
        memory_bytes: None,
        engines: std::sync::Arc::default(),
        built: Arc::default(),
        trains: false,
        verifies: false,
        machine: Machine::default(),
        credential: None,
    })
}

/// A sweep of two games.
fn submission(name: &str) -> Submission {
    let toml = format!(
        r#"
        name = "{name}"
        game = "tic-tac-toe"
        seed = 7
        games = 2

        [players.random]
        algorithm = "random"

        [players.minimax]
        algorithm = "minimax"
        depth = 1
        "#
    );
    let plan = plan_sweep(&SweepText::new("test.toml", toml.clone())).unwrap();
    let uuid = format!("of {name}");
    Submission {
        uuid,
        toml,
        files: BTreeMap::new(),
        plan,
        new_experiment: false,
        fills: None,
        place: None,
    }
}

fn failure(lease: LeaseId, game: GameId) -> Reported {
    let message = "out of marbles".to_owned();
    Reported {
        lease,
        game,
        what: ReportedWhat::Failed { engine_revision: ENGINE_REVISION, message },
    }
}

/// Starts of a program that ends at once take no place from a worker that lives.
#[tokio::test]
async fn newcomers_are_taken_in_or_asked_to_come_again() {
    let mut site = Site::new().await;
    site.dispatcher.roster = Roster::with_places(2);
    site.submit("sweep").await;
    let holder = site.hello(0, "holder").await.unwrap();
    site.granted(0, &holder).await;
    site.hello(0, "start 1").await.unwrap();
    let refusal = site.hello(1_000, "start 2").await.unwrap_err();
    assert_eq!(refusal.reason, Reason::Busy, "one that may come again");
    assert!(refusal.retry_after.is_some() && !refusal.remedy.is_empty());
    assert!(site.hello(1_000, "start 1").await.is_ok(), "it has its place");
    for start in 2..6 {
        site.hello(start * 100_000, &format!("start {start}")).await.unwrap();
    }
    assert!(site.dispatcher.roster.contains(holder.worker));
    assert!(!site.dispatcher.roster.contains_uuid("of start 4"));
}

/// However often short-lived workers are started, their rows are deleted, and those of live workers stay.
#[tokio::test]
async fn workers_that_came_and_went_are_forgotten() {
    let mut site = Site::new().await;
    site.dispatcher.roster = Roster::with_places(3);
    site.submit("sweep").await;
    site.introduce_earlier(10_000).await;
    let holder = site.hello(0, "holder").await.unwrap();
    site.granted(0, &holder).await;
    let silent = site.hello(0, "silent").await.unwrap();
    site.hello(50, "idle").await.unwrap();
    let alive = site.hello(100_000, "alive").await.unwrap();
    assert!(!site.dispatcher.roster.contains(silent.worker), "it gave its place up");
    assert_eq!(site.forget().await.len(), 10_004, "not so soon");
    site.dispatcher.forgetting = site.dispatcher.forgetting.without_delay();
    let mut left = site.forget().await;
    left.sort();
    assert_eq!(left, ["alive", "holder", "idle"]);

    // The worker that stayed works on.
    site.submit("another").await;
    site.granted(100_000, &alive).await;
    // A returning worker must say Hello, as after a restart, and is a new worker.
    let call = |reply| Request::Lease { caller: silent, slots: 1, speeds: Vec::new(), reply };
    assert_eq!(site.ask(200_000, call).await.unwrap_err().reason, Reason::SayHello);
    let back = site.hello(200_000, "silent").await.unwrap();
    assert_eq!(back.worker.0, alive.worker.0 + 1);
    site.submit("third").await;
    site.granted(200_000, &back).await;
}

/// The number of places is also limited within one batch.
#[tokio::test]
async fn newcomers_of_one_batch_share_the_places() {
    let mut site = Site::new().await;
    site.dispatcher.roster = Roster::with_places(2);
    let (dispatch, requests) = Dispatch::new(site.dispatcher.clock);
    site.dispatcher.requests = requests;
    let hellos = (0..5).map(|number| dispatch.hello(introduction(&format!("w{number}")), None));
    let hellos = futures_util::future::join_all(hellos);
    let serving = async {
        tokio::task::yield_now().await;
        let first = site.dispatcher.requests.recv().await;
        site.dispatcher.serve(first).await.unwrap();
    };
    let (answers, ()) = tokio::join!(hellos, serving);
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 2);
}

/// A caller that has gone asks again; doing the work twice would only delay the others.
#[tokio::test]
async fn what_nobody_waits_for_is_not_done() {
    let mut site = Site::new().await;
    site.submit("sweep").await;
    let running = site.states().await;
    site.abandon(|reply| Request::Submit { submission: Box::new(submission("other")), reply })
        .await;
    let steer = |state| {
        move |reply| Request::Steer {
            experiment: "sweep".to_owned(),
            what: Steering::State(state),
            reply,
        }
    };
    site.abandon(steer(ExperimentState::Cancelled)).await;
    assert_eq!(site.states().await, running);
    site.abandon(|reply| Request::Hello {
        introduction: introduction("gone"),
        secret: None,
        reply,
    })
    .await;
    assert!(!site.dispatcher.roster.contains_uuid("of gone"));

    let worker = site.hello(0, "worker").await.unwrap();
    site.abandon(|reply| Request::Lease {
        caller: worker.clone(),
        slots: 1,
        speeds: Vec::new(),
        reply,
    })
    .await;
    let grant = site.granted(0, &worker).await;
    assert_eq!(grant.lease, LeaseId(1));
    let range = grant.games[0].range;
    let game = GameId { cell: range.cell, number: range.first };
    let results = vec![failure(grant.lease, game)];
    site.abandon(|reply| Request::Report { caller: worker.clone(), results, reply }).await;
    // Otherwise the game that failed would be leased again.
    assert!(matches!(site.lease(0, &worker).await, Leased::Idle { .. }));

    site.ask(0, steer(ExperimentState::Paused)).await.unwrap();
    site.ask(0, |reply| Request::GiveBack {
        caller: worker.clone(),
        leases: vec![grant.lease],
        reply,
    })
    .await
    .unwrap();
    let removal =
        |games| Removal { experiment: "sweep".to_owned(), what: Removing::Everything, games };
    site.abandon(|reply| Request::Remove { removal: removal(Some(0)), reply }).await;
    assert!(site.dispatcher.removals.due().is_none());
}

/// A heartbeat may be a worker's last call before its game killed it, and returning leases is its last call in any
/// case: no caller will repeat them.
#[tokio::test]
async fn last_words_are_heard() {
    let mut site = Site::new().await;
    site.submit("sweep").await;
    let worker = site.hello(0, "worker").await.unwrap();
    let grant = site.granted(0, &worker).await;
    let (leases, number) = (vec![grant.lease], grant.games[0].range.first);
    let playing = vec![GameId { cell: grant.games[0].range.cell, number }];
    site.abandon(|reply| Request::Heartbeat {
        caller: worker.clone(),
        leases: leases.clone(),
        playing,
        reply,
    })
    .await;
    assert_eq!(site.dispatcher.roster.summaries(Time(0))[0].playing_games, 1);
    site.abandon(|reply| Request::GiveBack { caller: worker.clone(), leases, reply }).await;
    assert_eq!(site.granted(0, &worker).await.lease, LeaseId(2));
}

/// The calls of workers without games are spread, however many there are.
#[tokio::test]
async fn a_crowd_without_games_is_told_to_wait_longer() {
    let mut site = Site::new().await;
    let worker = site.hello(0, "worker").await.unwrap();
    let mut wait = async |ms| match site.lease(ms, &worker).await {
        Leased::Idle { retry_after, .. } => retry_after,
        Leased::Grant(grant) => panic!("{grant:?}"),
    };
    let alone = wait(0).await;
    let mut in_a_crowd = alone;
    for _ in 0..200 {
        in_a_crowd = wait(0).await;
    }
    assert_eq!(in_a_crowd, alone + Duration::from_secs(1));
    assert_eq!(wait(60_000).await, alone);
}

/// Nothing in these tests takes nearly so long, also on a crowded machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// How long leases live where the dispatcher stands still for longer.
const LEASE_MS: u64 = 1_200;

/// A dispatcher that runs by itself, and a worker of it that holds a lease.
struct Running {
    dispatch: Dispatch,
    faults: Faults,
    worker: Caller,
    lease: LeaseId,
    _directory: TempDir,
}

impl Running {
    async fn start() -> Self {
        let directory = TempDir::new().unwrap();
        let writer = Writer::open(&directory.path().join("results.db")).await.unwrap();
        let epoch = writer.epoch();
        let policy = Policy { lease_duration_ms: LEASE_MS, ..Policy::default() };
        let faults = Faults::default();
        let (clock, work) = (Clock::start(), Metrics::new(ENGINE_REVISION, &[]).unwrap().work);
        let none = Arc::new(|_: &_| None);
        let started = Dispatcher::start(writer, policy, clock, faults.clone(), none, work).await;
        let (dispatcher, dispatch) = started.unwrap();
        tokio::spawn(dispatcher.run(CancellationToken::new()));
        dispatch.submit(submission("sweep")).await.unwrap();
        let worker = dispatch.hello(introduction("worker"), None).await.unwrap();
        let worker = caller(worker, epoch);
        match dispatch.lease(worker.clone(), 1, Vec::new()).await.unwrap().0 {
            Leased::Grant(Grant { lease, .. }) => {
                Self { dispatch, faults, worker, lease, _directory: directory }
            }
            idle @ Leased::Idle { .. } => panic!("{idle:?}"),
        }
    }

    /// Whether the worker may keep its lease.
    async fn keeps_its_lease(&self) -> bool {
        let dropped =
            self.dispatch.heartbeat(self.worker.clone(), vec![self.lease], Vec::new()).await;
        dropped.unwrap().is_empty()
    }
}

/// As a suspended machine stands still, or a stopped process.
#[tokio::test]
async fn leases_outlive_a_program_that_is_stopped() {
    let running = Running::start().await;
    // Everything here runs in this one thread.
    let (_silent, nothing) = std::sync::mpsc::channel::<()>();
    let elapsed = nothing.recv_timeout(Duration::from_millis(2 * LEASE_MS));
    assert_eq!(elapsed, Err(std::sync::mpsc::RecvTimeoutError::Timeout));
    assert!(running.keeps_its_lease().await);
}

#[tokio::test]
async fn leases_outlive_a_slow_commit() {
    let running = Running::start().await;
    let slow_disk = running.faults.stall_commits().await;
    let dispatch = running.dispatch.clone();
    let other = tokio::spawn(async move { dispatch.hello(introduction("other"), None).await });
    tokio::time::sleep(Duration::from_millis(2 * LEASE_MS)).await;
    drop(slow_disk);
    other.await.unwrap().unwrap();
    assert!(running.keeps_its_lease().await);
}

/// A silent worker loses its lease nevertheless.
#[tokio::test]
async fn leases_of_silent_workers_end() {
    let running = Running::start().await;
    let other = running.dispatch.hello(introduction("other"), None).await.unwrap();
    let other = caller(other, running.worker.epoch);
    let granted = async {
        while let Leased::Idle { .. } =
            running.dispatch.lease(other.clone(), 1, Vec::new()).await.unwrap().0
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(DEADLINE, granted).await.expect("the lease ends");
    assert!(!running.keeps_its_lease().await);
}

/// Reports of several workers are one write: each worker is answered for its own results, a stranger
/// is refused and delays no other caller, and if the write fails no report has an effect.
#[tokio::test]
async fn reports_that_come_together_are_one_write() {
    let mut site = Site::new().await;
    site.submit("sweep").await;
    site.submit("another").await;
    let [a, b] = [site.hello(0, "a").await.unwrap(), site.hello(0, "b").await.unwrap()];
    let [of_a, of_b] = [site.granted(0, &a).await, site.granted(0, &b).await];
    let results = |grant: &Grant| -> Vec<Reported> {
        let range = grant.games[0].range;
        let games = (range.first..range.end()).map(|number| GameId { cell: range.cell, number });
        games.map(|game| failure(grant.lease, game)).collect()
    };
    let stranger = Caller { epoch: site.epoch + 1, ..a.clone() };
    // Reports of b about a's games are not accepted.
    let foreign = results(&of_a).pop().unwrap();
    let theirs: Vec<_> = results(&of_b).into_iter().chain([foreign]).collect();
    let reports = || {
        vec![
            (a.clone(), results(&of_a)),
            (stranger.clone(), results(&of_a)),
            (b.clone(), theirs.clone()),
            (a.clone(), Vec::new()),
        ]
    };
    site.faults.fail_commits(1);
    for answer in site.report_together(reports()).await {
        assert_eq!(answer.unwrap_err().reason, Reason::Busy);
    }
    assert_eq!(site.faults.failing_commits(), 0);
    // One request per transaction for a while, since one of them may be the cause.
    site.dispatcher.alone = 0;
    let [of_a, stranger, of_b, nothing] =
        <[_; 4]>::try_from(site.report_together(reports()).await).unwrap();
    let noted = v1::Verdict::Noted;
    assert_eq!(of_a.unwrap(), [noted, noted]);
    assert_eq!(stranger.unwrap_err().reason, Reason::SayHello);
    assert_eq!(of_b.unwrap(), [noted, noted, v1::Verdict::Rejected]);
    assert_eq!(nothing.unwrap(), []);
}

/// A full disk is waited for, however long that takes; one that fails for good ends the coordinator.
#[tokio::test]
async fn a_disk_that_fails_for_good_ends_the_coordinator() {
    let mut site = Site::new().await;
    site.dispatcher.watch = Watch::with_failing_max(Duration::ZERO);
    let serve = async |site: &mut Site| {
        let (reply, answer) = oneshot::channel();
        let request = Request::Probe { reply };
        let arrived = Arrived { at: Time(0), request, call: Span::none() };
        let served = site.dispatcher.serve(Some(arrived)).await;
        (served, answer.await.expect("an answer"))
    };
    site.faults.fail_commits(3);
    for _ in 0..3 {
        let (served, answer) = serve(&mut site).await;
        assert!(served.is_ok() && answer.is_err());
    }
    let (served, answer) = serve(&mut site).await;
    assert!(served.is_ok() && answer.is_ok());
    site.faults.break_disk(true);
    let (served, answer) = serve(&mut site).await;
    assert!(matches!(served, Err(StoreError::Sql(_))) && answer.is_err());
}

/// A successful write clears earlier failures: the patience with the disk starts anew.
#[test]
fn a_disk_that_is_well_again_begins_anew() {
    let mut watch = Watch::with_failing_max(Duration::from_secs(60));
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let broken = StoreError::broken_disk();
    assert!(!watch.record_failure(&broken, at(0)) && !watch.record_failure(&broken, at(59)));
    watch.record_write();
    assert!(!watch.record_failure(&broken, at(70)));
    assert!(!watch.record_failure(&StoreError::Full, at(200)), "a full disk is waited for");
    assert!(watch.record_failure(&broken, at(130)));
}

#[tokio::test]
async fn health_is_whether_something_can_be_written() {
    let Site { dispatcher, dispatch, faults, _directory, .. } = Site::new().await;
    let health = dispatcher.health(dispatch.clone());
    tokio::spawn(dispatcher.run(CancellationToken::new()));
    faults.fail_commits(u32::MAX);
    let unwell = health.check().await.unwrap_err();
    assert!(unwell.problem.contains("the disk is full") && unwell.is_waiting, "{unwell:?}");
    // A client that asks again at once gets the same answer, without another attempt.
    let before = faults.failing_commits();
    assert!(health.check().await.is_err());
    assert_eq!(faults.failing_commits(), before);
    faults.fail_commits(0);
    while health.check().await.is_err() {
        tokio::task::yield_now().await;
    }
    // A recent result is not checked again.
    faults.fail_commits(1);
    assert_eq!(health.check().await, Ok(()));
    assert_eq!(faults.failing_commits(), 1);
}

/// Otherwise a worker that reports results that cannot be stored could stop the coordinator.
#[tokio::test]
async fn a_result_that_cannot_be_stored_says_nothing_of_health() {
    let mut watch = Watch::with_failing_max(Duration::from_secs(60));
    let (dispatch, _requests) = Dispatch::new(Clock::start());
    let health = watch.health(dispatch);
    watch.record_write();
    let poison = StoreError::InvalidGame { cell_id: 1, number: 1, problem: "no".to_owned() };
    assert!(!watch.record_failure(&poison, Instant::now()));
    assert_eq!(health.check().await, Ok(()));
    assert!(!watch.record_failure(&StoreError::Full, Instant::now()));
    assert!(health.check().await.unwrap_err().is_waiting);
}
