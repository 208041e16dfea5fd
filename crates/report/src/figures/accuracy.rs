//! How well players choose: shares of best moves and of kept wins over the values of an axis, and the former over the
//! positions' distance from the start.

use indexmap::IndexMap;
use spelrum_answers::{CellAccuracy, Report};
use spelrum_statistics::choice;
use spelrum_statistics::choice::Accuracy;

use super::along::{Along, Place};
use super::lines::{Line, Sorted, points_max};
use super::results::{ROWS_MAX, omission_note, omitted_lines_note, thinned};
use super::times::family;
use crate::plot::{Axis, Chart, Estimate, Figure, Intervals, Panel, Point};
use crate::tables::accuracy::{self as tables, ACCURACY, WINS};
use crate::tables::axes::cells_by_id;
use crate::text::{Column, optional, percent};

/// A share of moves that is plotted.
#[derive(Clone, Copy)]
struct Measure {
    /// The table that the plot precedes.
    before: &'static str,
    title: &'static str,
    /// Label of the axis.
    share: &'static str,
    /// Heading in the table of numbers.
    heading: &'static str,
    figure: fn(&Accuracy) -> Option<choice::Estimate>,
    /// The share of a random mover, with the number of positions.
    chance: fn(&Accuracy) -> Option<(u64, f64)>,
}

const BEST: Measure = Measure {
    before: ACCURACY.name,
    title: "Best moves",
    share: "best moves, of all chosen",
    heading: "best",
    figure: |accuracy| Some(accuracy.best),
    chance: |accuracy| Some((accuracy.positions, accuracy.random_best)),
};

const KEPT: Measure = Measure {
    before: WINS.name,
    title: "Wins kept",
    share: "moves that win, of all chosen where some do and some do not",
    heading: "kept",
    figure: |accuracy| Some(accuracy.wins?.share),
    chance: |accuracy| Some((accuracy.wins?.positions, accuracy.wins?.random)),
};

/// A cell's share with its place.
struct PlacedCell<'r> {
    player: &'r str,
    place: Vec<Option<String>>,
    accuracy: &'r Accuracy,
    estimate: Estimate,
}

/// The share of best moves with its interval, and that of a random mover.
pub(super) fn best(report: &Report, axis: Option<&str>) -> Option<Figure> {
    share_figure(report, BEST, axis)
}

/// The same for kept wins, if any could be kept.
pub(super) fn wins(report: &Report, axis: Option<&str>) -> Option<Figure> {
    share_figure(report, KEPT, axis)
}

fn share_figure(report: &Report, measure: Measure, axis: Option<&str>) -> Option<Figure> {
    let all = placed(report, measure, |cell| cell.plies.is_none().then(Vec::new));
    if all.is_empty() {
        return None;
    }
    let (reference, mut notes) = chance(&all, measure);
    let along = Along::choose(&report.axes, all.iter().map(|cell| &*cell.place), true, axis);
    let Measure { before, title, share, .. } = measure;
    let Some(along) = along else {
        notes.extend(omission_note(all.len(), ROWS_MAX, "cells", before));
        let rows: Vec<(String, Estimate)> =
            all.iter().take(ROWS_MAX).map(|cell| (cell.player.to_owned(), cell.estimate)).collect();
        let numbers =
            rows.iter().map(|(name, estimate)| [vec![name.clone()], figures(*estimate)].concat());
        return Some(Figure {
            before,
            title: title.to_owned(),
            notes,
            columns: columns(vec![Column::words("player")], measure),
            rows: numbers.collect(),
            panels: vec![Panel {
                heading: None,
                chart: Chart::Intervals(Intervals { x: Axis::for_shares(share), reference, rows }),
            }],
        });
    };
    let title = format!("{title} by {}", along.name);
    Some(curves(measure, title, &report.axes, all, along, reference, notes))
}

/// The same by the plies before the position.
pub(super) fn by_plies(report: &Report) -> Option<Figure> {
    const PLIES: &str = "plies before the position";
    let measure = Measure { before: tables::PLIES.name, ..BEST };
    let all = placed(report, measure, |cell| Some(vec![Some(cell.plies?.to_string())]));
    let axes = [report.axes.clone(), vec![PLIES.to_owned()]].concat();
    // None of the sweep's axes, so that all are named.
    let axes_count = report.axes.len();
    let along = Along::choose(
        &axes[axes_count..],
        all.iter().map(|cell| &cell.place[axes_count..]),
        false,
        None,
    )?
    .beyond(axes_count);
    let notes = vec!["Whiskers are 95% intervals.".to_owned()];
    let title = format!("Best moves by {PLIES}");
    Some(curves(measure, title, &axes, all, along, None, notes))
}

