//! Invariants that hold after every event, recounted the slow way.

use std::collections::BTreeMap;

use spelrum_model::{CellId, ExperimentId, GameId, LeaseId};

use super::allocation::Turn;
use super::attempts::Next;
use super::batches::Load;
use super::cells::{Cell, Place};
use super::experiments::Experiment;
use super::machine::Scheduler;
use super::needs::Need;
use super::with_work::WithWork;

/// Debug builds recount after every event up to this number of cells.
const CELLS_ALWAYS_CHECKED: usize = 32;

impl Scheduler {
    /// Recounts everything from the cells' ranges. Takes time with the number of cells and
    /// ranges; debug builds call it after every event while there are few.
    ///
    /// # Panics
    /// If a game is lost or in two places, or if a sum or an index is out of step.
    pub fn assert_consistent(&self) {
        let mut cells: BTreeMap<ExperimentId, BTreeMap<CellId, &Cell>> = BTreeMap::new();
        for (&id, cell) in &self.cells {
            cells.entry(cell.experiment()).or_default().insert(id, cell);
        }
        let mut leased = BTreeMap::new();
        for (&id, experiment) in self.experiments.iter().filter(|(_, e)| !e.is_over()) {
            let cells = cells.remove(&id).unwrap_or_default();
            self.assert_experiment(id, experiment, &cells);
            for cell in cells.values() {
                cell.assert_consistent();
                for (lease, games) in cell.leased_by() {
                    *leased.entry(lease).or_insert(0) += games;
                }
            }
        }
        self.leases.assert_consistent();
        let outstanding: BTreeMap<LeaseId, u64> =
            self.leases.iter().map(|(id, lease)| (id, lease.outstanding)).collect();
        assert_eq!(leased, outstanding, "invariant 6: leases and cells disagree");
        for (id, lease) in self.leases.iter() {
            for game in &lease.started {
                assert_eq!(self.cells[&game.cell].place(game.number), Place::Leased(id));
            }
        }
        for game in self.attempts.games().chain(self.attempts.lost_games()) {
            assert_ne!(self.cells[&game.cell].place(game.number), Place::Settled, "{game:?}");
        }
    }

    /// [`Scheduler::assert_consistent`] where that is cheap.
    pub(super) fn debug_assert_consistent(&self) {
        if cfg!(debug_assertions) && self.cells.len() <= CELLS_ALWAYS_CHECKED {
            self.assert_consistent();
        }
    }

    fn assert_experiment(
        &self,
        id: ExperimentId,
        experiment: &Experiment,
        cells: &BTreeMap<CellId, &Cell>,
    ) {
        let mut load = Load::default();
        let (mut unsettled, mut waiting, mut leased) = (0, BTreeMap::new(), 0);
        for cell in cells.values() {
            load.measured_us += Load::new(cell).measured_us;
            load.unmeasured_games += Load::new(cell).unmeasured_games;
            unsettled += u128::from(cell.unsettled());
            if cell.waiting_count() > 0 {
                *waiting.entry(Need::new(cell)).or_default() += u128::from(cell.waiting_count());
            }
            leased += u128::from(cell.leased_count());
        }
        assert_eq!((load, unsettled), (experiment.load, experiment.unsettled), "sums of {id}");
        assert_eq!(waiting, experiment.waiting, "waiting games of {id}");
        assert_eq!(leased, experiment.leased, "leased games of {id}");
        let goes_on = unsettled > 0 || experiment.open;
        assert!(goes_on, "{id} has nothing unsettled and is not finished");

        let mut with_work = WithWork::default();
        for (&id, cell) in cells.iter().filter(|(_, cell)| cell.has_work()) {
            with_work.insert(Turn::new(cell, experiment.settings.allocation), id, cell);
        }
        assert_eq!(with_work, experiment.with_work, "cells with work of {id}");
        let apart = |next| {
            let numbers = cells.iter().flat_map(|(&cell, c)| {
                let handed_out = c.alone().filter(|&number| c.hands_out(number));
                let handed_out = handed_out.chain(c.next_task());
                handed_out.map(move |number| GameId { cell, number })
            });
            numbers.filter(move |&game| self.attempts.next(game, &self.policy) == next)
        };
        assert!(apart(Next::Alone).eq(experiment.alone.iter().copied()), "alone of {id}");
        assert!(apart(Next::Suspect).eq(experiment.suspects.iter().copied()), "suspects of {id}");
        assert_eq!(apart(Next::Shared).count() + apart(Next::GiveUp).count(), 0);
        assert_eq!(self.shares.is_ready(id), experiment.is_ready(), "readiness of {id}");
    }
}
