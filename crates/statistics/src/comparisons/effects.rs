//! The effect of each axis, over all cells of a pairing: main effects, and interactions of two axes.
//!
//! Ordinary least squares over the cells' scores. An axis of numbers goes from -1/2 at its smallest value to 1/2 at its
//! greatest, values in between by their order; so does an axis of two words, in the cells' order. On other axes each
//! value but the first is compared with the first. An interaction is the product of two such columns: how much larger
//! one effect is at the end of the other axis than at its beginning. Main effects are those in the middle of the other
//! axes.
//!
//! Every coefficient is a weighted sum of the cells' scores, which gives its error by openings (see [`Clustered`]). The
//! misfit of the linear model is an error as well, if there are more cells than coefficients: the squares of the
//! residuals, as far as they exceed what openings explain (White 1980, with the factor n / (n - p)).

use nalgebra::{DMatrix, DVector};

use super::{ComparedCell, Values, by_pairing};
use crate::{Clustered, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most cells of one pairing for which effects are computed: each coefficient is a sum over all their openings.
const CELLS_MAX: usize = 2_000;
/// Most coefficients: a larger model takes seconds.
const COEFFICIENTS_MAX: usize = 200;

/// The effects of the axes on a player's score against an opponent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effects {
    /// The player's name.
    pub player: String,
    /// The opponent's name.
    pub opponent: String,
    /// The number of cells.
    pub cells: u64,
    /// Main effects, in the axes' order, then interactions.
    pub effects: Vec<Effect>,
    /// Whether interactions are included; they are omitted if there are too few cells to estimate them.
    pub has_interactions: bool,
    /// The standard deviation of the model's misfit; `None` if there are no more cells than coefficients.
    pub residual: Option<f64>,
}

/// One effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The axis, or the two axes.
    pub contrasts: Vec<Contrast>,
    /// The player's gain in points per game; for two axes, how much larger the gain by one is at the end of the other
    /// than at its beginning.
    pub score: f64,
    /// Its 95% interval; `None` with too few openings.
    pub interval: Option<Interval>,
}

/// The two values of an axis that are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// The axis's index.
    pub axis: usize,
    /// The value before.
    pub from: String,
    /// The value after.
    pub to: String,
}

/// A column of the model: a contrast, and the level of each value of its axis.
struct Column {
    contrast: Contrast,
    /// The levels by the value's index.
    levels: Vec<f64>,
}

/// The effects in each pairing in which at least two of these axes have at least two values. Cells that lack one of
/// these axes are skipped. Cells come in the grid's order.
#[must_use]
pub fn effects<Cell>(axes: &[usize], cells: &[ComparedCell<Cell>]) -> Vec<Effects> {
    by_pairing(cells).iter().filter_map(|pairing| pairing_effects(axes, pairing)).collect()
}

