//! What the disk and other programs do to the writer: tests that reach into its connection.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use super::{StoreError, WorkerIntroduction, Writer};

fn introduction(uuid: String) -> WorkerIntroduction {
    WorkerIntroduction {
        uuid,
        name: "x".repeat(1000),
        host: "host".to_owned(),
        slots: 1,
        engine_revision: 1,
        version: "0".to_owned(),
        memory_bytes: None,
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
    // SQLite reports a file that must not grow as it reports a full disk.
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
    // With space again, work goes on.
    writer.connection.execute("PRAGMA max_page_count = 1000000").await.unwrap();
    introduce(&mut writer, "after").await.unwrap();
    assert_eq!(workers(&writer).await, stored + 1);
}

/// A statement that is all or nothing leaves SQLite no other way than to roll the transaction back, behind
/// the back of the library that counts them.
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
    // Reading goes on meanwhile.
    assert_eq!(workers(&writer).await, 0);
    shell.execute("ROLLBACK").await.unwrap();
    introduce(&mut writer, "1").await.unwrap();
    assert_eq!(workers(&writer).await, 1);
}

/// Invariant 5: what was committed is there after a crash, and what was not is not. The copies of
/// the files are what a killed process leaves.
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

/// What the disk or another program may mend is tried again; what the statement itself is at fault for
/// would be tried for ever.
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
