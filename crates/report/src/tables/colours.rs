//! Results by colour: a player's scores as first and as second mover.

use spelrum_answers::{CellResult, ColourResult, Report};
use spelrum_statistics::ScoreInterval;

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::margins;
use super::rows::Rows;
use super::value::{Form, Value};
use crate::document::TitledTable;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "colours",
    "What players score where they move first, and where they move second",
    &View {
        parts: |report| parts(table(report)),
        rows: |report| Rows::new(&report.axes, columns(report), report.cells.iter().collect()),
    },
)
.on_page_after(margins::TABLE.name);

fn columns(report: &Report) -> Columns<'_, &CellResult> {
    let score = |cell: &CellResult, colour: usize| cell.colours?[colour].score;
    let interval = |bounds: ScoreInterval| format!("{:.3}–{:.3}", bounds.low, bounds.high);
    Columns::<&CellResult>::new()
        .cell(&report.axes, |cell| cell)
        .key("self_play", |cell| cell.is_self_play)
        .keys(["moving_first", "moving_second"], objects)
        .text("first", Form::Decimals(3), move |cell| score(cell, 0).map(|score| score.score))
        .text("95% interval", Form::Words, move |cell| score(cell, 0).map(interval))
        .text("second", Form::Decimals(3), move |cell| score(cell, 1).map(|score| score.score))
        .text("95% interval", Form::Words, move |cell| score(cell, 1).map(interval))
}

/// Returns a player's results as first and as second mover; all unknown if not reported.
pub(crate) fn objects<'v>(cell: &CellResult) -> [Value<'v>; 2] {
    let colours = cell.colours.map_or([None; 2], |colours| colours.map(Some));
    colours.map(|colour: Option<ColourResult>| {
        let score = colour.and_then(|colour| colour.score);
        Value::from([
            ("games", colour.map(|colour| colour.games()).into()),
            ("wins", colour.map(|colour| colour.wins).into()),
            ("draws", colour.map(|colour| colour.draws).into()),
            ("losses", colour.map(|colour| colour.losses).into()),
            ("score", score.map(|score| score.score).into()),
            ("score_low", score.map(|score| score.low).into()),
            ("score_high", score.map(|score| score.high).into()),
        ])
    })
}

/// Returns both scores of each cell in which both players have moved first. Self-play is left out: its scores are
/// those of the first and the second mover.
fn table(report: &Report) -> Option<TitledTable> {
    let has_both = |cell: &&CellResult| {
        let games = cell.colours.map(|colours| colours.map(|colour| colour.games()));
        cell.swap_sides && !cell.is_self_play && games.is_some_and(|games| games != [0; 2])
    };
    let cells: Vec<&CellResult> = report.cells.iter().filter(has_both).collect();
    if cells.is_empty() || !report.experiment.task.is_game() {
        return None;
    }
    let title = "What the player scores, by who moves first";
    let note =
        "First, second: its points per game where it moves first from the opening, and second.";
    let table = columns(report).table(TABLE.name, title, cells);
    Some(table.with_notes(vec![note.to_owned()]))
}