fn pairing_effects<Cell>(axes: &[usize], pairing: &[&ComparedCell<Cell>]) -> Option<Effects> {
    let values: Vec<(usize, Values<'_>)> = axes
        .iter()
        .map(|&axis| (axis, Values::on(axis, pairing)))
        .filter(|(_, values)| values.len() > 1)
        .collect();
    let is_touched =
        |cell: &&&ComparedCell<Cell>| values.iter().all(|&(axis, _)| cell.place[axis].is_some());
    let cells: Vec<&ComparedCell<Cell>> = pairing.iter().filter(is_touched).copied().collect();
    if values.len() < 2 || cells.len() > CELLS_MAX {
        return None;
    }
    let columns: Vec<Column> =
        values.iter().flat_map(|(axis, values)| columns(*axis, values)).collect();
    let place = |cell: &ComparedCell<Cell>, column: &Column| {
        let axis = column.contrast.axis;
        let values = &values.iter().find(|(known, _)| *known == axis)?.1;
        column.levels.get(values.place(cell.place[axis].as_deref()?)?).copied()
    };
    let main: Vec<Vec<f64>> = cells
        .iter()
        .map(|cell| columns.iter().map(|column| place(cell, column).unwrap_or(0.0)).collect())
        .collect();
    let pairs: Vec<[usize; 2]> = (0..columns.len())
        .flat_map(|first| (first + 1..columns.len()).map(move |second| [first, second]))
        .filter(|&[first, second]| columns[first].contrast.axis != columns[second].contrast.axis)
        .collect();
    // Interactions need enough cells; otherwise they are part of the residuals.
    let (products, solution) = [&pairs[..], &[]].into_iter().find_map(|products| {
        let model = model(&main, products);
        (model.ncols() <= COEFFICIENTS_MAX && model.ncols() <= model.nrows())
            .then(|| Some((products, Solution::fit(&model, &cells)?)))
            .flatten()
    })?;
    let contrast = |column: usize| columns[column].contrast.clone();
    let named = (0..columns.len()).map(|column| vec![contrast(column)]);
    let named = named.chain(products.iter().map(|pair| pair.map(contrast).to_vec()));
    let effects = named.enumerate().map(|(index, contrasts)| {
        // After the constant.
        let effect = solution.coefficient(index + 1, &cells);
        Effect { contrasts, score: effect.value(), interval: effect.interval() }
    });
    Some(Effects {
        player: cells[0].player.clone(),
        opponent: cells[0].opponent.clone(),
        cells: cells.len() as u64,
        effects: effects.collect(),
        has_interactions: !products.is_empty(),
        residual: solution.residual(),
    })
}

fn columns(axis: usize, values: &Values<'_>) -> Vec<Column> {
    let count = values.len();
    let name = |place: usize| values.at(place);
    if !values.are_numbers && count > 2 {
        let column = |place: usize| Column {
            contrast: Contrast { axis, from: name(0), to: name(place) },
            levels: (0..count)
                .map(|other| f64::from(other == place) - 1.0 / count as f64)
                .collect(),
        };
        return (1..count).map(column).collect();
    }
    let contrast = Contrast { axis, from: name(0), to: name(count - 1) };
    let level = |place: usize| place as f64 / (count - 1) as f64 - 0.5;
    vec![Column { contrast, levels: (0..count).map(level).collect() }]
}

/// A constant, the columns, and products of columns.
fn model(main: &[Vec<f64>], products: &[[usize; 2]]) -> DMatrix<f64> {
    let width = 1 + main.first().map_or(0, Vec::len) + products.len();
    let row = |row: &Vec<f64>| {
        let products = products.iter().map(|&[first, second]| row[first] * row[second]);
        std::iter::once(1.0).chain(row.iter().copied()).chain(products).collect::<Vec<f64>>()
    };
    let values: Vec<f64> = main.iter().flat_map(row).collect();
    DMatrix::from_row_slice(main.len(), width, &values)
}

/// The model fitted to the cells' scores.
struct Solution {
    /// The weight of each cell's score in each coefficient.
    weights: DMatrix<f64>,
    residuals: DVector<f64>,
    /// The number of cells beyond the coefficients.
    freedom: usize,
}

impl Solution {
    /// `None` if the cells do not separate all columns.
    fn fit<Cell>(model: &DMatrix<f64>, cells: &[&ComparedCell<Cell>]) -> Option<Self> {
        // Levels are of the order of one, so that a pivot this small is rounding.
        const PIVOT_MIN: f64 = 1e-6;
        let normal = model.transpose() * model;
        let cholesky = normal.cholesky()?;
        if cholesky.l_dirty().diagonal().iter().any(|&pivot| pivot < PIVOT_MIN) {
            return None;
        }
        let weights = cholesky.solve(&model.transpose());
        let scores =
            DVector::from_iterator(cells.len(), cells.iter().map(|cell| cell.score.value()));
        let residuals = &scores - model * (&weights * &scores);
        Some(Self { weights, residuals, freedom: model.nrows() - model.ncols() })
    }

    fn coefficient<Cell>(&self, index: usize, cells: &[&ComparedCell<Cell>]) -> Clustered {
        let weights = self.weights.row(index);
        let terms: Vec<_> =
            weights.iter().copied().zip(cells.iter().map(|cell| &cell.score)).collect();
        let sum = Clustered::sum(&terms);
        if self.freedom == 0 {
            return sum;
        }
        let factor = cells.len() as f64 / self.freedom as f64;
        let squared = |(weight, residual): (&f64, &f64)| weight * weight * residual * residual;
        let missed: f64 = weights.iter().zip(&self.residuals).map(squared).sum::<f64>() * factor;
        let explained: f64 =
            terms.iter().map(|(weight, score)| weight * weight * score.variance()).sum();
        sum.with_error((missed - explained).max(0.0), self.freedom as f64)
    }

    fn residual(&self) -> Option<f64> {
        (self.freedom > 0).then(|| (self.residuals.norm_squared() / self.freedom as f64).sqrt())
    }
}
