//! The copy of a shared database that a coordinator keeps while another one writes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, params_from_iter};
use spelrum_answers::SqlValue;

use crate::error::StoreError;
use crate::open::connection::BUSY_TIMEOUT;
use crate::open::database;
use crate::open::lock::Lock;
use crate::shared::changes::{Changes, TableChanges, quoted};
use crate::shared::journal::Place;

/// A copy that follows the journal. It has the file's lock: no coordinator writes to it meanwhile.
#[derive(Debug)]
pub struct LocalCopy {
    path: PathBuf,
    file: Arc<Mutex<OpenFile>>,
    schema: i64,
    database_uuid: String,
}

/// State that a call works on to its end, also if its caller is gone.
#[derive(Debug)]
struct OpenFile {
    connection: Connection,
    place: Place,
    /// Held until the connection is closed: fields are dropped in this order.
    _lock: Lock,
}

impl LocalCopy {
    /// Opens the copy at a path; `None` if there is no file.
    ///
    /// # Errors
    /// If the file is not a results database, is damaged, or another process has it.
    pub async fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        if path.metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let (path, mut lock) = database::take_existing(path).await?;
        // What follows is not recorded: whatever is lost here is in the journal.
        lock.forget().map_err(|source| StoreError::File { path: path.clone(), source })?;
        blocking(move || Self::read(path, lock)).await.map(Some)
    }

    fn read(path: PathBuf, lock: Lock) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(StoreError::Query)?;
        let (place, schema, database_uuid) = prepare(&connection).map_err(StoreError::Query)?;
        let file = Arc::new(Mutex::new(OpenFile { connection, place, _lock: lock }));
        Ok(Self { path, file, schema, database_uuid })
    }

    /// The last change that is in the copy.
    #[must_use]
    pub fn place(&self) -> Place {
        lock(&self.file).place
    }

    /// The number of the copy's last migration.
    #[must_use]
    pub fn schema(&self) -> i64 {
        self.schema
    }

    /// The id of the database.
    #[must_use]
    pub fn database_uuid(&self) -> &str {
        &self.database_uuid
    }

    /// Applies the changes that follow, all of them or none.
    ///
    /// # Errors
    /// If one does not follow the one before it, is of another schema, or the file fails.
    pub async fn apply(&mut self, changes: Vec<(Place, Vec<u8>)>) -> Result<(), StoreError> {
        let (file, schema) = (Arc::clone(&self.file), self.schema);
        blocking(move || {
            let OpenFile { connection, place, .. } = &mut *lock(&file);
            *place = apply(connection, *place, schema, &changes)?;
            Ok(())
        })
        .await
    }

    /// Closes the file, which is complete without a log beside it then.
    ///
    /// # Errors
    /// If the disk is full or fails; the journal has all that is lost.
    pub async fn close(self) -> Result<(), StoreError> {
        blocking(move || {
            let emptied = lock(&self.file).connection.query_row(
                "PRAGMA wal_checkpoint(TRUNCATE)",
                [],
                |_| Ok(()),
            );
            emptied.map_err(StoreError::Query)?;
            tracing::debug!(copy = %self.path.display(), "closed the copy");
            Ok(())
        })
        .await
    }
}

fn lock(file: &Mutex<OpenFile>) -> MutexGuard<'_, OpenFile> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// Prepares a connection, and reads what the copy is of.
fn prepare(connection: &Connection) -> rusqlite::Result<(Place, i64, String)> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768;
        PRAGMA foreign_keys = OFF;
        -- A coordinator goes on with this copy under the same id.
        PRAGMA user_version = 0;
        -- Digests of a file that was closed.
        DELETE FROM table_digests;",
    )?;
    let schema =
        connection.query_row("SELECT max(version) FROM _sqlx_migrations", [], |row| row.get(0))?;
    let uuid = connection.query_row("SELECT uuid FROM databases", [], |row| row.get(0))?;
    Ok((reached(connection)?, schema, uuid))
}

