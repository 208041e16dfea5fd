//! How well players choose: the share of best moves over the values of an axis, and over how far from the start
//! the positions are.

use indexmap::IndexMap;
use spelrum_tournament::results::{CellAccuracy, Report};

use super::super::accuracy::{ACCURACY, BY_PLIES, cells, same_chance};
use super::along::{Along, Place};
use super::lines::{Line, Sorted, points_max};
use super::results::{ROWS_MAX, left_out, left_out_lines, thinned};
use super::times::family;
use crate::output::{
    Axis, Chart, Column, Estimate, Figure, Intervals, Panel, Point, optional, percent,
};

const SHARE: &str = "best moves, of all chosen";

/// A cell's accuracy with its place.
struct Placed<'r> {
    player: &'r str,
    place: Vec<Option<String>>,
    accuracy: &'r CellAccuracy,
}

/// The share of best moves with its interval, and that of a random mover.
pub(super) fn best(report: &Report) -> Option<Figure> {
    let all = placed(report, |it| it.plies.is_none().then(Vec::new));
    if all.is_empty() {
        return None;
    }
    let (reference, mut notes) = chance(&all);
    let along = Along::of(&report.axes, all.iter().map(|it| &*it.place), true);
    let Some(along) = along else {
        notes.extend(left_out(all.len(), ROWS_MAX, "cells", ACCURACY));
        let rows: Vec<(String, Estimate)> =
            all.iter().take(ROWS_MAX).map(|it| (it.player.to_owned(), estimate(it))).collect();
        let numbers = rows.iter().map(|(name, is)| [vec![name.clone()], figures(*is)].concat());
        return Some(Figure {
            before: ACCURACY,
            title: "Best moves".to_owned(),
            notes,
            columns: columns(vec![Column::words("player")]),
            rows: numbers.collect(),
            panels: vec![Panel {
                heading: None,
                chart: Chart::Intervals(Intervals { x: Axis::of_shares(SHARE), reference, rows }),
            }],
        });
    };
    let title = format!("Best moves by {}", along.name);
    Some(curves(ACCURACY, title, &report.axes, all, along, reference, notes))
}

/// The same by the plies before the position.
pub(super) fn by_plies(report: &Report) -> Option<Figure> {
    const PLIES: &str = "plies before the position";
    let all = placed(report, |it| Some(vec![Some(it.plies?.to_string())]));
    let axes = [report.axes.clone(), vec![PLIES.to_owned()]].concat();
    // None of the sweep's axes, so that all of them are said.
    let own = report.axes.len();
    let along = Along::of(&axes[own..], all.iter().map(|it| &it.place[own..]), false)?.beyond(own);
    let notes = vec!["Whiskers are 95% intervals.".to_owned()];
    let title = format!("Best moves by {PLIES}");
    Some(curves(BY_PLIES, title, &axes, all, along, None, notes))
}

fn curves(
    before: &'static str,
    title: String,
    axes: &[String],
    all: Vec<Placed<'_>>,
    along: Along,
    reference: Option<f64>,
    mut notes: Vec<String>,
) -> Figure {
    let mut groups: IndexMap<[String; 2], Vec<Placed<'_>>> = IndexMap::new();
    for it in all.into_iter().filter(|it| along.touches(&it.place)) {
        let player = if along.is_varied { family(it.player, axes) } else { it.player };
        let name = [player.to_owned(), along.elsewhere(axes, &it.place)];
        groups.entry(name).or_default().push(it);
    }
    let along = thinned(along, points_max(groups.len()), &mut notes, before);
    let lines = groups.into_iter().map(|([players, place], of)| {
        let point = |it: &Placed<'_>| Some(Point { at: along.at(&it.place)?.0, is: estimate(it) });
        Line::new(players, place, of.iter().filter_map(point).collect())
    });
    let sorted = Sorted::of(lines.collect());
    notes.extend(left_out_lines(sorted.left_out, before));
    Figure {
        before,
        title,
        notes,
        columns: columns(sorted.columns(&along.name)),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &Axis::of_shares(SHARE), reference),
    }
}

/// Those for which there is a further place, with it behind the cell's.
fn placed<'r>(
    report: &'r Report,
    further: impl Fn(&CellAccuracy) -> Option<Vec<Option<String>>>,
) -> Vec<Placed<'r>> {
    let cells = cells(report);
    let of = |accuracy: &'r CellAccuracy| {
        let cell = cells.get(&accuracy.cell)?;
        let own: &Place = &cell.axes;
        let place = [own.to_vec(), further(accuracy)?].concat();
        Some(Placed { player: &cell.player, place, accuracy })
    };
    report.accuracy.iter().filter_map(of).collect()
}

/// The share of a random mover, if it is the same in all cells, and how to read it.
fn chance(all: &[Placed<'_>]) -> (Option<f64>, Vec<String>) {
    let all: Vec<&CellAccuracy> = all.iter().map(|it| it.accuracy).collect();
    match same_chance(&all) {
        Some(same) => {
            let share = percent(same.random_best);
            let reading =
                format!("Whiskers are 95% intervals; the line is a random mover, at {share}.");
            (Some(same.random_best), vec![reading])
        }
        None => (None, vec!["Whiskers are 95% intervals.".to_owned()]),
    }
}

fn estimate(it: &Placed<'_>) -> Estimate {
    let best = it.accuracy.accuracy.best;
    Estimate { value: best.value, interval: best.interval.map(|of| [of.low, of.high]) }
}

fn columns(first: Vec<Column>) -> Vec<Column> {
    first.into_iter().chain(["best", "low", "high"].map(Column::numbers)).collect()
}

fn figures(Estimate { value, interval }: Estimate) -> Vec<String> {
    let share = |share: f64| format!("{share:.4}");
    vec![
        share(value),
        optional(interval, |[low, _]| share(low)),
        optional(interval, |[_, high]| share(high)),
    ]
}
