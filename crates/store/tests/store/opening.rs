//! Opening: what works, and one error for each thing that does not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use spelrum_answers::Detail;
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Readers, SqlValue, StoreError, Writer};
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};

use crate::fixture::{Store, plan, rows, sweep};

async fn plain_connection(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

/// The names and contents of a directory's files.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let bytes =
                if entry.path().is_file() { fs::read(entry.path()).unwrap() } else { vec![] };
            (name, bytes)
        })
        .collect();
    files.sort();
    files
}

/// Opens what cannot be opened, and checks that nothing has changed.
async fn refused(path: &Path) -> StoreError {
    let directory = path.parent().unwrap();
    let before = directory.is_dir().then(|| contents(directory));
    let error = Writer::open(path).await.unwrap_err();
    let after = directory.is_dir().then(|| contents(directory));
    assert!(before == after, "changed by a refusal: {error}");
    assert!(error.to_string().contains(path.file_name().unwrap().to_str().unwrap()));
    assert!(!error.remedy().is_empty());
    error
}

#[tokio::test]
async fn a_new_database_has_the_settings_that_cannot_be_changed_later() {
    let store = Store::new().await;
    assert_eq!(store.writer.epoch(), 1);
    for (pragma, expected) in
        [("application_id", 0x5370_6c6d), ("auto_vacuum", 2), ("page_size", 4096)]
    {
        assert_eq!(store.integer(&format!("SELECT * FROM pragma_{pragma}")).await, expected);
    }
    assert_eq!(store.texts("SELECT * FROM pragma_encoding").await, ["UTF-8"]);
    assert_eq!(store.texts("SELECT * FROM pragma_journal_mode").await, ["wal"]);
    // STRICT, all of them; the migrations' own table is sqlx's, the others SQLite's.
    assert_eq!(
        store
            .texts(
                "SELECT name FROM pragma_table_list
            WHERE schema = 'main' AND type = 'table' AND strict = 0 ORDER BY name"
            )
            .await,
        ["_sqlx_migrations", "sqlite_schema", "sqlite_sequence"]
    );
}

#[tokio::test]
async fn every_start_raises_the_epoch() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    drop(writer);
    for epoch in 2..5 {
        assert_eq!(Writer::open(&path).await.unwrap().epoch(), epoch);
    }
    drop(directory);
}

#[tokio::test]
async fn an_empty_file_is_a_new_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.db");
    fs::write(&path, "").unwrap();
    assert_eq!(Writer::open(&path).await.unwrap().epoch(), 1);
}

#[tokio::test]
async fn a_missing_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = refused(&directory.path().join("missing/x.db")).await;
    assert!(matches!(error, StoreError::MissingDirectory { .. }), "{error:?}");
    assert!(error.remedy().contains("mkdir"));
    // A file where the directory should be.
    fs::write(directory.path().join("file"), "").unwrap();
    let error = refused(&directory.path().join("file/x.db")).await;
    assert!(matches!(error, StoreError::MissingDirectory { .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_not_a_database_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    for bytes in [&b"x"[..], b"[axes]\ndepth = [1, 2]\n", &[7; 8192]] {
        fs::write(&path, bytes).unwrap();
        let error = refused(&path).await;
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
    }
    let inside = directory.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let error = refused(&inside).await;
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
}

#[tokio::test]
async fn a_database_of_another_application_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    for journal_mode in ["delete", "wal"] {
        let mut other = plain_connection(&path).await;
        let pragma = format!("PRAGMA journal_mode = {journal_mode}");
        other.execute(sqlx::AssertSqlSafe(pragma)).await.unwrap();
        other.execute("CREATE TABLE IF NOT EXISTS coordinators (x)").await.unwrap();
        other.close().await.unwrap();
        let error = refused(&path).await;
        assert!(matches!(error, StoreError::OtherApplication { .. }), "{error:?}");
        let error = Readers::open(&path).await.unwrap_err();
        assert!(matches!(error, StoreError::OtherApplication { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    writer.close().await.unwrap();
    let mut connection = plain_connection(&path).await;
    connection
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
            VALUES (99, 'from the future', true, x'00', 0)",
        )
        .await
        .unwrap();
    connection.close().await.unwrap();
    let before = fs::read(&path).unwrap();
    let error = Writer::open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error:?}");
    assert_eq!(before, fs::read(&path).unwrap());
    // It can be read all the same.
    Readers::open(&path).await.unwrap();
    drop(directory);
}

#[tokio::test]
async fn another_schema_of_the_same_number_is_refused() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    writer.close().await.unwrap();
    let mut connection = plain_connection(&path).await;
    connection.execute("UPDATE _sqlx_migrations SET checksum = x'00'").await.unwrap();
    connection.close().await.unwrap();
    let error = Writer::open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::OtherSchema { number: 1, .. }), "{error:?}");
    drop(directory);
}

