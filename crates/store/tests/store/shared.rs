//! A database that several coordinators share: a journal, and the copies that follow it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::shared::{Journal, LocalCopy, Place};
use spelrum_store::{Readers, SqlValue, StoreError, Writer};

use crate::fixture::{introduction, rows, text};

/// A journal in memory, and how its next append ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct InMemoryJournal(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    term: i64,
    changes: Vec<(Place, Vec<u8>)>,
    next: Append,
}

/// How an append ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Append {
    #[default]
    Well,
    /// The change is there, but the answer is lost.
    Unanswered,
    /// The change is not there.
    Lost,
}

#[derive(Debug)]
struct Owner {
    journal: InMemoryJournal,
    term: i64,
}

impl InMemoryJournal {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Takes the journal over.
    pub(crate) fn owner(&self) -> Box<dyn Journal> {
        let mut state = self.lock();
        state.term += 1;
        Box::new(Owner { journal: self.clone(), term: state.term })
    }

    /// The changes behind a place.
    pub(crate) fn after(&self, place: Place) -> Vec<(Place, Vec<u8>)> {
        let state = self.lock();
        state.changes.iter().filter(|(next, _)| next.number > place.number).cloned().collect()
    }
}

impl Journal for Owner {
    fn term(&self) -> i64 {
        self.term
    }

    fn append(&mut self, number: i64, changes: Vec<u8>) -> BoxFuture<'_, Result<(), StoreError>> {
        let mut state = self.journal.lock();
        let lost = || {
            let (problem, remedy) = ("no answer".to_owned(), "wait".to_owned());
            Err(StoreError::Journal { problem, remedy })
        };
        let ended = match std::mem::take(&mut state.next) {
            _ if state.term != self.term => {
                Err(StoreError::TakenOver { found: state.term, own: self.term })
            }
            Append::Lost => lost(),
            next @ (Append::Well | Append::Unanswered) => {
                assert_eq!(number, state.changes.len() as i64 + 1);
                state.changes.push((Place { number, term: self.term }, changes));
                if next == Append::Well { Ok(()) } else { lost() }
            }
        };
        async { ended }.boxed()
    }
}

/// All rows of all tables that copies share, and the schema with its views in order.
pub(crate) async fn contents(path: &Path) -> BTreeMap<String, Vec<Vec<SqlValue>>> {
    let readers = Readers::open(path).await.unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut contents = BTreeMap::new();
    for table in rows(&readers, tables).await {
        let table = text(&table[0]);
        if !["table_digests", "_sqlx_migrations"].contains(&&*table) {
            let mut all = rows(&readers, &format!("SELECT * FROM \"{table}\"")).await;
            // An insert that inserted nothing may have left a count of zero.
            all.retain(|row| table != "sqlite_sequence" || row[1] != SqlValue::Integer(0));
            all.sort_by_key(|row| format!("{row:?}"));
            contents.insert(table, all);
        }
    }
    let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY rowid";
    contents.insert("sqlite_schema".to_owned(), rows(&readers, schema).await);
    readers.close().await;
    contents
}

struct Shared {
    directory: tempfile::TempDir,
    journal: InMemoryJournal,
    writer: Writer,
}

impl Shared {
    async fn begin() -> Self {
        let (directory, journal) = (tempfile::tempdir().unwrap(), InMemoryJournal::default());
        let path = directory.path().join("owner.db");
        Writer::open(&path).await.unwrap().close().await.unwrap();
        std::fs::copy(&path, directory.path().join("copy.db")).unwrap();
        let writer = Writer::open_shared(&path, journal.owner()).await.unwrap();
        Self { directory, journal, writer }
    }

    async fn introduce(&mut self, name: &str) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin().await?;
        transaction.introduce(&introduction(name)).await?;
        transaction.commit().await
    }

    async fn copy(&self) -> LocalCopy {
        LocalCopy::open(&self.directory.path().join("copy.db")).await.unwrap().unwrap()
    }

    async fn names(&self, file: &str) -> Vec<String> {
        let readers = Readers::open(&self.directory.path().join(file)).await.unwrap();
        let names = rows(&readers, "SELECT name FROM workers ORDER BY worker_id").await;
        readers.close().await;
        names.iter().map(|row| text(&row[0])).collect()
    }
}

