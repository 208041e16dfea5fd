//! The checks that a call passes before it reaches a service, in this order: not sent by a web page, a valid token or
//! certificate, a complete message, and a free place. A call that fails a check takes nothing that other calls wait
//! for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use spelrum_proto::{Reason, Refusal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::Instrument as _;

use super::answer::Answer;
use super::connections::{Connection, Share};
use super::counted::Counted;
use super::crowd::{Crowd, Member};
use super::form::Form;
use super::message::{self, Message, NoMessage, PATIENCE, UNITS_MAX, UNITS_PER_CONNECTION_MAX};
use super::origin::{self, Foreign, Names};
use super::request_id::RequestIds;
use super::revoked::UntilRevoked;
use crate::access::{
    API_PREFIX, CalledBy, CalledFrom, Certified, Credential, Guard, Passed, Role, Sessions,
};
use crate::api;
use crate::log_throttle::LogThrottle;
use crate::metrics::{Metrics, UnderWay, Why};
use crate::pages::{self, is_page};
use crate::transport::Transport;

/// Path of the metrics page.
pub(super) const METRICS_PATH: &str = "/metrics";

/// Calls that services answer at once, over all connections (invariant 9).
const CALLS_MAX: usize = 512;

/// The share of `CALLS_MAX` for one connection. A proxy that carries the calls of many workers over one connection
/// needs more.
const CALLS_SHARE: usize = 32;

/// Calls that are receiving their message, waiting for a place, or open to everyone.
const ARRIVING_MAX: u64 = 4_096;

/// Bytes of answers that are being sent and wait here.
const ANSWERS_BYTES_MAX: u64 = 64 << 20;

/// An answer is dropped if its client has read nothing of it for this long.
const ANSWER_PATIENCE: Duration = Duration::from_secs(20);

/// Concurrent streams of the open services (such as reflection), which may last.
const STREAMS_MAX: u64 = 64 * (16 << 10);

/// When an evicted caller should retry.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The share of one connection.
pub(super) const SHARE: Share = Share { calls: CALLS_SHARE, units: UNITS_PER_CONNECTION_MAX };

/// The checks for all calls.
pub(super) struct Gate {
    guard: Guard,
    names: Names,
    places: Arc<Semaphore>,
    units: Arc<Semaphore>,
    arriving: Arc<Crowd>,
    answers: Arc<Crowd>,
    streams: Arc<Crowd>,
    throttles: Throttles,
    ids: RequestIds,
    metrics: Metrics,
    sessions: Sessions,
}

/// Rate limits for log lines.
#[derive(Debug, Default)]
struct Throttles {
    bad_tokens: LogThrottle,
    foreign: LogThrottle,
    no_places: LogThrottle,
    no_messages: LogThrottle,
    thrown_out: LogThrottle,
    unread: LogThrottle,
}

/// Refuses a call that has not passed.
pub(super) fn only_passed(call: tonic::Request<()>) -> Result<tonic::Request<()>, Status> {
    match call.extensions().get::<Passed>() {
        Some(Passed) => Ok(call),
        None => Err(Status::unauthenticated("the call has not passed the gate")),
    }
}

/// The kind of a path.
#[derive(Clone, Copy)]
enum Of {
    /// The workers' service, guarded by the token.
    Service,
    /// The JSON API, guarded likewise.
    Api,
    /// A service that is open to everyone and has no data.
    Open,
    /// The metrics page, which is larger than the other pages and not for web pages of other sites.
    Metrics,
    /// A page with data, guarded likewise.
    DataPage,
    /// A page that changes something for its browser: not for web pages of other sites.
    Entrance,
    /// A page without data, or an unknown path.
    Page,
}

impl Of {
    fn request(request: &Request) -> Self {
        let path = request.uri().path();
        if path.starts_with("/grpc.") {
            Self::Open
        } else if path.starts_with("/spelrum.") {
            Self::Service
        } else if path.starts_with(API_PREFIX) {
            Self::Api
        } else if path == METRICS_PATH {
            Self::Metrics
        } else if is_page(path) || path == "/" && pages::wants_page(request.headers()) {
            Self::DataPage
        } else if path == "/enter" && request.method() != Method::GET {
            Self::Entrance
        } else {
            Self::Page
        }
    }
}

impl Gate {
    pub(super) fn new(
        guard: Guard,
        names: Names,
        metrics: Metrics,
        sessions: Sessions,
    ) -> Arc<Self> {
        Arc::new(Self {
            sessions,
            guard,
            names,
            places: Arc::new(Semaphore::new(CALLS_MAX)),
            units: Arc::new(Semaphore::new(UNITS_MAX)),
            arriving: Crowd::with_room(ARRIVING_MAX),
            answers: Crowd::with_room(ANSWERS_BYTES_MAX),
            streams: Crowd::with_room(STREAMS_MAX),
            throttles: Throttles::default(),
            ids: RequestIds::new(),
            metrics,
        })
    }

