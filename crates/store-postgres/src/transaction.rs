//! The writer: one connection, the term of its ownership, and its transactions.

use spelrum_store::{StoreError, unix_now_us};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Postgres, Transaction};

use crate::reading::PgReaders;

/// The tables, as they are created in a database that has none.
const TABLES: &str = include_str!("../migrations/0001_tables.sql");

/// Any number that no other program is likely to take: only one coordinator creates the tables.
const CREATING: i64 = 0x5350_454c_5255_4d31;

/// The time after which the server ends a connection whose transaction is open and idle.
const ABANDONED: &str = "10s";

/// A store on a server, with the right to write to it.
#[derive(Debug)]
pub struct PgStore {
    connection: PgConnection,
    options: PgConnectOptions,
    pub(crate) term: i64,
}

impl PgStore {
    /// Connects, creates the tables where there are none, and takes the experiments over from whoever owns them. The
    /// tables are in the first schema of the `search_path`.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn open(options: PgConnectOptions) -> Result<Self, StoreError> {
        // A transaction that was dropped is rolled back when the connection is used next. Until then nobody else could
        // take over.
        let options = options.options([("idle_in_transaction_session_timeout", ABANDONED)]);
        let mut connection = options.connect().await?;
        let mut creating = connection.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(CREATING)
            .execute(&mut *creating)
            .await?;
        let exists: bool = sqlx::query_scalar("SELECT to_regclass('ownership') IS NOT NULL")
            .fetch_one(&mut *creating)
            .await?;
        if !exists {
            sqlx::raw_sql(TABLES).execute(&mut *creating).await?;
        }
        let term = sqlx::query_scalar("UPDATE ownership SET term = term + 1 RETURNING term")
            .fetch_one(&mut *creating)
            .await?;
        sqlx::query("INSERT INTO coordinators VALUES ($1, $2, $3)")
            .bind(term)
            .bind(unix_now_us())
            .bind(env!("CARGO_PKG_VERSION"))
            .execute(&mut *creating)
            .await?;
        creating.commit().await?;
        Ok(Self { connection, options, term })
    }

    /// Connections that only read.
    #[must_use]
    pub fn readers(&self) -> PgReaders {
        PgReaders::new(self.options.clone())
    }

    /// Begins a transaction: locks the ownership until its end.
    pub(crate) async fn start(&mut self) -> Result<PgTransaction<'_>, StoreError> {
        let mut sql = self.connection.begin().await?;
        let found: i64 = sqlx::query_scalar("SELECT term FROM ownership FOR UPDATE")
            .fetch_one(&mut *sql)
            .await?;
        if found != self.term {
            sql.rollback().await?;
            return Err(StoreError::TakenOver { found, own: self.term });
        }
        Ok(PgTransaction { sql, now_unix_us: unix_now_us() })
    }
}

/// An open transaction. Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct PgTransaction<'s> {
    sql: Transaction<'s, Postgres>,
    /// The single timestamp of the transaction.
    pub(crate) now_unix_us: i64,
}

impl PgTransaction<'_> {
    /// The connection, to run a statement on.
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.sql
    }

    /// Takes ids of a table that are never given again; returns the first of them.
    pub(crate) async fn take_ids(&mut self, table: &str, ids: usize) -> Result<i64, StoreError> {
        let ids = spelrum_store::decisions::count(ids);
        let sql =
            "UPDATE last_ids SET last_id = last_id + $2 WHERE table_name = $1 RETURNING last_id";
        Ok(value!(self, i64, sql, table, ids) - ids + 1)
    }

    /// The greatest id that a table has ever had.
    pub(crate) async fn last_id(&mut self, table: &str) -> Result<i64, StoreError> {
        Ok(value!(self, i64, "SELECT last_id FROM last_ids WHERE table_name = $1", table))
    }

    /// Ends a transaction that only read. Dropped, it would hold its lock until the connection is used again.
    pub(crate) async fn undo(self) -> Result<(), StoreError> {
        Ok(self.sql.rollback().await?)
    }

    /// Commits; the server reports it once it is on disk, as far as its settings ask for that.
    pub(crate) async fn end(self) -> Result<(), StoreError> {
        Ok(self.sql.commit().await?)
    }
}
