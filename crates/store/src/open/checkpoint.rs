//! Checkpoints: moving committed data from the write-ahead log into the database file.
//!
//! Checkpoints run apart from commits (`wal_autocheckpoint = 0`), so that no commit pays for one: a [`Checkpointer`]
//! has its own connection. While it copies, the writer goes on; the log restarts from its beginning once everything in
//! it is copied and no reader needs it.
//!
//! A writer that never pauses has always written more by the time a concurrent checkpoint is done, and the log would
//! grow for as long as that lasts. So from [`WAL_RESTART_BYTES`] on, the writer itself copies the small rest between
//! two transactions ([`crate::Writer::checkpoint`]).

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::check::open_files::SharedFiles;
use crate::error::StoreError;
use crate::open::connection::writing;
use crate::open::wal::log_path;

/// The log size from which a checkpoint is worth its time.
pub const WAL_CHECKPOINT_BYTES: u64 = 16 << 20;

/// The log size from which the writer should pause for a checkpoint of its own.
pub const WAL_RESTART_BYTES: u64 = 64 << 20;

/// The log size that indicates a fault: a reader holds a snapshot for too long, or the disk is too slow.
pub const WAL_ALARM_BYTES: u64 = 512 << 20;

/// Outcome of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whether everything in the log is now in the database file.
    pub complete: bool,
    /// The log's size after the checkpoint, in bytes.
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

    /// Checks that the files are as the last commit left them. Cheap, so that an idle coordinator notices damage, too.
    ///
    /// # Errors
    /// If the files differ; the alarm is raised then.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        let checked = self.files.check_beside(&mut self.connection).await;
        checked.inspect_err(|error| self.files.now().alarm().raise_if_damage(error))
    }

    /// The size of the write-ahead log in bytes.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        wal_bytes(&self.path)
    }

    /// The size of the database's file in bytes, without its log; 0 if the file is gone.
    #[must_use]
    pub fn database_bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Copies as much as possible without waiting for other connections.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing is lost then. If the files are damaged: nothing is copied, and the alarm
    /// is raised.
    pub async fn run(&mut self) -> Result<Checkpoint, StoreError> {
        self.check().await?;
        let done = checkpoint(&mut self.connection, &self.path).await;
        done.inspect_err(|error| self.files.now().alarm().raise_if_damage(error))
    }

    /// Closes the connection. SQLite removes the log when the database's last connection closes, so this one must not
    /// be left to close some time after the writer's.
    ///
    /// # Errors
    /// If the disk fails; nothing is lost then.
    pub async fn close(self) -> Result<(), StoreError> {
        Ok(self.connection.close().await?)
    }
}

/// Copies as much as possible without waiting for other connections.
pub(crate) async fn checkpoint(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<Checkpoint, StoreError> {
    // The result's columns: whether the checkpoint was blocked, frames in the log, frames copied. The query macros
    // cannot describe a pragma.
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

/// Copies all of the log and truncates it, so that the database's file is complete by itself even where another
/// process has the database open, which keeps SQLite from deleting the log. Waits for readers in the middle of a
/// query; warns if one outlasts the wait.
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
