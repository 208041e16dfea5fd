//! The users' own queries: one statement that can do nothing but read, within bounds (invariants 9
//! and 10).
//!
//! SQLite itself says what a text is and does. An authorizer is asked about everything that a
//! statement would do, before it does it (`permitted`). Beside that the connection is opened read-only, with
//! `query_only` set, and no view can use a function with side effects.
//!
//! A query has a thread and a connection of its own, so that nothing of it is left for the next one; it
//! runs when others leave it time. Its rows are handed over as they are found, in batches of which few
//! wait: a slow reader slows the query down, which holds its moment of the database meanwhile. So both its
//! own time and the time that it waits for its reader are bounded where others depend on it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::hooks::{AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, OpenFlags, Row, Statement};
use spelrum_answers::SqlValue;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::bounds::{
    BATCH_AGE, BATCH_BYTES, BATCHES_MAX, Bounds, LIMITS, OWN_VIEWS_MAX, QUERIES_MAX, SQL_BYTES_MAX,
    TABLE_BYTES_MAX, VALUE_BYTES_MAX, WAKE_EVERY,
};
use super::permitted::{MORE_THAN_READ, refusal};
use super::temporary_files::Spill;
use crate::open::alarm::Alarm;
use crate::open::at_rest::AtRest;
use crate::open::connection::{BUSY_TIMEOUT, INSTRUCTIONS_BETWEEN_LOOKS, PLACE_WAIT};
use crate::schema::experiment_views::make_for_connection;

use crate::error::{StoreError, code, query_code};

/// A query's whole result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<SqlValue>>,
    /// Whether rows were cut off.
    pub truncated: bool,
}

/// Runs queries on a database; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Queries {
    path: Arc<Path>,
    /// Of a file that no program had open.
    rest: Option<AtRest>,
    /// Told of damage that a query meets.
    alarm: Alarm,
    places: Arc<Semaphore>,
    closing: CancellationToken,
}

/// A query that runs: its rows, as they are found. It ends when this is dropped.
#[derive(Debug)]
pub struct QueryRows {
    columns: Vec<String>,
    batches: mpsc::Receiver<Vec<Vec<SqlValue>>>,
    /// Whether rows were cut off; nothing once that is known.
    end: Option<oneshot::Receiver<Result<bool, StoreError>>>,
    truncated: bool,
    thread: Option<JoinHandle<()>>,
    _caller_waits: DropGuard,
}

impl QueryRows {
    /// Column names.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The next rows, each as long as `columns`; nothing after the last. Nothing is lost if this is
    /// dropped while it waits.
    ///
    /// # Errors
    /// If the query fails, takes too long, or was waiting for too long to be read.
    pub async fn next(&mut self) -> Result<Option<Vec<Vec<SqlValue>>>, StoreError> {
        if let Some(rows) = self.batches.recv().await {
            if let Some(thread) = &self.thread {
                thread.thread().unpark();
            }
            return Ok(Some(rows));
        }
        if let Some(end) = &mut self.end {
            let told = end.await;
            self.end = None;
            self.truncated = match told {
                Ok(told) => told?,
                Err(_) => return Err(self.told_nothing()),
            };
        }
        Ok(None)
    }

    /// Whether there were more rows than wanted. Known after the last.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Gathers all, up to some size.
    pub(crate) async fn gather(mut self) -> Result<Table, StoreError> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while let Some(batch) = self.next().await? {
            for row in batch {
                if bytes > TABLE_BYTES_MAX {
                    return Ok(Table { columns: self.columns, rows, truncated: true });
                }
                bytes += row_bytes(&row);
                rows.push(row);
            }
        }
        Ok(Table { columns: self.columns, rows, truncated: self.truncated })
    }

    /// The thread has told nothing, and ends.
    fn told_nothing(&mut self) -> StoreError {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
        closed()
    }
}

impl Queries {
    pub(crate) fn at(path: Arc<Path>, rest: Option<AtRest>, alarm: Alarm) -> Self {
        let places = Arc::new(Semaphore::new(QUERIES_MAX as usize));
        Self { path, rest, alarm, places, closing: CancellationToken::new() }
    }

