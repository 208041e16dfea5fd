//! Users' queries: a single read-only statement within bounds (invariants 9 and 10).
//!
//! SQLite itself decides what a text is and does: an authorizer checks each action of a statement in advance
//! (`permitted`). In addition, the connection is opened read-only with `query_only` set, and views cannot use functions
//! with side effects.
//!
//! Each query has its own low-priority thread and its own connection, so it leaves nothing behind for the next query.
//! Rows are passed on as they are found, in batches, of which only a few are buffered: a slow reader slows the query,
//! which meanwhile holds its snapshot. So where others depend on the database, both the query's own time and its wait
//! for the reader are bounded.

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

/// The complete result of a query.
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
    /// Set for a file that no program had open.
    rest: Option<AtRest>,
    /// Receives reports of damage met by queries.
    alarm: Alarm,
    places: Arc<Semaphore>,
    closing: CancellationToken,
}

/// Rows of a running query, as they are found. Dropping this ends the query.
#[derive(Debug)]
pub struct QueryRows {
    columns: Vec<String>,
    batches: mpsc::Receiver<Vec<Vec<SqlValue>>>,
    /// Receives whether rows were cut off; `None` once that is known.
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

    /// Returns the next rows, each as long as `columns`; `None` after the last. Cancel-safe.
    ///
    /// # Errors
    /// If the query fails, takes too long, or waited too long for its reader.
    pub async fn next(&mut self) -> Result<Option<Vec<Vec<SqlValue>>>, StoreError> {
        if let Some(rows) = self.batches.recv().await {
            if let Some(thread) = &self.thread {
                thread.thread().unpark();
            }
            return Ok(Some(rows));
        }
        if let Some(end) = &mut self.end {
            let end = end.await;
            self.end = None;
            self.truncated = match end {
                Ok(truncated) => truncated?,
                Err(_) => return Err(self.panic_or_closed()),
            };
        }
        Ok(None)
    }

    /// Whether the row limit cut rows off. Known after the last row.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Gathers all rows, up to a size limit.
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

    /// The error of a thread that ended without an answer.
    fn panic_or_closed(&mut self) -> StoreError {
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

    /// Starts a query and runs it until its columns are known. The query ends early if its caller is gone.
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
            // Reported like too many queries.
            thread: Some(thread.map_err(|_| StoreError::ManyQueries)?),
            _caller_waits: unwanted.drop_guard(),
        };
        match columns_told.await {
            Ok(columns) => rows.columns = columns,
            // The query failed before it had columns.
            Err(_) => {
                rows.next().await?;
            }
        }
        Ok(rows)
    }

    /// Ends running queries and refuses later ones.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        // Queries queued before this one see the flag when their turn comes.
        let _every_place = self.places.acquire_many(QUERIES_MAX).await;
        self.places.close();
    }
}

/// Lowers this thread's priority: workers' calls come before queries.
pub(crate) fn yield_to_others() {
    // On other systems the priority belongs to the whole process.
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
    /// Set when the caller is gone.
    unwanted: CancellationToken,
    /// The authorizer's refusal, if any.
    refused: Arc<OnceLock<String>>,
    /// Whether the query exceeded its limit on temporary files.
    has_spilt: Arc<AtomicBool>,
}

/// Time used by a query, and the part of it spent waiting for the reader.
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

