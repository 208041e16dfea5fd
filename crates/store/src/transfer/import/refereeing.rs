//! Replays stored games by the rules, as an import does with the games of its file.

use spelrum_model::{CellId, OpeningsCache, PlayableCell};

use super::played_games::read_game;
use super::source::Source;
use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::numbers::integer;

/// Maximum number of listed findings.
const FINDINGS_MAX: usize = 100;

/// Findings of the referee.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refereed {
    /// Games that were replayed by the rules.
    pub games: u64,
    /// Records that are not games of their cells.
    pub irregular: Vec<String>,
}

impl Readers {
    /// Replays stored games by the rules, without a search: all, or about `games_max`, spread evenly over the file.
    /// Blocks the calling thread.
    ///
    /// # Errors
    /// If the database fails.
    pub fn referee_stored(&self, games_max: Option<u32>) -> Result<Refereed, StoreError> {
        let connection = self.connect()?;
        let chosen = match games_max {
            Some(games_max) => sample(&connection, games_max)?,
            None => whole_cells(&connection)?,
        };
        let source = Source::own(self.path(), connection);
        let mut refereed = Refereed::default();
        let openings = OpeningsCache::default();
        let mut playable: Option<(i64, Option<PlayableCell>)> = None;
        for Chosen { cell, from, games } in chosen {
            if playable.as_ref().is_none_or(|(known, _)| *known != cell) {
                let definition = source.definition(cell)?;
                let read = |json: String| PlayableCell::from_json(&json, &openings).ok();
                playable = Some((cell, definition.and_then(read)));
            }
            // Cells of games unknown to this release are skipped.
            let Some((_, Some(playable))) = &playable else { continue };
            referee(&source, cell, playable, from, games, &mut refereed);
        }
        self.still_at_rest()?;
        Ok(refereed)
    }
}

/// Games of a cell: the first number and how many; `None` for all.
struct Chosen {
    cell: i64,
    from: i64,
    games: Option<i64>,
}

fn whole_cells(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<Chosen>> {
    let whole_cell =
        |row: &rusqlite::Row<'_>| Ok(Chosen { cell: row.get(0)?, from: 0, games: None });
    connection
        .prepare("SELECT cell_id FROM cells WHERE number >= 0 ORDER BY cell_id")?
        .query_map([], whole_cell)?
        .collect()
}

fn sample(connection: &rusqlite::Connection, games_max: u32) -> rusqlite::Result<Vec<Chosen>> {
    let ends = "SELECT coalesce(min(game_id), 0), coalesce(max(game_id), -1) FROM games";
    let (first, last): (i64, i64) =
        connection.query_row(ends, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let step = ((last - first) / i64::from(games_max.max(1))).max(1);
    let mut next = connection.prepare(
        "SELECT game_id, cell_id, number FROM games WHERE game_id >= ? ORDER BY game_id LIMIT 1",
    )?;
    let mut chosen = Vec::new();
    let mut from = first;
    while from <= last {
        let (id, cell, number): (i64, i64, i64) =
            next.query_row([from], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        chosen.push(Chosen { cell, from: number, games: Some(1) });
        from = (id + 1).max(from + step);
    }
    chosen.sort_unstable_by_key(|chosen| (chosen.cell, chosen.from));
    Ok(chosen)
}

fn referee(
    source: &Source,
    cell: i64,
    playable: &PlayableCell,
    from: i64,
    games: Option<i64>,
    refereed: &mut Refereed,
) {
    let mut from = from;
    loop {
        let found = match source.some_games(cell, from, games, playable) {
            Ok(found) => found,
            Err(error) => {
                note(refereed, format!("a game of cell {cell} from number {from} on: {error}"));
                return;
            }
        };
        let Some(last) = found.last() else { return };
        from = integer(last.number).saturating_add(1);
        for game in found {
            let number = game.number;
            refereed.games += 1;
            if let Err(problem) = read_game(game, CellId(cell), playable, true) {
                note(refereed, format!("game {number} of cell {cell}: {problem}"));
            }
        }
        if games.is_some() {
            return;
        }
    }
}

fn note(refereed: &mut Refereed, finding: String) {
    if refereed.irregular.len() < FINDINGS_MAX {
        refereed.irregular.push(finding);
    }
}
