//! The width and the power of so many units, and the units that a width or a power needs.

use super::unit_model::{Chances, UnitModel};
use crate::interval::Wilson;
use crate::openings::OpeningSpread;
use crate::strength::normal_distribution;
use crate::student::student_quantile;

/// The most units considered, far more than a match has: figures that need more are unknown.
pub const UNITS_MAX: u64 = 1 << 40;

/// Half the width that the 95% interval of the score will have after this many units, from openings that repeat after
/// this many.
#[must_use]
pub fn half_width(model: &UnitModel, units: u64, openings: Option<u64>) -> f64 {
    let interval = expected(model, units, openings).interval();
    (interval.high - interval.low) / 2.0
}

/// The chance that the interval after this many units excludes a score that is below the model's mean, and lies above
/// it. Where the mean is below that score, the chance that the interval lies below it.
#[must_use]
pub fn power(model: &UnitModel, units: u64, openings: Option<u64>, bound: f64) -> f64 {
    let wilson = expected(model, units, openings);
    let Some(freedom) = wilson.freedom() else { return 0.0 };
    let lead = (model.mean() - bound).abs();
    let needed = student_quantile(freedom) * (bound * (1.0 - bound) / wilson.tosses()).sqrt();
    let variance = match repeated(units, openings) {
        Some(openings) => {
            model.variance_over_openings(units as f64 / openings as f64) / openings as f64
        }
        None => model.variance() / units as f64,
    };
    normal_distribution((lead - needed) / variance.sqrt().max(f64::MIN_POSITIVE))
}

/// The fewest units after which half the interval's width is at most this; `None` if no number of units is enough.
#[must_use]
pub fn units_for_half_width(model: &UnitModel, wanted: f64, openings: Option<u64>) -> Option<u64> {
    fewest(|units| half_width(model, units, openings) <= wanted)
}

/// The fewest units with which [`power`] is at least this; `None` if no number of units is enough.
#[must_use]
pub fn units_for_power(
    model: &UnitModel,
    wanted: f64,
    openings: Option<u64>,
    bound: f64,
) -> Option<u64> {
    fewest(|units| power(model, units, openings, bound) >= wanted)
}

/// The interval of a match whose units came in their expected shares.
pub(super) fn expected(model: &UnitModel, units: u64, openings: Option<u64>) -> Wilson {
    if let Some(openings) = repeated(units, openings) {
        let effective = openings as f64;
        let variance = model.variance_over_openings(units as f64 / effective);
        return Wilson::over_openings(model.mean(), &OpeningSpread { effective, variance });
    }
    over_units(model, units)
}

/// The same over units, even if openings repeat.
pub(super) fn over_units(model: &UnitModel, units: u64) -> Wilson {
    let units = units as f64;
    match model.chances() {
        Chances::Pair(chances) => Wilson::from_counts(&chances.map(|chance| chance * units)),
        Chances::Game(chances) => Wilson::from_counts(&chances.map(|chance| chance * units)),
    }
}

/// The openings, if they repeat among this many units. With a single one a match is about that opening.
fn repeated(units: u64, openings: Option<u64>) -> Option<u64> {
    openings.filter(|&openings| openings > 1 && openings < units)
}

/// The least number for which this holds, if it holds from some number on.
fn fewest(is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    let mut high = 2;
    while !is_enough(high) {
        high *= 2;
        if high > UNITS_MAX {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
