//! A connection to the server, made anew whenever it breaks, and the journal's statements.
//!
//! Each statement is one message of the simple protocol, with its values in its text: so each is a transaction of its own
//! that needs no session, and a pooler in transaction mode may give each to another connection of its own. (A statement
//! with parameters is two messages of the library, between which such a pooler may change connections.)

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use spelrum_store::shared::Place;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

use crate::address::Address;
use crate::compression::expand;
use crate::error::JournalError;
use crate::log::{Base, Claim, Database, Head, Log, PART_TRIED, Reading};
use crate::owner::Owner;

/// How long connecting and a small statement may take: a connection that stalls is given up.
const PATIENT: Duration = Duration::from_secs(5);
/// How long a reading of changes may take.
const READ_PATIENT: Duration = Duration::from_secs(20);
/// How long a statement with much data may take.
const MORE_PATIENT: Duration = Duration::from_secs(60);
/// Begins a statement that writes the head. No timeout of the role's own may end it: one that ends the wait for a
/// synchronous standby would make the server acknowledge what is on its own disk only. But nobody waits for the row for
/// longer than this program waits for the answer.
const WRITE: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 4000;";
/// Changes that are read at once: so many, or so many bytes as they are stored.
const READ_CHANGES: i64 = 1_000;
const READ_BYTES: i64 = 8 << 20;

/// The server, as one connection after another.
#[derive(Debug)]
pub(crate) struct Server {
    address: Address,
    connection: Option<PgConnection>,
    began: Instant,
}

/// A text as an expression of SQL, whatever is in it and however the server reads literals.
fn text(value: &str) -> String {
    format!("convert_from({}, 'UTF8')", bytes(value.as_bytes()))
}

/// Bytes as an expression of SQL.
fn bytes(value: &[u8]) -> String {
    let mut sql = String::with_capacity(value.len() * 2 + 20);
    sql.push_str("decode('");
    sql.push_str(&hex::encode(value));
    sql.push_str("', 'hex')");
    sql
}

