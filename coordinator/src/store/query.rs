//! The users' own queries: one statement that can do nothing but read, within bounds (invariants 9
//! and 10).
//!
//! SQLite itself says what a text is and does. An authorizer is asked about everything that a
//! statement would do, before it does it, and lets it read, compute and ask what is in
//! [`TELLING_PRAGMAS`]. Beside that the connection is opened read-only, with `query_only` set, and no
//! view can use a function with side effects.
//!
//! A query has a thread and a connection of its own, so that nothing of it is left for the next one; it
//! runs when others leave it time.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, OpenFlags, Row, Statement};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::connection::{BUSY_TIMEOUT, INSTRUCTIONS_BETWEEN_LOOKS, PLACE_WAIT};
use super::error::{StoreError, code, query_code};
use super::own_views::make_for_connection;

/// How many queries may run at once.
const QUERIES_MAX: u32 = 4;
/// The most bytes that an answer takes in memory, but for its last row. All places together take less
/// than half of what a coordinator may need.
const QUERY_BYTES_MAX: usize = 32 << 20;

/// The bounds of a statement that are not SQLite's own (sqlite.org/c3ref/c_limit_attached.html).
const LIMITS: [(Limit, i32); 7] = [
    // A text, a blob or a row. Whatever is stored came in a message of half of it at most. SQLite does
    // not look at the clock within a function, and some take the square of this.
    (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
    // Each of a row's values may have the length above.
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    // Also of the views in the schema.
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    // The time of LIKE is the product of pattern and text.
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
];
const VALUE_BYTES_MAX: i32 = 8 << 20;

/// What only tells, whatever its argument: that names a table or bounds a list.
const TELLING_PRAGMAS: [&str; 16] = [
    "collation_list",
    "compile_options",
    "database_list",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];
/// What tells without an argument, which would be a new value.
const VALUE_PRAGMAS: [&str; 9] = [
    "application_id",
    "auto_vacuum",
    "encoding",
    "freelist_count",
    "journal_mode",
    "page_count",
    "page_size",
    "schema_version",
    "user_version",
];

/// Functions of SQLite that do more than compute: they load code, or write to the program's log.
const DOING_FUNCTIONS: [&str; 3] = ["fts3_tokenizer", "load_extension", "sqlite_log"];

/// A value in a query's result.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A real.
    Real(f64),
    /// A text.
    Text(String),
    /// A blob.
    Blob(Vec<u8>),
}

/// A query's result.
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
pub(super) struct Queries {
    path: Arc<Path>,
    /// Whether nobody writes.
    immutable: bool,
    places: Arc<Semaphore>,
    closing: CancellationToken,
}

impl Queries {
    pub(super) fn at(path: Arc<Path>, immutable: bool) -> Self {
        let places = Arc::new(Semaphore::new(QUERIES_MAX as usize));
        Self { path, immutable, places, closing: CancellationToken::new() }
    }

    /// Runs one. It ends early when nobody waits for its answer any more.
    pub(super) async fn run(
        &self,
        sql: &str,
        rows_max: u32,
        time_max: Duration,
    ) -> Result<Table, StoreError> {
        let place = tokio::time::timeout(PLACE_WAIT, Arc::clone(&self.places).acquire_owned())
            .await
            .map_err(|_| StoreError::ManyQueries)?;
        let (Ok(place), false) = (place, self.closing.is_cancelled()) else {
            return Err(closed());
        };
        let unwanted = self.closing.child_token();
        let query = Query {
            path: Arc::clone(&self.path),
            immutable: self.immutable,
            sql: sql.to_owned(),
            rows_max: usize::try_from(rows_max).unwrap_or(usize::MAX),
            time_max,
            deadline: Instant::now() + time_max,
            unwanted: unwanted.clone(),
            refused: Arc::default(),
        };
        let _caller_waits = unwanted.drop_guard();
        let (tell, told) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new().name("query".to_owned());
        let answering = thread.spawn(move || {
            yield_to_others();
            // Kept to the end, also of one that nobody waits for.
            let _place = place;
            let _ = tell.send(query.answer().map_err(|error| query.told(error)));
        });
        // As when there are too many.
        let answering = answering.map_err(|_| StoreError::ManyQueries)?;
        match told.await {
            Ok(answer) => answer,
            // It has told nothing, and ends.
            Err(_) => match answering.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => Err(closed()),
            },
        }
    }

    /// Ends those that run, and refuses later ones.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        // Those that have waited before us see it when it is their turn.
        let _every_place = self.places.acquire_many(QUERIES_MAX).await;
        self.places.close();
    }
}

