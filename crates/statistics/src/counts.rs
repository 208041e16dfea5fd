//! Counts of pairs and of games by score, with their intervals, tests and strengths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::{Confidence, ScoreInterval, ScoreTest, Wilson};
use crate::moments::Moments;
use crate::openings::OpeningSpread;
use crate::strength::Strength;
use crate::time_uniform::ScoreSequence;

/// Pairs of a cell by its first player's score in both games: 0, ½, 1, 1½, 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PairCounts(pub [u64; 5]);

/// Games of a cell with fixed sides by its first player's score: 0, ½, 1 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameCounts(pub [u64; 3]);

impl OpeningSpread {
    /// The interval of a mean score with this variation between openings. With one unit per opening it equals that of
    /// the units.
    #[must_use]
    pub fn interval(&self, score: f64) -> ScoreInterval {
        Wilson::over_openings(score, self).interval()
    }

    /// The same interval in Elo, and the likelihood of superiority.
    #[must_use]
    pub fn confidence(&self, score: f64) -> Confidence {
        Wilson::over_openings(score, self).confidence()
    }

    /// Tests of the mean score by the same interval, inverted.
    #[must_use]
    pub fn test(&self, score: f64) -> ScoreTest {
        ScoreTest::new(Wilson::over_openings(score, self))
    }

    /// The confidence sequence of a mean score with this variation between openings, of which so many are planned.
    #[must_use]
    pub fn sequence(&self, score: f64, planned: f64) -> ScoreSequence {
        ScoreSequence::over_openings(score, self, planned)
    }
}

impl PairCounts {
    /// The mean score of the first player and its interval: Wilson's with an effective sample size (see the source).
    ///
    /// Coverage, computed exactly: 95% to 100% from 10 pairs on, for even, drawish, all-or-nothing and lopsided cells;
    /// it dips to 90% only if most cells see no exception to their rule at all. The tests recompute it.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        self.wilson().interval()
    }

    /// The same interval in Elo, and the likelihood of superiority.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        self.wilson().confidence()
    }

    /// Tests of the mean score by the same interval, inverted.
    #[must_use]
    pub fn test(&self) -> ScoreTest {
        ScoreTest::new(self.wilson())
    }

    /// The confidence sequence of the mean score, where so many pairs are planned.
    #[must_use]
    pub fn sequence(&self, planned: f64) -> ScoreSequence {
        ScoreSequence::from_counts(&self.0.map(|pairs| pairs as f64), planned)
    }

    /// The difference in strength as match runners print it, over pairs.
    #[must_use]
    pub fn strength(&self) -> Strength {
        Strength::from_moments(&self.moments(), 2.0)
    }

    /// The worth of one of these pairs as evidence, at most 1, if openings repeat and the pairs from one are alike: the
    /// effective sample size of the interval over openings, relative to that over pairs.
    #[must_use]
    pub fn worth_over(&self, spread: &OpeningSpread) -> f64 {
        self.wilson().worth_over(spread)
    }

    /// The number of pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    fn wilson(&self) -> Wilson {
        Wilson::from_counts(&self.0.map(|pairs| pairs as f64))
    }

    fn moments(&self) -> Moments {
        Moments::from_counts(&self.0.map(|pairs| pairs as f64))
    }
}

impl GameCounts {
    /// The mean score of the first player and its interval, as over pairs.
    ///
    /// Coverage, computed exactly by the tests: at least 94% from 20 games on, for any share of draws.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        self.wilson().interval()
    }

    /// The same interval in Elo, and the likelihood of superiority.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        self.wilson().confidence()
    }

    /// Tests of the mean score by the same interval, inverted.
    #[must_use]
    pub fn test(&self) -> ScoreTest {
        ScoreTest::new(self.wilson())
    }

    /// The confidence sequence of the mean score, where so many games are planned.
    #[must_use]
    pub fn sequence(&self, planned: f64) -> ScoreSequence {
        ScoreSequence::from_counts(&self.0.map(|games| games as f64), planned)
    }

    /// The difference in strength as match runners print it, over games.
    #[must_use]
    pub fn strength(&self) -> Strength {
        Strength::from_moments(&Moments::from_counts(&self.0.map(|games| games as f64)), 1.0)
    }

    /// The worth of one of these games if openings repeat, as for pairs.
    #[must_use]
    pub fn worth_over(&self, spread: &OpeningSpread) -> f64 {
        self.wilson().worth_over(spread)
    }

    /// The number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.0.iter().sum()
    }

    fn wilson(&self) -> Wilson {
        Wilson::from_counts(&self.0.map(|games| games as f64))
    }
}
