//! Numbers of disturbed timed games, for people and for programs.

use serde::Serialize;
use spelrum_answers::{CellResult, DISTURBED_WARNED_OF, DisturbedGames, Report};

use super::axes::{axis_columns, places};
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use crate::document::TitledTable;
use crate::text::{Column, count, optional, percent};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "disturbed",
    "Cells with timed games in which the machine took time from players",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| rows(&report.experiment.name, &report.axes, &disturbed(report)),
    }),
)
.with_choices()
.shown_with_runs();

/// The disturbed games of a cell. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct Disturbed<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    games: u64,
    /// Of these, disturbed games.
    games_disturbed: u64,
    /// Of these, games that were replayed because they were disturbed.
    games_played_again: u64,
    /// The player's mean points over these games, and with the first results of replayed games.
    score_of_games: Option<f64>,
    score_of_first_results: Option<f64>,
}

/// Returns the cells with disturbed games.
pub(crate) fn disturbed(report: &Report) -> Vec<Disturbed<'_>> {
    disturbed_cells(report).map(|(cell, games)| Disturbed::new(cell, games)).collect()
}

impl<'a> Disturbed<'a> {
    fn new(cell: &'a CellResult, games: &DisturbedGames) -> Self {
        Self {
            cell_id: cell.cell.0,
            axes: &cell.axes,
            player: &cell.player,
            opponent: &cell.opponent,
            games: cell.games,
            games_disturbed: games.games,
            games_played_again: games.replayed,
            score_of_games: scores(cell, games).map(|[now, _]| now),
            score_of_first_results: scores(cell, games).map(|[_, first]| first),
        }
    }
}

fn disturbed_cells(report: &Report) -> impl Iterator<Item = (&CellResult, &DisturbedGames)> {
    report.cells.iter().filter_map(|cell| {
        Some((cell, report.disturbed.iter().find(|games| games.cell == cell.cell)?))
    })
}

/// Returns a player's mean points over the counted games, and with the first results of replayed games.
fn scores(cell: &CellResult, games: &DisturbedGames) -> Option<[f64; 2]> {
    let half_points = (2 * cell.wins + cell.draws) as f64;
    let before = half_points + games.half_points_before as f64;
    let all = 2.0 * cell.games as f64;
    (cell.games > 0).then(|| [half_points / all, before / all])
}

/// Returns the number of disturbed games in each cell, if there are any.
fn table(report: &Report) -> Option<TitledTable> {
    let mut columns = axis_columns(report);
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("games"),
        Column::numbers("disturbed"),
        Column::numbers("share"),
    ]);
    let has_replays = disturbed_cells(report).any(|(_, games)| games.replayed > 0);
    if has_replays {
        columns.extend(["again", "score", "at first"].map(Column::numbers));
    }
    let mut table = TitledTable::new(TABLE.name, "Disturbed games", columns);
    let mut is_empty = true;
    for (cell, games) in disturbed_cells(report) {
        is_empty = false;
        let row = [
            cell.player.clone(),
            cell.opponent.clone(),
            count(cell.games),
            count(games.games),
            percent(share(cell, games)),
        ];
        let again = has_replays.then(|| {
            let score =
                |at: usize| optional(scores(cell, games), |scores| format!("{:.3}", scores[at]));
            [count(games.replayed), score(0), score(1)]
        });
        table.row(places(report, &cell.axes).chain(row).chain(again.into_iter().flatten()));
    }
    (!is_empty).then(|| table.with_notes(notes(report)))
}

fn share(cell: &CellResult, games: &DisturbedGames) -> f64 {
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
    let disturbed =
        disturbed_cells(report).filter(|(cell, games)| share(cell, games) > DISTURBED_WARNED_OF);
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
        let cells: Vec<_> = disturbed(&report).iter().map(|row| row.cell_id).collect();
        assert_eq!(cells, [2, 4]);
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
