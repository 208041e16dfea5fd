//! A player's score as a curve over the values of an axis, such as a limit of nodes, and where it crosses one half.
//!
//! On the logistic scale the curve is a line plus a smooth departure from it, an integrated Wiener process: its estimate
//! is a cubic smoothing spline (Wahba 1978, "Improper priors, spline smoothing and the problem of guarding against model
//! errors in regression"). How large departures are is not known. Each of a few standard deviations has the weight that
//! the scores give it (the restricted likelihood, Patterson and Thompson 1971), and the curve is the mean over all of
//! them: so values near each other are pooled as far as they agree. The band is made of the variance within and between
//! these (Nychka 1988, "Bayesian confidence intervals for smoothing splines").
//!
//! Cells of one sweep share their openings, so that their errors are correlated: the covariances are those of the scores
//! by opening ([`Clustered`]).

mod spline;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clustered::student_quantile_95;
use crate::{Clustered, Interval};
use spline::Posterior;

/// Fewest values of an axis through which a curve is fitted.
pub const CURVE_POINTS_MIN: usize = 4;
/// Most values: the work grows with their third power.
pub const CURVE_POINTS_MAX: usize = 64;
/// Ratio of the greatest to the least value from which positions on the axis are logarithms.
const WIDE: f64 = 8.0;
/// Steps between the first and the last value in which crossings are looked for.
const STEPS: usize = 512;

/// A curve through the scores at several values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    scale: Scale,
    posterior: Posterior,
    /// The quantile of the band.
    quantile: f64,
    /// The first and the last value.
    ends: [f64; 2],
}

/// Where a curve crosses one half.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// The value at which the curve first is one half; `None` if it is nowhere.
    pub at: Option<f64>,
    /// Values at which the band holds one half, from and to: with a probability of 95% the true curve is one half there
    /// or nowhere between the first and the last value. Empty if the band excludes one half everywhere.
    pub between: Vec<[f64; 2]>,
    /// Whether the band holds one half at the first value: evenness may be below it.
    pub is_open_below: bool,
    /// Whether the band holds one half at the last value: evenness may be beyond it.
    pub is_open_above: bool,
}

/// How values are placed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    is_logarithmic: bool,
    from: f64,
    to: f64,
}

impl Curve {
    /// Fits a curve through scores at values of an axis, in the order of the values, each once. `None` with fewer than
    /// [`CURVE_POINTS_MIN`] or more than [`CURVE_POINTS_MAX`], or with too few openings.
    ///
    /// Positions are logarithms where all values are positive and the last is eight times the first or more.
    #[must_use]
    pub fn fit(points: &[(f64, &Clustered)]) -> Option<Self> {
        let (first, last) = (points.first()?.0, points.last()?.0);
        let is_fit = (CURVE_POINTS_MIN..=CURVE_POINTS_MAX).contains(&points.len())
            && points.iter().all(|(value, _)| value.is_finite())
            && points.is_sorted_by(|one, next| one.0 < next.0);
        if !is_fit {
            return None;
        }
        let scale = Scale::over(first, last);
        let freedom = points.iter().map(|(_, score)| score.freedom()).fold(f64::INFINITY, f64::min);
        let quantile = student_quantile_95(freedom)?;
        let positions: Vec<f64> = points.iter().map(|&(value, _)| scale.position(value)).collect();
        let scores: Vec<&Clustered> = points.iter().map(|&(_, score)| score).collect();
        let posterior = Posterior::fit(&positions, &scores)?;
        Some(Self { scale, posterior, quantile, ends: [first, last] })
    }

    /// The score at a value between the first and the last, with its 95% band at this value. Values outside are moved to
    /// the nearer end: nothing is known there.
    #[must_use]
    pub fn score_at(&self, value: f64) -> Interval {
        let at = self.scale.position(value.clamp(self.ends[0], self.ends[1]));
        self.on_logistic_scale(at).map(score_of_logit)
    }

    /// Where the curve crosses one half.
    #[must_use]
    pub fn crossing(&self) -> Crossing {
        let positions = (0..=STEPS).map(|step| step as f64 / STEPS as f64);
        let fitted: Vec<(f64, Interval)> =
            positions.map(|at| (at, self.on_logistic_scale(at))).collect();
        let holds = |interval: &Interval| interval.low <= 0.0 && interval.high >= 0.0;
        let value = |at: f64| self.scale.value(at);
        let at = fitted.windows(2).find_map(|step| {
            let [(from, before), (to, after)] = [step[0], step[1]];
            let crosses = before.value == 0.0 || (before.value > 0.0) != (after.value > 0.0);
            let share = before.value / (before.value - after.value);
            crosses.then(|| value(from + share.clamp(0.0, 1.0) * (to - from)))
        });
        let mut between: Vec<[f64; 2]> = Vec::new();
        let mut was_held = false;
        for (at, interval) in &fitted {
            let is_held = holds(interval);
            match between.last_mut() {
                Some(last) if is_held && was_held => last[1] = value(*at),
                _ if is_held => between.push([value(*at); 2]),
                _ => {}
            }
            was_held = is_held;
        }
        Crossing {
            at,
            between,
            is_open_below: fitted.first().is_some_and(|(_, interval)| holds(interval)),
            is_open_above: fitted.last().is_some_and(|(_, interval)| holds(interval)),
        }
    }

    fn on_logistic_scale(&self, at: f64) -> Interval {
        let (value, variance) = self.posterior.at(at);
        let error = self.quantile * variance.sqrt();
        Interval { value, low: value - error, high: value + error }
    }
}

impl Scale {
    fn over(first: f64, last: f64) -> Self {
        let is_logarithmic = first > 0.0 && last >= WIDE * first;
        let place = |value: f64| if is_logarithmic { libm::log(value) } else { value };
        Self { is_logarithmic, from: place(first), to: place(last) }
    }

    /// From 0 at the first value to 1 at the last.
    fn position(self, value: f64) -> f64 {
        let place = if self.is_logarithmic { libm::log(value) } else { value };
        (place - self.from) / (self.to - self.from)
    }

    fn value(self, position: f64) -> f64 {
        let place = self.from + position * (self.to - self.from);
        if self.is_logarithmic { libm::exp(place) } else { place }
    }
}

fn score_of_logit(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}
