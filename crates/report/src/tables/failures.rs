//! Cells with failures.

use spelrum_answers::{CellFailures, Report};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::Form;
use crate::document::TitledTable;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "failures",
    "Cells in which games failed, or were lost and played again",
    &View { parts: |report| parts(table(report)), rows },
)
.shown_with_runs()
.in_json("failures");

fn columns(report: &Report) -> Columns<'_, CellFailures<'_>> {
    Columns::<CellFailures<'_>>::new()
        .cell(&report.axes, |row| row.cell)
        .column("games", "games", Form::Count, |row| row.cell.games)
        .column("games_failed", "failed", Form::Count, |row| row.cell.games_failed)
        .column("games_replayed", "replayed", Form::Count, |row| row.replayed)
        .column("score", "score", Form::Decimals(3), |row| row.cell.score.map(|score| score.score))
        .column("score_worst", "if lost", Form::Decimals(3), |row| {
            Some(row.cell.score_bounds()?[0])
        })
        .column("score_best", "if won", Form::Decimals(3), |row| Some(row.cell.score_bounds()?[1]))
}

pub(crate) fn rows(report: &Report) -> Rows<'_> {
    Rows::new(&report.axes, columns(report), report.failures())
}

fn table(report: &Report) -> Option<TitledTable> {
    let failures = report.failures();
    let notes = [
        "Failed: games without a result. Replayed: games that count, but were lost or failed before.",
        "If lost, if won: the score of all games, had the player lost, or won, those that failed.",
    ];
    let is_shown = report.experiment.task.is_game() && !failures.is_empty();
    let table = is_shown.then(|| columns(report).table(TABLE.name, "What went wrong", failures))?;
    Some(table.with_notes(notes.map(ToOwned::to_owned).to_vec()))
}
