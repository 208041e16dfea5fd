//! Reading: any number of connections that can do nothing else.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
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
    own: OwnReads,
    results: SqlitePool,
    queries: Queries,
    query_time_max: Duration,
    reader_wait_max: Duration,
    spill_bytes_max: u64,
    path: Arc<Path>,
    /// Of a file that no program had open: it is read as one that does not change.
    rest: Option<AtRest>,
    /// Told of damage that a statement meets.
    alarm: Alarm,
}

/// The pool of the own reads. Every statement that is run on it tells the alarm of damage that it meets.
#[derive(Clone, Debug)]
pub(crate) struct OwnReads {
    pool: SqlitePool,
    alarm: Alarm,
}

impl OwnReads {
    /// A connection, whose statements tell nobody of damage.
    pub(crate) async fn acquire(&self) -> sqlx::Result<PoolConnection<Sqlite>> {
        self.heard(self.pool.acquire().await)
    }

    /// A snapshot, likewise.
    pub(crate) async fn begin(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        self.heard(self.pool.begin().await)
    }

    fn heard<T>(&self, read: sqlx::Result<T>) -> sqlx::Result<T> {
        read.inspect_err(|error| self.alarm.hear_sqlite(error))
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
        self.pool.fetch_many(query).map(|read| self.heard(read)).boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, sqlx::Result<Option<SqliteRow>>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        self.pool.fetch_optional(query).map(|read| self.heard(read)).boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [SqliteTypeInfo],
    ) -> BoxFuture<'e, sqlx::Result<SqliteStatement>>
    where
        'p: 'e,
    {
        self.pool.prepare_with(sql, parameters).map(|read| self.heard(read)).boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, sqlx::Result<Describe<Sqlite>>>
    where
        'p: 'e,
    {
        self.pool.describe(sql).map(|read| self.heard(read)).boxed()
    }
}

/// One moment of the database.
pub(crate) type Snapshot = sqlx::Transaction<'static, sqlx::Sqlite>;

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
        let rest = AtRest::find(&path);
        require_ours(&path).await?;
        examine_to_read(&path)?;
        let readers = Self::connecting(&path, rest, Alarm::of(&path));
        // Here and not at the first query, so that what is wrong is said at once.
        readers.epoch().await?;
        Ok(readers)
    }

    /// Readers of a database that is known to be one.
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
            // No view can then use a function with side effects.
            .pragma("trusted_schema", "OFF")
            .disable_statement_logging();
        let pool = SqlitePoolOptions::new().min_connections(0).acquire_timeout(PLACE_WAIT);
        Self {
            own: OwnReads {
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

    /// That what was read of a database at rest is what it has.
    ///
    /// # Errors
    /// [`StoreError::OpenedMeanwhile`] if not.
    pub(crate) fn still_at_rest(&self) -> Result<(), StoreError> {
        self.rest.as_ref().map_or(Ok(()), AtRest::check)
    }

    /// Whether the database was at rest when it was opened.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.rest.is_some()
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

    /// The same, with a lower bound on what a query may write to temporary files.
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
        self.queries.start(sql, bounds.with_spill_bytes_max(self.spill_bytes_max)).await
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
        self.own.pool.close().await;
    }

    /// The own pool, for this module's other reads.
    pub(crate) fn own(&self) -> &OwnReads {
        &self.own
    }

    /// A snapshot: whatever is read of it is of the same moment. Its statements are interrupted when
    /// their time is over: see [`Self::in_time`].
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        // It begins with the first read.
        let mut snapshot =
            self.results.begin().await.inspect_err(|error| self.alarm.hear_sqlite(error))?;
        let deadline = Instant::now() + self.query_time_max;
        snapshot
            .lock_handle()
            .await?
            .set_progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, move || Instant::now() < deadline);
        Ok(snapshot)
    }

    /// Whom to tell of damage.
    pub(crate) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// What is read of a snapshot, or that it took too long (invariant 9). The alarm is told of damage that it meets.
    pub(crate) async fn in_time<T>(
        &self,
        reading: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let is_interrupted = |error: &StoreError| matches!(error, StoreError::Sql(error) if primary_code(error) == Some(code::INTERRUPT));
        let seconds = self.query_time_max.as_secs();
        let read = reading.await.inspect_err(|error| self.alarm.hear(error));
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
        .fetch_one(&self.own)
        .await
        .map_err(|error| describe(&self.path, error))
    }
}
