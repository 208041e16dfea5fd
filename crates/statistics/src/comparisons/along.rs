//! Curves of a player's score along each axis of numbers, and where they cross one half.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ComparedCell, Values, by_pairing};
use crate::Interval;
use crate::curves::{CURVE_POINTS_MAX, CURVE_POINTS_MIN, Crossing, Curve, Shape};

/// Most curves returned.
pub const CURVES_MAX: usize = 500;

/// A curve through a player's scores against an opponent along an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveAlong<Cell> {
    /// The axis's index.
    pub axis: usize,
    /// The values on the other axes.
    pub place: Vec<Option<String>>,
    /// The player's name.
    pub player: String,
    /// The opponent's name.
    pub opponent: String,
    /// The cells, in the order of their values.
    pub points: Vec<PointOfCurve<Cell>>,
    /// Whether the axis has further values, which the curve does not use.
    pub is_cut: bool,
    /// Whether the curve only rises or only falls, as the sweep says of the axis.
    pub is_monotone: bool,
    /// The curve with its 95% band at evenly spaced positions from the first value to the last, by the numbers of the axis.
    pub drawn: Vec<(f64, Interval)>,
    /// Where the score is one half, in the numbers of the axis.
    pub crossing: Crossing,
}

/// A cell on a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointOfCurve<Cell> {
    /// The cell.
    pub cell: Cell,
    /// Its value on the axis.
    pub value: String,
    /// The value as a number; times are in milliseconds.
    pub number: f64,
    /// The score in the cell itself.
    pub score: f64,
    /// The score by the curve, with its 95% band at this value.
    pub fitted: Interval,
}

/// Cells of a pairing that differ on one axis only, by the places of their values.
pub(super) type Line<'a, Cell> = Vec<(usize, &'a ComparedCell<Cell>)>;

/// The lines along an axis, each in the order of its values; lines in the order of their first cells.
pub(super) fn lines<'a, Cell>(
    axis: usize,
    pairing: &[&'a ComparedCell<Cell>],
    values: &Values<'_>,
) -> Vec<Line<'a, Cell>> {
    let mut lines: Vec<Line<'a, Cell>> = Vec::new();
    let mut places: BTreeMap<Vec<Option<String>>, usize> = BTreeMap::new();
    for &cell in pairing {
        let Some(place) = cell.place[axis].as_deref().and_then(|value| values.place(value)) else {
            continue;
        };
        let next = lines.len();
        let line = *places.entry(without(axis, &cell.place)).or_insert(next);
        if line == next {
            lines.push(Vec::new());
        }
        lines[line].push((place, cell));
    }
    for line in &mut lines {
        line.sort_by_key(|&(place, _)| place);
    }
    lines
}

/// A place without its value on one axis.
pub(super) fn without(axis: usize, place: &[Option<String>]) -> Vec<Option<String>> {
    let mut place = place.to_vec();
    place[axis] = None;
    place
}

/// The curves along each of these axes whose values are numbers, where cells of a pairing have four values or more
/// ([`CURVE_POINTS_MIN`]); unbounded values are left out, and those after the first [`CURVE_POINTS_MAX`]. Cells come in
/// the grid's order. Returns at most [`CURVES_MAX`], and whether there were more.
#[must_use]
pub fn curves<Cell: Copy>(
    axes: &[(usize, Shape)],
    cells: &[ComparedCell<Cell>],
) -> (Vec<CurveAlong<Cell>>, bool) {
    let mut all = Vec::new();
    for pairing in by_pairing(cells) {
        for &(axis, shape) in axes {
            let values = Values::on(axis, &pairing);
            if !values.are_numbers || values.len() < CURVE_POINTS_MIN {
                continue;
            }
            for line in lines(axis, &pairing, &values) {
                if all.len() == CURVES_MAX {
                    return (all, true);
                }
                all.extend(along(axis, shape, &line, &values));
            }
        }
    }
    (all, false)
}

fn along<Cell: Copy>(
    axis: usize,
    shape: Shape,
    line: &[(usize, &ComparedCell<Cell>)],
    values: &Values<'_>,
) -> Option<CurveAlong<Cell>> {
    let mut points: Vec<(f64, usize, &ComparedCell<Cell>)> = line
        .iter()
        .filter_map(|&(place, cell)| Some((values.number(place)?, place, cell)))
        .filter(|(number, ..)| number.is_finite())
        .collect();
    let is_cut = points.len() > CURVE_POINTS_MAX;
    points.truncate(CURVE_POINTS_MAX);
    let scores: Vec<_> = points.iter().map(|(number, _, cell)| (*number, &cell.score)).collect();
    let curve = Curve::fit(&scores, shape)?;
    let first = points.first()?.2;
    Some(CurveAlong {
        axis,
        place: without(axis, &first.place),
        player: first.player.clone(),
        opponent: first.opponent.clone(),
        points: points
            .iter()
            .map(|&(number, place, cell)| PointOfCurve {
                cell: cell.cell,
                value: values.at(place),
                number,
                score: cell.score.value(),
                fitted: curve.score_at(number),
            })
            .collect(),
        is_cut,
        is_monotone: shape == Shape::Monotone,
        drawn: curve.drawn().collect(),
        crossing: curve.crossing(),
    })
}
