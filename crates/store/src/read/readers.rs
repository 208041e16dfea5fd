//! Read-only connections, in any number.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use spelrum_model::{CellId, DefinitionHash};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqlitePoolOptions, SqliteQueryResult, SqliteRow, SqliteStatement,
    SqliteTypeInfo,
};
use sqlx::{
    ConnectOptions as _, Describe, Either, Execute, Executor, SqlStr, Sqlite, SqlitePool,
    Transaction,
};

use crate::error::{StoreError, code, primary_code};
use crate::open::alarm::Alarm;
use crate::open::at_rest::AtRest;
use crate::open::connection::{BUSY_TIMEOUT, INSTRUCTIONS_BETWEEN_LOOKS, PLACE_WAIT};
use crate::open::database::{describe, require_ours};
use crate::open::log_loss::examine_to_read;
use crate::query::bounds::Bounds;
use crate::query::queries::{Queries, QueryRows, Table};
use crate::schema::encoding::rows;

/// Time limit of a user's query.
pub const QUERY_SECONDS_MAX: u64 = 30;
/// Total time that a query may wait for its reader. Meanwhile the query holds its snapshot, and SQLite's WAL grows.
const READER_WAIT_MAX: Duration = Duration::from_secs(300);
/// Connections for the coordinator's own reads, which users' queries never delay.
const OWN_CONNECTIONS_MAX: u32 = 2;
/// Result requests answered at once.
const RESULTS_CONNECTIONS_MAX: u32 = 4;

/// Read-only connections to a results database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Readers {
    reads: OwnReads,
    results: SqlitePool,
    queries: Queries,
    query_time_max: Duration,
    reader_wait_max: Duration,
    spill_bytes_max: u64,
    path: Arc<Path>,
    /// Set for a file that no program had open: the file is read as immutable.
    rest: Option<AtRest>,
    /// Receives reports of damage met by statements.
    alarm: Alarm,
}

/// The pool for the coordinator's own reads. Damage met by any statement that runs on it is reported to the alarm.
#[derive(Clone, Debug)]
pub(crate) struct OwnReads {
    pool: SqlitePool,
    alarm: Alarm,
}

impl OwnReads {
    /// Acquires a connection whose statements do not report damage.
    pub(crate) async fn acquire(&self) -> sqlx::Result<PoolConnection<Sqlite>> {
        self.note_damage(self.pool.acquire().await)
    }

    /// Begins a snapshot whose statements do not report damage.
    pub(crate) async fn begin(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        self.note_damage(self.pool.begin().await)
    }

    fn note_damage<T>(&self, read: sqlx::Result<T>) -> sqlx::Result<T> {
        read.inspect_err(|error| self.alarm.raise_if_sqlite_damage(error))
    }
}

impl<'p> Executor<'p> for &'p OwnReads {
    type Database = Sqlite;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, sqlx::Result<Either<SqliteQueryResult, SqliteRow>>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        self.pool.fetch_many(query).map(|read| self.note_damage(read)).boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, sqlx::Result<Option<SqliteRow>>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        self.pool.fetch_optional(query).map(|read| self.note_damage(read)).boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [SqliteTypeInfo],
    ) -> BoxFuture<'e, sqlx::Result<SqliteStatement>>
    where
        'p: 'e,
    {
        self.pool.prepare_with(sql, parameters).map(|read| self.note_damage(read)).boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, sqlx::Result<Describe<Sqlite>>>
    where
        'p: 'e,
    {
        self.pool.describe(sql).map(|read| self.note_damage(read)).boxed()
    }
}

/// A snapshot of the database.
pub(crate) type Snapshot = sqlx::Transaction<'static, sqlx::Sqlite>;

