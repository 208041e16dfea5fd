//! Results of the runs of an experiment that depends on its own results, for people and for programs.

use spelrum_answers::{Report, RunResult};
use spelrum_model::AxisValue;
use spelrum_model::course::{Confirmed, CourseKind, Estimate, Setting, SettingsScore};

use super::axes::{grid_axes, run_places};
use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value};
use super::{evolution, race};
use crate::document::TitledTable;
use crate::text::count;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "runs",
    "What the runs of an experiment that depends on its own results found",
    &View { parts: |report| parts(table(report)), rows },
)
.shown_with_runs()
.in_json("runs");

/// A run, and its best estimate of one parameter; `None` before the first step.
type Row<'a> = (&'a RunResult, Option<&'a Estimate>);

/// Returns a row for each parameter of each run.
fn estimates(report: &Report) -> Vec<Row<'_>> {
    let by_run = report.runs.iter().flat_map(|run| {
        let before_first = run.estimates.is_empty().then_some((run, None));
        run.estimates.iter().map(move |estimate| (run, Some(estimate))).chain(before_first)
    });
    by_run.collect()
}

/// Returns the columns of estimates; for people with recommended settings, or with the value at which players are
/// even.
fn columns(report: &Report, kind: CourseKind) -> Columns<'_, Row<'_>> {
    let is_tune = kind == CourseKind::Tune;
    let axes = grid_axes(report);
    let mut columns = Columns::<Row<'_>>::new()
        .column("run", "run", Form::Count, |(run, _)| run.run)
        .key("kind", |(run, _)| run.begun.kind.name());
    for axis in &axes {
        let axis = *axis;
        columns = columns.text(axis, Form::Words, move |(run, _)| {
            or_dash(run_places(run, &[axis])[0]).to_owned()
        });
    }
    columns
        .key("axes", move |(run, _)| Value::Places(run_places(run, &axes)))
        .column("player", "player", Form::Words, |(run, _)| &run.begun.player)
        .column("opponents", "against", Form::Words, |(run, _)| Value::list(&run.begun.opponents))
        .shown_as(|(run, _)| run.begun.opponents.join(", "))
        .column("steps", "steps", Form::Count, |(run, _)| run.steps)
        .shown_as(|(run, _)| format!("{}{}", count(run.steps), if run.ended { "" } else { "…" }))
        .key("ended", |(run, _)| run.ended)
        .column("parameter", "parameter", Form::Words, |(_, row)| Some(&row?.parameter))
        .shown_as(|(_, row)| or_dash(row.map(|row| &*row.parameter)).to_owned())
        .text("start", Form::Digits, |row| or_dash(start(row).map(|start| &*start.text)))
        .shown_if(is_tune)
        .key("value", |(_, row)| row?.value.number)
        .column(
            "value_text",
            if is_tune { "recommended" } else { "value" },
            Form::Digits,
            |(_, row)| Some(&row?.value.text),
        )
        .shown_as(|(_, row)| or_dash(row.map(|row| &*row.value.text)).to_owned())
        .text("95% interval", Form::Words, interval)
        .shown_if(!is_tune)
        // Ends of the 95% interval: null if unknown, or beyond the range that is tried.
        .key("low", |row| low(row)?.number)
        .key("low_text", |row| Some(&low(row)?.text))
        .key("high", |row| high(row)?.number)
        .key("high_text", |row| Some(&high(row)?.text))
        .key("start", |row| start(row)?.number)
        .key("start_text", |row| Some(&start(row)?.text))
        // Points per game that the best settings gain over the first ones, all parameters together, from games that
        // decided nothing; null if these were not played.
        .keys(["gain", "gain_low", "gain_high"], |(run, _)| match &run.confirmed {
            Some(confirmed) => confirmed.gain().map(Some),
            None => [None; 3],
        })
}

fn low<'a>((_, row): Row<'a>) -> Option<&'a AxisValue> {
    row?.interval.as_ref()?.low.as_ref()
}

fn high<'a>((_, row): Row<'a>) -> Option<&'a AxisValue> {
    row?.interval.as_ref()?.high.as_ref()
}

/// Returns the initial value, if the run has one.
fn start<'a>((run, row): Row<'a>) -> Option<&'a AxisValue> {
    let is_start = |start: &&'a Setting| Some(&start.parameter) == row.map(|row| &row.parameter);
    run.begun.start.iter().find(is_start).map(|start| &start.value)
}

fn or_dash(text: Option<&str>) -> &str {
    text.unwrap_or("–")
}

pub(crate) fn rows(report: &Report) -> Rows<'_> {
    Rows::new(grid_axes(report), columns(report, CourseKind::Find), estimates(report))
}

/// Returns the findings, if the experiment has runs.
fn table(report: &Report) -> Option<TitledTable> {
    let kind = report.runs.first()?.begun.kind;
    let table = match kind {
        CourseKind::Find => {
            columns(report, kind).table(TABLE.name, "Where the players are even", estimates(report))
        }
        CourseKind::Tune => {
            columns(report, kind).table(TABLE.name, "Recommended settings", estimates(report))
        }
        CourseKind::Evolve => evolution::best(report, TABLE.name),
        CourseKind::Race => race::standings(report, TABLE.name),
    };
    let mut notes = Vec::new();
    if kind == CourseKind::Find {
        notes.push(
            "Value: of the player's parameter at which it scores half of the points, the median of what the \
             games leave probable."
                .to_owned(),
        );
    }
    if kind == CourseKind::Race {
        notes.extend(race::notes(report));
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
fn interval(row: Row<'_>) -> String {
    if row.1.is_none() {
        return "–".to_owned();
    }
    match (low(row), high(row)) {
        (Some(low), Some(high)) => format!("{}–{}", low.text, high.text),
        (Some(low), None) => format!("{} or more", low.text),
        (None, Some(high)) => format!("{} or less", high.text),
        (None, None) => "anywhere".to_owned(),
    }
}
