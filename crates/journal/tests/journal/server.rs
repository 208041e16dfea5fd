//! A server for all tests, and a database for each.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use spelrum_answers::Machine;
use spelrum_journal::{Address, Member, Owner};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Readers, SqlValue, StoreError, WorkerIntroduction, Writer};
use spelrum_test_support::PostgresServer;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};
use tempfile::TempDir;

static SERVER: LazyLock<Option<PostgresServer>> = LazyLock::new(PostgresServer::start);
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// A database on a server, and a directory for copies.
pub(crate) struct Database {
    pub(crate) socket: PathBuf,
    pub(crate) name: String,
    pub(crate) directory: TempDir,
}

impl Database {
    /// The same database through a pooler of connections.
    pub(crate) fn through_pooler(self) -> Option<(Self, PostgresServer)> {
        let pooler = SERVER.as_ref()?.pooler()?;
        Some((Self { socket: pooler.socket_directory().to_owned(), ..self }, pooler))
    }

    /// A new one on the server of all tests.
    pub(crate) async fn create(options: &str) -> Option<Self> {
        let server = SERVER.as_ref()?;
        let database = Self::on(server.socket_directory(), "postgres");
        let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        database.run(&format!("CREATE DATABASE {name} TEMPLATE template0 {options}")).await;
        Some(Self { name, ..database })
    }

    pub(crate) fn on(socket: &Path, name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { socket: socket.to_owned(), name: name.to_owned(), directory }
    }

    pub(crate) fn text(&self, user: &str) -> String {
        format!("postgres:///{}?host={}&user={user}", self.name, self.socket.display())
    }

    pub(crate) fn address(&self) -> Address {
        Address::parse(&self.text("spelrum")).unwrap()
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        let options: PgConnectOptions = self.text("spelrum").parse().unwrap();
        options.connect().await.unwrap()
    }

    pub(crate) async fn run(&self, sql: &str) -> Vec<PgRow> {
        let mut connection = self.connect().await;
        let sql = AssertSqlSafe(sql.to_owned());
        sqlx::raw_sql(sql).fetch_all(&mut connection).await.unwrap()
    }

    /// Gives the server a function that goes before its own of this name.
    pub(crate) async fn pretend(&self, function: &str, body: &str) {
        let sql = format!(
            "CREATE SCHEMA pretended; CREATE FUNCTION pretended.{function} LANGUAGE sql AS $${body}$$;
            ALTER DATABASE {} SET search_path = pretended, pg_catalog, public",
            self.name
        );
        self.run(&sql).await;
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.run(sql).await[0].get(0)
    }

    pub(crate) fn copy(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A coordinator with a copy of its name.
    pub(crate) async fn join(&self, name: &str) -> Member {
        Member::join(&self.address(), &self.copy(name), owner(name)).await.unwrap()
    }
}

pub(crate) fn owner(name: &str) -> Owner {
    Owner { name: name.to_owned(), address: format!("{name}:50051") }
}

/// Writes one row.
pub(crate) async fn introduce(writer: &mut Writer, name: &str) -> Result<(), StoreError> {
    let worker = WorkerIntroduction {
        uuid: name.to_owned(),
        name: name.to_owned(),
        host: "host".to_owned(),
        slots: 1,
        engine_revision: 1,
        version: "0.1.0".to_owned(),
        memory_bytes: None,
        engines: std::sync::Arc::default(),
        built: std::sync::Arc::default(),
        trains: false,
        verifies: false,
        machine: Machine::default(),
        credential: None,
    };
    let mut transaction = writer.begin().await?;
    transaction.introduce(&worker).await?;
    transaction.commit().await
}

/// The rows written.
pub(crate) async fn names(readers: &Readers) -> Vec<String> {
    let sql = "SELECT name FROM workers ORDER BY worker_id";
    let rows = readers.query(sql, 10_000).await.unwrap().rows;
    rows.iter()
        .map(|row| {
            let SqlValue::Text(name) = &row[0] else { panic!("{row:?}") };
            name.to_string()
        })
        .collect()
}
