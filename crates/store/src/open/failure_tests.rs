//! The writer under disk failures and interference of other programs; these tests reach into its connection.

use std::sync::Arc;

use spelrum_answers::Machine;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::contract::WriteTransaction as _;
use crate::error::StoreError;
use crate::open::database::look_at_ends;
use crate::open::writer::Writer;
use crate::read::readers::Readers;
use crate::write::workers::WorkerIntroduction;

fn introduction(uuid: String) -> WorkerIntroduction {
    WorkerIntroduction {
        uuid,
        name: "x".repeat(1000),
        host: "host".to_owned(),
        slots: 1,
        engine_revision: 1,
        version: "0".to_owned(),
        memory_bytes: None,
        engines: std::sync::Arc::default(),
        built: Arc::default(),
        trains: false,
        verifies: false,
        machine: Machine::default(),
        credential: None,
    }
}

async fn introduce(writer: &mut Writer, uuid: &str) -> Result<(), StoreError> {
    let mut transaction = writer.begin().await?;
    transaction.introduce(&introduction(uuid.to_owned())).await?;
    transaction.commit().await
}

async fn workers(writer: &Writer) -> usize {
    writer.readers().workers(u32::MAX).await.unwrap().len()
}

#[tokio::test]
async fn a_full_disk_is_said_and_survived() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(&directory.path().join("x.db")).await.unwrap();
    introduce(&mut writer, "before").await.unwrap();
    // SQLite reports a file that must not grow like a full disk.
    writer.connection.execute("PRAGMA max_page_count = 1").await.unwrap();
    let mut stored = 1;
    let error = loop {
        match introduce(&mut writer, &stored.to_string()).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 1000);
    };
    assert!(matches!(error, StoreError::Full), "{error:?}");
    assert!(error.is_transient());
    assert!(error.remedy().contains("free some space"));
    assert_eq!(workers(&writer).await, stored);
    // With space again, writing continues.
    writer.connection.execute("PRAGMA max_page_count = 1000000").await.unwrap();
    introduce(&mut writer, "after").await.unwrap();
    assert_eq!(workers(&writer).await, stored + 1);
}

/// An all-or-nothing statement forces SQLite to roll the transaction back, unnoticed by the library that counts
/// transactions.
#[tokio::test]
async fn a_transaction_that_sqlite_rolled_back_is_not_the_last() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(&directory.path().join("x.db")).await.unwrap();
    for round in 0..2 {
        writer.connection.execute("PRAGMA max_page_count = 1").await.unwrap();
        let mut transaction = writer.begin().await.unwrap();
        let full = transaction
            .connection()
            .execute("UPDATE databases SET uuid = hex(zeroblob(100000)) WHERE database_id = 1")
            .await
            .unwrap_err();
        assert!(matches!(StoreError::from(full), StoreError::Full));
        drop(transaction);
        introduce(&mut writer, &round.to_string()).await.unwrap();
        assert_eq!(workers(&writer).await, round + 1);
    }
}

#[tokio::test]
async fn another_programs_lock_is_said_and_survived() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    writer.connection.execute("PRAGMA busy_timeout = 0").await.unwrap();
    let mut shell = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    shell.execute("BEGIN IMMEDIATE").await.unwrap();
    let error = introduce(&mut writer, "1").await.unwrap_err();
    assert!(matches!(error, StoreError::Busy), "{error:?}");
    assert!(error.is_transient());
    // Reading continues meanwhile.
    assert_eq!(workers(&writer).await, 0);
    shell.execute("ROLLBACK").await.unwrap();
    introduce(&mut writer, "1").await.unwrap();
    assert_eq!(workers(&writer).await, 1);
}

/// Invariant 5: after a crash, committed data is there and uncommitted data is not. The copies of the files are what a
/// killed process leaves.
#[tokio::test]
async fn a_crash_loses_nothing_that_was_committed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    introduce(&mut writer, "committed").await.unwrap();
    let mut transaction = writer.begin().await.unwrap();
    transaction.introduce(&introduction("abandoned".to_owned())).await.unwrap();
    let crashed = directory.path().join("crashed.db");
    for suffix in ["", "-wal"] {
        let name = |database: &std::path::Path| format!("{}{suffix}", database.display());
        std::fs::copy(name(&path), name(&crashed)).unwrap();
    }
    drop(transaction);
    let restarted = Writer::open(&crashed).await.unwrap();
    assert_eq!(restarted.epoch(), 2);
    assert_eq!(workers(&restarted).await, 1);
}

