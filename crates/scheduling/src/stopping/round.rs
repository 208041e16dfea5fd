//! Players that repeat themselves: once their openings come again, so do their games, and a repeated game says
//! nothing new.

use std::collections::BTreeMap;

use super::settled::Settled;

/// So many units (pairs of games, or games where sides are fixed) after the first round are compared with those
/// that they may be repeats of.
pub const LOOKS: u64 = 8;

/// The first round of a cell's openings, where its players are taken to repeat a game whose opening comes again.
///
/// The cell plays that round, and [`LOOKS`] units more. If each of these games is the one that it may be a repeat of,
/// move for move, the cell ends with the round. If one of them differs, its players do not repeat themselves, and the
/// cell goes on. A game that finally failed differs from nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    units: u64,
    /// By number, the hashes of the moves of the first games.
    first: BTreeMap<u64, u64>,
}

/// What came of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// Not all of the games are settled.
    Open,
    /// Each is a repeat.
    Repeats,
    /// At least one is another game.
    Differs,
}

impl Round {
    /// A round of so many openings; none of no opening.
    #[must_use]
    pub fn new(openings_count: u64) -> Option<Self> {
        (openings_count > 0).then(|| Self { units: openings_count, first: BTreeMap::new() })
    }

    /// How many units it has: one from each opening.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// The unit up to which the first look goes.
    pub(super) const fn looked_until(&self) -> u64 {
        self.units.saturating_add(LOOKS)
    }

    /// Takes a played game of a cell whose units have so many games. Only the first ones are kept.
    pub fn note(&mut self, number: u64, games_of_unit: u64, moves_hash: u64) {
        if number < self.units.min(LOOKS).saturating_mul(games_of_unit) {
            self.first.insert(number, moves_hash);
        }
    }

    /// Looks at the games that follow.
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