/// The last change that is in the copy.
fn reached(connection: &Connection) -> rusqlite::Result<Place> {
    let sql = "SELECT journal_number, journal_term FROM databases";
    connection.query_row(sql, [], |row| Ok(Place { number: row.get(0)?, term: row.get(1)? }))
}

fn wrong(problem: String) -> StoreError {
    let remedy = "start this coordinator again: it fetches the database anew".to_owned();
    StoreError::Journal { problem, remedy }
}

fn apply(
    connection: &mut Connection,
    mut place: Place,
    schema: i64,
    changes: &[(Place, Vec<u8>)],
) -> Result<Place, StoreError> {
    let transaction = connection.transaction().map_err(StoreError::Query)?;
    for (next, bytes) in changes {
        if next.number != place.number + 1 {
            return Err(wrong(format!("change {} follows {}", next.number, place.number)));
        }
        let changes = Changes::from_bytes(bytes)?;
        if changes.schema != schema {
            return Err(wrong(format!(
                "change {} is of schema {}, and this copy has {schema}",
                next.number, changes.schema
            )));
        }
        write(&transaction, &changes).map_err(StoreError::Query)?;
        place = reached(&transaction).map_err(StoreError::Query)?;
        if place != *next {
            return Err(wrong(format!("change {} does not say that it is that", next.number)));
        }
    }
    transaction.commit().map_err(StoreError::Query)?;
    Ok(place)
}

fn write(connection: &Connection, changes: &Changes) -> rusqlite::Result<()> {
    // A row that another one replaces, as both have a value that no two may have, is itself among those that changed:
    // it comes once more, or is deleted.
    for (table, changes) in &changes.tables {
        delete(connection, table, changes)?;
        let columns: Vec<_> = changes.columns.iter().map(|column| quoted(column)).collect();
        let mut insert = connection.prepare(&format!(
            "INSERT OR REPLACE INTO {} ({}) VALUES ({})",
            quoted(table),
            columns.join(", "),
            vec!["?"; columns.len()].join(", ")
        ))?;
        for row in &changes.rows {
            insert.execute(params_from_iter(row.iter().map(Parameter)))?;
        }
    }
    let mut reach = connection.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = ?")?;
    let mut begin = connection.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)")?;
    for (table, id) in &changes.ids {
        if reach.execute((id, table))? == 0 {
            begin.execute((table, id))?;
        }
    }
    changes.views.as_ref().map_or(Ok(()), |views| make_views(connection, views))
}

fn delete(connection: &Connection, table: &str, changes: &TableChanges) -> rusqlite::Result<()> {
    if changes.deleted.is_empty() {
        return Ok(());
    }
    let key = changes.key.iter().map(|column| format!("{} = ?", quoted(column)));
    let mut delete = connection.prepare(&format!(
        "DELETE FROM {} WHERE {}",
        quoted(table),
        key.collect::<Vec<_>>().join(" AND ")
    ))?;
    for key in &changes.deleted {
        delete.execute(params_from_iter(key.iter().map(Parameter)))?;
    }
    Ok(())
}

/// Makes the views those of the owner, in its order: by it the oldest are dropped, where there are too many.
fn make_views(connection: &Connection, views: &[(String, String)]) -> rusqlite::Result<()> {
    let mut shown = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid")?;
    let there: Vec<(String, String)> =
        shown.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let same = there.iter().zip(views).take_while(|(there, view)| there == view).count();
    for (name, _) in there.iter().skip(same) {
        connection.execute_batch(&format!("DROP VIEW {}", quoted(name)))?;
    }
    for (_, sql) in views.iter().skip(same) {
        connection.execute_batch(sql)?;
    }
    Ok(())
}

/// A value as a statement's parameter.
struct Parameter<'a>(&'a SqlValue);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Integer(integer) => ValueRef::Integer(*integer),
            SqlValue::Real(real) => ValueRef::Real(*real),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