/// Errors that the disk or another program can resolve are retried; retrying a faulty statement would never end.
#[tokio::test]
async fn only_what_may_mend_is_transient() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    for wrong in [
        "INSERT INTO databases (database_id, uuid) VALUES (2, '')",
        "INSERT INTO lease_ranges VALUES (1, 1, 1, 1)",
        "INSERT INTO coordinators VALUES ('text', 0, '')",
        "SELECT * FROM no_table",
    ] {
        let error = StoreError::from(writer.connection.execute(wrong).await.unwrap_err());
        assert!(matches!(error, StoreError::Sql(_)) && !error.is_transient(), "{wrong}: {error:?}");
    }
    // A page of another file in the place of a table's.
    introduce(&mut writer, "1").await.unwrap();
    writer.close().await.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8192..].fill(0xaa);
    std::fs::write(&path, bytes).unwrap();
    let mut shell = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let corrupt = StoreError::from(shell.execute("SELECT * FROM workers").await.unwrap_err());
    assert!(matches!(corrupt, StoreError::Sql(_)) && !corrupt.is_transient(), "{corrupt:?}");
    let io = StoreError::from(sqlx::Error::Io(std::io::Error::other("the disk")));
    assert!(io.is_transient());
}

/// A database that is deleted, renamed or replaced while open: its path then names another file, and nothing more may
/// be acknowledged.
#[tokio::test]
async fn a_database_that_is_gone_is_noticed_and_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let open = async |name: &str| {
        let mut writer = Writer::open(&path(name)).await.unwrap();
        introduce(&mut writer, "before").await.unwrap();
        let checkpointer = writer.checkpointer().await.unwrap();
        // The log stays as long as a reader is active.
        assert_eq!(workers(&writer).await, 1);
        (writer, checkpointer)
    };
    let is_gone = async |writer: &mut Writer| {
        let error = introduce(writer, "after").await.unwrap_err();
        assert!(matches!(error, StoreError::Gone { .. }) && error.is_final(), "{error:?}");
    };
    let workers_in = async |name: &str| {
        let readers = Readers::open(&path(name)).await.unwrap();
        let found = readers.workers(u32::MAX).await.unwrap().len();
        readers.close().await;
        found
    };

    // Deleted: everything goes into a new file, under a free name.
    std::fs::write(path("deleted.db-rescued"), "somebody's").unwrap();
    let (mut writer, checkpointer) = open("deleted.db").await;
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(path(&format!("deleted.db{suffix}"))).unwrap();
    }
    is_gone(&mut writer).await;
    writer.abandon(checkpointer).await;
    assert_eq!(workers_in("deleted.db-rescued-2").await, 1);
    assert_eq!(std::fs::read(path("deleted.db-rescued")).unwrap(), b"somebody's");

    // Renamed, without its log: the log's content goes into the file.
    let (mut writer, checkpointer) = open("old.db").await;
    std::fs::rename(path("old.db"), path("new.db")).unwrap();
    is_gone(&mut writer).await;
    writer.abandon(checkpointer).await;
    assert!(!path("old.db-rescued").exists());
    assert_eq!(workers_in("new.db").await, 1);

    // Replaced by another database, with its own log.
    let (mut other, _checkpointer) = open("other.db").await;
    introduce(&mut other, "second").await.unwrap();
    let (mut writer, checkpointer) = open("replaced.db").await;
    for suffix in ["", "-wal"] {
        let copy = path("copy");
        std::fs::copy(path(&format!("other.db{suffix}")), &copy).unwrap();
        std::fs::rename(copy, path(&format!("replaced.db{suffix}"))).unwrap();
    }
    is_gone(&mut writer).await;
    writer.abandon(checkpointer).await;
    assert_eq!(workers_in("replaced.db-rescued").await, 1);
    assert!(path("replaced.db-wal").exists(), "it belongs to the other one");
    std::fs::remove_file(path("replaced.db-shm")).unwrap();
    assert_eq!(workers_in("replaced.db").await, 2);
}

#[tokio::test]
async fn a_log_that_is_deleted_is_noticed_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    let checkpointer = writer.checkpointer().await.unwrap();
    introduce(&mut writer, "before").await.unwrap();
    std::fs::remove_file(directory.path().join("x.db-wal")).unwrap();
    let error = introduce(&mut writer, "after").await.unwrap_err();
    assert!(error.to_string().contains("x.db-wal is not the file"), "{error}");
    writer.abandon(checkpointer).await;
    let writer = Writer::open(&path).await.unwrap();
    assert_eq!(workers(&writer).await, 1);
}

