//! Results of units, counted.

use crate::statistics::{Confidence, GameCounts, PairCounts, ScoreInterval, Sprt, Strength};

/// How many units have each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// Of a cell whose players swap sides: the unit is the pair.
    Pairs(PairCounts),
    /// Of one with fixed sides: the unit is the game.
    Games(GameCounts),
}

impl Tally {
    /// Of nothing.
    #[must_use]
    pub fn new(swap_sides: bool) -> Self {
        if swap_sides {
            Self::Pairs(PairCounts::default())
        } else {
            Self::Games(GameCounts::default())
        }
    }

    /// How many games a unit has.
    #[must_use]
    pub const fn games_of_unit(&self) -> u64 {
        match self {
            Self::Pairs(_) => 2,
            Self::Games(_) => 1,
        }
    }

    /// How many units.
    #[must_use]
    pub fn units(&self) -> u64 {
        match self {
            Self::Pairs(pairs) => pairs.pairs(),
            Self::Games(games) => games.games(),
        }
    }

    /// Counts a unit in which the cell's first player got so many half points.
    ///
    /// # Panics
    /// If that is more than the unit's games have.
    pub fn add(&mut self, half_points: usize) {
        self.counts()[half_points] += 1;
    }

    /// Takes a unit away again.
    ///
    /// # Panics
    /// As [`Tally::add`], or if there is none.
    pub fn remove(&mut self, half_points: usize) {
        self.counts()[half_points] -= 1;
    }

    /// The mean score of the first player and its interval.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        match self {
            Self::Pairs(pairs) => pairs.interval(),
            Self::Games(games) => games.interval(),
        }
    }

    /// What the interval says of strength.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        match self {
            Self::Pairs(pairs) => pairs.confidence(),
            Self::Games(games) => games.confidence(),
        }
    }

    /// The difference in strength as match runners print it.
    #[must_use]
    pub fn strength(&self) -> Strength {
        match self {
            Self::Pairs(pairs) => pairs.strength(),
            Self::Games(games) => games.strength(),
        }
    }

    /// The logarithm of a sequential test's likelihood ratio.
    #[must_use]
    pub fn llr(&self, sprt: &Sprt) -> f64 {
        match self {
            Self::Pairs(pairs) => sprt.llr_of_pairs(pairs),
            Self::Games(games) => sprt.llr_of_games(games),
        }
    }

    fn counts(&mut self) -> &mut [u64] {
        match self {
            Self::Pairs(pairs) => &mut pairs.0,
            Self::Games(games) => &mut games.0,
        }
    }
}
