//! A coordinator on a port of its own, with a real database, and what tests do with it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use spelrum_answers::{
    self as answers, Action, Call, ExperimentSummary, GetExperiment, GetStatus, QUERY_PATH,
    QueryEnd, QueryHead, RemoveExperiment, RemovedExperiment, Removing, RunQuery, SqlValue,
    SteerExperiment, SubmitSweep, SubmittedSweep,
};
use spelrum_coordinator::{Config, Coordinator, CoordinatorError, CourseFactory, Faults, TlsFiles};
use spelrum_proto::api::Api;
use spelrum_proto::problem::Problem;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, Reason, Refusal, Token};
use spelrum_scheduling::course::course_from_plan;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

/// Nothing in these tests takes nearly so long, also on a crowded machine.
pub const DEADLINE: Duration = Duration::from_secs(600);

/// A directory with a database.
#[derive(Debug)]
pub struct Site {
    directory: TempDir,
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

impl Site {
    /// A new one, which goes with the test.
    #[must_use]
    pub fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    /// The database.
    #[must_use]
    pub fn db(&self) -> PathBuf {
        self.directory.path().join("results.db")
    }

    /// A coordinator on a free port.
    pub async fn serve(&self) -> Served {
        self.serve_with(Duration::from_secs(5)).await
    }

    /// A coordinator with another interval between heartbeats.
    pub async fn serve_with(&self, heartbeat_interval: Duration) -> Served {
        Served::start(&self.db(), "127.0.0.1:0".parse().unwrap(), heartbeat_interval).await
    }

    /// A coordinator whose sweeps take courses. Its workers' leases end soon.
    pub async fn serve_with_courses(&self, course_factory: Arc<CourseFactory>) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        Served::start_as(
            &self.db(),
            address,
            Duration::from_millis(50),
            Demands::default(),
            course_factory,
            |_| {},
        )
        .await
    }

    /// A coordinator with places for so many connections.
    pub async fn serve_with_connections(&self, connections_max: usize) -> Served {
        self.serve_with_faults(|faults| faults.limit_connections(connections_max)).await
    }

    /// A coordinator whose queries end after this time.
    pub async fn serve_with_query_time(&self, most: Duration) -> Served {
        self.serve_with_faults(|faults| faults.limit_queries(most)).await
    }

    async fn serve_with_faults(&self, before: impl FnOnce(&Faults)) -> Served {
        let (address, heartbeat) = ("127.0.0.1:0".parse().unwrap(), Duration::from_secs(5));
        let usual: Arc<CourseFactory> = Arc::new(course_from_plan);
        Served::start_as(&self.db(), address, heartbeat, Demands::default(), usual, before).await
    }

    /// A coordinator that demands a token.
    pub async fn serve_with_token(&self, token: &Token) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        let demands = Demands { token: Some(token.clone()), ..Demands::default() };
        Served::start_with(&self.db(), address, Duration::from_secs(5), demands).await
    }

    /// A coordinator that searches positions for people.
    pub async fn serve_with_play(&self) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        let demands = Demands { play: true, ..Demands::default() };
        Served::start_with(&self.db(), address, Duration::from_secs(5), demands).await
    }

    /// A coordinator that demands a token of a file.
    pub async fn serve_with_tokens(&self, tokens: &Path) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        let demands = Demands { tokens: Some(tokens.to_owned()), ..Demands::default() };
        Served::start_with(&self.db(), address, Duration::from_secs(5), demands).await
    }

    /// A coordinator that speaks TLS with this certificate and its private key, both PEM.
    pub async fn serve_with_tls(&self, identity: (String, String)) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        let demands = Demands { tls: Some(self.tls_files(identity)), ..Demands::default() };
        Served::start_with(&self.db(), address, Duration::from_secs(5), demands).await
    }

    /// The same, which demands a token of a file, if there is one, or a client certificate of this CA (PEM), if
    /// there is one.
    pub async fn serve_with_tls_to(
        &self,
        identity: (String, String),
        tokens: Option<&Path>,
        client_ca: Option<&str>,
    ) -> Served {
        let address = "127.0.0.1:0".parse().unwrap();
        let client_ca = client_ca.map(|pem| self.write("client-ca.pem", pem));
        let tls = TlsFiles { client_ca, ..self.tls_files(identity) };
        let demands =
            Demands { tls: Some(tls), tokens: tokens.map(Path::to_owned), ..Demands::default() };
        Served::start_with(&self.db(), address, Duration::from_secs(5), demands).await
    }

    fn tls_files(&self, (certificate, key): (String, String)) -> TlsFiles {
        TlsFiles {
            certificate: self.write("certificate.pem", &certificate),
            key: self.write("key.pem", &key),
            client_ca: None,
        }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// What a coordinator demands of its callers.
#[derive(Debug, Default)]
struct Demands {
    token: Option<Token>,
    tokens: Option<PathBuf>,
    tls: Option<TlsFiles>,
    /// Not a demand: whether positions are searched for people.
    play: bool,
}

/// A coordinator that serves.
#[derive(Debug)]
pub struct Served {
    /// Where it listens.
    pub address: SocketAddr,
    /// What may be made to fail.
    pub faults: Faults,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), CoordinatorError>>,
}

