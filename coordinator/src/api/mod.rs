//! The JSON API, for people and programs: a route for each call of `spelrum_answers`.

mod analyses;
mod changes;
mod events;
mod exports;
mod games;
mod openapi;
mod parameters;
mod query;
mod questions;
mod queue;
mod reply;
mod status;
mod under_way;
mod verifications;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::handler::Handler;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method as HttpMethod, Request, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, any, get, on, post};
use axum::{Extension, Router};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use spelrum_answers::{
    AnalyzePosition, BROWSER_LINKS_PATH, BrowserLink, Call, EVENTS_PATH, EXPORT_PATH,
    ExportExperiments, FollowEvents, FollowGame, GAMES_PATH, GetOpenapi, GetQueue, GetStatus,
    ListGamesUnderWay, MakeBrowserLink, Method, QUERY_PATH, RunQuery, Status, StreamGames,
};
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::{Reason, Refusal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use self::analyses::Searches;
pub(crate) use self::analyses::can_search;
use self::openapi::Operation;
use self::parameters::PathParameters;
pub(crate) use self::parameters::from_query;
pub(crate) use self::query::query_failed;
pub(crate) use self::questions::unanswered;
pub(crate) use self::reply::{problem, retry_after};
use crate::access::{Passed, Sessions};
use crate::dispatcher::{Clock, Dispatch};
use crate::followed::Followed;
use crate::services::{BUSY_RETRY_AFTER, Planner, Referee};
use crate::transport::Transport;
use spelrum_store::{Readers, each_question};

/// The content type of lines of JSON.
const LINES_CONTENT_TYPE: &str = "application/x-ndjson";

/// Reports and ratings that can be in memory at once.
const REPORTS_MAX: usize = 2;

/// Queries whose rows can be in memory at once.
const QUERIES_MAX: usize = 4;

/// Clients that can follow events at once: each looks at the database every second.
const EVENTS_MAX: usize = 32;

/// What answers the calls.
pub(crate) struct Api {
    pub(crate) dispatch: Dispatch,
    pub(crate) readers: Readers,
    pub(crate) epoch: i64,
    pub(crate) clock: Clock,
    pub(crate) heartbeat_interval: Duration,
    pub(crate) planner: Planner,
    /// Browsers that were let in.
    pub(crate) sessions: Sessions,
    /// Ends answers that have no end of their own.
    stopping: CancellationToken,
    reports: Arc<Semaphore>,
    queries: Arc<Semaphore>,
    events: Arc<Semaphore>,
    /// Each export takes space on the disk until its client has it.
    exports: Arc<Semaphore>,
    searches: Searches,
    /// Games under way that people follow.
    pub(crate) followed: Followed,
    pub(crate) referee: Arc<Referee>,
}

/// An answer to a call.
enum Reply<T> {
    /// Of at most some megabytes.
    Small(T),
    /// Of any size, with the place that it holds until it is sent.
    Large(T, OwnedSemaphorePermit),
}

/// A coordinator's answer to a call.
trait Answers<C: Call>: Send + Sync + 'static {
    /// Answers it.
    fn answer(&self, call: C) -> impl Future<Output = Result<Reply<C::Answer>, Refusal>> + Send;
}

impl Api {
    pub(crate) fn new(
        dispatch: Dispatch,
        readers: Readers,
        epoch: i64,
        clock: Clock,
        heartbeat_interval: Duration,
        planner: Planner,
        stopping: CancellationToken,
    ) -> Self {
        let [reports, queries, events, exports] =
            [REPORTS_MAX, QUERIES_MAX, EVENTS_MAX, 1].map(|max| Arc::new(Semaphore::new(max)));
        let referee = Arc::new(Referee::new(readers.clone()));
        Self {
            dispatch,
            readers,
            epoch,
            clock,
            heartbeat_interval,
            planner,
            sessions: Sessions::new(),
            stopping,
            reports,
            queries,
            events,
            exports,
            searches: Searches::new(false),
            followed: Followed::default(),
            referee,
        }
    }

    /// People may have positions searched, if so.
    pub(crate) fn with_play(self, may_play: bool) -> Self {
        Self { searches: Searches::new(may_play), ..self }
    }
}

impl Api {
    /// The status, as its call answers it.
    pub(crate) async fn status(&self, question: GetStatus) -> Result<Status, Refusal> {
        match self.answer(question).await? {
            Reply::Small(status) | Reply::Large(status, _) => Ok(status),
        }
    }

    /// Cancelled when the coordinator ends.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }
}

/// A link that lets a browser in for as much as its caller's token allows.
async fn browser_link(
    State(api): State<Arc<Api>>,
    transport: Option<Extension<Transport>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(refusal) = parameters::from_body::<MakeBrowserLink>(&[], &body) {
        return problem(refusal);
    }
    let is_tls = transport.is_some_and(|transport| transport.0 == Transport::Tls);
    let scheme = if is_tls { "https" } else { "http" };
    // HTTP/2 has the host in the URI.
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = uri.authority().map(Authority::as_str).or(host).unwrap_or_default();
    // A browser of whoever needs no token, or proves it by a certificate, needs no link.
    let path = match headers.get(header::AUTHORIZATION) {
        Some(token) => api.sessions.link(token.clone(), Instant::now()),
        None => "/".to_owned(),
    };
    reply::json(&BrowserLink { url: format!("{scheme}://{host}{path}") })
}

