//! Who asks for games, and what it can play.

use super::cells::Cell;
use crate::engines::{NeededEngine, OfferedEngine, can_play};
use crate::ids::WorkerId;

/// The playing threads that a worker is believed to have.
const SLOTS_MAX: u32 = 4_096;

/// Who asks for games, and what it can play.
pub(super) struct Asking<'a> {
    pub(super) worker: WorkerId,
    pub(super) slots: u64,
    /// Those for timed games; 0 if all are.
    pub(super) quiet_slots: u64,
    /// Each of its slots may play the largest game at the same time.
    slot_bytes: u64,
    engines: &'a [OfferedEngine],
    /// Whether it may take a training: it trains, and has a slot to spare.
    pub(super) trains: bool,
    /// Whether it may take a verification.
    pub(super) verifies: bool,
}

impl<'a> Asking<'a> {
    /// Who asks for games, and for nothing else.
    pub(super) fn new(
        worker: WorkerId,
        (slots, quiet_slots): (u32, u32),
        memory_bytes: Option<u64>,
        engines: &'a [OfferedEngine],
    ) -> Self {
        let slots = u64::from(slots.clamp(1, SLOTS_MAX));
        let quiet_slots = u64::from(quiet_slots).min(slots);
        let slot_bytes = memory_bytes.map_or(u64::MAX, |offered| offered / slots);
        Self { worker, slots, quiet_slots, slot_bytes, engines, trains: false, verifies: false }
    }

    /// Whether the worker can play the cell's games: each of its slots can hold one, and it has their engines.
    pub(super) fn can_play(&self, cell: &Cell) -> bool {
        self.has_memory(cell)
            && cell.engines().is_none_or(|needed| self.has_engines(needed))
            && (self.trains || !cell.is_training())
            && (self.verifies || !cell.is_verification())
            && !cell.is_for_others(self.worker)
            && !cell.waits()
    }

    /// Whether the worker has these engines.
    pub(super) fn has_engines(&self, needed: &[NeededEngine]) -> bool {
        can_play(needed, self.engines)
    }

    /// Whether each of its slots can hold a game of the cell.
    pub(super) fn has_memory(&self, cell: &Cell) -> bool {
        cell.memory_bytes() <= self.slot_bytes
    }
}
