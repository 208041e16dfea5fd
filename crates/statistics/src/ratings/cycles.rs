//! How far scores are from one scale: the size of their cyclic part, with its interval.
//!
//! What is left of the scores once the fit has taken all that strengths explain is the cyclic part of a Hodge
//! decomposition (Jiang, Lim, Yao and Ye 2011), weighted by the variance of points.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::residuals::{EVEN_GAME, Residuals, sum_of_squares};
use crate::elo::elo_of_score;
use crate::student::student_quantile;

/// The greatest departure that is shown, in points per game: a larger one is infinite in Elo.
const DEPARTURE_MAX: f64 = 0.499;
const BISECTIONS: u32 = 60;

/// The size of departures from one scale: the root mean square over all games of the expected score less the scale's,
/// as the difference in Elo that moves an even score by as much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CycleSize")]
pub struct Cycles {
    /// The estimate, less what chance alone adds; 0 if chance alone explains more.
    pub elo: f64,
    /// The lower end of its 95% interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// With T the pairings' residuals and each weighted by one over its games, T'T exceeds the square of what is sought by
/// the trace of T's covariance. T'T is about Gamma distributed; the interval has all sizes that do not make the
/// observed T'T improbable.
pub(super) fn cycles(residuals: &Residuals) -> Cycles {
    let groups = residuals.groups;
    let mut products = DMatrix::<f64>::zeros(groups, groups);
    let (mut games, mut rank) = (0.0, 0.0);
    let mut unseen = 0.0;
    for (pairing, parts) in residuals.iter() {
        games += pairing.games;
        rank += pairing.free / pairing.variance;
        // Also a pairing whose games all went alike is uncertain by a part of one.
        unseen += (EVEN_GAME - sum_of_squares(parts)).max(0.0) / pairing.games;
        for (column, &by) in parts.iter().enumerate() {
            let by = by / pairing.games;
            for (row, &part) in parts.iter().enumerate().take(column + 1) {
                products[(row, column)] += part * by;
            }
        }
    }
    products.fill_lower_triangle_with_upper_triangle();
    let observed = products.sum();
    let count = groups as f64;
    let freedom = count - 1.0;
    // The groups' products, and their products with the sum, around their means.
    let along: Vec<f64> = products.row_iter().map(|row| row.sum()).collect();
    let mean = observed / (count * count);
    let centred = DMatrix::from_fn(groups, groups, |row, column| {
        products[(row, column)] - (along[row] + along[column]) / count + mean
    });
    // Unbiased estimates from a Wishart matrix: of the trace, and of the trace of the square.
    let (trace, square) = (centred.trace(), centred.norm_squared());
    let noise = count * trace / freedom;
    let of_squares =
        count * count * (square - trace * trace / freedom) / ((freedom - 1.0) * (freedom + 2.0));
    let of_squares = of_squares.clamp(noise * noise / rank.max(1.0), noise * noise);
    let across: f64 = along.iter().map(|part| squared(part - observed / count)).sum();
    let typical = if noise > 0.0 { of_squares / noise } else { 0.0 };
    let along = if observed > 0.0 { count / freedom * across / observed } else { 0.0 };
    let along = along.max(typical);
    let quantile = student_quantile(freedom);
    // The cube root of a Gamma variable is nearly normal (Wilson and Hilferty 1931).
    let bound = |size: f64, sign: f64| {
        let mean = noise + size;
        let variance = 2.0 * of_squares * (1.0 + 1.0 / freedom) + 4.0 * size * along;
        let ninth = variance / (9.0 * mean * mean);
        let root = 1.0 - ninth + sign * quantile * ninth.sqrt();
        let root = root.max(0.0);
        mean * (root * root * root)
    };
    let end = |sign: f64| {
        if noise <= 0.0 {
            return observed;
        }
        // With one independent departure its root is normal.
        if rank < 1.5 {
            let root = observed.max(0.0).sqrt() - sign * quantile * noise.sqrt();
            return squared(root.max(0.0));
        }
        // The size under which the observed sum is just not improbable; both bounds rise with it.
        let (mut low, mut high) = (0.0, observed + noise);
        while bound(high, sign) < observed {
            high *= 2.0;
        }
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if bound(middle, sign) < observed { low = middle } else { high = middle }
        }
        low
    };
    let elo = |size: f64| {
        let departure = (size.max(0.0) / games).sqrt();
        elo_of_score(0.5 + departure.min(DEPARTURE_MAX))
    };
    // What was not seen may be there, and what was seen may be no more than that.
    let low = squared((end(1.0).max(0.0).sqrt() - unseen.sqrt()).max(0.0));
    let high = squared(end(-1.0).max(0.0).sqrt() + unseen.sqrt());
    Cycles { elo: elo(observed - noise - unseen), low: elo(low), high: elo(high) }
}

fn squared(value: f64) -> f64 {
    value * value
}
