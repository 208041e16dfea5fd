//! Margins of games, in the game's own unit, for people and for programs.

use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::Report;
use spelrum_engine::Rules;

use super::axes::{axis_columns, places};
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use crate::document::TitledTable;
use crate::text::{Column, count};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "margins",
    "By how much games are won, where the game counts that",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| rows(&report.experiment.name, &report.axes, &margins(report)),
    }),
);

/// How far the player was ahead at the end of games that have a margin. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct CellMargin {
    games: u64,
    mean: f64,
    /// Null for fewer than two units of equal weight.
    low: Option<f64>,
    high: Option<f64>,
}

/// The margin of a cell, for a separate table.
#[derive(Debug, Serialize)]
pub(crate) struct Margin<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    margin: CellMargin,
}

impl From<results::CellMargin> for CellMargin {
    fn from(margin: results::CellMargin) -> Self {
        let results::CellMargin { games, mean } = margin;
        Self {
            games,
            mean: mean.value,
            low: mean.interval.map(|bounds| bounds.low),
            high: mean.interval.map(|bounds| bounds.high),
        }
    }
}

/// Returns the margins of all cells that have one.
fn margins(report: &Report) -> Vec<Margin<'_>> {
    let rows = report.cells.iter().filter_map(|cell| {
        Some(Margin {
            cell_id: cell.cell.0,
            axes: &cell.axes,
            player: &cell.player,
            opponent: &cell.opponent,
            margin: cell.margin?.into(),
        })
    });
    rows.collect()
}

/// Returns the unit of a game's margins, in the plural, if it has margins.
fn counted_in(game: &str) -> Option<&'static str> {
    Rules::games().into_iter().find(|rules| rules.name == game)?.margin
}

/// Returns the mean of each cell, also where no game that was played has a margin; `None` in a game without margins.
fn table(report: &Report) -> Option<TitledTable> {
    let counted = counted_in(&report.experiment.game).filter(|_| report.experiment.task.is_game());
    let unit = counted.unwrap_or("points");
    let mut columns = axis_columns(report);
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("games"),
        Column::numbers(unit),
        Column::words("95% interval"),
    ]);
    let mut table = TitledTable::new(TABLE.name, "By how much the player wins", columns);
    let (mut is_empty, mut is_partial) = (true, false);
    for cell in &report.cells {
        if cell.margin.is_none() && (counted.is_none() || cell.games == 0) {
            continue;
        }
        let games = cell.margin.map_or(0, |margin| margin.games);
        let mean = cell.margin.map(|margin| margin.mean);
        is_empty = false;
        is_partial |= games < cell.games;
        let none = || "–".to_owned();
        let row = [
            cell.player.clone(),
            cell.opponent.clone(),
            count(games),
            mean.map_or_else(none, |mean| shown(mean.value)),
            mean.and_then(|mean| mean.interval).map_or_else(none, |bounds| {
                format!("{} to {}", shown(bounds.low), shown(bounds.high))
            }),
        ];
        table.row(places(report, &cell.axes).chain(row));
    }
    let mut notes = vec![format!(
        "{}: how many it has more than its opponent at the end, in the mean over games.",
        capitalised(unit)
    )];
    if is_partial {
        notes.push("Games: those that the game's own rules ended.".to_owned());
    }
    (!is_empty).then(|| table.with_notes(notes))
}

/// Formats a mean with its sign.
fn shown(mean: f64) -> String {
    // A value that rounds to zero has no sign.
    let text = format!("{mean:+.2}");
    if text == "-0.00" || text == "+0.00" { "0.00".to_owned() } else { text }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