impl Served {
    /// One at this address.
    pub async fn start(db: &Path, address: SocketAddr, heartbeat_interval: Duration) -> Self {
        Self::start_with(db, address, heartbeat_interval, Demands::default()).await
    }

    async fn start_with(
        db: &Path,
        address: SocketAddr,
        heartbeat_interval: Duration,
        demands: Demands,
    ) -> Self {
        Self::start_as(db, address, heartbeat_interval, demands, Arc::new(course_from_plan), |_| {})
            .await
    }

    async fn start_as(
        db: &Path,
        address: SocketAddr,
        heartbeat_interval: Duration,
        demands: Demands,
        course_factory: Arc<CourseFactory>,
        before_it_serves: impl FnOnce(&Faults),
    ) -> Self {
        // A killed predecessor's connections may take a moment to close.
        let coordinator = eventually("the database is free", async || {
            let config = Config {
                db: db.to_owned(),
                heartbeat_interval,
                token: demands.token.clone(),
                tokens: demands.tokens.clone(),
                tls: demands.tls.clone(),
                own_token: None,
                hosts: Vec::new(),
                holder_text: String::new(),
                is_alone: false,
            };
            Coordinator::open_with_courses(config, Arc::clone(&course_factory)).await.ok()
        })
        .await
        .with_play(demands.play);
        let listener =
            eventually("the port is free", async || TcpListener::bind(address).await.ok()).await;
        let address = listener.local_addr().unwrap();
        let faults = coordinator.faults();
        before_it_serves(&faults);
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(coordinator.serve(listener, shutdown.clone()));
        Self { address, faults, shutdown, task }
    }

    /// Where it is reached.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks it to stop, and waits until it has.
    ///
    /// # Errors
    /// What it ended with.
    pub async fn stop(self) -> Result<(), CoordinatorError> {
        self.shutdown.cancel();
        self.ended().await
    }

    /// Waits until it stops.
    ///
    /// # Errors
    /// What it ended with.
    pub async fn ended(self) -> Result<(), CoordinatorError> {
        tokio::time::timeout(DEADLINE, self.task).await.expect("it ends in time").unwrap()
    }

