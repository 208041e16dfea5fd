//! One listener for everything: gRPC, and pages for people who point a browser at it.
//!
//! hyper tells HTTP/1 from HTTP/2 by a connection's first bytes, and one axum router has tonic's
//! routes beside the pages.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1::experiments_server::ExperimentsServer;
use spelrum_proto::v1::results_server::ResultsServer;
use spelrum_proto::v1::work_server::WorkServer;
use spelrum_proto::{FILE_DESCRIPTOR_SET, Guard};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::service::Routes;
use tonic::service::interceptor::InterceptedService;
use tonic_health::server::HealthReporter;
use tower::limit::GlobalConcurrencyLimitLayer;

use crate::services::{ExperimentsService, ResultsService, WorkService};

/// Connections at once (invariant 9).
const CONNECTIONS_MAX: usize = 4_096;

/// Calls under way at once, of all connections: each may hold a message.
const CALLS_MAX: usize = 512;

/// Calls under way at once of one connection.
const CALLS_PER_CONNECTION_MAX: u32 = 64;

/// How long a client may take over an HTTP/1 request's headers.
const HEADERS_PATIENCE: Duration = Duration::from_secs(10);

/// A silent HTTP/2 connection is asked for a sign of life after so long, and closed after as long
/// again.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// How long calls under way may take to end at a shutdown.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait when no connection can be accepted, as when there are too many open files.
const ACCEPT_RETRY_AFTER: Duration = Duration::from_millis(100);

/// Everything that is served.
pub(crate) struct Server {
    router: Router,
    health: HealthReporter,
}

/// Why the reflection service could not be made: the program was built wrong.
pub(crate) type ReflectionError = tonic_reflection::server::Error;

impl Server {
    pub(crate) async fn new(
        work: WorkService,
        experiments: ExperimentsService,
        results: ResultsService,
        guard: &Guard,
    ) -> Result<Self, ReflectionError> {
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<WorkServer<WorkService>>().await;
        health.set_serving::<ExperimentsServer<ExperimentsService>>().await;
        health.set_serving::<ResultsServer<ResultsService>>().await;
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let work = WorkServer::new(work)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let experiments = ExperimentsServer::new(experiments)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let results = ResultsServer::new(results)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        // What only says that somebody is there, health, reflection and the pages, stays open.
        let router = Routes::new(InterceptedService::new(work, guard.clone()))
            .add_service(InterceptedService::new(experiments, guard.clone()))
            .add_service(InterceptedService::new(results, guard.clone()))
            .add_service(health_service)
            .add_service(reflection().build_v1()?)
            .add_service(reflection().build_v1alpha()?)
            .into_axum_router()
            .route("/", get(index))
            .route("/healthz", get(|| async { "ok\n" }))
            .fallback(nothing_there)
            .layer(GlobalConcurrencyLimitLayer::new(CALLS_MAX));
        Ok(Self { router, health })
    }

    /// Serves until `stop`, then lets the calls under way end.
    pub(crate) async fn run(self, listener: TcpListener, stop: CancellationToken) {
        let connections = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        // Also when this future is dropped: then at once.
        let abort = CancellationToken::new();
        let _abort_at_end = abort.clone().drop_guard();
        loop {
            let stream = tokio::select! {
                () = stop.cancelled() => break,
                stream = accept(&listener, &places) => stream,
            };
            let (stream, place) = stream;
            let builder = connection_builder();
            let service = TowerToHyperService::new(self.router.clone());
            let watcher = connections.watcher();
            let abort = abort.clone();
            tokio::spawn(async move {
                let connection = builder.serve_connection(TokioIo::new(stream), service);
                let served = abort.run_until_cancelled(watcher.watch(connection)).await;
                if let Some(Err(error)) = served {
                    // Everyday events: a client that went away, or that speaks no HTTP.
                    tracing::debug!(%error, "a connection ended");
                }
                drop(place);
            });
        }
        drop(listener);
        self.health.set_not_serving::<WorkServer<WorkService>>().await;
        self.health.set_not_serving::<ExperimentsServer<ExperimentsService>>().await;
        self.health.set_not_serving::<ResultsServer<ResultsService>>().await;
        tracing::info!(connections = connections.count(), "finishing the calls under way");
        if tokio::time::timeout(SHUTDOWN_PATIENCE, connections.shutdown()).await.is_err() {
            tracing::warn!("some calls did not end in time");
        }
    }
}

fn connection_builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_PATIENCE);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(CALLS_PER_CONNECTION_MAX)
        .adaptive_window(true);
    builder
}

/// The next connection, when there is a place for one.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, Option<tokio::sync::OwnedSemaphorePermit>) {
    // The semaphore is never closed.
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // A report and its acknowledgement must not wait for a fuller packet.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%peer, %error, "could not switch TCP_NODELAY on");
                }
                return (stream, place);
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_RETRY_AFTER).await;
            }
        }
    }
}

async fn index() -> String {
    format!(
        "This is a Spelrum coordinator, version {}.\n\
         \n\
         Workers and clients reach it over gRPC on this port:\n\
         \n\
         \x20   spelrum worker --coordinator URL\n\
         \x20   spelrum submit FILE --coordinator URL\n\
         \x20   spelrum status --coordinator URL\n\
         \n\
         GET /healthz answers \"ok\" while it runs.\n",
        env!("CARGO_PKG_VERSION"),
    )
}

/// What is not served: the answer a gRPC client understands, or one for people.
async fn nothing_there(request: Request) -> Response {
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
