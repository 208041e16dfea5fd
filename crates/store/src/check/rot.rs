//! Rot: values that have changed on the disk since they were written. Every game is compared with the digest written
//! with it, and every other table with its digest, if the file was closed after its last write.
//!
//! The other tables have digests only while no coordinator has the file: their rows change with every commit. Their
//! digests are written when the file is closed, and deleted when it is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OpenFlags, Rows, Transaction, TransactionBehavior};
use sha2::{Digest as _, Sha256};

use crate::check::counted_games::wanted;
use crate::check::counting::Counting;
use crate::check::row_digests::{GAME_TABLES, RowEncoder, Tags, stored};
use crate::check::stored_sums;
use crate::check::taken_rows::{Taken, Taking};
use crate::error::StoreError;
use crate::open::connection::{BUSY_TIMEOUT, COPIED};
use crate::read::readers::Readers;
use crate::schema::encoding::hexadecimal;

/// Maximum number of findings listed for each kind.
const FINDINGS_MAX: usize = 100;

/// Findings of a comparison with the digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Number of games compared; `None` if the schema is too damaged for that.
    pub games: Option<u64>,
    /// Number of tables compared; `None` if the file was not closed after its last write.
    pub tables: Option<u64>,
    /// Descriptions of changed values.
    pub changed: Vec<String>,
    /// Tables whose sums were counted along and match: they need no recount.
    pub(crate) confirmed: BTreeSet<&'static str>,
}

impl Compared {
    /// Whether the sums of a table were counted from the games along with the comparison, and match.
    #[must_use]
    pub fn has_confirmed(&self, table: &str) -> bool {
        self.confirmed.contains(table)
    }
}

impl Readers {
    /// Compares every row with the stored digests, and counts the sums of the games that are read for this. Reads
    /// everything, on the caller's thread.
    ///
    /// # Errors
    /// If the database fails.
    pub fn compare_digests(&self) -> Result<Compared, StoreError> {
        let connection = self.connect()?;
        let mut compared = Compared::default();
        compared.changed.extend(header(&connection)?);
        if !is_schema_text(&connection)? {
            // The schema is too damaged to name columns.
            compared.changed.push("sqlite_schema: it is not UTF-8".to_owned());
            return Ok(compared);
        }
        if is_there(&connection, "table_digests", &mut compared.changed)? {
            compared.tables = tables(&connection, &mut compared.changed)?;
        }
        if is_there(&connection, "game_digests", &mut compared.changed)? {
            let mut counting = Counting::begin(&connection)?;
            compared.games = Some(games(&connection, &mut counting, &mut compared.changed)?);
            compared.confirmed = stored_sums::confirmed(counting, &connection)?;
        }
        definitions(&connection, &mut compared.changed)?;
        self.still_at_rest()?;
        Ok(compared)
    }
}

/// Writes the digests of the tables into a file being closed, unless another coordinator has taken it over.
pub(crate) fn seal_file(path: &Path, epoch: i64) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let latest: i64 =
        transaction
            .query_row("SELECT max(coordinator_epoch) FROM coordinators", [], |row| row.get(0))?;
    if latest == epoch {
        write_digests(&transaction)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Writes the digests of the tables into a copy, unless the original had them.
pub(crate) fn seal_copy(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    if expected(&transaction)?.is_empty() {
        write_digests(&transaction)?;
    }
    transaction.commit()
}

fn write_digests(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM table_digests", [])?;
    for table in names(transaction)? {
        let (rows, digest) = digest_table(transaction, &table)?;
        transaction.execute("INSERT INTO table_digests VALUES (?, ?, ?)", (table, rows, digest))?;
    }
    Ok(())
}

/// The tables that have a single digest.
fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    // Games have separate digests, and are compared with these.
    let digest_tables = ["game_digests", "table_digests"];
    names.retain(|name| !GAME_TABLES.contains(&&**name) && !digest_tables.contains(&&**name));
    names.push("sqlite_schema".to_owned());
    Ok(names)
}

