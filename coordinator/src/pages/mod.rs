//! Pages for people, from the answers of the API.
//!
//! A page is made of what the API tells, and nothing else. While it is open, its script hears of changes from one stream
//! for all tabs of a browser ([`live`]) and then fetches the page again; each page is made at most once a second, however
//! many look at it ([`rendered`]). A game that a person plays ([`play`]) is that person's alone, and made for each call.

mod compare;
mod games;
mod live;
mod play;
mod rendered;
mod sql;
mod submit;
mod under_way;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use spelrum_answers::{
    GamesFilter, GamesOrder, GetExperiment, GetGame, GetOverview, GetProgress, GetRatings,
    GetReport, GetStatus, ListGames,
};
use spelrum_model::Task;
use spelrum_proto::{Reason, Refusal};
use spelrum_report::experiment::{Answers, Need, Needs, ReportFormat, Shown};
use spelrum_report::pages::{self, Place, Running};
use spelrum_store::Question as _;

use self::live::Live;
use self::rendered::Rendered;
use crate::access::{CalledFrom, Sessions};
use crate::api::{Api, can_search, retry_after, unanswered};
use crate::dispatcher::AskedGames;
use crate::transport::Transport;

/// Paths of pages with data beside `/`, and the beginnings of paths that name an experiment or a game.
const PATHS: [&str; 6] = ["/compare", "/play", "/sql", "/submit", "/workers", "/live"];
const PREFIXES: [&str; 3] = ["/cells/", "/experiments/", "/games/"];

/// Games on an experiment's page.
const GAMES_SHOWN: u32 = 20;

/// Newest experiments of its game with which an experiment's page can be compared.
const OTHERS_SHOWN: usize = 50;

/// Running experiments whose pace is shown.
const RUNNING_SHOWN: usize = 8;

/// Everything comes from here, and nothing is embedded elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What makes pages.
pub(crate) struct Pages {
    api: Arc<Api>,
    sessions: Sessions,
    live: Live,
    rendered: Rendered,
}

/// Whether a path is that of a page with data.
pub(crate) fn is_page(path: &str) -> bool {
    PATHS.contains(&path) || PREFIXES.iter().any(|prefix| path.starts_with(prefix))
}

/// Whether a person has opened the page from here, and not another site, a prefetch or a script: a page that runs a query or
/// a search does so for that person alone.
fn is_opened(headers: &HeaderMap) -> bool {
    let is = |name: &str, words: &[&str]| {
        let value = headers.get(name).map(|value| value.to_str().unwrap_or_default());
        value.is_none_or(|value| words.contains(&value))
    };
    is("sec-purpose", &[])
        && is("purpose", &[])
        && is("sec-fetch-mode", &["navigate"])
        && is("sec-fetch-site", &["none", "same-origin"])
}

/// Whether a page is asked for, and not a text for programs.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

impl Pages {
    pub(crate) fn new(api: Arc<Api>, sessions: Sessions) -> Self {
        let live = Live::new(Arc::clone(&api));
        Self { api, sessions, live, rendered: Rendered::new() }
    }

