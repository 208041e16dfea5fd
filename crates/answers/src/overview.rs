//! How an experiment's games were played: their lengths, their endings, and the workers and machines that played
//! them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::{CellId, WorkerId};

use crate::checked::{Inconsistent, check_counts, check_places, checked_on_reading};
use crate::machine::Machine;
use crate::summary::ExperimentSummary;
use crate::worker_effects::{NamedStart, WorkerEffects, read_known_effects};

/// Overview of how an experiment's games were played, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Overview {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// Workers that played counted games, including games of cells that the sweep no longer names; in the order of
    /// their ids.
    pub workers: Vec<WorkerShare>,
    /// Effects of these workers on measurements; measures without enough data are absent.
    #[serde(deserialize_with = "read_known_effects")]
    pub worker_effects: Vec<WorkerEffects>,
    /// The cells with counted games that its sweep names, in the grid's order.
    pub cells: Vec<CellGames>,
}

checked_on_reading!(Overview);

impl Overview {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("cells", &self.axes, self.cells.iter().map(|cell| &*cell.axes))?;
        let counts = self.cells.iter().flat_map(|cell| cell.lengths.0.values());
        check_counts("lengths of games", counts.copied())
    }
}

/// One worker's share of an experiment, and its machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerShare {
    /// The worker.
    pub worker: WorkerId,
    /// Its name, for display.
    pub name: String,
    /// Its host's name.
    pub host: String,
    /// Its playing threads.
    pub slots: u32,
    /// The revision of its engine.
    pub engine_revision: u32,
    /// Its program's version.
    pub version: String,
    /// Its machine and build.
    pub machine: Machine,
    /// Games that count.
    pub games: u64,
    /// Their plies together.
    pub plies: u64,
    /// Their total duration by its clock, in microseconds.
    pub wall_us: f64,
}

/// Lengths and endings of one cell's games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellGames {
    /// The cell.
    pub cell: CellId,
    /// Values on the axes, in the axes' order; `None` on an axis that does not apply to the cell.
    pub axes: Vec<Option<String>>,
    /// The first player's name in the sweep.
    pub player: String,
    /// The second player's.
    pub opponent: String,
    /// Number of games by plies after the opening.
    pub lengths: Lengths,
    /// Number of games by the name of their termination.
    pub terminations: BTreeMap<String, u64>,
}

/// Numbers of games by their plies after the opening; only lengths that occur.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Lengths(pub BTreeMap<u32, u64>);

impl Overview {
    /// Returns the number of processor models that its games were played on, as far as workers report them.
    #[must_use]
    pub fn cpu_models(&self) -> usize {
        self.different(|worker| Some(&worker.machine.cpu_model).filter(|model| !model.is_empty()))
    }

    /// Returns the number of builds of the program, which differ in version, commit or profile.
    #[must_use]
    pub fn builds(&self) -> usize {
        self.different(|worker| {
            let machine = &worker.machine;
            Some((&worker.version, &machine.build_commit, &machine.build_profile))
        })
    }

    fn different<'a, K: Ord>(&'a self, key: impl Fn(&'a WorkerShare) -> Option<K>) -> usize {
        let mut keys: Vec<K> = self.workers.iter().filter_map(key).collect();
        keys.sort();
        keys.dedup();
        keys.len()
    }
}

impl WorkerShare {
    /// Returns the worker's id and name.
    #[must_use]
    pub fn named(&self) -> NamedStart<'_> {
        (self.worker, [&self.name, &self.host])
    }
}

impl CellGames {
    /// Adds games of this length and ending.
    pub fn add(&mut self, plies: u32, termination: &str, games: u64) {
        *self.lengths.0.entry(plies).or_default() += games;
        if let Some(count) = self.terminations.get_mut(termination) {
            *count += games;
        } else {
            self.terminations.insert(termination.to_owned(), games);
        }
    }
}

impl Lengths {
    /// Returns the number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the mean number of plies; `None` without games.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let games = self.games();
        let of_length = |(plies, games): (&u32, &u64)| u128::from(*plies) * u128::from(*games);
        let plies: u128 = self.0.iter().map(of_length).sum();
        (games > 0).then(|| plies as f64 / games as f64)
    }

    /// Returns the number of plies that this many hundredths of the games did not exceed: 0 gives the shortest, 100
    /// the longest; `None` without games.
    #[must_use]
    pub fn quantile(&self, hundredths: u64) -> Option<u32> {
        let games = u128::from(self.games());
        let mut so_far = 0;
        let reached = |(plies, games_of): (&u32, &u64)| {
            so_far += u128::from(*games_of);
            (so_far * 100 >= games * u128::from(hundredths)).then_some(*plies)
        };
        self.0.iter().find_map(reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(plies_and_games: &[(u32, u64)]) -> Lengths {
        Lengths(plies_and_games.iter().copied().collect())
    }

    #[test]
    fn quantiles_are_lengths_of_games() {
        let sample = lengths(&[(9, 1), (10, 2), (20, 1)]);
        assert_eq!((sample.games(), sample.mean()), (4, Some(12.25)));
        let quantiles =
            [0, 25, 26, 50, 75, 76, 100].map(|hundredths| sample.quantile(hundredths).unwrap());
        assert_eq!(quantiles, [9, 9, 10, 10, 10, 20, 20]);
        assert_eq!((lengths(&[]).mean(), lengths(&[]).quantile(50)), (None, None));
        let lengths = lengths(&[(1, u64::MAX / 4), (2, u64::MAX / 4)]);
        assert_eq!(lengths.quantile(50), Some(1), "there is no overflow");
    }

    #[test]
    fn models_and_builds_are_counted() {
        let worker = |cpu_model: &str, commit: &str| WorkerShare {
            worker: WorkerId(1),
            name: "w".to_owned(),
            host: "h".to_owned(),
            slots: 1,
            engine_revision: 2,
            version: "0.1.0".to_owned(),
            machine: Machine {
                cpu_model: cpu_model.to_owned(),
                build_commit: commit.to_owned(),
                ..Machine::default()
            },
            games: 1,
            plies: 9,
            wall_us: 10.0,
        };
        let overview = |workers| Overview {
            experiment: ExperimentSummary {
                experiment: spelrum_model::ExperimentId(1),
                uuid: String::new(),
                name: String::new(),
                game: String::new(),
                task: spelrum_model::Task::Game,
                state: spelrum_model::ExperimentState::Finished,
                priority: 0,
                cells: 0,
                games_planned: 0,
                games_settled: 0,
                games_failed: 0,
                submitted_unix_us: 0,
            },
            axes: Vec::new(),
            workers,
            worker_effects: Vec::new(),
            cells: Vec::new(),
        };
        let machine = overview(vec![worker("A", "1"), worker("A", "1"), worker("", "1")]);
        assert_eq!(
            (machine.cpu_models(), machine.builds()),
            (1, 1),
            "one that does not say is no other"
        );
        let machines = overview(vec![worker("A", "1"), worker("B", "")]);
        assert_eq!((machines.cpu_models(), machines.builds()), (2, 2));
        assert_eq!((overview(Vec::new()).cpu_models(), overview(Vec::new()).builds()), (0, 0));
    }
}