fn curves(
    measure: Measure,
    title: String,
    axes: &[String],
    all: Vec<PlacedCell<'_>>,
    along: Along,
    reference: Option<f64>,
    mut notes: Vec<String>,
) -> Figure {
    let before = measure.before;
    let mut groups: IndexMap<[String; 2], Vec<PlacedCell<'_>>> = IndexMap::new();
    for cell in all.into_iter().filter(|cell| along.touches(&cell.place)) {
        let player = if along.is_varied { family(cell.player, axes) } else { cell.player };
        let name = [player.to_owned(), along.elsewhere(axes, &cell.place)];
        groups.entry(name).or_default().push(cell);
    }
    let along = thinned(along, points_max(groups.len()), &mut notes, before);
    let lines = groups.into_iter().map(|([players, place], cells)| {
        let point = |cell: &PlacedCell<'_>| {
            Some(Point { at: along.at(&cell.place)?.0, estimate: cell.estimate })
        };
        Line::new(players, place, cells.iter().filter_map(point).collect())
    });
    let sorted = Sorted::new(lines.collect());
    notes.extend(omitted_lines_note(sorted.left_out, before));
    Figure {
        before,
        title,
        notes,
        columns: columns(sorted.columns(&along.name), measure),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &Axis::for_shares(measure.share), reference),
    }
}

/// Returns the accuracies that have such a share and a further place, with that place after the cell's.
fn placed<'r>(
    report: &'r Report,
    measure: Measure,
    further: impl Fn(&CellAccuracy) -> Option<Vec<Option<String>>>,
) -> Vec<PlacedCell<'r>> {
    let cells = cells_by_id(report);
    let place_cell = |accuracy: &'r CellAccuracy| {
        let cell = cells.get(&accuracy.cell)?;
        let axes: &Place = &cell.axes;
        let place = [axes.to_vec(), further(accuracy)?].concat();
        let choice::Estimate { value, interval } = (measure.figure)(&accuracy.accuracy)?;
        let estimate =
            Estimate { value, interval: interval.map(|bounds| [bounds.low, bounds.high]) };
        Some(PlacedCell { player: &cell.player, place, accuracy: &accuracy.accuracy, estimate })
    };
    report.accuracy.iter().filter_map(place_cell).collect()
}

/// Returns the share of a random mover, if it is the same in all cells, and how to read it.
fn chance(all: &[PlacedCell<'_>], measure: Measure) -> (Option<f64>, Vec<String>) {
    match same_chance(all.iter().map(|cell| cell.accuracy), measure.chance) {
        Some(same) => {
            let share = percent(same);
            let reading =
                format!("Whiskers are 95% intervals; the line is a random mover, at {share}.");
            (Some(same), vec![reading])
        }
        None => (None, vec!["Whiskers are 95% intervals.".to_owned()]),
    }
}

/// Returns the expected share of a random mover, if it is the same for all.
fn same_chance<'a>(
    mut all: impl Iterator<Item = &'a Accuracy>,
    chance: fn(&Accuracy) -> Option<(u64, f64)>,
) -> Option<f64> {
    let (positions, first) = chance(all.next()?)?;
    let is_same = |accuracy: &Accuracy| {
        chance(accuracy).is_some_and(|(number, share)| {
            number == positions && (share - first).abs() <= 1e-9 * first
        })
    };
    all.all(is_same).then_some(first)
}

fn columns(first: Vec<Column>, measure: Measure) -> Vec<Column> {
    first.into_iter().chain([measure.heading, "low", "high"].map(Column::numbers)).collect()
}

fn figures(Estimate { value, interval }: Estimate) -> Vec<String> {
    let share = |share: f64| format!("{share:.4}");
    vec![
        share(value),
        optional(interval, |[low, _]| share(low)),
        optional(interval, |[_, high]| share(high)),
    ]
}