    /// Begins one, up to where its columns are known. It ends early when nobody waits for it any more.
    pub(crate) async fn start(&self, sql: &str, bounds: Bounds) -> Result<QueryRows, StoreError> {
        let place = tokio::time::timeout(PLACE_WAIT, Arc::clone(&self.places).acquire_owned())
            .await
            .map_err(|_| StoreError::ManyQueries)?;
        let (Ok(place), false) = (place, self.closing.is_cancelled()) else {
            return Err(closed());
        };
        let unwanted = self.closing.child_token();
        let query = Query {
            path: Arc::clone(&self.path),
            rest: self.rest.clone(),
            alarm: self.alarm.clone(),
            sql: sql.to_owned(),
            bounds,
            clock: Arc::new(Clock { started: Instant::now(), waited_us: AtomicU64::new(0) }),
            unwanted: unwanted.clone(),
            refused: Arc::default(),
            has_spilt: Arc::default(),
        };
        let (batches, batches_told) = mpsc::channel(BATCHES_MAX);
        let (columns, columns_told) = oneshot::channel();
        let (end, end_told) = oneshot::channel();
        let thread = std::thread::Builder::new().name("query".to_owned());
        let reader = Reader { batches, columns: Some(columns) };
        let thread = thread.spawn(move || query.run(reader, end, place));
        let mut rows = QueryRows {
            columns: Vec::new(),
            batches: batches_told,
            end: Some(end_told),
            truncated: false,
            // As when there are too many.
            thread: Some(thread.map_err(|_| StoreError::ManyQueries)?),
            _caller_waits: unwanted.drop_guard(),
        };
        match columns_told.await {
            Ok(columns) => rows.columns = columns,
            // It has failed before it had any.
            Err(_) => {
                rows.next().await?;
            }
        }
        Ok(rows)
    }

    /// Ends those that run, and refuses later ones.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        // Those that have waited before us see it when it is their turn.
        let _every_place = self.places.acquire_many(QUERIES_MAX).await;
        self.places.close();
    }
}

/// Lets this thread run when others leave it time: workers' calls come before anybody's questions.
pub(crate) fn yield_to_others() {
    // Elsewhere this is of the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(10) {
        tracing::debug!(%error, "could not lower a query's priority");
    }
}

fn closed() -> StoreError {
    StoreError::Sql(sqlx::Error::PoolClosed)
}

struct Query {
    path: Arc<Path>,
    rest: Option<AtRest>,
    alarm: Alarm,
    sql: String,
    bounds: Bounds,
    clock: Arc<Clock>,
    /// Nobody waits for the answer.
    unwanted: CancellationToken,
    /// What the authorizer has refused, if it has.
    refused: Arc<OnceLock<String>>,
    /// Whether it has written more to temporary files than it may.
    has_spilt: Arc<AtomicBool>,
}

/// A query's time, and how much of it was its reader's.
#[derive(Debug)]
struct Clock {
    started: Instant,
    waited_us: AtomicU64,
}

impl Clock {
    fn waited(&self) -> Duration {
        Duration::from_micros(self.waited_us.load(Ordering::Relaxed))
    }

    fn own_time(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.waited())
    }

    fn add_wait(&self, wait: Duration) {
        self.waited_us.fetch_add(wait.as_micros() as u64, Ordering::Relaxed);
    }
}

/// Where a query's thread hands over what it finds.
struct Reader {
    batches: mpsc::Sender<Vec<Vec<SqlValue>>>,
    columns: Option<oneshot::Sender<Vec<String>>>,
}

impl Query {
    fn run(
        &self,
        mut reader: Reader,
        end: oneshot::Sender<Result<bool, StoreError>>,
        place: OwnedSemaphorePermit,
    ) {
        yield_to_others();
        // The query can read the database alone, so that damage is of this.
        let answered = self.answer(&mut reader).inspect_err(|error| self.alarm.hear(error));
        let answered = answered.map_err(|error| self.told(error));
        let rested = self.rest.as_ref().map_or(Ok(()), AtRest::check);
        let answered = rested.and(answered);
        // Kept up to here, also of one that nobody waits for.
        drop(place);
        let _ = end.send(answered);
        // Only now does who waits for rows hear that there are no more.
        drop(reader);
    }

