//! A value that a search found: what its interval says of other bounds, and at other errors.

use crate::Interval;
use crate::interval::{student_distribution, student_upper_quantile};

/// A value that a search found, with its 95% interval.
///
/// Of the distribution that a search ends with only the median and these ends are known. An end lies as far from the
/// median as the 2.5% quantile of Student's distribution lies from 0, whose tails are heavier than normal ones; distances
/// are measured as differences and, where all numbers are above 0, as ratios, and the lesser evidence counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundValue {
    /// The value.
    pub value: f64,
    /// The lower end of its interval; `None` if it lies below all values that were tried.
    pub low: Option<f64>,
    /// The upper end; `None` if it lies above them.
    pub high: Option<f64>,
    /// The least difference between two values: 1 for whole numbers.
    pub step: f64,
}

/// The degrees of freedom of the tails.
const FREEDOM: f64 = 8.0;

/// The error on either side of the interval.
const TAIL: f64 = 0.025;

impl FoundValue {
    /// The probability of such a value, or a greater one, if the true one is the bound.
    pub(crate) fn p_value_above(&self, bound: f64) -> f64 {
        self.low.map_or(1.0, |low| self.p_value(low, bound, 1.0))
    }

    /// The probability of such a value, or a lesser one, if the true one is the bound.
    pub(crate) fn p_value_below(&self, bound: f64) -> f64 {
        self.high.map_or(1.0, |high| self.p_value(high, bound, -1.0))
    }

    fn p_value(&self, end: f64, bound: f64, sign: f64) -> f64 {
        let Self { value, step, .. } = *self;
        // Rounding moves the value by half a step at most, and its distance from the end by one.
        let nearer = value - sign * step / 2.0;
        let by_difference = (sign * (nearer - bound), sign * (value - end) + step);
        let [farther, end] = [value + sign * step / 2.0, end - sign * step / 2.0];
        let by_ratio = [nearer, bound, farther, end]
            .iter()
            .all(|&number| number > 0.0)
            .then(|| (sign * libm::log(nearer / bound), sign * libm::log(farther / end)));
        let quantile = student_upper_quantile(TAIL, FREEDOM);
        let p = |(lead, width): (f64, f64)| match width > 0.0 {
            true => student_distribution(-quantile * lead / width, FREEDOM),
            false => 1.0,
        };
        p(by_difference).max(by_ratio.map_or(0.0, p))
    }

    /// The value with its interval at this error; `None` without an end.
    pub(crate) fn interval(&self, error: f64) -> Option<Interval> {
        let quantile = |tail: f64| student_upper_quantile(tail, FREEDOM);
        let factor = quantile(error / 2.0) / quantile(TAIL);
        let Self { value, .. } = *self;
        let at = |end: f64| {
            let by_difference = value + factor * (end - value);
            let by_ratio = (value > 0.0 && end > 0.0)
                .then(|| value * libm::exp(factor * libm::log(end / value)));
            (by_difference, by_ratio.unwrap_or(by_difference))
        };
        let (low, high) = (at(self.low?), at(self.high?));
        Some(Interval { value, low: low.0.min(low.1), high: high.0.max(high.1) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::claims::{Bound, FigureTest};

    fn found(value: f64, low: Option<f64>, high: Option<f64>, step: f64) -> FoundValue {
        FoundValue { value, low, high, step }
    }

    #[test]
    fn a_bound_at_an_end_has_the_error_of_the_interval() {
        let found = found(200.0, Some(100.0), Some(500.0), 0.0);
        assert!((found.p_value_above(100.0) - 0.025).abs() < 1e-9);
        assert!((found.p_value_below(500.0) - 0.025).abs() < 1e-9);
        assert!((found.p_value_above(200.0) - 0.5).abs() < 1e-9);
        let interval = found.interval(0.05).unwrap();
        assert!((interval.low - 100.0).abs() < 1e-6 && (interval.high - 500.0).abs() < 1e-6);
    }

    /// An end that was not found shows nothing on its side.
    #[test]
    fn a_missing_end_is_no_evidence() {
        let found = found(200.0, None, Some(500.0), 0.0);
        assert_eq!(found.p_value_above(1.0), 1.0);
        assert!(found.p_value_below(600.0) < 0.025);
        assert_eq!(found.interval(0.05), None);
        assert_eq!(FigureTest::Found(found).interval(0.05), None);
        assert_eq!(Bound::Within([1.0, 900.0]).p_value(&FigureTest::Found(found)), 1.0);
    }

    /// Whole numbers may have been rounded towards the bound's wrong side.
    #[test]
    fn rounding_takes_evidence_away() {
        let p = |step| found(3.0, Some(2.0), Some(4.0), step).p_value_above(2.0);
        assert!(p(1.0) > 0.05 && p(0.0) < 0.026, "{} {}", p(1.0), p(0.0));
        assert_eq!(found(3.0, Some(3.0), Some(3.0), 0.0).p_value_above(2.0), 1.0);
        assert!(found(3.0, Some(3.0), Some(3.0), 1.0).p_value_above(2.0) > 0.1);
    }

    proptest! {
        /// The p-value is at most half the error exactly where the interval with that error excludes the bound.
        #[test]
        fn p_values_are_those_of_intervals(
            [low, value, high] in prop::array::uniform3(1.0..1e4_f64).prop_map(|mut ends| {
                ends.sort_by(f64::total_cmp);
                ends
            }),
            bound in 1.0..1e4,
            error in 0.001..0.6,
        ) {
            prop_assume!(value - low > 1e-3 && high - value > 1e-3);
            let found = found(value, Some(low), Some(high), 0.0);
            let interval = found.interval(error).unwrap();
            for (p, is_outside, end) in [
                (found.p_value_above(bound), bound < interval.low, interval.low),
                (found.p_value_below(bound), bound > interval.high, interval.high),
            ] {
                if (bound - end).abs() > 1e-6 * end.abs() && (p - error / 2.0).abs() > 1e-9 {
                    prop_assert_eq!(p < error / 2.0, is_outside, "{} {:?}", p, interval);
                }
            }
        }
    }
}
