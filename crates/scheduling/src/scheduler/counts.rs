//! Totals for monitoring a coordinator.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelrum_model::ExperimentState;
use spelrum_model::demands::Demands;

use super::experiments::Experiment;
use super::machine::Scheduler;
use super::needs::{Need, bounds_machine};

/// Totals of everything that is not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Experiments whose games are handed out.
    pub running: u64,
    /// Paused experiments.
    pub paused: u64,
    /// Games of running experiments that could be leased now and are not.
    pub waiting_games: u64,
    /// The same by their needs. No count is 0. Where an experiment bounds its leased games, each count is bounded by
    /// itself, so that they may add up to more: any of these games may be the next.
    pub waiting_games_by_need: BTreeMap<Need, u64>,
    /// Games in live leases, of running and paused experiments.
    pub leased_games: u64,
    /// Live leases.
    pub leases: u64,
}

/// Queued games with the same demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The demands on the worker, if any beyond memory.
    pub demands: Option<Arc<Demands>>,
    /// Whether the games are timed.
    pub timed: bool,
    /// The memory that a game may take, in bytes.
    pub memory_bytes: u64,
    /// The number of games.
    pub games: u64,
}

impl Queued {
    /// Whether the sweep bounds the speed of machines or its variation, or the period of a CPU quota.
    #[must_use]
    pub fn bounds_machine(&self) -> bool {
        self.demands.as_deref().is_some_and(bounds_machine)
    }
}

impl Scheduler {
    /// Computes the totals. Takes time with the number of experiments that are not over.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { leases: self.leases.count(), ..Counts::default() };
        let (mut leased, mut waiting) = (0, 0_u128);
        for experiment in self.experiments.values().filter(|experiment| !experiment.is_over()) {
            leased += experiment.leased;
            match experiment.state {
                ExperimentState::Running => {
                    counts.running += 1;
                    let all = experiment
                        .waiting
                        .values()
                        .fold(0, |sum: u128, &games| sum.saturating_add(games));
                    waiting = waiting.saturating_add(all.min(experiment.room()));
                    let by_need = experiment.waiting.iter().map(|(&need, &games)| (need, games));
                    for (need, games) in within_room(experiment, by_need) {
                        let sum = counts.waiting_games_by_need.entry(need).or_default();
                        *sum = sum.saturating_add(games);
                    }
                }
                ExperimentState::Paused
                | ExperimentState::Cancelled
                | ExperimentState::Finished => counts.paused += 1,
            }
        }
        [counts.leased_games, counts.waiting_games] =
            [leased, waiting].map(|games| u64::try_from(games).unwrap_or(u64::MAX));
        counts
    }

    /// Games of running experiments that could be leased now and are not, by their demands, in the order of
    /// these; bounded as in [`Counts::waiting_games_by_need`]. Takes time with the number of cells.
    #[must_use]
    pub fn queued(&self) -> Vec<Queued> {
        let mut queued: BTreeMap<_, u64> = BTreeMap::new();
        for (_, experiment) in self.with_waiting() {
            let mut waiting: BTreeMap<_, u128> = BTreeMap::new();
            let cells = experiment.cells.iter().filter_map(|cell| self.cells.get(cell));
            for cell in cells.filter(|cell| cell.waiting_count() > 0) {
                let needs = (cell.demands().cloned(), cell.is_timed(), cell.memory_bytes());
                *waiting.entry(needs).or_default() += u128::from(cell.waiting_count());
            }
            for (needs, games) in within_room(experiment, waiting.into_iter()) {
                let sum = queued.entry(needs).or_default();
                *sum = sum.saturating_add(games);
            }
        }
        let queued = queued.into_iter();
        queued
            .map(|((demands, timed, memory_bytes), games)| Queued {
                demands,
                timed,
                memory_bytes,
                games,
            })
            .collect()
    }
}

/// How many of the waiting games of each kind may be leased at the same time as those that are.
fn within_room<N>(
    experiment: &Experiment,
    waiting: impl Iterator<Item = (N, u128)>,
) -> impl Iterator<Item = (N, u64)> {
    let room = experiment.room();
    waiting.filter_map(move |(need, games)| {
        let games = games.min(room);
        (games > 0).then(|| (need, u64::try_from(games).unwrap_or(u64::MAX)))
    })
}
