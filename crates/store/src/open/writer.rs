//! The writing connection.

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};

use crate::check::open_files::SharedFiles;
use crate::check::rot;
use crate::error::StoreError;
use crate::open::alarm::Alarm;
use crate::open::checkpoint::{self, Checkpoint, Checkpointer};
use crate::open::connection::writing;
use crate::open::database;
use crate::open::lock::Lock;
use crate::open::log_keeper::Keeper;
use crate::read::readers::Readers;
use crate::shared::capture::Sharing;
use crate::shared::{Journal, Place};
use crate::write::cache::Cache;
use crate::write::transaction::Transaction;

/// The only writer connection of a results database: a second coordinator on the same file is refused, or ends itself
/// at its next transaction (the epoch).
#[derive(Debug)]
pub struct Writer {
    pub(crate) path: PathBuf,
    pub(crate) connection: SqliteConnection,
    pub(crate) epoch: i64,
    pub(crate) readers: Readers,
    pub(crate) cache: Cache,
    /// Keeps the log and the data committed in it if the files are damaged: see `rescue`.
    pub(crate) keeper: Keeper,
    pub(crate) files: SharedFiles,
    /// For a database that several coordinators share.
    pub(crate) sharing: Option<Sharing>,
    /// Held until the connection is closed: fields are dropped in this order.
    pub(crate) lock: Lock,
}