/// Also for root, who could write: what was made read-only is left alone.
#[tokio::test]
async fn what_is_read_only_is_refused() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    writer.close().await.unwrap();
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(&path, 0o444);
    let error = refused(&path).await;
    assert!(
        matches!(&error, StoreError::ReadOnly { what, .. } if what.ends_with("results.db")),
        "{error:?}"
    );
    set_mode(&path, 0o644);
    set_mode(directory.path(), 0o555);
    let error = refused(&path).await;
    assert!(
        matches!(&error, StoreError::ReadOnly { what, .. } if !what.ends_with("results.db")),
        "{error:?}"
    );
    let error = refused(&directory.path().join("new.db")).await;
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    set_mode(directory.path(), 0o755);
    Writer::open(&path).await.unwrap();
}

#[tokio::test]
async fn a_second_coordinator_is_refused_while_the_first_lives() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    let error = Writer::open(&path).await.unwrap_err();
    let own = format!("process {}", std::process::id());
    assert!(matches!(&error, StoreError::Held { holder, .. } if *holder == own), "{error:?}");
    // Under any name.
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let error = Writer::open(&link).await.unwrap_err();
    assert!(matches!(error, StoreError::Held { .. }), "{error:?}");
    drop(writer);
    assert_eq!(Writer::open(&link).await.unwrap().epoch(), 2);
}

/// Invariant 6, second defence: even a coordinator that lost its lock cannot write any more.
#[tokio::test]
async fn a_coordinator_that_was_replaced_is_fenced() {
    let Store { directory, writer: mut first, .. } = Store::new().await;
    let path = first.path().to_owned();
    fs::remove_file(directory.path().join("results.db-lock")).unwrap();
    let mut second = Writer::open(&path).await.unwrap();
    let error = first.begin().await.unwrap_err();
    assert!(matches!(error, StoreError::TakenOver { found: 2, own: 1 }), "{error:?}");
    let error = first.snapshot().await.unwrap_err();
    assert!(matches!(error, StoreError::TakenOver { .. }), "{error:?}");
    second.begin().await.unwrap().commit().await.unwrap();
}

#[tokio::test]
async fn nothing_stays_beside_a_closed_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let mut writer = Writer::open(&path).await.unwrap();
    assert!(writer.checkpoint().await.unwrap().complete);
    writer.close().await.unwrap();
    let names: Vec<String> = contents(directory.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["x.db"]);
}

/// Who copies a database after its run copies one file, and `watch` may still have it open.
#[tokio::test]
async fn a_closed_database_is_complete_without_its_log_whoever_reads_it() {
    let mut store = Store::new().await;
    let cell = store.cell(0);
    for number in 0..20 {
        store.store(&[crate::fixture::game(cell, number, number)]).await;
    }
    let Store { directory, writer, .. } = store;
    let path = writer.path().to_owned();
    let readers = Readers::open(&path).await.unwrap();
    assert_eq!(readers.games_settled().await.unwrap(), 20);
    writer.close().await.unwrap();
    let copy = directory.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    let copied = Readers::open(&copy).await.unwrap();
    assert_eq!(copied.games_settled().await.unwrap(), 20);
    copied.close().await;
    assert_eq!(readers.games_settled().await.unwrap(), 20);
    readers.close().await;

    // One that is in the middle of a query keeps the log, which has all that is lacking.
    let mut writer = Writer::open(&path).await.unwrap();
    let mut shell = plain_connection(&path).await;
    shell.execute("BEGIN; SELECT count(*) FROM games").await.unwrap();
    writer.begin().await.unwrap().commit().await.unwrap();
    writer.close().await.unwrap();
    shell.execute("COMMIT").await.unwrap();
    let readers = Readers::open(&path).await.unwrap();
    assert_eq!(readers.games_settled().await.unwrap(), 20);
}

#[tokio::test]
async fn a_checkpoint_runs_beside_the_writer() {
    let mut store = Store::new().await;
    let mut checkpointer = store.writer.checkpointer().await.unwrap();
    let cell = store.cell(0);
    for number in 0..20 {
        store.store(&[crate::fixture::game(cell, number, number)]).await;
    }
    let transaction = store.writer.begin().await.unwrap();
    assert!(checkpointer.run().await.unwrap().complete);
    transaction.commit().await.unwrap();
    assert_eq!(store.integer("SELECT count(*) FROM games").await, 20);
}

