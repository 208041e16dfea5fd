//! Events of an experiment as they happen, as server-sent events (WHATWG HTML, "Server-sent events").
//!
//! They are read from the database as pollers would read them, so an event comes up to a second after its cause.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use futures_util::stream;
use serde::Serialize;
use spelrum_answers::{FollowEvents, GetProgress, ListSettledCells, PAGE_ITEMS_MAX, Progress};
use spelrum_proto::{Reason, Refusal};
use spelrum_store::Question as _;
use tokio::sync::OwnedSemaphorePermit;

use super::parameters::PathParameters;
use super::questions::unanswered;
use super::{Api, parameters, place, reply};

/// The content type of server-sent events.
pub(super) const EVENTS_CONTENT_TYPE: &str = "text/event-stream";

/// Interval between looks at the database.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Looks without an event after which a comment is sent: an answer without progress is treated as one that its client
/// does not read (`server/answer.rs`).
const QUIET_LOOKS: u32 = 5;

/// Sends an experiment's progress when it has changed, each cell once it has no game left to play, and at last that the
/// experiment is over. A client that comes back says with `Last-Event-ID` which cells it has.
pub(super) async fn events(
    State(api): State<Arc<Api>>,
    PathParameters(path): PathParameters,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match start(api, &path, &uri, &headers).await {
        Ok(answer) => answer,
        Err(refusal) => super::problem(refusal),
    }
}

async fn start(
    api: Arc<Api>,
    path: &[(String, String)],
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let FollowEvents { experiment } =
        parameters::from_query(path, uri.query().unwrap_or_default())?;
    let place = place(&api.events, "too many others follow events")?;
    // By its UUID: its name may come to mean another.
    let experiment = api.summary(&experiment).await?.uuid;
    let last_game_id = match headers.get("last-event-id") {
        None => 0,
        Some(id) => id.to_str().ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
            let problem = "Last-Event-ID is not the id of an event";
            Refusal::new(Reason::Malformed, problem, "leave it out to get all cells again")
        })?,
    };
    let following = Following {
        api,
        experiment,
        last_game_id,
        progress: None,
        waiting: VecDeque::new(),
        is_over: false,
        _place: place,
    };
    let events = stream::unfold(following, async |mut following| {
        let event = following.next().await?;
        Some((Ok::<_, std::convert::Infallible>(event), following))
    });
    Ok(reply::named(Body::from_stream(events), EVENTS_CONTENT_TYPE))
}

/// What a client has been sent.
struct Following {
    api: Arc<Api>,
    experiment: String,
    last_game_id: i64,
    progress: Option<Progress>,
    waiting: VecDeque<String>,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

impl Following {
    /// The next events; `None` after the last.
    async fn next(&mut self) -> Option<String> {
        for look in 1.. {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            if look > 1 || self.progress.is_some() {
                let waited = tokio::time::sleep(LOOK_INTERVAL);
                // A coordinator that ends does not wait for those who follow.
                self.api.stopping.run_until_cancelled(waited).await?;
            }
            if let Err(refusal) = self.look().await {
                // The client comes again, or hears why not.
                self.is_over = true;
                return Some(event(
                    "problem",
                    None,
                    &spelrum_proto::problem::Problem::from(refusal),
                ));
            }
            if look % QUIET_LOOKS == 0 && self.waiting.is_empty() {
                return Some(": nothing new\n\n".to_owned());
            }
        }
        None
    }

    async fn look(&mut self) -> Result<(), Refusal> {
        let readers = &self.api.readers;
        // The progress first: when it says that all is over, the cells that follow are all there are.
        let question = GetProgress { experiment: self.experiment.clone() };
        let progress = question.answer(readers).await.map_err(unanswered)?;
        loop {
            let settled = ListSettledCells {
                experiment: self.experiment.clone(),
                after_game_id: self.last_game_id,
                limit: Some(PAGE_ITEMS_MAX),
            };
            let settled = settled.answer(readers).await.map_err(unanswered)?;
            let is_last = settled.cells.len() < PAGE_ITEMS_MAX as usize;
            if !settled.cells.is_empty() {
                self.last_game_id = settled.last_game_id;
                self.waiting.push_back(event("cells", Some(self.last_game_id), &settled));
            }
            if is_last {
                break;
            }
        }
        self.is_over = progress.has_ended();
        if self.progress.as_ref() != Some(&progress) {
            self.waiting.push_back(event("progress", None, &progress));
        }
        if self.is_over {
            self.waiting.push_back(event("over", None, &progress.state));
        }
        self.progress = Some(progress);
        Ok(())
    }
}

/// An event with its data as JSON, which has no line breaks.
fn event(name: &str, id: Option<i64>, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("event: {name}\n{id}data: {data}\n\n")
}