    /// Finds its rows; whether some were cut off.
    fn answer(&self, reader: &mut Reader) -> Result<bool, StoreError> {
        if self.sql.len() > SQL_BYTES_MAX as usize {
            let bytes_max = SQL_BYTES_MAX as usize;
            return Err(StoreError::LongQuery { bytes: self.sql.len(), bytes_max });
        }
        // SQLite reads up to a NUL only.
        if self.sql.contains('\0') {
            return Err(not_a_query("it contains a NUL character"));
        }
        let connection = self.connect()?;
        self.guard(&connection)?;
        let mut statement =
            self.statement(&connection).map_err(|error| self.explained(error, &connection))?;
        if statement.parameter_count() > 0 {
            return Err(not_a_query("it has parameters"));
        }
        // The authorizer is not asked about VACUUM INTO.
        if !statement.readonly() {
            return Err(not_a_query(MORE_THAN_READ));
        }
        self.hand_over(&mut statement, reader)
    }

    /// A connection that reads, and is interrupted when its time is over.
    fn connect(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if self.rest.is_some() {
            let uri = immutable_uri(&self.path);
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
        } else {
            Connection::open_with_flags(&self.path, flags)?
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // What a query sorts or keeps for itself goes to files that vanish with it, not into memory:
        // SQLite bounds memory for a whole process only, and a process that has none left ends, while a
        // full disk is waited for. The files are in SQLITE_TMPDIR, TMPDIR or /var/tmp, best on
        // another disk than the database.
        connection.pragma_update(None, "temp_store", "FILE")?;
        for (limit, most) in LIMITS {
            connection.set_limit(limit, most)?;
        }
        super::functions::offer(&connection)?;
        super::text_functions::offer(&connection, VALUE_BYTES_MAX as usize)?;
        super::aggregates::offer(&connection, self.bounds.values_max)?;
        let (time_max, clock) = (self.bounds.time_max, Arc::clone(&self.clock));
        let unwanted = self.unwanted.clone();
        let is_over = move || time_max.is_some_and(|most| clock.own_time() >= most);
        let (spill_max, has_spilt) = (self.bounds.spill_bytes_max, Arc::clone(&self.has_spilt));
        let mut spill = Spill::of_this_thread();
        let mut spills = move || {
            let spills = spill_max.is_some_and(|most| spill.bytes() > most);
            has_spilt.fetch_or(spills, Ordering::Relaxed);
            spills
        };
        connection.progress_handler(
            INSTRUCTIONS_BETWEEN_LOOKS,
            Some(move || unwanted.is_cancelled() || is_over() || spills()),
        )?;
        Ok(connection)
    }

    /// Lets the connection do nothing but read, from here on.
    fn guard(&self, connection: &Connection) -> Result<(), StoreError> {
        connection.pragma_update(None, "query_only", true)?;
        // Last: it would refuse what was set above.
        let refused = Arc::clone(&self.refused);
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            match refusal(&asked.action) {
                None => Authorization::Allow,
                Some(problem) => {
                    // The first one is why SQLite gives up.
                    let _ = refused.set(problem);
                    Authorization::Deny
                }
            }
        }))?;
        Ok(())
    }

    /// The statement, ready to run. Experiments' own views that it names and the file lacks are made for
    /// this connection, from our own text: not while the statement is there.
    fn statement<'c>(&self, connection: &'c Connection) -> Result<Statement<'c>, StoreError> {
        for _ in 0..OWN_VIEWS_MAX {
            let error = match self.only_statement(connection) {
                Err(StoreError::Query(error)) => error,
                found => return found,
            };
            let Some(view) = missing_table(&error) else { return Err(error.into()) };
            connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
            connection.pragma_update(None, "query_only", false)?;
            let made = make_for_connection(connection, view)?;
            self.guard(connection)?;
            if !made {
                return Err(error.into());
            }
        }
        self.only_statement(connection)
    }

    fn only_statement<'c>(&self, connection: &'c Connection) -> Result<Statement<'c>, StoreError> {
        let mut statements = Batch::new(connection, &self.sql);
        let statement = statements.next()?.ok_or_else(|| not_a_query("it is empty"))?;
        // Comments and semicolons may follow; what cannot be understood is something, too.
        match statements.next() {
            Ok(None) => Ok(statement),
            Ok(Some(_)) | Err(_) => {
                // Whatever the second one would do is not why.
                Err(not_a_query("it is more than one statement"))
            }
        }
    }

    fn hand_over(
        &self,
        statement: &mut Statement<'_>,
        reader: &mut Reader,
    ) -> Result<bool, StoreError> {
        let columns: Vec<_> = statement.column_names().into_iter().map(ToOwned::to_owned).collect();
        let width = columns.len();
        if let Some(tell) = reader.columns.take() {
            let _ = tell.send(columns);
        }
        let mut rows = statement.raw_query();
        let (mut batch, mut bytes, mut since) = (Vec::new(), 0, Instant::now());
        let (mut count, mut truncated) = (0, false);
        while let Some(row) = rows.next()? {
            if count == self.bounds.rows_max {
                truncated = true;
                break;
            }
            count += 1;
            let row = values(row, width)?;
            if batch.is_empty() {
                since = Instant::now();
            }
            bytes += row_bytes(&row);
            batch.push(row);
            if bytes >= BATCH_BYTES || since.elapsed() >= BATCH_AGE {
                self.send(reader, std::mem::take(&mut batch))?;
                bytes = 0;
            }
        }
        if !batch.is_empty() {
            self.send(reader, batch)?;
        }
        Ok(truncated)
    }

    /// Hands over a batch, as soon as there is room for it.
    fn send(&self, reader: &Reader, mut batch: Vec<Vec<SqlValue>>) -> Result<(), StoreError> {
        loop {
            batch = match reader.batches.try_send(batch) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(_)) => return Err(closed()),
                Err(TrySendError::Full(batch)) => batch,
            };
            if self.unwanted.is_cancelled() {
                return Err(closed());
            }
            let before = Instant::now();
            std::thread::park_timeout(WAKE_EVERY);
            self.clock.add_wait(before.elapsed());
            if let Some(most) = self.bounds.wait_max
                && self.clock.waited() >= most
            {
                return Err(StoreError::SlowReader { seconds: most.as_secs() });
            }
        }
    }

    /// The error, with what a name or word in the statement may have meant.
    fn explained(&self, error: StoreError, connection: &Connection) -> StoreError {
        let StoreError::Query(error) = error else { return error };
        let is_of_the_query =
            self.refused.get().is_none() && query_code(&error) == Some(rusqlite::ffi::SQLITE_ERROR);
        if is_of_the_query && let Some(said) = said(&error) {
            let meant = super::suggestions::meant(connection, &self.sql, said);
            if meant.is_some() {
                return StoreError::WrongQuery { message: message(error), meant };
            }
        }
        StoreError::Query(error)
    }

    /// What an error of SQLite means to who asked.
    fn told(&self, error: StoreError) -> StoreError {
        let StoreError::Query(error) = error else { return error };
        if let Some(problem) = self.refused.get() {
            return not_a_query(problem);
        }
        let wrong = |message: String| StoreError::WrongQuery { message, meant: None };
        match query_code(&error) {
            Some(code::INTERRUPT) if self.unwanted.is_cancelled() => closed(),
            Some(code::INTERRUPT) if self.has_spilt.load(Ordering::Relaxed) => {
                let bytes_max = self.bounds.spill_bytes_max.unwrap_or_default();
                StoreError::LargeQuery { mebibytes: bytes_max >> 20 }
            }
            Some(code::INTERRUPT) => {
                let seconds = self.bounds.time_max.unwrap_or_default().as_secs();
                StoreError::SlowQuery { seconds }
            }
            Some(code::TOO_BIG) => too_big(),
            Some(code) if !is_of_the_file(code) => wrong(message(error)),
            Some(_) | None => StoreError::Query(error),
        }
    }
}