impl Writer {
    /// Opens or creates the database, migrates it, refuses what cannot work (not a database, a newer schema,
    /// read-only, a network file system, another coordinator), raises the epoch.
    ///
    /// # Errors
    /// See [`StoreError`]; nothing is changed then.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_file(path, false).await
    }

    async fn open_file(path: &Path, follows: bool) -> Result<Self, StoreError> {
        let database::Opened { path, connection, epoch, mut lock } =
            database::open(path, follows).await?;
        let alarm = Alarm::new(&path);
        let readers = Readers::at(&path, alarm.clone());
        let cache = Cache::default();
        let files = SharedFiles::open(&path, alarm)?;
        files.now().know_log(&mut lock)?;
        let keeper = Keeper::open(&path)?;
        let sharing = None;
        Ok(Self { path, connection, epoch, readers, cache, keeper, files, sharing, lock })
    }

    /// As [`Writer::open`], with a journal into which each transaction goes before it is committed: for the coordinator
    /// that owns a shared database, with a copy that has all of the journal.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn open_shared(path: &Path, journal: Box<dyn Journal>) -> Result<Self, StoreError> {
        let mut writer = Self::open_file(path, true).await?;
        writer.sharing = Some(Sharing::begin(&mut writer.connection, journal).await?);
        let mut transaction = writer.begin().await?;
        // What opening has written; also that of a coordinator that ended before it wrote more.
        let touch = "UPDATE coordinators SET coordinator_epoch = coordinator_epoch";
        transaction.connection().execute(touch).await?;
        transaction.commit().await?;
        Ok(writer)
    }

    /// Migrates the copy of a shared database; its place in the journal stays.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn migrate_copy(path: &Path) -> Result<(), StoreError> {
        Self::open_file(path, true).await?.close().await
    }

    /// The last change of the journal that is committed here; 0 for a database that is not shared.
    #[must_use]
    pub fn place(&self) -> Place {
        self.sharing.as_ref().map(Sharing::place).unwrap_or_default()
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

    /// The alarm, raised once any user of the database finds it damaged: nothing is committed from then on.
    #[must_use]
    pub fn alarm(&self) -> Alarm {
        self.files.now().alarm().clone()
    }

    /// Checks that the files are as the last commit left them.
    ///
    /// # Errors
    /// If the files differ.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        self.files.check_before(&mut self.connection, &mut self.lock).await
    }

    /// Adds text to what [`read_lock_text`](crate::read_lock_text) returns, readable only by the owner of the file.
    ///
    /// # Errors
    /// If the lock's file cannot be written.
    pub fn tell(&mut self, what: &str) -> Result<(), StoreError> {
        let path = &self.path;
        self.lock.tell(what).map_err(|source| StoreError::File { path: path.clone(), source })
    }

    /// The size of the write-ahead log, in bytes: from [`WAL_CHECKPOINT_BYTES`](crate::WAL_CHECKPOINT_BYTES) on, a
    /// checkpoint is worth its time.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        checkpoint::wal_bytes(&self.path)
    }

    /// Opens a separate connection that runs checkpoints while this one writes.
    ///
    /// # Errors
    /// If the connection cannot be opened.
    pub async fn checkpointer(&self) -> Result<Checkpointer, StoreError> {
        Checkpointer::open(&self.path, self.files.clone()).await
    }

    /// Closes everything: the tables get their digests, and the log goes into the database file, which is complete
    /// without the log from then on. Other readers, such as `watch`, only keep an empty log beside the file.
    ///
    /// # Errors
    /// If the disk is full or fails; committed data is not lost then.
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
        // The keeper would preserve the log.
        drop(keeper);
        connection.close().await?;
        drop((files, lock));
        Ok(())
    }

    /// Runs a checkpoint between two transactions, without waiting for readers. Unless a reader still needs the log,
    /// the next transaction then restarts it, which a checkpoint beside a busy writer cannot achieve: from
    /// [`WAL_RESTART_BYTES`](crate::WAL_RESTART_BYTES) on, the checkpoint is worth the pause.
    ///
    /// # Errors
    /// If the disk is full or fails; nothing is lost then.
    pub async fn checkpoint(&mut self) -> Result<Checkpoint, StoreError> {
        self.check().await?;
        let done = checkpoint::checkpoint(&mut self.connection, &self.path).await;
        done.inspect_err(|error| self.files.now().alarm().raise_if_damage(error))
    }

    /// A unique id of this database, for workers that find a different database behind the same address.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn database_uuid(&mut self) -> Result<String, StoreError> {
        let uuid = sqlx::query_scalar!("SELECT uuid FROM databases")
            .fetch_one(&mut self.connection)
            .await?;
        Ok(uuid)
    }

    /// Begins a transaction, and checks the epoch.
    ///
    /// # Errors
    /// If the database is busy, full, damaged, no longer at its path, or taken over by another coordinator.
    pub async fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.sharing.as_ref().map_or(Ok(()), Sharing::check)?;
        if !std::mem::replace(&mut self.cache.committed, false) {
            // The transaction was rolled back, so its reads and writes are void.
            self.cache = Cache::default();
            self.leave_rolled_back().await?;
            self.files.now().doubt_last();
        }
        self.files.check_before(&mut self.connection, &mut self.lock).await?;
        let mut sql = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let found = sqlx::query_scalar!(
            r#"SELECT max(coordinator_epoch) AS "epoch!: i64" FROM coordinators"#
        )
        .fetch_one(&mut *sql)
        .await?;
        if found != self.epoch {
            return Err(StoreError::TakenOver { found, own: self.epoch });
        }
        self.files.now().know_log(&mut self.lock)?;
        let lacks_first_page = self.files.now().lacks_first_page();
        let mut transaction = Transaction::new(
            sql,
            &mut self.cache,
            &self.files,
            &mut self.lock,
            self.sharing.as_mut(),
        );
        if lacks_first_page {
            transaction.touch().await?;
        }
        Ok(transaction)
    }

    /// Replaces this connection if it cannot begin a transaction any more. Where the disk is full or fails, and a
    /// statement cannot be undone alone, SQLite rolls the transaction back on its own; the library's own ROLLBACK then
    /// fails, and the library counts the transaction as open for ever.
    async fn leave_rolled_back(&mut self) -> Result<(), StoreError> {
        // The library sends that ROLLBACK before this.
        self.connection.ping().await?;
        if self.connection.is_in_transaction() {
            let mut connection = writing(&self.path).connect().await?;
            if let Some(sharing) = &mut self.sharing {
                sharing.install(&mut connection).await?;
            }
            self.connection = connection;
            self.files.now().forget_log();
        }
        Ok(())
    }
}
