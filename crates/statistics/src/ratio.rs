//! A ratio of two sums over units of unequal size, from sums of squares and products alone, so that a database can add
//! up millions of units: the linearised ratio estimator (Cochran 1977, section 6.3).

use crate::clustered::{Interval, student_quantile_95};

/// The sums behind a ratio: each unit has a size and a sum of measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RatioSums {
    /// The sizes.
    pub(crate) base: f64,
    /// The sums.
    pub(crate) sum: f64,
    /// The squares of the sizes.
    pub(crate) base_squared: f64,
    /// The sizes times the sums.
    pub(crate) products: f64,
    /// The squares of the sums.
    pub(crate) squares: f64,
}

/// A ratio of sums over units, with its linearised variance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) variance: f64,
    /// The largest variance that rounding errors can explain.
    pub(super) rounding: f64,
    /// The change of the ratio per deviation of a unit from it.
    pub(super) leverage: f64,
    /// Degrees of freedom: the effective number of units less one.
    pub(crate) freedom: f64,
}

/// The least a variance must be, as a share of the sums that it is the difference of: a smaller one is rounding error,
/// and depends on the order of the units.
const ROUNDING: f64 = 1e-12;

impl Ratio {
    /// The ratio of the sums to the sizes. `None` without any size.
    pub(crate) fn from_sums(sums: RatioSums) -> Option<Self> {
        let RatioSums { base, sum, base_squared, products, squares } = sums;
        if base <= 0.0 {
            return None;
        }
        let value = sum / base;
        // Kish's effective number of units (1965, section 8.2): all of them if all have equal size.
        let effective = base * base / base_squared;
        let freedom = effective - 1.0;
        // The means of few units lie closer to their own mean than to the true one.
        let factor = if freedom > 0.0 { (effective / freedom).sqrt() } else { 0.0 };
        let leverage = factor / base;
        let [twice, square] = [2.0 * value * products, value * value * base_squared];
        let rounding = leverage * leverage * ROUNDING * (squares + twice.abs() + square);
        let variance = leverage * leverage * (squares - twice + square);
        Some(Self { value, variance: beyond(variance, rounding), rounding, leverage, freedom })
    }

    /// The 95% interval with this variance; `None` with less than one degree of freedom.
    pub(crate) fn interval(&self, variance: f64, freedom: f64) -> Option<Interval> {
        let error = student_quantile_95(freedom)? * variance.sqrt();
        let Self { value, .. } = *self;
        error.is_finite().then_some(Interval { value, low: value - error, high: value + error })
    }
}

/// The variance, or 0 if it is rounding error, which may also be negative.
pub(super) fn beyond(variance: f64, rounding: f64) -> f64 {
    if variance > rounding { variance } else { 0.0 }
}
