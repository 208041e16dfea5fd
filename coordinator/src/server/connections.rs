//! The open connections, bounded: silent strangers make room for newcomers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::crowd::ConnectionId;

/// A connection that never got through to a service is closed after this long without a call.
const STRANGERS_IDLE_MAX: Duration = Duration::from_secs(30);

/// Limits for each connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Calls that services answer at once.
    pub(super) calls: usize,
    /// Units of messages that are being received at once.
    pub(super) units: usize,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    /// The remote address.
    pub(super) peer: SocketAddr,
    /// Our own address, to which the client connected.
    pub(super) local: IpAddr,
    /// The connection's share of the places for calls, so that a few connections cannot take them all.
    pub(super) calls: Arc<Semaphore>,
    /// The connection's share of the room for messages.
    pub(super) units: Arc<Semaphore>,
    /// Cancelled to close the connection at once.
    pub(super) closing: CancellationToken,
    under_way: AtomicUsize,
    quiet_since: Mutex<Instant>,
    all: Arc<Connections>,
}

/// All open connections.
#[derive(Debug)]
pub(super) struct Connections {
    connections_max: usize,
    share: Share,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: BTreeMap<ConnectionId, Arc<Connection>>,
    /// Connections that have not reached a service.
    strangers: BTreeSet<ConnectionId>,
}

/// A call under way on a connection.
#[derive(Debug)]
pub(super) struct Calling(Arc<Connection>);

/// An open connection, removed from the list when this is dropped.
#[derive(Debug)]
pub(super) struct Opened(pub(super) Arc<Connection>);

impl Connections {
    /// Creates an empty list with this many places.
    pub(super) fn with_places(connections_max: usize, share: Share) -> Arc<Self> {
        Arc::new(Self { connections_max, share, open: Mutex::default() })
    }

    /// Takes a place for a new connection, if necessary by closing another; `None` if all the others are busy.
    pub(super) fn open(self: &Arc<Self>, peer: SocketAddr, local: IpAddr) -> Option<Opened> {
        let mut open = self.lock();
        if open.connections.len() >= self.connections_max && !open.close_one() {
            return None;
        }
        let id = ConnectionId(open.next);
        open.next += 1;
        let connection = Arc::new(Connection {
            id,
            peer,
            local,
            calls: Arc::new(Semaphore::new(self.share.calls)),
            units: Arc::new(Semaphore::new(self.share.units)),
            closing: CancellationToken::new(),
            under_way: AtomicUsize::new(0),
            quiet_since: Mutex::new(Instant::now()),
            all: Arc::clone(self),
        });
        open.connections.insert(id, Arc::clone(&connection));
        open.strangers.insert(id);
        Some(Opened(connection))
    }

    /// Closes a connection if the system has no room; returns whether that was possible.
    pub(super) fn close_one(&self) -> bool {
        self.lock().close_one()
    }

    /// Closes idle connections of strangers.
    pub(super) fn close_idle_strangers(&self) {
        self.close_strangers(STRANGERS_IDLE_MAX);
    }

    fn close_strangers(&self, idle_max: Duration) {
        let mut open = self.lock();
        let is_idle = |id: &&ConnectionId| {
            open.connections.get(id).is_some_and(|connection| {
                connection.idle_for().is_some_and(|idle| idle >= idle_max)
            })
        };
        let idle: Vec<_> = open.strangers.iter().filter(is_idle).copied().collect();
        idle.into_iter().for_each(|id| open.close(id));
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // Nothing panics while holding the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Closes the stranger that came first, or else the connection that was idle for longest.
    fn close_one(&mut self) -> bool {
        let closed = self.strangers.first().copied().or_else(|| {
            let idle = self
                .connections
                .values()
                .filter_map(|connection| Some((connection.idle_for()?, connection.id)));
            idle.max().map(|(_, id)| id)
        });
        closed.is_some_and(|id| {
            self.close(id);
            true
        })
    }

    fn close(&mut self, id: ConnectionId) {
        self.strangers.remove(&id);
        if let Some(connection) = self.connections.remove(&id) {
            connection.closing.cancel();
        }
    }
}

impl Connection {
    /// Begins a call.
    pub(super) fn call(self: &Arc<Self>) -> Calling {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        Calling(Arc::clone(self))
    }

    /// Records that the connection has made a call that a service is to answer.
    pub(super) fn mark_known(&self) {
        self.all.lock().strangers.remove(&self.id);
    }

    /// How long the connection has been without a call, if there is none now.
    fn idle_for(&self) -> Option<Duration> {
        let is_idle = self.under_way.load(Ordering::Acquire) == 0;
        is_idle.then(|| self.quiet_since.lock().unwrap_or_else(PoisonError::into_inner).elapsed())
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let Self(connection) = self;
        *connection.quiet_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        connection.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let Self(connection) = self;
        connection.all.lock().close(connection.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(places: usize) -> Arc<Connections> {
        Connections::with_places(places, Share { calls: 1, units: 1 })
    }

    fn open(connections: &Arc<Connections>) -> Option<Opened> {
        let peer: SocketAddr = "10.0.0.9:1".parse().unwrap();
        connections.open(peer, peer.ip())
    }

    fn is_closed(opened: &Opened) -> bool {
        opened.0.closing.is_cancelled()
    }

    #[test]
    fn the_stranger_that_came_first_makes_room() {
        let open_connections = connections(3);
        let known = open(&open_connections).unwrap();
        known.0.mark_known();
        let (first, second) = (open(&open_connections).unwrap(), open(&open_connections).unwrap());
        // A stranger's calls under way do not protect it.
        let _calling = first.0.call();
        let third = open(&open_connections).unwrap();
        assert!(is_closed(&first));
        assert!(!is_closed(&known) && !is_closed(&second) && !is_closed(&third));
        drop(second);
        let fourth = open(&open_connections).unwrap();
        assert!(!is_closed(&third) && !is_closed(&fourth), "one has left");
    }

    #[test]
    fn what_is_idle_makes_room_and_what_works_does_not() {
        let open_connections = connections(2);
        let (busy, idle) = (open(&open_connections).unwrap(), open(&open_connections).unwrap());
        busy.0.mark_known();
        idle.0.mark_known();
        let calling = busy.0.call();
        let next = open(&open_connections).unwrap();
        assert!(is_closed(&idle) && !is_closed(&busy));
        next.0.mark_known();
        let next_calls = next.0.call();
        assert!(open(&open_connections).is_none(), "both are at work");
        assert!(!open_connections.close_one());
        drop(calling);
        assert!(open_connections.close_one());
        assert!(is_closed(&busy) && !is_closed(&next));
        drop(next_calls);
    }

    #[test]
    fn idle_strangers_are_closed() {
        let open_connections = connections(9);
        let (known, silent, calls) = (
            open(&open_connections).unwrap(),
            open(&open_connections).unwrap(),
            open(&open_connections).unwrap(),
        );
        known.0.mark_known();
        let _calling = calls.0.call();
        open_connections.close_idle_strangers();
        assert!(!is_closed(&silent));
        open_connections.close_strangers(Duration::ZERO);
        assert!(is_closed(&silent) && !is_closed(&known) && !is_closed(&calls));
    }
}
