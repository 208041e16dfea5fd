//! Invariants 9 and 10: a query reads, within bounds, and can do nothing else.

use std::time::Duration;

use spelrum_store::{SqlValue, StoreError};

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
    // The places are free again.
    for _ in 0..10 {
        readers.query("SELECT 1", 1).await.unwrap();
    }
    // One value, of more memory than there may be.
    for sql in [
        "SELECT hex(zeroblob(900000000))",
        "SELECT group_concat(hex(zeroblob(1 << 20))) FROM (VALUES (1), (2), (3), (4), (5))",
        "SELECT length(zeroblob(8 << 20) || 'x')",
        // A row, of which each value may be so large.
        "SELECT zeroblob(3 << 20), hex(zeroblob(1 << 20)), zeroblob(4 << 20)",
    ] {
        let error = readers.query(sql, 1).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "failed to run the query: a text, blob or row of it has more than 8 MiB",
            "{sql}"
        );
        assert!(matches!(error, StoreError::WrongQuery { .. }) && !error.is_transient());
    }
    // SQLite's own answer for a text that this function may not make.
    let table = readers.query("SELECT printf('%.*c', 900000000, 'x')", 1).await.unwrap();
    assert_eq!(table.rows, [[SqlValue::Null]]);
    // A text that doubles with each step, before it runs.
    let doubling: String =
        (1..40).map(|n| format!(", a{n} AS (SELECT * FROM a{}, a{})", n - 1, n - 1)).collect();
    let sql = format!("WITH a0 AS (SELECT 1){doubling} SELECT count(*) FROM a39");
    let error = hasty.query(&sql, 1).await.unwrap_err();
    let refused = matches!(error, StoreError::WrongQuery { .. } | StoreError::SlowQuery { .. });
    assert!(refused, "{error:?}");
}

/// Any number of rows, of which few are ever here: those that nobody has taken wait in the database.
#[tokio::test]
async fn rows_come_as_they_are_taken() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    let counting =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let mut rows =
        readers.query_rows(&format!("{counting} LIMIT 1000000"), u64::MAX).await.unwrap();
    assert_eq!(rows.columns(), ["x"]);
    let mut last = 0;
    while let Some(batch) = rows.next().await.unwrap() {
        assert!(!batch.is_empty() && batch.len() < 10_000);
        for row in batch {
            last += 1;
            assert_eq!(row, [SqlValue::Integer(last)]);
        }
    }
    assert_eq!((last, rows.truncated()), (1_000_000, false));
    assert!(rows.next().await.unwrap().is_none(), "the end stays the end");
    // Endless, but for its bound.
    let mut rows = readers.query_rows(counting, 100_000).await.unwrap();
    let mut count = 0;
    while let Some(batch) = rows.next().await.unwrap() {
        count += batch.len();
    }
    assert_eq!((count, rows.truncated()), (100_000, true));
    // Endless, until nobody wants more; more often than there are places.
    for _ in 0..10 {
        let mut rows = readers.query_rows(counting, u64::MAX).await.unwrap();
        rows.next().await.unwrap().unwrap();
    }
    // What fails after some rows says so.
    let failing = "SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)";
    let mut rows = readers.query_rows(failing, u64::MAX).await.unwrap();
    let error = loop {
        match rows.next().await {
            Ok(rows) => assert!(rows.is_some(), "it ended like a whole one"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), "failed to run the query: integer overflow");
    // Without rows there are columns, too.
    let mut none = readers.query_rows("SELECT 1 AS a WHERE 0", u64::MAX).await.unwrap();
    assert_eq!(none.columns(), ["a"]);
    assert!(none.next().await.unwrap().is_none());
}

