//! Builds a scheduler from the durable state, as if nothing had happened (invariant 5).

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::{CellId, ExperimentState, GameRange};

use super::api::{ExperimentSnapshot, LeaseEnd, LeaseState, Snapshot, Time};
use super::attempts::AttemptBook;
use super::cells::Cell;
use super::conduct::Conduct;
use super::exclusions::Exclusions;
use super::experiments::Experiment;
use super::forfeits::Forfeits;
use super::leases::{Lease, Leases};
use super::machine::Scheduler;
use super::measuring::Measuring;
use super::policy::Policy;
use super::shares::Shares;

impl Scheduler {
    /// Restores from the durable state; live leases get one new full duration.
    #[must_use]
    pub fn restore(snapshot: Snapshot, policy: Policy, now: Time) -> Self {
        let mut scheduler = Self {
            policy,
            now,
            turn: now,
            cells: BTreeMap::new(),
            experiments: BTreeMap::new(),
            leases: Leases::after(snapshot.last_lease),
            attempts: AttemptBook::default(),
            shares: Shares::default(),
            exclusions: Exclusions::new(snapshot.excluded),
            conduct: Conduct::default(),
            forfeits: Forfeits::new(snapshot.barred),
            measuring: Measuring::default(),
            running: 0,
            pending: Vec::new(),
            over: BTreeSet::new(),
            waiting: BTreeMap::new(),
            changed_cells: BTreeSet::new(),
            settled: BTreeSet::new(),
            granted: Vec::new(),
            ended: Vec::new(),
        };
        let mut experiments = BTreeMap::new();
        for stored in snapshot.experiments {
            let ExperimentSnapshot { experiment, settings, state, open, cells } = stored;
            experiments.insert(experiment, (settings, state, open));
            for state in cells {
                scheduler.cells.insert(state.cell, Cell::new(experiment, &state));
            }
        }
        for attempts in snapshot.attempts {
            if scheduler.cells.contains_key(&attempts.game.cell) {
                scheduler.attempts.restore(attempts);
            }
        }
        scheduler.restore_leases(snapshot.leases);
        for (experiment, (settings, state, open)) in experiments {
            let restored = Experiment { open, ..Experiment::new(ExperimentState::Paused) };
            scheduler.experiments.insert(experiment, restored);
            scheduler.set_settings(experiment, settings);
            scheduler.set_state(experiment, state);
        }
        let cells: Vec<_> = scheduler.cells.keys().copied().collect();
        for &cell in &cells {
            scheduler.track_waiting(cell);
            scheduler.add_to_experiment(cell);
        }
        for cell in cells {
            scheduler.update_waiting(cell);
        }
        let mut effects = Vec::new();
        let experiments: Vec<_> = scheduler.experiments.keys().copied().collect();
        for experiment in experiments {
            scheduler.finish_if_settled(experiment, &mut effects);
        }
        scheduler.pending = effects;
        // Earlier settlements may be unreported: games also come in from other databases.
        let open = scheduler.experiments.keys().copied();
        scheduler.settled = open.filter(|experiment| scheduler.is_open(*experiment)).collect();
        scheduler.debug_assert_consistent();
        scheduler
    }

    fn restore_leases(&mut self, mut leases: Vec<LeaseState>) {
        leases.sort_unstable_by_key(|lease| lease.lease);
        for lease in &leases {
            for range in &lease.outstanding {
                if let Some(cell) = self.cells.get_mut(&range.cell) {
                    cell.restore_leased(range.first..range.end(), lease.lease);
                }
            }
        }
        self.cells.values_mut().for_each(Cell::finish_restore);
        let deadline = self.deadline();
        for LeaseState { lease: id, worker, granted, outstanding } in leases {
            let in_cell = |range: &GameRange| {
                self.cells.get(&range.cell).map_or(0, |cell| {
                    let parts = cell.outstanding(range, id);
                    parts.iter().map(|part| part.end - part.start).sum::<u64>()
                })
            };
            let count = outstanding.iter().map(in_cell).sum();
            let cell = granted.first().and_then(|range| self.cells.get(&range.cell));
            match cell {
                Some(cell) if count > 0 => {
                    let lease = Lease {
                        worker,
                        experiment: cell.experiment(),
                        suspect: self.is_suspect(&granted),
                        granted,
                        outstanding: count,
                        started: BTreeSet::new(),
                        deadline,
                    };
                    self.leases.insert(id, lease, 1);
                }
                // No committed transaction leaves this behind, but it is harmless.
                Some(_) => self.ended.push((id, LeaseEnd::Finished)),
                None => self.ended.push((id, LeaseEnd::Cancelled)),
            }
        }
    }

    /// Adds a cell to the sums and indexes.
    pub(super) fn add_to_experiment(&mut self, id: CellId) {
        let Some(cell) = self.cells.get_mut(&id) else { return };
        let owner = cell.experiment();
        let Some(experiment) = self.experiments.get_mut(&owner) else { return };
        experiment.cells.push(id);
        let returned = cell.progress(id).returned;
        let apart: Vec<_> = returned
            .into_iter()
            .flat_map(|range| self.attempts.set_apart(range, &self.policy))
            .collect();
        for game in apart {
            cell.set_apart(game.number);
            if cell.hands_out(game.number) {
                experiment.set_apart(game, self.attempts.next(game, &self.policy));
            }
        }
        experiment.account(id, None, cell);
        if cell.take_changed() {
            self.changed_cells.insert(id);
        }
        self.shares.set_ready(owner, experiment.is_ready());
    }
}
