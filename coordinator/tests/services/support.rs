//! A coordinator on a port of its own, with a real database, and what tests do with it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use spelrum_coordinator::{Config, Coordinator, CoordinatorError, CourseOf, Faults};
use spelrum_engine::{ENGINE_REVISION, Timeless};
use spelrum_proto::limits::REPORT_RESULTS_MAX;
use spelrum_proto::v1::experiments_client::ExperimentsClient;
use spelrum_proto::v1::results_client::ResultsClient;
use spelrum_proto::v1::sql_value::Value;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{PROTOCOL_MAJOR, Reason, Refusal, Token, game, v1};
use spelrum_tournament::{CellDefinition, CellId, GameId, PlayableCell, PlayedGame};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::transport::Channel;
use uuid::Uuid;

/// Nothing in these tests takes nearly so long, also on a crowded machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A directory with a database.
pub(crate) struct Site {
    directory: TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.directory.path().join("results.db")
    }

    /// A coordinator on a free port.
    pub(crate) async fn serve(&self) -> Served {
        self.serve_with(Duration::from_secs(5)).await
    }

    /// A coordinator with another interval between heartbeats.
    pub(crate) async fn serve_with(&self, heartbeat_interval: Duration) -> Served {
        Served::start(&self.db(), "127.0.0.1:0".parse().unwrap(), heartbeat_interval).await
    }

    /// A coordinator whose sweeps take a course.
    pub(crate) async fn serve_with_courses(&self, course_of: Arc<CourseOf>) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        Served::start_as(&self.db(), address, Duration::from_millis(50), None, course_of).await
    }

    /// A coordinator that demands a token.
    pub(crate) async fn serve_with_token(&self, token: &Token) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        let token = Some(token.clone());
        Served::start_with(&self.db(), address, Duration::from_secs(5), token).await
    }
}

/// A coordinator that serves.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) faults: Faults,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), CoordinatorError>>,
}

impl Served {
    pub(crate) async fn start(
        db: &Path,
        address: SocketAddr,
        heartbeat_interval: Duration,
    ) -> Self {
        Self::start_with(db, address, heartbeat_interval, None).await
    }

    async fn start_with(
        db: &Path,
        address: SocketAddr,
        heartbeat_interval: Duration,
        token: Option<Token>,
    ) -> Self {
        Self::start_as(db, address, heartbeat_interval, token, Arc::new(|_| None)).await
    }