/// A query holds its moment of the database while it waits for who reads it: not for ever.
#[tokio::test]
async fn a_query_does_not_wait_for_its_reader_for_ever() {
    const PATIENCE: Duration = Duration::from_millis(200);
    let store = Store::new().await;
    let endless =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let readers = store.writer.readers().with_reader_wait_max(PATIENCE);
    let mut rows = readers.query_rows(endless, u64::MAX).await.unwrap();
    let error = loop {
        // It waits, whenever it comes to that.
        tokio::time::sleep(PATIENCE).await;
        match rows.next().await {
            Ok(rows) => assert!(rows.is_some()),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::SlowReader { seconds: 0 }), "{error:?}");
    assert!(!error.is_transient());
    // On one's own file there is no such bound.
    let limited = format!("{endless} LIMIT 100000");
    let mut own = readers.own_query_rows(&limited, u64::MAX, None).await.unwrap();
    tokio::time::sleep(3 * PATIENCE).await;
    let mut count = 0;
    while let Some(batch) = own.next().await.unwrap() {
        count += batch.len();
    }
    assert_eq!(count, 100_000);
    let hasty = Some(Duration::from_millis(50));
    let counting = endless.replace("SELECT x FROM n", "SELECT count(*) FROM n");
    let mut rows = readers.own_query_rows(&counting, u64::MAX, hasty).await.unwrap();
    assert!(matches!(rows.next().await, Err(StoreError::SlowQuery { .. })));
}

/// What sorting, DISTINCT and materializing keep in files is bounded, too, and only where others depend on the disk.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn what_a_query_keeps_in_temporary_files_is_bounded() {
    let store = Store::new().await;
    // Also on a crowded machine it is this that ends them.
    let patient = store.writer.readers().with_query_time_max(Duration::from_secs(600));
    let readers = patient.with_spill_bytes_max(4 << 20);
    let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
    for eater in [
        "SELECT x, randomblob(1000) FROM n ORDER BY 2",
        "SELECT count(*) FROM (SELECT DISTINCT randomblob(1000) FROM n)",
        "SELECT count(*) FROM (SELECT randomblob(1000) AS y FROM n GROUP BY y)",
        "SELECT sum(x) OVER (ORDER BY random()) FROM (SELECT x, randomblob(1000) FROM n)",
    ] {
        let error = readers.query(&format!("{endless}{eater}"), 10).await.unwrap_err();
        let said = "failed to finish the query: it sorts or gathers more than 4 MiB, which it keeps in temporary files";
        assert_eq!(error.to_string(), said, "{eater}");
        assert!(error.remedy().contains("spelrum backup"), "{}", error.remedy());
        assert!(!error.is_transient());
    }
    // What a person asks of an own file takes the room that it takes.
    let sort = format!("{endless}SELECT x FROM n LIMIT 30000");
    let sort = format!(
        "SELECT count(*) FROM (SELECT x, randomblob(500) AS y FROM ({sort}) ORDER BY y LIMIT 20000)"
    );
    assert!(readers.query(&sort, 1).await.is_err());
    let mut own = readers.own_query_rows(&sort, 1, None).await.unwrap();
    assert_eq!(own.next().await.unwrap().unwrap(), [[SqlValue::Integer(20_000)]]);
}

#[tokio::test]
async fn a_query_that_is_too_long_is_told_how_long_it_may_be() {
    let store = Store::new().await;
    let sql = format!("SELECT '{}'", "x".repeat(1 << 20));
    let error = store.writer.readers().query(&sql, 1).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to run the query: its text has 1048585 bytes, and may have 1048576"
    );
}

/// Who goes away leaves a place to others: four that run for longer than anybody waits for one.
#[tokio::test]
async fn a_query_ends_with_its_caller() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    let endless =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let readers = readers.clone();
            tokio::spawn(async move { readers.query(endless, 1).await })
        })
        .collect();
    // Each takes its place.
    tokio::task::yield_now().await;
    // One that waits for a place goes away, too.
    let waiting = readers.query("SELECT 1", 1);
    assert!(tokio::time::timeout(Duration::from_millis(100), waiting).await.is_err());
    for caller in callers {
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
    }
    readers.query("SELECT 1", 1).await.unwrap();
}