fn not_a_query(problem: &str) -> StoreError {
    StoreError::NotAQuery { problem: problem.to_owned() }
}

/// Whether an error is not the query's, but the disk's or the database's.
fn is_of_the_file(code: i32) -> bool {
    code::TRANSIENT.contains(&code) || [code::CORRUPT, code::NOTADB].contains(&code)
}

/// The table or view that a statement names and that is not there.
fn missing_table(error: &rusqlite::Error) -> Option<&str> {
    said(error)?.strip_prefix("no such table: ")
}

/// SQLite's own words.
fn said(error: &rusqlite::Error) -> Option<&str> {
    let rusqlite::Error::SqliteFailure(_, Some(said)) = error else { return None };
    Some(said)
}

/// What SQLite says, without the query that comes with it.
fn message(error: rusqlite::Error) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others say it themselves")]
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    }
}

/// A path as an URI of a file that nobody changes (sqlite.org/uri.html).
pub(crate) fn immutable_uri(path: &Path) -> String {
    uri(path, "immutable=1")
}

/// A path as an URI with these parameters.
pub(crate) fn uri(path: &Path, parameters: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), KEPT);
    format!("file:{path}?{parameters}")
}

/// A row's values, unless they are larger than a row may be: SQLite bounds each, and rows that it keeps.
fn values(row: &Row<'_>, width: usize) -> Result<Vec<SqlValue>, StoreError> {
    let mut bytes = 0;
    let mut values = Vec::with_capacity(width);
    for column in 0..width {
        let found = row.get_ref(column)?;
        bytes += match found {
            ValueRef::Text(text) => text.len(),
            ValueRef::Blob(blob) => blob.len(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
        };
        if bytes > VALUE_BYTES_MAX as usize {
            return Err(too_big());
        }
        values.push(value(found));
    }
    Ok(values)
}

fn too_big() -> StoreError {
    let mebibytes = VALUE_BYTES_MAX >> 20;
    let message = format!("a text, blob or row of it has more than {mebibytes} MiB");
    StoreError::WrongQuery { message, meant: None }
}

/// The value's own type: a column of a query may mix them.
fn value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(integer) => SqlValue::Integer(integer),
        ValueRef::Real(real) => SqlValue::Real(real),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => SqlValue::Blob(blob.to_vec()),
    }
}

