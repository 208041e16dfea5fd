//! Cells with failures.

use spelrum_answers::{CellFailures, Report};

use super::axes::{axis_columns, places};
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use super::json;
use crate::document::TitledTable;
use crate::text::{Column, count, optional};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "failures",
    "Cells in which games failed, or were lost and played again",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| {
            let json::Report { experiment, axes, failures, .. } = &json::Report::from(report);
            rows(experiment, axes, failures)
        },
    }),
)
.shown_with_runs();

/// Returns the cells with failures.
fn table(report: &Report) -> Option<TitledTable> {
    let failures = report.failures();
    let mut columns = axis_columns(report);
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("games"),
        Column::numbers("failed"),
        Column::numbers("replayed"),
        Column::numbers("score"),
        Column::numbers("if lost"),
        Column::numbers("if won"),
    ]);
    let mut table = TitledTable::new(TABLE.name, "What went wrong", columns);
    for CellFailures { cell, replayed } in &failures {
        let bounds = cell.score_bounds();
        let row = [
            cell.player.clone(),
            cell.opponent.clone(),
            count(cell.games),
            count(cell.games_failed),
            count(*replayed),
            optional(cell.score, |score| format!("{:.3}", score.score)),
            optional(bounds, |[worst, _]| format!("{worst:.3}")),
            optional(bounds, |[_, best]| format!("{best:.3}")),
        ];
        table.row(places(report, &cell.axes).chain(row));
    }
    let notes = [
        "Failed: games without a result. Replayed: games that count, but were lost or failed before.",
        "If lost, if won: the score of all games, had the player lost, or won, those that failed.",
    ];
    let is_shown = report.experiment.task.is_game() && !failures.is_empty();
    is_shown.then(|| table.with_notes(notes.map(ToOwned::to_owned).to_vec()))
}
