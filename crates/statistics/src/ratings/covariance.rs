//! The uncertainty of ratings: the sandwich over clusters.

use nalgebra::{DMatrix, DVector};

use super::Tally;
use super::fit::Maximum;
use super::model::{Chances, ELO, Layout};
use crate::student::student_quantile;

/// The covariance of figures in Elo: the players' ratings, then the value of moving first.
pub(super) struct Covariance {
    /// The contribution of the games' clusters, before the factor for their number.
    clusters: DMatrix<f64>,
    /// The contribution of the virtual games.
    imagined: DMatrix<f64>,
}

/// The effective number of clusters behind a figure, as if all had the same number of games.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterCount(f64);

impl ClusterCount {
    /// Kish's effective number, from the games in each cluster.
    pub(super) fn from_games(sum: f64, squares: f64) -> Self {
        Self(if squares > 0.0 { sum * sum / squares } else { 0.0 })
    }

    /// The smaller number of two, which determines their difference.
    pub(super) fn least(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

impl Covariance {
    /// Tallies are sorted by cluster. `None` if only rounding errors are left.
    pub(super) fn new(layout: &Layout, maximum: &Maximum, tallies: &[Tally]) -> Option<Self> {
        let bread = maximum.curvature.as_ref()?;
        let at = &maximum.at;
        let to_elo = elo_jacobian(layout, at);
        let sandwich = |filling: &DMatrix<f64>| {
            let half = bread.solve(&to_elo.transpose());
            half.transpose() * filling * half
        };
        Some(Self {
            clusters: sandwich(&clusters(layout, at, tallies)),
            imagined: sandwich(&imagined(layout, at)),
        })
    }

    /// Half the width of the 95% interval of a weighted sum of figures.
    pub(super) fn error(&self, weights: &[(usize, f64)], clusters: ClusterCount) -> Option<f64> {
        let (variance, freedom) = self.variance(weights, clusters);
        Some(quantile(freedom)? * variance.sqrt())
    }

    /// The variance of a weighted sum of figures, and its degrees of freedom; below one the variance is unknown.
    pub(super) fn variance(&self, weights: &[(usize, f64)], clusters: ClusterCount) -> (f64, f64) {
        let quadratic = |matrix: &DMatrix<f64>| -> f64 {
            let rows =
                weights.iter().flat_map(|&row| weights.iter().map(move |&column| (row, column)));
            rows.map(|((row, a), (column, b))| a * b * matrix[(row, column)]).sum()
        };
        let ClusterCount(effective) = clusters;
        let freedom = effective - 1.0;
        let variance = effective / freedom * quadratic(&self.clusters) + quadratic(&self.imagined);
        (variance.max(0.0), freedom)
    }
}

/// Student's 97.5% quantile; interpolated linearly in the reciprocal between whole degrees of freedom. `None` below one
/// degree.
fn quantile(freedom: f64) -> Option<f64> {
    // Corrects rounding of one whole degree.
    let freedom = if freedom < 1.0 && freedom > 1.0 - 1e-9 { 1.0 } else { freedom };
    if freedom < 1.0 {
        return None;
    }
    let low = freedom.floor();
    let high = low + 1.0;
    let share = (1.0 / freedom - 1.0 / high) / (1.0 / low - 1.0 / high);
    Some(share * student_quantile(low) + (1.0 - share) * student_quantile(high))
}

/// The derivative of each figure in Elo by each parameter: a unit of strength is worth `ELO` * 2 / (2 + nu), and nu is
/// a parameter too.
fn elo_jacobian(layout: &Layout, at: &DVector<f64>) -> DMatrix<f64> {
    let scale = elo_scale(layout, at);
    let figures = layout.players + usize::from(layout.first_move.is_some());
    let mut jacobian = DMatrix::zeros(figures, layout.parameters());
    for figure in 0..figures {
        jacobian[(figure, figure)] = scale;
        if let Some(draws) = layout.draws {
            let nu = libm::exp(at[draws]);
            jacobian[(figure, draws)] = -scale * nu / (2.0 + nu) * at[figure];
        }
    }
    jacobian
}

/// Elo per unit of strength.
pub(super) fn elo_scale(layout: &Layout, at: &DVector<f64>) -> f64 {
    ELO * (1.0 - draw_rate(layout, at))
}

/// The share of draws between equal players, apart from the first move.
pub(super) fn draw_rate(layout: &Layout, at: &DVector<f64>) -> f64 {
    Chances::new(0.0, layout.log_nu(at)).draw
}

/// The sum of squares of the clusters' gradients.
fn clusters(layout: &Layout, at: &DVector<f64>, tallies: &[Tally]) -> DMatrix<f64> {
    let size = layout.parameters();
    let mut filling = DMatrix::zeros(size, size);
    let mut gradient = vec![0.0; size];
    // The parameters involved in the cluster's games: few, if there are many players.
    let mut touched: Vec<usize> = Vec::with_capacity(size);
    let mut is_touched = vec![false; size];
    for cluster in tallies.chunk_by(|a, b| a.cluster == b.cluster) {
        let mut add = |parameter: usize, residual: f64| {
            if !is_touched[parameter] {
                is_touched[parameter] = true;
                touched.push(parameter);
            }
            gradient[parameter] += residual;
        };
        for tally in cluster {
            let (first, second) = (tally.first as usize, tally.second as usize);
            let chances = layout.chances(at, first, second);
            let games = f64::from(tally.games());
            let points = (f64::from(tally.wins) - f64::from(tally.losses)) / 2.0;
            let residual = points - games * chances.lead();
            if first != second {
                add(first, residual);
                add(second, -residual);
            }
            if let Some(first_move) = layout.first_move {
                add(first_move, residual);
            }
            if let Some(draws) = layout.draws {
                add(draws, f64::from(tally.draws) - games * chances.draw);
            }
        }
        for &row in &touched {
            for &column in &touched {
                filling[(row, column)] += gradient[row] * gradient[column];
            }
        }
        for parameter in touched.drain(..) {
            gradient[parameter] = 0.0;
            is_touched[parameter] = false;
        }
    }
    filling
}

/// The sum of squares for the virtual games, each half a win and half a loss.
fn imagined(layout: &Layout, at: &DVector<f64>) -> DMatrix<f64> {
    let size = layout.parameters();
    let mut filling = DMatrix::zeros(size, size);
    for (parameter, chances) in layout.virtual_games(at) {
        for points in [0.5, -0.5] {
            let mut gradient = vec![(parameter, points - chances.lead())];
            gradient.extend(layout.draws.map(|draws| (draws, -chances.draw)));
            for &(row, a) in &gradient {
                for &(column, b) in &gradient {
                    filling[(row, column)] += a * b / 2.0;
                }
            }
        }
    }
    filling
}
