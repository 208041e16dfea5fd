//! Clients' unfinished work, bounded without locking anyone out: above the limit, the connection with the most loses
//! its oldest.
//!
//! A limit that makes newcomers wait lets any client that fills it shut out the others. Here newcomers are always
//! admitted; honest work is over in a moment, and so is rarely the oldest.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A connection; ids are in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConnectionId(pub(super) u64);

/// Work under way, each item with its connection and a weight.
#[derive(Debug)]
pub(super) struct Crowd {
    weight_max: u64,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    weight: u64,
    next: u64,
    by_connection: BTreeMap<ConnectionId, Group>,
}

/// The items of one connection, in order of arrival.
#[derive(Debug, Default)]
struct Group {
    weight: u64,
    entries: BTreeMap<u64, Entry>,
}

struct Entry {
    weight: u64,
    /// Time of its last progress.
    moved: Instant,
    throw_out: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("weight", &self.weight).finish_non_exhaustive()
    }
}

/// A membership in the crowd, which ends when dropped.
#[derive(Debug)]
pub(super) struct Member {
    crowd: Arc<Crowd>,
    connection: ConnectionId,
    number: u64,
}

impl Crowd {
    /// Creates a crowd with room for this total weight.
    pub(super) fn with_room(weight_max: u64) -> Arc<Self> {
        Arc::new(Self { weight_max, inside: Mutex::default() })
    }

    /// Adds a member. Also returns how many others were evicted; each is notified by its own `throw_out`, which is
    /// called outside of any lock.
    pub(super) fn enter(
        self: &Arc<Self>,
        connection: ConnectionId,
        weight: u64,
        throw_out: impl FnOnce() + Send + 'static,
    ) -> (Member, usize) {
        let mut inside = self.inside();
        let number = inside.next;
        inside.next += 1;
        let entry = Entry { weight: 0, moved: Instant::now(), throw_out: Box::new(throw_out) };
        inside.by_connection.entry(connection).or_default().entries.insert(number, entry);
        inside.weigh(connection, number, weight);
        let removed = inside.excess(self.weight_max);
        drop(inside);
        let count = removed.len();
        removed.into_iter().for_each(|entry| (entry.throw_out)());
        (Member { crowd: Arc::clone(self), connection, number }, count)
    }

    /// Evicts members without progress for this long; returns their number.
    pub(super) fn expire(&self, patience: Duration) -> usize {
        let mut inside = self.inside();
        let old: Vec<_> = inside
            .by_connection
            .iter()
            .flat_map(|(&id, group)| {
                group.entries.iter().map(move |(&number, entry)| (id, number, entry))
            })
            .filter(|(_, _, entry)| entry.moved.elapsed() >= patience)
            .map(|(connection, number, _)| (connection, number))
            .collect();
        let removed: Vec<_> =
            old.into_iter().filter_map(|(id, number)| inside.remove(id, number)).collect();
        drop(inside);
        let count = removed.len();
        removed.into_iter().for_each(|entry| (entry.throw_out)());
        count
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // Nothing panics while holding the lock.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn weigh(&mut self, connection: ConnectionId, number: u64, weight: u64) {
        if let Some(group) = self.by_connection.get_mut(&connection)
            && let Some(entry) = group.entries.get_mut(&number)
        {
            self.weight = self.weight - entry.weight + weight;
            group.weight = group.weight - entry.weight + weight;
            entry.weight = weight;
        }
    }

    fn remove(&mut self, connection: ConnectionId, number: u64) -> Option<Entry> {
        let group = self.by_connection.get_mut(&connection)?;
        let entry = group.entries.remove(&number)?;
        group.weight -= entry.weight;
        self.weight -= entry.weight;
        if group.entries.is_empty() {
            self.by_connection.remove(&connection);
        }
        Some(entry)
    }

    /// Removes members above the limit.
    fn excess(&mut self, weight_max: u64) -> Vec<Entry> {
        let mut removed = Vec::new();
        while self.weight > weight_max {
            // Among equally heavy connections, the one that came first.
            let heaviest = self.by_connection.iter().rev().max_by_key(|(_, group)| group.weight);
            let Some((&connection, group)) = heaviest else { break };
            let oldest = group.entries.keys().next().copied();
            removed.extend(oldest.and_then(|oldest| self.remove(connection, oldest)));
        }
        removed
    }
}

impl Member {
    /// Records progress and a new weight; returns how many others were evicted for it.
    pub(super) fn record_progress(&self, weight: u64) -> usize {
        let mut inside = self.crowd.inside();
        let group = inside.by_connection.get_mut(&self.connection);
        if let Some(entry) = group.and_then(|group| group.entries.get_mut(&self.number)) {
            entry.moved = Instant::now();
        }
        inside.weigh(self.connection, self.number, weight);
        let removed = inside.excess(self.crowd.weight_max);
        drop(inside);
        let count = removed.len();
        removed.into_iter().for_each(|entry| (entry.throw_out)());
        count
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // What the member held is dropped outside of the lock.
        let entry = self.crowd.inside().remove(self.connection, self.number);
        drop(entry);
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn enter(crowd: &Arc<Crowd>, connection: u64, weight: u64) -> (Member, CancellationToken) {
        let gone = CancellationToken::new();
        let thrown_out = gone.clone();
        let (member, _) =
            crowd.enter(ConnectionId(connection), weight, move || thrown_out.cancel());
        (member, gone)
    }

    #[test]
    fn the_oldest_of_who_has_most_makes_room() {
        let crowd = Crowd::with_room(4);
        let (_first, first_gone) = enter(&crowd, 1, 1);
        let members: Vec<_> = (0..3).map(|_| enter(&crowd, 2, 1)).collect();
        let (_last, last_gone) = enter(&crowd, 3, 1);
        let gone = || members.iter().map(|(_, gone)| gone.is_cancelled()).collect::<Vec<_>>();
        assert_eq!(gone(), [true, false, false]);
        let (_weighty, _) = enter(&crowd, 3, 1);
        // Two each: the connection that came first.
        assert_eq!(gone(), [true, true, false]);
        assert!(!first_gone.is_cancelled() && !last_gone.is_cancelled());
    }

    #[test]
    fn who_leaves_or_grows_changes_the_room() {
        let crowd = Crowd::with_room(4);
        let (first, first_gone) = enter(&crowd, 1, 3);
        drop(first);
        assert!(!first_gone.is_cancelled(), "it left by itself");
        let (second, second_gone) = enter(&crowd, 2, 2);
        let (_third, third_gone) = enter(&crowd, 3, 1);
        assert_eq!(second.record_progress(3), 0);
        assert_eq!(second.record_progress(4), 1);
        assert!(second_gone.is_cancelled() && !third_gone.is_cancelled());
        // This member was evicted already.
        assert_eq!(second.record_progress(9), 0);
        drop(second);
        assert_eq!(crowd.inside().weight, 1);
        // A member larger than the limit never fits.
        let (_large, large_gone) = enter(&crowd, 4, 5);
        assert!(large_gone.is_cancelled() && !third_gone.is_cancelled());
    }

    #[test]
    fn what_does_not_go_on_is_thrown_out() {
        let crowd = Crowd::with_room(4);
        let (_member, gone) = enter(&crowd, 1, 1);
        assert_eq!(crowd.expire(Duration::from_secs(3_600)), 0);
        assert!(!gone.is_cancelled());
        assert_eq!(crowd.expire(Duration::ZERO), 1);
        assert!(gone.is_cancelled());
    }
}
