//! Margins of games, in the game's own unit, for people and for programs.

use spelrum_answers::{CellMargin, CellResult, Report};
use spelrum_engine::Rules;

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value, ends};
use crate::document::TitledTable;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "margins",
    "By how much games are won, where the game counts that",
    &View { parts: |report| parts(table(report)), rows },
);

fn columns<'a>(report: &'a Report, unit: &str) -> Columns<'a, &'a CellResult> {
    Columns::<&CellResult>::new()
        .cell(&report.axes, |cell| cell)
        .key("margin", |cell| cell.margin.map(object))
        .text("games", Form::Count, |cell| cell.margin.map_or(0, |margin| margin.games))
        .text(unit, Form::Digits, |cell| match cell.margin {
            Some(margin) => shown(margin.mean.value),
            None => "–".to_owned(),
        })
        .text("95% interval", Form::Words, |cell| {
            match cell.margin.and_then(|margin| margin.mean.interval) {
                Some(bounds) => format!("{} to {}", shown(bounds.low), shown(bounds.high)),
                None => "–".to_owned(),
            }
        })
}

/// Returns how far a player was ahead at the end of games that have a margin.
pub(crate) fn object<'v>(margin: CellMargin) -> Value<'v> {
    let CellMargin { games, mean } = margin;
    // Unknown for fewer than two units of equal weight.
    let [low, high] = ends(mean.interval);
    Value::from([
        ("games", games.into()),
        ("mean", mean.value.into()),
        ("low", low.into()),
        ("high", high.into()),
    ])
}

/// Returns the cells that have a margin.
fn rows(report: &Report) -> Rows<'_> {
    let cells = report.cells.iter().filter(|cell| cell.margin.is_some());
    Rows::new(&report.axes, columns(report, ""), cells.collect())
}

/// Returns the unit of a game's margins, in the plural, if it has margins.
fn counted_in(game: &str) -> Option<&'static str> {
    Rules::games().into_iter().find(|rules| rules.name == game)?.margin
}

/// Returns the mean of each cell, also where no game that was played has a margin; `None` in a game without margins.
fn table(report: &Report) -> Option<TitledTable> {
    let counted = counted_in(&report.experiment.game).filter(|_| report.experiment.task.is_game());
    let unit = counted.unwrap_or("points");
    let is_shown =
        |cell: &&CellResult| cell.margin.is_some() || (counted.is_some() && cell.games > 0);
    let cells: Vec<&CellResult> = report.cells.iter().filter(is_shown).collect();
    let mut notes = vec![format!(
        "{}: how many it has more than its opponent at the end, in the mean over games.",
        capitalised(unit)
    )];
    let counts_all =
        |cell: &&CellResult| cell.margin.map_or(0, |margin| margin.games) >= cell.games;
    if !cells.iter().all(counts_all) {
        notes.push("Games: those that the game's own rules ended.".to_owned());
    }
    let title = "By how much the player wins";
    (!cells.is_empty())
        .then(|| columns(report, unit).table(TABLE.name, title, cells).with_notes(notes))
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