    /// Drops answers that are not being read.
    pub(super) fn expire_idle(&self) {
        if let Some(times) = self.throttles.unread.record(self.answers.expire(ANSWER_PATIENCE)) {
            tracing::warn!(times, "answers were not read by their clients, and are not kept");
        }
    }

    /// Refuses calls from web pages of other sites, and those that a page could send without asking.
    fn check_sender(
        &self,
        form: Form,
        request: &Request,
        connection: &Connection,
    ) -> Result<(), Foreign> {
        let (method, headers) = (request.method(), request.headers());
        match form {
            Form::Grpc => origin::check_grpc(method, request.version(), headers)?,
            Form::Json if request.body().size_hint().exact() == Some(0) => {}
            Form::Json => origin::check_json(headers)?,
            // Whoever follows a link from another site sees the page, and that site does not.
            Form::Html if origin::is_navigation(method, headers) => {
                return self.check_host(request, connection);
            }
            Form::Html => origin::check_form(method, headers)?,
        }
        self.check_site(request, connection)
    }

    /// Refuses calls to other hosts, wherever they come from.
    fn check_host(&self, request: &Request, connection: &Connection) -> Result<(), Foreign> {
        let mut headers = request.headers().clone();
        headers.remove("sec-fetch-site");
        headers.remove(header::ORIGIN);
        let (uri, plain) = (request.uri(), Transport::Plain);
        origin::check_sender(&self.names, connection.local, plain, uri, &headers)
    }

    /// Refuses calls from web pages of other sites, whatever the path.
    fn check_site(&self, request: &Request, connection: &Connection) -> Result<(), Foreign> {
        let transport = request.extensions().get().copied().unwrap_or(Transport::Plain);
        let (uri, headers) = (request.uri(), request.headers());
        origin::check_sender(&self.names, connection.local, transport, uri, headers)
    }

    fn check_caller(
        &self,
        request: &Request,
        peer: SocketAddr,
    ) -> Result<Option<Credential>, Refusal> {
        let authorization = request.headers().get(header::AUTHORIZATION);
        let needed = Role::needed_by(request.method(), request.uri().path());
        let authorization = authorization.map(|value| value.as_bytes());
        let certified = request.extensions().get::<Arc<Certified>>().map(|certified| &**certified);
        let checked = self.guard.check(needed, authorization, certified);
        if checked.is_err() {
            self.metrics.calls.refused(Why::Token);
        }
        if checked.is_err()
            && let Some(times) = self.throttles.bad_tokens.record(1)
        {
            tracing::warn!(times, %peer, "refused calls without a token or certificate of the needed role; the last from this peer");
        }
        checked
    }

