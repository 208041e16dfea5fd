//! One listener for everything: gRPC, the JSON API, and pages for browsers.
//!
//! hyper distinguishes HTTP/1 from HTTP/2 by a connection's first bytes, and one axum router has tonic's routes beside
//! the pages. Strangers get no farther than [`gate`]: what they can hold is bounded, and takes nothing that other
//! callers need (docs/reliability.md, "Strangers").

mod answer;
mod connections;
mod counted;
mod crowd;
mod form;
mod gate;
mod message;
mod open_files;
mod origin;
mod request_id;
mod revoked;
mod standby;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use spelrum_proto::FILE_DESCRIPTOR_SET;
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1::programs_server::ProgramsServer;
use spelrum_proto::v1::work_server::WorkServer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::service::Routes;
use tonic::service::interceptor::InterceptedService;
use tonic_health::server::HealthReporter;
use tower::ServiceExt as _;

use self::connections::{Connection, Connections, Opened};
use self::gate::Gate;
use self::origin::Names;
pub use self::standby::pass_on;
pub(crate) use self::tls::Tls;
pub use self::tls::{TlsError, TlsFiles};
use crate::access::{Certified, Guard};
use crate::api::{Api, Routes as ApiRoutes};
use crate::dispatcher::Health;
use crate::log_throttle::LogThrottle;
use crate::metrics::{self, Metrics};
use crate::pages::{self, Pages};
use crate::services::{ProgramsService, WorkService};
use crate::transport::Transport;

/// Connections at once (invariant 9): one for each worker that the roster has a place for, and some for clients.
const CONNECTIONS_MAX: usize = 12_288;

/// Calls under way at once on one connection.
const CALLS_PER_CONNECTION_MAX: u32 = 64;

/// Unread bytes that a client may send, for a call and for a connection.
const CALL_WINDOW_BYTES: u32 = 256 << 10;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// Bytes of a waiting answer that are buffered below [`answer`], where they cannot be dropped.
const SEND_BUFFER_BYTES: usize = 64 << 10;

/// Most bytes of an HTTP/1 request's headers.
const HEADERS_BYTES_MAX: usize = 16 << 10;

/// Time for a client to send an HTTP/1 request's headers, and for the TLS handshake.
const HEADERS_PATIENCE: Duration = Duration::from_secs(10);

/// A silent HTTP/2 connection is pinged after this long, and closed after as long again.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Time for calls under way to end at a shutdown.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(10);

/// Interval of the health checks.
const HEALTH_INTERVAL: Duration = Duration::from_secs(10);

/// Wait after a failed accept, as with too many open files.
const ACCEPT_RETRY_AFTER: Duration = Duration::from_millis(100);

/// Interval for closing idle connections of strangers and dropping unread answers.
const EXPIRE_INTERVAL: Duration = Duration::from_secs(1);

/// The listeners.
#[derive(Debug)]
pub struct Listeners {
    /// For everyone: by TLS, if configured.
    pub public: TcpListener,
    /// On loopback and never by TLS, for the owner's own token ([`crate::Config::own_token`]).
    pub own: Option<TcpListener>,
}

/// A connection's bytes, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Attached to each call of a connection.
#[derive(Clone, Debug)]
struct Arrival {
    connection: Arc<Connection>,
    transport: Transport,
    certified: Option<Arc<Certified>>,
}

impl Arrival {
    fn plain(connection: Arc<Connection>) -> Self {
        Self { connection, transport: Transport::Plain, certified: None }
    }

    fn by_tls(connection: Arc<Connection>, certified: Option<Certified>) -> Self {
        Self { connection, transport: Transport::Tls, certified: certified.map(Arc::new) }
    }

    fn marks(&self, mut request: axum::http::Request<Incoming>) -> Request {
        let extensions = request.extensions_mut();
        extensions.insert(Arc::clone(&self.connection));
        extensions.insert(self.transport);
        if let Some(certified) = &self.certified {
            extensions.insert(Arc::clone(certified));
        }
        request.map(Body::new)
    }
}

/// Everything that is served.
pub(crate) struct Server {
    router: Router,
    gate: Arc<Gate>,
    guard: Guard,
    connections_max: usize,
    health: HealthReporter,
    state: Health,
    metrics: Metrics,
    tls: Option<Tls>,
}

/// The reflection service could not be made: the program was built wrong.
pub(crate) type ReflectionError = tonic_reflection::server::Error;