    async fn start_as(
        db: &Path,
        address: SocketAddr,
        heartbeat_interval: Duration,
        token: Option<Token>,
        course_of: Arc<CourseOf>,
    ) -> Self {
        // A killed predecessor's connections may take a moment to close.
        let coordinator = eventually("the database is free", async || {
            let config = Config { db: db.to_owned(), heartbeat_interval, token: token.clone() };
            Coordinator::open_with_courses(config, Arc::clone(&course_of)).await.ok()
        })
        .await;
        let listener =
            eventually("the port is free", async || TcpListener::bind(address).await.ok()).await;
        let address = listener.local_addr().unwrap();
        let faults = coordinator.faults();
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(coordinator.serve(listener, shutdown.clone()));
        Self { address, faults, shutdown, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) async fn stop(self) -> Result<(), CoordinatorError> {
        self.shutdown.cancel();
        self.ended().await
    }

    /// Waits until it stops.
    pub(crate) async fn ended(self) -> Result<(), CoordinatorError> {
        tokio::time::timeout(DEADLINE, self.task).await.expect("it ends in time").unwrap()
    }

    /// Stops it at once, wherever it is.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }

    pub(crate) async fn experiments(&self) -> ExperimentsClient<Channel> {
        ExperimentsClient::connect(self.url()).await.unwrap()
    }

    pub(crate) async fn results(&self) -> ResultsClient<Channel> {
        ResultsClient::connect(self.url()).await.unwrap()
    }

    pub(crate) async fn work(&self) -> WorkClient<Channel> {
        WorkClient::connect(self.url()).await.unwrap()
    }

    /// Submits a sweep.
    pub(crate) async fn submit(&self, toml: &str) -> v1::SubmitResponse {
        let request = submission(toml);
        self.experiments().await.submit(request).await.unwrap().into_inner()
    }

    pub(crate) async fn steer(&self, experiment: &str, action: v1::Action) -> Result<(), Status> {
        let experiment = experiment.to_owned();
        let request = v1::SteerRequest { experiment, action: action.into(), priority: None };
        self.experiments().await.steer(request).await.map(drop)
    }

    /// Gives an experiment another priority.
    pub(crate) async fn prioritize(&self, experiment: &str, priority: i32) -> Result<(), Status> {
        let request = v1::SteerRequest {
            experiment: experiment.to_owned(),
            action: v1::Action::Priority.into(),
            priority: Some(priority),
        };
        self.experiments().await.steer(request).await.map(drop)
    }

    /// Throws an experiment or its moves away, or only says what would go.
    pub(crate) async fn remove(
        &self,
        experiment: &str,
        what: v1::RemoveWhat,
        preview: bool,
    ) -> Result<v1::RemoveResponse, Status> {
        let experiment = experiment.to_owned();
        let request = v1::RemoveRequest { experiment, what: what.into(), preview };
        Ok(self.experiments().await.remove(request).await?.into_inner())
    }

    /// The whole status.
    pub(crate) async fn status(&self) -> v1::StatusResponse {
        let request = v1::StatusRequest::default();
        self.experiments().await.status(request).await.unwrap().into_inner()
    }

    /// Waits until nothing is left to remove.
    pub(crate) async fn removed(&self) {
        eventually("everything is removed", async || {
            self.status().await.removals.is_empty().then_some(())
        })
        .await;
    }

    /// One experiment, by name.
    pub(crate) async fn summary(&self, experiment: &str) -> v1::ExperimentSummary {
        let request = v1::StatusRequest { experiment: experiment.to_owned() };
        let status = self.experiments().await.status(request).await.unwrap().into_inner();
        status.experiments.into_iter().next().unwrap()
    }

    /// Waits until an experiment is in a state.
    pub(crate) async fn reaches(&self, experiment: &str, state: &str) -> v1::ExperimentSummary {
        eventually(state, async || {
            Some(self.summary(experiment).await).filter(|summary| summary.state == state)
        })
        .await
    }

    /// Waits until so many games of an experiment are settled.
    pub(crate) async fn settles(&self, experiment: &str, games: u64) {
        eventually("some games are settled", async || {
            (self.summary(experiment).await.games_settled >= games).then_some(())
        })
        .await;
    }

    /// Runs a query; all its rows.
    pub(crate) async fn query(&self, sql: &str) -> Result<Vec<Vec<Option<Value>>>, Status> {
        let request = v1::QueryRequest { sql: sql.to_owned(), rows_max: 100_000 };
        let mut pages = self.experiments().await.query(request).await?.into_inner();
        let mut rows = Vec::new();
        while let Some(page) = pages.message().await? {
            assert!(!page.truncated);
            let values = |row: v1::Row| row.values.into_iter().map(|it| it.value).collect();
            rows.extend(page.rows.into_iter().map(values));
        }
        Ok(rows)
    }

    /// The one integer of a query.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        match &self.query(sql).await.unwrap()[..] {
            [row] => match row[..] {
                [Some(Value::Integer(number))] => number,
                ref other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn submission(toml: &str) -> v1::SubmitRequest {
    v1::SubmitRequest {
        experiment_uuid: Uuid::new_v4().to_string(),
        sweep_toml: toml.to_owned(),
        file_name: "test.toml".to_owned(),
        ..v1::SubmitRequest::default()
    }
}

/// A sweep of one cell of quick games.
pub(crate) fn quick_sweep(name: &str, games: u64) -> String {
    format!(
        r#"
        name = "{name}"
        game = "tic-tac-toe"
        seed = 7
        games = {games}
        openings = {{ kind = "random", plies = 1 }}

        [players.random]
        algorithm = "random"

        [players.minimax]
        algorithm = "minimax"
        depth = 1
        "#
    )
}

/// Polls until there is a value.
pub(crate) async fn eventually<T>(what: &str, mut poll: impl AsyncFnMut() -> Option<T>) -> T {
    let polling = async {
        loop {
            if let Some(value) = poll().await {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    match tokio::time::timeout(DEADLINE, polling).await {
        Ok(value) => value,
        Err(_) => panic!("not in time: {what}"),
    }
}

/// The reason of a refusal.
pub(crate) fn reason<T>(answer: Result<T, Status>) -> Reason {
    let status = answer.err().expect("it is refused");
    Refusal::of(&status).unwrap_or_else(|| panic!("{status:?} carries a refusal")).reason
}

/// A worker driven by hand.
pub(crate) struct HandWorker {
    pub(crate) client: WorkClient<Channel>,
    pub(crate) uuid: String,
    pub(crate) id: i64,
    pub(crate) epoch: i64,
}

pub(crate) fn hello(uuid: &str) -> v1::HelloRequest {
    v1::HelloRequest {
        protocol_major: PROTOCOL_MAJOR,
        protocol_minor: 0,
        engine_revision: ENGINE_REVISION,
        worker_uuid: uuid.to_owned(),
        name: "by hand".to_owned(),
        host: "here".to_owned(),
        slots: 1,
        version: "0".to_owned(),
        memory_bytes: 0,
    }
}

impl HandWorker {
    pub(crate) async fn new(served: &Served) -> Self {
        Self::with_uuid(served, &Uuid::new_v4().to_string()).await
    }

    pub(crate) async fn with_uuid(served: &Served, uuid: &str) -> Self {
        let mut client = served.work().await;
        let answer = client.hello(hello(uuid)).await.unwrap().into_inner();
        Self {
            client,
            uuid: uuid.to_owned(),
            id: answer.worker_id,
            epoch: answer.coordinator_epoch,
        }
    }

    pub(crate) async fn lease(&mut self) -> Result<v1::LeaseResponse, Status> {
        let request =
            v1::LeaseRequest { worker_id: self.id, coordinator_epoch: self.epoch, slots: 1 };
        Ok(self.client.lease(request).await?.into_inner())
    }

    pub(crate) async fn granted(&mut self) -> v1::Grant {
        self.lease().await.unwrap().grant.expect("there is something to do")
    }

    /// Plays every game of a grant.
    pub(crate) async fn play(&mut self, grant: &v1::Grant) -> Vec<v1::Result> {
        let mut results = Vec::new();
        for leased in &grant.games {
            let definition_hash = leased.definition_hash.clone();
            let request = v1::GetCellRequest { definition_hash };
            let answer = self.client.get_cell(request).await.unwrap().into_inner();
            let definition: CellDefinition = serde_json::from_str(&answer.definition_json).unwrap();
            let cell = PlayableCell::new(definition).unwrap();
            for number in leased.first_number..leased.first_number + leased.count {
                let (derived, record) = cell.play(number, None, &Timeless).unwrap();
                let id = GameId { cell: CellId(leased.cell_id), number };
                let what = game::to_wire(PlayedGame::here(id, &derived, record, 1));
                results.push(v1::Result {
                    lease_id: grant.lease_id,
                    what: Some(v1::result::What::Game(what)),
                });
            }
        }
        results
    }

    pub(crate) async fn report(
        &mut self,
        results: Vec<v1::Result>,
    ) -> Result<Vec<v1::Verdict>, Status> {
        let request =
            v1::ReportRequest { worker_id: self.id, coordinator_epoch: self.epoch, results };
        Ok(self.client.report(request).await?.into_inner().verdicts().collect())
    }

    pub(crate) async fn heartbeat(&mut self, leases: &[i64]) -> Result<Vec<i64>, Status> {
        let request = v1::HeartbeatRequest {
            worker_id: self.id,
            coordinator_epoch: self.epoch,
            lease_ids: leases.to_vec(),
            playing: Vec::new(),
        };
        Ok(self.client.heartbeat(request).await?.into_inner().drop_lease_ids)
    }

    pub(crate) async fn give_back(&mut self, leases: &[i64]) -> Result<(), Status> {
        let request = v1::GiveBackRequest {
            worker_id: self.id,
            coordinator_epoch: self.epoch,
            lease_ids: leases.to_vec(),
        };
        self.client.give_back(request).await.map(drop)
    }

    /// Leases, plays and reports until nothing is left.
    pub(crate) async fn work_until_done(&mut self) {
        loop {
            let answer = self.lease().await.unwrap();
            let Some(grant) = answer.grant else {
                if answer.all_done {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            let results = self.play(&grant).await;
            for results in results.chunks(REPORT_RESULTS_MAX) {
                self.report(results.to_vec()).await.unwrap();
            }
        }
    }
}

/// The game of a result.
pub(crate) fn game_of(result: &mut v1::Result) -> &mut v1::Game {
    match &mut result.what {
        Some(v1::result::What::Game(game)) => game,
        other => panic!("{other:?}"),
    }
}

/// A failure of the same game.
pub(crate) fn failure_of(result: &v1::Result, message: &str) -> v1::Result {
    let Some(v1::result::What::Game(game)) = &result.what else { panic!("{result:?}") };
    let failed = v1::FailedGame {
        cell_id: game.cell_id,
        number: game.number,
        engine_revision: ENGINE_REVISION,
        message: message.to_owned(),
    };
    v1::Result { lease_id: result.lease_id, what: Some(v1::result::What::FailedGame(failed)) }
}
