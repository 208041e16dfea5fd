//! The coordinator: owns the scheduler and the store's only writer, and serves workers over gRPC, and people and
//! programs in JSON over HTTP.
//!
//! The path of a call: `server` accepts the connection, `access` determines its role, `services` or `api` checks the
//! message (invariants 9, 10), and the dispatcher answers inside a transaction and sends the answer after the commit
//! (invariants 4, 5). Questions about results go to the store's readers instead.
//!
//! The coordinator depends on the store, the scheduler, the wire, the API's calls (`spelrum_answers`) and the sweep
//! language, since it plans each submitted sweep again. It must never contain SQL, play an experiment's game with a search,
//! or decide what a report looks like.
//!
//! | module | subject |
//! |---|---|
//! | `server` | listeners, TLS, limits on connections and messages, and passing connections on |
//! | [`access`] | tokens, roles and client certificates |
//! | `api` | the JSON API for people and programs: calls in, answers out |
//! | `services` | the workers' gRPC service |
//! | `dispatcher` | the task that owns scheduler and writer |
//! | `followed` | games under way that people follow, and their moves so far |
//! | `metrics` | counters and gauges for `/metrics` |
//! | `faults` | faults that only tests order |
//!
//! ```
//! use std::time::Duration;
//!
//! use spelrum_coordinator::{Config, Coordinator};
//! use spelrum_answers::GetStatus;
//! use spelrum_proto::{Bearer, api::Api};
//! use tokio::net::TcpListener;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let coordinator = Coordinator::open(Config {
//!     db: folder.path().join("results.db"),
//!     heartbeat_interval: Duration::from_secs(5),
//!     token: None,
//!     tokens: None,
//!     tls: None,
//!     own_token: None,
//!     holder_text: String::new(),
//!     hosts: Vec::new(),
//!     is_alone: false,
//! })
//! .await?;
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! let shutdown = CancellationToken::new();
//! let serving = tokio::spawn(coordinator.serve(listener, shutdown.clone()));
//!
//! let channel = tonic::transport::Endpoint::new(format!("http://{address}"))?.connect().await?;
//! let status = Api::new(channel, Bearer::new(None)).call(&GetStatus::default()).await?;
//! assert!(status.experiments.is_empty());
//!
//! shutdown.cancel();
//! serving.await??;
//! # Ok(())
//! # }
//! ```

pub mod access;
mod api;
mod dispatcher;
mod faults;
mod followed;
mod log_throttle;
mod metrics;
mod pages;
mod server;
mod services;
mod transport;

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use spelrum_engine::ENGINE_REVISION;
use spelrum_programs::Programs;
use spelrum_proto::Token;
use spelrum_scheduling::course::course_from_plan;
use spelrum_scheduling::scheduler::Policy;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use access::{BookError, Guard};
use api::{Api, Routes};
use dispatcher::{Clock, Dispatch, Dispatcher};
pub use dispatcher::{CourseFactory, Health, Unwell};
#[cfg(feature = "faults")]
pub use faults::Faults;
#[cfg(not(feature = "faults"))]
use faults::Faults;
use metrics::Metrics;
pub use server::{Listeners, TlsError, TlsFiles, pass_on};
use server::{Server, Tls};
use services::{Planner, ProgramsService, StartMark, WorkService};
use spelrum_store::{Checkpointer, Readers, StoreError, WAL_CHECKPOINT_BYTES, Writer};

/// Heartbeat intervals that a lease lives without a heartbeat that names it.
const HEARTBEATS_PER_LEASE: u32 = 6;

/// Interval at which the size of the write-ahead log is checked.
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(500);

/// Bytes of all pushed programs together, unless [`Coordinator::with_programs_bytes`] sets another bound.
pub const PROGRAMS_BYTES: u64 = 4 << 30;