impl Server {
    pub(crate) async fn new(
        (work, programs): (WorkService, ProgramsService),
        api: Api,
        guard: Guard,
        hosts: Vec<String>,
        state: Health,
        metrics: Metrics,
    ) -> Result<Self, ReflectionError> {
        let (health, health_service) = tonic_health::server::health_reporter();
        report_health(&health, true).await;
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let work = WorkServer::new(work)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let programs = ProgramsServer::new(programs).max_decoding_message_size(MESSAGE_BYTES_MAX);
        let sessions = api.sessions.clone();
        let names = Names::new(hosts);
        let gate = Gate::new(guard.clone(), names, metrics.clone(), sessions.clone());
        let api = Arc::new(api);
        let pages = Arc::new(Pages::new(Arc::clone(&api), sessions));
        // Health, reflection and the pages reveal only that a coordinator is here and stay open.
        let router = Routes::new(InterceptedService::new(work, gate::only_passed))
            .add_service(InterceptedService::new(programs, gate::only_passed))
            .add_service(health_service)
            .add_service(reflection().build_v1()?)
            .add_service(reflection().build_v1alpha()?)
            .into_axum_router()
            .merge(ApiRoutes::new().router.with_state(api))
            .merge(Arc::clone(&pages).router())
            .route("/", get(index).with_state(pages))
            .route("/healthz", get(healthz).with_state(state.clone()))
            .route(gate::METRICS_PATH, get(numbers).with_state(metrics.clone()))
            .fallback(not_found)
            .layer(from_fn_with_state(Arc::clone(&gate), gate::pass));
        let connections_max = open_files::connections_max(CONNECTIONS_MAX);
        Ok(Self { router, gate, guard, connections_max, health, state, metrics, tls: None })
    }

    /// Requires TLS on the public listener.
    pub(crate) fn with_tls(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// With fewer places for connections.
    #[cfg(feature = "faults")]
    pub(crate) fn with_connections_max(self, connections_max: usize) -> Self {
        Self { connections_max: connections_max.min(self.connections_max), ..self }
    }

    /// Serves until `stop`, then lets the calls under way end.
    pub(crate) async fn run(self, listeners: Listeners, stop: CancellationToken) {
        let serving = GracefulShutdown::new();
        let connections = Connections::with_places(self.connections_max, gate::SHARE);
        let mut door = Door {
            listeners: &listeners,
            connections: &connections,
            throttle: LogThrottle::default(),
        };
        let mut expire_idle = tokio::time::interval(EXPIRE_INTERVAL);
        expire_idle.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Also when this future is dropped: then at once.
        let abort = CancellationToken::new();
        let excessive = Arc::new(LogThrottle::default());
        let _abort_at_end = abort.clone().drop_guard();
        let (reporter, metrics) = (self.health.clone(), self.metrics.clone());
        let mut watching = pin!(watch_health(reporter, self.state, metrics));
        let mut watching_tokens = pin!(self.guard.watch());
        loop {
            let (stream, opened, by) = tokio::select! {
                () = stop.cancelled() => break,
                never = &mut watching => match never {},
                never = &mut watching_tokens => match never {},
                accepted = door.next() => accepted,
                _ = expire_idle.tick() => {
                    connections.close_idle_strangers();
                    self.gate.expire_idle();
                    continue;
                }
            };
            let builder = connection_builder();
            let connection = Arc::clone(&opened.0);
            let tls = self.tls.clone().filter(|_| by == By::Public);
            let router = self.router.clone();
            let watcher = serving.watcher();
            let abort = abort.clone();
            let open = self.metrics.connection();
            let stop = stop.clone();
            let excessive = Arc::clone(&excessive);
            tokio::spawn(async move {
                let _open = open;
                let served = async {
                    let (stream, arrival): (Box<dyn Stream>, _) = match tls {
                        None => (Box::new(stream), Arrival::plain(connection)),
                        Some(tls) => {
                            let shaking = tls.shake_hands(stream, HEADERS_PATIENCE);
                            let Some(stream) = stop.run_until_cancelled(shaking).await else {
                                return Ok(());
                            };
                            let stream = stream?;
                            let certified = tls::certified(&stream);
                            (Box::new(stream), Arrival::by_tls(connection, certified))
                        }
                    };
                    let service = router.map_request(move |request| arrival.marks(request));
                    let service = TowerToHyperService::new(service);
                    let serving = builder.serve_connection(TokioIo::new(stream), service);
                    watcher.watch(serving).await
                };
                let Opened(connection) = &opened;
                let served = connection.closing.run_until_cancelled(served);
                if let Some(Some(Err(error))) = abort.run_until_cancelled(served).await {
                    // Everyday events: a client that went away, or that does not speak HTTP, or does not speak TLS.
                    tracing::debug!(%error, "a connection ended");
                    if is_too_many(&*error)
                        && let Some(times) = excessive.record(1)
                    {
                        let peer = connection.peer;
                        tracing::warn!(times, %peer, "closed connections that broke off too many calls; the last from this peer");
                    }
                }
            });
        }
        drop(listeners);
        report_health(&self.health, false).await;
        tracing::info!(connections = serving.count(), "finishing the calls under way");
        if tokio::time::timeout(SHUTDOWN_PATIENCE, serving.shutdown()).await.is_err() {
            tracing::warn!("some calls did not end in time");
        }
    }
}

/// Whether a connection was ended for its client's excesses, such as resetting streams. The library logs a line for
/// each, which `cli/src/terminal/logging.rs` keeps out of the log.
fn is_too_many(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    let ended = causes.find_map(|cause| cause.downcast_ref::<h2::Error>());
    ended.is_some_and(|error| error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM))
}

