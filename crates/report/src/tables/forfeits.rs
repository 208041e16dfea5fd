//! Games that players lost by failing, for people and for programs.

use serde::Serialize;
use spelrum_answers::{FORFEITS_WARNED_OF, ForfeitKind, PlayerForfeits, Report};

use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use crate::document::TitledTable;
use crate::text::{Column, count, percent};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "forfeits",
    "Which players lost games by failing: crashes, time, stalls, illegal moves",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| rows(&report.experiment.name, &[], &forfeits(report)),
    }),
)
.with_choices()
.shown_with_runs();

/// The forfeits of a player. Keys are only ever added.
#[derive(Debug, Serialize)]
pub struct Forfeits<'a> {
    player: &'a str,
    games: u64,
    /// Of these, forfeited games, and by kind.
    forfeits: u64,
    crash: u64,
    time_forfeit: u64,
    stall: u64,
    illegal_move: u64,
    share: f64,
}

impl<'a> From<&'a PlayerForfeits> for Forfeits<'a> {
    fn from(forfeits: &'a PlayerForfeits) -> Self {
        let [crash, time_forfeit, stall, illegal_move] = forfeits.by_kind;
        Self {
            player: &forfeits.player,
            games: forfeits.games,
            forfeits: forfeits.total(),
            crash,
            time_forfeit,
            stall,
            illegal_move,
            share: forfeits.share(),
        }
    }
}

/// Returns the players that forfeited games.
pub(crate) fn forfeits(report: &Report) -> Vec<Forfeits<'_>> {
    report.engines.forfeits.iter().map(Into::into).collect()
}

/// Returns forfeits by player and kind, if there are any.
fn table(report: &Report) -> Option<TitledTable> {
    let players = &report.engines.forfeits;
    if players.is_empty() {
        return None;
    }
    let is_shown =
        |kind: &ForfeitKind| players.iter().any(|entry| entry.by_kind[*kind as usize] > 0);
    let kinds: Vec<ForfeitKind> = ForfeitKind::ALL.into_iter().filter(is_shown).collect();
    let heading = |kind: &ForfeitKind| match kind {
        ForfeitKind::Crash => "crash",
        ForfeitKind::TimeForfeit => "time",
        ForfeitKind::Stall => "stall",
        ForfeitKind::IllegalMove => "illegal move",
    };
    let mut columns =
        vec![Column::words("player"), Column::numbers("games"), Column::numbers("forfeited")];
    columns.extend(kinds.iter().map(|kind| Column::numbers(heading(kind))));
    columns.push(Column::numbers("share"));
    let mut table = TitledTable::new(TABLE.name, "Forfeits", columns);
    for entry in players {
        let row = [entry.player.clone(), count(entry.games), count(entry.total())];
        let by_kind = kinds.iter().map(|kind| count(entry.by_kind[*kind as usize]));
        table.row(row.into_iter().chain(by_kind).chain([percent(entry.share())]));
    }
    Some(table.with_notes(notes(players)))
}

fn notes(players: &[PlayerForfeits]) -> Vec<String> {
    let mut notes = vec!["Forfeited: lost by a failure of the player's program.".to_owned()];
    let notable: Vec<&str> = players
        .iter()
        .filter(|entry| entry.is_notable())
        .map(|entry| entry.player.as_str())
        .collect();
    if !notable.is_empty() {
        notes.push(format!(
            "Warning: more than {} of the games of {} are forfeits. Scores and tests\n\
             count them as losses. See where and why: spelrum sql 'SELECT * FROM forfeited'.",
            percent(FORFEITS_WARNED_OF),
            notable.join(", "),
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::text::tests::{report, shown};

    #[test]
    fn forfeits_are_counted_by_player_and_kind() {
        let mut report = report();
        assert!(table(&report).is_none());
        (report.moves, report.depths) = (Vec::new(), Vec::new());
        let player_forfeits = |player: &str, games, by_kind| PlayerForfeits {
            player: player.to_owned(),
            games,
            by_kind,
        };
        report.engines.forfeits = vec![player_forfeits("alphabeta", 400, [1, 2, 0, 0])];
        assert!(!shown(&report).contains("Warning"));
        report.engines.forfeits.push(player_forfeits("genetic", 78, [64, 0, 0, 1]));
        let text = shown(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("Warning: forfeits decided 65 of 78 games of genetic"), "{text}");
        assert!(text.contains("\nForfeits\n"), "{text}");
        let table = text.split("\nForfeits\n").nth(1).unwrap_or_default();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let rows: Vec<String> =
            table.lines().filter(|line| !line.contains("──")).skip(1).take(3).map(words).collect();
        let expected = [
            "player games forfeited crash time illegal move share",
            "alphabeta 400 3 1 2 0 0.75 %",
            "genetic 78 65 64 0 1 83.3 %",
        ];
        assert_eq!(rows, expected);
        assert!(table.contains("more than 2.0 % of the games of genetic are forfeits"), "{table}");
        let json = serde_json::to_value(forfeits(&report)).unwrap();
        assert_eq!(json[1]["forfeits"], 65);
        assert_eq!(json[1]["illegal_move"], 1);
    }
}