    /// Waits until a call that has passed would be refused because its token or certificate was revoked.
    fn revoked(&self, request: &Request) -> BoxFuture<'static, Refusal> {
        let guard = self.guard.clone();
        let needed = Role::needed_by(request.method(), request.uri().path());
        let authorization = request.headers().get(header::AUTHORIZATION).cloned();
        let certified = request.extensions().get::<Arc<Certified>>().cloned();
        Box::pin(async move {
            let authorization = authorization.as_ref().map(|value| value.as_bytes());
            guard.refuses_later(needed, authorization, certified.as_deref()).await
        })
    }

    /// Refuses, counts and logs a call that failed a check.
    fn refuse_foreign(&self, foreign: &Foreign, peer: SocketAddr, kind: Of) -> Response {
        self.metrics.calls.refused(match foreign {
            Foreign::NotGrpc => Why::NotGrpc,
            Foreign::NotJson => Why::NotJson,
            Foreign::OldHttp => Why::OldHttp,
            Foreign::Host(_) => Why::Host,
            Foreign::Origin(_) => Why::Origin,
        });
        if let Some(times) = self.throttles.foreign.record(1) {
            tracing::warn!(times, %peer, ?foreign, "refused calls; the last from this peer");
        }
        refuse(foreign, kind)
    }

    /// Answers a call that is open to everyone. Such a call needs no place.
    async fn open(
        &self,
        connection: &Connection,
        answering: impl Future<Output = Response>,
    ) -> Response {
        let thrown_out = CancellationToken::new();
        let _member = self.admit(connection, &thrown_out);
        let answered = thrown_out.run_until_cancelled(answering).await;
        answered.unwrap_or_else(|| {
            self.metrics.calls.refused(Why::Crowded);
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        })
    }

    fn admit(&self, connection: &Connection, thrown_out: &CancellationToken) -> Member {
        let token = thrown_out.clone();
        let (member, removed) = self.arriving.enter(connection.id, 1, move || token.cancel());
        if let Some(times) = self.throttles.thrown_out.record(removed) {
            tracing::warn!(
                times,
                "more than {ARRIVING_MAX} calls were under way: refused the oldest of connections \
                 that had most"
            );
        }
        member
    }

    /// Receives the call's message, then waits for a place. The call's time counts from the complete message: from then
    /// on the coordinator causes the wait.
    async fn receive(
        &self,
        connection: &Connection,
        form: Form,
        name: &str,
        body: Body,
    ) -> Result<(Message, UnderWay, Option<Place>), Refusal> {
        let length = match form {
            Form::Grpc => None,
            Form::Json | Form::Html => Some(api::check_length(body.size_hint().exact())?),
        };
        let thrown_out = CancellationToken::new();
        let _member = self.admit(connection, &thrown_out);
        let peer = connection.peer;
        let receiving = async {
            let rooms = [&self.units, &connection.units];
            let message = message::receive(body, length, rooms, PATIENCE).await;
            let message = message.map_err(|problem| self.refuse_message(problem, peer))?;
            let call = self.metrics.calls.begin(name);
            Ok((message, call, self.place(connection).await))
        };
        let received = thrown_out.run_until_cancelled(receiving).await;
        received.unwrap_or_else(|| {
            self.metrics.calls.refused(Why::Crowded);
            Err(Refusal::busy("too many calls are under way", RETRY_AFTER))
        })
    }

    fn refuse_message(&self, problem: NoMessage, peer: SocketAddr) -> Refusal {
        self.metrics.calls.refused(Why::Message);
        if let Some(times) = self.throttles.no_messages.record(1) {
            tracing::warn!(times, %peer, ?problem, "calls brought no message; the last from this peer");
        }
        let problem = match problem {
            NoMessage::Late => "the call's message did not come in time",
            NoMessage::NoRoom => "too many large messages are under way",
            NoMessage::Broken => "the call's message broke off",
        };
        Refusal::busy(problem, RETRY_AFTER)
    }

    /// Waits for a place.
    async fn place(&self, connection: &Connection) -> Option<Place> {
        // The semaphores are never closed.
        let own_place = Arc::clone(&connection.calls).acquire_owned().await.ok()?;
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some([place, own_place]);
        }
        if let Some(times) = self.throttles.no_places.record(1) {
            tracing::warn!(times, "calls have to wait: all {CALLS_MAX} places for calls are taken");
        }
        Some([Arc::clone(&self.places).acquire_owned().await.ok()?, own_place])
    }

    /// Answers an open call whose answer may be long or lasting; its unread part may be dropped.
    async fn open_stream(&self, connection: &Connection, request: Request, next: Next) -> Response {
        let response = self.open(connection, next.run(request)).await;
        response.map(|body| {
            let (answer, _) = Answer::enter(&self.streams, connection.id, Form::Grpc, body);
            Body::new(answer)
        })
    }

    /// Checks a call and passes it to its service.
    async fn serve(
        &self,
        form: Form,
        name: &str,
        connection: &Connection,
        request: Request,
        next: Next,
    ) -> Response {
        if let Err(foreign) = self.check_sender(form, &request, connection) {
            let is_grpc = origin::is_grpc(request.headers().get(header::CONTENT_TYPE));
            let kind = match form {
                Form::Grpc if is_grpc => Of::Service,
                Form::Grpc => Of::Page,
                Form::Json => Of::Api,
                Form::Html => Of::DataPage,
            };
            return self.refuse_foreign(&foreign, connection.peer, kind);
        }
        let credential = match self.check_caller(&request, connection.peer) {
            Ok(credential) => credential,
            Err(refusal) => return form.refused(refusal),
        };
        let mut revoked = self.revoked(&request);
        let (parts, body) = request.into_parts();
        let (message, call, place) = match self.receive(connection, form, name, body).await {
            Ok(received) => received,
            Err(refusal) => return form.refused(refusal),
        };
        connection.mark_known();
        let Message { bytes, room } = message;
        let mut request = Request::from_parts(parts, Body::from(bytes));
        request.extensions_mut().insert(Passed);
        request.extensions_mut().insert(CalledBy(credential));
        request.extensions_mut().insert(CalledFrom(connection.peer.ip()));
        let answered = tokio::select! {
            response = next.run(request) => Ok(response),
            refusal = &mut revoked => Err(refusal),
        };
        let response = match answered {
            Ok(response) => response.map(|body| Body::new(UntilRevoked::new(form, body, revoked))),
            Err(refusal) => form.refused(refusal),
        };
        drop((place, room));
        let (parts, body) = response.into_parts();
        let outcome = form.outcome(parts.status, &parts.headers);
        let body = Body::new(Counted::new(call, form, outcome, body));
        let (answer, removed) = Answer::enter(&self.answers, connection.id, form, body);
        if let Some(times) = self.throttles.unread.record(removed) {
            tracing::warn!(times, "answers were not read by their clients, and are not kept");
        }
        Response::from_parts(parts, Body::new(answer))
    }
}

