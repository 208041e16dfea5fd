//! Workers excluded by an operator: their games are replayed elsewhere.

use std::collections::BTreeSet;

use spelrum_model::withheld::Withheld;
use spelrum_model::{ExperimentId, WorkerId};

/// The exclusions of workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Exclusions {
    /// From an experiment, or from all: bounded by the operators' requests.
    pub(super) excluded: BTreeSet<(WorkerId, Option<ExperimentId>)>,
}

impl Exclusions {
    /// Restores the durable state.
    pub(super) fn new(excluded: Vec<(WorkerId, Option<ExperimentId>)>) -> Self {
        Self { excluded: excluded.into_iter().collect() }
    }

    /// Whether a worker gets no games of an experiment.
    pub(super) fn has(&self, worker: WorkerId, experiment: ExperimentId) -> bool {
        self.is_everywhere(worker) || self.excluded.contains(&(worker, Some(experiment)))
    }

    /// Why a worker gets no games at all.
    pub(super) fn withheld(&self, worker: WorkerId) -> Option<Withheld> {
        self.is_everywhere(worker).then_some(Withheld::Excluded)
    }

    /// Readmits a worker everywhere.
    pub(super) fn readmit(&mut self, worker: WorkerId) {
        self.excluded.retain(|(excluded, _)| *excluded != worker);
    }

    /// Forgets a deleted experiment.
    pub(super) fn forget(&mut self, experiment: ExperimentId) {
        self.excluded.retain(|(_, from)| *from != Some(experiment));
    }

    /// Workers excluded from all experiments.
    pub(super) fn everywhere(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.excluded.iter().filter(|(_, from)| from.is_none()).map(|&(worker, _)| worker)
    }

    pub(super) fn is_everywhere(&self, worker: WorkerId) -> bool {
        self.excluded.contains(&(worker, None))
    }
}
