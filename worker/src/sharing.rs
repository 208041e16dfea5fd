//! Games that take several slots, since their engines use several threads.
//!
//! A game runs on its own slot and borrows as many others as it needs. A borrowed slot begins no game until
//! it is returned, so a worker's games never use more threads than it has slots. Games wait in the order of
//! their arrival; a game whose own slot is borrowed does not hold up the others.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interval at which a waiting game checks whether it is still wanted.
const SLICE: Duration = Duration::from_millis(100);

/// The slots of a worker, with those in use by games.
#[derive(Debug)]
pub(crate) struct Sharing {
    slots: usize,
    state: Mutex<State>,
    /// Notified when slots are returned, or a game stops waiting.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The slots that games have.
    busy: BTreeSet<usize>,
    /// The slots of waiting games, in the order of their arrival.
    waiting: Vec<usize>,
}

/// The slots of a game. They are returned when this is dropped.
#[derive(Debug)]
pub(crate) struct Shares<'a> {
    sharing: &'a Sharing,
    /// The game's own slot, and the borrowed ones.
    pub(crate) slots: BTreeSet<usize>,
}

impl Sharing {
    /// For this many slots.
    pub(crate) fn new(slots: NonZeroU32) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self { slots: slots.get() as usize, state, changed }
    }

    /// Waits until a game on this slot can have `count` of the first `slots_max` slots, or all of these if there are
    /// fewer. `None` if the game is no longer wanted.
    pub(crate) fn take(
        &self,
        slot: usize,
        count: u32,
        slots_max: Option<u32>,
        is_unwanted: impl Fn() -> bool,
    ) -> Option<Shares<'_>> {
        let slots_max = slots_max.map_or(self.slots, |slots_max| slots_max as usize);
        let slots_max = slots_max.clamp(slot + 1, self.slots.max(slot + 1));
        let count = (count as usize).clamp(1, slots_max);
        let mut state = self.state();
        state.waiting.push(slot);
        loop {
            let free_slots = state.find(slot, count, slots_max);
            if free_slots.is_none() && !is_unwanted() {
                let waited = self.changed.wait_timeout(state, SLICE);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            state.waiting.retain(|waiting| *waiting != slot);
            state.busy.extend(free_slots.iter().flatten());
            drop(state);
            // It may have been the only obstacle for the ones after it.
            self.changed.notify_all();
            return free_slots.map(|slots| Shares { sharing: self, slots });
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Code under the lock cannot panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The slots that a game can have now.
    fn find(&self, slot: usize, count: usize, slots_max: usize) -> Option<BTreeSet<usize>> {
        let before = self.waiting.iter().take_while(|waiting| **waiting != slot);
        let is_free = |slot: &usize| !self.busy.contains(slot);
        if !is_free(&slot) || before.into_iter().any(is_free) {
            return None;
        }
        // The next ones, so that the next game finds its own.
        let slots: BTreeSet<usize> =
            (slot..slots_max).chain(0..slot).filter(is_free).take(count).collect();
        (slots.len() == count).then_some(slots)
    }
}

impl Drop for Shares<'_> {
    fn drop(&mut self) {
        let mut state = self.sharing.state();
        state.busy.retain(|slot| !self.slots.contains(slot));
        drop(state);
        self.sharing.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    fn sharing(slots: u32) -> Sharing {
        Sharing::new(NonZeroU32::new(slots).unwrap())
    }

    fn slots(shares: &Option<Shares<'_>>) -> Option<Vec<usize>> {
        shares.as_ref().map(|share| share.slots.iter().copied().collect())
    }

    #[test]
    fn a_game_borrows_the_slots_that_it_needs() {
        let sharing = sharing(8);
        let take = |slot, count, slots_max| sharing.take(slot, count, slots_max, || true);
        let first = take(0, 4, None);
        assert_eq!(slots(&first), Some(vec![0, 1, 2, 3]));
        assert_eq!(slots(&take(1, 1, None)), None, "it is lent");
        let second = take(4, 4, None);
        assert_eq!(slots(&second), Some(vec![4, 5, 6, 7]));
        drop(first);
        assert_eq!(slots(&take(3, 4, None)), Some(vec![0, 1, 2, 3]));
        drop(second);
        assert_eq!(slots(&take(7, 2, None)), Some(vec![0, 7]));
        assert_eq!(slots(&take(1, 4, Some(2))), Some(vec![0, 1]), "all that are quiet");
        assert_eq!(slots(&take(1, 99, None)).unwrap().len(), 8);
        let _one = take(5, 1, None);
        assert_eq!(slots(&take(1, 8, None)), None);
    }

    /// A game of many threads gets its turn among a stream of games of one thread, and no two games have the
    /// same slot.
    #[test]
    fn no_game_waits_for_ever_and_no_slot_is_lent_twice() {
        let sharing = sharing(4);
        let (busy, done) = (AtomicUsize::new(0), mpsc::channel());
        std::thread::scope(|scope| {
            for slot in 0..4 {
                let (sharing, busy, done) = (&sharing, &busy, done.0.clone());
                scope.spawn(move || {
                    for game in 0..500_u32 {
                        let count = 1 + (game + u32::try_from(slot).unwrap()) % 4;
                        let shares = sharing.take(slot, count, None, || false).unwrap();
                        let taken = shares.slots.len();
                        assert_eq!(taken, count as usize);
                        assert!(busy.fetch_add(taken, Ordering::SeqCst) + taken <= 4);
                        std::thread::yield_now();
                        busy.fetch_sub(taken, Ordering::SeqCst);
                        drop(shares);
                    }
                    done.send(()).unwrap();
                });
            }
        });
        drop(done.0);
        assert_eq!(done.1.iter().count(), 4);
    }
}
