//! Invariants that hold after every event, recounted the slow way.

use std::collections::BTreeMap;

use spelrum_model::LeaseId;

use super::api::Outcome;
use super::leases::Held;
use super::machine::{Kind, Machine};
use super::outbox::{BRIMMING, Load};

impl<R: Outcome, C: Clone> Machine<R, C> {
    /// Recounts the places of all games. For tests: takes time with everything held.
    ///
    /// # Panics
    /// If a game is lost or in two places, a sum is out of step, or two calls are under way that exclude each
    /// other.
    pub fn assert_consistent(&self) {
        let mut recounted = BTreeMap::<LeaseId, Held>::new();
        let mut waiting = 0;
        for (lease, range) in self.games.iter() {
            recounted.entry(lease).or_default().waiting += range.count;
            waiting += range.count;
        }
        assert!(self.games.count() <= waiting, "games that wait for a slot");
        let current = |playing: &&super::machine::Playing| playing.generation == self.generation;
        for playing in self.slots.iter().flatten().filter(current) {
            assert!(playing.range.count >= playing.unfinished);
            recounted.entry(playing.lease).or_default().playing += playing.unfinished;
        }
        let mut load = Load::default();
        for result in self.outbox.results() {
            recounted.entry(result.lease()).or_default().unacknowledged += 1;
            load.results += 1;
            load.bytes += result.bytes();
        }
        assert_eq!(self.outbox.load(), load, "results that are kept");
        for (lease, held) in self.leases.iter() {
            let counted = recounted.get(&lease).copied().unwrap_or_default();
            let counted = Held { given_up: held.given_up, ..counted };
            assert_eq!(*held, counted, "games of lease {lease}");
            assert!(
                counted.waiting + counted.playing + counted.unacknowledged > 0,
                "lease {lease}"
            );
            assert!(!self.leases.giving_back().contains(&lease), "lease {lease} is given back");
        }
        for (lease, held) in recounted {
            assert!(held.waiting == 0 || self.leases.get(lease).is_some(), "lease {lease}");
        }
        for (slot, withheld) in self.withheld.iter() {
            let playing = self.slots[slot].as_ref().expect("its slot is kept for it");
            assert_eq!((withheld.lease, playing.range), (playing.lease, withheld.range));
            assert_eq!(
                (playing.generation, playing.unfinished),
                (self.generation, playing.range.count)
            );
        }
        for (slot, playing) in self.slots.iter().enumerate() {
            let Some(playing) = playing else { continue };
            assert!(!playing.in_quiet || slot < self.settings.quiet_slots as usize, "slot {slot}");
            let is_alike =
                |neighbour: &super::machine::Playing| neighbour.in_quiet == playing.in_quiet;
            assert!(self.slots.iter().flatten().all(is_alike), "timed games beside others");
        }
        if self.speeds.is_under_way() {
            assert!(self.slots.iter().all(Option::is_none), "games beside a measurement");
        }
        let idle = self.slots.iter().filter(|slot| slot.is_none()).count();
        assert_eq!(self.idle_slots.len(), idle, "idle slots");

        let count = |matches: &dyn Fn(Kind) -> bool| {
            self.calls.values().filter(|call| matches(call.kind)).count()
        };
        assert!(count(&|kind| kind == Kind::Hello) <= 1);
        assert!(count(&|kind| matches!(kind, Kind::Lease | Kind::Heartbeat)) <= 1);
        assert!(count(&|kind| kind == Kind::Report) <= 1);
        assert!(count(&|kind| matches!(kind, Kind::GiveBack { .. })) <= 1);
    }

    /// Maximum number and size of the results kept, before those that a slot's batch adds when they are
    /// reached.
    #[must_use]
    pub const fn unacknowledged_max() -> (usize, usize) {
        (BRIMMING.results, BRIMMING.bytes)
    }
}
