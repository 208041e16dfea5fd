//! Results by colour: a player's scores as first and as second mover.

use spelrum_answers::Report;
use spelrum_statistics::ScoreInterval;

use super::axes::{axis_columns, places};
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use super::{json, margins};
use crate::document::TitledTable;
use crate::text::{Column, optional};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "colours",
    "What players score where they move first, and where they move second",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| {
            let colours: Vec<json::Colours<'_>> = report.cells.iter().map(Into::into).collect();
            rows(&report.experiment.name, &report.axes, &colours)
        },
    }),
)
.on_page_after(margins::TABLE.name);

/// Returns both scores of each cell in which both players have moved first. Self-play is left out: its scores are
/// those of the first and the second mover.
fn table(report: &Report) -> Option<TitledTable> {
    let mut columns = axis_columns(report);
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("first"),
        Column::words("95% interval"),
        Column::numbers("second"),
        Column::words("95% interval"),
    ]);
    let mut table =
        TitledTable::new(TABLE.name, "What the player scores, by who moves first", columns);
    let mut is_empty = true;
    for cell in report.cells.iter().filter(|cell| cell.swap_sides && !cell.is_self_play) {
        let Some([first, second]) = cell.colours else { continue };
        if first.games() + second.games() == 0 {
            continue;
        }
        is_empty = false;
        let row = [cell.player.clone(), cell.opponent.clone()];
        let scores = [first, second].into_iter().flat_map(|colour| {
            let interval = |bounds: ScoreInterval| format!("{:.3}–{:.3}", bounds.low, bounds.high);
            [
                optional(colour.score, |score| format!("{:.3}", score.score)),
                optional(colour.score, interval),
            ]
        });
        table.row(places(report, &cell.axes).chain(row).chain(scores));
    }
    let note =
        "First, second: its points per game where it moves first from the opening, and second.";
    let is_shown = report.experiment.task.is_game() && !is_empty;
    is_shown.then(|| table.with_notes(vec![note.to_owned()]))
}
