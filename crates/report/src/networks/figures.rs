//! Trained networks as plots: learning curves, errors by distance to mate, and by the square of black's king.

use std::collections::BTreeMap;

use spelrum_engine::network::Trained;

use super::text::{by_square, is_shown, mean, plies, pooled, trained_networks};
use super::{Kind, Outcome};
use crate::plot::{Axis, Board, Chart, Curves, Estimate, Figure, Panel, Point, SERIES_MAX};
use crate::text::{Column, optional};

/// A line's points: a place on the axis and the value there.
type Line = BTreeMap<u32, f64>;

/// The axis of learning curves.
const EPOCH: &str = "epoch";

/// Approximate number of points that suffice for a line.
const POINTS: u32 = 12;

/// Draws a plot of each kind of error, with all kinds of networks.
pub fn figures(kinds: &[Kind], outcomes: &[Outcome]) -> Vec<Figure> {
    let lines = |curve: fn(&[&Trained]) -> Line| {
        let line = |kind: &Kind| (kind.name.clone(), curve(&trained_networks(kind, outcomes)));
        let lines = kinds.iter().map(line);
        lines.filter(|(_, line)| !line.is_empty()).collect::<Vec<_>>()
    };
    let note =
        "Errors are roots of mean squares, in plies, over positions that were not learnt from.";
    let curves = Figure {
        title: "Learning curves".to_owned(),
        notes: vec![
            note.to_owned(),
            "Of several networks the mean, while at least half of them still learn.".to_owned(),
        ],
        ..figure(EPOCH, "validation error, in plies", &lines(by_epoch))
    };
    let distances = Figure {
        title: "Error by distance".to_owned(),
        notes: vec![note.to_owned(), "A point is of the distances around it.".to_owned()],
        ..figure("white's moves to mate", "error, in plies", &lines(by_distance))
    };
    let squares =
        Figure { notes: vec![note.to_owned(), SHADES.to_owned()], ..boards(kinds, outcomes) };
    [curves, distances, squares].into_iter().filter(|figure| !figure.panels.is_empty()).collect()
}

/// Returns the error over the validation positions.
fn by_epoch(trained: &[&Trained]) -> Line {
    let mut epochs = BTreeMap::<u32, Vec<f64>>::new();
    for epoch in trained.iter().flat_map(|network| &network.epochs) {
        epochs.entry(epoch.epoch).or_default().push(epoch.validation_error);
    }
    let all = epochs.get(&1).map_or(0, Vec::len);
    let shown =
        epochs.into_iter().filter(|(epoch, errors)| is_shown(*epoch) && 2 * errors.len() >= all);
    shown.filter_map(|(epoch, errors)| Some((epoch, mean(errors.into_iter())?))).collect()
}

/// Returns the error over groups of distances, each at its middle one.
fn by_distance(trained: &[&Trained]) -> Line {
    let all = || trained.iter().flat_map(|network| &network.distances);
    let moves = |plies: u32| plies.div_ceil(2);
    let farthest = all().map(|distance| moves(distance.plies)).max().unwrap_or(0);
    let width = (farthest / POINTS).max(1);
    let mut groups = BTreeMap::<u32, Vec<(u64, f64)>>::new();
    for distance in all() {
        let middle = moves(distance.plies) / width * width + width / 2;
        groups.entry(middle).or_default().push((distance.positions, distance.error));
    }
    groups
        .into_iter()
        .filter_map(|(middle, errors)| Some((middle, pooled(errors.into_iter())?)))
        .collect()
}

/// How to read the boards.
const SHADES: &str = "By the square of black's king, as the network sees the board: the darker, the greater the error of that board.";

/// A board for each kind.
fn boards(kinds: &[Kind], outcomes: &[Outcome]) -> Figure {
    let squares = |kind: &Kind| (kind.name.clone(), by_square(&trained_networks(kind, outcomes)));
    let of_kinds: Vec<_> = kinds.iter().map(squares).collect();
    let measured = || of_kinds.iter().filter(|(_, errors)| errors.iter().any(Option::is_some));
    let panel = |(name, errors): &(String, [Option<f64>; 64])| Panel {
        heading: (kinds.len() > 1).then(|| name.clone()),
        chart: Chart::Board(Board(Box::new(*errors))),
    };
    let rows = measured().flat_map(|(name, errors)| {
        let names = (1..=8).flat_map(|rank| ('a'..='h').map(move |file| format!("{file}{rank}")));
        let named = names.zip(errors).filter_map(|(square, error)| Some((square, (*error)?)));
        named.map(move |(square, error)| vec![name.clone(), square, plies(error)])
    });
    Figure {
        before: "networks",
        title: "Error by square".to_owned(),
        notes: Vec::new(),
        panels: measured().map(panel).collect(),
        columns: vec![
            Column::words("networks"),
            Column::words("black's king"),
            Column::numbers("error, in plies"),
        ],
        rows: rows.collect(),
    }
}

/// Draws lines over an axis, in as many panels as needed.
fn figure(x: &str, y: &str, lines: &[(String, Line)]) -> Figure {
    let places: Vec<u32> = lines.iter().flat_map(|(_, line)| line.keys().copied()).collect();
    let values = || lines.iter().flat_map(|(_, line)| line.values().copied());
    let last = places.iter().copied().max().unwrap_or(0);
    let marks: Vec<(f64, String)> = match x {
        EPOCH => (1..=last).filter(|place| is_marked(*place)).map(mark).collect(),
        // From 0, so that the axis is not logarithmic.
        _ => (0..=last + 5).step_by(5).map(mark).collect(),
    };
    let panels = lines.chunks(SERIES_MAX).map(|lines| {
        let series = lines.iter().map(|(name, line)| {
            let point = |(&place, &value): (&u32, &f64)| Point {
                at: f64::from(place),
                estimate: Estimate { value, interval: None },
            };
            (name.clone(), line.iter().map(point).collect())
        });
        Panel {
            heading: None,
            chart: Chart::Curves(Curves {
                x: Axis::from_numbers(x, &marks),
                y: Axis::from_counts(y, values()),
                reference: None,
                series: series.collect(),
                fitted: Vec::new(),
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