    /// Stops it at once, wherever it is.
    pub async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }

    /// A client of its API.
    pub async fn api(&self) -> Api {
        let channel = Endpoint::new(self.url()).unwrap().connect().await.unwrap();
        Api::new(channel, Bearer::new(None))
    }

    /// Makes a call.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn call<C: Call>(&self, call: &C) -> Result<C::Answer, Status> {
        self.api().await.call(call).await
    }

    /// A client for workers.
    pub async fn work(&self) -> WorkClient<Channel> {
        WorkClient::connect(self.url()).await.unwrap()
    }

    /// Submits a sweep.
    pub async fn submit(&self, toml: &str) -> SubmittedSweep {
        self.call(&submission(toml)).await.unwrap()
    }

    /// Steers an experiment.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn steer(&self, experiment: &str, action: Action) -> Result<(), Status> {
        let experiment = experiment.to_owned();
        self.call(&SteerExperiment { experiment, action, priority: None }).await.map(drop)
    }

    /// Gives an experiment another priority.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn prioritize(&self, experiment: &str, priority: i32) -> Result<(), Status> {
        let (experiment, action) = (experiment.to_owned(), Action::Priority);
        let steer = SteerExperiment { experiment, action, priority: Some(priority) };
        self.call(&steer).await.map(drop)
    }

    /// Throws an experiment or its moves away, or only says what would go.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn remove(
        &self,
        experiment: &str,
        what: Removing,
        preview: bool,
    ) -> Result<RemovedExperiment, Status> {
        let experiment = experiment.to_owned();
        self.call(&RemoveExperiment { experiment, what, preview }).await
    }

    /// The whole status.
    pub async fn status(&self) -> answers::Status {
        self.call(&GetStatus::default()).await.unwrap()
    }

    /// Waits until nothing is left to remove.
    pub async fn removed(&self) {
        eventually("everything is removed", async || {
            self.status().await.removals.is_empty().then_some(())
        })
        .await;
    }

    /// One experiment, by name.
    pub async fn summary(&self, experiment: &str) -> ExperimentSummary {
        self.call(&GetExperiment { experiment: experiment.to_owned() }).await.unwrap()
    }

    /// Waits until an experiment is in a state.
    pub async fn wait_for_state(&self, experiment: &str, state: &str) -> ExperimentSummary {
        eventually(state, async || {
            Some(self.summary(experiment).await).filter(|summary| summary.state.name() == state)
        })
        .await
    }

    /// Waits until so many games of an experiment are settled.
    pub async fn wait_for_settled(&self, experiment: &str, games: u64) {
        eventually("some games are settled", async || {
            (self.summary(experiment).await.games_settled >= games).then_some(())
        })
        .await;
    }

    /// Runs a query; all its rows.
    ///
    /// # Errors
    /// If it is refused.
    pub async fn query(&self, sql: &str) -> Result<Vec<Vec<SqlValue>>, Status> {
        query(&self.api().await, &RunQuery { sql: sql.to_owned(), rows_max: Some(100_000) }).await
    }

    /// The one integer of a query.
    pub async fn number(&self, sql: &str) -> i64 {
        match &self.query(sql).await.unwrap()[..] {
            [row] => match row[..] {
                [SqlValue::Integer(number)] => number,
                ref cells => panic!("{cells:?}"),
            },
            rows => panic!("{rows:?}"),
        }
    }
}

/// Runs a query; all its rows.
///
/// # Errors
/// If it is refused.
pub async fn query(api: &Api, query: &RunQuery) -> Result<Vec<Vec<SqlValue>>, Status> {
    let body = spelrum_proto::api::json(query)?;
    let answer = api.send("POST", QUERY_PATH, Some(body)).await?;
    let text = answer.into_body().collect().await?.to_bytes();
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let _head: QueryHead = serde_json::from_slice(lines.next().unwrap()).unwrap();
    let last: QueryEnd = serde_json::from_slice(lines.next_back().unwrap()).unwrap();
    match last {
        QueryEnd::Done { truncated } => assert!(!truncated),
        QueryEnd::Failed { problem } => {
            let problem: Problem = serde_json::from_value(problem).unwrap();
            return Err(problem.refusal().unwrap().into());
        }
    }
    Ok(lines.map(|line| serde_json::from_slice(line).unwrap()).collect())
}

/// A sweep as a client submits it.
#[must_use]
pub fn submission(toml: &str) -> SubmitSweep {
    SubmitSweep {
        experiment_uuid: Some(Uuid::new_v4().to_string()),
        sweep_toml: toml.to_owned(),
        file_name: "test.toml".to_owned(),
        ..SubmitSweep::default()
    }
}

/// A sweep of one cell of quick games.
#[must_use]
pub fn quick_sweep(name: &str, games: u64) -> String {
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
pub async fn eventually<T>(what: &str, mut poll: impl AsyncFnMut() -> Option<T>) -> T {
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
pub fn reason<T>(answer: Result<T, Status>) -> Reason {
    let status = answer.err().expect("it is refused");
    Refusal::from_status(&status).unwrap_or_else(|| panic!("{status:?} carries a refusal")).reason
}
