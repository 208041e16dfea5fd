//! Checkpoints: moving what was committed from the write-ahead log into the database file.
//!
//! They run apart from commits (`wal_autocheckpoint = 0`), so that no commit pays for one: a
//! [`Checkpointer`] has a connection of its own. While it copies, the writer goes on; the log
//! starts again from its beginning once everything in it is copied and no reader needs it.
//!
//! A writer that never pauses has always written more by the time a checkpoint beside it is done,
//! and the log would grow for as long as that lasts. So from [`WAL_RESTART_BYTES`] on the writer
//! copies the little that is left itself, between two transactions ([`crate::Writer::checkpoint`]).

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::check::open_files::SharedFiles;
use crate::error::StoreError;
use crate::open::connection::writing;
use crate::open::wal::log_path;

/// From this size of the log on a checkpoint is worth its time.
pub const WAL_CHECKPOINT_BYTES: u64 = 16 << 20;

/// From this size of the log on the writer should stop for a checkpoint of its own.
pub const WAL_RESTART_BYTES: u64 = 64 << 20;

/// A log of this size is wrong: a reader holds a snapshot for too long, or the disk is too slow.
pub const WAL_ALARM_BYTES: u64 = 512 << 20;

/// What a checkpoint did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whether everything in the log is in the database file now.
    pub complete: bool,
    /// The log's size after it, in bytes.
    pub wal_bytes: u64,
}

/// Runs checkpoints beside the writer.
#[derive(Debug)]
pub struct Checkpointer {
    path: PathBuf,
    connection: SqliteConnection,
    files: SharedFiles,
}

impl Checkpointer {
    pub(crate) async fn open(path: &Path, files: SharedFiles) -> Result<Self, StoreError> {
        Ok(Self { path: path.to_owned(), connection: writing(path).connect().await?, files })
    }

    /// That the files are what the last commit left. Cheap, so that a coordinator without work finds out, too.
    ///
    /// # Errors
    /// If they are not; the alarm is raised then.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        let checked = self.files.check_beside(&mut self.connection).await;
        checked.inspect_err(|error| self.files.now().alarm().hear(error))
    }

    /// The size of the write-ahead log, in bytes.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        wal_bytes(&self.path)
    }

    /// The size of the database's file without its log, in bytes; 0 if it is gone.
    #[must_use]
    pub fn database_bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Copies what it can without waiting for anybody.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing is lost then. If the files are damaged: then nothing is copied, and
    /// the alarm is raised.
    pub async fn run(&mut self) -> Result<Checkpoint, StoreError> {
        self.check().await?;
        let done = checkpoint(&mut self.connection, &self.path).await;
        done.inspect_err(|error| self.files.now().alarm().hear(error))
    }

    /// Closes its connection. SQLite removes the log when the last connection of the database is
    /// closed, so this one must not be left to close some time after the writer's.
    ///
    /// # Errors
    /// If the disk fails; nothing is lost then.
    pub async fn close(self) -> Result<(), StoreError> {
        Ok(self.connection.close().await?)
    }
}

/// Copies what it can without waiting for anybody.
pub(crate) async fn checkpoint(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<Checkpoint, StoreError> {
    // The result's columns: whether it was blocked, frames in the log, frames copied. The query
    // macros cannot describe a pragma.
    let row = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").fetch_one(connection).await?;
    let (blocked, frames, copied): (i64, i64, i64) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let wal_bytes = wal_bytes(path);
    if wal_bytes >= WAL_ALARM_BYTES {
        tracing::warn!(
            wal_bytes,
            frames,
            copied,
            "the write-ahead log is large: end long-running readers of the database"
        );
    }
    Ok(Checkpoint { complete: blocked == 0 && frames == copied, wal_bytes })
}

/// Copies all of the log and cuts it to nothing, so that the database's file is complete by itself even where
/// another process has the database open, which keeps SQLite from deleting the log. Waits for readers that are
/// in the middle of a query; warns if one outlasts the wait.
pub(crate) async fn empty_log(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<(), StoreError> {
    let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(connection).await?;
    let blocked: i64 = row.try_get(0)?;
    if blocked != 0 {
        tracing::warn!(
            log = %log_path(path).display(),
            "another program is reading the database: its latest results stay in the log, so copy both files, or \
             end that program and open the database once"
        );
    }
    Ok(())
}

/// The size of a database's log, in bytes; 0 without one.
pub(crate) fn wal_bytes(path: &Path) -> u64 {
    std::fs::metadata(log_path(path)).map_or(0, |metadata| metadata.len())
}
