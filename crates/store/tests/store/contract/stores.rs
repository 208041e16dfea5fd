//! The stores that are compared with the one in memory.

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spelrum_store::Writer;
use spelrum_store::contract::Store;
use tempfile::TempDir;

use super::{Known, seen};
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
