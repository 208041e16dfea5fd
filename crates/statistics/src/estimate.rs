//! A figure with the variance of its error: tests and intervals of it by Student's t distribution.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clustered::{Clustered, Interval};
use crate::interval::{student_distribution, student_upper_quantile};

/// A figure with the variance of its error, which is all that tests of it need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The variance of its error.
    pub variance: f64,
    /// The degrees of freedom of that variance; less than 1 if it is unknown.
    pub freedom: f64,
}

impl From<&Clustered> for Estimate {
    fn from(figure: &Clustered) -> Self {
        Self { value: figure.value(), variance: figure.variance(), freedom: figure.freedom() }
    }
}

impl Estimate {
    /// The weighted sum of two means: [`Clustered::sum`] without the parts of its openings.
    #[must_use]
    pub fn from_sum([(weight, term), (other_weight, other)]: [(f64, &Clustered); 2]) -> Self {
        let covariance = weight * other_weight * term.covariance(other);
        let squares =
            weight * weight * term.variance() + other_weight * other_weight * other.variance();
        Self {
            value: weight * term.value() + other_weight * other.value(),
            variance: (squares + 2.0 * covariance).max(0.0),
            freedom: term.freedom().min(other.freedom()),
        }
    }

    /// The one-sided p-value of a figure above the bound: at most α exactly if the interval with an error of α on each
    /// side is above the bound. 1 if the variance is unknown or zero: equal measurements may be those of a coarse clock.
    #[must_use]
    pub fn p_value_above(&self, bound: f64) -> f64 {
        self.p_value_of_lead(self.value - bound)
    }

    /// The one-sided p-value of a figure below the bound.
    #[must_use]
    pub fn p_value_below(&self, bound: f64) -> f64 {
        self.p_value_of_lead(bound - self.value)
    }

    fn p_value_of_lead(&self, lead: f64) -> f64 {
        match (self.whole_freedom(), self.variance.sqrt()) {
            (Some(freedom), error) if error > 0.0 => student_distribution(-lead / error, freedom),
            (_, _) => 1.0,
        }
    }

    /// The interval with this error, more than 0 and less than 1, half of it on either side; all numbers if the
    /// variance is unknown.
    #[must_use]
    pub fn interval(&self, error: f64) -> Interval {
        let width = match self.whole_freedom() {
            Some(freedom) => student_upper_quantile(error / 2.0, freedom) * self.variance.sqrt(),
            None => f64::INFINITY,
        };
        let Self { value, .. } = *self;
        Interval { value, low: value - width, high: value + width }
    }

    /// Rounded down, as for the 95% interval of the same figure.
    fn whole_freedom(&self) -> Option<f64> {
        let whole = (self.freedom + 1e-9).floor().min(1e15);
        (whole >= 1.0).then_some(whole)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    use super::*;
    use crate::OpeningSum;

    proptest! {
        #[test]
        fn the_p_value_is_that_of_a_library(
            value in -1.0..1.0,
            variance in 1e-6..0.1,
            freedom in 1.0..500.0,
            bound in -1.0..1.0,
        ) {
            let figure = Estimate { value, variance, freedom };
            let student = StudentsT::new(0.0, 1.0, freedom.floor()).unwrap();
            let above = student.cdf((bound - value) / variance.sqrt());
            prop_assert!((figure.p_value_above(bound) - above).abs() < 1e-9);
            prop_assert!((figure.p_value_below(bound) - (1.0 - above)).abs() < 1e-9);
            let interval = figure.interval(0.05);
            let is_above = figure.p_value_above(bound) < 0.025;
            if (interval.low - bound).abs() > 1e-9 {
                prop_assert_eq!(is_above, interval.low > bound);
            }
        }
    }

    proptest! {
        #[test]
        fn a_sum_of_two_is_that_with_all_its_openings(
            scores in prop::collection::vec((0.0..=1.0_f64, 0.0..=1.0_f64), 2..40),
            shift in 0_u64..50,
            signs in prop::array::uniform2(prop::sample::select(vec![1.0, -1.0])),
        ) {
            let score = |first: u64, scores: Vec<f64>| {
                let sum = |(k, sum)| OpeningSum { opening: (0, k), weight: 1.0, sum };
                Clustered::score(&(first..).zip(scores).map(sum).collect::<Vec<_>>()).unwrap()
            };
            let (one, other): (Vec<f64>, Vec<f64>) = scores.into_iter().unzip();
            let [one, other] = [score(0, one), score(shift, other)];
            let terms = [(signs[0], &one), (signs[1], &other)];
            let (sum, all) = (Estimate::from_sum(terms), Clustered::sum(&terms));
            prop_assert!((sum.value - all.value()).abs() < 1e-12);
            prop_assert!((sum.variance - all.variance()).abs() < 1e-12);
            prop_assert_eq!(sum.freedom, all.freedom());
        }
    }

    #[test]
    fn the_usual_interval_is_that_of_a_clustered_mean() {
        let sum = |k: u64| OpeningSum { opening: (0, k), weight: 1.0, sum: (k % 5) as f64 / 4.0 };
        let score = Clustered::score(&(0..23).map(sum).collect::<Vec<_>>()).unwrap();
        let (usual, same) = (score.interval().unwrap(), Estimate::from(&score).interval(0.05));
        assert!((usual.low - same.low).abs() < 1e-9 && (usual.high - same.high).abs() < 1e-9);
    }

    #[test]
    fn without_a_spread_there_is_no_evidence() {
        for (variance, freedom) in [(0.1, 0.5), (0.0, 9.0), (f64::NAN, 3.0)] {
            let figure = Estimate { value: 1.0, variance, freedom };
            assert_eq!((figure.p_value_above(0.0), figure.p_value_below(2.0)), (1.0, 1.0));
        }
        assert_eq!(
            Estimate { value: 1.0, variance: 0.1, freedom: 0.5 }.interval(0.05).high,
            f64::INFINITY
        );
    }
}
