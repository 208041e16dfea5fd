//! Time per move: over the values of an axis, and over the depth that searches completed.

use indexmap::IndexMap;
use spelrum_answers::{MoveCost, Report};
use spelrum_model::Role;
use spelrum_statistics::OverGames;

use super::along::{Along, Place};
use super::lines::{Line, Sorted, meeting, points_max};
use super::results::{ROWS_MAX, omission_note, omitted_lines_note, thinned};
use crate::plot::{Axis, Chart, Estimate, Figure, Intervals, Panel, Point};
use crate::tables::axes::names_opponents;
use crate::text::{Column, optional};

const MOVES: &str = "moves";
const DEPTHS: &str = "depths";

const TIME: &str = "mean time of a searched move";

/// The mean time of a move with its interval.
pub(super) fn per_move(report: &Report, axis: Option<&str>) -> Option<Figure> {
    let costs: Vec<&MoveCost> = report.moves.iter().collect();
    if costs.is_empty() {
        return None;
    }
    let mut notes = vec![reading(&costs)];
    let names_opponents = names_opponents(report);
    let along = Along::choose(&report.axes, costs.iter().map(|cost| &*cost.axes), true, axis);
    let Some(along) = along else {
        let rows: Vec<(String, Estimate)> = costs
            .iter()
            .map(|cost| (players(&cost.player, &cost.opponent, names_opponents), estimate(cost)))
            .collect();
        notes.extend(omission_note(rows.len(), ROWS_MAX, "players and cells", MOVES));
        let rows: Vec<_> = rows.into_iter().take(ROWS_MAX).collect();
        let x = Axis::from_times(TIME, rows.iter().flat_map(|(_, estimate)| ends(*estimate)));
        let numbers =
            rows.iter().map(|(name, estimate)| [vec![name.clone()], figures(*estimate)].concat());
        return Some(Figure {
            before: MOVES,
            title: "Time per move".to_owned(),
            notes,
            columns: columns(vec![Column::words("player")]),
            rows: numbers.collect(),
            panels: vec![Panel {
                heading: None,
                chart: Chart::Intervals(Intervals { x, reference: None, rows }),
            }],
        });
    };
    let mut groups: IndexMap<[String; 2], Vec<&MoveCost>> = IndexMap::new();
    for cost in costs.into_iter().filter(|cost| along.touches(&cost.axes)) {
        let player =
            if along.is_varied { family(&cost.player, &report.axes) } else { &cost.player };
        let players = players(player, &cost.opponent, names_opponents);
        let place = along.elsewhere(&report.axes, &cost.axes);
        groups.entry([players, place]).or_default().push(cost);
    }
    let along = thinned(along, points_max(groups.len()), &mut notes, MOVES);
    let lines = groups.into_iter().map(|([players, place], costs)| {
        let point =
            |cost: &MoveCost| Some(Point { at: along.at(&cost.axes)?.0, estimate: estimate(cost) });
        Line::new(players, place, costs.into_iter().filter_map(point).collect())
    });
    let sorted = Sorted::new(lines.collect());
    notes.extend(omitted_lines_note(sorted.left_out, MOVES));
    let y = Axis::from_times(TIME, sorted.points().flat_map(|point| ends(point.estimate)));
    Some(Figure {
        before: MOVES,
        title: format!("Time per move by {}", along.name),
        notes,
        columns: columns(sorted.columns(&along.name)),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &y, None),
    })
}

