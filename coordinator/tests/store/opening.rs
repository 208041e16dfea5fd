//! Opening: what works, and one error for each thing that does not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use spelrum_coordinator::store::{Readers, SqlValue, StoreError, Writer};
use spelrum_tournament::stopping::StopRule;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};

use crate::fixture::Store;

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

/// A database with the migrations up to one, as the release had them that ended with it.
async fn database_of(path: &Path, last: &str) -> SqliteConnection {
    let mut connection = plain_connection(path).await;
    let pragmas =
        "PRAGMA application_id = 0x53706c6d; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = wal";
    connection.execute(pragmas).await.unwrap();
    migrate(&mut connection, last).await;
    connection
}

/// Applies the migrations up to one.
async fn migrate(connection: &mut SqliteConnection, last: &str) {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
    let some = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(all).unwrap() {
        let name = entry.as_ref().unwrap().file_name();
        if name.to_str().unwrap() <= last {
            fs::copy(entry.unwrap().path(), some.path().join(name)).unwrap();
        }
    }
    Migrator::new(some.path()).await.unwrap().run(connection).await.unwrap();
}

/// Before rules had rows, a cell had its precision; and people had views of their own.
#[tokio::test]
async fn stop_rules_of_an_older_database_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut old = database_of(&path, "0002_views.sql").await;
    let statements = "
        INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record, sweep_toml,
            engine_revision, submitted_unix_us, results_view, times_view)
        VALUES ('u', 'old', '', 'tic-tac-toe', 1, 'running', 0, 'moves', '', 1, 1, 'results_old', 'times_old');
        INSERT INTO players (player_id, hash, algorithm, parameters_json)
        VALUES (1, 'a', 'random', '{}'), (2, 'b', 'random', '{}');
        INSERT INTO conditions (conditions_id, definition_prefix) VALUES (1, '{');
        INSERT INTO cells (experiment_id, number, definition_hash, conditions_id, seed, first_player_id,
            second_player_id, first_player_name, second_player_name, openings, games_planned, timed,
            stop_precision)
        VALUES (1, 0, 'x', 1, 1, 1, 2, 'a', 'b', 'start', 100, 0, 0.03),
            (1, 1, 'y', 1, 1, 1, 2, 'a', 'b', 'start', 100, 0, 0.03),
            (1, 2, 'z', 1, 1, 2, 1, 'b', 'a', 'start', 100, 0, 1e-9),
            (1, 3, 'w', 1, 1, 2, 2, 'b', 'b', 'start', 100, 0, NULL);
        CREATE VIEW results_old AS SELECT s.player, s.games_planned FROM results AS s WHERE s.experiment_id = 1;
        CREATE VIEW times_old AS SELECT s.player FROM time_per_move AS s WHERE s.experiment_id = 1;";
    old.execute(statements).await.unwrap();
    old.close().await.unwrap();

    let mut writer = Writer::open(&path).await.unwrap();
    let snapshot = writer.snapshot().await.unwrap();
    let rules = snapshot.experiments[0].cells.iter().map(|cell| cell.reading.as_ref()?.rule);
    let [known, fine] = [0.03, 1e-9].map(StopRule::of_precision);
    assert_eq!(rules.collect::<Vec<_>>(), [known, known, fine, None]);
    let readers = writer.readers();
    assert_eq!(readers.recount().await.unwrap(), []);
    for (sql, expected) in [
        ("SELECT group_concat(stop_precision) FROM results", "0.03,0.03,1.0e-09"),
        ("SELECT group_concat(games_planned) FROM results_old", "100,100,100,100"),
        ("SELECT count(*) || '' FROM stop_rules", "2"),
    ] {
        let table = readers.query(sql, 10).await.unwrap();
        assert_eq!(table.rows, [[SqlValue::Text(expected.to_owned())]], "{sql}");
    }
}

