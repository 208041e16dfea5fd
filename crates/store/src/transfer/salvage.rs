//! Copies the readable data of a damaged database into a new one, table by table, skipping unreadable parts. The
//! damaged files are only read.
//!
//! Two sources are read, one after the other: the database with its log, and the file alone, which has an earlier state
//! of the data lost in the log. Rows of the first take precedence.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};

use crate::error::StoreError;
use crate::open::connection::BUSY_TIMEOUT;
use crate::query::queries::immutable_uri;
use crate::schema::migrations::APPLICATION_ID;

/// Rescues a damaged database with the sqlite3 shell, as in `docs/operating.md`. Not by `.recover`, which the shell of
/// Debian 12 lacks. The pragmas set what a dump omits.
pub const RESCUE_COMMAND: &str = "(echo 'PRAGMA auto_vacuum = 2; PRAGMA application_id = 1399876717;'; sqlite3 FILE \
                                  .dump | sed 's/^ROLLBACK; -- due to errors$/COMMIT;/') | sqlite3 NEW";

/// Contents of the new file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Salvaged {
    /// Games with their results.
    pub(crate) games: u64,
    /// Tables that were only partly readable.
    pub(crate) tables_cut: Vec<String>,
}

/// Maximum number of seeks past unreadable parts of a table, so that the search ends.
const SEEKS_MAX: u32 = 100_000;

/// Writes the readable data of a database into a new file.
pub(crate) fn salvage(path: &Path, copy: &Path) -> Result<Salvaged, StoreError> {
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let with_log = Connection::open_with_flags(path, read_only)?;
    let alone =
        Connection::open_with_flags(immutable_uri(path), read_only | OpenFlags::SQLITE_OPEN_URI)?;
    with_log.busy_timeout(BUSY_TIMEOUT)?;
    let sources = [with_log, alone];
    let schema = match schema(&sources[0]) {
        Ok(schema) => schema,
        Err(_) => schema(&sources[1])?,
    };
    // A leftover of an earlier attempt.
    let _may_not_be_there = std::fs::remove_file(copy);
    let into = Connection::open(copy)?;
    into.execute_batch(&format!(
        "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = {APPLICATION_ID};
        PRAGMA journal_mode = OFF; PRAGMA foreign_keys = OFF; BEGIN"
    ))?;
    let mut salvaged = Salvaged::default();
    for object in schema.iter().filter(|object| object.kind == "table") {
        if !object.name.starts_with("sqlite_") {
            into.execute_batch(&object.sql)?;
        } else if object.name != "sqlite_sequence" {
            // SQLite creates such tables by `ANALYZE`, and `sqlite_sequence` with a table that counts its ids.
            continue;
        }
        let is_whole = sources.iter().any(|from| copy_table(from, &into, &object.name));
        if !is_whole {
            salvaged.tables_cut.push(object.name.clone());
        }
    }
    for object in schema.iter().filter(|object| object.kind != "table" && !object.sql.is_empty()) {
        // Rows from two sources may violate a unique index; the rows matter more.
        let _stays_without = into.execute_batch(&object.sql);
    }
    into.execute_batch("COMMIT")?;
    salvaged.games = games(&into)?;
    into.close().map_err(|(_, error)| error)?;
    Ok(salvaged)
}

/// Counts the contents of a copy that SQLite has made.
pub(crate) fn count(copy: &Path) -> Result<Salvaged, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let copy = Connection::open_with_flags(immutable_uri(copy), flags)?;
    Ok(Salvaged { games: games(&copy)?, tables_cut: Vec::new() })
}

fn games(copy: &Connection) -> rusqlite::Result<u64> {
    let games = copy.query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0))?;
    Ok(u64::try_from(games).unwrap_or(0))
}

/// A table, index, view or trigger.
struct Object {
    kind: String,
    name: String,
    sql: String,
}

fn schema(from: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement =
        from.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid")?;
    let object =
        |row: &Row<'_>| Ok(Object { kind: row.get(0)?, name: row.get(1)?, sql: row.get(2)? });
    statement.query_map([], object)?.collect()
}

/// Copies missing rows of a table; returns whether all could be read.
fn copy_table(from: &Connection, into: &Connection, table: &str) -> bool {
    let columns = columns(into, table).unwrap_or_default();
    let name = quoted(table);
    let places = vec!["?"; columns.len() + 1].join(", ");
    let list = columns.join(", ");
    let has_rowid = into.prepare(&format!("SELECT rowid FROM {name}")).is_ok();
    if !has_rowid {
        let places = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {name} ({list}) VALUES ({places})");
        let key = key(into, table).unwrap_or_default();
        // From both ends, up to the unreadable part.
        return [key.join(", "), key.join(" DESC, ") + " DESC"].iter().any(|order| {
            let read = format!("SELECT {list} FROM {name} ORDER BY {order}");
            copy_rows(from, into, &read, &insert, &mut |_| ()).is_ok()
        });
    }
    let insert = format!("INSERT OR IGNORE INTO {name} (rowid, {list}) VALUES ({places})");
    let mut after = i64::MIN;
    for seek in 0..SEEKS_MAX {
        let read = format!("SELECT rowid, {list} FROM {name} WHERE rowid > {after} ORDER BY rowid");
        let mut last = after;
        let mut take_note = |row: &[Value]| {
            if let Some(Value::Integer(id)) = row.first() {
                last = *id;
            }
        };
        if copy_rows(from, into, &read, &insert, &mut take_note).is_ok() {
            return seek == 0;
        }
        match next_readable(from, &name, last) {
            Some(next) => after = next,
            None => return false,
        }
    }
    false
}

/// Copies rows from a statement until it fails.
fn copy_rows(
    from: &Connection,
    into: &Connection,
    read: &str,
    insert: &str,
    take_note: &mut dyn FnMut(&[Value]),
) -> rusqlite::Result<()> {
    let mut statement = from.prepare(read)?;
    let width = statement.column_count();
    let mut insert = into.prepare(insert)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = (0..width).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>()?;
        take_note(&row);
        // Rows that violate the new file's constraints count as damage, too.
        let _left_out = insert.execute(params_from_iter(&row));
    }
    Ok(())
}

/// The smallest id after which a row can be read again, beyond an unreadable one.
fn next_readable(from: &Connection, table: &str, last: i64) -> Option<i64> {
    // Whether there is a row, if that can be determined.
    let look = |after: i64| {
        let sql = format!("SELECT rowid FROM {table} WHERE rowid > {after} ORDER BY rowid LIMIT 1");
        let mut statement = from.prepare(&sql)?;
        statement.exists([])
    };
    // Ids begin at 1.
    let (mut bad, mut step) = (last.max(0), 1);
    let mut good = loop {
        let next = bad.checked_add(step)?;
        match look(next) {
            Ok(true) => break next,
            Ok(false) => return None,
            Err(_) => (bad, step) = (next, step.checked_mul(2)?),
        }
    };
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        match look(middle) {
            Ok(_) => good = middle,
            Err(_) => bad = middle,
        }
    }
    Some(good)
}

/// The columns that can be written.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0")?;
    statement.query_map([table], |row| Ok(quoted(&row.get::<_, String>(0)?)))?.collect()
}

/// The columns of the primary key.
fn key(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk")?;
    statement.query_map([table], |row| Ok(quoted(&row.get::<_, String>(0)?)))?.collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
