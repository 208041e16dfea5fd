//! Means over openings, and weighted sums of such means: differences between cells, effects of axes.
//!
//! Cells of one experiment share their openings: pair k of one and pair k of another start from the same position. An
//! opening's effect on both cancels in their difference, so cells are compared opening by opening. A mean therefore
//! keeps each opening's part in its error (its *influence*: how far the mean would move without that opening), and a
//! weighted sum of means has the weighted sum of these parts. The variance of either is the sum of the squares of its
//! parts (Liang and Zeger 1986; for means of clusters of unequal size this is the linearised ratio estimator, Cochran
//! 1977, section 6.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::student::student_quantile;

/// Identifies an opening: the sequence of openings, and the index there.
pub type OpeningKey = (u64, u64);

/// Sums over the units (pairs, games) from one opening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpeningSum {
    /// The opening.
    pub opening: OpeningKey,
    /// The number or weight of the units; more than 0.
    pub weight: f64,
    /// The sum of their measurements.
    pub sum: f64,
}

/// A mean over openings, or a weighted sum of such means, with each opening's part in its error.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustered {
    value: f64,
    /// Each opening's part in the error, by opening.
    parts: Vec<(OpeningKey, f64)>,
    /// Variance independent of openings.
    apart: f64,
    /// Degrees of freedom; less than 1 if the error is unknown.
    freedom: f64,
}

/// A figure with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The figure.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Clustered {
    /// The mean measurement over units from these openings, in the order of their keys. `None` without units.
    ///
    /// The error of a single opening is unknown.
    #[must_use]
    pub fn mean(openings: &[OpeningSum]) -> Option<Self> {
        debug_assert!(openings.is_sorted_by_key(|sum| sum.opening), "openings are out of order");
        let weight: f64 = openings.iter().map(|sum| sum.weight).sum();
        if weight <= 0.0 {
            return None;
        }
        let value = openings.iter().map(|sum| sum.sum).sum::<f64>() / weight;
        let squares: f64 = openings.iter().map(|sum| sum.weight * sum.weight).sum();
        // Kish's effective number of openings (1965, section 8.2): all of them if all have equal weights.
        let effective = weight * weight / squares;
        let freedom = effective - 1.0;
        // The means of few clusters lie closer to their own mean than to the true one.
        let factor = if freedom > 0.0 { (effective / freedom).sqrt() } else { 0.0 };
        let part = |sum: &OpeningSum| factor * (sum.sum - sum.weight * value) / weight;
        let parts = openings.iter().map(|sum| (sum.opening, part(sum))).collect();
        Some(Self { value, parts, apart: 0.0, freedom })
    }

    /// The mean score of a cell, from 0 to 1, with the prior of a cell's own interval: half an opening of each extreme
    /// score, which keeps the interval from collapsing if all openings went alike.
    #[must_use]
    pub fn score(openings: &[OpeningSum]) -> Option<Self> {
        let mut score = Self::mean(openings)?;
        score.apart = prior(score.value, score.freedom + 1.0);
        Some(score)
    }

    /// The mean score of a cell with a single opening, over its pairs or games, given how many have each of the scores
    /// from 0 to 1 in equal steps. They share nothing with other cells'. `None` without units.
    #[must_use]
    pub fn score_of_one_opening(counts: &[u64]) -> Option<Self> {
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let moments = super::moments::Moments::from_counts(&counts);
        if moments.count <= 0.0 {
            return None;
        }
        let freedom = moments.count - 1.0;
        let variance = if freedom > 0.0 { moments.variance / freedom } else { 0.0 };
        let apart = variance + prior(moments.mean, moments.count);
        Some(Self { value: moments.mean, parts: Vec::new(), apart, freedom })
    }

    /// A figure without an error.
    #[must_use]
    pub const fn certain(value: f64) -> Self {
        Self { value, parts: Vec::new(), apart: 0.0, freedom: f64::INFINITY }
    }

    /// The weighted sum of means. Its degrees of freedom are the smallest of any term.
    #[must_use]
    pub fn sum(terms: &[(f64, &Self)]) -> Self {
        let touching = terms.iter().filter(|(weight, _)| *weight != 0.0);
        let mut total = Self::certain(0.0);
        for &(weight, term) in touching {
            total.value += weight * term.value;
            total.apart += weight * weight * term.apart;
            total.freedom = total.freedom.min(term.freedom);
            total.parts.extend(term.parts.iter().map(|&(opening, part)| (opening, weight * part)));
        }
        // The sort is stable, so that sums of floats have one order.
        total.parts.sort_by_key(|&(opening, _)| opening);
        total.parts.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        total
    }

    /// The difference from another mean.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self::sum(&[(1.0, self), (-1.0, other)])
    }

    /// The same mean score from the other player's side.
    #[must_use]
    pub fn seen_by_opponent(&self) -> Self {
        Self::certain(1.0).minus(self)
    }

    /// The number of openings shared with another mean.
    #[must_use]
    pub fn openings_shared(&self, other: &Self) -> u64 {
        let has = |opening| other.parts.binary_search_by_key(&opening, |&(other, _)| other).is_ok();
        self.parts.iter().filter(|&&(opening, _)| has(opening)).count() as u64
    }

    /// The figure itself.
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// The variance of its error.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.apart + self.parts.iter().map(|(_, part)| part * part).sum::<f64>()
    }

    /// The covariance of its error with that of another mean: what the openings that both share contribute.
    #[must_use]
    pub fn covariance(&self, other: &Self) -> f64 {
        let shared = |&(opening, part): &(OpeningKey, f64)| {
            let place = other.parts.binary_search_by_key(&opening, |&(other, _)| other).ok()?;
            Some(part * other.parts[place].1)
        };
        self.parts.iter().filter_map(shared).sum()
    }

    /// The degrees of freedom of that variance.
    #[must_use]
    pub const fn freedom(&self) -> f64 {
        self.freedom
    }

    /// The same figure with an additional error beside that of openings.
    #[must_use]
    pub fn with_error(mut self, variance: f64, freedom: f64) -> Self {
        self.apart += variance;
        self.freedom = self.freedom.min(freedom);
        self
    }

    /// The 95% interval; `None` with less than one degree of freedom.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        self.interval_at(student_quantile_95(self.freedom)?)
    }

    /// The probability of a value so far from this one, or farther, if this is the true one, by Student's distribution: at
    /// most 5% exactly if the 95% interval excludes it. `None` with less than one degree of freedom.
    #[must_use]
    pub fn p_value(&self, value: f64) -> Option<f64> {
        let distance = (self.value - value).abs();
        let error = self.variance().sqrt();
        let student = StudentsT::new(0.0, 1.0, whole_freedom(self.freedom)?).ok()?;
        Some(match error > 0.0 {
            true => 2.0 * student.sf(distance / error),
            false => f64::from(distance == 0.0),
        })
    }

    fn interval_at(&self, quantile: f64) -> Option<Interval> {
        let error = quantile * self.variance().sqrt();
        let Self { value, .. } = *self;
        error.is_finite().then_some(Interval { value, low: value - error, high: value + error })
    }
}

