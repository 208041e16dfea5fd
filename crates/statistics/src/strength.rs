//! Strength as match runners print it, with the observed variance taken as the true one.

use core::f64::consts::{LN_10, SQRT_2};

use crate::elo::elo_of_score;
use crate::moments::Moments;
use crate::student::Z_95;

/// A difference in strength, as match runners report it. Infinite if the counts imply no bound: `elo` for a score of 0
/// or 1, the errors without games.
///
/// The errors and the likelihood take the observed variance as the true one, and assume a normal distribution of the
/// mean. With few or lopsided units they are overconfident: between equals the likelihood is beyond 97.5% or 2.5% in
/// 18% of all matches of 2 pairs. See [`Confidence`](super::Confidence).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// The mean score per game in 0..=1; 0.5 without games.
    pub score: f64,
    /// Logistic Elo difference.
    pub elo: f64,
    /// Half the width of its 95% interval.
    pub elo_error: f64,
    /// Normalized Elo difference (Van den Bergh 2021): in units of the standard deviation of a game's score, so that it
    /// determines how many games are needed to see a difference.
    pub nelo: f64,
    /// Half the width of its 95% interval.
    pub nelo_error: f64,
    /// Likelihood of superiority: the probability that the first player is stronger.
    pub los: f64,
}

impl Strength {
    /// `games` is the number of games averaged in one counted score.
    pub(super) fn from_moments(moments: &Moments, games: f64) -> Self {
        let c = 800.0 / LN_10;
        let deviation = moments.variance.sqrt();
        let lead = moments.mean - 0.5;
        // Without variance any lead has a probability of 1, and a tie is not a lead.
        let per_deviation = |scale: f64| match (deviation > 0.0, lead == 0.0) {
            (_, true) => 0.0,
            (true, false) => lead * scale / deviation,
            (false, false) => lead.signum() * f64::INFINITY,
        };
        let elo = elo_of_score(moments.mean);
        let (elo_error, nelo_error) = if moments.count == 0.0 {
            (f64::INFINITY, f64::INFINITY)
        } else {
            let margin = Z_95 * deviation / moments.count.sqrt();
            let [low, high] = [moments.mean - margin, moments.mean + margin].map(elo_of_score);
            // All wins or all losses: both bounds are the same infinity.
            let error = if low == high { 0.0 } else { (high - low) / 2.0 };
            let error = if elo.is_finite() { error } else { f64::INFINITY };
            (error, Z_95 * c / (games * moments.count).sqrt())
        };
        Self {
            score: moments.mean,
            elo,
            elo_error,
            nelo: per_deviation(c / games.sqrt()),
            nelo_error,
            los: normal_distribution(per_deviation(moments.count.sqrt())),
        }
    }
}

/// The normal distribution function, also for infinities.
pub(super) fn normal_distribution(x: f64) -> f64 {
    libm::erfc(-x / SQRT_2) / 2.0
}
