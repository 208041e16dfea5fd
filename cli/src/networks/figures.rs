//! Trained networks as plots: learning curves, and errors by distance to mate.

use std::collections::BTreeMap;

use spelrum_engine::network::Trained;

use super::text::{mean, plies, pooled, trained_of};
use super::{Kind, Outcome};
use crate::output::{
    Axis, Chart, Column, Curves, Estimate, Figure, Panel, Point, SERIES_MAX, optional,
};

/// A line's points: a place on the axis and the value there.
type Line = BTreeMap<u32, f64>;

/// A plot of each kind of errors, of all kinds of networks.
pub(crate) fn figures(kinds: &[Kind], outcomes: &[Outcome]) -> Vec<Figure> {
    let lines = |of: fn(&[&Trained]) -> Line| {
        let line = |kind: &Kind| (kind.name.clone(), of(&trained_of(kind, outcomes)));
        let lines = kinds.iter().map(line);
        lines.filter(|(_, line)| !line.is_empty()).collect::<Vec<_>>()
    };
    let note =
        "Errors are roots of mean squares, in plies, over positions that were not learnt from.";
    let curves = Figure {
        title: "Learning curves".to_owned(),
        notes: vec![
            note.to_owned(),
            "Where training ends early, of those that still learn.".to_owned(),
        ],
        ..figure("epoch", "validation error, in plies", &lines(by_epoch))
    };
    let distances = Figure {
        title: "Error by distance".to_owned(),
        notes: vec![
            note.to_owned(),
            "White is to move at odd distances, black at even.".to_owned(),
        ],
        ..figure("plies to mate", "error, in plies", &lines(by_distance))
    };
    [curves, distances].into_iter().filter(|it| !it.panels.is_empty()).collect()
}

/// The error over the positions to validate by: of several networks the mean.
fn by_epoch(trained: &[&Trained]) -> Line {
    let mut epochs = BTreeMap::<u32, Vec<f64>>::new();
    for it in trained.iter().flat_map(|it| &it.epochs) {
        epochs.entry(it.epoch).or_default().push(it.validation_error);
    }
    epochs.into_iter().filter_map(|(epoch, of)| Some((epoch, mean(of.into_iter())?))).collect()
}

fn by_distance(trained: &[&Trained]) -> Line {
    let mut distances = BTreeMap::<u32, Vec<(u64, f64)>>::new();
    for it in trained.iter().flat_map(|it| &it.distances) {
        distances.entry(it.plies).or_default().push((it.positions, it.error));
    }
    let error = |(plies, of): (u32, Vec<(u64, f64)>)| Some((plies, pooled(of.into_iter())?));
    distances.into_iter().filter_map(error).collect()
}

/// Lines over an axis, as many panels as it takes.
fn figure(x: &str, y: &str, lines: &[(String, Line)]) -> Figure {
    let places: Vec<u32> = lines.iter().flat_map(|(_, line)| line.keys().copied()).collect();
    let values = || lines.iter().flat_map(|(_, line)| line.values().copied());
    let last = places.iter().copied().max().unwrap_or(0);
    // A logarithmic axis has no place for 0.
    let first = places.iter().copied().min().unwrap_or(0);
    let marks: Vec<(f64, String)> = match first {
        0 => (0..=last).step_by(10).map(mark).collect(),
        _ => (first..=last).filter(|place| is_marked(*place) || *place == last).map(mark).collect(),
    };
    let panels = lines.chunks(SERIES_MAX).map(|lines| {
        let series = lines.iter().map(|(name, line)| {
            let point = |(&place, &value): (&u32, &f64)| Point {
                at: f64::from(place),
                is: Estimate { value, interval: None },
            };
            (name.clone(), line.iter().map(point).collect())
        });
        Panel {
            heading: None,
            chart: Chart::Curves(Curves {
                x: Axis::of_numbers(x, &marks),
                y: Axis::of_counts(y, values()),
                reference: None,
                series: series.collect(),
            }),
        }
    });
    let rows = lines.iter().flat_map(|(name, line)| {
        line.iter().map(move |(place, value)| {
            vec![name.clone(), place.to_string(), optional(Some(*value), plies)]
        })
    });
    Figure {
        before: "networks",
        title: String::new(),
        notes: Vec::new(),
        panels: panels.collect(),
        columns: vec![Column::words("networks"), Column::numbers(x), Column::numbers(y)],
        rows: rows.collect(),
    }
}

fn mark(place: u32) -> (f64, String) {
    (f64::from(place), place.to_string())
}

/// 1, 2, 5, 10, 20, 50 and so on.
fn is_marked(mut place: u32) -> bool {
    while place >= 10 && place.is_multiple_of(10) {
        place /= 10;
    }
    [1, 2, 5].contains(&place)
}