/// A place among a few, kept until its permit is dropped.
fn place(places: &Arc<Semaphore>, taken: &str) -> Result<OwnedSemaphorePermit, Refusal> {
    Arc::clone(places).try_acquire_owned().map_err(|_| Refusal::busy(taken, BUSY_RETRY_AFTER))
}

/// The API's routes, and the names by which calls are counted, such as `GET /api/v1/status`.
pub(crate) struct Routes {
    pub(crate) router: Router<Arc<Api>>,
    pub(crate) names: Vec<String>,
    operations: Vec<Operation>,
}

impl Routes {
    /// All of them.
    pub(crate) fn new() -> Self {
        let mut routes = Self { router: Router::new(), names: Vec::new(), operations: Vec::new() };
        routes.add::<GetOpenapi>();
        routes.add::<GetStatus>();
        routes.add::<GetQueue>();
        routes.add::<AnalyzePosition>();
        routes.add::<ListGamesUnderWay>();
        routes.add::<FollowGame>();
        each_question(&mut routes);
        changes::add(&mut routes);
        let (run, export) = (post(query::run), post(exports::export));
        let (follow, stream) = (get(events::events), get(games::stream_games));
        routes.add_raw::<RunQuery>(Method::Post, QUERY_PATH, run, openapi::query_lines);
        routes.add_raw::<FollowEvents>(Method::Get, EVENTS_PATH, follow, openapi::events);
        routes.add_raw::<StreamGames>(Method::Get, GAMES_PATH, stream, openapi::game_lines);
        routes.add_raw::<ExportExperiments>(Method::Post, EXPORT_PATH, export, openapi::database);
        let link = post(browser_link);
        routes.add_raw::<MakeBrowserLink>(
            Method::Post,
            BROWSER_LINKS_PATH,
            link,
            openapi::json_of::<BrowserLink>,
        );
        routes.router = routes
            .router
            .route("/api/{*rest}", any(unknown_path))
            .method_not_allowed_fallback(wrong_method)
            // The gate bounds what comes.
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn(only_passed));
        routes
    }

    /// Adds the route of a call.
    fn add<C: Call>(&mut self)
    where
        Api: Answers<C>,
    {
        self.add_handler::<C, _, _>(handle::<C>);
    }

    /// Adds the route of a call that this answers.
    fn add_handler<C: Call, H: Handler<T, Arc<Api>>, T: 'static>(&mut self, handler: H) {
        let filter = match C::METHOD {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Delete => MethodFilter::DELETE,
        };
        let route = on(filter, handler);
        self.add_raw::<C>(C::METHOD, C::PATH, route, openapi::json_of::<C::Answer>);
    }

    /// Adds a route with the call's parameters, and with its answer by content type.
    fn add_raw<C: JsonSchema>(
        &mut self,
        method: Method,
        path: &'static str,
        route: MethodRouter<Arc<Api>>,
        answer: fn(&mut SchemaGenerator) -> Value,
    ) {
        self.names.push(format!("{method} {path}"));
        self.operations.push(Operation::new::<C>(method, path, answer));
        self.router = std::mem::take(&mut self.router).route(path, route);
    }
}

/// The description of all calls.
static DESCRIPTION: LazyLock<Value> =
    LazyLock::new(|| openapi::document(&Routes::new().operations));

impl Answers<GetOpenapi> for Api {
    async fn answer(&self, _question: GetOpenapi) -> Result<Reply<Value>, Refusal> {
        Ok(Reply::Small(DESCRIPTION.clone()))
    }
}

async fn handle<C: Call>(
    State(api): State<Arc<Api>>,
    PathParameters(path): PathParameters,
    uri: Uri,
    body: Bytes,
) -> Response
where
    Api: Answers<C>,
{
    let answer = async { api.answer(parameters::read::<C>(&path, &uri, &body)?).await };
    replied(answer.await)
}

fn replied<T: Serialize + Send + 'static>(answer: Result<Reply<T>, Refusal>) -> Response {
    match answer {
        Ok(Reply::Small(answer)) => reply::json(&answer),
        Ok(Reply::Large(answer, place)) => reply::large_json(answer, place),
        Err(refusal) => problem(refusal),
    }
}

/// Refuses a call that has not passed the gate, in case a path that leads here is not recognised there as the API's.
async fn only_passed(request: Request<Body>, next: Next) -> Response {
    match request.extensions().get::<Passed>() {
        Some(Passed) => next.run(request).await,
        None => problem(Refusal::bad_token("the call has not passed the gate")),
    }
}

async fn unknown_path(method: HttpMethod, uri: Uri) -> Response {
    let problem_text = format!("there is no call {method} {}", uri.path());
    problem(Refusal::new(Reason::UnknownCall, problem_text, "docs/api.md lists the calls"))
}

async fn wrong_method(method: HttpMethod, uri: Uri) -> Response {
    let problem_text = format!("{} is not called by {method}", uri.path());
    problem(Refusal::new(Reason::WrongMethod, problem_text, "docs/api.md lists the calls"))
}

/// Refuses a body that is larger than a message may be, or of unknown length.
pub(crate) fn check_length(length: Option<u64>) -> Result<usize, Refusal> {
    let Some(length) = length else {
        let problem = "the call does not say how long its body is";
        return Err(Refusal::new(Reason::Malformed, problem, "send a Content-Length"));
    };
    usize::try_from(length).ok().filter(|&length| length <= MESSAGE_BYTES_MAX).ok_or_else(|| {
        let problem =
            format!("the call's body has {length} bytes, and may have {MESSAGE_BYTES_MAX}");
        Refusal::new(Reason::Malformed, problem, "send less")
    })
}
