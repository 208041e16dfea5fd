//! Totals for monitoring a coordinator.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelrum_model::ExperimentState;
use spelrum_model::demands::Demands;

use super::cells::Cell;
use super::experiments::Experiment;
use super::machine::Scheduler;

/// Totals of everything that is not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Experiments whose games are handed out.
    pub running: u64,
    /// Paused experiments.
    pub paused: u64,
    /// Games of running experiments that could be leased now and are not, by their needs. No count is 0.
    pub waiting_games: BTreeMap<Need, u64>,
    /// Games in live leases, of running and paused experiments.
    pub leased_games: u64,
    /// Live leases.
    pub leases: u64,
}

/// Needs of a game, in a few classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The worker that the game needs.
    pub worker: NeededWorker,
    /// Whether the game is timed: workers that have exclusive slots play it there.
    pub timed: bool,
    /// The memory that the game may take.
    pub memory: NeededMemory,
}

/// The rarest demand of a game on its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeededWorker {
    /// None: every worker can play it.
    Any,
    /// A speed, a steady speed or a CPU quota.
    Speed,
    /// Labels.
    Labels,
    /// External engines.
    Engines,
}

impl NeededWorker {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::Any, Self::Speed, Self::Labels, Self::Engines];

    /// The name, for metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Speed => "speed",
            Self::Labels => "labels",
            Self::Engines => "engines",
        }
    }
}

/// The memory that a game may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeededMemory {
    /// At most 1 GiB.
    OneGib,
    /// At most 4 GiB.
    FourGib,
    /// At most 16 GiB.
    SixteenGib,
    /// More than that.
    More,
}

impl NeededMemory {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::OneGib, Self::FourGib, Self::SixteenGib, Self::More];

    /// The most memory of the class, for metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneGib => "1GiB",
            Self::FourGib => "4GiB",
            Self::SixteenGib => "16GiB",
            Self::More => "more",
        }
    }

    const fn new(bytes: u64) -> Self {
        match bytes.saturating_sub(1) >> 30 {
            0 => Self::OneGib,
            1..4 => Self::FourGib,
            4..16 => Self::SixteenGib,
            _ => Self::More,
        }
    }
}

impl Need {
    /// The needs of a cell's games.
    pub(super) fn new(cell: &Cell) -> Self {
        let worker = match cell.demands().map(AsRef::as_ref) {
            Some(Demands { engines, .. }) if !engines.is_empty() => NeededWorker::Engines,
            Some(Demands { require, .. }) if !require.is_empty() => NeededWorker::Labels,
            Some(demands) if bounds_machine(demands) => NeededWorker::Speed,
            Some(_) | None => NeededWorker::Any,
        };
        Self { worker, timed: cell.is_timed(), memory: NeededMemory::new(cell.memory_bytes()) }
    }
}

/// Whether a sweep bounds the speed of machines, or their CPU quota: a default bound of the latter does not count.
fn bounds_machine(demands: &Demands) -> bool {
    demands.speed.is_some() || demands.quota.is_some_and(|quota| quota.is_said)
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
        let mut leased = 0;
        for experiment in self.experiments.values().filter(|experiment| !experiment.is_over()) {
            leased += experiment.leased;
            match experiment.state {
                ExperimentState::Running => {
                    counts.running += 1;
                    let waiting = experiment.waiting.iter().map(|(&need, &games)| (need, games));
                    for (need, games) in within_room(experiment, waiting) {
                        *counts.waiting_games.entry(need).or_default() += games;
                    }
                }
                ExperimentState::Paused
                | ExperimentState::Cancelled
                | ExperimentState::Finished => counts.paused += 1,
            }
        }
        counts.leased_games = u64::try_from(leased).unwrap_or(u64::MAX);
        counts
    }

    /// Games of running experiments that could be leased now and are not, by their demands, in the order of
    /// these. Takes time with the number of cells.
    #[must_use]
    pub fn queued(&self) -> Vec<Queued> {
        let mut queued: BTreeMap<_, u64> = BTreeMap::new();
        for (_, experiment) in self.with_waiting() {
            let cells = experiment.cells.iter().filter_map(|cell| self.cells.get(cell));
            let waiting = cells.map(|cell| {
                let needs = (cell.demands().cloned(), cell.is_timed(), cell.memory_bytes());
                (needs, u128::from(cell.waiting_count()))
            });
            for (needs, games) in within_room(experiment, waiting) {
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

/// The waiting games that may be leased at the same time as those that are: the first ones.
fn within_room<N>(
    experiment: &Experiment,
    waiting: impl Iterator<Item = (N, u128)>,
) -> impl Iterator<Item = (N, u64)> {
    let mut room = experiment.room();
    waiting.filter_map(move |(need, games)| {
        let games = games.min(room);
        room -= games;
        (games > 0).then(|| (need, u64::try_from(games).unwrap_or(u64::MAX)))
    })
}
