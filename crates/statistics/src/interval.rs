//! The interval of a score, and its equivalents in Elo and probability.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::function::beta::checked_beta_reg;

use crate::elo::elo_of_score;
use crate::moments::Moments;
use crate::openings::OpeningSpread;
use crate::strength::normal_distribution;
use crate::student::student_quantile;

/// A mean score per game in 0..=1 with a 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreInterval {
    /// The mean score; 0.5 without games.
    pub score: f64,
    /// Lower bound, at least 0.
    pub low: f64,
    /// Upper bound, at most 1.
    pub high: f64,
}

/// The meaning of a [`ScoreInterval`] for strength. Infinite if the counts imply no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// The score as a difference in Elo.
    pub elo: f64,
    /// The interval's lower bound in Elo.
    pub elo_low: f64,
    /// Its upper bound in Elo.
    pub elo_high: f64,
    /// Likelihood of superiority: above 97.5% exactly if the interval is above one half, and likewise at every other
    /// level. One half without an interval.
    pub los: f64,
}

impl ScoreInterval {
    /// The bounds in Elo.
    #[must_use]
    pub fn elo(&self) -> [f64; 2] {
        [elo_of_score(self.low), elo_of_score(self.high)]
    }

    /// The interval of the other player.
    #[must_use]
    pub fn seen_by_opponent(&self) -> Self {
        Self { score: 1.0 - self.score, low: 1.0 - self.high, high: 1.0 - self.low }
    }
}

/// Tests of whether a mean score is above or below a bound, and its interval at any level: the inverse of a
/// [`ScoreInterval`].
#[derive(Clone, Copy, Debug)]
pub struct ScoreTest(Wilson);

impl ScoreTest {
    pub(super) const fn new(wilson: Wilson) -> Self {
        Self(wilson)
    }

    /// The one-sided p-value of a score above the bound, which is more than 0 and less than 1: at most α exactly if the
    /// interval with an error of α on each side is above the bound. 1 with too few units.
    #[must_use]
    pub fn p_value_above(&self, bound: f64) -> f64 {
        self.0.lead_over(bound).map_or(1.0, |(lead, freedom)| student_distribution(-lead, freedom))
    }

    /// The one-sided p-value of a score below the bound.
    #[must_use]
    pub fn p_value_below(&self, bound: f64) -> f64 {
        self.0.lead_over(bound).map_or(1.0, |(lead, freedom)| student_distribution(lead, freedom))
    }

    /// The interval with this error, more than 0 and less than 1, half of it on either side.
    #[must_use]
    pub fn interval(&self, error: f64) -> ScoreInterval {
        self.0.interval_at(|freedom| student_upper_quantile(error / 2.0, freedom))
    }
}

/// Wilson's score interval (Wilson 1927) with an effective sample size. An interval decides where a cell ends
/// (`stopping`), so it uses only + - * / sqrt (invariant 2).
///
/// A unit's score is not a coin: its variance v is that of a coin of the same mean times some r ≤ 1, so N units are
/// worth N / r tosses (Korn and Graubard 1998 do the same with surveys' design effects). As r must be estimated, half a
/// unit of each extreme score is added first (the prior of Jeffreys; compare Agresti and Coull 1998), which keeps v
/// above zero when all units are equal, and Student's quantile with N - 1 degrees of freedom replaces the normal one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wilson {
    score: f64,
    /// The equivalent number of coin tosses.
    tosses: f64,
    /// The number of units minus one, rounded down; `None` for fewer than two units, which give no information.
    freedom: Option<f64>,
}

/// The weight added to each extreme score, for the variance only.
const HALF_A_UNIT: f64 = 0.5;

impl Wilson {
    /// From the number of units (pairs or games) with each score from 0 to 1 in equal steps.
    pub(super) fn from_counts<const CLASSES: usize>(counts: &[f64; CLASSES]) -> Self {
        let Moments { count, mean: score, .. } = Moments::from_counts(counts);
        if count < 2.0 {
            return Self { score, tosses: count, freedom: None };
        }
        let mut smoothed = *counts;
        for extreme in [0, CLASSES - 1] {
            smoothed[extreme] += HALF_A_UNIT;
        }
        let Moments { mean, variance, .. } = Moments::from_counts(&smoothed);
        Self::smoothed(score, count, mean, variance)
    }

