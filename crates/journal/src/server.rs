//! A connection to the server, made anew whenever it breaks, and the journal's statements.
//!
//! Each statement is one message of the simple protocol, with its values in its text: so each is a transaction of its own
//! that needs no session, and a pooler in transaction mode may give each to another connection of its own. (A statement
//! with parameters is two messages of the library, between which such a pooler may change connections.)

use std::time::{Duration, Instant};

use spelrum_store::shared::Place;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

use crate::address::{Address, create_database, identifier};
use crate::compression::expand;
use crate::error::JournalError;
use crate::log::{Base, Claim, Database, Head, Log, PART_TRIED, Reading};
use crate::owner::Owner;

/// How long connecting and a small statement may take: a connection that stalls is given up.
const PATIENT: Duration = Duration::from_secs(5);
/// How long a beat may take: several fit in the silence after which others take over.
const BEAT_PATIENT: Duration = Duration::from_secs(2);
/// How long a reading of changes may take.
const READ_PATIENT: Duration = Duration::from_secs(20);
/// Bytes for which a statement may take a second longer.
const SECOND_BYTES: u64 = 100_000;
/// How long a statement with much data may take.
const MORE_PATIENT: Duration = Duration::from_secs(60);
/// Begins a statement that writes the head. No timeout of the role's own may end it: one that ends the wait for a
/// synchronous standby would make the server acknowledge what is on its own disk only. But nobody waits for the row for
/// longer than this program waits for the answer. And whatever the role's setting, what is acknowledged is on the server's
/// disk. (A query here has no rows: the rows are those of the statement that follows.)
const WRITE: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 4000;
    SELECT 1 WHERE CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
        THEN set_config('synchronous_commit', 'on', true) END = '';";