/// Where a query's thread sends its rows.
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
        // The query can read only this database, so any damage is in this file.
        let answered =
            self.answer(&mut reader).inspect_err(|error| self.alarm.raise_if_damage(error));
        let answered = answered.map_err(|error| self.explain_error(error));
        let rested = self.rest.as_ref().map_or(Ok(()), AtRest::check);
        let answered = rested.and(answered);
        // Held until here, even if the caller is gone.
        drop(place);
        let _ = end.send(answered);
        // Only now does the receiver learn that there are no more rows.
        drop(reader);
    }

    /// Finds the rows; returns whether some were cut off.
    fn answer(&self, reader: &mut Reader) -> Result<bool, StoreError> {
        if self.sql.len() > SQL_BYTES_MAX as usize {
            let bytes_max = SQL_BYTES_MAX as usize;
            return Err(StoreError::LongQuery { bytes: self.sql.len(), bytes_max });
        }
        // SQLite reads only up to a NUL.
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
        // SQLite does not consult the authorizer about VACUUM INTO.
        if !statement.readonly() {
            return Err(not_a_query(MORE_THAN_READ));
        }
        self.hand_over(&mut statement, reader)
    }

    /// Opens a read-only connection that is interrupted at the time limit.
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
        // Sorts and intermediate results go to files that vanish with the query, not into memory: SQLite bounds memory
        // only per process, and a process that runs out of memory ends, while a full disk can be waited out. The files
        // are in SQLITE_TMPDIR, TMPDIR or /var/tmp, best on another disk than the database.
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
        let mut spill = Spill::for_this_thread();
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

    /// Restricts the connection to reading from here on.
    fn guard(&self, connection: &Connection) -> Result<(), StoreError> {
        connection.pragma_update(None, "query_only", true)?;
        // Last, since the authorizer would refuse the settings above.
        let refused = Arc::clone(&self.refused);
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            match refusal(&asked.action) {
                None => Authorization::Allow,
                Some(problem) => {
                    // SQLite gives up because of the first refusal.
                    let _ = refused.set(problem);
                    Authorization::Deny
                }
            }
        }))?;
        Ok(())
    }

    /// Prepares the statement. Views of experiments that it names and the file lacks are created for this connection
    /// from our own text, never while the statement exists.
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
        // Comments and semicolons may follow; unparsable text counts as a second statement.
        match statements.next() {
            Ok(None) => Ok(statement),
            Ok(Some(_)) | Err(_) => {
                // The second statement's actions are not the reason for the refusal.
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

    /// Sends a batch as soon as there is room for it.
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

    /// Adds a suggestion for a misspelt name or word to the error.
    fn explained(&self, error: StoreError, connection: &Connection) -> StoreError {
        let StoreError::Query(error) = error else { return error };
        let is_of_the_query =
            self.refused.get().is_none() && query_code(&error) == Some(rusqlite::ffi::SQLITE_ERROR);
        if is_of_the_query && let Some(message_text) = sqlite_message(&error) {
            let suggestion = super::suggestions::suggest(connection, &self.sql, message_text);
            if suggestion.is_some() {
                return StoreError::WrongQuery { message: message(error), suggestion };
            }
        }
        StoreError::Query(error)
    }

    /// Translates an SQLite error for the caller.
    fn explain_error(&self, error: StoreError) -> StoreError {
        let StoreError::Query(error) = error else { return error };
        if let Some(problem) = self.refused.get() {
            return not_a_query(problem);
        }
        let wrong = |message: String| StoreError::WrongQuery { message, suggestion: None };
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

/// Whether an error is caused by the disk or the database rather than the query.
fn is_of_the_file(code: i32) -> bool {
    code::TRANSIENT.contains(&code) || [code::CORRUPT, code::NOTADB].contains(&code)
}

/// The missing table or view that a statement names.
fn missing_table(error: &rusqlite::Error) -> Option<&str> {
    sqlite_message(error)?.strip_prefix("no such table: ")
}

/// SQLite's own message.
fn sqlite_message(error: &rusqlite::Error) -> Option<&str> {
    let rusqlite::Error::SqliteFailure(_, Some(message)) = error else { return None };
    Some(message)
}

/// SQLite's message without the query attached to it.
fn message(error: rusqlite::Error) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others say it themselves")]
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        other => other.to_string(),
    }
}

/// A path as a URI of an immutable file (sqlite.org/uri.html).
pub(crate) fn immutable_uri(path: &Path) -> String {
    uri(path, "immutable=1")
}

/// A path as a URI with these parameters.
pub(crate) fn uri(path: &Path, parameters: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), KEPT);
    format!("file:{path}?{parameters}")
}

/// The values of a row, unless they exceed the size limit of a row: SQLite bounds single values, and the rows it keeps.
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
    StoreError::WrongQuery { message, suggestion: None }
}

/// The value with its own type: one column of a query may mix types.
fn value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(integer) => SqlValue::Integer(integer),
        ValueRef::Real(real) => SqlValue::Real(real),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => SqlValue::Blob(blob.to_vec()),
    }
}

/// Memory of a row without its values.
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

    /// The wait for the reader does not count towards a query's own time.
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
