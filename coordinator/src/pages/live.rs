//! Tells open pages that something has changed, as server-sent events.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use spelrum_answers::{GetStatus, Status};
use spelrum_proto::Refusal;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::api::Api;

/// Streams at once: one for each browser that looks. If all are taken, an address with few takes one from that with most.
const STREAMS_MAX: usize = 512;

/// Interval between looks at the database: with the pause by which the pages' script spreads out its calls, a change is shown
/// within a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(750);

/// How much longer it is for each stream: many pages take no more of the processor's time than a few.
const LOOK_INTERVAL_PER_STREAM: Duration = Duration::from_millis(5);

/// After this long without a change a comment is sent: an answer without progress is treated as one that its client does
/// not read.
const QUIET: Duration = Duration::from_secs(5);

/// When a refused browser may come again.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// The streams, and the task that looks for all of them while there are any.
pub(super) struct Live {
    api: Weak<Api>,
    places: Arc<Places>,
    changes: watch::Sender<u64>,
    looking: Looking,
}

/// The task that looks; it decides to end, and another begins, under this lock.
type Looking = Arc<Mutex<Option<JoinHandle<()>>>>;

impl Live {
    pub(super) fn new(api: Arc<Api>) -> Self {
        let (places, changes) = (Arc::default(), watch::Sender::new(0));
        Self { api: Arc::downgrade(&api), places, changes, looking: Looking::default() }
    }

    /// Differs after each change that was noticed.
    pub(super) fn last_change(&self) -> u64 {
        *self.changes.borrow()
    }

    /// A stream to this address that has an event whenever something has changed.
    pub(super) fn events(&self, peer: IpAddr) -> Result<Response, Refusal> {
        let place = Place::take(&self.places, peer, STREAMS_MAX);
        let place =
            place.ok_or_else(|| Refusal::busy("too many browsers follow changes", RETRY_AFTER))?;
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
        // How soon a browser comes back to a coordinator that was restarted, in milliseconds.
        let first = stream::once(async { Ok("retry: 1000\n\n") });
        let events = stream::unfold((changes, place), move |(mut changes, place)| {
            let stopping = stopping.clone();
            async move {
                let changed = tokio::time::timeout(QUIET, changes.changed());
                let changed = stopping.run_until_cancelled(changed);
                let event = match place.gone.run_until_cancelled(changed).await?? {
                    Ok(Ok(())) => "event: changed\ndata: 1\n\n",
                    Ok(Err(_)) => return None,
                    Err(_) => ": nothing new\n\n",
                };
                Some((Ok::<_, Infallible>(event), (changes, place)))
            }
        });
        let headers =
            [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
        Ok((headers, Body::from_stream(first.chain(events))).into_response())
    }
}

/// The streams of each address, oldest first.
#[derive(Debug, Default)]
struct Places(Mutex<BTreeMap<IpAddr, VecDeque<CancellationToken>>>);

impl Places {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, VecDeque<CancellationToken>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream's place, which it has until this is dropped or another address takes it.
#[derive(Debug)]
struct Place {
    all: Arc<Places>,
    peer: IpAddr,
    gone: CancellationToken,
}

impl Place {
    /// A place for a stream to this address. If all are taken, it is the oldest of the address that has most, unless this
    /// one would then have as many.
    fn take(all: &Arc<Places>, peer: IpAddr, places_max: usize) -> Option<Self> {
        // A client of IPv6 has a whole network of addresses.
        let peer = match peer.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            address @ IpAddr::V4(_) => address,
        };
        let gone = CancellationToken::new();
        let mut places = all.lock();
        if places.values().map(VecDeque::len).sum::<usize>() >= places_max {
            let own = places.get(&peer).map_or(0, VecDeque::len);
            let most = places.values_mut().max_by_key(|streams| streams.len())?;
            if own + 1 >= most.len() {
                return None;
            }
            most.pop_front()?.cancel();
        }
        places.entry(peer).or_default().push_back(gone.clone());
        drop(places);
        Some(Self { all: Arc::clone(all), peer, gone })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // That of a stream that gave way is no longer in the list.
        if self.gone.is_cancelled() {
            return;
        }
        self.gone.cancel();
        let mut places = self.all.lock();
        if let Some(streams) = places.get_mut(&self.peer) {
            streams.retain(|stream| !stream.is_cancelled());
            if streams.is_empty() {
                places.remove(&self.peer);
            }
        }
    }
}

/// Looks again and again, until no page follows.
async fn look(api: Weak<Api>, changes: watch::Sender<u64>, looking: Looking) {
    loop {
        let streams = {
            let mut looking = looking.lock().unwrap_or_else(PoisonError::into_inner);
            if changes.receiver_count() == 0 {
                *looking = None;
                return;
            }
            u32::try_from(changes.receiver_count()).unwrap_or(u32::MAX)
        };
        let Some(api) = api.upgrade() else { return };
        if let Ok(status) = api.status(GetStatus::default()).await {
            let stamp = stamp(&status);
            changes.send_if_modified(|last| std::mem::replace(last, stamp) != stamp);
        }
        let stopping = api.stopping();
        drop(api);
        let pause = LOOK_INTERVAL + LOOK_INTERVAL_PER_STREAM.saturating_mul(streams);
        let waited = stopping.run_until_cancelled(tokio::time::sleep(pause)).await;
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
        let how = (experiment.state.name(), experiment.priority);
        (&experiment.uuid, how, experiment.cells, games).hash(&mut hasher);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_few_streams_takes_a_place_from_that_with_most() {
        let all = Arc::new(Places::default());
        let take = |last: u8| Place::take(&all, IpAddr::from([10, 0, 0, last]), 4);
        let mut first: Vec<Place> = (0..4).filter_map(|_| take(1)).collect();
        assert_eq!(first.len(), 4);
        assert!(take(1).is_none(), "one address alone has all places, and no more");
        let second = [take(2).unwrap(), take(2).unwrap()];
        let is_gone = |place: &Place| place.gone.is_cancelled();
        assert_eq!(first.iter().map(is_gone).collect::<Vec<_>>(), [true, true, false, false]);
        assert!(take(2).is_none() && take(1).is_none(), "both have as many");
        let third = take(3);
        assert!(third.is_some());
        // What gave way frees no place when it ends.
        first.drain(..2);
        assert!(take(1).is_none());
        drop((first, second, third));
        assert!(all.lock().is_empty());
    }
}