/// A row without its values, as it lies in memory.
const ROW_BYTES: usize = size_of::<Vec<SqlValue>>() + 16;

fn row_bytes(row: &[SqlValue]) -> usize {
    ROW_BYTES + row.iter().map(size).sum::<usize>()
}

fn size(value: &SqlValue) -> usize {
    size_of::<SqlValue>()
        + match value {
            SqlValue::Text(text) => text.len(),
            SqlValue::Blob(bytes) => bytes.len(),
            SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time for which a query waits for its reader is not its own.
    #[test]
    fn a_query_has_its_time_for_itself() {
        const SECOND: Duration = Duration::from_secs(1);
        let started = Instant::now().checked_sub(10_000 * SECOND).unwrap();
        let clock = Clock { started, waited_us: AtomicU64::new(0) };
        assert!(clock.own_time() >= 10_000 * SECOND);
        clock.add_wait(6_000 * SECOND);
        clock.add_wait(3_000 * SECOND);
        assert_eq!(clock.waited(), 9_000 * SECOND);
        assert!((1_000 * SECOND..5_000 * SECOND).contains(&clock.own_time()));
    }

    #[test]
    fn a_path_stays_itself_in_an_uri() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a b?mode=rwc#%41-é_.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE found (x)").unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let again = Connection::open_with_flags(immutable_uri(&path), flags).unwrap();
        assert!(again.table_exists(None, "found").unwrap());
    }
}
