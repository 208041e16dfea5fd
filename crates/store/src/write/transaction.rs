//! One transaction of the writer: all of it is stored, or nothing.

use sqlx::{Executor as _, Sqlite, SqliteConnection};

use crate::check::open_files::SharedFiles;
use crate::clock::unix_now_us;
use crate::error::StoreError;
use crate::open::connection::TOUCHES;
use crate::open::lock::Lock;
use crate::shared::capture::{Sharing, behind};
use crate::write::cache::Cache;

/// An open `BEGIN IMMEDIATE` transaction. Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct Transaction<'w> {
    sql: sqlx::Transaction<'w, Sqlite>,
    pub(crate) cache: &'w mut Cache,
    files: &'w SharedFiles,
    lock: &'w mut Lock,
    sharing: Option<&'w mut Sharing>,
    /// The single timestamp of the transaction.
    pub(crate) now_unix_us: i64,
}

impl<'w> Transaction<'w> {
    /// A transaction that has begun.
    pub(crate) fn new(
        sql: sqlx::Transaction<'w, Sqlite>,
        cache: &'w mut Cache,
        files: &'w SharedFiles,
        lock: &'w mut Lock,
        sharing: Option<&'w mut Sharing>,
    ) -> Self {
        Self { sql, cache, files, lock, sharing, now_unix_us: unix_now_us() }
    }
}

impl Transaction<'_> {
    /// Commits; everything is on disk, in the file at the database's path, once this returns.
    ///
    /// # Errors
    /// If the database fails: nothing of the transaction is stored then. [`StoreError::Gone`] if the transaction is
    /// stored in a file that is no longer at the path, [`StoreError::Damaged`] if the file is damaged.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        match self.sharing {
            None => self.sql.commit().await?,
            Some(sharing) => {
                let appended = sharing.append(&mut self.sql).await?;
                let committed = self.sql.commit().await;
                match (appended, committed) {
                    (None, committed) => committed?,
                    (Some(appended), Ok(())) => sharing.committed(&appended),
                    (Some(_), Err(error)) => {
                        return Err(behind(&format!(
                            "a change is in the journal, and not here: {error}"
                        )));
                    }
                }
            }
        }
        self.cache.committed = true;
        // After a failed check the commit must not be reported to callers that wait for it.
        self.files.now().committed(self.lock)
    }

    /// Writes the first page unchanged, so that the commit shows whether the disk accepts writes.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn touch(&mut self) -> Result<(), StoreError> {
        for touch in TOUCHES {
            self.connection().execute(touch).await?;
        }
        Ok(())
    }

    /// The greatest id that a table with AUTOINCREMENT has ever had, including deleted ones.
    pub(crate) async fn last_id(&mut self, table: &'static str) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT coalesce(max(seq), 0) AS "id!: i64" FROM sqlite_sequence WHERE name = ?"#,
            table
        )
        .fetch_one(self.connection())
        .await?)
    }

    /// The connection, to run a statement on.
    pub(crate) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.sql
    }
}