/// Checks periodically whether the coordinator can do its work, and updates the health service.
async fn watch_health(reporter: HealthReporter, state: Health, metrics: Metrics) -> Infallible {
    let mut interval = tokio::time::interval(HEALTH_INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_well = true;
    loop {
        interval.tick().await;
        let health = state.check().await;
        if health.is_ok() != was_well {
            was_well = health.is_ok();
            report_health(&reporter, was_well).await;
            metrics.set_healthy(was_well);
            match health {
                Ok(()) => tracing::info!("healthy again: commits reach the disk"),
                Err(unwell) => {
                    tracing::warn!("unhealthy, and health checks report it: {}", unwell.problem)
                }
            }
        }
    }
}

async fn report_health(reporter: &HealthReporter, is_well: bool) {
    if is_well {
        reporter.set_serving::<WorkServer<WorkService>>().await;
    } else {
        reporter.set_not_serving::<WorkServer<WorkService>>().await;
    }
}

/// Returns "ok" if commits reach the disk; else 503 and the problem.
async fn healthz(State(state): State<Health>) -> Response {
    match state.check().await {
        Ok(()) => "ok\n".into_response(),
        Err(unwell) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", unwell.problem)).into_response()
        }
    }
}

/// The metrics page: only numbers from memory.
async fn numbers(State(metrics): State<Metrics>) -> Response {
    match metrics.page() {
        Ok(page) => ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], page).into_response(),
        Err(error) => {
            tracing::error!(%error, "failed to write the page of numbers");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn connection_builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_PATIENCE)
        .max_buf_size(HEADERS_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(CALLS_PER_CONNECTION_MAX)
        .initial_stream_window_size(CALL_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES);
    builder
}

/// Accepts connections.
struct Door<'s> {
    listeners: &'s Listeners,
    connections: &'s Arc<Connections>,
    throttle: LogThrottle,
}

/// The listener of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Public,
    Own,
}

impl Door<'_> {
    /// The next connection that has a place.
    async fn next(&mut self) -> (TcpStream, Opened, By) {
        let Listeners { public, own } = self.listeners;
        loop {
            let (accepted, by) = match own {
                None => (public.accept().await, By::Public),
                Some(own) => tokio::select! {
                    accepted = public.accept() => (accepted, By::Public),
                    accepted = own.accept() => (accepted, By::Own),
                },
            };
            match accepted.and_then(with_address) {
                Ok((stream, peer, local)) => match self.connections.open(peer, local.ip()) {
                    Some(opened) => return (stream, opened, by),
                    None => self
                        .warn(format_args!("all connections are at work: closed that of {peer}")),
                },
                Err(error) if is_client_error(&error) => {
                    tracing::debug!(%error, "a connection ended");
                }
                Err(error) => {
                    // Usually too many open files.
                    self.connections.close_one();
                    self.warn(format_args!("could not accept a connection: {error}"));
                    tokio::time::sleep(ACCEPT_RETRY_AFTER).await;
                }
            }
        }
    }

    fn warn(&self, problem: std::fmt::Arguments<'_>) {
        if let Some(times) = self.throttle.record(1) {
            tracing::warn!(times, "{problem}");
        }
    }
}

/// Whether the client went away before its connection was accepted (accept(2)).
fn is_client_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::NotConnected
            | io::ErrorKind::InvalidInput
    )
}

fn with_address(
    (stream, peer): (TcpStream, SocketAddr),
) -> io::Result<(TcpStream, SocketAddr, SocketAddr)> {
    // A report and its acknowledgement must not wait for a fuller packet.
    stream.set_nodelay(true)?;
    let local = stream.local_addr()?;
    Ok((stream, peer, local))
}

/// The page of all experiments for browsers; for others, what this is.
async fn index(State(pages): State<Arc<Pages>>, request: Request) -> Response {
    if pages::wants_page(request.headers()) {
        return pages.overview().await;
    }
    let text = format!(
        "This is a Spelrum coordinator, version {}.\n\
         \n\
         Workers (by gRPC) and clients (by HTTP) reach it on this port:\n\
         \n\
         \x20   spelrum worker --coordinator URL\n\
         \x20   spelrum submit FILE --coordinator URL\n\
         \x20   spelrum status --coordinator URL\n\
         \x20   curl URL/api/v1/status\n\
         \n\
         GET /healthz answers \"ok\" while it runs and its disk takes what it writes,\n\
         GET /metrics numbers for monitoring. Browsers get pages; `spelrum open` lets one in.\n",
        env!("CARGO_PKG_VERSION"),
    );
    text.into_response()
}

/// Answers an unknown path, for gRPC clients or for people.
async fn not_found(request: Request) -> Response {
    let is_grpc = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    if is_grpc {
        Status::unimplemented("this coordinator has no such method").into_http()
    } else {
        (StatusCode::NOT_FOUND, "There is nothing here. GET / says what this is.\n").into_response()
    }
}