/// The variance that half a unit of each extreme score adds to a mean score of this many units.
pub(crate) fn prior(score: f64, units: f64) -> f64 {
    let lost = 1.0 - score;
    (score * score + lost * lost) / (2.0 * units * (units + 1.0))
}

/// The quantile at the degrees of freedom rounded down. `None` below one.
pub(crate) fn student_quantile_95(freedom: f64) -> Option<f64> {
    whole_freedom(freedom).map(student_quantile)
}

/// Degrees of freedom rounded down. `None` below one.
fn whole_freedom(freedom: f64) -> Option<f64> {
    // Keeps whole numbers whole despite rounding errors.
    let whole = (freedom + 1e-9).floor();
    (whole >= 1.0).then(|| whole.min(1e15))
}

impl Interval {
    /// Whether the interval excludes zero.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// The interval clamped to these bounds.
    #[must_use]
    pub fn clamped(self, least: f64, most: f64) -> Self {
        let Self { value, low, high } = self;
        Self {
            value,
            low: low.clamp(least, value.max(least)),
            high: high.clamp(value.min(most), most),
        }
    }

    /// The interval mapped through an increasing function.
    #[must_use]
    pub fn map(self, grows: impl Fn(f64) -> f64) -> Self {
        let Self { value, low, high } = self;
        Self { value: grows(value), low: grows(low), high: grows(high) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sums(weights: &[(u64, u32, f64)]) -> Vec<OpeningSum> {
        let opening_sum = |&(k, weight, mean): &(u64, u32, f64)| {
            let weight = f64::from(weight);
            OpeningSum { opening: (0, k), weight, sum: weight * mean }
        };
        weights.iter().map(opening_sum).collect()
    }

    proptest! {
        /// A mean of openings with equal weights is a plain mean, with the plain interval.
        #[test]
        fn alike_openings_are_a_plain_sample(means in prop::collection::vec(0.0..=1.0_f64, 2..40)) {
            let openings: Vec<_> = (0..).zip(&means).map(|(k, &mean)| (k, 3, mean)).collect();
            let clustered = Clustered::mean(&sums(&openings)).unwrap();
            let count = means.len() as f64;
            let mean = means.iter().sum::<f64>() / count;
            let squares: f64 = means.iter().map(|x| (x - mean) * (x - mean)).sum();
            prop_assert!((clustered.value() - mean).abs() < 1e-12);
            prop_assert!((clustered.variance() - squares / (count - 1.0) / count).abs() < 1e-12);
            prop_assert!((clustered.freedom() - (count - 1.0)).abs() < 1e-9);
        }

        /// The variance of a difference equals that of a list of differences, in any composition.
        #[test]
        fn differences_are_paired(pairs in prop::collection::vec((0.0..=1.0_f64, 0.0..=1.0_f64), 2..40)) {
            let side = |pick: fn(&(f64, f64)) -> f64| {
                let openings: Vec<_> = (0..).zip(&pairs).map(|(k, pair)| (k, 1, pick(pair))).collect();
                Clustered::mean(&sums(&openings)).unwrap()
            };
            let [first, second] = [side(|pair| pair.0), side(|pair| pair.1)];
            let together: Vec<_> = (0..).zip(&pairs).map(|(k, pair)| (k, 1, pair.1 - pair.0)).collect();
            let together = Clustered::mean(&sums(&together)).unwrap();
            let difference = second.minus(&first);
            prop_assert!((difference.value() - together.value()).abs() < 1e-12);
            prop_assert!((difference.variance() - together.variance()).abs() < 1e-12);
            prop_assert_eq!(difference.openings_shared(&first), pairs.len() as u64);
            let none = first.minus(&first);
            prop_assert!(none.value() == 0.0 && none.variance() < 1e-24);
        }

        /// No figure is NaN, the figure lies in its interval, and a p-value is at most 5 % exactly outside of it.
        #[test]
        fn figures_lie_in_their_intervals(
            openings in prop::collection::vec((1..1_000_000_u32, 0.0..=1.0_f64), 1..20),
            at in 0.0..=1.0_f64,
        ) {
            let openings: Vec<_> = (0..).zip(openings).map(|(k, (weight, mean))| (k, weight, mean)).collect();
            let score = Clustered::score(&sums(&openings)).unwrap();
            prop_assert!(score.variance() > 0.0 && score.variance().is_finite());
            if let Some(interval) = score.interval() {
                prop_assert!(interval.low < interval.value && interval.value < interval.high);
                let is_outside = at < interval.low || at > interval.high;
                prop_assert_eq!(score.p_value(at).unwrap() <= 0.05, is_outside);
                let within = interval.clamped(0.0, 1.0);
                prop_assert!(0.0 <= within.low && within.low <= within.value);
                prop_assert!(within.value <= within.high && within.high <= 1.0 + 1e-12);
            }
        }
    }

    #[test]
    fn every_edge_has_an_answer() {
        assert_eq!(Clustered::mean(&[]), None);
        assert_eq!(Clustered::score_of_one_opening(&[0, 0, 0]), None);
        let alone = Clustered::score(&sums(&[(0, 50, 0.5)])).unwrap();
        assert_eq!((alone.value(), alone.interval()), (0.5, None));
        let one_pair = Clustered::score_of_one_opening(&[0, 0, 1]).unwrap();
        assert_eq!((one_pair.value(), one_pair.interval()), (1.0, None));
        let equal = Clustered::score_of_one_opening(&[0, 0, 20]).unwrap();
        let interval = equal.interval().unwrap();
        assert!(interval.low < 1.0 && interval.low > 0.8, "{interval:?}");
        let certain = Clustered::sum(&[]);
        assert_eq!((certain.value(), certain.variance()), (0.0, 0.0));
        // A term with zero weight does not affect the degrees of freedom.
        let pair = Clustered::sum(&[(0.0, &alone), (1.0, &equal)]);
        assert_eq!(pair.freedom(), 19.0);
    }
}