    /// The routes of all pages but the first.
    pub(crate) fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/experiments/{experiment}", get(experiment))
            .route("/experiments/{experiment}/games", get(games::games))
            .route("/games/{game}", get(game))
            .route("/cells/{cell}/games/{number}", get(under_way::game))
            .route("/compare", get(compare::compare))
            .route("/sql", get(sql::sql))
            .route("/workers", get(workers))
            .route("/submit", get(submit::form).post(submit::sent))
            .route("/live", get(events))
            .route("/play", get(play::play))
            .route("/enter", get(ask_to_enter).post(enter))
            .route("/static/pages.css", get(async || text("text/css", pages::STYLE)))
            .route("/static/pages.js", get(async || text("text/javascript", pages::SCRIPT)))
            // The gate bounds what comes.
            .layer(DefaultBodyLimit::disable())
            .with_state(self)
    }

    /// The page of all experiments.
    pub(crate) async fn overview(self: Arc<Self>) -> Response {
        let pages = Arc::clone(&self);
        self.page("/", async move {
            let api = &pages.api;
            let status = api.status(GetStatus::default()).await?;
            let mut running = Vec::new();
            let is_running = |state| state == spelrum_model::ExperimentState::Running;
            let open = status.experiments.iter().rev().filter(|open| is_running(open.state));
            for experiment in open.take(RUNNING_SHOWN) {
                let question = GetProgress { experiment: experiment.uuid.clone() };
                let progress = question.answer(&api.readers).await.map_err(unanswered)?;
                running.push(Running { uuid: experiment.uuid.clone(), progress });
            }
            let contents = pages::overview(&status, &running);
            let (place, may_play) = (Place::Overview, api.may_play());
            Ok(pages::page(place, "Experiments", "", &contents, may_play))
        })
        .await
    }

    async fn experiment(&self, name: &str) -> Result<String, Refusal> {
        let readers = &self.api.readers;
        let question = GetExperiment { experiment: name.to_owned() };
        let experiment = question.answer(readers).await.map_err(unanswered)?;
        // By its UUID: its name may come to mean another.
        let uuid = || experiment.uuid.clone();
        let (shown, format) = (Shown::Usual, ReportFormat::Html);
        let needs = Needs::new(&experiment, shown, format, None).map_err(internal)?;
        let mut answers = Answers::default();
        let detail = needs.report.unwrap_or_default();
        let report = GetReport { experiment: uuid(), detail };
        let report = report.answer(readers).await.map_err(unanswered)?;
        if needs.answer::<spelrum_answers::Ratings>(Some(&report)) != Need::No
            && let Ok(ratings) = (GetRatings { experiment: uuid() }).answer(readers).await
        {
            answers.add(ratings);
        }
        if needs.answer::<spelrum_answers::Overview>(Some(&report)) != Need::No
            && let Ok(played) = (GetOverview { experiment: uuid() }).answer(readers).await
        {
            answers.add(played);
        }
        let about = pages::about(&report);
        answers.add(report);
        let (filter, order) = (GamesFilter::default(), GamesOrder::default());
        let games =
            ListGames { experiment: uuid(), filter, order, after: None, limit: Some(GAMES_SHOWN) };
        let games = games.answer(readers).await.map_err(unanswered)?;
        let asked = AskedGames::Experiment(experiment.experiment);
        let mut under_way = self.api.games_under_way(asked).await?;
        under_way.games.truncate(GAMES_SHOWN as usize);
        let mut others = self.api.status(GetStatus::default()).await?.experiments;
        others.reverse();
        // Choices are not compared.
        others.retain(|other| {
            other.game == experiment.game
                && [other.task, experiment.task] == [Task::Game; 2]
                && other.uuid != experiment.uuid
        });
        others.truncate(OTHERS_SHOWN);
        let may_play = self.api.may_play();
        let made = tokio::task::spawn_blocking(move || {
            let contents = pages::experiment(&experiment, &answers, (&under_way, &games), &others)
                .map_err(internal)?;
            Ok(pages::page(Place::Elsewhere, &experiment.name, &about, &contents, may_play))
        });
        made.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// A page, made anew if that of this address is older than a second.
    async fn page(
        &self,
        address: &str,
        make: impl Future<Output = Result<String, Refusal>> + Send + 'static,
    ) -> Response {
        match self.rendered.get(address, self.live.last_change(), make).await {
            Ok(text) => html(StatusCode::OK, text.to_string()),
            Err(refusal) => refused(&refusal),
        }
    }
}

/// What tells a page from others: all of its address within this coordinator.
fn address(uri: &Uri) -> &str {
    uri.path_and_query().map_or_else(|| uri.path(), PathAndQuery::as_str)
}

fn internal(error: spelrum_report::Error) -> Refusal {
    Refusal::new(Reason::Internal, error.to_string(), "report this as a fault of the program")
}

