//! How an experiment's games were played: how long they were, how they ended, who played them and on what.

use std::collections::BTreeMap;

use spelrum_model::{CellId, WorkerId};

use crate::machine::Machine;
use crate::summary::ExperimentSummary;
use crate::worker_effects::{NamedStart, WorkerEffects};

/// How an experiment's games were played, all as of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// Who played games that count, also of cells that its sweep no longer names; in the order of their ids.
    pub workers: Vec<WorkerShare>,
    /// What these workers add to what is measured; nothing of what does not tell.
    pub worker_effects: Vec<WorkerEffects>,
    /// The cells with counted games that its sweep names, in the grid's order.
    pub cells: Vec<CellGames>,
}

/// What one worker has played of an experiment, and on what.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerShare {
    /// The worker.
    pub worker: WorkerId,
    /// Its name, for people.
    pub name: String,
    /// Its host's name.
    pub host: String,
    /// Its playing threads.
    pub slots: u32,
    /// The revision of its engine.
    pub engine_revision: u32,
    /// Its program's version.
    pub version: String,
    /// What it runs on, and which build it is.
    pub machine: Machine,
    /// Games that count.
    pub games: u64,
    /// Their plies together.
    pub plies: u64,
    /// The time that they took together by its clock, in microseconds.
    pub wall_us: f64,
}

/// How long one cell's games were, and how they ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CellGames {
    /// The cell.
    pub cell: CellId,
    /// Its values on the axes, in the axes' order; none on an axis that does not touch it.
    pub axes: Vec<Option<String>>,
    /// The first player's name in the sweep.
    pub player: String,
    /// The second player's.
    pub opponent: String,
    /// How many games had so many plies after the opening.
    pub lengths: Lengths,
    /// How many games ended so, by the name of the termination.
    pub terminations: BTreeMap<String, u64>,
}

/// Numbers of games by their plies after the opening; of each number of plies that there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths(pub BTreeMap<u32, u64>);

impl Overview {
    /// On how many models of processors its games were played, as far as workers say.
    #[must_use]
    pub fn cpu_models(&self) -> usize {
        self.different(|worker| Some(&worker.machine.cpu_model).filter(|model| !model.is_empty()))
    }

    /// By how many builds of the program: of another version, commit or profile.
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
    /// Who it is, and what it is called.
    #[must_use]
    pub fn named(&self) -> NamedStart<'_> {
        (self.worker, [&self.name, &self.host])
    }
}

impl CellGames {
    /// Adds so many games of this length and end.
    pub fn add(&mut self, plies: u32, termination: &str, games: u64) {
        *self.lengths.0.entry(plies).or_default() += games;
        if let Some(known) = self.terminations.get_mut(termination) {
            *known += games;
        } else {
            self.terminations.insert(termination.to_owned(), games);
        }
    }
}

impl Lengths {
    /// How many games there are.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.0.values().sum()
    }

    /// The mean number of plies; none without games.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let games = self.games();
        let plies: u64 = self.0.iter().map(|(plies, games)| u64::from(*plies) * games).sum();
        (games > 0).then(|| plies as f64 / games as f64)
    }

    /// The number of plies that so many hundredths of the games did not exceed: the shortest of 0, the longest of
    /// 100; none without games.
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

    fn lengths(of: &[(u32, u64)]) -> Lengths {
        Lengths(of.iter().copied().collect())
    }

    #[test]
    fn quantiles_are_lengths_of_games() {
        let told = lengths(&[(9, 1), (10, 2), (20, 1)]);
        assert_eq!((told.games(), told.mean()), (4, Some(12.25)));
        let quantiles = [0, 25, 26, 50, 75, 76, 100].map(|it| told.quantile(it).unwrap());
        assert_eq!(quantiles, [9, 9, 10, 10, 10, 20, 20]);
        assert_eq!((lengths(&[]).mean(), lengths(&[]).quantile(50)), (None, None));
        let many = lengths(&[(1, u64::MAX / 4), (2, u64::MAX / 4)]);
        assert_eq!(many.quantile(50), Some(1), "there is no overflow");
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
        let told = |workers| Overview {
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
        let one = told(vec![worker("A", "1"), worker("A", "1"), worker("", "1")]);
        assert_eq!((one.cpu_models(), one.builds()), (1, 1), "one that does not say is no other");
        let two = told(vec![worker("A", "1"), worker("B", "")]);
        assert_eq!((two.cpu_models(), two.builds()), (2, 2));
        assert_eq!((told(Vec::new()).cpu_models(), told(Vec::new()).builds()), (0, 0));
    }
}
