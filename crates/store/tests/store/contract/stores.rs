//! The stores that are compared with the one in memory.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spelrum_store::Writer;
use spelrum_store::contract::Store;
use spelrum_store_postgres::{PgConnectOptions, PgReaders, PgStore};
use spelrum_test_support::PostgresServer;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tempfile::TempDir;

use super::{Known, refuses, seen};
use crate::fixture::{rows, text};

/// A store beside the one in memory.
pub(super) trait Compared: Sized {
    type Store: Store;

    fn store(&mut self) -> &mut Self::Store;

    /// The same store under the next term.
    async fn take_over(self) -> Result<Self, TestCaseError>;

    /// The rows from which all other answers are summed.
    async fn seen(&self, known: &Known) -> Vec<String>;

    /// The results beside the settled ones.
    async fn uncounted(&self) -> Vec<String>;

    /// Looks for what no answer shows, and ends.
    async fn end(self) -> Result<(), TestCaseError>;
}

/// A file, and its writer.
pub(super) struct OnSqlite {
    directory: TempDir,
    writer: Writer,
}

impl OnSqlite {
    pub(super) async fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let writer = Writer::open(&Self::path(&directory)).await.unwrap();
        Self { directory, writer }
    }

    fn path(directory: &TempDir) -> PathBuf {
        directory.path().join("results.db")
    }
}

impl Compared for OnSqlite {
    type Store = Writer;

    fn store(&mut self) -> &mut Writer {
        &mut self.writer
    }

    async fn take_over(self) -> Result<Self, TestCaseError> {
        self.writer.close().await.unwrap();
        let writer = Writer::open(&Self::path(&self.directory)).await.unwrap();
        Ok(Self { writer, ..self })
    }

    async fn seen(&self, known: &Known) -> Vec<String> {
        seen(&self.writer.readers(), known).await
    }

    async fn uncounted(&self) -> Vec<String> {
        let beside = rows(
            &self.writer.readers(),
            "SELECT cell_id || ' ' || number || ' ' || reason FROM uncounted_games
            ORDER BY uncounted_game_id",
        )
        .await;
        beside.iter().map(|row| text(&row[0])).collect()
    }

    async fn end(self) -> Result<(), TestCaseError> {
        let mut differences = self.writer.readers().recount().await.unwrap();
        // Nobody has read the cells' stop rules here.
        differences.retain(|difference| difference.table != "cells");
        prop_assert!(differences.is_empty(), "{differences:?}");
        self.writer.close().await.unwrap();
        Ok(())
    }
}

/// A schema of its own on a server, its writer and its readers.
pub(super) struct OnPostgres {
    options: PgConnectOptions,
    schema: String,
    store: PgStore,
    readers: PgReaders,
}

impl OnPostgres {
    pub(super) async fn open(server: &PostgresServer) -> Self {
        static SCHEMAS: AtomicU32 = AtomicU32::new(0);
        let schema = format!("case_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        let options = PgConnectOptions::new_without_pgpass()
            .socket(server.socket_directory())
            .username("spelrum")
            .database("postgres");
        Self::execute(&options, format!("CREATE SCHEMA {schema}")).await;
        let options = options.options([("search_path", &schema)]);
        let store = PgStore::open(options.clone()).await.unwrap();
        let readers = store.readers();
        Self { options, schema, store, readers }
    }

    async fn execute(options: &PgConnectOptions, sql: String) {
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

impl Compared for OnPostgres {
    type Store = PgStore;

    fn store(&mut self) -> &mut PgStore {
        &mut self.store
    }

    async fn take_over(mut self) -> Result<Self, TestCaseError> {
        let store = PgStore::open(self.options.clone()).await.unwrap();
        // Two of them are connected here.
        refuses(&mut self.store).await?;
        Ok(Self { store, ..self })
    }

    async fn seen(&self, known: &Known) -> Vec<String> {
        seen(&self.readers, known).await
    }

    async fn uncounted(&self) -> Vec<String> {
        let beside = self.readers.uncounted().await.unwrap();
        beside
            .into_iter()
            .map(|(game, reason)| format!("{} {} {reason}", game.cell, game.number))
            .collect()
    }

    async fn end(self) -> Result<(), TestCaseError> {
        let Self { options, schema, store, readers } = self;
        drop(store);
        readers.close().await;
        Self::execute(&options, format!("DROP SCHEMA {schema} CASCADE")).await;
        Ok(())
    }
}
