//! Numbers of disturbed timed games, for people and for programs.

use spelrum_answers::{CellResult, DISTURBED_WARNED_OF, DisturbedGames, Report};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::Form;
use crate::document::TitledTable;
use crate::text::{count, percent};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "disturbed",
    "Cells with timed games in which the machine took time from players",
    &View { parts: |report| parts(table(report)), rows },
)
.with_choices()
.shown_with_runs()
.in_json("disturbed");

/// A cell, and its disturbed games.
type Row<'a> = (&'a CellResult, &'a DisturbedGames);

fn columns(report: &Report) -> Columns<'_, Row<'_>> {
    let has_replays = disturbed_cells(report).any(|(_, games)| games.replayed > 0);
    Columns::<Row<'_>>::new()
        .cell(&report.axes, |(cell, _)| cell)
        .column("games", "games", Form::Count, |(cell, _)| cell.games)
        .column("games_disturbed", "disturbed", Form::Count, |(_, games)| games.games)
        .text("share", Form::Percent, share)
        .column("games_played_again", "again", Form::Count, |(_, games)| games.replayed)
        .shown_if(has_replays)
        .column("score_of_games", "score", Form::Decimals(3), |row| Some(scores(row)?[0]))
        .shown_if(has_replays)
        .column("score_of_first_results", "at first", Form::Decimals(3), |row| {
            Some(scores(row)?[1])
        })
        .shown_if(has_replays)
}

/// Returns the cells with disturbed games.
pub(crate) fn rows(report: &Report) -> Rows<'_> {
    Rows::new(&report.axes, columns(report), disturbed_cells(report).collect())
}

fn disturbed_cells(report: &Report) -> impl Iterator<Item = Row<'_>> {
    report.cells.iter().filter_map(|cell| {
        Some((cell, report.disturbed.iter().find(|games| games.cell == cell.cell)?))
    })
}

/// Returns a player's mean points over the counted games, and with the first results of replayed games.
fn scores((cell, games): Row<'_>) -> Option<[f64; 2]> {
    let half_points = (2 * cell.wins + cell.draws) as f64;
    let before = half_points + games.half_points_before as f64;
    let all = 2.0 * cell.games as f64;
    (cell.games > 0).then(|| [half_points / all, before / all])
}

/// Returns the number of disturbed games in each cell, if there are any.
fn table(report: &Report) -> Option<TitledTable> {
    let table = columns(report).table(TABLE.name, "Disturbed games", disturbed_cells(report));
    (!table.rows.is_empty()).then(|| table.with_notes(notes(report)))
}

fn share((cell, games): Row<'_>) -> f64 {
    if cell.games == 0 { 0.0 } else { games.games as f64 / cell.games as f64 }
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![
        "Disturbed: the machine took more of a player's time for other work than the sweep allows.\n\
         Games of external engines are not looked at."
            .to_owned(),
    ];
    if disturbed_cells(report).any(|(_, games)| games.replayed > 0) {
        notes.push(
            "Again: games that were replayed because of it. Score: of all games; at first: by the first\n\
             results of those. Where the two differ, the choice of results may be why."
                .to_owned(),
        );
    }
    let timed = report.cells.iter().filter(|cell| cell.is_timed && cell.games > 0).count();
    let disturbed = disturbed_cells(report).filter(|&row| share(row) > DISTURBED_WARNED_OF);
    let disturbed = disturbed.count() as u64;
    if disturbed > 0 {
        notes.push(format!(
            "Warning: in {} of {} timed cells more than {} of the games were disturbed: players had less\n\
             time than their limits say. Play them on a machine that has no other work (docs/timing.md).",
            count(disturbed),
            count(timed as u64),
            percent(DISTURBED_WARNED_OF),
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use spelrum_model::CellId;

    use super::*;
    use crate::tables::text::tests::{report, shown};

    #[test]
    fn disturbed_games_are_listed_by_cell() {
        let mut report = report();
        assert!(table(&report).is_none());
        (report.moves, report.depths) = (Vec::new(), Vec::new());
        for (cell, id) in report.cells.iter_mut().zip(1..) {
            (cell.cell, cell.is_timed) = (CellId(id), true);
        }
        let games = report.cells[1].games;
        let disturbed_games = |cell, games| DisturbedGames {
            cell: CellId(cell),
            games,
            replayed: 0,
            half_points_before: 0,
        };
        report.disturbed = vec![disturbed_games(2, games / 50), disturbed_games(99, 5)];
        assert!(!shown(&report).contains("Warning"));
        report.disturbed =
            vec![disturbed_games(2, games / 20), disturbed_games(4, 1), disturbed_games(99, 5)];
        let json = serde_json::to_value(rows(&report)).unwrap();
        assert_eq!([&json[0]["cell_id"], &json[1]["cell_id"]], [2, 4]);
        let text = shown(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);

        report.disturbed[1] =
            DisturbedGames { replayed: 6, half_points_before: -3, ..disturbed_games(4, 1) };
        let text = shown(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }
}
