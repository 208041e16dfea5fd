//! Scores as curves along each axis of numbers, with their bands.

use std::collections::BTreeSet;

use spelrum_answers::{CellCurve, Comparisons};

use super::along::Along;
use super::lines::{Line, Sorted, meeting};
use super::results::omitted_lines_note;
use crate::plot::{Axis, Estimate, Figure, Point};
use crate::tables::curves::{CROSSINGS, CURVES, is_time};
use crate::text::Column;

/// Draws the curves along each axis, or along this one.
pub(super) fn figures(compared: &Comparisons, axis: Option<&str>) -> Vec<Figure> {
    let axes: BTreeSet<usize> = compared.curves.iter().map(|curve| curve.axis).collect();
    let is_chosen = |index: &usize| axis.is_none_or(|axis| compared.axes[*index] == axis);
    axes.into_iter().filter(is_chosen).filter_map(|index| along(compared, index)).collect()
}

fn along(compared: &Comparisons, index: usize) -> Option<Figure> {
    let curves = || compared.curves.iter().filter(|curve| curve.axis == index);
    let places: Vec<Vec<Option<String>>> = curves()
        .flat_map(|curve| curve.points.iter().map(|point| place(curve, &point.value)))
        .collect();
    let name = &compared.axes[index];
    let places = places.iter().map(|place| &**place);
    let along = Along::choose(&compared.axes, places, false, Some(name))?;
    let sorted = Sorted::new(curves().map(|curve| line(compared, &along, curve)).collect());
    let mut notes = vec![
        "The curve of the score of the player named first, with its 95% band at each value, and the scores of the cells."
            .to_owned(),
    ];
    notes.extend(omitted_lines_note(sorted.left_out, CURVES.name));
    let mut columns = sorted.columns(name);
    columns.push(Column::numbers("score"));
    Some(Figure {
        before: CROSSINGS.name,
        title: format!("Score as a curve along {name}"),
        notes,
        columns,
        rows: sorted.rows(&along, |score| vec![format!("{:.4}", score.value)]),
        panels: sorted.panels(
            &along.axis(),
            &Axis::for_scores("points per game of the player named first"),
            Some(0.5),
        ),
    })
}

fn line(compared: &Comparisons, along: &Along, curve: &CellCurve) -> Line {
    let points = curve.points.iter().filter_map(|point| {
        let (at, _) = along.at(&place(curve, &point.value))?;
        Some(Point { at, estimate: Estimate { value: point.score, interval: None } })
    });
    // Plots have times in microseconds.
    let unit = if is_time(curve) { 1e3 } else { 1.0 };
    let fitted = curve.drawn.iter().map(|(number, score)| Point {
        at: number * unit,
        estimate: Estimate { value: score.value, interval: Some([score.low, score.high]) },
    });
    let players = meeting(&curve.player, &curve.opponent);
    let elsewhere = along.elsewhere(&compared.axes, &curve.place);
    Line::new(players, elsewhere, points.collect()).with_curve(fitted.collect())
}

/// The place of a cell on a curve.
fn place(curve: &CellCurve, value: &str) -> Vec<Option<String>> {
    let mut place = curve.place.clone();
    place[curve.axis] = Some(value.to_owned());
    place
}