/// A coordinator's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The results database.
    pub db: PathBuf,
    /// Interval of the workers' heartbeats. Leases expire after six intervals without one.
    pub heartbeat_interval: Duration,
    /// A token with full access.
    pub token: Option<Token>,
    /// A file of tokens with roles ([`access::TokenBook`]), reread when it changes. Without this file, `token` and a CA
    /// of clients ([`TlsFiles::client_ca`]) everyone may call; otherwise every call of a worker or client needs a token
    /// or a client certificate.
    pub tokens: Option<PathBuf>,
    /// The files for TLS; without them, connections are unencrypted.
    pub tls: Option<TlsFiles>,
    /// A token with full access for the coordinator's owner alone, published for example by `holder_text`. Accepted beside
    /// other tokens, without making tokens required.
    pub own_token: Option<Token>,
    /// A text for the database's owner when another command finds the database open, such as this coordinator's address
    /// ([`spelrum_store::read_lock_text`]).
    pub holder_text: String,
    /// The coordinator's names, beside those that always mean this machine. If there are any, calls to other names are
    /// refused.
    pub hosts: Vec<String>,
    /// Whether only the worker inside this process is expected: then a bound that the sweep does not state excludes no
    /// game from that worker.
    pub is_alone: bool,
}

impl Config {
    /// Reads the tokens and the files for TLS, as opening the database does.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn check(&self) -> Result<(), CoordinatorError> {
        self.admission().map(|_| ())
    }

    /// Who may call, and how connections are encrypted.
    fn admission(&self) -> Result<(Guard, Option<Tls>), CoordinatorError> {
        let files = self.tls.as_ref();
        let tls = files.map(Tls::read).transpose()?;
        let path = || self.tokens.clone().unwrap_or_default();
        let guard = Guard::new(self.token.clone(), self.tokens.clone())
            .map_err(|source| CoordinatorError::Tokens { path: path(), source })?
            .with_own_token(self.own_token.clone())
            .with_certificates(files.is_some_and(|files| files.client_ca.is_some()));
        Ok((guard, tls))
    }
}

/// A coordinator that has its database open but does not serve yet.
pub struct Coordinator {
    dispatcher: Dispatcher<Writer>,
    dispatch: Dispatch,
    checkpointer: Checkpointer,
    readers: Readers,
    epoch: i64,
    database_uuid: String,
    clock: Clock,
    heartbeat_interval: Duration,
    metrics: Metrics,
    guard: Guard,
    tls: Option<Tls>,
    hosts: Vec<String>,
    programs_folder: PathBuf,
    programs_bytes: u64,
    may_play: bool,
    #[cfg(feature = "faults")]
    faults: Faults,
}

