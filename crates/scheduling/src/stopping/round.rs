//! Players that repeat themselves: once their openings recur, so do their games, and a repeated game adds no
//! information.

use std::collections::BTreeMap;

use super::settled::Settled;

/// Number of units (pairs of games, or games where sides are fixed) after the first round that are compared
/// with their possible originals.
pub const LOOKS: u64 = 8;

/// The first round of a cell's openings, if its players are assumed to replay a game whose opening recurs.
///
/// The cell plays that round, and [`LOOKS`] units more. If each of these games equals its possible original,
/// move for move, the cell ends with the round. If one of them differs, its players do not repeat themselves,
/// and the cell goes on. A finally failed game differs from nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    units: u64,
    /// Hashes of the moves of the first games, by number.
    first: BTreeMap<u64, u64>,
}

/// The result of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// Not all of the games are settled.
    Open,
    /// Each is a repeat.
    Repeats,
    /// At least one game differs.
    Differs,
}

impl Round {
    /// A round of this many openings; `None` without openings.
    #[must_use]
    pub fn new(openings_count: u64) -> Option<Self> {
        (openings_count > 0).then(|| Self { units: openings_count, first: BTreeMap::new() })
    }

    /// Number of units: one from each opening.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// The end of the compared units.
    pub(super) const fn looked_until(&self) -> u64 {
        self.units.saturating_add(LOOKS)
    }

    /// Records a played game of a cell with this many games in a unit. Only the first ones are kept.
    pub fn note(&mut self, number: u64, games_of_unit: u64, moves_hash: u64) {
        if number < self.units.min(LOOKS).saturating_mul(games_of_unit) {
            self.first.insert(number, moves_hash);
        }
    }

    /// Compares the games that follow.
    pub(super) fn look(&self, games_of_unit: u64, beyond: &BTreeMap<u64, Settled>) -> Looked {
        let games = self.units.saturating_mul(games_of_unit);
        let mut differs = false;
        for number in games..self.looked_until().saturating_mul(games_of_unit) {
            let Some(settled) = beyond.get(&number) else { return Looked::Open };
            let before = self.first.get(&(number % games));
            if let (Settled::Played(_, moves_hash), Some(before)) = (settled, before) {
                differs |= moves_hash != before;
            }
        }
        if differs { Looked::Differs } else { Looked::Repeats }
    }
}