/// Invariant 5: data reported as stored is at the path.
#[tokio::test]
async fn what_is_committed_into_a_file_that_is_gone_is_not_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    let mut transaction = writer.begin().await.unwrap();
    transaction.introduce(&introduction("1".to_owned())).await.unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = transaction.commit().await.unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
}

/// A start reads both ends of every table of a large database, for any kind of key.
#[tokio::test]
async fn the_ends_of_every_table_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    for number in 0..50 {
        introduce(&mut writer, &number.to_string()).await.unwrap();
    }
    look_at_ends(&mut writer.connection).await.unwrap();
    let last: i64 = sqlx::query_scalar("SELECT max(pageno) FROM dbstat WHERE name = 'workers'")
        .fetch_one(&mut writer.connection)
        .await
        .unwrap();
    writer.close().await.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = usize::try_from(last - 1).unwrap() * 4_096;
    bytes[at..at + 4_096].fill(0xaa);
    std::fs::write(&path, bytes).unwrap();
    let mut shell = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    assert!(look_at_ends(&mut shell).await.unwrap_err().is_damage());
}

/// Frames of a rolled-back transaction look like committed ones.
#[tokio::test]
async fn what_was_rolled_back_is_not_taken_for_committed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    let mut checkpointer = writer.checkpointer().await.unwrap();
    for round in 0..5 {
        // Pages go to the log as soon as there are several.
        writer.connection.execute("PRAGMA cache_size = 1").await.unwrap();
        writer.connection.execute("PRAGMA cache_spill = 1").await.unwrap();
        let before = writer.wal_bytes();
        let mut transaction = writer.begin().await.unwrap();
        for number in 0..100 {
            let name = format!("{round} {number}");
            transaction.introduce(&introduction(name)).await.unwrap();
        }
        drop(transaction);
        writer.connection.ping().await.unwrap();
        // The log keeps its greatest length.
        let has_written = round > 0 || writer.wal_bytes() > before + (64 << 10);
        assert!(has_written, "nothing was written into the log");
        checkpointer.check().await.unwrap();
        introduce(&mut writer, &round.to_string()).await.unwrap();
        checkpointer.check().await.unwrap();
        introduce(&mut writer, "again").await.unwrap();
        // The files that a crash would leave now can be opened.
        let crashed = directory.path().join(format!("crashed{round}.db"));
        for suffix in ["", "-wal", "-lock"] {
            let name = |database: &std::path::Path| format!("{}{suffix}", database.display());
            std::fs::copy(name(&path), name(&crashed)).unwrap();
        }
        assert_eq!(workers(&Writer::open(&crashed).await.unwrap()).await, round + 2);
    }
}

/// Under its second name the database would have another lock and another log.
#[tokio::test]
async fn a_database_with_two_names_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("x.db"), directory.path().join("link.db"));
    let mut writer = Writer::open(&path).await.unwrap();
    std::fs::hard_link(&path, &link).unwrap();
    for name in [&path, &link] {
        if name == &path {
            // The holder goes on: no process can open the database by the other name.
            introduce(&mut writer, "1").await.unwrap();
        }
        let error = Writer::open(&link).await.unwrap_err();
        assert!(matches!(error, StoreError::Linked { names: 2, .. }), "{error:?}");
    }
    writer.close().await.unwrap();
    assert!(matches!(Writer::open(&path).await, Err(StoreError::Linked { .. })));
    std::fs::remove_file(&link).unwrap();
    Writer::open(&path).await.unwrap().close().await.unwrap();
}

/// The advice fits the problem.
#[tokio::test]
async fn what_to_do_depends_on_what_the_disk_says() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    Writer::open(&path).await.unwrap().close().await.unwrap();
    let read_only = SqliteConnectOptions::new().filename(&path).read_only(true);
    let mut read_only = read_only.connect().await.unwrap();
    let error = StoreError::from(read_only.execute("DELETE FROM workers").await.unwrap_err());
    assert!(error.remedy().contains("writable"), "{error}: {}", error.remedy());
    assert!(error.is_of_the_disk() && error.is_transient());
    let missing = SqliteConnectOptions::new().filename(directory.path().join("no/x.db"));
    let error = StoreError::from(missing.connect().await.unwrap_err());
    assert!(error.remedy().contains("still there"), "{error}: {}", error.remedy());
    let wrong = StoreError::from(read_only.execute("SELECT * FROM no_table").await.unwrap_err());
    assert!(!wrong.is_of_the_disk() && !wrong.remedy().contains("disk"), "{}", wrong.remedy());
}
