//! The stores that are compared with the one in memory.

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spelrum_store::contract::{Store, WriteTransaction as _};
use spelrum_store::shared::LocalCopy;
use spelrum_store::{StoreError, Writer};
use tempfile::TempDir;

use super::{Known, seen};
use crate::fixture::{introduction, rows, text};
use crate::shared::{InMemoryJournal, contents};

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
        uncounted(&self.writer).await
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

async fn uncounted(writer: &Writer) -> Vec<String> {
    let beside = rows(
        &writer.readers(),
        "SELECT cell_id || ' ' || number || ' ' || reason FROM uncounted_games
        ORDER BY uncounted_game_id",
    )
    .await;
    beside.iter().map(|row| text(&row[0])).collect()
}

/// A database that two coordinators share, each with a copy of its own: one writes, and the other follows.
pub(super) struct OnCopies {
    directory: TempDir,
    journal: InMemoryJournal,
    /// The name of the writer's copy, and of the other.
    names: [&'static str; 2],
    writer: Writer,
}

impl OnCopies {
    pub(super) async fn open() -> Self {
        let (directory, journal) = (tempfile::tempdir().unwrap(), InMemoryJournal::default());
        let names = ["first.db", "second.db"];
        let [first, second] = names.map(|name| directory.path().join(name));
        Writer::open(&first).await.unwrap().close().await.unwrap();
        std::fs::copy(&first, second).unwrap();
        let writer = Writer::open_shared(&first, journal.owner()).await.unwrap();
        Self { directory, journal, names, writer }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Lets the copy that follows catch up, and compares it with the writer's.
    async fn follow(&self) -> Result<(), TestCaseError> {
        let [own, other] = self.names.map(|name| self.path(name));
        let mut copy = LocalCopy::open(&other).await.unwrap().unwrap();
        copy.apply(self.journal.after(copy.place())).await.unwrap();
        copy.close().await.unwrap();
        let (followed, written) = (contents(&other).await, contents(&own).await);
        prop_assert_eq!(followed.len(), written.len());
        for (table, rows) in written {
            prop_assert_eq!(&followed[&table], &rows, "{}", table);
        }
        Ok(())
    }
}

impl Compared for OnCopies {
    type Store = Writer;

    fn store(&mut self) -> &mut Writer {
        &mut self.writer
    }

    async fn take_over(mut self) -> Result<Self, TestCaseError> {
        self.follow().await?;
        self.names.reverse();
        let writer = Writer::open_shared(&self.path(self.names[0]), self.journal.owner()).await;
        let mut old = std::mem::replace(&mut self.writer, writer.unwrap());
        let mut transaction = old.begin().await.unwrap();
        transaction.introduce(&introduction("late")).await.unwrap();
        let refused = transaction.commit().await;
        prop_assert!(matches!(refused, Err(StoreError::TakenOver { .. })), "{refused:?}");
        // It has not committed what was refused, and writes nothing more.
        let again = old.begin().await;
        prop_assert!(matches!(again, Err(StoreError::Journal { .. })), "{again:?}");
        drop(again);
        old.close().await.unwrap();
        Ok(self)
    }

    async fn seen(&self, known: &Known) -> Vec<String> {
        seen(&self.writer.readers(), known).await
    }

    async fn uncounted(&self) -> Vec<String> {
        uncounted(&self.writer).await
    }

    async fn end(self) -> Result<(), TestCaseError> {
        self.follow().await?;
        self.writer.close().await.unwrap();
        Ok(())
    }
}