/// One permit of all, and one of the connection's.
type Place = [OwnedSemaphorePermit; 2];

/// Passes a request on, or refuses it with the reason.
pub(super) async fn pass(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    // The connection attaches itself to every request.
    let Some(connection) = request.extensions().get::<Arc<Connection>>().cloned() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let _calling = connection.call();
    let kind = Of::request(&request);
    if matches!(kind, Of::Api | Of::DataPage) {
        gate.sessions.authorize(request.headers_mut(), Instant::now());
    }
    match kind {
        Of::Page => gate.open(&connection, next.run(request)).await,
        Of::Entrance => {
            if let Err(foreign) = gate.check_site(&request, &connection) {
                return gate.refuse_foreign(&foreign, connection.peer, Of::Page);
            }
            gate.open(&connection, next.run(request)).await
        }
        Of::Metrics => {
            if let Err(foreign) = gate.check_site(&request, &connection) {
                return gate.refuse_foreign(&foreign, connection.peer, Of::Page);
            }
            gate.open_stream(&connection, request, next).await
        }
        Of::Open => {
            let (method, version) = (request.method(), request.version());
            if let Err(foreign) = origin::check_grpc(method, version, request.headers()) {
                return gate.refuse_foreign(&foreign, connection.peer, Of::Page);
            }
            gate.open_stream(&connection, request, next).await
        }
        Of::Service | Of::Api | Of::DataPage => {
            let (form, path) = match kind {
                Of::Api | Of::DataPage => {
                    let form = if matches!(kind, Of::Api) { Form::Json } else { Form::Html };
                    let matched = request.extensions().get::<MatchedPath>();
                    let path = matched.map_or("", MatchedPath::as_str);
                    (form, format!("{} {path}", request.method()))
                }
                Of::Service | Of::Open | Of::Metrics | Of::Entrance | Of::Page => {
                    (Form::Grpc, request.uri().path().to_owned())
                }
            };
            let name = gate.metrics.calls.name(&path).to_owned();
            let span = tracing::info_span!(
                "call",
                request = %gate.ids.request_id(request.headers()),
                method = name,
                peer = %connection.peer,
            );
            gate.serve(form, &path, &connection, request, next).instrument(span).await
        }
    }
}

/// Refuses with the reason, in the form that the caller reads.
fn refuse(foreign: &Foreign, kind: Of) -> Response {
    let (status, problem) = match foreign {
        Foreign::NotGrpc => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "this is called by gRPC: POST, and the content type application/grpc".to_owned(),
        ),
        Foreign::NotJson => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is JSON: send the content type application/json".to_owned(),
        ),
        Foreign::OldHttp => {
            (StatusCode::HTTP_VERSION_NOT_SUPPORTED, "gRPC needs HTTP/2".to_owned())
        }
        Foreign::Host(host) => (
            StatusCode::MISDIRECTED_REQUEST,
            format!(
                "the call is for the host {host:?}, which is not this coordinator's; if it is, start \
                 the coordinator with --host NAME"
            ),
        ),
        Foreign::Origin(origin) => (
            StatusCode::FORBIDDEN,
            format!("the call comes from a web page of {origin:?}, and web pages may not call"),
        ),
    };
    match kind {
        Of::Service if !matches!(foreign, Foreign::OldHttp) => {
            Status::permission_denied(problem).into_http()
        }
        Of::Api => {
            let reason = match foreign {
                Foreign::NotJson => Reason::NotJson,
                Foreign::Host(_) => Reason::WrongHost,
                Foreign::Origin(_) | Foreign::NotGrpc | Foreign::OldHttp => Reason::CrossSite,
            };
            api::problem(Refusal::new(reason, problem, ""))
        }
        Of::Service | Of::Open | Of::Metrics | Of::DataPage | Of::Entrance | Of::Page => {
            (status, format!("{problem}\n")).into_response()
        }
    }
}
