//! How well players choose: shares of best moves and of kept wins over the values of an axis, and the former over the
//! positions' distance from the start.

use indexmap::IndexMap;
use spelrum_answers::{CellAccuracy, Report};
use spelrum_statistics::choice;
use spelrum_statistics::choice::Accuracy;

use super::along::{Along, Place};
use super::lines::{Line, Sorted, points_max};
use super::results::{ROWS_MAX, left_out, left_out_lines, thinned};
use super::times::family;
use crate::plot::{Axis, Chart, Estimate, Figure, Intervals, Panel, Point};
use crate::tables::accuracy::{ACCURACY, BY_PLIES, WINS, cells};
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
    before: ACCURACY,
    title: "Best moves",
    share: "best moves, of all chosen",
    heading: "best",
    figure: |it| Some(it.best),
    chance: |it| Some((it.positions, it.random_best)),
};

const KEPT: Measure = Measure {
    before: WINS,
    title: "Wins kept",
    share: "moves that win, of all chosen where some do and some do not",
    heading: "kept",
    figure: |it| Some(it.wins?.share),
    chance: |it| Some((it.wins?.positions, it.wins?.random)),
};

/// A cell's share with its place.
struct Placed<'r> {
    player: &'r str,
    place: Vec<Option<String>>,
    accuracy: &'r Accuracy,
    is: Estimate,
}

/// The share of best moves with its interval, and that of a random mover.
pub(super) fn best(report: &Report, axis: Option<&str>) -> Option<Figure> {
    of_cells(report, BEST, axis)
}

/// The same for kept wins, if any could be kept.
pub(super) fn wins(report: &Report, axis: Option<&str>) -> Option<Figure> {
    of_cells(report, KEPT, axis)
}

fn of_cells(report: &Report, measure: Measure, axis: Option<&str>) -> Option<Figure> {
    let all = placed(report, measure, |it| it.plies.is_none().then(Vec::new));
    if all.is_empty() {
        return None;
    }
    let (reference, mut notes) = chance(&all, measure);
    let along = Along::of(&report.axes, all.iter().map(|it| &*it.place), true, axis);
    let Measure { before, title, share, .. } = measure;
    let Some(along) = along else {
        notes.extend(left_out(all.len(), ROWS_MAX, "cells", before));
        let rows: Vec<(String, Estimate)> =
            all.iter().take(ROWS_MAX).map(|it| (it.player.to_owned(), it.is)).collect();
        let numbers = rows.iter().map(|(name, is)| [vec![name.clone()], figures(*is)].concat());
        return Some(Figure {
            before,
            title: title.to_owned(),
            notes,
            columns: columns(vec![Column::words("player")], measure),
            rows: numbers.collect(),
            panels: vec![Panel {
                heading: None,
                chart: Chart::Intervals(Intervals { x: Axis::of_shares(share), reference, rows }),
            }],
        });
    };
    let title = format!("{title} by {}", along.name);
    Some(curves(measure, title, &report.axes, all, along, reference, notes))
}

/// The same by the plies before the position.
pub(super) fn by_plies(report: &Report) -> Option<Figure> {
    const PLIES: &str = "plies before the position";
    let measure = Measure { before: BY_PLIES, ..BEST };
    let all = placed(report, measure, |it| Some(vec![Some(it.plies?.to_string())]));
    let axes = [report.axes.clone(), vec![PLIES.to_owned()]].concat();
    // None of the sweep's axes, so that all are named.
    let own = report.axes.len();
    let along =
        Along::of(&axes[own..], all.iter().map(|it| &it.place[own..]), false, None)?.beyond(own);
    let notes = vec!["Whiskers are 95% intervals.".to_owned()];
    let title = format!("Best moves by {PLIES}");
    Some(curves(measure, title, &axes, all, along, None, notes))
}

fn curves(
    measure: Measure,
    title: String,
    axes: &[String],
    all: Vec<Placed<'_>>,
    along: Along,
    reference: Option<f64>,
    mut notes: Vec<String>,
) -> Figure {
    let before = measure.before;
    let mut groups: IndexMap<[String; 2], Vec<Placed<'_>>> = IndexMap::new();
    for it in all.into_iter().filter(|it| along.touches(&it.place)) {
        let player = if along.is_varied { family(it.player, axes) } else { it.player };
        let name = [player.to_owned(), along.elsewhere(axes, &it.place)];
        groups.entry(name).or_default().push(it);
    }
    let along = thinned(along, points_max(groups.len()), &mut notes, before);
    let lines = groups.into_iter().map(|([players, place], of)| {
        let point = |it: &Placed<'_>| Some(Point { at: along.at(&it.place)?.0, is: it.is });
        Line::new(players, place, of.iter().filter_map(point).collect())
    });
    let sorted = Sorted::of(lines.collect());
    notes.extend(left_out_lines(sorted.left_out, before));
    Figure {
        before,
        title,
        notes,
        columns: columns(sorted.columns(&along.name), measure),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &Axis::of_shares(measure.share), reference),
    }
}

/// Returns the accuracies that have such a share and a further place, with that place after the cell's.
fn placed<'r>(
    report: &'r Report,
    measure: Measure,
    further: impl Fn(&CellAccuracy) -> Option<Vec<Option<String>>>,
) -> Vec<Placed<'r>> {
    let cells = cells(report);
    let of = |accuracy: &'r CellAccuracy| {
        let cell = cells.get(&accuracy.cell)?;
        let own: &Place = &cell.axes;
        let place = [own.to_vec(), further(accuracy)?].concat();
        let choice::Estimate { value, interval } = (measure.figure)(&accuracy.accuracy)?;
        let is = Estimate { value, interval: interval.map(|of| [of.low, of.high]) };
        Some(Placed { player: &cell.player, place, accuracy: &accuracy.accuracy, is })
    };
    report.accuracy.iter().filter_map(of).collect()
}

/// Returns the share of a random mover, if it is the same in all cells, and how to read it.
fn chance(all: &[Placed<'_>], measure: Measure) -> (Option<f64>, Vec<String>) {
    match same_chance(all.iter().map(|it| it.accuracy), measure.chance) {
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
    of: fn(&Accuracy) -> Option<(u64, f64)>,
) -> Option<f64> {
    let (positions, first) = of(all.next()?)?;
    let is_same = |it: &Accuracy| {
        of(it).is_some_and(|(number, share)| {
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
