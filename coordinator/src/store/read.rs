//! Reading: any number of connections that can do nothing else.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelrum_tournament::{CellId, DefinitionHash};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions as _, SqlitePool};

use super::connection::{BUSY_TIMEOUT, INSTRUCTIONS_BETWEEN_LOOKS, PLACE_WAIT};
use super::error::{StoreError, code, primary_code};
use super::open::{cannot_be_written, describe, require_ours};
use super::query::{Bounds, Queries, QueryRows, Table};

/// How long one of the users' queries may run.
pub const QUERY_SECONDS_MAX: u64 = 30;
/// How long one may wait for its reader, in all: it holds its moment of the database meanwhile, and
/// SQLite's log grows.
const READER_WAIT_MAX: Duration = Duration::from_secs(300);
/// The connections of the coordinator's own reads, which users' queries never hold up.
const OWN_CONNECTIONS_MAX: u32 = 2;
/// How many questions for results are answered at once.
const RESULTS_CONNECTIONS_MAX: u32 = 4;

/// Read-only connections to a results database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Readers {
    own: SqlitePool,
    results: SqlitePool,
    queries: Queries,
    query_time_max: Duration,
    reader_wait_max: Duration,
    path: Arc<Path>,
}

/// One moment of the database.
pub(super) type Snapshot = sqlx::Transaction<'static, sqlx::Sqlite>;

impl Readers {
    /// Opens an existing database for reading only, whether or not a coordinator has it.
    ///
    /// # Errors
    /// If there is none, or it is none.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let path = path.canonicalize().map_err(|source| {
            let path = path.to_owned();
            if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                StoreError::MissingDatabase { path }
            } else {
                StoreError::File { path, source }
            }
        })?;
        require_ours(&path).await?;
        let readers = Self::connecting(&path, at_rest(&path));
        // Here and not at the first query, so that what is wrong is said at once.
        readers.epoch().await?;
        Ok(readers)
    }

    /// Readers of a database that is known to be one.
    pub(super) fn at(path: &Path) -> Self {
        Self::connecting(path, false)
    }

    fn connecting(path: &Path, immutable: bool) -> Self {
        let path: Arc<Path> = path.into();
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .read_only(true)
            .immutable(immutable)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("query_only", "ON")
            // No view can then use a function with side effects.
            .pragma("trusted_schema", "OFF")
            .disable_statement_logging();
        let pool = SqlitePoolOptions::new().min_connections(0).acquire_timeout(PLACE_WAIT);
        Self {
            own: pool
                .clone()
                .max_connections(OWN_CONNECTIONS_MAX)
                .connect_lazy_with(options.clone()),
            results: pool.max_connections(RESULTS_CONNECTIONS_MAX).connect_lazy_with(options),
            queries: Queries::at(Arc::clone(&path), immutable),
            query_time_max: Duration::from_secs(QUERY_SECONDS_MAX),
            reader_wait_max: READER_WAIT_MAX,
            path,
        }
    }

    /// The same, with another bound on the time of a query.
    #[must_use]
    pub fn with_query_time_max(mut self, query_time_max: Duration) -> Self {
        self.query_time_max = query_time_max;
        self
    }

    /// The same, with another bound on how long a query waits for its reader.
    #[must_use]
    pub fn with_reader_wait_max(mut self, reader_wait_max: Duration) -> Self {
        self.reader_wait_max = reader_wait_max;
        self
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs one read-only statement and gathers its rows, bounded in rows, bytes and time (invariants 9
    /// and 10).
    ///
    /// # Errors
    /// If it is not a single read-only statement, is wrong, or takes too long.
    pub async fn query(&self, sql: &str, rows_max: u32) -> Result<Table, StoreError> {
        self.query_rows(sql, rows_max.into()).await?.gather().await
    }

    /// Runs one read-only statement for somebody who may be anybody: its rows one batch after the other,
    /// bounded in time, and in how long it waits for them to be taken (invariants 9 and 10).
    ///
    /// # Errors
    /// If it is not a single read-only statement, or is wrong.
    pub async fn query_rows(&self, sql: &str, rows_max: u64) -> Result<QueryRows, StoreError> {
        let bounds = Bounds::shared(rows_max, self.query_time_max, self.reader_wait_max);
        self.queries.start(sql, bounds).await
    }

    /// Runs one read-only statement for whom the database is for: it takes as long as it takes, unless
    /// it has a bound, and waits until its rows are taken.
    ///
    /// # Errors
    /// If it is not a single read-only statement, or is wrong.
    pub async fn own_query_rows(
        &self,
        sql: &str,
        rows_max: u64,
        time_max: Option<Duration>,
    ) -> Result<QueryRows, StoreError> {
        self.queries.start(sql, Bounds::own(rows_max, time_max)).await
    }

    /// The definition of a cell, by its hash.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn definition(&self, hash: DefinitionHash) -> Result<Option<String>, StoreError> {
        let hash = hash.to_string();
        Ok(sqlx::query_scalar!(
            r#"SELECT definition_json AS "definition_json!: String" FROM cell_definitions
            WHERE definition_hash = ? LIMIT 1"#,
            hash
        )
        .fetch_optional(&self.own)
        .await?)
    }

    /// The definition of a cell, by its id.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn definition_of(&self, cell: CellId) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT definition_json AS "definition_json!: String" FROM cell_definitions
            WHERE cell_id = ?"#,
            cell.0
        )
        .fetch_optional(&self.own)
        .await?)
    }

    /// Closes all connections, also those of its clones.
    pub async fn close(&self) {
        self.queries.close().await;
        self.results.close().await;
        self.own.close().await;
    }

    /// The own pool, for this module's other reads.
    pub(super) fn own(&self) -> &SqlitePool {
        &self.own
    }

    /// A snapshot: whatever is read of it is of the same moment. Its statements are interrupted when
    /// their time is over: see [`Self::in_time`].
    pub(super) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        // It begins with the first read.
        let mut snapshot = self.results.begin().await?;
        let deadline = Instant::now() + self.query_time_max;
        snapshot
            .lock_handle()
            .await?
            .set_progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, move || Instant::now() < deadline);
        Ok(snapshot)
    }

    /// What is read of a snapshot, or that it took too long (invariant 9).
    pub(super) async fn in_time<T>(
        &self,
        reading: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let is_interrupted = |error: &StoreError| matches!(error, StoreError::Sql(error) if primary_code(error) == Some(code::INTERRUPT));
        let seconds = self.query_time_max.as_secs();
        reading.await.map_err(|error| {
            if is_interrupted(&error) { StoreError::SlowQuery { seconds } } else { error }
        })
    }

    /// The epoch in the database.
    async fn epoch(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar!(
            r#"SELECT coalesce(max(coordinator_epoch), 0) AS "epoch!: i64" FROM coordinators"#
        )
        .fetch_one(&self.own)
        .await
        .map_err(|error| describe(&self.path, error))
    }
}

/// Whether a database is archived: closed, in a directory where nothing can be made.
///
/// Even to read, SQLite makes the log's files beside the database, and fails where it may not, unless
/// it is told that nobody writes (sqlite.org/wal.html, "Read-Only Databases"). A coordinator can
/// write only where it may make them too; while one does, its log is there.
pub(super) fn at_rest(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    path.parent().is_some_and(cannot_be_written) && !Path::new(&log).exists()
}
