//! Games that wait for workers with the engines, labels or memory that they need, as `status` reports them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelrum_model::demands::Demands;
use spelrum_model::wanted::Wanted;
use spelrum_model::{CellId, ExperimentId};

use super::experiments::Experiment;
use super::machine::Scheduler;
use super::with_work::needs;

impl Scheduler {
    /// For each running experiment, the cell with the largest memory demand that waits for a slot, and its
    /// size.
    #[must_use]
    pub fn largest_waiting(&self) -> Vec<(ExperimentId, CellId, u64)> {
        let largest = |(id, experiment): (ExperimentId, &Experiment)| {
            let needs = waiting(experiment)
                .filter_map(|cell| Some((self.cells.get(&cell)?.memory_bytes(), cell)));
            // The first of equals.
            let largest = needs.max_by_key(|&(bytes, cell)| (bytes, Reverse(cell)));
            largest.map(|(bytes, cell)| (id, cell, bytes))
        };
        self.with_waiting().filter_map(largest).collect()
    }

    /// Games that wait for workers that meet their demands, by experiment and demands.
    #[must_use]
    pub fn wanted(&self) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for (id, experiment) in self.with_waiting() {
            let with_work = experiment.with_work.by_needs();
            // Cells of which only games to be leased alone wait.
            let mut set_apart: BTreeMap<(Arc<Demands>, u64), BTreeSet<CellId>> = BTreeMap::new();
            for cell in apart(experiment) {
                if let Some(needs) = self.cells.get(&cell).and_then(needs)
                    && with_work.get(&needs).is_none_or(|cells| !cells.contains(&cell))
                {
                    set_apart.entry(needs).or_default().insert(cell);
                }
            }
            let all: BTreeSet<_> = with_work.keys().chain(set_apart.keys()).collect();
            wanted.extend(all.into_iter().filter_map(|needs| {
                let cells = || [with_work.get(needs), set_apart.get(needs)].into_iter().flatten();
                let (demands, memory_bytes) = needs;
                Some(Wanted {
                    experiment: id,
                    cell: *cells().filter_map(BTreeSet::first).min()?,
                    cells: cells().map(|cells| cells.len() as u64).sum(),
                    demands: Arc::clone(demands),
                    memory_bytes: *memory_bytes,
                })
            }));
        }
        wanted
    }

    /// The names of the engines that experiments need which are neither finished nor cancelled.
    #[must_use]
    pub fn needed_engines(&self) -> BTreeSet<String> {
        let open = self.experiments.values().filter(|experiment| !experiment.state.is_over());
        let cells = open.flat_map(|experiment| &experiment.cells);
        // Cells with the same demands share them.
        let demands: BTreeSet<_> =
            cells.filter_map(|cell| self.cells.get(cell)?.demands()).collect();
        let engines = demands.into_iter().flat_map(|demands| &demands.engines);
        engines.map(|need| need.engine.clone()).collect()
    }

    /// Running experiments with games that wait to be handed out.
    pub(super) fn with_waiting(&self) -> impl Iterator<Item = (ExperimentId, &Experiment)> {
        let waiting = self.experiments.iter().filter(|(_, experiment)| experiment.has_waiting());
        waiting.map(|(&id, experiment)| (id, experiment))
    }
}

/// Its cells with games to hand out; one may come several times.
fn waiting(experiment: &Experiment) -> impl Iterator<Item = CellId> {
    experiment.with_work.ids().chain(apart(experiment))
}

/// Its cells with games to be leased alone; one may come several times.
fn apart(experiment: &Experiment) -> impl Iterator<Item = CellId> {
    experiment.alone.iter().chain(&experiment.suspects).map(|game| game.cell)
}
