//! A worker that asks for games, and its abilities.

use spelrum_model::WorkerId;
use spelrum_model::demands::{Demands, Offer, Preference, Unmet};

use super::cells::Cell;

/// Maximum number of playing threads that a worker is credited with.
const SLOTS_MAX: u32 = 4_096;

/// A worker that asks for games, and its abilities.
pub(super) struct LeaseRequest<'a> {
    pub(super) worker: WorkerId,
    pub(super) slots: u64,
    /// Slots for timed games; 0 if all are.
    pub(super) quiet_slots: u64,
    /// Each of its slots may play the largest game at the same time.
    slot_bytes: u64,
    offer: &'a Offer,
    /// Whether an unknown speed meets all bounds.
    is_hopeful: bool,
    /// Whether it may take a training: it trains, and has a spare slot.
    pub(super) trains: bool,
    /// Whether it may take a verification.
    pub(super) verifies: bool,
}

impl<'a> LeaseRequest<'a> {
    /// A worker that asks for games only.
    pub(super) fn new(
        worker: WorkerId,
        (slots, quiet_slots): (u32, u32),
        memory_bytes: Option<u64>,
        offer: &'a Offer,
    ) -> Self {
        let slots = u64::from(slots.clamp(1, SLOTS_MAX));
        let quiet_slots = u64::from(quiet_slots).min(slots);
        let slot_bytes = memory_bytes.map_or(u64::MAX, |offered| offered / slots);
        let (is_hopeful, trains, verifies) = (false, false, false);
        Self { worker, slots, quiet_slots, slot_bytes, offer, is_hopeful, trains, verifies }
    }

    /// The same worker, with every unknown speed as good as demanded.
    pub(super) const fn with_hoped_speeds(&self) -> Self {
        Self { is_hopeful: true, ..*self }
    }

    /// Whether the worker can play the cell's games: each of its slots can hold one, and it meets their demands.
    pub(super) fn can_play(&self, cell: &Cell) -> bool {
        self.has_memory(cell)
            && cell.demands().is_none_or(|demands| self.meets(demands))
            && (self.trains || !cell.is_training())
            && (self.verifies || !cell.is_verification())
            && !cell.is_for_others(self.worker)
            && !cell.waits()
    }

    /// Whether the worker meets the demands.
    pub(super) fn meets(&self, demands: &Demands) -> bool {
        self.lacks(demands).is_none()
    }

    /// The demands that the worker does not meet.
    pub(super) fn lacks(&self, demands: &Demands) -> Option<Unmet> {
        let unmet = demands.unmet_by(self.offer)?;
        let is_hoped = self.is_hopeful && matches!(unmet, Unmet::Measured(_));
        (!is_hoped).then_some(unmet)
    }

    /// The worker's preference for such games.
    pub(super) fn preference(&self, demands: Option<&Demands>) -> Preference {
        demands.map_or(Preference::Indifferent, |demands| demands.preference(self.offer))
    }

    /// Whether each of its slots can hold a game of the cell.
    pub(super) fn has_memory(&self, cell: &Cell) -> bool {
        let bytes = cell.memory_bytes();
        if bytes > self.slot_bytes || self.slot_bytes == u64::MAX {
            return bytes <= self.slot_bytes;
        }
        let unset =
            cell.demands().map_or(0, |demands| demands.unset_hash_bytes(&self.offer.engines));
        bytes.saturating_add(unset) <= self.slot_bytes
    }
}
