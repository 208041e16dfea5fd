//! Invariants 9 and 10: a query reads, within bounds, and can do nothing else.

use std::time::Duration;

use spelrum_coordinator::store::{SqlValue, StoreError};

use crate::fixture::{Store, game};

#[tokio::test]
async fn a_query_gives_columns_and_rows_of_any_kind() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    let table = readers
        .query("SELECT 1 AS a, 2.5 AS b, 'text' AS \"c d\", x'00ff' AS e, NULL AS f; -- end", 10)
        .await
        .unwrap();
    assert_eq!(table.columns, ["a", "b", "c d", "e", "f"]);
    assert_eq!(
        table.rows,
        [[
            SqlValue::Integer(1),
            SqlValue::Real(2.5),
            SqlValue::Text("text".to_owned()),
            SqlValue::Blob(vec![0, 255]),
            SqlValue::Null,
        ]]
    );
    assert!(!table.truncated);
    let none = readers.query("SELECT game_id, number FROM games", 10).await.unwrap();
    assert_eq!(none.columns, ["game_id", "number"]);
    assert!(none.rows.is_empty());
    // One column of mixed types, and a text that is not UTF-8.
    let mixed = readers.query("VALUES (1), ('a'), (NULL), (CAST(x'61ff' AS TEXT))", 10).await;
    assert_eq!(
        mixed.unwrap().rows,
        [
            [SqlValue::Integer(1)],
            [SqlValue::Text("a".to_owned())],
            [SqlValue::Null],
            [SqlValue::Text("a\u{fffd}".to_owned())]
        ]
    );
}

#[tokio::test]
async fn rows_bytes_and_time_are_bounded() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    const ENDLESS: &str = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
    let table = readers.query(&format!("{ENDLESS} SELECT x FROM n"), 3).await.unwrap();
    assert_eq!(table.rows.len(), 3);
    assert!(table.truncated);
    let exactly = readers.query("VALUES (1), (2), (3)", 3).await.unwrap();
    assert!(!exactly.truncated);
    // Rows of a megabyte each, as many as wanted.
    let sql = format!("{ENDLESS} SELECT zeroblob(1 << 20) FROM n");
    let table = readers.query(&sql, u32::MAX).await.unwrap();
    assert!(table.truncated);
    assert!(table.rows.len() < 100);
    // Never a row, for ever.
    let hasty = readers.clone().with_query_time_max(Duration::from_millis(50));
    let error = hasty.query(&format!("{ENDLESS} SELECT count(*) FROM n"), 3).await.unwrap_err();
    assert!(matches!(error, StoreError::SlowQuery { .. }), "{error:?}");
    // The connections are as good as before.
    for _ in 0..10 {
        readers.query("SELECT 1", 1).await.unwrap();
    }
}

#[tokio::test]
async fn wrong_sql_is_said_to_be_wrong() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    for (sql, part) in [
        ("SELECT * FROM nowhere", "no such table: nowhere"),
        ("SELECT wrong FROM games", "no such column: wrong"),
        ("SELECT FROM", "syntax error"),
        ("SELECT '", "unrecognized token"),
    ] {
        let error = readers.query(sql, 1).await.unwrap_err();
        assert!(matches!(error, StoreError::WrongQuery { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!error.is_transient());
    }
}

/// Whatever a query tries, the database and the directory stay as they are.
#[tokio::test]
async fn a_query_can_do_nothing_but_read() {
    let mut store = Store::new().await;
    store.store(&[game(store.cell(0), 0, 1)]).await;
    let directory = store.directory.path();
    let secret = directory.join("secret.db");
    std::fs::copy(store.writer.path(), &secret).unwrap();
    let target = directory.join("written");
    let (secret, target) = (secret.display(), target.display());
    let files = || {
        let mut names: Vec<_> =
            std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let attacks = [
        format!("ATTACH '{secret}' AS other"),
        format!("SELECT 1; ATTACH '{secret}' AS other"),
        format!("ATTACH 'file:{target}?mode=rwc' AS other"),
        format!("VACUUM INTO '{target}'"),
        format!("SELECT $x('); VACUUM INTO '{target}' --'"),
        format!("EXPLAIN SELECT 1; VACUUM INTO '{target}'"),
        format!("SELECT writefile('{target}', 'x')"),
        format!("SELECT readfile('{secret}')"),
        format!("SELECT load_extension('{target}')"),
        "SELECT fts3_tokenizer('x')".to_owned(),
        "SELECT edit('x')".to_owned(),
        "PRAGMA query_only = OFF".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        "PRAGMA journal_mode = DELETE".to_owned(),
        "PRAGMA wal_checkpoint(TRUNCATE)".to_owned(),
        "SELECT * FROM pragma_query_only(0)".to_owned(),
        "SELECT * FROM pragma_optimize(-1)".to_owned(),
        "SELECT * FROM pragma_journal_mode('delete')".to_owned(),
        "SELECT * FROM pragma_wal_checkpoint".to_owned(),
        "DELETE FROM games".to_owned(),
        "WITH x AS (SELECT 1) DELETE FROM games".to_owned(),
        "WITH x AS (SELECT 1) UPDATE games SET counted = 0 RETURNING 1".to_owned(),
        "WITH x AS (SELECT 1) INSERT INTO openings (game, position) VALUES ('a', 'b')".to_owned(),
        "CREATE TEMP TABLE t (x)".to_owned(),
        "CREATE VIEW v AS SELECT 1".to_owned(),
        "DROP TABLE games".to_owned(),
        "REINDEX".to_owned(),
        "ANALYZE".to_owned(),
        "BEGIN".to_owned(),
        "COMMIT".to_owned(),
        "SAVEPOINT s".to_owned(),
        "DETACH main".to_owned(),
    ];
    let readers = store.writer.readers();
    for attack in attacks {
        match readers.query(&attack, 10).await {
            Err(StoreError::NotAQuery { .. } | StoreError::WrongQuery { .. }) => {}
            Err(error) => panic!("{attack}: {error:?}"),
            // A pragma that only tells its value.
            Ok(table) => assert!(attack.contains("FROM pragma_"), "{attack}: {table:?}"),
        }
        assert_eq!(files(), before, "{attack}");
    }
    let databases = store.texts("SELECT name FROM pragma_database_list").await;
    assert_eq!(databases, ["main"]);
    assert_eq!(store.texts("SELECT * FROM pragma_journal_mode").await, ["wal"]);
    assert_eq!(store.integer("SELECT count(*) FROM games WHERE counted = 1").await, 1);
    store.store(&[game(store.cell(0), 1, 1)]).await;
    store.assert_recount().await;
}
