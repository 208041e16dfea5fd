//! Results of games: the score over the values of an axis, and wins, draws and losses.

use indexmap::IndexMap;
use spelrum_answers::{CellResult, Report};

use super::along::Along;
use super::lines::{Line, PANELS_MAX, Sorted, dash, meeting, points_max};
use crate::plot::{Axis, Chart, Estimate, Figure, Heat, Intervals, Panel, Point};
use crate::text::{Column, count, optional};

/// Maximum number of rows in a single plot.
pub(super) const ROWS_MAX: usize = 40;
/// Maximum number of rows in each of several adjacent plots.
pub(super) const PANEL_ROWS_MAX: usize = 20;

/// The table that these figures precede.
const CELLS: &str = "cells";

/// Draws the score with its interval, and the line of equal players.
pub(super) fn scores(report: &Report, axis: Option<&str>) -> Option<Figure> {
    let cells: Vec<&CellResult> = report.cells.iter().filter(|cell| cell.score.is_some()).collect();
    if cells.is_empty() {
        return None;
    }
    let x = "points per game of the player named first";
    let reading = "Whiskers are 95% intervals; where one includes 0.50, neither player is shown to be stronger.";
    let mut notes = vec![reading.to_owned()];
    let Some(along) = along(report, &cells, axis) else {
        let rows: Vec<(String, Estimate)> =
            cells.iter().filter_map(|cell| Some((pairing(cell), estimate(cell)?))).collect();
        notes.extend(omission_note(rows.len(), ROWS_MAX, "cells", CELLS));
        let rows: Vec<_> = rows.into_iter().take(ROWS_MAX).collect();
        let numbers =
            rows.iter().map(|(name, estimate)| [vec![name.clone()], figures(*estimate)].concat());
        return Some(Figure {
            before: CELLS,
            title: "Score".to_owned(),
            notes,
            columns: columns(&[Column::words("players")]),
            rows: numbers.collect(),
            panels: vec![Panel {
                heading: None,
                chart: Chart::Intervals(Intervals {
                    x: Axis::for_scores(x),
                    reference: Some(0.5),
                    rows,
                }),
            }],
        });
    };
    let (lines, along) = lines(report, &cells, along, &mut notes);
    let sorted = Sorted::new(lines);
    notes.extend(omitted_lines_note(sorted.left_out, CELLS));
    Some(Figure {
        before: CELLS,
        title: format!("Score by {}", along.name),
        notes,
        columns: columns(&sorted.columns(&along.name)),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &Axis::for_scores(x), Some(0.5)),
    })
}

/// Maximum number of values of an axis in a heat map.
const HEAT_VALUES_MAX: usize = 16;