/// The mean time of a move by the depth that its search completed.
pub(super) fn by_depth(report: &Report) -> Option<Figure> {
    let names_opponents = names_opponents(report);
    let axes = [report.axes.clone(), vec!["depth completed".to_owned()]].concat();
    let places: Vec<Vec<Option<String>>> = report
        .depths
        .iter()
        .map(|cost| {
            [cost.axes.clone(), vec![Some(format!("{:.0}", cost.costs.depth_mean))]].concat()
        })
        .collect();
    // None of the sweep's axes, so that all are named.
    let depth = places.iter().map(|place| &place[report.axes.len()..]);
    let along =
        Along::choose(&axes[report.axes.len()..], depth, false, None)?.beyond(report.axes.len());
    let mut groups: IndexMap<[String; 2], Vec<(&MoveCost, &Place)>> = IndexMap::new();
    for (cost, place) in report.depths.iter().zip(&places) {
        let players = players(&cost.player, &cost.opponent, names_opponents);
        let elsewhere = along.elsewhere(&axes, place);
        groups.entry([players, elsewhere]).or_default().push((cost, place));
    }
    let mut notes = vec![
        "A mean over moves, without an interval: how deep a search got was its own doing."
            .to_owned(),
    ];
    let along = thinned(along, points_max(groups.len()), &mut notes, DEPTHS);
    let lines = groups.into_iter().map(|([players, place], costs)| {
        let points = costs.into_iter().filter_map(|(cost, place)| {
            let estimate = Estimate { value: cost.costs.us_mean().value, interval: None };
            Some(Point { at: along.at(place)?.0, estimate })
        });
        Line::new(players, place, points.collect())
    });
    let sorted = Sorted::new(lines.collect());
    notes.extend(omitted_lines_note(sorted.left_out, DEPTHS));
    let y = Axis::from_times(TIME, sorted.points().flat_map(|point| ends(point.estimate)));
    Some(Figure {
        before: DEPTHS,
        title: "Time per move by the depth that its search completed".to_owned(),
        notes,
        columns: columns(sorted.columns(&along.name)),
        rows: sorted.rows(&along, figures),
        panels: sorted.panels(&along.axis(), &y, None),
    })
}

/// Explains how to read the figure.
fn reading(costs: &[&MoveCost]) -> String {
    let is_known = |cost: &&MoveCost| estimate(cost).interval.is_some();
    let intervals = match costs.iter().any(is_known) {
        true => "Whiskers are 95% intervals over openings.",
        false => "Without intervals: there are too few openings.",
    };
    let by_cpu = costs.iter().filter(|cost| cost.costs.is_compared_by_cpu).count();
    let clock = match by_cpu {
        0 => "By the clock on the wall",
        _ if by_cpu == costs.len() => "Processor time",
        _ => {
            "By the clock on the wall, and processor time where no time limit ends moves and it is known"
        }
    };
    format!("{clock}, on a logarithmic axis: equal distances are equal ratios. {intervals}")
}

fn players(player: &str, opponent: &str, names_opponents: bool) -> String {
    match names_opponents {
        true => meeting(player, opponent),
        false => player.to_owned(),
    }
}

/// Returns the common part of the names of players that differ in varied parameters: `ab` of `ab(depth=2)`.
pub(super) fn family<'n>(name: &'n str, axes: &[String]) -> &'n str {
    let is_varied = axes.iter().any(|axis| Role::from_axis(axis).is_some());
    match name.split_once('(') {
        Some((family, rest)) if is_varied && rest.ends_with(')') => family,
        Some(_) | None => name,
    }
}

/// Returns the estimate over games if available, otherwise over moves.
fn estimate(cost: &MoveCost) -> Estimate {
    let OverGames { value, interval } = cost.costs.us_mean();
    Estimate { value, interval: interval.map(|interval| [interval.low, interval.high]) }
}

fn ends(estimate: Estimate) -> impl Iterator<Item = f64> {
    // On a logarithmic axis, an interval from zero starts at the axis's beginning.
    let interval = estimate.interval.into_iter().flatten();
    [estimate.value].into_iter().chain(interval)
}

fn columns(mut first: Vec<Column>) -> Vec<Column> {
    first.extend(["mean (µs)", "low (µs)", "high (µs)"].map(Column::numbers));
    first
}

fn figures(Estimate { value, interval }: Estimate) -> Vec<String> {
    let time = |us: f64| format!("{us:.2}");
    vec![
        time(value),
        optional(interval, |[low, _]| time(low)),
        optional(interval, |[_, high]| time(high)),
    ]
}