/// Why a coordinator cannot start or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// The database cannot be opened, or was taken over.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The token file cannot be read.
    #[error("failed to read the tokens in {}: {source}", path.display())]
    Tokens {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        source: BookError,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The program was built wrong.
    #[error("failed to describe the services: {0}")]
    Reflection(#[source] server::ReflectionError),
    /// The program was built wrong.
    #[error("failed to name what is counted: {0}")]
    Metrics(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CoordinatorError {
    /// What to do about the error, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Store(error) => error.remedy(),
            Self::Tokens { source, .. } => source.remedy().to_owned(),
            Self::Tls(error) => error.remedy().to_owned(),
            Self::Reflection(_) | Self::Metrics(_) => {
                "report this as a fault of the program".to_owned()
            }
        }
    }
}

impl Coordinator {
    /// Opens the database.
    ///
    /// # Errors
    /// If the database cannot be opened; nothing is changed then.
    pub async fn open(config: Config) -> Result<Self, CoordinatorError> {
        Self::open_with_courses(config, Arc::new(course_from_plan)).await
    }

    /// Opens the database, with custom courses: `course_factory` returns, for a sweep's plan, the course that chooses the
    /// next cells from earlier results, if the sweep has one.
    ///
    /// # Errors
    /// As [`Coordinator::open`].
    pub async fn open_with_courses(
        config: Config,
        course_factory: Arc<CourseFactory>,
    ) -> Result<Self, CoordinatorError> {
        config.check()?;
        let writer = Writer::open(&config.db).await?;
        Self::with_writer_and_courses(config, writer, course_factory).await
    }

    /// Takes a database that was opened already, at the path that `config` names.
    ///
    /// # Errors
    /// If the database cannot be read or written, or the configuration is wrong ([`Config::check`]).
    pub async fn with_writer(config: Config, writer: Writer) -> Result<Self, CoordinatorError> {
        Self::with_writer_and_courses(config, writer, Arc::new(course_from_plan)).await
    }

    async fn with_writer_and_courses(
        config: Config,
        mut writer: Writer,
        course_factory: Arc<CourseFactory>,
    ) -> Result<Self, CoordinatorError> {
        let (guard, tls) = config.admission()?;
        let Config { db, heartbeat_interval, hosts, holder_text, is_alone, .. } = config;
        writer.tell(&holder_text)?;
        let (readers, epoch) = (writer.readers(), writer.epoch());
        let database_uuid = writer.database_uuid().await?;
        let checkpointer = writer.checkpointer().await?;
        let lease_duration = heartbeat_interval * HEARTBEATS_PER_LEASE;
        let policy = Policy {
            lease_duration_ms: u64::try_from(lease_duration.as_millis()).unwrap_or(u64::MAX),
            ..Policy::default()
        };
        let clock = Clock::start();
        let faults = Faults::from_environment();
        let metrics = Metrics::new(ENGINE_REVISION, &Routes::new().names)
            .map_err(|error| CoordinatorError::Metrics(error.into()))?;
        let work = Arc::clone(&metrics.work);
        let (mut dispatcher, dispatch) =
            Dispatcher::start(writer, policy, clock, faults.clone(), course_factory, work).await?;
        dispatcher.expect_one_worker(is_alone);
        tracing::info!(db = %db.display(), epoch, "opened the database");
        let mut programs_folder = db.into_os_string();
        programs_folder.push("-programs");
        Ok(Self {
            dispatcher,
            dispatch,
            checkpointer,
            readers,
            epoch,
            database_uuid,
            clock,
            heartbeat_interval,
            metrics,
            guard,
            tls,
            hosts,
            programs_folder: programs_folder.into(),
            programs_bytes: PROGRAMS_BYTES,
            may_play: false,
            #[cfg(feature = "faults")]
            faults,
        })
    }

    /// Keeps pushed programs of so many bytes together, in the folder beside the database.
    #[must_use]
    pub fn with_programs_bytes(self, programs_bytes: u64) -> Self {
        Self { programs_bytes, ..self }
    }

    /// Also searches single positions for people, who can play against built-in players in a browser: two searches at
    /// once, for some seconds each, on threads of low priority.
    #[must_use]
    pub fn with_play(self, may_play: bool) -> Self {
        Self { may_play, ..self }
    }

    /// Read-only connections to the database. They are closed when serving ends.
    #[must_use]
    pub fn readers(&self) -> Readers {
        self.readers.clone()
    }

    /// Handle that reports whether the coordinator can do its work, once it serves.
    #[must_use]
    pub fn health(&self) -> Health {
        self.dispatcher.health(self.dispatch.clone())
    }

    /// For tests: where faults are ordered.
    #[cfg(feature = "faults")]
    #[doc(hidden)]
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// Serves until `shutdown`; then finishes the requests under way, and returns. If the future is dropped instead,
    /// the coordinator stops at once, as if killed: acknowledged requests are on disk.
    ///
    /// # Errors
    /// If another coordinator took the database over, the database is damaged or not at its path any more, or its disk
    /// has failed for too long.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> Result<(), CoordinatorError> {
        self.serve_at(Listeners { public: listener, own: None }, shutdown).await
    }

    /// As [`Coordinator::serve`], with a second listener for the owner alone.
    ///
    /// # Errors
    /// As [`Coordinator::serve`].
    pub fn serve_at(
        self,
        listeners: Listeners,
        shutdown: CancellationToken,
    ) -> impl Future<Output = Result<(), CoordinatorError>> + Send {
        // Hides the future's type: otherwise every crate that awaits it would compile the whole coordinator again.
        let serving: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(self.serve_unboxed(listeners, shutdown));
        serving
    }

    async fn serve_unboxed(
        self,
        listeners: Listeners,
        shutdown: CancellationToken,
    ) -> Result<(), CoordinatorError> {
        let Self { dispatcher, dispatch, mut checkpointer, readers, epoch, clock, metrics, .. } =
            self;
        let health = dispatcher.health(dispatch.clone());
        let programs = Programs::new(self.programs_folder, self.programs_bytes);
        let heartbeat_interval = self.heartbeat_interval;
        let (asked, read, kept) = (dispatch.clone(), readers.clone(), programs.clone());
        let planner = Planner::new(asked, read, kept, heartbeat_interval);
        let pushing = ProgramsService::new(programs.clone(), dispatch.clone());
        #[cfg(feature = "faults")]
        let readers = self.faults.with_query_limit(readers);
        let stop_serving = shutdown.child_token();
        let stopping = stop_serving.clone();
        let may_play = self.may_play;
        let api = Api::new(
            dispatch.clone(),
            readers.clone(),
            epoch,
            clock,
            heartbeat_interval,
            planner.clone(),
            stopping,
        )
        .with_play(may_play);
        let work = WorkService {
            dispatch: dispatch.clone(),
            readers: readers.clone(),
            programs,
            referee: Arc::clone(&api.referee),
            followed: api.followed.clone(),
            epoch,
            mark: StartMark::new(),
            database_uuid: self.database_uuid,
            heartbeat_interval,
            planner: planner.clone(),
        };
        let counting = metrics.clone();
        let server = Server::new((work, pushing), api, self.guard, self.hosts, health, counting);
        let server = server.await.map_err(CoordinatorError::Reflection)?.with_tls(self.tls);
        #[cfg(feature = "faults")]
        let server = server.with_connections_max(self.faults.connections_max());

        // All in this one task, so that dropping the future stops everything at once. The connections' own tasks end
        // with the server.
        let stop_dispatching = CancellationToken::new();
        let mut serving = pin!(server.run(listeners, stop_serving.clone()));
        let mut dispatching = pin!(dispatcher.run(stop_dispatching.clone()));
        let mut checkpointing = Box::pin(checkpoint(&mut checkpointer, &metrics));
        let ended = tokio::select! {
            () = &mut serving => None,
            ended = &mut dispatching => Some(ended),
            never = &mut checkpointing => match never {},
        };
        let (mut writer, ended) = match ended {
            None => {
                stop_dispatching.cancel();
                dispatching.await
            }
            Some(ended) => {
                stop_serving.cancel();
                serving.await;
                ended
            }
        };
        drop(checkpointing);
        let ended = match ended {
            // A shutdown after the files were damaged still reports the damage.
            Ok(()) => writer.check().await,
            failed => failed,
        };
        if let Err(error) = ended {
            writer.alarm().raise_if_damage(&error);
            writer.abandon(checkpointer).await;
            return Err(error.into());
        }
        checkpointer.close().await?;
        writer.close().await?;
        Ok(())
    }
}

/// Moves committed data from the write-ahead log into the database, apart from commits, so that no reply waits for it.
async fn checkpoint(checkpointer: &mut Checkpointer, metrics: &Metrics) -> Infallible {
    let mut interval = tokio::time::interval(CHECKPOINT_INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let wal_bytes = checkpointer.wal_bytes();
        metrics.set_sizes(checkpointer.database_bytes(), wal_bytes);
        // Also without work. A failed check raises the alarm, which ends the dispatcher.
        let checked = checkpointer.check().await;
        if checked.is_err() || wal_bytes < WAL_CHECKPOINT_BYTES {
            continue;
        }
        match checkpointer.run().await {
            Ok(done) => tracing::debug!(?done, "checkpoint"),
            // Nothing is lost: the log stays, and the next checkpoint may succeed.
            Err(error) => tracing::warn!("failed to checkpoint: {error}; {}", error.remedy()),
        }
    }
}