async fn experiment(
    State(pages): State<Arc<Pages>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Response {
    let making = Arc::clone(&pages);
    pages.page(uri.path(), async move { making.experiment(&name).await }).await
}

async fn game(State(pages): State<Arc<Pages>>, Path(id): Path<i64>, uri: Uri) -> Response {
    let ply = uri.query().and_then(|query| query.strip_prefix("ply="));
    let ply: Option<u32> = ply.and_then(|ply| ply.parse().ok());
    let making = Arc::clone(&pages);
    let make = async move {
        let question = GetGame { game_id: id };
        let game = question.answer(&making.api.readers).await.map_err(unanswered)?;
        let may_play = making.api.may_play();
        let made = tokio::task::spawn_blocking(move || {
            let plies = game.moves.as_ref().map_or(0, Vec::len);
            let ply = ply.filter(|ply| (*ply as usize) < plies);
            let [first, second] = &game.summary.players;
            let title = format!("{first} against {second}, game {id}");
            let links = may_play.then(|| pages::continue_game(&game, ply, can_search));
            let contents = pages::game(game, ply, &links.unwrap_or_default());
            let contents = contents.map_err(internal)?;
            Ok(pages::page(Place::Elsewhere, &title, "", &contents, may_play))
        });
        made.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    };
    let address = match ply {
        Some(ply) => format!("{}?{ply}", uri.path()),
        None => uri.path().to_owned(),
    };
    pages.page(&address, make).await
}

async fn workers(State(pages): State<Arc<Pages>>) -> Response {
    let making = Arc::clone(&pages);
    let make = async move {
        let status = making.api.status(GetStatus::default()).await?;
        let contents = spelrum_report::pages::workers(&status);
        let may_play = making.api.may_play();
        Ok(pages::page(Place::Workers, "Workers", "", &contents, may_play))
    };
    pages.page("/workers", make).await
}

async fn events(
    State(pages): State<Arc<Pages>>,
    Extension(CalledFrom(peer)): Extension<CalledFrom>,
) -> Response {
    pages.live.events(peer).unwrap_or_else(|refusal| refused(&refusal))
}

/// The secret of a link: letters and digits, or nothing.
fn key(uri: &Uri) -> &str {
    let key = uri.query().and_then(|query| query.strip_prefix("key=")).unwrap_or_default();
    if key.bytes().all(|byte| byte.is_ascii_alphanumeric()) { key } else { "" }
}

/// Only a button's click uses up the link: what looks at links for people does not click.
async fn ask_to_enter(uri: Uri) -> Response {
    let path = format!("/enter?key={}", key(&uri));
    let sentences = ["This link lets this browser in, once."];
    html(StatusCode::OK, pages::plain_page("Spelrum", &sentences, Some(&path)))
}

async fn enter(
    State(pages): State<Arc<Pages>>,
    transport: Option<Extension<Transport>>,
    uri: Uri,
) -> Response {
    let is_tls = transport.is_some_and(|transport| transport.0 == Transport::Tls);
    match pages.sessions.enter(key(&uri), is_tls, Instant::now()) {
        Some(cookie) => {
            let headers =
                [(header::SET_COOKIE, cookie), (header::LOCATION, HeaderValue::from_static("/"))];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        None => {
            let sentences = [
                "This link has been used, or is older than ten minutes.",
                "`spelrum open` gives another one.",
            ];
            html(
                StatusCode::FORBIDDEN,
                spelrum_report::pages::plain_page("Not let in", &sentences, None),
            )
        }
    }
}

/// A refusal as a page.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.reason.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let is_locked = refusal.reason == Reason::BadToken;
    let remedy = match is_locked {
        true => {
            "`spelrum open --coordinator URL` with a token prints a link that lets a browser in."
        }
        false => refusal.remedy.as_str(),
    };
    let title = if is_locked { "Not let in" } else { "This cannot be shown" };
    let mut answer = html(status, pages::plain_page(title, &[&refusal.problem, remedy], None));
    if let Some(seconds) = retry_after(refusal) {
        answer.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    answer
}

fn html(status: StatusCode, text: String) -> Response {
    const HEADERS: [(HeaderName, &str); 6] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`: forms would then come without their origin.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (status, HEADERS, text).into_response()
}

fn text(kind: &'static str, text: &'static str) -> Response {
    const HOUR: &str = "max-age=3600";
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, HOUR),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}
