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
//!
//! A curve that only rises or only falls is the same one with its steps in order, and so is its band (Chernozhukov,
//! Fernández-Val and Galichon 2009, "Improving point and interval estimators of monotone functions by rearrangement").

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
/// Steps between the first and the last value in which the curve is computed. Between two it is a straight line.
const STEPS: usize = 512;
/// Steps from each point of a drawing to the next.
const STEPS_DRAWN: usize = 16;

/// What is known of a curve's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Any,
    /// It only rises, or it only falls.
    Monotone,
}

/// A curve through the scores at several values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    scale: Scale,
    /// The curve with its band on the logistic scale, at [`STEPS`] + 1 positions from the first value to the last.
    steps: Vec<Interval>,
}

/// Where a curve crosses one half.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// The value at which the curve first is one half; `None` if it is nowhere.
    pub at: Option<f64>,
    /// Values at which the band holds one half, from and to: with a probability of 95% the true curve is one half there
    /// or nowhere between the first and the last value. Each range reaches to where the band is known to exclude one half.
    /// Empty if the band excludes one half everywhere.
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
    pub fn fit(points: &[(f64, &Clustered)], shape: Shape) -> Option<Self> {
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
        let at = |step: usize| {
            let (value, variance) = posterior.at(step as f64 / STEPS as f64);
            let error = quantile * variance.sqrt();
            Interval { value, low: value - error, high: value + error }
        };
        let mut steps: Vec<Interval> = (0..=STEPS).map(at).collect();
        match shape {
            Shape::Any => {}
            Shape::Monotone => rearrange(&mut steps),
        }
        Some(Self { scale, steps })
    }

    /// The score at a value between the first and the last, with its 95% band at this value. Values outside are moved to
    /// the nearer end: nothing is known there.
    #[must_use]
    pub fn score_at(&self, value: f64) -> Interval {
        let steps = self.scale.position(value).clamp(0.0, 1.0) * STEPS as f64;
        let before = (steps as usize).min(STEPS - 1);
        let share = steps - before as f64;
        let between = |end: fn(&Interval) -> f64| {
            end(&self.steps[before]) * (1.0 - share) + end(&self.steps[before + 1]) * share
        };
        Interval {
            value: between(|at| at.value),
            low: between(|at| at.low),
            high: between(|at| at.high),
        }
        .map(score_of_logit)
    }

    /// The curve at evenly spaced positions from the first value to the last, with its band: enough to draw it.
    pub fn drawn(&self) -> impl Iterator<Item = (f64, Interval)> + '_ {
        let steps = self.steps.iter().enumerate().step_by(STEPS_DRAWN);
        steps.map(|(step, at)| (self.value_of_step(step), at.map(score_of_logit)))
    }

    /// Where the curve crosses one half.
    #[must_use]
    pub fn crossing(&self) -> Crossing {
        let holds = |interval: &Interval| interval.low <= 0.0 && interval.high >= 0.0;
        let mut at = None;
        let mut between: Vec<[f64; 2]> = Vec::new();
        let mut was_held = false;
        for (step, ends) in self.steps.windows(2).enumerate() {
            let crosses = ends[0].value == 0.0 || (ends[0].value > 0.0) != (ends[1].value > 0.0);
            let [from, to] = [self.value_of_step(step), self.value_of_step(step + 1)];
            if crosses && at.is_none() {
                let share = match ends[0].value {
                    0.0 => 0.0,
                    value => (value / (value - ends[1].value)).clamp(0.0, 1.0),
                };
                let position = (step as f64 + share) / STEPS as f64;
                at = Some(self.scale.value(position));
            }
            let is_held = crosses || holds(&ends[0]) || holds(&ends[1]);
            match between.last_mut() {
                Some(last) if is_held && was_held => last[1] = to,
                _ if is_held => between.push([from, to]),
                _ => {}
            }
            was_held = is_held;
        }
        Crossing {
            at,
            between,
            is_open_below: holds(&self.steps[0]),
            is_open_above: holds(&self.steps[STEPS]),
        }
    }

    fn value_of_step(&self, step: usize) -> f64 {
        self.scale.value(step as f64 / STEPS as f64)
    }
}

/// Puts a curve and the ends of its band in order: rising if it ends above its beginning, or falling.
fn rearrange(steps: &mut [Interval]) {
    let rises = steps.last().map(|last| last.value) >= steps.first().map(|first| first.value);
    let in_order = |end: fn(&Interval) -> f64| {
        let mut ends: Vec<f64> = steps.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        if !rises {
            ends.reverse();
        }
        ends
    };
    let [values, lows, highs] =
        [in_order(|at| at.value), in_order(|at| at.low), in_order(|at| at.high)];
    for (step, at) in steps.iter_mut().enumerate() {
        *at = Interval { value: values[step], low: lows[step], high: highs[step] };
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