    /// From openings, each weighted by its units. Openings have unequal weights, but together count as their effective
    /// number; so half an opening of each extreme is added.
    pub(super) fn over_openings(score: f64, spread: &OpeningSpread) -> Self {
        let OpeningSpread { effective: count, variance } = *spread;
        if count < 2.0 {
            return Self { score, tosses: count, freedom: None };
        }
        let all = count + 2.0 * HALF_A_UNIT;
        let mean = (count * score + HALF_A_UNIT) / all;
        let moved = (score - mean) * (score - mean);
        let extremes = HALF_A_UNIT * (mean * mean + (1.0 - mean) * (1.0 - mean));
        let variance = (count * (variance + moved) + extremes) / all;
        Self::smoothed(score, count, mean, variance)
    }

    /// From the number of units, and their mean and variance including the two halves.
    fn smoothed(score: f64, count: f64, mean: f64, variance: f64) -> Self {
        let ratio = (variance / (mean * (1.0 - mean))).min(1.0);
        // The effective number of openings is fractional if they are not played equally often: rounded down, so that
        // the quantile is never too small.
        Self { score, tosses: count / ratio, freedom: Some((count - 1.0).floor()) }
    }

    /// The mean score.
    pub(super) const fn score(&self) -> f64 {
        self.score
    }

    /// The same evidence about another score.
    pub(super) const fn with_score(self, score: f64) -> Self {
        Self { score, ..self }
    }

    /// The equivalent number of coin tosses.
    pub(super) const fn tosses(&self) -> f64 {
        self.tosses
    }

    /// The degrees of freedom; `None` for fewer than two units.
    pub(super) const fn freedom(&self) -> Option<f64> {
        self.freedom
    }

    /// The share of these units' evidence that remains over openings of this spread.
    pub(super) fn worth_over(&self, spread: &OpeningSpread) -> f64 {
        let over_openings = Self::over_openings(self.score, spread);
        if self.tosses > 0.0 { (over_openings.tosses / self.tosses).min(1.0) } else { 1.0 }
    }

    /// Defined for every input: fewer than two units give 0..1; equal units give an interval of
    /// some width that shrinks with their number.
    pub(super) fn interval(&self) -> ScoreInterval {
        self.interval_at(student_quantile)
    }

    /// The interval with this quantile of Student's distribution, by its degrees of freedom.
    fn interval_at(&self, quantile: impl Fn(f64) -> f64) -> ScoreInterval {
        let Self { score, tosses, freedom } = *self;
        let Some(freedom) = freedom else {
            return ScoreInterval { score, low: 0.0, high: 1.0 };
        };
        let t = quantile(freedom);
        let t2 = t * t / tosses;
        let centre = (score + t2 / 2.0) / (1.0 + t2);
        let spread = score * (1.0 - score) / tosses + t2 / (4.0 * tosses);
        let half_width = t * spread.sqrt() / (1.0 + t2);
        // The bounds contain the score in theory; this only catches rounding and invalid scores.
        ScoreInterval {
            score,
            low: (centre - half_width).max(0.0).min(score),
            high: (centre + half_width).min(1.0).max(score),
        }
    }

    /// The score's lead over the bound, in standard deviations of the mean of `tosses` tosses of a coin with the bound
    /// as its mean, and the degrees of freedom: Wilson's interval contains the bound as long as the lead is within t.
    fn lead_over(&self, bound: f64) -> Option<(f64, f64)> {
        let deviation = (bound * (1.0 - bound) / self.tosses).sqrt();
        self.freedom.map(|freedom| ((self.score - bound) / deviation, freedom))
    }

    pub(super) fn confidence(&self) -> Confidence {
        let [elo_low, elo_high] = self.interval().elo();
        // The same t, inverted.
        let los = self.freedom.map_or(0.5, |freedom| {
            student_distribution(2.0 * (self.score - 0.5) * self.tosses.sqrt(), freedom)
        });
        Confidence { elo: elo_of_score(self.score), elo_low, elo_high, los }
    }
}

/// The t that Student's distribution exceeds with this probability, at most one half: by bisection, since the inverted
/// function is the one behind p-values.
pub(crate) fn student_upper_quantile(probability: f64, freedom: f64) -> f64 {
    let exceeds = |t: f64| student_distribution(-t, freedom) > probability;
    let mut high = 1.0;
    while exceeds(high) && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Until no number lies between.
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if exceeds(middle) { low = middle } else { high = middle }
    }
}

pub(crate) fn student_distribution(t: f64, freedom: f64) -> f64 {
    if freedom > 1e5 {
        // Abramowitz and Stegun (1964, 26.7.8): accurate to 1e-9 here, while the beta function loses digits.
        let z = t * (1.0 - 1.0 / (4.0 * freedom)) / (1.0 + t * t / (2.0 * freedom)).sqrt();
        return normal_distribution(z);
    }
    let tail = checked_beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    // These arguments always give a value.
    let tail = tail.unwrap_or(1.0) / 2.0;
    if t > 0.0 { 1.0 - tail } else { tail }
}