/// What the release before wrote, as it wrote it: games of a finished cell whose openings come again, which
/// its precision has ended, and of one whose openings do not.
const SCHEMA_3: &str = r#"
    INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record, sweep_toml,
        engine_revision, submitted_unix_us, results_view, times_view)
    VALUES ('u', 'old', '', 'tic-tac-toe', 7, 'running', 0, 'games', '', 1, 1, '', '');
    INSERT INTO players (player_id, hash, algorithm, parameters_json)
    VALUES (1, 'a', 'random', '{"algorithm":"random"}'), (2, 'b', 'mcts', '{"algorithm":"random","x":1}');
    INSERT INTO conditions (conditions_id, definition_prefix, openings_count) VALUES (1, 'x', 3), (2, 'y', NULL);
    INSERT INTO stop_rules (rule, kind, precision) VALUES ('precision 0.2', 'precision', 0.2);
    INSERT INTO cells (experiment_id, number, definition_hash, conditions_id, seed, first_player_id,
        second_player_id, first_player_name, second_player_name, openings, games_planned, timed,
        stop_rule_id, next_number, decided_number, stop_number)
    VALUES (1, 0, 'x', 1, 1, 1, 2, 'a', 'b', 'all', 60, 0, 1, 60, 50, 50),
        (1, 1, 'y', 2, 1, 1, 2, 'a', 'b', 'random', 60, 0, 1, 60, 50, 50);
    INSERT INTO openings (opening_id, game, position) VALUES (1, 'tic-tac-toe', 'o');
    INSERT INTO workers (worker_id, uuid, name, host, slots, engine_revision, version, first_seen_unix_us,
        last_hello_unix_us)
    VALUES (1, 'w', 'w', 'h', 1, 1, '', 0, 0);
    INSERT INTO games (cell_id, number, opening_id, first_player_id, second_player_id, first_side, outcome,
        termination, plies, moves_hash, worker_id, engine_revision, started_unix_us, wall_us, counted,
        not_counted_reason)
    WITH RECURSIVE n (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM n WHERE number < 51)
    SELECT c.cell_id, n.number, 1, 1 + n.number % 2, 2 - n.number % 2, 'first',
        CASE n.number / 2 % 3 WHEN 0 THEN 'win' WHEN 1 THEN CASE n.number % 2 WHEN 0 THEN 'win' ELSE 'loss' END
            ELSE 'draw' END,
        'line', 5, n.number, 1, 1, 1, 10, n.number < 50,
        CASE WHEN n.number >= 50 THEN 'beyond_stop' END
    FROM cells AS c, n;
    INSERT INTO game_sides (game_id, side, player_id, moves, searched_moves, wall_us, cpu_us, nodes,
        evaluations, full_tree_leaves, wall_us_squared)
    SELECT g.game_id, s.value, CASE s.value WHEN 0 THEN g.first_player_id ELSE g.second_player_id END,
        3, 2 * (g.number % 5 > 0), 7 * (g.number % 5), 0, 0, 0, 0.0, 0.0
    FROM games AS g, json_each('[0, 1]') AS s;
    INSERT INTO game_depths (game_id, side, depth, searched_moves, wall_us, cpu_us, nodes, evaluations,
        full_tree_leaves, wall_us_squared, move_times_json)
    SELECT game_id, side, 1, searched_moves, wall_us, 0.0, 0.0, 0.0, 0.0, 0.0, '{"1":2}'
    FROM game_sides WHERE searched_moves > 0;
    INSERT INTO cell_depths
    SELECT g.cell_id, s.player_id, 1, sum(s.searched_moves), total(s.wall_us), 0.0, 0.0, 0.0, 0.0, 0.0
    FROM games AS g JOIN game_sides AS s ON s.game_id = g.game_id
    WHERE g.counted = 1 AND s.searched_moves > 0 GROUP BY g.cell_id, s.player_id;
    INSERT INTO cell_move_times
    SELECT cell_id, player_id, depth, 1, searched_moves FROM cell_depths;
    INSERT INTO worker_results VALUES (1, 1, 100, 500, 1000.0, 1, 1);
    -- Of 25 pairs 9 are won once by each mover, 8 twice by the first player, 8 drawn.
    INSERT INTO cell_results
    SELECT cell_id, 50, 0, 25, 16, 9, 17, 8, 0, 0, 0, 17, 0, 8, 50, 250, 500.0, 0.66, 0.0, 1.0 FROM cells;
"#;

async fn old_database(path: &Path) {
    let mut old = database_of(path, "0003_stop_rules.sql").await;
    old.execute(SCHEMA_3).await.unwrap();
    old.close().await.unwrap();
}

async fn texts(readers: &Readers, sql: &str) -> Vec<String> {
    crate::fixture::rows(readers, sql)
        .await
        .iter()
        .map(|row| crate::fixture::text(&row[0]))
        .collect()
}