/// Invariant 9: a writer that never pauses does not make the log grow for ever.
#[tokio::test]
async fn the_writers_own_checkpoint_lets_the_log_begin_anew() {
    let mut store = Store::new().await;
    let mut checkpointer = store.writer.checkpointer().await.unwrap();
    let cell = store.cell(0);
    let mut number = 0;
    // As under load: the writer is always in a transaction when a checkpoint beside it runs.
    let mut largest_bytes = 0;
    for _ in 0..20 {
        let mut transaction = store.writer.begin().await.unwrap();
        let game = crate::fixture::game(cell, number, number);
        transaction.store_games(&[(store.worker, game)]).await.unwrap();
        assert!(checkpointer.run().await.unwrap().complete);
        transaction.commit().await.unwrap();
        number += 1;
        let wal_bytes = store.writer.wal_bytes();
        assert!(wal_bytes > largest_bytes, "it grows by every commit");
        largest_bytes = wal_bytes;
    }
    assert!(store.writer.checkpoint().await.unwrap().complete);
    for _ in 0..5 {
        store.store(&[crate::fixture::game(cell, number, number)]).await;
        number += 1;
        assert_eq!(store.writer.wal_bytes(), largest_bytes, "it is written over");
    }
}

#[tokio::test]
async fn readers_need_a_database() {
    let directory = tempfile::tempdir().unwrap();
    let error = Readers::open(&directory.path().join("x.db")).await.unwrap_err();
    assert!(matches!(error, StoreError::MissingDatabase { .. }), "{error:?}");
    let path = directory.path().join("text");
    fs::write(&path, "text").unwrap();
    let error = Readers::open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
}

/// An archive or another user's directory: there SQLite cannot make the files it wants for reading.
#[tokio::test]
async fn readers_read_where_nothing_can_be_made() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    writer.close().await.unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let readers = Readers::open(&path).await.unwrap();
    assert_eq!(readers.experiment("small").await.unwrap().unwrap().cells, 2);
    let cells = readers.query("SELECT count(*) FROM cells", 1).await.unwrap();
    assert_eq!(cells.rows, [[SqlValue::Integer(2)]]);
    // Root could have made them: nothing was tried.
    let names: Vec<String> = contents(directory.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["results.db"]);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn readers_read_with_and_without_a_coordinator() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    let beside = Readers::open(&path).await.unwrap();
    assert_eq!(beside.experiments(None, 10).await.unwrap().experiments.len(), 1);
    drop(writer);
    let after = Readers::open(&path).await.unwrap();
    assert_eq!(after.experiment("small").await.unwrap().unwrap().cells, 2);
    drop(directory);
}

/// A database with the migrations up to this one.
async fn database_of(path: &Path, last: &str) -> SqliteConnection {
    let mut connection = plain_connection(path).await;
    let pragmas =
        "PRAGMA application_id = 0x53706c6d; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = wal";
    connection.execute(pragmas).await.unwrap();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let some = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(all).unwrap() {
        let name = entry.as_ref().unwrap().file_name();
        if name.to_str().unwrap() <= last {
            fs::copy(entry.unwrap().path(), some.path().join(name)).unwrap();
        }
    }
    Migrator::new(some.path()).await.unwrap().run(&mut connection).await.unwrap();
    connection
}

/// Experiments of the schema before bounds have none.
#[tokio::test]
async fn a_database_from_before_bounds_of_games_at_once_opens() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut connection = database_of(&path, "0002_views.sql").await;
    let experiment =
        "INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record,
            sweep_toml, engine_revision, submitted_unix_us, results_view, times_view)
        VALUES ('u', 'old', '', 'pentago', 1, 'paused', 3, 'moves', '', 2, 1, '', '')";
    connection.execute(experiment).await.unwrap();
    connection.close().await.unwrap();
    let mut writer = Writer::open(&path).await.unwrap();
    let snapshot = writer.snapshot().await.unwrap();
    let settings = snapshot.experiments[0].settings;
    assert_eq!((settings.priority, settings.games_at_once), (3, None));
    assert_eq!(writer.readers().recount().await.unwrap(), []);
}

