//! Experiments and workers at a glance.

use std::sync::Arc;

use spelrum_model::engines::OfferedEngine;
use spelrum_model::labels::Label;
use spelrum_model::{ExperimentId, ExperimentState, Task, WorkerId};

/// An experiment: what it is called, its state, and how far it is. The numbers are over the cells that
/// its sweep names now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentSummary {
    /// Its id in this database, which no other experiment ever has. Later ones have greater ids.
    pub experiment: ExperimentId,
    /// Identifies it in every database.
    pub uuid: String,
    /// Its name, which several may have.
    pub name: String,
    /// The game's name.
    pub game: String,
    /// What its numbers stand for: `games` below are choices of an accuracy experiment.
    pub task: Task,
    /// Whether its games are handed out.
    pub state: ExperimentState,
    /// Larger goes first.
    pub priority: i32,
    /// Its cells.
    pub cells: u64,
    /// Games that its cells are to have.
    pub games_planned: u64,
    /// Games with a result, or finally failed.
    pub games_settled: u64,
    /// Of these, games that finally failed.
    pub games_failed: u64,
    /// When it was submitted, in microseconds since 1970: for people.
    pub submitted_unix_us: i64,
}

impl ExperimentSummary {
    /// Games that are not settled.
    #[must_use]
    pub fn games_unsettled(&self) -> u64 {
        self.games_planned.saturating_sub(self.games_settled)
    }

    /// Games that are still to be played: none of a cancelled experiment.
    #[must_use]
    pub fn games_left(&self) -> u64 {
        if self.state == ExperimentState::Cancelled { 0 } else { self.games_unsettled() }
    }
}

/// A part of a list of experiments, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentsPage {
    /// The experiments.
    pub experiments: Vec<ExperimentSummary>,
    /// The last of them, after which the list goes on, if it does.
    pub next: Option<ExperimentId>,
}

impl ExperimentsPage {
    /// The first so many of these, which are one more if there are more.
    #[must_use]
    pub fn of(mut experiments: Vec<ExperimentSummary>, experiments_max: usize) -> Self {
        let has_more = experiments.len() > experiments_max;
        experiments.truncate(experiments_max);
        let next = has_more.then(|| experiments.last().map(|last| last.experiment)).flatten();
        Self { experiments, next }
    }
}

/// A worker. What only a running coordinator knows of it is 0 elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSummary {
    /// The worker.
    pub worker: WorkerId,
    /// Its name, for people.
    pub name: String,
    /// The machine that it runs on, for people.
    pub host: String,
    /// Games that it plays at once.
    pub slots: u32,
    /// The revision of its engine.
    pub engine_revision: u32,
    /// Milliseconds since it was last heard of.
    pub silent_ms: u64,
    /// Games that are leased to it and have no result.
    pub leased_games: u64,
    /// Of these, games that it plays.
    pub playing_games: u64,
    /// Games that it has reported.
    pub reported_games: u64,
    /// Games of its leases that expired since it was last heard of, or was dismissed: others play them.
    pub lost_games: u64,
    /// Bytes of memory that it offers all its slots together, if it says.
    pub memory_bytes: Option<u64>,
    /// The external engines that it can play with; of very many the first.
    pub engines: Arc<[OfferedEngine]>,
    /// How many these are.
    pub engines_total: u64,
    /// What it says of its machine.
    pub labels: Arc<[Label]>,
    /// The name of the token or client certificate that it said Hello with, such as `token:lab`; `None` where neither
    /// is demanded.
    pub credential: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_cancelled_experiment_is_left() {
        let mut experiment = ExperimentSummary {
            experiment: ExperimentId(1),
            uuid: String::new(),
            name: String::new(),
            game: String::new(),
            task: spelrum_model::Task::Game,
            state: ExperimentState::Paused,
            priority: 0,
            cells: 1,
            games_planned: 10,
            games_settled: 4,
            games_failed: 0,
            submitted_unix_us: 0,
        };
        assert_eq!((experiment.games_left(), experiment.games_unsettled()), (6, 6));
        experiment.state = ExperimentState::Cancelled;
        assert_eq!((experiment.games_left(), experiment.games_unsettled()), (0, 6));
        // A sweep that was made smaller may have more games than it asks for.
        experiment.games_settled = 12;
        assert_eq!(experiment.games_unsettled(), 0);
    }
}