impl Readers {
    /// Opens an existing database read-only, whether or not a coordinator has it open.
    ///
    /// # Errors
    /// If the file is missing or not a results database.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let path = path.canonicalize().map_err(|source| {
            let path = path.to_owned();
            if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                StoreError::MissingDatabase { path }
            } else {
                StoreError::File { path, source }
            }
        })?;
        let rest = AtRest::find(&path);
        require_ours(&path).await?;
        examine_to_read(&path)?;
        let readers = Self::connecting(&path, rest, Alarm::new(&path));
        // Read here rather than at the first query, so that problems are reported at once.
        readers.epoch().await?;
        Ok(readers)
    }

    /// Readers of a file already known to be a database.
    pub(crate) fn at(path: &Path, alarm: Alarm) -> Self {
        Self::connecting(path, None, alarm)
    }

    fn connecting(path: &Path, rest: Option<AtRest>, alarm: Alarm) -> Self {
        let path: Arc<Path> = path.into();
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .read_only(true)
            .immutable(rest.is_some())
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("query_only", "ON")
            // Keeps views from using functions with side effects.
            .pragma("trusted_schema", "OFF")
            .disable_statement_logging();
        // A connection to a file needs no test before each use, which costs a round trip to the connection's thread.
        let pool = SqlitePoolOptions::new()
            .min_connections(0)
            .acquire_timeout(PLACE_WAIT)
            .test_before_acquire(false);
        Self {
            reads: OwnReads {
                pool: pool
                    .clone()
                    .max_connections(OWN_CONNECTIONS_MAX)
                    .connect_lazy_with(options.clone()),
                alarm: alarm.clone(),
            },
            results: pool.max_connections(RESULTS_CONNECTIONS_MAX).connect_lazy_with(options),
            queries: Queries::at(Arc::clone(&path), rest.clone(), alarm.clone()),
            query_time_max: Duration::from_secs(QUERY_SECONDS_MAX),
            reader_wait_max: READER_WAIT_MAX,
            spill_bytes_max: u64::MAX,
            path,
            rest,
            alarm,
        }
    }

    /// Checks that a database at rest did not change while it was read.
    ///
    /// # Errors
    /// [`StoreError::OpenedMeanwhile`] if it may have changed.
    pub(crate) fn still_at_rest(&self) -> Result<(), StoreError> {
        self.rest.as_ref().map_or(Ok(()), AtRest::check)
    }

    /// Whether no program had the database open when it was opened here.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.rest.is_some()
    }

    /// Sets the time limit of a query.
    #[must_use]
    pub fn with_query_time_max(mut self, query_time_max: Duration) -> Self {
        self.query_time_max = query_time_max;
        self
    }

    /// Sets how long a query waits for its reader.
    #[must_use]
    pub fn with_reader_wait_max(mut self, reader_wait_max: Duration) -> Self {
        self.reader_wait_max = reader_wait_max;
        self
    }

    /// Lowers the limit on a query's temporary files.
    #[must_use]
    pub fn with_spill_bytes_max(mut self, spill_bytes_max: u64) -> Self {
        self.spill_bytes_max = spill_bytes_max;
        self
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs one read-only statement and gathers its rows, bounded in rows, bytes and time (invariants 9 and 10).
    ///
    /// # Errors
    /// If the text is not a single valid read-only statement, or takes too long.
    pub async fn query(&self, sql: &str, rows_max: u32) -> Result<Table, StoreError> {
        self.query_rows(sql, rows_max.into()).await?.gather().await
    }

    /// Runs one read-only statement for an untrusted caller. Rows come in batches; the query's time and its total wait
    /// for the reader are bounded (invariants 9 and 10).
    ///
    /// # Errors
    /// If the text is not a single valid read-only statement.
    pub async fn query_rows(&self, sql: &str, rows_max: u64) -> Result<QueryRows, StoreError> {
        let bounds = Bounds::shared(rows_max, self.query_time_max, self.reader_wait_max);
        self.queries.start(sql, bounds.with_spill_bytes_max(self.spill_bytes_max)).await
    }

    /// Runs one read-only statement for the database's owner: without a time limit unless one is given, waiting until
    /// the rows are read.
    ///
    /// # Errors
    /// If the text is not a single valid read-only statement.
    pub async fn own_query_rows(
        &self,
        sql: &str,
        rows_max: u64,
        time_max: Option<Duration>,
    ) -> Result<QueryRows, StoreError> {
        self.queries.start(sql, Bounds::internal(rows_max, time_max)).await
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
        .fetch_optional(&self.reads)
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
        .fetch_optional(&self.reads)
        .await?)
    }

    /// The definitions of these cells, read in the order of their ids until they have more than `bytes_max` bytes
    /// together. If any of the cells exists, there is at least one definition.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn definitions_of(
        &self,
        cells: &[CellId],
        bytes_max: usize,
    ) -> Result<BTreeMap<CellId, String>, StoreError> {
        let ids = rows(&cells.iter().map(|cell| cell.0).collect::<Vec<_>>())?;
        let mut found = sqlx::query!(
            r#"SELECT cell_id AS "cell_id!", definition_json AS "definition_json!: String"
            FROM cell_definitions WHERE cell_id IN (SELECT value FROM json_each(?))
            ORDER BY cell_id"#,
            ids
        )
        .fetch(&self.reads);
        let (mut definitions, mut bytes) = (BTreeMap::new(), 0);
        while let Some(row) = found.try_next().await? {
            bytes += row.definition_json.len();
            definitions.insert(CellId(row.cell_id), row.definition_json);
            if bytes > bytes_max {
                break;
            }
        }
        Ok(definitions)
    }

    /// Closes all connections, including those of clones.
    pub async fn close(&self) {
        self.queries.close().await;
        self.results.close().await;
        self.reads.pool.close().await;
    }

    /// The pool for this module's other reads.
    pub(crate) fn reads(&self) -> &OwnReads {
        &self.reads
    }

    /// Begins a snapshot: all reads from it see the same state. Its statements are interrupted at the time limit: see
    /// [`Self::in_time`].
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        // The snapshot begins with the first read.
        let mut snapshot = self
            .results
            .begin()
            .await
            .inspect_err(|error| self.alarm.raise_if_sqlite_damage(error))?;
        let deadline = Instant::now() + self.query_time_max;
        snapshot
            .lock_handle()
            .await?
            .set_progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, move || Instant::now() < deadline);
        Ok(snapshot)
    }

    /// Receives reports of damage.
    pub(crate) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Reads from a snapshot within the time limit (invariant 9). Damage is reported to the alarm.
    pub(crate) async fn in_time<T>(
        &self,
        reading: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let is_interrupted = |error: &StoreError| matches!(error, StoreError::Sql(error) if primary_code(error) == Some(code::INTERRUPT));
        let seconds = self.query_time_max.as_secs();
        let read = reading.await.inspect_err(|error| self.alarm.raise_if_damage(error));
        self.still_at_rest()?;
        read.map_err(
            |error| {
                if is_interrupted(&error) { StoreError::SlowQuery { seconds } } else { error }
            },
        )
    }

    /// The epoch in the database.
    async fn epoch(&self) -> Result<i64, StoreError> {
        sqlx::query_scalar!(
            r#"SELECT coalesce(max(coordinator_epoch), 0) AS "epoch!: i64" FROM coordinators"#
        )
        .fetch_one(&self.reads)
        .await
        .map_err(|error| describe(&self.path, error))
    }
}