/// Lets this thread run when others leave it time: workers' calls come before anybody's questions.
fn yield_to_others() {
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
    immutable: bool,
    sql: String,
    rows_max: usize,
    time_max: Duration,
    deadline: Instant,
    /// Nobody waits for the answer.
    unwanted: CancellationToken,
    /// What the authorizer has refused, if it has.
    refused: Arc<OnceLock<String>>,
}

impl Query {
    fn answer(&self) -> Result<Table, StoreError> {
        // SQLite reads up to a NUL only.
        if self.sql.contains('\0') {
            return Err(not_a_query("it contains a NUL character"));
        }
        let connection = self.connect()?;
        self.guard(&connection)?;
        let mut statement = self.statement(&connection)?;
        if statement.parameter_count() > 0 {
            return Err(not_a_query("it has parameters"));
        }
        // The authorizer is not asked about VACUUM INTO.
        if !statement.readonly() {
            return Err(not_a_query(MORE_THAN_READ));
        }
        self.collect(&mut statement)
    }

    /// A connection that reads, and is interrupted when its time is over.
    fn connect(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if self.immutable {
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
        let (deadline, unwanted) = (self.deadline, self.unwanted.clone());
        connection.progress_handler(
            INSTRUCTIONS_BETWEEN_LOOKS,
            Some(move || unwanted.is_cancelled() || Instant::now() >= deadline),
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

    fn collect(&self, statement: &mut Statement<'_>) -> Result<Table, StoreError> {
        let columns: Vec<_> = statement.column_names().into_iter().map(ToOwned::to_owned).collect();
        let width = columns.len();
        let mut table = Table { columns, ..Table::default() };
        let mut bytes = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if table.rows.len() == self.rows_max || bytes > QUERY_BYTES_MAX {
                table.truncated = true;
                break;
            }
            let row = values(row, width)?;
            bytes += ROW_BYTES + row.iter().map(size).sum::<usize>();
            table.rows.push(row);
        }
        Ok(table)
    }

    /// What an error of SQLite means to who asked.
    fn told(&self, error: StoreError) -> StoreError {
        let StoreError::Query(error) = error else { return error };
        if let Some(problem) = self.refused.get() {
            return not_a_query(problem);
        }
        let wrong = |message: String| StoreError::WrongQuery { message };
        match query_code(&error) {
            Some(code::INTERRUPT) if self.unwanted.is_cancelled() => closed(),
            Some(code::INTERRUPT) => StoreError::SlowQuery { seconds: self.time_max.as_secs() },
            Some(code::TOO_BIG) => too_big(),
            Some(code) if !is_of_the_file(code) => wrong(message(error)),
            Some(_) | None => StoreError::Query(error),
        }
    }
}

/// Experiments' own views that are made for one query.
const OWN_VIEWS_MAX: usize = 100;

const MORE_THAN_READ: &str = "it would do more than read";

fn not_a_query(problem: &str) -> StoreError {
    StoreError::NotAQuery { problem: problem.to_owned() }
}

/// Why a statement may not do this, if it may not.
fn refusal(action: &AuthAction<'_>) -> Option<String> {
    let is_of = |list: &[&str], name: &str| list.iter().any(|of| of.eq_ignore_ascii_case(name));
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all else writes, now and in later releases"
    )]
    match *action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => None,
        AuthAction::Function { function_name: name } => {
            let does = is_of(&DOING_FUNCTIONS, name);
            does.then(|| format!("the function {name} does more than compute"))
        }
        AuthAction::Pragma { pragma_name: name, pragma_value: argument } => {
            let tells =
                is_of(&TELLING_PRAGMAS, name) || argument.is_none() && is_of(&VALUE_PRAGMAS, name);
            (!tells).then(|| format!("the pragma {name} does more than tell"))
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            Some("it would use other files".to_owned())
        }
        _ => Some(MORE_THAN_READ.to_owned()),
    }
}

/// Whether an error is not the query's, but the disk's or the database's.
fn is_of_the_file(code: i32) -> bool {
    code::TRANSIENT.contains(&code) || [code::CORRUPT, code::NOTADB].contains(&code)
}

/// The table or view that a statement names and that is not there.
fn missing_table(error: &rusqlite::Error) -> Option<&str> {
    let rusqlite::Error::SqliteFailure(_, Some(said)) = error else { return None };
    said.strip_prefix("no such table: ")
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
pub(super) fn immutable_uri(path: &Path) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), KEPT);
    format!("file:{path}?immutable=1")
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
    StoreError::WrongQuery { message }
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