/// A table's number of rows, and its digest.
fn digest_table(connection: &Connection, table: &str) -> rusqlite::Result<(i64, i64)> {
    // A table's root page can change, as when a user rewrites the file (VACUUM).
    let columns = if table == "sqlite_schema" { "type, name, tbl_name, sql" } else { "*" };
    let name = table.replace('"', "\"\"");
    let mut statement = connection.prepare(&format!("SELECT {columns} FROM \"{name}\""))?;
    let tags = Tags::new(table, statement.column_names());
    let (mut count, mut digest) = (0, 0);
    let mut encoder = RowEncoder::default();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        count += 1;
        digest ^= row_digest(row, &tags, &mut encoder)?;
    }
    Ok((count, stored(digest)))
}

fn row_digest(
    row: &rusqlite::Row<'_>,
    tags: &Tags,
    encoder: &mut RowEncoder,
) -> rusqlite::Result<u64> {
    for column in 0..tags.len() {
        let Some(tag) = tags.get(column) else { continue };
        match row.get_ref(column)? {
            ValueRef::Null => {}
            ValueRef::Integer(value) => encoder.integer(tag, value),
            ValueRef::Real(value) => encoder.real(tag, value),
            ValueRef::Text(value) => encoder.text(tag, value),
            ValueRef::Blob(value) => encoder.blob(tag, value),
        }
    }
    Ok(encoder.finish())
}

/// Numbers in the file's first page that are in no table.
fn header(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
    let (version, vacuum): (i64, i64) = (pragma("user_version")?, pragma("auto_vacuum")?);
    let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
    // 2 is incremental.
    let is_ours = (0..=i64::from(COPIED)).contains(&version) && vacuum == 2 && encoding == "UTF-8";
    let wrong = format!(
        "the file's first page: user_version {version}, auto_vacuum {vacuum}, encoding {encoding}"
    );
    Ok(if is_ours { Vec::new() } else { vec![wrong] })
}

/// Whether the schema is text.
fn is_schema_text(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut is_text = true;
    while let Some(row) = rows.next()? {
        for column in 0..4 {
            let text = row.get_ref(column)?.as_bytes_or_null();
            is_text &= text.is_ok_and(|text| std::str::from_utf8(text.unwrap_or_default()).is_ok());
        }
    }
    Ok(is_text)
}

/// Whether a table exists; a missing one is reported.
fn is_there(
    connection: &Connection,
    table: &str,
    changed: &mut Vec<String>,
) -> rusqlite::Result<bool> {
    let exists = connection.table_exists(None, table)?;
    if !exists {
        changed.push(format!("{table}: there is no such table"));
    }
    Ok(exists)
}

/// The tables' digests from when the file was closed; empty if it was not.
fn expected(connection: &Connection) -> rusqlite::Result<BTreeMap<String, (i64, i64)>> {
    connection
        .prepare("SELECT table_name, row_count, digest FROM table_digests")?
        .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .collect()
}

/// Compares all tables except those of games; returns their number.
fn tables(connection: &Connection, changed: &mut Vec<String>) -> rusqlite::Result<Option<u64>> {
    let mut expected = expected(connection)?;
    if expected.is_empty() {
        return Ok(None);
    }
    let mut compared = 0;
    for table in names(connection)? {
        compared += 1;
        let (rows, digest) = digest_table(connection, &table)?;
        match expected.remove(&table) {
            Some(before) if before == (rows, digest) => {}
            Some((before, _)) if before != rows => {
                changed.push(format!("{table}: {rows} rows, and {before} were written"));
            }
            Some(_) => changed.push(format!("{table}: its rows are not those that were written")),
            None => changed.push(format!("{table}: it has no digest, while other tables have")),
        }
    }
    changed.extend(expected.into_keys().map(|table| format!("{table}: there is no such table")));
    Ok(Some(compared))
}

/// The rows of one table of games, in the order of their games.
struct Cursor<'s> {
    rows: Rows<'s>,
    /// The next row, which is the last one that was read.
    taken: Taken,
    /// The game of the next row.
    next: Option<i64>,
}

impl Cursor<'_> {
    fn advance(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            Some(_) => {
                let no_integer =
                    || rusqlite::Error::InvalidColumnType(0, "game_id".to_owned(), Type::Null);
                Some(self.taken.row().integer(0).ok_or_else(no_integer)?)
            }
            None => None,
        };
        Ok(())
    }
}