/// Draws the score at each pair of values of two axes.
pub(super) fn heat(report: &Report, axis: Option<&str>) -> Option<Figure> {
    let cells: Vec<&CellResult> = report.cells.iter().filter(|cell| cell.score.is_some()).collect();
    let places = cells.iter().map(|cell| &*cell.axes);
    let [x, y] = Along::choose_two(&report.axes, places, axis)?;
    let mut notes = vec![
        "Points per game of the player named first: the more, the darker. Intervals are in the table.".to_owned(),
    ];
    let [x, y] = [x, y].map(|axis| thinned(axis, HEAT_VALUES_MAX, &mut notes, CELLS));
    let mut groups: IndexMap<[String; 2], Vec<&CellResult>> = IndexMap::new();
    for cell in cells {
        if x.number(&cell.axes).is_some() && y.number(&cell.axes).is_some() {
            let name = [pairing(cell), x.elsewhere_than(&y, &report.axes, &cell.axes)];
            groups.entry(name).or_default().push(cell);
        }
    }
    notes.extend(omission_note(groups.len(), PANELS_MAX, "maps", CELLS));
    let (mut panels, mut rows) = (Vec::new(), Vec::new());
    for ([players, place], cells) in groups.into_iter().take(PANELS_MAX) {
        let mut values = vec![vec![None; x.values()]; y.values()];
        let mut ids = vec![vec![None; x.values()]; y.values()];
        for cell in cells {
            let at = y.number(&cell.axes).zip(x.number(&cell.axes));
            let (Some((row, column)), Some(estimate)) = (at, estimate(cell)) else { continue };
            // Two cells at one place differ in something other than an axis; the first is shown.
            let square: &mut Option<f64> = &mut values[row][column];
            if square.is_none() {
                *square = Some(estimate.value);
                ids[row][column] = Some(cell.cell);
                let texts = [&x, &y]
                    .map(|axis| axis.at(&cell.axes).map_or("", |(_, text)| text).to_owned());
                let labels = [players.clone(), dash(&place)].into_iter().chain(texts);
                rows.push(labels.chain(figures(estimate)).collect());
            }
        }
        let heading = match place.is_empty() {
            true => players,
            false => format!("{players}, {place}"),
        };
        let chart = Chart::Heat(Heat {
            labels: [x.name.clone(), y.name.clone()],
            columns: x.texts(),
            rows: y.texts(),
            range: [0.0, 1.0],
            values,
            cells: ids,
        });
        panels.push(Panel { heading: Some(heading), chart });
    }
    let names = ["players", "elsewhere"].map(Column::words);
    let axes = [&x, &y].map(|axis| Column::numbers(&axis.name));
    (!panels.is_empty()).then(|| Figure {
        before: CELLS,
        title: format!("Score by {} and {}", x.name, y.name),
        notes,
        columns: columns(&[&names[..], &axes[..]].concat()),
        rows,
        panels,
    })
}

/// Draws the numbers of wins, draws and losses.
pub(super) fn outcomes(report: &Report, axis: Option<&str>) -> Option<Figure> {
    let cells: Vec<&CellResult> = report.cells.iter().filter(|cell| cell.games > 0).collect();
    if cells.is_empty() {
        return None;
    }
    let games = |cell: &CellResult| [cell.wins, cell.draws, cell.losses];
    let reading = "Of the player named first, from the left: won, drawn, lost.";
    let mut notes = vec![reading.to_owned()];
    let mut columns = vec![Column::words("players")];
    let mut numbers = Vec::new();
    let mut panels = Vec::new();
    let along = along(report, &cells, axis);
    let title = match along {
        Some(along) => {
            let grouped = grouped(report, &cells, &along);
            let along = thinned(along, PANEL_ROWS_MAX, &mut notes, CELLS);
            columns.extend([Column::words("elsewhere"), Column::numbers(&along.name)]);
            notes.extend(omission_note(grouped.len(), PANELS_MAX, "rows of cells", CELLS));
            for ([players, place], cells) in grouped.into_iter().take(PANELS_MAX) {
                let mut values: Vec<_> = cells
                    .into_iter()
                    .filter_map(|cell| Some((along.at(&cell.axes)?, games(cell))))
                    .collect();
                values.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
                // Other seeds have the same values.
                values.truncate(2 * PANEL_ROWS_MAX);
                let rows: Vec<_> = values
                    .iter()
                    .map(|((_, value), games)| (format!("{} {value}", along.name), *games))
                    .collect();
                for ((_, value), games) in &values {
                    let labels = [players.clone(), dash(&place), (*value).to_owned()];
                    numbers.push(
                        labels
                            .into_iter()
                            .chain(games.iter().map(|number| count(*number)))
                            .collect(),
                    );
                }
                let heading = match place.is_empty() {
                    true => players,
                    false => format!("{players}, {place}"),
                };
                let chart = Chart::Outcomes(rows);
                panels.push(Panel { heading: Some(heading), chart });
            }
            format!("Wins, draws and losses by {}", along.name)
        }
        None => {
            notes.extend(omission_note(cells.len(), ROWS_MAX, "cells", CELLS));
            let rows: Vec<_> =
                cells.iter().take(ROWS_MAX).map(|cell| (pairing(cell), games(cell))).collect();
            numbers.extend(rows.iter().map(|(name, games)| {
                [name.clone()]
                    .into_iter()
                    .chain(games.iter().map(|number| count(*number)))
                    .collect()
            }));
            panels.push(Panel { heading: None, chart: Chart::Outcomes(rows) });
            "Wins, draws and losses".to_owned()
        }
    };
    columns.extend(["win", "draw", "loss"].map(Column::numbers));
    Some(Figure { before: CELLS, title, notes, panels, columns, rows: numbers })
}

