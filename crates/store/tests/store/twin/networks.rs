//! Networks and their trainings in the in-memory store.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelrum_model::{
    CellId, DefinitionHash, ExperimentId, FinishedTraining, GameId, Plan, TrainingDefinition,
    WorkerId,
};
use spelrum_scheduling::scheduler::{CellState, Tasks};

use super::verifications::Verification;
use super::{Cell, State};

/// Result of a training, and the worker that trained.
#[derive(Clone, Debug)]
pub(super) enum Network {
    Trained { worker: WorkerId },
    Failed,
}

/// The training of a player's network, if the player has one.
fn training_of(parameters_json: &str) -> Option<TrainingDefinition> {
    let parameters = serde_json::from_str(parameters_json).ok()?;
    TrainingDefinition::from_parameters(&parameters)
}

impl State {
    /// Adds trainings to an experiment for networks that a plan's players need and that are missing.
    pub(super) fn add_trainings(&mut self, experiment: ExperimentId, plan: &Plan) -> Vec<CellId> {
        let mut added = Vec::new();
        for player in &plan.players {
            let Some(training) = training_of(&player.parameters_json) else { continue };
            let hash = training.hash();
            let mut its = self.cells.values().filter(|cell| cell.experiment == experiment);
            if its.any(|cell| cell.is_training && cell.hash == hash) {
                continue;
            }
            match self.networks.get(&hash) {
                Some(Network::Trained { .. }) => continue,
                // Failed trainings are tried again.
                Some(Network::Failed) => self.networks.remove(&hash),
                None => None,
            };
            self.last_cell += 1;
            let id = CellId(self.last_cell);
            self.cells.insert(id, Cell::training(experiment, &training));
            added.push(id);
        }
        added
    }

    /// The trainings of an experiment that games of a cell wait for.
    pub(super) fn trainings_before(&self, cell: &Cell) -> Option<Arc<[CellId]>> {
        let hashes: BTreeSet<DefinitionHash> = cell
            .players
            .iter()
            .filter_map(|json| training_of(json).map(|training| training.hash()))
            .collect();
        let is_before = |earlier: &Cell| {
            earlier.experiment == cell.experiment
                && earlier.is_training
                && hashes.contains(&earlier.hash)
        };
        let before = self.cells.iter().filter(|(_, earlier)| is_before(earlier)).map(|(&id, _)| id);
        let before: Arc<[CellId]> = before.collect();
        Some(before).filter(|before| !before.is_empty())
    }

    /// Adds the scheduler's data on a training or a verification to the state of its cell.
    pub(super) fn as_task(cell: &Cell, state: CellState) -> CellState {
        match &cell.verifies {
            Some(Verification { played_by, .. }) => {
                let tasks = Tasks::Verifications { not_by: *played_by };
                CellState { tasks, in_sweep: true, after: None, ..state }
            }
            None if cell.is_training => {
                CellState { tasks: Tasks::Trainings, in_sweep: true, ..state }
            }
            None => state,
        }
    }

    pub(super) fn store_trainings(&mut self, trainings: &[(WorkerId, FinishedTraining)]) {
        for (worker, training) in trainings {
            let Some(cell) = self.cells.get(&training.task.cell) else { continue };
            let is_there = matches!(self.networks.get(&cell.hash), Some(Network::Trained { .. }));
            if cell.is_training && training.trained.is_some() && !is_there {
                self.networks.insert(cell.hash, Network::Trained { worker: *worker });
            }
        }
    }

    /// Settles a training task as failed; returns whether the task is a training.
    pub(super) fn settle_failed_training(&mut self, task: GameId) -> bool {
        let Some(cell) = self.cells.get(&task.cell).filter(|cell| cell.is_training) else {
            return false;
        };
        self.networks.entry(cell.hash).or_insert(Network::Failed);
        true
    }

    /// Takes back failures of an experiment's trainings; returns their tasks.
    pub(super) fn retry_trainings(&mut self, experiment: ExperimentId) -> Vec<GameId> {
        let mut tasks = Vec::new();
        for (&id, cell) in &self.cells {
            let is_failed = matches!(self.networks.get(&cell.hash), Some(Network::Failed));
            if cell.experiment == experiment && cell.is_training && is_failed {
                self.networks.remove(&cell.hash);
                if cell.next_number > 0 && cell.returned.is_empty() {
                    tasks.push(GameId { cell: id, number: 0 });
                }
            }
        }
        tasks
    }

    /// Whether a task is settled: a game has its result, a training its network or final failure.
    pub(super) fn is_settled(&self, task: &GameId) -> bool {
        let cell = self.cells.get(&task.cell);
        let training = cell.filter(|cell| cell.is_training);
        self.games.contains_key(task)
            || cell
                .and_then(|cell| cell.verifies.as_ref())
                .is_some_and(|verification| verification.verdict.is_some())
            || training.is_some_and(|cell| self.networks.contains_key(&cell.hash))
    }

    /// Whether a worker trained a network.
    pub(super) fn has_trained(&self, id: WorkerId) -> bool {
        let is_by =
            |network: &Network| matches!(network, Network::Trained { worker } if *worker == id);
        self.networks.values().any(is_by)
    }
}