/// A store that is closed does not wait for what runs, and leaves no file of SQLite's beside it.
#[tokio::test]
async fn closing_ends_queries() {
    const HANGS: Duration = Duration::from_secs(600);
    let store = Store::new().await;
    let readers = store.writer.readers().with_query_time_max(2 * HANGS);
    let endless =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let mut running = Box::pin(readers.query(endless, 1));
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut running).await.is_err());
    let both = async { tokio::join!(store.writer.close(), running) };
    let (closed, ended) = tokio::time::timeout(HANGS, both).await.unwrap();
    closed.unwrap();
    assert!(matches!(ended.unwrap_err(), StoreError::Sql(_)));
    assert!(readers.query("SELECT 1", 1).await.is_err());
    let names: Vec<_> = std::fs::read_dir(store.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with("-wal") || name.ends_with("-shm"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}

/// What a query is: one statement that reads.
#[tokio::test]
async fn a_query_is_one_statement() {
    let store = Store::new().await;
    let readers = store.writer.readers();
    for sql in [
        "  select 1 ; ",
        "select 1;;\n-- done",
        "-- why\nSELECT 1 /* because */",
        "/* ; */ SELECT ';'",
        "SELECT 'it''s; fine', \"a;b\", `c;d`, [e;f] FROM (SELECT 1 AS \"a;b\", 2 AS [c;d], 3 AS 'e;f')",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1), (2)",
        "EXPLAIN SELECT 1",
        "explain query plan select 1",
        // What a comment swallows to the end is not a second statement.
        "SELECT 1 /*/ 1; VACUUM",
        "SELECT * FROM pragma_table_info('games')",
        "SELECT t.name, c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c",
        "PRAGMA table_info(games)",
        "SELECT * FROM pragma_user_version, pragma_journal_mode",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT sum(pgsize) FROM dbstat",
        "SELECT * FROM results, head_to_head",
    ] {
        if let Err(error) = readers.query(sql, 10).await {
            panic!("{sql}: {error}");
        }
    }
    for (sql, problem) in [
        ("", "it is empty"),
        (" ; ", "it is empty"),
        ("-- nothing", "it is empty"),
        ("SELECT 1; SELECT 2", "it is more than one statement"),
        ("SELECT 1; nonsense", "it is more than one statement"),
        ("SELECT 1 /* */; VACUUM", "it is more than one statement"),
        ("SELECT '\\'; VACUUM --'", "it is more than one statement"),
        ("SELECT 1 --\n; VACUUM", "it is more than one statement"),
        ("SELECT 1 /*/**/; VACUUM", "it is more than one statement"),
        ("SELECT 1; ATTACH 'x' AS y", "it is more than one statement"),
        ("SELECT 1\0; VACUUM", "it contains a NUL character"),
        ("SELECT ?1", "it has parameters"),
        ("SELECT :name, $x(')", "it has parameters"),
        ("DELETE FROM games", "it would do more than read"),
        ("EXPLAIN DELETE FROM games", "it would do more than read"),
        ("VACUUM", "it would do more than read"),
        ("VACUUM INTO 'x'", "it would do more than read"),
        ("BEGIN", "it would do more than read"),
        ("CREATE TEMP TABLE t (x)", "it would do more than read"),
        ("ATTACH 'x' AS y", "it would use other files"),
        ("PRAGMA query_only = 0", "the pragma query_only does more than tell"),
        ("EXPLAIN PRAGMA query_only = 0", "the pragma query_only does more than tell"),
        ("PRAGMA user_version = 1", "the pragma user_version does more than tell"),
        ("SELECT * FROM pragma_optimize", "the pragma optimize does more than tell"),
        ("SELECT load_extension('x')", "the function load_extension does more than compute"),
        ("SELECT sqlite_log(1, 'x')", "the function sqlite_log does more than compute"),
    ] {
        match readers.query(sql, 10).await {
            Err(StoreError::NotAQuery { problem: found }) => assert_eq!(found, problem, "{sql}"),
            other => panic!("{sql}: {other:?}"),
        }
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
            Ok(table) => panic!("{attack}: {table:?}"),
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

/// What would eat the memory or the stack is refused with a reason, or ends with its time.
#[tokio::test]
async fn a_query_cannot_eat_memory_or_stack() {
    const ENDLESS: &str = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
    let store = Store::new().await;
    let readers = store.writer.readers().with_query_time_max(Duration::from_millis(500));
    let too_big = [
        "SELECT zeroblob(1 << 30)",
        "SELECT randomblob(1 << 30)",
        "SELECT randomblob(9223372036854775807)",
        "SELECT printf('%.*c', 1 << 30, 'x')",
        "SELECT format('%1000000000d', 1)",
        "SELECT printf('%.1000000000f', 1.0)",
        "SELECT hex(zeroblob(8 << 20))",
        "SELECT quote(zeroblob(8 << 20))",
        "SELECT replace(printf('%.*c', 4 << 20, 'a'), 'a', 'aaaa')",
        "SELECT zeroblob(8 << 20) || zeroblob(8 << 20)",
        "SELECT 'a' LIKE printf('%.*c', 1 << 20, '%')",
        "SELECT 'a' GLOB printf('%.*c', 1 << 20, '*')",
    ];
    let deep = [
        format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000)),
        format!("SELECT {}1", "-".repeat(3).replace('-', "- ").repeat(5_000)),
        format!("SELECT 1{}", " + 1".repeat(5_000)),
        format!("SELECT {}1{}", "abs(".repeat(5_000), ")".repeat(5_000)),
        format!("{}1{}", "SELECT (".repeat(5_000), ")".repeat(5_000)),
        format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(5_000)),
        format!("SELECT * FROM games{}", " JOIN games".repeat(100)),
        format!("SELECT {}", vec!["1"; 5_000].join(", ")),
        format!("SELECT '{}'", "x".repeat(2 << 20)),
    ];
    let eaters = [
        "SELECT length(group_concat(x)) FROM n",
        "SELECT length(group_concat(zeroblob(1 << 20), 'x')) FROM n",
        "SELECT length(json_group_array(x)) FROM n",
        "SELECT length(json_group_object(x, randomblob(9))) FROM n",
        "SELECT median(x) FROM n",
        "SELECT count(DISTINCT randomblob(1000)) FROM n",
        "SELECT x FROM n ORDER BY random()",
        "SELECT sum(x) OVER (ORDER BY random()) FROM n",
    ];
    let eaters = eaters.map(|eater| format!("{ENDLESS}{eater}"));
    for attack in too_big.map(str::to_owned).iter().chain(&deep).chain(&eaters) {
        let shown: String = attack.chars().take(60).collect();
        let error = match readers.query(attack, 10).await {
            Err(error) => error,
            Ok(table) => {
                // Some widths SQLite cuts down by itself.
                assert!(!eaters.contains(attack), "{shown}");
                let bytes: usize = table.rows.iter().flatten().map(bytes).sum();
                assert!(bytes <= 16 << 20, "{shown}: {bytes} bytes");
                continue;
            }
        };
        assert!(!error.to_string().is_empty(), "{shown}");
        let is_expected = matches!(
            error,
            StoreError::WrongQuery { .. }
                | StoreError::NotAQuery { .. }
                | StoreError::SlowQuery { .. }
                | StoreError::LongQuery { .. }
        );
        assert!(is_expected, "{shown}: {error:?}");
    }
    let table = readers.query("SELECT 1", 1).await.unwrap();
    assert_eq!(table.rows, [[SqlValue::Integer(1)]]);
}

fn bytes(value: &SqlValue) -> usize {
    match value {
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 8,
        SqlValue::Text(text) => text.len(),
        SqlValue::Blob(blob) => blob.len(),
    }
}
