//! Results of the runs of an experiment that depends on its own results, for people and for programs.

use serde::Serialize;
use spelrum_answers::{Report, RunResult};
use spelrum_model::course::{Confirmed, CourseKind, Estimate, SettingsScore};

use super::axes::{grid_axes, owned_grid_axes};
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use super::evolution;
use crate::document::TitledTable;
use crate::text::{Column, count};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "runs",
    "What the runs of an experiment that depends on its own results found",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| rows(&report.experiment.name, &owned_grid_axes(report), &runs(report)),
    }),
)
.shown_with_runs();

/// A run's best estimate of one parameter. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct Run<'a> {
    run: u64,
    kind: &'static str,
    axes: Vec<Option<&'a str>>,
    player: &'a str,
    opponents: &'a [String],
    steps: u64,
    ended: bool,
    /// Null before the first step.
    parameter: Option<&'a str>,
    value: Option<f64>,
    value_text: Option<&'a str>,
    /// Ends of the 95% interval: null if unknown, or beyond the range that is tried.
    low: Option<f64>,
    low_text: Option<&'a str>,
    high: Option<f64>,
    high_text: Option<&'a str>,
    /// The initial value, if the run has one.
    start: Option<f64>,
    start_text: Option<&'a str>,
    /// Points per game that the best settings gain over the first ones, all parameters together, from games that
    /// decided nothing, with its 95% interval; null if these were not played.
    gain: Option<f64>,
    gain_low: Option<f64>,
    gain_high: Option<f64>,
}

/// Returns all runs of a report: a row for each parameter of each run.
pub(crate) fn runs(report: &Report) -> Vec<Run<'_>> {
    let axes = grid_axes(report);
    let mut rows = Vec::new();
    for run in &report.runs {
        rows.extend(run.estimates.iter().map(|estimate| row(&axes, run, Some(estimate))));
        if run.estimates.is_empty() {
            rows.push(row(&axes, run, None));
        }
    }
    rows
}

fn row<'a>(axes: &[&str], run: &'a RunResult, estimate: Option<&'a Estimate>) -> Run<'a> {
    let RunResult { run: number, begun, steps, ended, .. } = run;
    let bounds = estimate.and_then(|estimate| estimate.interval.as_ref());
    let low = bounds.and_then(|end| end.low.as_ref());
    let high = bounds.and_then(|end| end.high.as_ref());
    let place = |axis: &&str| {
        let place = begun.axes.iter().find(|place| place.axis == **axis);
        place.map(|place| place.value.text.as_str())
    };
    let start = estimate.and_then(|estimate| {
        begun.start.iter().find(|start| start.parameter == estimate.parameter)
    });
    let gain = run.confirmed.as_ref().map(Confirmed::gain);
    Run {
        run: *number,
        kind: begun.kind.name(),
        axes: axes.iter().map(place).collect(),
        player: &begun.player,
        opponents: &begun.opponents,
        steps: *steps,
        ended: *ended,
        parameter: estimate.map(|estimate| estimate.parameter.as_str()),
        value: estimate.and_then(|estimate| estimate.value.number),
        value_text: estimate.map(|estimate| estimate.value.text.as_str()),
        low: low.and_then(|end| end.number),
        low_text: low.map(|end| end.text.as_str()),
        high: high.and_then(|end| end.number),
        high_text: high.map(|end| end.text.as_str()),
        start: start.and_then(|start| start.value.number),
        start_text: start.map(|start| start.value.text.as_str()),
        gain: gain.map(|[gain, ..]| gain),
        gain_low: gain.map(|[_, low, _]| low),
        gain_high: gain.map(|[.., high]| high),
    }
}

