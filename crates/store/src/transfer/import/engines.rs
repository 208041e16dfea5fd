//! External engines: which of them played a game in the file, and how one forfeited it.

use rusqlite::{Connection, OptionalExtension as _};
use spelrum_model::engines::{
    ENGINE_NAME_BYTES_MAX, EngineIdentity, FORFEIT_OUTPUT_BYTES_MAX, Forfeit,
};

use crate::schema::file_fields::text;
use crate::write::game_engines::Engines;

/// The engines that played a settled game; `None` for players that are not external.
pub(super) fn read_engines(connection: &Connection, game: i64) -> rusqlite::Result<Engines> {
    let mut engines = [None, None];
    let mut statement = connection.prepare(
        "SELECT x.side, e.name, e.author, e.sha256
        FROM game_engines AS x LEFT JOIN engines AS e ON e.engine_id = x.engine_id
        WHERE x.game_id = ?",
    )?;
    let mut rows = statement.query([game])?;
    while let Some(row) = rows.next()? {
        let sha256 = EngineIdentity::parse_sha256(&row.get::<_, String>(3)?)
            .ok_or(rusqlite::Error::InvalidQuery)?;
        let name = text(row, 1, ENGINE_NAME_BYTES_MAX)?;
        let author = text(row, 2, ENGINE_NAME_BYTES_MAX)?;
        let side: bool = row.get(0)?;
        engines[usize::from(side)] =
            Some(EngineIdentity { name: plain(name)?, author: plain(author)?, sha256 });
    }
    Ok(engines)
}

/// How an external engine forfeited a settled game.
pub(super) fn forfeit_of(connection: &Connection, game: i64) -> rusqlite::Result<Option<Forfeit>> {
    let mut statement =
        connection.prepare("SELECT message, output FROM forfeits WHERE game_id = ?")?;
    let read = |row: &rusqlite::Row<'_>| {
        let message = text(row, 0, FORFEIT_OUTPUT_BYTES_MAX)?;
        let output = text(row, 1, FORFEIT_OUTPUT_BYTES_MAX)?;
        let is_plain = output.chars().all(|character| character == '\n' || !character.is_control());
        if message.is_empty() || !is_plain {
            return Err(rusqlite::Error::InvalidQuery);
        }
        Ok(Forfeit { message: plain(message)?, output })
    };
    statement.query_row([game], read).optional()
}

/// Requires what workers guarantee: displayed texts have no control characters.
fn plain(text: String) -> rusqlite::Result<String> {
    if text.chars().any(char::is_control) { Err(rusqlite::Error::InvalidQuery) } else { Ok(text) }
}
