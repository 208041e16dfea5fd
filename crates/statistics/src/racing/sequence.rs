//! A confidence sequence of the mean of normal differences with unknown variance.

/// The variance of the prior of a difference, in variances of one: this divided by the planned number, at most
/// [`PRIOR_MAX`]. So the sequence is tightest after a fraction of the planned rounds.
const PRIOR: f64 = 40.0;

/// The greatest of it.
const PRIOR_MAX: f64 = 1.0;

/// The number, the mean and the squared deviations of values, one by one (Welford 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Sums {
    /// Adds a value.
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    /// The mean; `None` without values.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then_some(self.mean)
    }
}

/// A confidence sequence: an interval after each value, of which either end is on the wrong side of the mean, at any
/// time, with at most a stated probability.
///
/// The evidence against a mean is the likelihood ratio of normal values with any mean to ones with this mean, whatever
/// their deviation: the mean in deviations has a normal prior, half of it on either side, and the deviation Jeffreys'
/// (Lai 1976; Wang and Ramdas 2025, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
/// variance"). By Ville's inequality it exceeds 1/a, ever, with probability a at most. Two-sided evidence that exceeds
/// 1/(2b) is one-sided evidence of at least (1 - b)/b, since the other half is at most 1: hence b = a/(1 + a). Values of
/// rounds are means of games, and only nearly normal: [`Sequence::interval`] has the protection against few and equal
/// ones, and error rates are simulated (see the tests).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// The two-sided evidence that is needed, as a logarithm.
    log_evidence: f64,
    /// The variance of the prior, in variances of a value.
    prior: f64,
    /// The squared change of a round's difference by one pair that comes out otherwise.
    pair_squared: f64,
}

impl Sequence {
    /// A sequence with this error for each of its ends, for about so many values, each of which is a difference of
    /// scores over so many pairs.
    pub(super) fn new(error: f64, planned: u64, pairs: u64) -> Self {
        let pair = 1.0 / pairs.max(1) as f64;
        Self {
            log_evidence: -libm::log(2.0 * error / (1.0 + error)),
            prior: (PRIOR / planned.max(1) as f64).min(PRIOR_MAX),
            pair_squared: pair * pair,
        }
    }

    /// The mean difference, and the ends of its interval. Without enough values, the ends are -1 and 1.
    pub(super) fn interval(&self, sums: &Sums) -> [f64; 3] {
        let Sums { count, mean, squares } = *sums;
        let half = self.half_width(count, squares);
        [mean, (mean - half).max(-1.0), (mean + half).min(1.0)]
    }

    /// Half the width after so many values with these squared deviations.
    fn half_width(&self, count: f64, squares: f64) -> f64 {
        let lead = self.lead_allowed(count);
        if lead.is_infinite() {
            return f64::INFINITY;
        }
        // As if one round more had been seen, in which a rare pair lost all: equal rounds are no certainty.
        let squares = squares + 2.0 * self.pair_squared * count / (count + 1.0);
        let variance = squares / (count - 1.0);
        (lead * variance / count).sqrt()
    }

    /// The squared t statistic that the sequence allows.
    pub(super) fn lead_allowed(&self, count: f64) -> f64 {
        if count < 2.0 {
            return f64::INFINITY;
        }
        let weight = 1.0 + count * self.prior;
        let grown = libm::exp((libm::log(weight) + 2.0 * self.log_evidence) / count);
        if grown >= weight {
            return f64::INFINITY;
        }
        (count - 1.0) * (grown - 1.0) / (1.0 - grown / weight)
    }
}