/// Results by opening are made of the games that are there; and a precision that has ended a cell over pairs
/// has ended it as it did: whoever submits the sweep again gets another rule.
#[tokio::test]
async fn results_by_opening_are_made_of_older_games() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    old_database(&path).await;
    let mut writer = Writer::open(&path).await.unwrap();
    let readers = writer.readers();
    let differences = readers.recount().await.unwrap();
    // The interval over pairs of the old release is not made here.
    let differences: Vec<_> =
        differences.iter().filter(|it| it.key != "cell_id 2").map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let openings = "SELECT printf('%d %d %d %d %d %d %d %d', cell_id, opening_number, games, pairs,
            pairs_half_points, first_mover_half_points, games_moving_first,
            half_points_moving_first)
        FROM cell_openings WHERE cell_id = 1 OR opening_number > 22";
    let expected = [
        "1 0 18 9 18 36 9 18",
        "1 1 16 8 32 16 8 16",
        "1 2 16 8 16 16 8 8",
        "2 23 2 1 2 2 1 1",
        "2 24 2 1 2 4 1 2",
    ];
    assert_eq!(texts(&readers, openings).await, expected);
    let won = "SELECT printf('%d %d %.2f %d', pairs_won_by_first_mover, pairs_won_by_second_mover,
        openings_effective, score_high < 1) FROM results WHERE cell_number = 0";
    assert_eq!(texts(&readers, won).await, ["9 0 2.99 1"]);
    let rules =
        "SELECT printf('%s %d', stop_rule, stopped_after) FROM results ORDER BY cell_number";
    assert_eq!(texts(&readers, rules).await, ["precision 0.2 over pairs 50", "precision 0.2 50"]);
    let snapshot = writer.snapshot().await.unwrap();
    for cell in &snapshot.experiments[0].cells {
        assert_eq!((cell.decided_number, cell.stop_number), (50, Some(50)));
    }
    // Once is enough.
    drop(writer);
    let writer = Writer::open(&path).await.unwrap();
    assert_eq!(texts(&writer.readers(), openings).await, expected);
}

/// Processor times by opening are made of the games that are there, and nothing else is made anew.
#[tokio::test]
async fn processor_times_are_made_of_older_games() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    old_database(&path).await;
    // As the release before the processor times would have it, but for what it had by opening: that is made anew.
    let mut before = plain_connection(&path).await;
    migrate(&mut before, "0019_disturbance.sql").await;
    before
        .execute(
            "UPDATE game_sides SET cpu_us = (side + 1) * wall_us;
            UPDATE game_depths SET cpu_us = (side + 1) * wall_us;
            UPDATE cell_depths SET cpu_us = (
                SELECT total(d.cpu_us) FROM games AS g
                JOIN game_sides AS s ON s.game_id = g.game_id
                JOIN game_depths AS d ON d.game_id = s.game_id AND d.side = s.side
                WHERE g.counted = 1 AND g.cell_id = cell_depths.cell_id
                    AND s.player_id = cell_depths.player_id)",
        )
        .await
        .unwrap();
    before.close().await.unwrap();
    let writer = Writer::open(&path).await.unwrap();
    let readers = writer.readers();
    let differences = readers.recount().await.unwrap();
    let of_openings = differences.iter().filter(|it| it.table == "cell_openings");
    let differences: Vec<_> = of_openings.map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let times = "SELECT printf('%.1f %.1f', sum(first_player_cpu_us_mean_sum) / sum(first_player_wall_us_mean_sum),
            sum(second_player_cpu_us_mean_sum) / sum(second_player_wall_us_mean_sum))
        FROM cell_openings";
    // They swap sides, so that each of them is as often the slower one.
    assert_eq!(texts(&readers, times).await, ["1.5 1.5"]);
}

/// All of it, or nothing: a database never has the schema without its rows.
#[tokio::test]
async fn an_upgrade_that_fails_leaves_the_schema_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    old_database(&path).await;
    let mut connection = plain_connection(&path).await;
    // The last that is made: the rules.
    connection
        .execute(
            "CREATE TRIGGER no BEFORE UPDATE OF stop_rule_id ON cells BEGIN SELECT raise(ABORT, 'no'); END",
        )
        .await
        .unwrap();
    connection.close().await.unwrap();
    Writer::open(&path).await.unwrap_err();
    let mut connection = plain_connection(&path).await;
    let last = "SELECT max(version) FROM _sqlx_migrations";
    let version: i64 = sqlx::query_scalar(last).fetch_one(&mut connection).await.unwrap();
    assert_eq!(version, 3);
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'cell_openings'";
    let tables: i64 = sqlx::query_scalar(tables).fetch_one(&mut connection).await.unwrap();
    assert_eq!(tables, 0);
    connection.execute("DROP TRIGGER no").await.unwrap();
    connection.close().await.unwrap();
    let writer = Writer::open(&path).await.unwrap();
    let rows = "SELECT count(*) FROM cell_openings";
    assert_eq!(texts(&writer.readers(), rows).await, ["28"]);
}
