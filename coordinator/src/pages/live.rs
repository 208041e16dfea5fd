//! Tells open pages that something has changed, as server-sent events.

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use spelrum_answers::{GetStatus, Status};
use spelrum_proto::Refusal;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::api::Api;

/// Streams at once: one for each browser that looks.
const STREAMS_MAX: usize = 512;

/// Interval between looks at the database.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// After this long without a change a comment is sent: an answer without progress is treated as one that its client does
/// not read.
const QUIET: Duration = Duration::from_secs(5);

/// When a refused browser may come again.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// The streams, and the task that looks for all of them while there are any.
pub(super) struct Live {
    api: Weak<Api>,
    places: Arc<Semaphore>,
    changes: watch::Sender<u64>,
    looking: Looking,
}

/// The task that looks; it decides to end, and another begins, under this lock.
type Looking = Arc<Mutex<Option<JoinHandle<()>>>>;

impl Live {
    pub(super) fn new(api: Arc<Api>) -> Self {
        let (places, changes) = (Arc::new(Semaphore::new(STREAMS_MAX)), watch::Sender::new(0));
        Self { api: Arc::downgrade(&api), places, changes, looking: Looking::default() }
    }

    /// Differs after each change that was noticed.
    pub(super) fn last_change(&self) -> u64 {
        *self.changes.borrow()
    }

    /// A stream that has an event whenever something has changed.
    pub(super) fn events(&self) -> Result<Response, Refusal> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place =
            place.map_err(|_| Refusal::busy("too many browsers follow changes", RETRY_AFTER))?;
        let Some(api) = self.api.upgrade() else {
            return Err(Refusal::busy("the coordinator ends", RETRY_AFTER));
        };
        let mut changes = self.changes.subscribe();
        changes.mark_unchanged();
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if looking.as_ref().is_none_or(JoinHandle::is_finished) {
            let (api, changes) = (Weak::clone(&self.api), self.changes.clone());
            *looking = Some(tokio::spawn(look(api, changes, Arc::clone(&self.looking))));
        }
        drop(looking);
        let stopping = api.stopping();
        drop(api);
        let events = stream::unfold((changes, place), move |(mut changes, place)| {
            let stopping = stopping.clone();
            async move {
                let changed = tokio::time::timeout(QUIET, changes.changed());
                let event = match stopping.run_until_cancelled(changed).await? {
                    Ok(Ok(())) => "event: changed\ndata: 1\n\n",
                    Ok(Err(_)) => return None,
                    Err(_) => ": nothing new\n\n",
                };
                Some((Ok::<_, Infallible>(event), (changes, place)))
            }
        });
        let headers =
            [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
        Ok((headers, Body::from_stream(events)).into_response())
    }
}

/// Looks every second, until nobody follows any more.
async fn look(api: Weak<Api>, changes: watch::Sender<u64>, looking: Looking) {
    loop {
        {
            let mut looking = looking.lock().unwrap_or_else(PoisonError::into_inner);
            if changes.receiver_count() == 0 {
                *looking = None;
                return;
            }
        }
        let Some(api) = api.upgrade() else { return };
        if let Ok(status) = api.status(GetStatus::default()).await {
            let stamp = stamp(&status);
            changes.send_if_modified(|last| std::mem::replace(last, stamp) != stamp);
        }
        let stopping = api.stopping();
        drop(api);
        let waited = stopping.run_until_cancelled(tokio::time::sleep(LOOK_INTERVAL)).await;
        if waited.is_none() {
            return;
        }
    }
}

/// Changes with all that pages show but the passing of time.
fn stamp(status: &Status) -> u64 {
    let mut hasher = DefaultHasher::new();
    for experiment in &status.experiments {
        let games = [experiment.games_planned, experiment.games_settled, experiment.games_failed];
        (&experiment.uuid, experiment.state.name(), experiment.cells, games).hash(&mut hasher);
    }
    let kinds =
        status.attention.iter().map(|attention| (attention.kind.name(), &attention.experiment));
    kinds.collect::<Vec<_>>().hash(&mut hasher);
    let workers = status.coordinator.iter().flat_map(|coordinator| &coordinator.workers);
    for worker in workers {
        let games =
            [worker.leased_games, worker.playing_games, worker.reported_games, worker.lost_games];
        (worker.worker.0, games, worker.engines_total).hash(&mut hasher);
    }
    hasher.finish()
}
