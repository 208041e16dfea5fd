//! Keeping the log of an open database: SQLite would delete it.

use std::path::Path;
use std::sync::Mutex;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;

/// A connection that leaves the log where it is when it is the last one to be closed. Any other then copies the
/// log into the database and deletes it: a log that has holes by now would be copied with them.
#[derive(Debug)]
pub(crate) struct Keeper(
    #[expect(dead_code, reason = "closed when it is dropped")] Mutex<Connection>,
);

impl Keeper {
    /// Of a database that is open already.
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // From the first read on it has the lock that keeps the log.
        connection
            .query_row("SELECT count(*) FROM coordinators", [], |row| row.get::<_, i64>(0))?;
        Ok(Self(Mutex::new(connection)))
    }
}
