//! A worker asks for games.

use std::collections::BTreeSet;

use super::allocation::share_of_lease;
use super::api::{Effect, LeaseState};
use super::attempts::Next;
use super::batches::{Batch, LeaseRoom};
use super::cells::Cell;
use super::leases::Lease;
use super::machine::Scheduler;
use crate::ids::{ExperimentId, GameId, GameRange, WorkerId};

/// The playing threads that a worker is believed to have.
const SLOTS_MAX: u32 = 4_096;

/// Leases that a worker may hold beside one for each slot and the next one for each: more are
/// left over from replies that it never got, and will expire.
const LEASES_BESIDE: usize = 8;

impl Scheduler {
    /// Grants a lease, or says when to ask again.
    pub(super) fn lease_wanted(
        &mut self,
        worker: WorkerId,
        slots: u32,
        memory_bytes: Option<u64>,
    ) -> Effect {
        let slots = slots.clamp(1, SLOTS_MAX);
        let leases_max = 2 * slots as usize + LEASES_BESIDE;
        if self.leases.count_of(worker) < leases_max {
            let mut turn = None;
            while let Some(next) = self.shares.next(turn) {
                let batch = self.batch(next.experiment, worker, u64::from(slots), memory_bytes);
                if !batch.ranges.is_empty() {
                    return self.grant(worker, u64::from(slots), next.experiment, batch);
                }
                turn = Some(next);
            }
        }
        let all_done = !self.any_running();
        let retry_after_ms =
            if all_done { self.policy.retry_done_ms } else { self.policy.retry_waiting_ms };
        Effect::Idle { worker, retry_after_ms, all_done }
    }

    /// What the experiment has for the worker. Games that were lost before come first: they hold
    /// up every decision about their cell (invariant 7). Each of its slots may play the largest game
    /// at the same time: a cell of which they cannot all hold one is not for this worker.
    fn batch(
        &self,
        id: ExperimentId,
        worker: WorkerId,
        slots: u64,
        memory_bytes: Option<u64>,
    ) -> Batch {
        let Some(experiment) = self.experiments.get(&id) else { return Batch::default() };
        let slot_bytes = memory_bytes.map_or(u64::MAX, |offered| offered / slots);
        let fits = |cell: &Cell| cell.memory_bytes() <= slot_bytes;
        let has_room = |game: &&GameId| self.cells.get(&game.cell).is_some_and(fits);
        let may_suspect = self.leases.of(worker).all(|lease| !lease.suspect);
        let suspect = experiment.suspects.iter().find(has_room).filter(|_| may_suspect);
        if let Some(game) = suspect.or_else(|| experiment.alone.iter().find(has_room)) {
            let range = GameRange { cell: game.cell, first: game.number, count: 1 };
            let work_us = u128::from(experiment.game_us.unwrap_or_default());
            return Batch { ranges: vec![range], work_us };
        }
        let all_slots = self.leases.slots_with(worker, slots);
        let room =
            LeaseRoom::new(&self.policy, slots, all_slots, experiment.load, experiment.game_us);
        let cells = experiment.with_work.iter();
        let cells = cells.filter_map(|&(_, id)| self.cells.get(&id).map(|cell| (id, cell)));
        let cells = cells.filter(|(_, cell)| fits(cell));
        let share = |cell: &Cell| share_of_lease(cell, experiment.allocation);
        room.fill(cells.map(|(id, cell)| (id, cell, share(cell))))
    }

    fn grant(&mut self, worker: WorkerId, slots: u64, of: ExperimentId, batch: Batch) -> Effect {
        let id = self.leases.next_id();
        for range in &batch.ranges {
            if let (1, Some(experiment)) = (range.count, self.experiments.get_mut(&of)) {
                experiment.take_apart(GameId { cell: range.cell, number: range.first });
            }
            self.change_cell(range.cell, |cell| cell.lease(range.first..range.end(), id));
        }
        self.shares.charge(of, batch.work_us);
        let lease = Lease {
            worker,
            experiment: of,
            outstanding: batch.ranges.iter().map(|range| range.count).sum(),
            suspect: self.is_suspect(&batch.ranges),
            granted: batch.ranges.clone(),
            started: BTreeSet::new(),
            deadline: self.deadline(),
        };
        self.leases.insert(id, lease, slots);
        let lost = batch.ranges.iter().filter(|range| self.attempts.any_lost(**range));
        let lost = lost.copied().collect();
        let (granted, outstanding) = (batch.ranges.clone(), batch.ranges.clone());
        self.note_granted(LeaseState { lease: id, worker, granted, outstanding });
        let duration_ms = self.policy.lease_duration_ms;
        Effect::Grant { worker, lease: id, ranges: batch.ranges, lost, duration_ms }
    }

    /// Whether these are one game that was lost alone before.
    pub(super) fn is_suspect(&self, granted: &[GameRange]) -> bool {
        match granted {
            [only] if only.count == 1 => {
                let game = GameId { cell: only.cell, number: only.first };
                self.attempts.next(game, &self.policy) == Next::Suspect
            }
            _ => false,
        }
    }
}