fn along(report: &Report, cells: &[&CellResult], axis: Option<&str>) -> Option<Along> {
    Along::choose(&report.axes, cells.iter().map(|cell| &*cell.axes), false, axis)
}

fn pairing(cell: &CellResult) -> String {
    meeting(&cell.player, &cell.opponent)
}

fn estimate(cell: &CellResult) -> Option<Estimate> {
    let score = cell.score?;
    Some(Estimate { value: score.score, interval: Some([score.low, score.high]) })
}

/// Groups cells by meeting and place on the other axes, in order of appearance.
fn grouped<'c>(
    report: &Report,
    cells: &[&'c CellResult],
    along: &Along,
) -> IndexMap<[String; 2], Vec<&'c CellResult>> {
    let mut groups: IndexMap<[String; 2], Vec<&CellResult>> = IndexMap::new();
    for cell in cells.iter().filter(|cell| along.touches(&cell.axes)) {
        let name = [pairing(cell), along.elsewhere(&report.axes, &cell.axes)];
        groups.entry(name).or_default().push(cell);
    }
    groups
}

/// Returns the scores as lines along the axis, limited to the values that can be read.
fn lines(
    report: &Report,
    cells: &[&CellResult],
    along: Along,
    notes: &mut Vec<String>,
) -> (Vec<Line>, Along) {
    let grouped = grouped(report, cells, &along);
    let touched: usize = grouped.values().map(Vec::len).sum();
    if touched < cells.len() {
        notes.push(format!(
            "{} of {} cells are not here: no value of {} touches them.",
            count((cells.len() - touched) as u64),
            count(cells.len() as u64),
            along.name,
        ));
    }
    let along = thinned(along, points_max(grouped.len()), notes, CELLS);
    let lines = grouped.into_iter().map(|([players, place], cells)| {
        let point = |cell: &CellResult| {
            Some(Point { at: along.at(&cell.axes)?.0, estimate: estimate(cell)? })
        };
        Line::new(players, place, cells.into_iter().filter_map(point).collect())
    });
    (lines.collect(), along)
}

/// Returns the axis with as many values as can be read, and a note on omissions.
pub(super) fn thinned(
    along: Along,
    values_max: usize,
    notes: &mut Vec<String>,
    table: &str,
) -> Along {
    let all = along.values();
    if all > values_max {
        notes.push(format!(
            "{values_max} of the {} values of {} are here, spread over them; all: {}",
            count(all as u64),
            along.name,
            full_table_hint(table),
        ));
    }
    along.thinned(values_max)
}

/// Note on items that were left out.
pub(super) fn omission_note(all: usize, most: usize, items: &str, table: &str) -> Option<String> {
    (all > most).then(|| {
        let all = count(all as u64);
        format!("The first {most} of {all} {items} are here; all: {}", full_table_hint(table))
    })
}

/// Note on lines that no plot has room for.
pub(super) fn omitted_lines_note(left_out: usize, table: &str) -> Option<String> {
    (left_out > 0).then(|| {
        let lines = count(left_out as u64);
        format!(
            "{lines} more lines are not here: no plot has room for them; all: {}",
            full_table_hint(table)
        )
    })
}

fn full_table_hint(table: &str) -> String {
    format!("spelrum report --format csv --table {table}")
}

fn columns(first: &[Column]) -> Vec<Column> {
    let figures = ["score", "low", "high"].map(Column::numbers);
    first.iter().cloned().chain(figures).collect()
}

fn figures(Estimate { value, interval }: Estimate) -> Vec<String> {
    let score = |score: f64| format!("{score:.4}");
    vec![
        score(value),
        optional(interval, |[low, _]| score(low)),
        optional(interval, |[_, high]| score(high)),
    ]
}