#[tokio::test]
async fn what_is_in_doubt_is_settled_by_the_journal_alone() {
    for (next, is_there) in [(Append::Unanswered, true), (Append::Lost, false)] {
        let mut shared = Shared::begin().await;
        shared.introduce("sure").await.unwrap();
        shared.journal.lock().next = next;
        let failed = shared.introduce("doubtful").await;
        assert!(matches!(failed, Err(StoreError::Journal { .. })), "{failed:?}");
        // Nothing is written after it, not even what the journal would take.
        let failed = shared.introduce("later").await.unwrap_err();
        assert!(matches!(failed, StoreError::Journal { .. }) && failed.is_final(), "{failed:?}");
        assert_eq!(shared.names("owner.db").await, ["name of sure"]);
        let place = shared.writer.place();
        shared.writer.close().await.unwrap();

        // The same file follows, and goes on.
        let path = shared.directory.path().join("owner.db");
        let mut copy = LocalCopy::open(&path).await.unwrap().unwrap();
        assert_eq!(copy.place(), place);
        copy.apply(shared.journal.after(place)).await.unwrap();
        copy.close().await.unwrap();
        shared.writer = Writer::open_shared(&path, shared.journal.owner()).await.unwrap();
        shared.introduce("later").await.unwrap();
        let expected: &[&str] = if is_there {
            &["name of sure", "name of doubtful", "name of later"]
        } else {
            &["name of sure", "name of later"]
        };
        let mut copy = shared.copy().await;
        copy.apply(shared.journal.after(copy.place())).await.unwrap();
        assert_eq!(copy.place(), shared.writer.place());
        copy.close().await.unwrap();
        for file in ["owner.db", "copy.db"] {
            assert_eq!(shared.names(file).await, expected, "{file}");
        }
    }
}

#[tokio::test]
async fn a_copy_takes_only_what_follows() {
    let mut shared = Shared::begin().await;
    for name in ["first", "second", "third"] {
        shared.introduce(name).await.unwrap();
    }
    let changes = shared.journal.after(Place::default());
    let mut copy = shared.copy().await;
    let started = copy.place();
    let refused = |error: StoreError, words: &str| {
        assert!(error.to_string().contains(words), "{error}");
        assert!(!error.remedy().is_empty());
    };
    refused(copy.apply(changes[1..].to_vec()).await.unwrap_err(), "change 2 follows 0");
    // All of a batch or nothing.
    let mut cut = changes.clone();
    cut[2].1.truncate(30);
    refused(copy.apply(cut).await.unwrap_err(), "not one of this build");
    let mut of_other_schema = changes.clone();
    let text = String::from_utf8(of_other_schema[2].1.clone()).unwrap();
    of_other_schema[2].1 = text.replacen("\"schema\":", "\"schema\":9", 1).into_bytes();
    refused(copy.apply(of_other_schema).await.unwrap_err(), "is of schema 9");
    let mut renamed = changes.clone();
    renamed[2].0.term = 7;
    refused(copy.apply(renamed).await.unwrap_err(), "change 3 does not say that it is that");
    assert_eq!(copy.place(), started);
    // While a copy is open nobody else writes to its file.
    let path = shared.directory.path().join("copy.db");
    assert!(matches!(Writer::open(&path).await, Err(StoreError::Held { .. })));
    assert!(matches!(LocalCopy::open(&path).await, Err(StoreError::Held { .. })));

    copy.apply(changes).await.unwrap();
    copy.close().await.unwrap();
    assert!(!path.with_extension("db-wal").exists());
    assert_eq!(shared.names("copy.db").await, ["name of first", "name of second", "name of third"]);
    assert_eq!(contents(&path).await, contents(&shared.directory.path().join("owner.db")).await);
    assert!(LocalCopy::open(&path.with_extension("none")).await.unwrap().is_none());
}

/// A transaction that changes nothing is no change, and a database that is not shared has no place.
#[tokio::test]
async fn only_changes_go_into_the_journal() {
    let mut shared = Shared::begin().await;
    shared.introduce("once").await.unwrap();
    let place = shared.writer.place();
    let mut transaction = shared.writer.begin().await.unwrap();
    transaction.touch().await.unwrap();
    transaction.commit().await.unwrap();
    let mut transaction = shared.writer.begin().await.unwrap();
    transaction.introduce(&introduction("given up")).await.unwrap();
    drop(transaction);
    assert_eq!(shared.writer.begin().await.unwrap().commit().await.ok(), Some(()));
    assert_eq!(shared.writer.place(), place);
    assert_eq!(shared.journal.after(place).len(), 0);
    shared.introduce("twice").await.unwrap();
    assert_eq!(shared.writer.place().number, place.number + 1);
    let alone = Writer::open(&shared.directory.path().join("alone.db")).await.unwrap();
    assert_eq!(alone.place(), Place::default());
    alone.close().await.unwrap();

    // A copy stays one while it follows and is migrated, but not once it is opened as a database of its own.
    let path = shared.directory.path().join("copy.db");
    let mut copy = shared.copy().await;
    copy.apply(shared.journal.after(copy.place())).await.unwrap();
    copy.close().await.unwrap();
    Writer::migrate_copy(&path).await.unwrap();
    assert_eq!(shared.copy().await.place(), shared.writer.place());
    Writer::open(&path).await.unwrap().close().await.unwrap();
    assert_eq!(shared.copy().await.place(), Place::default());
}
