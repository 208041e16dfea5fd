//! How games were played: their lengths and endings.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use spelrum_answers::{CellGames, Overview};

use super::along::Along;
use super::lines::{Line, PANELS_MAX, Sorted, dash, meeting, points_max};
use super::results::{PANEL_ROWS_MAX, ROWS_MAX, omission_note, omitted_lines_note, thinned};
use crate::plot::{Axis, Chart, Estimate, Figure, Intervals, Panel, Point, SERIES_MAX, Shares};
use crate::tables::overview::{LENGTHS, TERMINATIONS, termination_words};
use crate::text::{Column, count, percent};

const PLIES: &str = "plies after the opening";

/// Name for endings that are too rare, or too many, to be distinguished.
const OTHER: &str = "other";

/// The median length with the middle half of the games.
pub(super) fn lengths(overview: &Overview, axis: Option<&str>) -> Option<Figure> {
    let cells: Vec<&CellGames> = overview.cells.iter().collect();
    if cells.is_empty() {
        return None;
    }
    let reading = "The median of the games; whiskers hold the middle half of them.";
    let mut notes = vec![reading.to_owned()];
    let Some(along) = along(overview, &cells, axis) else {
        let rows: Vec<(String, Estimate)> =
            cells.iter().filter_map(|cell| Some((pairing(cell), middle(cell)?))).collect();
        notes.extend(omission_note(rows.len(), ROWS_MAX, "cells", LENGTHS.name));
        let rows: Vec<_> = rows.into_iter().take(ROWS_MAX).collect();
        let x = Axis::from_counts(PLIES, rows.iter().flat_map(|(_, estimate)| ends(*estimate)));
        let numbers =
            rows.iter().map(|(name, estimate)| [vec![name.clone()], figures(*estimate)].concat());
        return Some(Figure {
            before: LENGTHS.name,
            title: "Length of games".to_owned(),
            notes,
            columns: columns(vec![Column::words("players")]),
            rows: numbers.collect(),
            panels: vec![Panel {
                heading: None,
                chart: Chart::Intervals(Intervals { x, reference: None, rows }),
            }],
        });
    };
    let grouped = grouped(overview, &cells, &along);
    let along = thinned(along, points_max(grouped.len()), &mut notes, LENGTHS.name);
    let lines = grouped.into_iter().map(|([players, place], cells)| {
        let point =
            |cell: &CellGames| Some(Point { at: along.at(&cell.axes)?.0, estimate: middle(cell)? });
        Line::new(players, place, cells.into_iter().filter_map(point).collect())
    });
    let sorted = Sorted::new(lines.collect());
    notes.extend(omitted_lines_note(sorted.left_out, LENGTHS.name));
    let y = Axis::from_counts(PLIES, sorted.points().flat_map(|point| ends(point.estimate)));
    Some(Figure {
        before: LENGTHS.name,
        title: format!("Length of games by {}", along.name),
        notes,
        columns: columns(sorted.columns(&along.name)),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &y, None),
    })
}

/// Draws the shares of endings among the games.
pub(super) fn terminations(overview: &Overview, axis: Option<&str>) -> Option<Figure> {
    let cells: Vec<&CellGames> = overview.cells.iter().collect();
    if cells.is_empty() {
        return None;
    }
    let kinds = kinds(&cells);
    let mut names: Vec<String> = kinds.iter().map(|name| termination_words(name)).collect();
    if cells.iter().any(|cell| cell.terminations.keys().any(|name| !kinds.contains(&&**name))) {
        names.push(OTHER.to_owned());
    }
    let parts = |cell: &CellGames| parts(cell, &kinds, names.len());
    let mut notes = vec!["From the left in the order of the names above.".to_owned()];
    let mut columns = vec![Column::words("players")];
    let (mut numbers, mut panels) = (Vec::new(), Vec::new());
    let mut add = |heading: Option<String>, rows: Vec<(String, Vec<u64>)>| {
        panels.push(Panel { heading, chart: Chart::Shares(Shares { names: names.clone(), rows }) });
    };
    let title = if let Some(along) = along(overview, &cells, axis) {
        let grouped = grouped(overview, &cells, &along);
        let along = thinned(along, PANEL_ROWS_MAX, &mut notes, TERMINATIONS.name);
        columns.extend([Column::words("elsewhere"), Column::numbers(&along.name)]);
        notes.extend(omission_note(grouped.len(), PANELS_MAX, "rows of cells", TERMINATIONS.name));
        let is_alone = grouped.len() == 1;
        for ([players, place], cells) in grouped.into_iter().take(PANELS_MAX) {
            let mut values: Vec<_> = cells
                .into_iter()
                .filter_map(|cell| Some((along.at(&cell.axes)?, parts(cell))))
                .collect();
            values.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
            // Other seeds have the same values.
            values.truncate(2 * PANEL_ROWS_MAX);
            for ((_, value), parts) in &values {
                let texts = vec![players.clone(), dash(&place), (*value).to_owned()];
                numbers.push([texts, shares(parts)].concat());
            }
            let heading = match place.is_empty() {
                true => players,
                false => format!("{players}, {place}"),
            };
            let rows = values
                .into_iter()
                .map(|((_, value), parts)| (format!("{} {value}", along.name), parts));
            add((!is_alone).then_some(heading), rows.collect());
        }
        format!("How games end by {}", along.name)
    } else {
        notes.extend(omission_note(cells.len(), ROWS_MAX, "cells", TERMINATIONS.name));
        let rows: Vec<_> =
            cells.iter().take(ROWS_MAX).map(|cell| (pairing(cell), parts(cell))).collect();
        numbers
            .extend(rows.iter().map(|(name, parts)| [vec![name.clone()], shares(parts)].concat()));
        add(None, rows);
        "How games end".to_owned()
    };
    columns.extend(names.iter().map(Column::numbers));
    Some(Figure { before: TERMINATIONS.name, title, notes, panels, columns, rows: numbers })
}

