//! Needs of games on their workers, in classes.

use spelrum_model::demands::Demands;

use super::cells::Cell;

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
pub(super) fn bounds_machine(demands: &Demands) -> bool {
    demands.speed.is_some() || demands.quota.is_some_and(|quota| quota.is_said)
}
