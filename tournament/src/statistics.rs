//! Score rates and their intervals, over pairs or single games; strength in Elo; the sequential test.
//!
//! The two games of a pair share an opening, so their results are not independent: the pair is
//! the unit of every variance. Where sides are fixed there are no pairs, and the unit is the game. Where
//! openings come again the unit is the opening ([`OpeningSpread`]). Nothing here is ever NaN.
//!
//! [`ScoreInterval`] is what reports say: it keeps its promise also for few, equal or lopsided units, and
//! [`Confidence`] is the same statement in other words. [`Strength`] has the figures that match runners print,
//! for comparison with theirs.

mod between_workers;
mod clustered;
mod interval;
mod margins;
mod moments;
mod openings;
mod per_game;
pub(crate) mod ratio;
mod root;
mod sprt;
mod strength;
pub(crate) mod student;
mod two_rates;

pub use between_workers::{BetweenWorkers, WorkerEffect, WorkerSum};
#[cfg(test)]
pub(crate) use clustered::student_quantile_95;
pub use clustered::{Clustered, Interval, OpeningKey, OpeningSum};
pub use interval::{Confidence, ScoreInterval, ScoreTest};
pub use margins::MarginSums;
pub use openings::{OpeningCounts, OpeningSpread};
pub use per_game::{GameTimes, OverGames, PlayerTimeSums, TimeSums};
pub use sprt::{EloModel, SPRT_ELO_MAX, SPRT_ERROR_MAX, Sprt, Verdict};
pub use strength::Strength;
pub(crate) use two_rates::{Stratum, evidence_of_two_rates};

use interval::Wilson;
use moments::Moments;

/// Pairs of a cell by what its first player scored in both games: 0, ½, 1, 1½, 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts(pub [u64; 5]);

/// Games of a cell with fixed sides by what its first player scored: 0, ½, 1 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameCounts(pub [u64; 3]);

impl OpeningSpread {
    /// The interval of a mean score that varies so from opening to opening. With one unit from each opening
    /// it is that of the units.
    #[must_use]
    pub fn interval(&self, score: f64) -> ScoreInterval {
        Wilson::over_openings(score, self).interval()
    }

    /// What the same interval says in Elo, and of who is stronger.
    #[must_use]
    pub fn confidence(&self, score: f64) -> Confidence {
        Wilson::over_openings(score, self).confidence()
    }

    /// Tests of the mean score by the same interval, looked up the other way round.
    #[must_use]
    pub fn test(&self, score: f64) -> ScoreTest {
        ScoreTest::of(Wilson::over_openings(score, self))
    }
}

impl PairCounts {
    /// The mean score of the first player and its interval: Wilson's with an effective
    /// sample size (see the source).
    ///
    /// Coverage, computed exactly: 95% to 100% from 10 pairs on, for even, drawish, all-or-nothing
    /// and lopsided cells; it dips to 90% only where most cells see no exception to their rule at
    /// all. The tests recompute it.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        self.wilson().interval()
    }

    /// What the same interval says in Elo, and of who is stronger.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        self.wilson().confidence()
    }

    /// Tests of the mean score by the same interval, looked up the other way round.
    #[must_use]
    pub fn test(&self) -> ScoreTest {
        ScoreTest::of(self.wilson())
    }

    /// The difference in strength as match runners print it, over pairs.
    #[must_use]
    pub fn strength(&self) -> Strength {
        Strength::of(&self.moments(), 2.0)
    }

    /// What one of these pairs is worth as evidence, at most 1, where openings come again and the pairs from one are
    /// alike: the effective sample size of the interval over openings to that over pairs.
    #[must_use]
    pub fn worth_over(&self, spread: &OpeningSpread) -> f64 {
        self.wilson().worth_over(spread)
    }

    /// How many pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    fn wilson(&self) -> Wilson {
        Wilson::of(&self.0.map(|pairs| pairs as f64))
    }

    fn moments(&self) -> Moments {
        Moments::of(&self.0.map(|pairs| pairs as f64))
    }
}

impl GameCounts {
    /// The mean score of the first player and its interval, as over pairs.
    ///
    /// Coverage, computed exactly by the tests: at least 94% from 20 games on, however drawish.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        self.wilson().interval()
    }

    /// What the same interval says in Elo, and of who is stronger.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        self.wilson().confidence()
    }

    /// Tests of the mean score by the same interval, looked up the other way round.
    #[must_use]
    pub fn test(&self) -> ScoreTest {
        ScoreTest::of(self.wilson())
    }

    /// The difference in strength as match runners print it, over games.
    #[must_use]
    pub fn strength(&self) -> Strength {
        Strength::of(&Moments::of(&self.0.map(|games| games as f64)), 1.0)
    }

    /// What one of these games is worth where openings come again, as of pairs.
    #[must_use]
    pub fn worth_over(&self, spread: &OpeningSpread) -> f64 {
        self.wilson().worth_over(spread)
    }

    /// How many games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.0.iter().sum()
    }

    fn wilson(&self) -> Wilson {
        Wilson::of(&self.0.map(|games| games as f64))
    }
}

/// The Elo difference of an expected score; infinite from 0 down and from 1 up.
#[must_use]
pub fn elo_of_score(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        // Adding zero makes the zero of an even score positive.
        -400.0 * libm::log10(1.0 / score - 1.0) + 0.0
    }
}

/// The score that is expected of a difference in Elo.
#[must_use]
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-elo / 400.0))
}

#[cfg(test)]
mod tests;
