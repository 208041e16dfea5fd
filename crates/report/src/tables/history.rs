//! The builds of engines in order, and where their strength changed.

use spelrum_answers::{CellHistory, Comparisons};
use spelrum_model::CellId;
use spelrum_statistics::Interval;
use spelrum_statistics::comparisons::BuildScore;

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value, ends};
use crate::document::TitledTable;

pub(crate) const HISTORY: TableEntry = TableEntry::new(
    "history",
    "Builds of an engine in order, and where their strength changed",
    &View::<Comparisons> {
        parts: |compared| parts((!compared.histories.is_empty()).then(|| table(compared))),
        rows,
    },
);

/// A build of a history.
type Row<'a> = (&'a CellHistory, usize);

/// A build as people name it: the first digits of a commit, or of a hash.
pub(crate) fn build_text(build: &BuildScore<CellId>) -> &str {
    build.build.as_deref().map_or("now", |build| build.get(..8).unwrap_or(build))
}

fn columns(comparisons: &Comparisons) -> Columns<'_, Row<'_>> {
    fn of_row<'a>((history, index): Row<'a>) -> &'a BuildScore<CellId> {
        &history.builds[index]
    }
    let mut columns = Columns::<Row<'_>>::new()
        .key("cell_id", |row| of_row(row).cell.0)
        .key("axes", |(history, _)| Value::places(&history.place));
    for (index, axis) in comparisons.axes.iter().enumerate() {
        columns = columns
            .text(axis, Form::Words, move |(history, _)| history.place[index].as_deref())
            .shown_if(comparisons.histories.iter().any(|history| history.place[index].is_some()));
    }
    columns
        .column("player", "player", Form::Words, |(history, _)| &history.player)
        .column("opponent", "opponent", Form::Words, |(history, _)| &history.opponent)
        .key("number", |(_, index)| index as u64 + 1)
        .column("build", "build", Form::Words, |row| of_row(row).build.as_deref())
        .shown_as(|row| build_text(of_row(row)).to_owned())
        .column("score", "score", Form::Decimals(3), |row| of_row(row).score)
        .keys(["score_low", "score_high"], |row| ends(of_row(row).interval))
        .text("95% interval", Form::Words, |row| {
            of_row(row).interval.map(|bounds| format!("{:.3}–{:.3}", bounds.low, bounds.high))
        })
        .column("gain", "gain", Form::Points, |row| of_row(row).gain.map(|gain| gain.score))
        .keys(["gain_low", "gain_high"], |row| {
            ends(of_row(row).gain.and_then(|gain| gain.interval))
        })
        .text("of the gain", Form::Words, |row| {
            of_row(row).gain.and_then(|gain| gain.interval).map(gain_interval)
        })
        .column("change", "change", Form::Words, |row| {
            let gain = of_row(row).gain?;
            Some(match gain.is_clear {
                true if gain.score > 0.0 => "stronger",
                true => "weaker",
                false => "unclear",
            })
        })
}

pub(crate) fn rows(comparisons: &Comparisons) -> Rows<'_> {
    Rows::new(&comparisons.axes, columns(comparisons), builds(comparisons).collect())
}

fn builds(comparisons: &Comparisons) -> impl Iterator<Item = Row<'_>> {
    let builds = |history: &'_ CellHistory| 0..history.builds.len();
    comparisons
        .histories
        .iter()
        .flat_map(move |history| builds(history).map(move |index| (history, index)))
}

fn table(comparisons: &Comparisons) -> TitledTable {
    let rows: Vec<Row<'_>> = builds(comparisons).collect();
    let table = columns(comparisons).table(HISTORY.name, "Builds in order", rows);
    table.with_notes(vec![
        "Gain: how many points per game a build scores more than the one before it, opening by opening.\n\
         Stronger, weaker: at a level of 5% for all steps of a row of builds together (Holm)."
            .to_owned(),
    ])
}

fn gain_interval(bounds: Interval) -> String {
    let points = |points: f64| Form::Points.text(&points.into());
    format!("{} to {}", points(bounds.low), points(bounds.high))
}