/// Returns the findings, if the experiment has runs.
fn table(report: &Report) -> Option<TitledTable> {
    let kind = report.runs.first()?.begun.kind;
    let table = match kind {
        CourseKind::Find | CourseKind::Tune => estimates_table(report, kind),
        CourseKind::Evolve => evolution::best(report, TABLE.name),
    };
    let mut notes = Vec::new();
    if kind == CourseKind::Find {
        notes.push(
            "Value: of the player's parameter at which it scores half of the points, the median of what the \
             games leave probable."
                .to_owned(),
        );
    }
    if kind == CourseKind::Tune {
        notes.extend(report.runs.iter().map(confirmation));
    }
    if kind == CourseKind::Evolve {
        notes.push(format!(
            "Where each comes from: spelrum report {} --table family.",
            report.experiment.name
        ));
    }
    if report.runs.iter().any(|run| !run.ended) {
        let state = report.experiment.state;
        notes.push(match state.is_over() {
            false => "…: still going on.".to_owned(),
            true => format!("…: broken off, since the experiment is {}.", state.name()),
        });
    }
    notes.push(format!(
        "Results of each cell: spelrum report {} --table cells.",
        report.experiment.name
    ));
    Some(table.with_notes(notes))
}

/// Returns the runs' best estimates: a row for each parameter of each run.
fn estimates_table(report: &Report, kind: CourseKind) -> TitledTable {
    let axes = grid_axes(report);
    let mut columns = vec![Column::numbers("run")];
    columns.extend(axes.iter().map(|axis| Column::words(*axis)));
    columns.extend([
        Column::words("player"),
        Column::words("against"),
        Column::numbers("steps"),
        Column::words("parameter"),
    ]);
    let is_tune = kind == CourseKind::Tune;
    columns.extend(match is_tune {
        true => [Column::numbers("start"), Column::numbers("recommended")],
        false => [Column::numbers("value"), Column::words("95% interval")],
    });
    let title = if is_tune { "Recommended settings" } else { "Where the players are even" };
    let mut table = TitledTable::new(TABLE.name, title, columns);
    let or_dash = |text: Option<&str>| text.unwrap_or("–").to_owned();
    for run in runs(report) {
        let steps = match run.ended {
            true => count(run.steps),
            false => format!("{}…", count(run.steps)),
        };
        let mut row = vec![count(run.run)];
        row.extend(run.axes.iter().map(|place| or_dash(*place)));
        row.extend([
            run.player.to_owned(),
            run.opponents.join(", "),
            steps,
            or_dash(run.parameter),
        ]);
        row.extend(match is_tune {
            true => [or_dash(run.start_text), or_dash(run.value_text)],
            false => [or_dash(run.value_text), interval(&run)],
        });
        table.row(row);
    }
    table
}

/// Describes the result of the games that confirm a run.
fn confirmation(run: &RunResult) -> String {
    let name = format!("Run {}", count(run.run));
    let is_same = run.begun.start.iter().zip(&run.estimates).all(|(start, estimate)| {
        start.parameter == estimate.parameter && start.value == estimate.value
    });
    let Some(confirmed) = &run.confirmed else {
        return match run.ended && is_same && !run.estimates.is_empty() {
            true => format!("{name}: the start is recommended."),
            false => format!("{name}: the recommended settings are not confirmed."),
        };
    };
    let score = |settings: &SettingsScore| {
        let [score, low, high] = [settings.score, settings.low, settings.high]
            .map(|share| format!("{:.1}", 100.0 * share));
        format!("{score}% of {} games ({low}–{high}%)", count(settings.games))
    };
    let Confirmed { found, start } = confirmed;
    match start {
        None => {
            format!("{name}: the recommended settings score {} against the start.", score(found))
        }
        Some(start) => {
            let points = confirmed.gain().map(|share| format!("{:+.1}", 100.0 * share));
            let [gain, low, high] = points;
            format!(
                "{name}: the recommended settings score {}, the start {} against the same opponents: {gain} points \
                 of a hundred, 95% interval {low} to {high}.",
                score(found),
                score(start)
            )
        }
    }
}

/// Formats an interval; open where it reaches beyond the range that is tried.
fn interval(run: &Run<'_>) -> String {
    if run.value_text.is_none() {
        return "–".to_owned();
    }
    match (run.low_text, run.high_text) {
        (Some(low), Some(high)) => format!("{low}–{high}"),
        (Some(low), None) => format!("{low} or more"),
        (None, Some(high)) => format!("{high} or less"),
        (None, None) => "anywhere".to_owned(),
    }
}
