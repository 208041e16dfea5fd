//! What the writer remembers between transactions.

use std::collections::HashMap;
use std::sync::Arc;

use spelrum_engine::MoveRecord;
use spelrum_model::OpeningsRule;
use spelrum_model::disturbance::TimedCell;

use crate::write::removal_walk::{ExclusionWalk, Walk};

/// What the writer keeps in memory between transactions, because it never changes once it is
/// committed, unless a removal says so. Everything in it can be read again.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// Whether the transaction that filled it was committed.
    pub(crate) committed: bool,
    /// By cell.
    pub(crate) cells: HashMap<i64, Arc<CellInfo>>,
    /// Opening ids by game and position.
    pub(crate) openings: HashMap<(String, String), i64>,
    /// The removal at work.
    pub(crate) removal: Option<Walk>,
    /// The exclusion at work.
    pub(crate) exclusion: Option<ExclusionWalk>,
}

impl Cache {
    /// Each map is emptied when it would grow beyond this (invariant 9).
    pub(crate) const ENTRIES_MAX: usize = 50_000;
}

/// What never changes of a cell, or tells the cache when it does.
#[derive(Clone, Debug)]
pub(crate) struct CellInfo {
    pub(crate) experiment: i64,
    pub(crate) game: String,
    /// The first player, who moves first in even numbers, or in all if sides are fixed, and the second.
    pub(crate) players: [i64; 2],
    /// Whether its players swap sides in odd numbers, so that its games come in pairs.
    pub(crate) swap_sides: bool,
    /// After how many openings the first comes again.
    pub(crate) openings_count: Option<i64>,
    pub(crate) record_moves: bool,
    /// If its numbers are choices: what their positions are valued by.
    pub(crate) valued_by: Option<ValuedBy>,
    /// Where its stop rule ends it.
    pub(crate) stop_number: Option<i64>,
    /// How its games are looked at, if they are timed.
    pub(crate) timed: Option<TimedCell>,
}

/// What the values of positions are told apart by, beside the position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValuedBy {
    pub(crate) conditions: i64,
    pub(crate) reference: i64,
    pub(crate) positions: OpeningsRule,
}

impl CellInfo {
    /// Whether the game counts, if it was played: it is not beyond the cell's end (invariant 7).
    pub(crate) fn counts(&self, number: i64) -> bool {
        self.stop_number.is_none_or(|stop| number < stop)
    }

    /// The players in the order in which they move in the game with this number.
    pub(crate) fn movers(&self, number: i64) -> [i64; 2] {
        let [first, second] = self.players;
        if self.first_player_moves_first(number) { [first, second] } else { [second, first] }
    }

    /// Of a timed game: the share of its time of which a player was robbed, and whether that disturbed it.
    pub(crate) fn disturbance(&self, number: i64, moves: &[MoveRecord]) -> Option<(f64, bool)> {
        let share = self.timed?.robbed_share(number.unsigned_abs(), moves)?;
        Some((share, self.timed?.disturbs(share)))
    }

    /// Whether the first player moves first in the game with this number.
    pub(crate) fn first_player_moves_first(&self, number: i64) -> bool {
        !self.swap_sides || number % 2 == 0
    }
}