impl Server {
    pub(crate) fn new(address: Address) -> Self {
        Self { address, connection: None, began: Instant::now() }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Executes statements in one transaction; returns the rows of the last one that has some.
    pub(crate) async fn rows(&mut self, sql: String) -> Result<Vec<PgRow>, JournalError> {
        self.rows_within(sql, PATIENT).await
    }

    async fn rows_within(
        &mut self,
        sql: String,
        limit: Duration,
    ) -> Result<Vec<PgRow>, JournalError> {
        // Whatever ends this early ends the connection: an answer that comes later is no other statement's.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let work = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut connection);
        let rows = match tokio::time::timeout(limit, work).await {
            Ok(rows) => rows.map_err(|error| self.failed(error))?,
            Err(_) => return Err(self.stalled(limit)),
        };
        self.connection = Some(connection);
        Ok(rows)
    }

    /// Executes statements that may be executed more than once, until there is an answer.
    async fn rows_at_last(&mut self, sql: String) -> Result<Vec<PgRow>, JournalError> {
        let (mut left, wait) = PART_TRIED;
        loop {
            left -= 1;
            match self.rows_within(sql.clone(), MORE_PATIENT).await {
                Err(error) if left > 0 && !error.is_lasting() => self.wait(wait).await,
                done => return done,
            }
        }
    }

    async fn connect(&self) -> Result<PgConnection, JournalError> {
        let options = self.address.options().clone();
        // Poolers refuse what they do not know among what is asked for at the start.
        let options = options.extra_float_digits(None).statement_cache_capacity(0);
        // Statements have the changes in their text.
        let connecting = options.disable_statement_logging();
        match tokio::time::timeout(PATIENT, connecting.connect()).await {
            Ok(connection) => connection.map_err(|error| self.not_connected(error)),
            Err(_) => Err(JournalError::Unreachable {
                server: self.address.server(),
                problem: format!("no answer within {} s", PATIENT.as_secs()),
            }),
        }
    }

    fn stalled(&self, limit: Duration) -> JournalError {
        JournalError::Server {
            server: self.address.server(),
            problem: format!("no answer within {} s", limit.as_secs()),
            code: None,
        }
    }

    fn not_connected(&self, error: sqlx::Error) -> JournalError {
        let server = self.address.server();
        let Some(refusal) = error.as_database_error() else {
            return JournalError::Unreachable { server, problem: error.to_string() };
        };
        let problem = refusal.message().to_owned();
        let (user, database) = (self.address.user().to_owned(), self.address.database().to_owned());
        match refusal.code().as_deref() {
            Some(code) if code.starts_with("28") => JournalError::Login { server, user, problem },
            Some("3D000") => JournalError::MissingDatabase { server, database },
            Some("42501") => {
                let grant = format!("GRANT CONNECT ON DATABASE {database} TO {user}");
                JournalError::Rights { database, user, right: "connect".to_owned(), grant }
            }
            _ => self.failed(error),
        }
    }

    fn failed(&self, error: sqlx::Error) -> JournalError {
        let server = self.address.server();
        let Some(refusal) = error.as_database_error() else {
            return JournalError::Server { server, problem: error.to_string(), code: None };
        };
        match refusal.code().as_deref() {
            Some("25006") => JournalError::ReadOnly { server },
            code => JournalError::Server {
                server,
                problem: refusal.message().to_owned(),
                code: code.map(ToOwned::to_owned),
            },
        }
    }

    /// Reads a column; the journal's tables have the types that are read.
    pub(crate) fn column<'r, T>(&self, row: &'r PgRow, name: &str) -> Result<T, JournalError>
    where
        T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        row.try_get(name).map_err(|error| self.failed(error))
    }

    fn database(&self, row: &PgRow) -> Result<Option<Database>, JournalError> {
        let Some(uuid) = self.column::<Option<String>>(row, "database_uuid")? else {
            return Ok(None);
        };
        let number = self.column(row, "base_number")?;
        let base = Base {
            place: Place { number, term: self.column(row, "base_term")? },
            uploaded_in: self.column(row, "base_uploaded_in")?,
            parts: self.column(row, "base_parts")?,
            bytes: self.column(row, "base_bytes")?,
            sha256: self.column(row, "base_sha256")?,
        };
        Ok(Some(Database { uuid, schema: self.column(row, "schema")?, base }))
    }

    /// Lets the others take over.
    pub(crate) async fn release(&mut self, term: i64, holder: &str) -> Result<(), JournalError> {
        let sql = format!(
            "{WRITE} UPDATE spelrum_owner SET released = true, beat = beat + 1
            WHERE id = 1 AND term = {term} AND holder = {}",
            text(holder)
        );
        self.rows(sql).await.map(drop)
    }

    /// The number of the changes after the base, and their bytes.
    pub(crate) async fn since_base(&mut self) -> Result<(i64, i64), JournalError> {
        let sql = "SELECT count(*) AS changes, coalesce(sum(length(changes)), 0)::bigint AS bytes
            FROM spelrum_changes
            WHERE number > (SELECT coalesce(base_number, 0) FROM spelrum_owner)";
        match self.rows_within(sql.to_owned(), MORE_PATIENT).await?.first() {
            Some(row) => Ok((self.column(row, "changes")?, self.column(row, "bytes")?)),
            None => Ok((0, 0)),
        }
    }

    /// Stores a part of a base, whose key is the term; the first one deletes what an earlier attempt left.
    pub(crate) async fn store_part(
        &mut self,
        place: Place,
        term: i64,
        part: i64,
        contents: &[u8],
    ) -> Result<(), JournalError> {
        let Place { number, .. } = place;
        let mut sql = String::new();
        if part == 0 {
            let _ = write!(
                sql,
                "DELETE FROM spelrum_bases WHERE number = {number} AND term = {term}
                AND (SELECT (base_number, base_uploaded_in) IS DISTINCT FROM ({number}, {term})
                    FROM spelrum_owner);"
            );
        }
        let _ = write!(
            sql,
            "INSERT INTO spelrum_bases (number, term, part, bytes)
            SELECT {number}, {term}, {part}, {} FROM spelrum_owner WHERE id = 1 AND term = {term}
            ON CONFLICT DO NOTHING",
            bytes(contents)
        );
        self.rows_at_last(sql).await.map(drop)
    }

    /// Makes a base, all of whose parts are stored, the one that counts; returns whether the term was still the head's.
    pub(crate) async fn set_base(
        &mut self,
        term: i64,
        database: &Database,
    ) -> Result<bool, JournalError> {
        let Database { uuid, schema, base } = database;
        let sql = format!(
            "{WRITE} UPDATE spelrum_owner SET beat = beat + 1, database_uuid = {}, schema = {schema},
                last = greatest(last, {number}), base_number = {number}, base_term = {},
                base_uploaded_in = {}, base_parts = {}, base_bytes = {}, base_sha256 = {}
            WHERE id = 1 AND term = {term} RETURNING term",
            text(uuid),
            base.place.term,
            base.uploaded_in,
            base.parts,
            base.bytes,
            bytes(&base.sha256),
            number = base.place.number,
        );
        Ok(!self.rows_at_last(sql).await?.is_empty())
    }

    /// Deletes what the base has made needless: other bases, and changes except the latest, which a copy that is not far
    /// behind needs.
    pub(crate) async fn forget(&mut self, term: i64, kept: i64) -> Result<(), JournalError> {
        let sql = format!(
            "DELETE FROM spelrum_bases USING spelrum_owner AS owner WHERE owner.id = 1
                AND owner.term = {term}
                AND (spelrum_bases.number, spelrum_bases.term)
                    <> (owner.base_number, owner.base_uploaded_in);
            DELETE FROM spelrum_changes USING spelrum_owner AS owner WHERE owner.id = 1
                AND owner.term = {term}
                AND number <= least(owner.base_number, owner.last - {kept})"
        );
        self.rows_within(sql, MORE_PATIENT).await.map(drop)
    }
}

