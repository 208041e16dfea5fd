//! Games that a heartbeat must name before they are played: one of them may kill the worker, and games that
//! no heartbeat named are not charged.
//!
//! Each has its slot already, which waits for the answer.

use std::collections::BTreeMap;

use super::api::Batch;

/// The games, by their slots.
#[derive(Clone, Debug)]
pub(super) struct Withheld<C> {
    batches: BTreeMap<usize, Waiting<C>>,
}

#[derive(Clone, Debug)]
struct Waiting<C> {
    batch: Batch<C>,
    /// Whether the heartbeat that is under way names it.
    is_named: bool,
}

impl<C> Withheld<C> {
    pub(super) const fn new() -> Self {
        Self { batches: BTreeMap::new() }
    }

    /// Keeps games for a slot.
    pub(super) fn keep(&mut self, slot: usize, batch: Batch<C>) {
        self.batches.insert(slot, Waiting { batch, is_named: false });
    }

    /// A heartbeat names them.
    pub(super) fn named(&mut self) {
        for waiting in self.batches.values_mut() {
            waiting.is_named = true;
        }
    }

    /// The heartbeat was lost.
    pub(super) fn mark_unanswered(&mut self) {
        for waiting in self.batches.values_mut() {
            waiting.is_named = false;
        }
    }

    /// The heartbeat has arrived: removes and returns the games that it named, with their slots.
    pub(super) fn acknowledge(&mut self) -> impl Iterator<Item = (usize, Batch<C>)> {
        let acknowledged = self.batches.extract_if(.., |_, waiting| waiting.is_named);
        acknowledged.map(|(slot, waiting)| (slot, waiting.batch))
    }

    /// Removes and returns the games that a slot waits for, if any.
    pub(super) fn take(&mut self, slot: usize) -> Option<Batch<C>> {
        self.batches.remove(&slot).map(|waiting| waiting.batch)
    }

    /// Those that wait, by their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Batch<C>)> {
        self.batches.iter().map(|(&slot, waiting)| (slot, &waiting.batch))
    }
}
