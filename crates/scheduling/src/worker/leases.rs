//! The held leases, and the places of their games.
//!
//! Every game of a held lease is in one place: it waits (for its cell or for a slot), is being played, waits
//! to be acknowledged, was acknowledged, or was given up. A lease ends by itself when all are acknowledged.
//! When some were given up and the others are acknowledged, it is given back: otherwise the coordinator would
//! see it renewed for ever, and never its games.

use std::collections::BTreeMap;

use spelrum_model::LeaseId;

/// Number of a lease's games in each place; acknowledged ones are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) waiting: u64,
    pub(super) playing: u64,
    pub(super) unacknowledged: u64,
    pub(super) given_up: u64,
}

/// All leases.
#[derive(Clone, Debug, Default)]
pub(super) struct Leases {
    held: BTreeMap<LeaseId, Held>,
    /// Leases no longer held, still to be given back.
    giving_back: Vec<LeaseId>,
}

impl Leases {
    /// Adds a lease of this many games.
    pub(super) fn hold(&mut self, lease: LeaseId, games: u64) {
        let held = Held { waiting: games, ..Held::default() };
        self.held.insert(lease, held);
        self.settle(lease);
    }

    /// Moves games of a lease, if it is held; it ends with its last game.
    pub(super) fn change(&mut self, lease: LeaseId, change: impl FnOnce(&mut Held)) {
        if let Some(held) = self.held.get_mut(&lease) {
            change(held);
            self.settle(lease);
        }
    }

    fn settle(&mut self, lease: LeaseId) {
        let Some(held) = self.held.get(&lease) else { return };
        if held.waiting == 0 && held.playing == 0 && held.unacknowledged == 0 {
            if held.given_up > 0 {
                self.giving_back.push(lease);
            }
            self.held.remove(&lease);
        }
    }

    /// Forgets a lease that this worker no longer holds.
    pub(super) fn drop(&mut self, lease: LeaseId) {
        self.held.remove(&lease);
    }

    /// Gives up every game that waits.
    pub(super) fn give_up_waiting(&mut self) {
        for lease in self.ids() {
            self.change(lease, |held| held.given_up += std::mem::take(&mut held.waiting));
        }
    }

    /// Gives every lease back, with all games left in it.
    pub(super) fn give_up_all(&mut self) {
        self.giving_back.extend(std::mem::take(&mut self.held).into_keys());
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.giving_back.clear();
    }

    /// Whether none is held.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// A lease that is held.
    pub(super) fn get(&self, lease: LeaseId) -> Option<&Held> {
        self.held.get(&lease)
    }

    /// Those that are held.
    pub(super) fn ids(&self) -> Vec<LeaseId> {
        self.held.keys().copied().collect()
    }

    /// Those that are held, with where their games are.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LeaseId, &Held)> {
        self.held.iter().map(|(&lease, held)| (lease, held))
    }

    /// Those to be given back.
    pub(super) fn giving_back(&self) -> &[LeaseId] {
        &self.giving_back
    }

    /// Removes the first `count` of these: given back, or impossible to give back.
    pub(super) fn given_back(&mut self, count: usize) {
        self.giving_back.drain(..count.min(self.giving_back.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: LeaseId = LeaseId(1);

    fn acknowledge_one(held: &mut Held) {
        held.waiting -= 1;
    }

    #[test]
    fn a_lease_ends_with_its_last_game() {
        let mut leases = Leases::default();
        leases.hold(ONE, 2);
        leases.hold(LeaseId(2), 1);
        leases.change(LeaseId(9), acknowledge_one);
        leases.change(ONE, acknowledge_one);
        assert_eq!(leases.ids(), [ONE, LeaseId(2)]);
        leases.change(LeaseId(2), acknowledge_one);
        leases.change(ONE, acknowledge_one);
        assert!(leases.is_empty() && leases.giving_back().is_empty());
    }

    #[test]
    fn what_was_given_up_goes_back_when_the_rest_is_done() {
        let mut leases = Leases::default();
        leases.hold(ONE, 2);
        leases.change(ONE, |held| *held = Held { playing: 1, given_up: 1, ..*held });
        leases.change(ONE, |held| held.waiting = 0);
        assert_eq!((leases.ids(), leases.giving_back()), (vec![ONE], &[][..]));
        leases.change(ONE, |held| held.playing = 0);
        assert_eq!((leases.ids(), leases.giving_back()), (vec![], &[ONE][..]));
        leases.given_back(1);
        assert!(leases.giving_back().is_empty());
    }

    #[test]
    fn ending_gives_back_what_nobody_has_begun() {
        let mut leases = Leases::default();
        leases.hold(ONE, 2);
        leases.hold(LeaseId(2), 2);
        leases.change(ONE, |held| *held = Held { waiting: 1, playing: 1, ..*held });
        leases.give_up_waiting();
        assert_eq!((leases.ids(), leases.giving_back()), (vec![ONE], &[LeaseId(2)][..]));
        leases.give_up_all();
        assert_eq!((leases.ids(), leases.giving_back()), (vec![], &[LeaseId(2), ONE][..]));
    }
}
