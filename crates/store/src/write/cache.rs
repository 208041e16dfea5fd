//! The writer's memory between transactions.

use std::collections::HashMap;
use std::sync::Arc;

use spelrum_engine::{ClockRule, MoveRecord};
use spelrum_model::OpeningsRule;
use spelrum_model::disturbance::TimedCell;

use crate::write::removal_walk::{ExclusionWalk, Walk};

/// Facts that the writer caches between transactions because they never change once committed, except by a removal.
/// All of them can be read again.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// Whether the transaction that filled the cache was committed.
    pub(crate) committed: bool,
    /// By cell.
    pub(crate) cells: HashMap<i64, Arc<CellInfo>>,
    /// Opening ids by game and position.
    pub(crate) openings: HashMap<(String, String), i64>,
    /// The removal in progress.
    pub(crate) removal: Option<Walk>,
    /// The exclusion in progress.
    pub(crate) exclusion: Option<ExclusionWalk>,
}

impl Cache {
    /// Each map is emptied when it would grow beyond this (invariant 9).
    pub(crate) const ENTRIES_MAX: usize = 50_000;
}

/// Facts of a cell that never change, or whose changes update the cache.
#[derive(Clone, Debug)]
pub(crate) struct CellInfo {
    pub(crate) experiment: i64,
    pub(crate) game: String,
    /// The first player, which moves first in even numbers (in all if sides are fixed), and the second.
    pub(crate) players: [i64; 2],
    /// Whether the players swap sides in odd numbers, so that games come in pairs.
    pub(crate) swap_sides: bool,
    /// The number of openings after which the first one repeats.
    pub(crate) openings_count: Option<i64>,
    pub(crate) record_moves: bool,
    /// If details of each move's search are recorded: the players' clocks, in the order of `players`.
    pub(crate) detailed: Option<[Option<ClockRule>; 2]>,
    /// If the cell's numbers are choices: how their positions are valued.
    pub(crate) valued_by: Option<ValuedBy>,
    /// Where the stop rule ends the cell.
    pub(crate) stop_number: Option<i64>,
    /// How games are checked for disturbance, if they are timed.
    pub(crate) timed: Option<TimedCell>,
}

/// Key of the values of positions, beside the position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValuedBy {
    pub(crate) conditions: i64,
    pub(crate) reference: i64,
    pub(crate) positions: OpeningsRule,
}

impl CellInfo {
    /// Whether the game counts once played: it is not beyond the cell's end (invariant 7).
    pub(crate) fn counts(&self, number: i64) -> bool {
        self.stop_number.is_none_or(|stop| number < stop)
    }

    /// The players in the order in which they move in the game with this number.
    pub(crate) fn movers(&self, number: i64) -> [i64; 2] {
        let [first, second] = self.players;
        if self.first_player_moves_first(number) { [first, second] } else { [second, first] }
    }

    /// If details are recorded: the clocks of the players in the order in which they move in the game with this number.
    pub(crate) fn detailed_clocks(&self, number: i64) -> Option<[Option<ClockRule>; 2]> {
        let [first, second] = self.detailed?;
        Some(if self.first_player_moves_first(number) { [first, second] } else { [second, first] })
    }

    /// For a timed game: the share of a player's time lost to other processes, and whether that disturbed the game.
    pub(crate) fn disturbance(&self, number: i64, moves: &[MoveRecord]) -> Option<(f64, bool)> {
        let share = self.timed?.robbed_share(number.unsigned_abs(), moves)?;
        Some((share, self.timed?.disturbs(share)))
    }

    /// Whether the first player moves first in the game with this number.
    pub(crate) fn first_player_moves_first(&self, number: i64) -> bool {
        !self.swap_sides || number % 2 == 0
    }
}
