//! The store: one SQLite file. Only this module knows SQL.
//!
//! A [`Writer`] holds the one connection that writes; the scheduler's owner drives it, a
//! [`Transaction`] at a time. [`Readers`] answer everybody else. The schema is in `migrations/`,
//! its reference in `docs/sql.md`.
//!
//! | file | subject |
//! |---|---|
//! | `contract`, `sqlite` | what the dispatcher asks of a store, and who does it here |
//! | `open`, `lock`, `connection` | opening a database, and refusing what cannot work |
//! | `transaction`, `checkpoint` | when something is on disk |
//! | `wal`, `soundness`, `alarm`, `rescue`, `salvage` | whether the files are whole while they are open, and what is done if not |
//! | `left_behind` | whether a crash has left the log |
//! | `submit`, `cells`, `change`, `growth`, `own_views`, `files` | sweeps |
//! | `courses` | cells that the coordinator itself adds, and what it was told of those before |
//! | `scheduling`, `lookups` | what the scheduler finds again |
//! | `results`, `numbers`, `uncounted`, `refused`, `rollup`, `rollup_rows`, `opening_rows`, `margins` | results |
//! | `values`, `accuracy` | what moves are worth by a reference, and how well players choose |
//! | `readings`, `stops` | stop rules: what they read, and which games count by them |
//! | `read` | connections that only read |
//! | `query` | the users' own queries |
//! | `summaries`, `report`, `game_times`, `openings`, `comparisons`, `phases`, `overview`, `progress`, `games` | what viewers ask |
//! | `recount`, `integrity` | the rollups against the rows, and the file itself |
//! | `backup` | a copy of the whole |
//! | `export`, `import` | whole experiments as a database of their own, and back |
//! | `removal`, `removable`, `walk`, `forgetting` | throwing away |
//! | `attention` | what needs attention |

mod accuracy;
mod alarm;
mod attention;
mod backup;
mod barred;
mod cells;
mod change;
mod checkpoint;
mod claims;
mod comparisons;
mod connection;
pub mod contract;
mod courses;
mod digest;
mod disturbance;
mod engines;
mod error;
mod excluded;
mod exclusion;
mod export;
mod facts;
#[cfg(test)]
mod failures;
mod files;
mod forgetting;
mod game_times;
mod games;
mod growth;
mod identity;
mod import;
pub mod in_memory;
mod inserting;
mod integrity;
mod left_behind;
mod lock;
mod lookups;
#[cfg(test)]
mod many;
mod margins;
mod needs;
mod networks;
mod numbers;
mod open;
mod opening_rows;
mod openings;
mod overview;
mod own_views;
mod phases;
mod progress;
mod query;
mod ratings;
mod read;
mod readings;
mod recount;
mod refused;
mod removable;
mod removal;
mod report;
mod rescue;
mod rest;
mod results;
mod retry;
mod rollup;
mod rollup_rows;
mod rot;
mod row_digests;
mod salvage;
mod scaled;
mod scheduling;
mod side_rows;
mod soundness;
mod speeds;
mod sqlite;
mod stop_rules;
mod stops;
mod stored_sweeps;
mod submit;
mod summaries;
mod transaction;
mod uncounted;
mod values;
mod verifications;
mod wal;
mod walk;
mod worker_effects;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub use spelrum_tournament::results::{Removing, SqlValue};
use sqlx::{Connection as _, SqliteConnection};

pub use alarm::Alarm;
pub use backup::{BackedUp, BackupError, Copied};
pub use barred::StoppedForForfeits;
pub use checkpoint::{
    Checkpoint, Checkpointer, WAL_ALARM_BYTES, WAL_CHECKPOINT_BYTES, WAL_RESTART_BYTES,
};
pub use courses::OpenCourse;
pub use error::StoreError;
pub use exclusion::{Excludable, KeptResults, NamedWorker, TakenOut};
pub use export::{Received, export_from_pieces};
pub use facts::GameFacts;
pub use import::{ImportError, ImportProgress, Imported, Refereed};
pub use left_behind::{Loss, accept_loss};
pub use lock::told_by_holder;
pub use lookups::{Found, LeasedCell, OtherRevision};
pub use networks::StoredNetwork;
pub use query::{QueryRows, Table};
pub use read::{QUERY_SECONDS_MAX, Readers};
pub use recount::Difference;
pub use refused::Refused;
pub use removable::{GAME_BYTES, MOVE_BYTES, Removable};
pub use removal::Removed;
pub use report::REPORT_ROWS_MAX;
pub use retry::Retry;
pub use rot::Compared;
pub use salvage::RESCUE_COMMAND;
pub use scheduling::{LeaseHolder, WorkerIntroduction, WorkerProof};
pub use stored_sweeps::StoredSweep;
pub use submit::{Preview, Submitted, Sweep};
pub use transaction::Transaction;
pub use verifications::{
    Deviation, DifferentGame, ToVerify, Verifications, VerifiedPair, WaitingVerifications,
};