impl Log for Server {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    async fn wait(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn head(&mut self) -> Result<Head, JournalError> {
        let rows = self.rows("SELECT * FROM spelrum_owner WHERE id = 1".to_owned()).await?;
        let row = rows.first().ok_or_else(|| JournalError::ForeignTables {
            database: self.address.database().to_owned(),
            table: "spelrum_owner".to_owned(),
        })?;
        Ok(Head {
            term: self.column(row, "term")?,
            beat: self.column(row, "beat")?,
            last: self.column(row, "last")?,
            holder: self.column(row, "holder")?,
            owner: Owner { name: self.column(row, "name")?, address: self.column(row, "address")? },
            is_released: self.column(row, "released")?,
            database: self.database(row)?,
        })
    }

    async fn append(&mut self, place: Place, changes: &[u8]) -> Result<bool, JournalError> {
        let Place { number, term } = place;
        let sql = format!(
            "{WRITE} WITH owner AS (
                UPDATE spelrum_owner SET beat = beat + 1, last = {number}
                WHERE id = 1 AND term = {term} AND NOT released AND last = {number} - 1
                RETURNING term
            )
            INSERT INTO spelrum_changes (number, term, changes)
            SELECT {number}, term, {} FROM owner RETURNING number",
            bytes(changes)
        );
        // A longer change may take longer.
        let limit = if changes.len() > 1 << 20 { MORE_PATIENT } else { PATIENT };
        Ok(!self.rows_within(sql, limit).await?.is_empty())
    }

    async fn beat(&mut self, term: i64, last: Option<i64>) -> Result<bool, JournalError> {
        let last = last.map_or_else(String::new, |last| format!("AND last = {last}"));
        let sql = format!(
            "{WRITE} UPDATE spelrum_owner SET beat = beat + 1
            WHERE id = 1 AND term = {term} {last} RETURNING term"
        );
        Ok(!self.rows(sql).await?.is_empty())
    }

    async fn read(&mut self, number: i64) -> Result<Reading, JournalError> {
        // The first change is read in any case, however long. `length` does not read the bytes.
        let sql = format!(
            "SELECT owner.*, read.number, read.term AS change_term, read.changes
            FROM spelrum_owner AS owner LEFT JOIN (
                SELECT number, term, CASE WHEN number > {number} THEN changes END AS changes,
                    sum(CASE WHEN number > {number} THEN length(changes) ELSE 0 END)
                        OVER (ORDER BY number) AS bytes
                FROM spelrum_changes WHERE number >= {number} AND number <= {until}
            ) AS read ON bytes <= {READ_BYTES} OR number <= {first}
            WHERE owner.id = 1 ORDER BY read.number",
            first = number.saturating_add(1),
            until = number.saturating_add(READ_CHANGES),
        );
        let rows = self.rows_within(sql, READ_PATIENT).await?;
        let database = rows.first().map(|row| self.database(row)).transpose()?.flatten();
        let mut changes = Vec::new();
        for row in &rows {
            let Some(number) = self.column::<Option<i64>>(row, "number")? else { continue };
            let place = Place { number, term: self.column(row, "change_term")? };
            let stored: Option<Vec<u8>> = self.column(row, "changes")?;
            let contents = match stored {
                Some(stored) => expand(&stored)?,
                None => Vec::new(),
            };
            changes.push((place, contents));
        }
        Ok(Reading { database, changes })
    }

    async fn part(&mut self, base: &Base, part: i64) -> Result<Option<Vec<u8>>, JournalError> {
        let sql = format!(
            "SELECT bytes FROM spelrum_bases WHERE number = {} AND term = {} AND part = {part}",
            base.place.number, base.uploaded_in
        );
        let rows = self.rows_within(sql, MORE_PATIENT).await?;
        rows.first().map(|row| self.column(row, "bytes")).transpose()
    }

    async fn take(
        &mut self,
        seen: &Head,
        above: i64,
        claim: &Claim,
    ) -> Result<Option<i64>, JournalError> {
        let sql = format!(
            "{WRITE} UPDATE spelrum_owner SET term = greatest(term, {above}) + 1, beat = beat + 1,
                holder = {}, name = {}, address = {}, released = false
            WHERE id = 1 AND term = {} AND beat = {} RETURNING term",
            text(&claim.holder),
            text(&claim.owner.name),
            text(&claim.owner.address),
            seen.term,
            seen.beat
        );
        self.rows(sql).await?.first().map(|row| self.column(row, "term")).transpose()
    }
}