/// Begins a statement that makes a base count, or deletes others: they are executed one after the other.
const BASES: &str = "SELECT 1 WHERE pg_advisory_xact_lock(724063185) IS NULL;";
/// Changes that are read at once: so many, or so many bytes as they are stored.
const READ_CHANGES: i64 = 1_000;
const READ_BYTES: u64 = 8 << 20;

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
            None => self.connect(limit.min(PATIENT)).await?,
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

    async fn connect(&self, limit: Duration) -> Result<PgConnection, JournalError> {
        let options = self.address.options().clone();
        // Poolers refuse what they do not know among what is asked for at the start.
        let options = options.extra_float_digits(None).statement_cache_capacity(0);
        // Statements have the changes in their text.
        let connecting = options.disable_statement_logging();
        match tokio::time::timeout(limit, connecting.connect()).await {
            Ok(connection) => connection.map_err(|error| self.not_connected(error)),
            Err(_) => Err(JournalError::Unreachable {
                server: self.address.server(),
                problem: format!("no answer within {} s", limit.as_secs()),
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
            Some("3D000") => {
                let create = create_database(&self.address, &database);
                JournalError::MissingDatabase { server, database, create }
            }
            Some("42501") => {
                let (on, to) = (identifier(&database), identifier(&user));
                let grant = format!("GRANT CONNECT ON DATABASE {on} TO {to}");
                let (right, object) = ("connect".to_owned(), "database");
                JournalError::Rights { database, user, right, object, grant }
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
            upload: self.column(row, "base_upload")?,
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

    /// Stores a part of a base.
    pub(crate) async fn store_part(
        &mut self,
        term: i64,
        upload: i64,
        part: i64,
        contents: &[u8],
    ) -> Result<(), JournalError> {
        let sql = format!(
            "INSERT INTO spelrum_bases (upload, part, bytes)
            SELECT {upload}, {part}, {} FROM spelrum_owner WHERE id = 1 AND term = {term}
            ON CONFLICT DO NOTHING",
            bytes(contents)
        );
        self.rows_at_last(sql).await.map(drop)
    }

    /// Makes a base the one that counts, if all its parts are stored and the journal has its last change; returns whether
    /// they were, and the term was still the head's. The base of a database that is not in the journal yet begins it.
    pub(crate) async fn set_base(
        &mut self,
        term: i64,
        database: &Database,
    ) -> Result<bool, JournalError> {
        let Database { uuid, schema, base } = database;
        let Base { place, upload, parts, bytes: length, sha256 } = base;
        let sql = format!(
            "{WRITE} {BASES} UPDATE spelrum_owner SET beat = beat + 1, database_uuid = {uuid},
                schema = {schema}, last = greatest(last, {number}),
                previous_number = CASE WHEN base_upload = {upload} THEN previous_number ELSE base_number END,
                previous_upload = CASE WHEN base_upload = {upload} THEN previous_upload ELSE base_upload END,
                base_number = {number}, base_term = {base_term}, base_upload = {upload},
                base_parts = {parts}, base_bytes = {length}, base_sha256 = {sha256}
            WHERE id = 1 AND term = {term} AND (last >= {number} OR database_uuid IS NULL)
                AND coalesce(base_number, 0) <= {number}
                AND (SELECT count(*) FROM spelrum_bases WHERE upload = {upload}) = {parts}
            RETURNING term",
            uuid = text(uuid),
            number = place.number,
            base_term = place.term,
            sha256 = bytes(sha256),
        );
        Ok(!self.rows_at_last(sql).await?.is_empty())
    }

    /// Deletes what the base has made needless. The base before it and the changes after that one stay, for those who
    /// download it at this moment, and so do the latest changes, which a copy that is not far behind needs.
    pub(crate) async fn forget(&mut self, term: i64, kept: i64) -> Result<(), JournalError> {
        let sql = format!(
            "{BASES} DELETE FROM spelrum_bases USING spelrum_owner AS owner WHERE owner.id = 1
                AND owner.term = {term} AND upload <> owner.base_upload
                AND upload IS DISTINCT FROM owner.previous_upload;
            DELETE FROM spelrum_changes USING spelrum_owner AS owner WHERE owner.id = 1
                AND owner.term = {term}
                AND number <= least(owner.previous_number, owner.base_number, owner.last - {kept})"
        );
        self.rows_within(sql, MORE_PATIENT).await.map(drop)
    }

    /// Reads the contents of these changes.
    async fn contents(&mut self, places: &[(Place, u64)]) -> Result<Vec<PgRow>, JournalError> {
        let (Some((first, _)), Some((last, _))) = (places.first(), places.last()) else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT number, term, changes FROM spelrum_changes
            WHERE number >= {} AND number <= {} ORDER BY number",
            first.number, last.number
        );
        let bytes = places.iter().map(|(_, bytes)| bytes).sum();
        self.rows_within(sql, longer(READ_PATIENT, bytes)).await
    }
}

/// A limit for a statement with so many bytes.
fn longer(limit: Duration, bytes: u64) -> Duration {
    limit + Duration::from_secs(bytes / SECOND_BYTES)
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
        let limit = longer(PATIENT, changes.len() as u64);
        Ok(!self.rows_within(sql, limit).await?.is_empty())
    }

    async fn beat(&mut self, term: i64, last: Option<i64>) -> Result<bool, JournalError> {
        let limit = if last.is_some() { PATIENT } else { BEAT_PATIENT };
        let last = last.map_or_else(String::new, |last| format!("AND last = {last}"));
        let sql = format!(
            "{WRITE} UPDATE spelrum_owner SET beat = beat + 1
            WHERE id = 1 AND term = {term} {last} RETURNING term"
        );
        Ok(!self.rows_within(sql, limit).await?.is_empty())
    }

    async fn read(&mut self, number: i64) -> Result<Reading, JournalError> {
        // The lengths first, which tell how long the reading may take: `length` does not read the bytes.
        let sql = format!(
            "SELECT owner.*, read.number, read.term AS change_term, read.bytes
            FROM spelrum_owner AS owner LEFT JOIN (
                SELECT number, term, length(changes)::bigint AS bytes FROM spelrum_changes
                WHERE number >= {number} AND number <= {until}
            ) AS read ON true
            WHERE owner.id = 1 ORDER BY read.number",
            until = number.saturating_add(READ_CHANGES),
        );
        let rows = self.rows_within(sql, READ_PATIENT).await?;
        let database = rows.first().map(|row| self.database(row)).transpose()?.flatten();
        let (mut changes, mut places, mut total) = (Vec::new(), Vec::new(), 0_u64);
        for row in &rows {
            let Some(next) = self.column::<Option<i64>>(row, "number")? else { continue };
            let place = Place { number: next, term: self.column(row, "change_term")? };
            if next == number {
                changes.push((place, Vec::new()));
                continue;
            }
            let bytes = self.column::<i64>(row, "bytes")?.unsigned_abs();
            total += bytes;
            // The first change is read in any case, however long.
            if total > READ_BYTES && !places.is_empty() {
                break;
            }
            places.push((place, bytes));
        }
        // A change never differs from another one of its place: so it does not matter that this is another moment, except
        // that it may be there no more.
        let rows = self.contents(&places).await?;
        for ((place, _), row) in places.iter().zip(&rows) {
            let there =
                Place { number: self.column(row, "number")?, term: self.column(row, "term")? };
            if there != *place {
                break;
            }
            changes.push((there, expand(&self.column::<Vec<u8>>(row, "changes")?)?));
        }
        Ok(Reading { database, changes })
    }

    async fn part(&mut self, base: &Base, part: i64) -> Result<Option<Vec<u8>>, JournalError> {
        let sql = format!(
            "SELECT bytes FROM spelrum_bases WHERE upload = {} AND part = {part}",
            base.upload
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
            "{WRITE} UPDATE spelrum_owner SET
                term = greatest(
                    term, {above}, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                ) + 1,
                beat = beat + 1, holder = {}, name = {}, address = {}, released = false
            WHERE id = 1 AND term = {} AND beat = {} AND last = {} RETURNING term",
            text(&claim.holder),
            text(&claim.owner.name),
            text(&claim.owner.address),
            seen.term,
            seen.beat,
            seen.last
        );
        self.rows(sql).await?.first().map(|row| self.column(row, "term")).transpose()
    }
}