/// Compares every game with its digest, and counts its sums; returns the number of games. All tables are read in
/// parallel, each in the order of its games, so that only one game at a time is in memory.
fn games(
    connection: &Connection,
    counting: &mut Counting,
    changed: &mut Vec<String>,
) -> rusqlite::Result<u64> {
    let mut statements = Vec::with_capacity(GAME_TABLES.len());
    for table in GAME_TABLES {
        let taking = Taking::prepare(connection, table, "ORDER BY game_id", wanted(table))?;
        if !taking.has_all() {
            counting.lose();
        }
        statements.push(taking);
    }
    let mut cursors = Vec::with_capacity(GAME_TABLES.len());
    for taking in &mut statements {
        let (rows, taken) = taking.rows()?;
        let mut cursor = Cursor { rows, taken, next: None };
        cursor.advance()?;
        cursors.push(cursor);
    }
    let mut digests =
        connection.prepare("SELECT game_id, digest FROM game_digests ORDER BY game_id")?;
    let mut digests = digests.query([])?;
    let mut next_digest = move || -> rusqlite::Result<Option<(i64, i64)>> {
        digests.next()?.map(|row| Ok((row.get(0)?, row.get(1)?))).transpose()
    };
    let mut written = next_digest()?;
    let (mut compared, mut wrong) = (0, 0_u64);
    loop {
        let first = cursors.iter().filter_map(|cursor| cursor.next).min();
        let Some(game) = first.into_iter().chain(written.map(|(game, _)| game)).min() else {
            break;
        };
        let mut digest = 0;
        let is_there = cursors.first().is_some_and(|cursor| cursor.next == Some(game));
        for (table, cursor) in GAME_TABLES.into_iter().zip(&mut cursors) {
            while cursor.next == Some(game) {
                {
                    let row = cursor.taken.row();
                    digest ^= row.digest();
                    counting.read(table, &row);
                }
                cursor.advance()?;
            }
        }
        counting.end_game();
        let before = match written {
            Some((id, before)) if id == game => {
                written = next_digest()?;
                Some(before)
            }
            Some(_) | None => None,
        };
        compared += 1;
        if before == Some(stored(digest)) && is_there {
            continue;
        }
        wrong += 1;
        if wrong <= FINDINGS_MAX as u64 {
            let what = match (is_there, before) {
                (false, _) => "it is gone, and something of it is still there",
                (true, None) => "it has no digest",
                (true, Some(_)) => "its record is not the one that was written",
            };
            changed.push(format!("{}: {what}", named(connection, game)?));
        }
    }
    if wrong > FINDINGS_MAX as u64 {
        changed.push(format!("and {} more games", wrong - FINDINGS_MAX as u64));
    }
    Ok(compared)
}

/// A game's description for users.
fn named(connection: &Connection, game: i64) -> rusqlite::Result<String> {
    let mut place = connection.prepare("SELECT cell_id, number FROM games WHERE game_id = ?")?;
    let mut rows = place.query([game])?;
    Ok(match rows.next()? {
        Some(row) => {
            let (cell, number): (i64, i64) = (row.get(0)?, row.get(1)?);
            format!("game {game} (number {number} of cell {cell})")
        }
        None => format!("game {game}"),
    })
}

/// Compares players and cells with the hashes that name them.
fn definitions(connection: &Connection, changed: &mut Vec<String>) -> rusqlite::Result<()> {
    let hashed = [
        ("player", "SELECT player_id, hash, parameters_json FROM players"),
        (
            "cell",
            "SELECT c.cell_id, c.definition_hash, d.definition_json
            FROM cells AS c JOIN cell_definitions AS d ON d.cell_id = c.cell_id",
        ),
    ];
    for (what, sql) in hashed {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut wrong = 0;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            // As bytes: damaged text need not be UTF-8.
            let (hash, text) =
                (row.get_ref(1)?.as_bytes_or_null(), row.get_ref(2)?.as_bytes_or_null());
            let is_its_hash =
                |hash: &[u8], text: &[u8]| hexadecimal(&Sha256::digest(text)).as_bytes() == hash;
            if matches!((hash, text), (Ok(Some(hash)), Ok(Some(text))) if is_its_hash(hash, text)) {
                continue;
            }
            wrong += 1;
            if wrong <= FINDINGS_MAX {
                changed.push(format!("{what} {id}: its definition is not that of its hash"));
            }
        }
    }
    Ok(())
}
