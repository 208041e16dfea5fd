//! What waits for workers that have what it needs: for people.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::experiments::Experiment;
use super::machine::Scheduler;
use crate::engines::NeededEngine;
use crate::ids::{CellId, ExperimentId};

/// Cells of a running experiment with games to hand out, which need the same engines and the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnginesWanted {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The first of the cells.
    pub cell: CellId,
    /// How many they are.
    pub cells: u64,
    /// What each of their games needs.
    pub engines: Arc<[NeededEngine]>,
    /// Bytes of memory that one of them may take.
    pub memory_bytes: u64,
}

impl Scheduler {
    /// Of each running experiment the cell that waits for a slot with most memory, and how much.
    #[must_use]
    pub fn largest_waiting(&self) -> Vec<(ExperimentId, CellId, u64)> {
        let largest = |(id, experiment): (ExperimentId, &Experiment)| {
            let needs = waiting(experiment)
                .filter_map(|cell| Some((self.cells.get(&cell)?.memory_bytes(), cell)));
            // The first of equals.
            let largest = needs.max_by_key(|&(bytes, cell)| (bytes, Reverse(cell)));
            largest.map(|(bytes, cell)| (id, cell, bytes))
        };
        self.ready().filter_map(largest).collect()
    }

    /// What waits for workers with engines, by experiment and by what is needed.
    #[must_use]
    pub fn engines_wanted(&self) -> Vec<EnginesWanted> {
        let mut wanted = Vec::new();
        for (id, experiment) in self.ready() {
            let mut groups: BTreeMap<(&Arc<[NeededEngine]>, u64), BTreeSet<CellId>> =
                BTreeMap::new();
            for cell_id in waiting(experiment) {
                let Some(cell) = self.cells.get(&cell_id) else { continue };
                if let Some(engines) = cell.engines() {
                    groups.entry((engines, cell.memory_bytes())).or_default().insert(cell_id);
                }
            }
            wanted.extend(groups.into_iter().filter_map(|((engines, memory_bytes), cells)| {
                Some(EnginesWanted {
                    experiment: id,
                    cell: *cells.first()?,
                    cells: cells.len() as u64,
                    engines: Arc::clone(engines),
                    memory_bytes,
                })
            }));
        }
        wanted
    }

    fn ready(&self) -> impl Iterator<Item = (ExperimentId, &Experiment)> {
        self.experiments.iter().filter(|(_, it)| it.is_ready()).map(|(&id, it)| (id, it))
    }
}

/// Its cells with games to hand out; one may come several times.
fn waiting(experiment: &Experiment) -> impl Iterator<Item = CellId> {
    let apart = experiment.alone.iter().chain(&experiment.suspects).map(|game| game.cell);
    experiment.with_work.iter().map(|&(_, cell)| cell).chain(apart)
}