/// Experiments of the schema before replicates name no axis of them.
#[tokio::test]
async fn a_database_from_before_replicates_opens() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut connection = database_of(&path, "0005_games_planned_first.sql").await;
    let experiment =
        "INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record,
            sweep_toml, engine_revision, submitted_unix_us, results_view, times_view)
        VALUES ('u', 'old', '', 'pentago', 1, 'paused', 3, 'moves', '', 2, 1, '', '')";
    connection.execute(experiment).await.unwrap();
    connection.close().await.unwrap();
    let writer = Writer::open(&path).await.unwrap();
    let report = writer.readers().report("old", Detail::Cells).await.unwrap().unwrap();
    assert_eq!(report.replicated, None);
    assert_eq!(writer.readers().recount().await.unwrap(), []);
}

/// Experiments of the schema before the processor time of engines' own processes have none.
#[tokio::test]
async fn a_database_from_before_processor_time_of_engines_opens() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut connection = database_of(&path, "0003_games_at_once.sql").await;
    let experiment =
        "INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record,
            sweep_toml, engine_revision, submitted_unix_us, results_view, times_view)
        VALUES ('u', 'old', '', 'pentago', 1, 'paused', 3, 'moves', '', 2, 1, '', '')";
    connection.execute(experiment).await.unwrap();
    connection.close().await.unwrap();
    let mut writer = Writer::open(&path).await.unwrap();
    let mut transaction = writer.begin().await.unwrap();
    transaction.submit(sweep("uuid-1", "text", &plan("new"))).await.unwrap();
    transaction.commit().await.unwrap();
    let known = "SELECT name, engine_cpu_known FROM experiments ORDER BY experiment_id";
    let known: Vec<_> =
        rows(&writer.readers(), known).await.iter().map(|row| row[1].clone()).collect();
    assert_eq!(known, [SqlValue::Integer(0), SqlValue::Integer(1)]);
    assert_eq!(writer.readers().recount().await.unwrap(), []);
}

/// Which cells were grown, and from how many games, is not known of an earlier schema: all cells with games of an
/// experiment that gave cells more games count as grown.
#[tokio::test]
async fn a_database_from_before_first_plans_opens() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut connection = database_of(&path, "0004_engine_cpu_known.sql").await;
    for statement in [
        "PRAGMA foreign_keys = OFF",
        "INSERT INTO sweep_versions
        SELECT e.value, v.value, e.value || '-' || v.value, '', 1, 2, e.value = 2 AND v.value = 2,
            0, 0, 0, 10 * (v.value - 1), 10
        FROM json_each('[1,2]') AS e, json_each('[1,2]') AS v",
        "INSERT INTO cells (cell_id, experiment_id, number, definition_hash, conditions_id, seed,
            first_player_id, second_player_id, first_player_name, second_player_name, openings,
            games_planned, timed)
        SELECT value, (value + 1) / 2, 0, value, 1, 1, 1, 1, 'a', 'b', 'random', 10 * value, 0
        FROM json_each('[1,2,3,4]')",
        "INSERT INTO cell_results
        SELECT value, 10 * (value <> 4), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL
        FROM json_each('[1,2,3,4]')",
    ] {
        connection.execute(statement).await.unwrap();
    }
    connection.close().await.unwrap();
    drop(Writer::open(&path).await.unwrap());
    let mut connection = plain_connection(&path).await;
    let first = "SELECT games_planned_first FROM cells ORDER BY cell_id";
    let first: Vec<Option<i64>> =
        sqlx::query_scalar(first).fetch_all(&mut connection).await.unwrap();
    assert_eq!(first, [None, None, Some(30), None]);
}

/// A database of an earlier schema gets the later migrations, all or none.
#[tokio::test]
async fn a_migration_that_fails_leaves_the_schema_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut connection = database_of(&path, "0001_tables.sql").await;
    connection.execute("CREATE TABLE individual_cells (x)").await.unwrap();
    connection.close().await.unwrap();
    Writer::open(&path).await.unwrap_err();
    let mut connection = plain_connection(&path).await;
    let last = "SELECT max(version) FROM _sqlx_migrations";
    let version: i64 = sqlx::query_scalar(last).fetch_one(&mut connection).await.unwrap();
    assert_eq!(version, 1);
    let views = "SELECT count(*) FROM sqlite_schema WHERE type = 'view'";
    let views: i64 = sqlx::query_scalar(views).fetch_one(&mut connection).await.unwrap();
    assert_eq!(views, 0);
    connection.execute("DROP TABLE individual_cells").await.unwrap();
    connection.close().await.unwrap();
    let writer = Writer::open(&path).await.unwrap();
    assert_eq!(writer.readers().recount().await.unwrap(), []);
}
