//! Score rates and their intervals, over pairs or single games; strength in Elo.
//!
//! The two games of a pair share an opening, so their results are not independent: the pair is
//! the unit of every variance. Where sides are fixed there are no pairs, each game has an opening of
//! its own, and the unit is the game. Nothing here is ever NaN. An interval decides where a cell ends
//! (`stopping`), so it comes from + - * / sqrt alone (invariant 2).

pub(crate) mod student;

use student::{Z_95, student_quantile};

/// Pairs of a cell by what its first player scored in both games: 0, ½, 1, 1½, 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts(pub [u64; 5]);

/// Games of a cell with fixed sides by what its first player scored: 0, ½, 1 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameCounts(pub [u64; 3]);

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

/// A difference in strength, as match runners report it. Infinite where the counts know no bound:
/// `elo` for a score of 0 or 1, the errors without games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// The mean score per game in 0..=1; 0.5 without games.
    pub score: f64,
    /// Logistic Elo difference.
    pub elo: f64,
    /// Half the width of its 95% interval.
    pub elo_error: f64,
    /// Normalized Elo difference (Van den Bergh 2021): in units of the standard deviation of a
    /// game's score, so that it tells how many games a difference takes to see.
    pub nelo: f64,
    /// Half the width of its 95% interval.
    pub nelo_error: f64,
    /// Likelihood of superiority: how probable it is that the first player is the stronger one.
    pub los: f64,
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
        interval(&self.0.map(|pairs| pairs as f64))
    }

    /// The difference in strength, over pairs.
    #[must_use]
    pub fn strength(&self) -> Strength {
        self.moments().strength(2.0)
    }

    /// How many pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
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
        interval(&self.0.map(|games| games as f64))
    }

    /// The difference in strength, over games.
    #[must_use]
    pub fn strength(&self) -> Strength {
        Moments::of(&self.0.map(|games| games as f64)).strength(1.0)
    }
}

/// The mean of scores 0..=1 in equal steps, given how many units (pairs or games) have each, and its
/// interval. Defined for every input: fewer than two units give 0..1; equal units give an interval of
/// some width that shrinks with their number.
///
/// Wilson's score interval (Wilson 1927) with an effective sample size. A unit's score is not a coin:
/// its variance v is that of a coin of the same mean times some r ≤ 1, so N units are worth N / r
/// tosses (Korn and Graubard 1998 do the same with surveys' design effects). As r must be estimated,
/// half a unit of each extreme score is added first (the prior of Jeffreys; compare Agresti and Coull
/// 1998), which keeps v above zero when all units are equal, and Student's quantile with N - 1 degrees
/// of freedom stands in for the normal one.
fn interval<const CLASSES: usize>(counts: &[f64; CLASSES]) -> ScoreInterval {
    let Moments { count, mean: score, .. } = Moments::of(counts);
    if count < 2.0 {
        return ScoreInterval { score, low: 0.0, high: 1.0 };
    }
    let half_a_unit = 0.5;
    let mut smoothed = *counts;
    for extreme in [0, CLASSES - 1] {
        smoothed[extreme] += half_a_unit;
    }
    let smoothed = Moments::of(&smoothed);
    let ratio = (smoothed.variance / (smoothed.mean * (1.0 - smoothed.mean))).min(1.0);

    let tosses = count / ratio;
    let t = student_quantile(count - 1.0);
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

/// The moments of scores 0..=1 in equal steps.
struct Moments {
    count: f64,
    /// 0.5 of nothing.
    mean: f64,
    /// Dividing by the count; 0 of nothing.
    variance: f64,
}

impl Moments {
    fn of(counts: &[f64]) -> Self {
        let count: f64 = counts.iter().sum();
        if count == 0.0 {
            return Self { count, mean: 0.5, variance: 0.0 };
        }
        let step = 1.0 / (counts.len() - 1) as f64;
        let weighted = || counts.iter().enumerate().map(|(class, &n)| (class as f64 * step, n));
        let mean = weighted().map(|(score, n)| score * n).sum::<f64>() / count;
        let squares = weighted().map(|(score, n)| n * (score - mean) * (score - mean));
        Self { count, mean, variance: squares.sum::<f64>() / count }
    }

    /// `games` is how many games one of the counted scores is the mean of.
    fn strength(&self, games: f64) -> Strength {
        let c = 800.0 / core::f64::consts::LN_10;
        let deviation = self.variance.sqrt();
        let lead = self.mean - 0.5;
        // With no variance any lead is beyond doubt, and a tie is not a lead.
        let per_deviation = |scale: f64| match (deviation > 0.0, lead == 0.0) {
            (_, true) => 0.0,
            (true, false) => lead * scale / deviation,
            (false, false) => lead.signum() * f64::INFINITY,
        };
        let (elo_error, nelo_error) = if self.count == 0.0 {
            (f64::INFINITY, f64::INFINITY)
        } else {
            let margin = Z_95 * deviation / self.count.sqrt();
            let (low, high) = (elo(self.mean - margin), elo(self.mean + margin));
            // All wins or all losses: both bounds are the same infinity.
            let error = if low == high { 0.0 } else { (high - low) / 2.0 };
            let error = if elo(self.mean).is_finite() { error } else { f64::INFINITY };
            (error, Z_95 * c / (games * self.count).sqrt())
        };
        Strength {
            score: self.mean,
            elo: elo(self.mean),
            elo_error,
            nelo: per_deviation(c / games.sqrt()),
            nelo_error,
            los: normal_distribution(per_deviation(self.count.sqrt())),
        }
    }
}

/// The Elo difference of an expected score; infinite from 0 down and from 1 up.
fn elo(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        -400.0 * libm::log10(1.0 / score - 1.0)
    }
}

/// The normal distribution function, also of infinities.
fn normal_distribution(x: f64) -> f64 {
    libm::erfc(-x / core::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests;