/// Returns the names of the most frequent endings, as many as can be distinguished.
fn kinds<'c>(cells: &[&'c CellGames]) -> Vec<&'c str> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, games) in cells.iter().flat_map(|cell| &cell.terminations) {
        *all.entry(name).or_default() += games;
    }
    let mut kinds: Vec<(&str, u64)> = all.into_iter().collect();
    if kinds.len() > SERIES_MAX {
        kinds.sort_by_key(|&(_, games)| std::cmp::Reverse(games));
        kinds.truncate(SERIES_MAX - 1);
        kinds.sort();
    }
    kinds.into_iter().map(|(name, _)| name).collect()
}

/// Returns a cell's number of games by these endings, then all others if there is a part for them.
fn parts(cell: &CellGames, kinds: &[&str], parts: usize) -> Vec<u64> {
    let games = |name: &&str| cell.terminations.get(*name).copied().unwrap_or_default();
    let counts: Vec<u64> = kinds.iter().map(games).collect();
    let other = cell.lengths.games().saturating_sub(counts.iter().sum());
    counts.into_iter().chain([other]).take(parts).collect()
}

fn shares(parts: &[u64]) -> Vec<String> {
    let all: u64 = parts.iter().sum();
    let share = |games: &u64| match all {
        0 => count(*games),
        all => format!("{} ({})", count(*games), percent(*games as f64 / all as f64)),
    };
    parts.iter().map(share).collect()
}

fn along(overview: &Overview, cells: &[&CellGames], axis: Option<&str>) -> Option<Along> {
    Along::choose(&overview.axes, cells.iter().map(|cell| &*cell.axes), false, axis)
}

fn pairing(cell: &CellGames) -> String {
    meeting(&cell.player, &cell.opponent)
}

/// Groups cells by meeting and place on the other axes, in order of appearance.
fn grouped<'c>(
    overview: &Overview,
    cells: &[&'c CellGames],
    along: &Along,
) -> IndexMap<[String; 2], Vec<&'c CellGames>> {
    let mut groups: IndexMap<[String; 2], Vec<&CellGames>> = IndexMap::new();
    for cell in cells.iter().filter(|cell| along.touches(&cell.axes)) {
        let name = [pairing(cell), along.elsewhere(&overview.axes, &cell.axes)];
        groups.entry(name).or_default().push(cell);
    }
    groups
}

fn middle(cell: &CellGames) -> Option<Estimate> {
    let quartile = |hundredths| cell.lengths.quantile(hundredths).map(f64::from);
    let interval = [quartile(25)?, quartile(75)?];
    Some(Estimate { value: quartile(50)?, interval: Some(interval) })
}

fn ends(estimate: Estimate) -> impl Iterator<Item = f64> {
    [estimate.value].into_iter().chain(estimate.interval.into_iter().flatten())
}

fn columns(mut first: Vec<Column>) -> Vec<Column> {
    first.extend(["median", "25%", "75%"].map(Column::numbers));
    first
}

fn figures(Estimate { value, interval }: Estimate) -> Vec<String> {
    [Some(value), interval.map(|[low, _]| low), interval.map(|[_, high]| high)]
        .map(|plies| crate::text::optional(plies, |plies| format!("{plies:.0}")))
        .to_vec()
}
