//! Preserving the log of an open database, which SQLite would delete.

use std::path::Path;
use std::sync::Mutex;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;

/// A connection that leaves the log in place when it is the last to close. Any other would copy the log into the
/// database and delete it, copying the holes of a damaged log as well.
#[derive(Debug)]
pub(crate) struct Keeper(
    #[expect(dead_code, reason = "closed when it is dropped")] Mutex<Connection>,
);

impl Keeper {
    /// The keeper of a database that is already open.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // From its first read on, this connection holds the lock that keeps the log.
        connection
            .query_row("SELECT count(*) FROM coordinators", [], |row| row.get::<_, i64>(0))?;
        Ok(Self(Mutex::new(connection)))
    }
}
