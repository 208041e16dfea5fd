//! The interval of a score, and what it says in other words.

use statrs::function::beta::checked_beta_reg;

use super::elo_of_score;
use super::moments::Moments;
use super::strength::normal_distribution;
use super::student::student_quantile;

/// A mean score per game in 0..=1 with a 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreInterval {
    /// The mean score; 0.5 without games.
    pub score: f64,
    /// Lower bound, at least 0.
    pub low: f64,
    /// Upper bound, at most 1.
    pub high: f64,
}

/// What a [`ScoreInterval`] says of strength. Infinite where the counts know no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// The score as a difference in Elo.
    pub elo: f64,
    /// The interval's lower bound in Elo.
    pub elo_low: f64,
    /// Its upper bound in Elo.
    pub elo_high: f64,
    /// Likelihood of superiority: above 97.5% exactly where the interval is above one half, and so at
    /// every other level. One half where there is no interval.
    pub los: f64,
}

impl ScoreInterval {
    /// Its bounds in Elo.
    #[must_use]
    pub fn elo(&self) -> [f64; 2] {
        [elo_of_score(self.low), elo_of_score(self.high)]
    }
}

/// Wilson's score interval (Wilson 1927) with an effective sample size. An interval decides where a cell
/// ends (`stopping`), so it comes from + - * / sqrt alone (invariant 2).
///
/// A unit's score is not a coin:
/// its variance v is that of a coin of the same mean times some r ≤ 1, so N units are worth N / r
/// tosses (Korn and Graubard 1998 do the same with surveys' design effects). As r must be estimated,
/// half a unit of each extreme score is added first (the prior of Jeffreys; compare Agresti and Coull
/// 1998), which keeps v above zero when all units are equal, and Student's quantile with N - 1 degrees
/// of freedom stands in for the normal one.
pub(super) struct Wilson {
    score: f64,
    /// How many tosses of a coin the units are worth.
    tosses: f64,
    /// The units but one; none of less than two, which say nothing.
    freedom: Option<f64>,
}

impl Wilson {
    /// Of scores 0..=1 in equal steps, given how many units (pairs or games) have each.
    pub(super) fn of<const CLASSES: usize>(counts: &[f64; CLASSES]) -> Self {
        let Moments { count, mean: score, .. } = Moments::of(counts);
        if count < 2.0 {
            return Self { score, tosses: count, freedom: None };
        }
        let half_a_unit = 0.5;
        let mut smoothed = *counts;
        for extreme in [0, CLASSES - 1] {
            smoothed[extreme] += half_a_unit;
        }
        let smoothed = Moments::of(&smoothed);
        let ratio = (smoothed.variance / (smoothed.mean * (1.0 - smoothed.mean))).min(1.0);
        Self { score, tosses: count / ratio, freedom: Some(count - 1.0) }
    }

    /// Defined for every input: fewer than two units give 0..1; equal units give an interval of
    /// some width that shrinks with their number.
    pub(super) fn interval(&self) -> ScoreInterval {
        let Self { score, tosses, freedom } = *self;
        let Some(freedom) = freedom else {
            return ScoreInterval { score, low: 0.0, high: 1.0 };
        };
        let t = student_quantile(freedom);
        let t2 = t * t / tosses;
        let centre = (score + t2 / 2.0) / (1.0 + t2);
        let spread = score * (1.0 - score) / tosses + t2 / (4.0 * tosses);
        let half_width = t * spread.sqrt() / (1.0 + t2);
        // The bounds hold the score by theory; the clamps only catch rounding.
        ScoreInterval {
            score,
            low: (centre - half_width).clamp(0.0, score),
            high: (centre + half_width).clamp(score, 1.0),
        }
    }

    pub(super) fn confidence(&self) -> Confidence {
        let [elo_low, elo_high] = self.interval().elo();
        // Wilson's interval holds one half as long as the score is no further from it than t standard
        // deviations of a coin: the same t, looked up the other way round.
        let los = self.freedom.map_or(0.5, |freedom| {
            student_distribution(2.0 * (self.score - 0.5) * self.tosses.sqrt(), freedom)
        });
        Confidence { elo: elo_of_score(self.score), elo_low, elo_high, los }
    }
}

/// Student's t distribution function.
fn student_distribution(t: f64, freedom: f64) -> f64 {
    if freedom > 1e5 {
        // Abramowitz and Stegun (1964, 26.7.8): here right to 1e-9, while the beta function loses its digits.
        let z = t * (1.0 - 1.0 / (4.0 * freedom)) / (1.0 + t * t / (2.0 * freedom)).sqrt();
        return normal_distribution(z);
    }
    let tail = checked_beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    // Of these arguments it always has a value.
    let tail = tail.unwrap_or(1.0) / 2.0;
    if t > 0.0 { 1.0 - tail } else { tail }
}
