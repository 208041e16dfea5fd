//! The size and contents of a lease.
//!
//! A lease aims at a few seconds of work for its worker's slots: long enough that leasing costs nothing
//! beside playing, short enough that a lost lease loses little. A game is assumed to take the moving average
//! of its cell's measured wall times; without measurements the experiment's average is used, and the batch
//! stays so small until the cell's own games come in that it is not too long even if they take hundreds of times as long.
//!
//! Towards the end of an experiment a lease is at most half of its worker's share of the remaining work
//! (guided self-scheduling, Polychronopoulos & Kuck 1987), so that the batches shrink and the workers finish
//! together.
//!
//! Where several workers are there, a lease holds at most half of a worker's share of a timed cell's pairs
//! (`allocation`): the measurements then come from several machines. Pairs are never parted, here or
//! anywhere: the same worker plays both games, unless one of the two was lost or has failed.
//!
//! A timed game on a quiet (exclusive) slot keeps the other slots idle, and counts as their work, too.
//!
//! Cells are served in the order of the grid, the first to its end before the second: users see cells become
//! complete one after another, instead of all at the very end. If the experiment's
//! [`Allocation`](spelrum_model::Allocation) asks for it, the least known cells come first, each with a share
//! of the lease.

use spelrum_model::{CellId, GameRange};

use super::cells::Cell;
use super::policy::Policy;
use super::ranges::whole_pairs;

/// Assumed time of a game without any measurement.
const GAME_US_UNKNOWN: u64 = 1_000;

/// Minimum number of games of unmeasured cells in a lease, even for a small worker: a sweep of many cells
/// with few games each would otherwise need a lease for every pair.
const UNMEASURED_GAMES_MIN: u64 = 32;

/// How many times the experiment's average a game of an unmeasured cell may take before a lease of them is too long,
/// for a worker that is alone, and for one of several, whose long lease would leave the others without work. Where games
/// take microseconds, a lease has as many as would fit then, and not a few milliseconds of work.
const UNMEASURED_LENGTH_MAX: [u128; 2] = [200, 1_000];

/// Work left to lease in an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Work in cells with a measured time.
    pub(super) measured_us: u128,
    /// Games in cells without one.
    pub(super) unmeasured_games: u128,
}

impl Load {
    /// Work left to lease in one cell.
    pub(super) fn new(cell: &Cell) -> Self {
        if !cell.has_games() {
            return Self::default();
        }
        let games = u128::from(cell.available_count());
        match cell.game_us() {
            Some(game_us) => Self { measured_us: games * u128::from(game_us), ..Self::default() },
            None => Self { unmeasured_games: games, ..Self::default() },
        }
    }
}

/// Room left in a lease.
#[derive(Clone, Debug)]
pub(super) struct LeaseRoom {
    work_us: u128,
    games: u64,
    ranges: usize,
    unmeasured_games: u64,
    /// Assumed time of a game in an unmeasured cell, if known.
    experiment_game_us: Option<u64>,
    /// All slots, and those for timed games.
    slots: u64,
    timed_slots: u64,
}

/// The games of a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// The games.
    pub(super) ranges: Vec<GameRange>,
    /// Their estimated work.
    pub(super) work_us: u128,
}

impl LeaseRoom {
    /// Room for a worker with `slots` of the `all_slots` at work, in an experiment with this load and average
    /// game.
    pub(super) fn new(
        policy: &Policy,
        slots: u64,
        all_slots: u64,
        load: Load,
        experiment_game_us: Option<u64>,
    ) -> Self {
        let batch_us = u128::from(slots) * u128::from(policy.batch_ms) * 1_000;
        let work_us = match experiment_game_us {
            None => batch_us,
            Some(game_us) => {
                let left_us = load.measured_us + load.unmeasured_games * u128::from(game_us);
                batch_us.min(left_us * u128::from(slots) / (2 * u128::from(all_slots)))
            }
        };
        let pair_per_slot = 2 * slots;
        Self {
            work_us,
            games: policy.games_per_lease_max.max(2),
            ranges: policy.ranges_per_lease_max.max(1),
            unmeasured_games: match experiment_game_us {
                None => pair_per_slot,
                Some(game_us) => {
                    let times = UNMEASURED_LENGTH_MAX[usize::from(slots < all_slots)];
                    let longest_us = u128::from(game_us.max(1)) * times;
                    let short = u64::try_from(batch_us / longest_us).unwrap_or(u64::MAX);
                    pair_per_slot.max(UNMEASURED_GAMES_MIN).max(short)
                }
            },
            experiment_game_us,
            slots,
            timed_slots: slots,
        }
    }

    /// Sets the number of slots for timed games; 0 is all.
    pub(super) const fn with_quiet_slots(mut self, quiet_slots: u64) -> Self {
        if quiet_slots > 0 {
            self.timed_slots = quiet_slots;
        }
        self
    }

    /// Caps the number of games.
    pub(super) fn with_games_max(mut self, games_max: Option<u64>) -> Self {
        self.games = self.games.min(games_max.unwrap_or(u64::MAX)).max(2);
        self
    }

    /// Work that a game of this length displaces.
    const fn kept_us(&self, cell: &Cell, game_us: u64) -> u64 {
        if cell.is_timed() {
            game_us.saturating_mul(self.slots) / self.timed_slots
        } else {
            game_us
        }
    }

    /// Takes games of the cells in their order, from each no more than its share, until a budget is used up;
    /// at least a pair, or the single remaining game of one.
    pub(super) fn fill<'c>(
        mut self,
        cells: impl Iterator<Item = (CellId, &'c Cell, u64)>,
    ) -> Batch {
        let mut batch = Batch::default();
        for (id, cell, mut share) in cells {
            for available in cell.available() {
                let affordable = self.affordable(cell);
                let games_max =
                    if batch.ranges.is_empty() { affordable.max(2) } else { affordable };
                if games_max < 2 || self.ranges == 0 {
                    return batch;
                }
                if share < 2 {
                    break;
                }
                let range = whole_pairs(&available, games_max.min(share));
                let count = range.end - range.start;
                batch.work_us += self.spend(cell, count);
                batch.ranges.push(GameRange { cell: id, first: range.start, count });
                share -= count;
                if range.end < available.end && share >= 2 {
                    return batch;
                }
            }
        }
        batch
    }

    /// Number of the cell's games that fit.
    fn affordable(&self, cell: &Cell) -> u64 {
        let unmeasured = match cell.game_us() {
            Some(_) => u64::MAX,
            None if cell.is_timed() => self.unmeasured_games.min(2 * self.timed_slots),
            None => self.unmeasured_games,
        };
        let in_time = cell.game_us().or(self.experiment_game_us).map_or(u64::MAX, |game_us| {
            let game_us = self.kept_us(cell, game_us);
            u64::try_from(self.work_us / u128::from(game_us)).unwrap_or(u64::MAX)
        });
        self.games.min(unmeasured).min(in_time)
    }

    /// Uses up room for games, and returns their estimated work.
    fn spend(&mut self, cell: &Cell, games: u64) -> u128 {
        let game_us = cell.game_us().or(self.experiment_game_us).unwrap_or(GAME_US_UNKNOWN);
        let game_us = self.kept_us(cell, game_us);
        let work_us = u128::from(games) * u128::from(game_us);
        self.work_us = self.work_us.saturating_sub(work_us);
        self.games -= games.min(self.games);
        self.ranges -= 1;
        if cell.game_us().is_none() {
            self.unmeasured_games -= games.min(self.unmeasured_games);
        }
        work_us
    }
}
