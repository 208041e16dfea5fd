//! Games that players lost by failing, for people and for programs.

use serde::{Serialize, Serializer};
use spelrum_answers::{FORFEITS_WARNED_OF, ForfeitKind, PlayerForfeits, Report};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::Form;
use crate::document::TitledTable;
use crate::text::percent;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "forfeits",
    "Which players lost games by failing: crashes, time, stalls, illegal moves",
    &View { parts: |report| parts(table(report)), rows: |report| rows(&report.engines.forfeits) },
)
.with_choices()
.shown_with_runs()
.in_json("forfeits");

/// Returns the columns, for people only those of kinds that occurred.
fn columns(players: &[PlayerForfeits]) -> Columns<'_, &PlayerForfeits> {
    let mut columns = Columns::<&PlayerForfeits>::new()
        .column("player", "player", Form::Words, |entry| &entry.player)
        .column("games", "games", Form::Count, |entry| entry.games)
        .column("forfeits", "forfeited", Form::Count, |entry| entry.total());
    for kind in ForfeitKind::ALL {
        let (key, heading) = match kind {
            ForfeitKind::Crash => ("crash", "crash"),
            ForfeitKind::TimeForfeit => ("time_forfeit", "time"),
            ForfeitKind::Stall => ("stall", "stall"),
            ForfeitKind::IllegalMove => ("illegal_move", "illegal move"),
        };
        let games = move |entry: &PlayerForfeits| entry.by_kind[kind as usize];
        columns = columns
            .column(key, heading, Form::Count, games)
            .shown_if(players.iter().any(|entry| games(entry) > 0));
    }
    columns.column("share", "share", Form::Percent, |entry| entry.share())
}

/// Returns the players that forfeited games.
pub(crate) fn rows(players: &[PlayerForfeits]) -> Rows<'_> {
    Rows::without_places(columns(players), players.iter().collect())
}

/// Players that forfeited games, in JSON.
pub struct Forfeits<'a>(pub &'a [PlayerForfeits]);

impl Serialize for Forfeits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rows(self.0).serialize(serializer)
    }
}

/// Returns forfeits by player and kind, if there are any.
fn table(report: &Report) -> Option<TitledTable> {
    let players = &report.engines.forfeits;
    let table = columns(players).table(TABLE.name, "Forfeits", players);
    (!players.is_empty()).then(|| table.with_notes(notes(players)))
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
        let json = serde_json::to_value(Forfeits(&report.engines.forfeits)).unwrap();
        assert_eq!(json[1]["forfeits"], 65);
        assert_eq!(json[1]["illegal_move"], 1);
    }
}
