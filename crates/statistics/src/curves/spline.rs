//! The smoothing spline behind a curve: a mixture over how large departures from the line are.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::Clustered;

/// Standard deviations of the departure's second derivative that are tried, beside none: from hardly any bend over the
/// whole axis to a step between two of sixty values.
const DEPARTURES: [f64; 12] =
    [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0, 2_048.0];

/// Curves of several sizes of departures, with their weights.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Posterior {
    positions: Vec<f64>,
    parts: Vec<(f64, Spline)>,
}

/// The curve for one size of departures.
#[derive(Clone, Debug, PartialEq)]
struct Spline {
    variance: f64,
    /// The line: its value at 0, and its slope.
    line: [f64; 2],
    /// The covariance of the line.
    line_covariance: DMatrix<f64>,
    /// The inverse of the covariance of the scores, times the residuals.
    weights: DVector<f64>,
    inverse: DMatrix<f64>,
    /// The inverse, times the columns of the line.
    inverse_line: DMatrix<f64>,
}

impl Posterior {
    /// Fits scores at these positions, from 0 to 1. `None` if rounding errors leave nothing.
    pub(super) fn fit(positions: &[f64], scores: &[&Clustered]) -> Option<Self> {
        let logits: Vec<Logit<'_>> = scores.iter().map(|score| Logit::from_score(score)).collect();
        let errors = DMatrix::from_fn(logits.len(), logits.len(), |row, column| {
            logits[row].covariance(&logits[column], row == column)
        });
        let values = DVector::from_iterator(logits.len(), logits.iter().map(|logit| logit.value));
        let sizes = std::iter::once(0.0).chain(DEPARTURES.map(|deviation| deviation * deviation));
        let fitted: Vec<(f64, Spline)> = sizes
            .filter_map(|variance| Spline::fit(positions, &values, &errors, variance))
            .collect();
        let most =
            fitted.iter().map(|(likelihood, _)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
        let weight = |likelihood: f64| libm::exp(likelihood - most);
        let total: f64 = fitted.iter().map(|(likelihood, _)| weight(*likelihood)).sum();
        if !(total.is_finite() && total > 0.0) {
            return None;
        }
        let parts = fitted
            .into_iter()
            .map(|(likelihood, spline)| (weight(likelihood) / total, spline))
            // What is left out is far within rounding of what is shown.
            .filter(|(weight, _)| *weight > 1e-6)
            .collect();
        Some(Self { positions: positions.to_vec(), parts })
    }

    /// The curve's mean and variance at a position, on the logistic scale.
    pub(super) fn at(&self, position: f64) -> (f64, f64) {
        let parts: Vec<(f64, f64, f64)> = self
            .parts
            .iter()
            .map(|(weight, spline)| {
                let (mean, variance) = spline.at(position, &self.positions);
                (*weight, mean, variance)
            })
            .collect();
        let mean: f64 = parts.iter().map(|(weight, mean, _)| weight * mean).sum();
        let spread = |&(weight, part, variance): &(f64, f64, f64)| {
            weight * (variance + (part - mean) * (part - mean))
        };
        (mean, parts.iter().map(spread).sum())
    }
}

impl Spline {
    /// The curve, and the logarithm of its restricted likelihood but for a constant.
    fn fit(
        positions: &[f64],
        values: &DVector<f64>,
        errors: &DMatrix<f64>,
        variance: f64,
    ) -> Option<(f64, Self)> {
        let count = positions.len();
        let covariance = DMatrix::from_fn(count, count, |row, column| {
            errors[(row, column)] + variance * kernel(positions[row], positions[column])
        });
        let line = DMatrix::from_fn(count, 2, |row, column| [1.0, positions[row]][column]);
        let covariance = Cholesky::new(covariance)?;
        let inverse_line = covariance.solve(&line);
        let information = Cholesky::new(line.transpose() * &inverse_line)?;
        let coefficients = information.solve(&(inverse_line.transpose() * values));
        let residuals = values - &line * &coefficients;
        let weights = covariance.solve(&residuals);
        let likelihood = -0.5
            * (log_determinant(&covariance)
                + log_determinant(&information)
                + residuals.dot(&weights));
        let spline = Self {
            variance,
            line: [coefficients[0], coefficients[1]],
            line_covariance: information.inverse(),
            weights,
            inverse: covariance.inverse(),
            inverse_line,
        };
        likelihood.is_finite().then_some((likelihood, spline))
    }

    /// The mean and the variance at a position.
    fn at(&self, position: f64, positions: &[f64]) -> (f64, f64) {
        let shared = DVector::from_iterator(
            positions.len(),
            positions.iter().map(|&other| self.variance * kernel(position, other)),
        );
        let mean = self.line[0] + self.line[1] * position + shared.dot(&self.weights);
        // Of the departure, given the line; and of the line, as far as the departure does not follow it.
        let departure =
            self.variance * kernel(position, position) - shared.dot(&(&self.inverse * &shared));
        let left = DVector::from_vec(vec![1.0, position]) - self.inverse_line.transpose() * &shared;
        let line = left.dot(&(&self.line_covariance * &left));
        (mean, departure.max(0.0) + line)
    }
}

/// The covariance of an integrated Wiener process of unit variance at two positions.
fn kernel(one: f64, other: f64) -> f64 {
    let (less, more) = (one.min(other), one.max(other));
    less * less * (3.0 * more - less) / 6.0
}

fn log_determinant(matrix: &Cholesky<f64, Dyn>) -> f64 {
    2.0 * matrix.l_dirty().diagonal().iter().map(|&entry| libm::log(entry)).sum::<f64>()
}

/// A score on the logistic scale.
struct Logit<'a> {
    score: &'a Clustered,
    value: f64,
    /// How much the logit moves with the score.
    slope: f64,
}

impl<'a> Logit<'a> {
    /// With half an opening of each extreme score, so that no score is 0 or 1.
    fn from_score(score: &'a Clustered) -> Self {
        let openings = score.freedom() + 1.0;
        let shrunk = (openings * score.value() + 0.5) / (openings + 1.0);
        let lost = 1.0 - shrunk;
        Self { score, value: libm::log(shrunk / lost), slope: 1.0 / (shrunk * lost) }
    }

    fn covariance(&self, other: &Self, is_itself: bool) -> f64 {
        let covariance =
            if is_itself { self.score.variance() } else { self.score.covariance(other.score) };
        self.slope * other.slope * covariance
    }
}
