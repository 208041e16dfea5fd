//! Intervals of a score that hold at every look at a running match: confidence sequences.
//!
//! A fixed interval misses the score in 5% of matches that are looked at once. Looked at after every pair, it misses at
//! some look in a quarter of them and more. A confidence sequence (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon
//! 2021) misses at any look, however many there are and whatever decides when the last one is, in at most 5%.

use crate::elo::elo_of_score;
use crate::interval::{Confidence, ScoreInterval};
use crate::moments::Moments;
use crate::openings::OpeningSpread;

/// The error of a sequence: how often it may miss the score at some look.
const ERROR: f64 = 0.05;

/// The weight of the prior of the mixture: the planned units in units of its own. The sequence is tightest, relative to
/// a fixed interval, after 1.6 times the planned units, and within 1% of that from the planned units on. With a greater
/// weight, matches miss more often at early looks.
const PRIOR: f64 = 5.0;

/// Units of the extreme score that are added for the variance: one, and one more for each of this many.
const UNITS_OF_AN_EXTREME: f64 = 500.0;

/// The most of them.
const EXTREMES_MAX: f64 = 2.0;

/// A square of a lead that no score has, however few units there are.
const LEAD_MAX: f64 = 1e100;

/// A confidence sequence of a mean score, after some number of units, from their counts alone.
///
/// It is the asymptotic confidence sequence with the boundary of a normal mixture (Robbins 1970; Waudby-Smith, Arbour,
/// Sinha, Kennedy and Ramdas 2024), with the protections of the fixed interval for few units: Wilson's shape with an
/// effective sample size, Student's tail, and a variance that never vanishes. Its coverage is simulated, as that of the
/// fixed interval is computed (see the tests): an exact sequence from bets (Waudby-Smith and Ramdas 2024) is wider where
/// most pairs are drawn, and takes a thousand times as long.
#[derive(Clone, Copy, Debug)]
pub struct ScoreSequence {
    score: f64,
    /// `None` for fewer than two units, which give no information.
    evidence: Option<Evidence>,
}

/// What the units say of scores below their mean, and of scores above it.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    /// The equivalent number of coin tosses, for the lower and for the upper bound.
    tosses: [f64; 2],
    /// The number of units.
    count: f64,
    /// The units divided by those of the prior.
    weight: f64,
}

impl ScoreSequence {
    /// From the number of units (pairs or games) with each score from 0 to 1 in equal steps, and the planned number.
    pub(super) fn from_counts<const CLASSES: usize>(counts: &[f64; CLASSES], planned: f64) -> Self {
        let Moments { count, mean, variance } = Moments::from_counts(counts);
        Self::new(mean, count, variance, planned)
    }

    /// From openings, each weighted by its units: together they count as their effective number. `planned` is their
    /// number.
    pub(super) fn over_openings(score: f64, spread: &OpeningSpread, planned: f64) -> Self {
        Self::new(score, spread.effective, spread.variance, planned)
    }

    fn new(score: f64, count: f64, variance: f64, planned: f64) -> Self {
        let evidence = (count >= 2.0).then(|| {
            let extremes = (1.0 + count / UNITS_OF_AN_EXTREME).min(EXTREMES_MAX);
            let tosses = [0.0, 1.0].map(|extreme| {
                // The score may be further out than it seems, because a rare result was never seen. So the lower bound
                // is that of units among which there are losses, and the upper one of units with wins.
                let all = count + extremes;
                let mean = (count * score + extremes * extreme) / all;
                let squares = [score - mean, extreme - mean].map(|distance| distance * distance);
                let variance = (count * (variance + squares[0]) + extremes * squares[1]) / all;
                let of_coin = mean * (1.0 - mean);
                let ratio = if of_coin > 0.0 { (variance / of_coin).min(1.0) } else { 1.0 };
                count / ratio
            });
            Evidence { tosses, count, weight: PRIOR * count / planned.max(2.0) }
        });
        Self { score, evidence }
    }

    /// The interval of the score. Fewer than two units give 0..1.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        let score = self.score;
        let all = ScoreInterval { score, low: 0.0, high: 1.0 };
        let Some(evidence) = self.evidence else { return all };
        let lead = evidence.lead_allowed(ERROR);
        if lead > LEAD_MAX {
            return all;
        }
        // Wilson's bounds, in the direction of -1 or 1.
        let bound = |tosses: f64, direction: f64| {
            let t2 = lead / tosses;
            let spread = score * (1.0 - score) + t2 / 4.0;
            (score + t2 / 2.0 + direction * (t2 * spread).sqrt()) / (1.0 + t2)
        };
        let [below, above] = evidence.tosses;
        let [low, high] = [bound(below, -1.0), bound(above, 1.0)];
        // The bounds contain the score in theory; this only catches rounding.
        ScoreInterval { score, low: low.max(0.0).min(score), high: high.min(1.0).max(score) }
    }

    /// The p-value of a score of exactly this bound, valid at every look: at most the error of the sequence exactly if
    /// the interval does not contain the bound. 1 with too few units, or without evidence.
    #[must_use]
    pub fn p_value(&self, bound: f64) -> f64 {
        let Some(evidence) = self.evidence else { return 1.0 };
        let Evidence { tosses: [below, above], .. } = evidence;
        let lead = self.score - bound;
        let tosses = if lead > 0.0 { below } else { above };
        let of_coin = bound * (1.0 - bound);
        if of_coin <= 0.0 {
            return if lead == 0.0 { 1.0 } else { 0.0 };
        }
        evidence.error_of_lead(tosses * lead * lead / of_coin)
    }

    /// The same interval in Elo, and the likelihood of superiority: above 97.5% exactly if the interval is above one
    /// half, and below 2.5% exactly if it is below.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        let [elo_low, elo_high] = self.interval().elo();
        let half = self.p_value(0.5) / 2.0;
        let los = if self.score > 0.5 { 1.0 - half } else { half };
        Confidence { elo: elo_of_score(self.score), elo_low, elo_high, los }
    }
}

impl Evidence {
    /// The square of the lead, in standard deviations of the mean, that the sequence with this error allows.
    fn lead_allowed(&self, error: f64) -> f64 {
        let Self { weight, .. } = *self;
        let boundary = (1.0 + 1.0 / weight) * (libm::log1p(weight) - 2.0 * libm::log(error));
        // Student's quantile from the normal one (Wallace 1959), squared.
        let [freedom, factor] = self.student();
        freedom * libm::expm1(boundary * factor / freedom)
    }

    /// The least error of a sequence that does not allow the lead: `lead_allowed` inverted.
    fn error_of_lead(&self, lead: f64) -> f64 {
        let Self { weight, .. } = *self;
        let [freedom, factor] = self.student();
        let boundary = freedom * libm::log1p(lead / freedom) / factor;
        let evidence = boundary / (1.0 + 1.0 / weight) - libm::log1p(weight);
        libm::exp(-evidence / 2.0).min(1.0)
    }

    /// The degrees of freedom, and Wallace's factor. Twice the units less one suffice at the levels of a sequence,
    /// whose early looks are wide anyway.
    fn student(&self) -> [f64; 2] {
        let freedom = 2.0 * self.count - 1.0;
        let factor = (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0);
        [freedom, factor * factor]
    }
}

#[cfg(test)]
mod tests;