/// The one writer connection of a results database. There is one in the world: a second
/// coordinator on the same file is refused, or ends itself at its next transaction (the epoch).
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    connection: SqliteConnection,
    epoch: i64,
    readers: Readers,
    cache: transaction::Cache,
    /// Keeps what was committed in the log, and the log, if the files are damaged: see the module `rescue`.
    keeper: rescue::Keeper,
    files: soundness::SharedFiles,
    /// Held until the connection is closed: fields are dropped in this order.
    lock: lock::Lock,
}

impl Writer {
    /// Opens or creates the database, migrates it, refuses what cannot work (not a database, a
    /// newer schema, read-only, a network file system, another coordinator), raises the epoch.
    ///
    /// # Errors
    /// See [`StoreError`]; nothing is changed then.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let open::Opened { path, connection, epoch, mut lock } = open::open(path).await?;
        let alarm = Alarm::of(&path);
        let readers = Readers::at(&path, alarm.clone());
        let cache = transaction::Cache::default();
        let files = soundness::SharedFiles::of(&path, alarm)?;
        files.now().know_log(&mut lock)?;
        let keeper = rescue::Keeper::of(&path)?;
        Ok(Self { path, connection, epoch, readers, cache, keeper, files, lock })
    }

    /// This run's epoch.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Read-only connections to the same file.
    #[must_use]
    pub fn readers(&self) -> Readers {
        self.readers.clone()
    }

    /// Raised once the database is found damaged, by whomever: nothing is committed from then on.
    #[must_use]
    pub fn alarm(&self) -> Alarm {
        self.files.now().alarm().clone()
    }

    /// That the files are what the last commit left.
    ///
    /// # Errors
    /// If they are not.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        self.files.check_before(&mut self.connection, &mut self.lock).await
    }

    /// Lets [`told_by_holder`] tell this too, to the owner of the file and nobody else.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn tell(&mut self, what: &str) -> Result<(), StoreError> {
        let path = &self.path;
        self.lock.tell(what).map_err(|source| StoreError::File { path: path.clone(), source })
    }

    /// The size of the write-ahead log, in bytes: from [`WAL_CHECKPOINT_BYTES`] on a checkpoint is
    /// worth its time.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        checkpoint::wal_bytes(&self.path)
    }

    /// A connection of its own that runs checkpoints while this one writes.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn checkpointer(&self) -> Result<Checkpointer, StoreError> {
        Checkpointer::open(&self.path, self.files.clone()).await
    }

    /// Closes everything: the tables get their digests, and the log goes into the database file, which is complete
    /// without it from then on. Other readers, such as `watch`, only keep an empty log beside the file.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing that was committed is lost then.
    pub async fn close(self) -> Result<(), StoreError> {
        let Self { path, mut connection, epoch, readers, keeper, files, lock, .. } = self;
        readers.close().await;
        if files.now().check().is_ok() {
            let database = path.clone();
            let sealing =
                tokio::task::spawn_blocking(move || rot::seal_file(&database, epoch)).await;
            match sealing {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!("failed to write the digests of the tables: {error}");
                }
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
            checkpoint::empty_log(&mut connection, &path).await?;
        }
        // It would keep the log.
        drop(keeper);
        connection.close().await?;
        drop((files, lock));
        Ok(())
    }

    /// Runs a checkpoint between two transactions, without waiting for readers. Unless one of them
    /// still needs the log, the next transaction then begins it anew, which a checkpoint beside a
    /// busy writer cannot achieve: from [`WAL_RESTART_BYTES`] on it is worth the pause.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing is lost then.
    pub async fn checkpoint(&mut self) -> Result<Checkpoint, StoreError> {
        self.check().await?;
        let done = checkpoint::checkpoint(&mut self.connection, &self.path).await;
        done.inspect_err(|error| self.files.now().alarm().hear(error))
    }
}

/// Now, by the clock on the wall, in microseconds: for people, never for decisions, but for how long what
/// nobody needs is kept.
pub(crate) fn unix_now_us() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
