//! The schema: databases of before it, ids that never come again, and experiments' own views: they never
//! share a name, and the file has those of the latest.

use std::collections::BTreeMap;
use std::fs;

use spelrum_engine::{Parameters, Value};
use spelrum_model::{CellId, DefinitionHash, ExperimentId, Plan};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Removed, Removing, SqlValue, StoreError, Sweep, Writer};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::fixture::{
    Store, add_cell, alpha_beta, empty_plan, game, genetic, parameters, plan, sweep, text,
};

/// The schema began at 1 with the first release. A database of an earlier development build has more migrations
/// than this one, and is not newer.
#[tokio::test]
async fn a_database_of_a_development_build_is_refused_and_left_alone() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    writer.close().await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    for sql in [
        "UPDATE _sqlx_migrations SET checksum = x'0102'",
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
        VALUES (106, 'game timeout', true, x'03', 0), (107, 'sides', true, x'07', 0)",
    ] {
        connection.execute(sql).await.unwrap();
    }
    connection.close().await.unwrap();
    let before = fs::read(&path).unwrap();
    let error = Writer::open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::OtherSchema { number: 1, .. }), "{error:?}");
    assert!(error.remedy().contains("can be converted"), "{}", error.remedy());
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(directory);
}

/// The views before their columns had comments are the same views. A database of that time is opened, and so is one
/// that was converted from an older development build.
#[tokio::test]
async fn a_database_whose_views_have_no_comments_is_opened() {
    let Store { directory, writer, .. } = Store::new().await;
    let path = writer.path().to_owned();
    writer.close().await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let checksum = "UPDATE _sqlx_migrations SET checksum = x'6d04fbaeaddba447b986081803186640f4225cd62427179c\
                    6bbccb0ccf3b4cad7f315c3c8112f33b2cb039ec789543d9' WHERE version = 2";
    connection.execute(checksum).await.unwrap();
    connection.close().await.unwrap();
    Writer::open(&path).await.unwrap().close().await.unwrap();
    drop(directory);
}

/// Players whose values are hard to write twice in the same way.
fn odd_plan() -> Plan {
    let mut first = genetic(3);
    for (name, value) in [
        ("elite", Value::Number(1.0)),
        ("sum", Value::Number(0.1 + 0.2)),
        ("tiny", Value::Number(1e-7)),
        ("note", Value::Text("\"players\":[{}, \\ ü\n]".to_owned())),
        ("switch", Value::Bool(true)),
    ] {
        first.insert(name.to_owned(), value);
    }
    let second: Parameters = parameters(&[
        ("algorithm", Value::Text("random".to_owned())),
        ("large", Value::Integer((1 << 53) - 1)),
    ]);
    let mut plan = empty_plan("odd");
    add_cell(&mut plan, ["odd", "other"], [first, second], 2, 20);
    plan
}

/// A definition is stored in parts, and comes together again to the last byte.
#[tokio::test]
async fn definitions_and_parameters_come_out_as_they_went_in() {
    let plan = odd_plan();
    let store = Store::with(&plan).await;
    let cell = &plan.cells[0];
    let readers = store.writer.readers();
    let json = readers.definition(cell.definition_hash).await.unwrap().unwrap();
    assert_eq!(json, plan.definition(cell).canonical_json());
    assert_eq!(DefinitionHash::from_json(&json), cell.definition_hash);
    let parameter = |name: &str| {
        format!(
            "SELECT coalesce(value_number, 'no number') || '|' || value_text
            FROM player_parameters WHERE parameter = '{name}'"
        )
    };
    for (name, expected) in [
        ("elite", "1.0|1"),
        ("sum", "0.3|0.30000000000000004"),
        ("tiny", "1.0e-07|1e-7"),
        ("note", "no number|\"players\":[{}, \\ ü\n]"),
        ("switch", "1.0|true"),
        ("large", "9.00719925474099e+15|9007199254740991"),
    ] {
        assert_eq!(store.texts(&parameter(name)).await, [expected], "{name}");
    }
}

/// Many are read at once, each as if it were read alone.
#[tokio::test]
async fn definitions_of_many_cells_are_those_of_each() {
    let mut several = plan("several");
    for depth in 3..=12 {
        add_cell(&mut several, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 2);
    }
    let store = Store::with(&several).await;
    let readers = store.writer.readers();
    let mut expected = BTreeMap::new();
    for cell in (1..=12).map(CellId) {
        expected.insert(cell, readers.definition_of(cell).await.unwrap().unwrap());
    }
    // In any order, some twice, and with cells that do not exist.
    let asked: Vec<_> = [99, 12, 0].into_iter().chain(1..=12).chain([3]).map(CellId).collect();
    assert_eq!(readers.definitions_of(&asked, usize::MAX).await.unwrap(), expected);
    let some = readers.definitions_of(&[CellId(7), CellId(2)], usize::MAX).await.unwrap();
    assert_eq!(some.into_keys().collect::<Vec<_>>(), [CellId(2), CellId(7)]);
    for none in [vec![], vec![CellId(99)]] {
        assert!(readers.definitions_of(&none, usize::MAX).await.unwrap().is_empty());
    }
    // At least one, and one more than fits.
    let length = expected[&CellId(1)].len();
    for (bytes_max, count) in [(0, 1), (length - 1, 1), (length, 2)] {
        let read = readers.definitions_of(&asked, bytes_max).await.unwrap();
        let first: BTreeMap<_, _> = expected.clone().into_iter().take(count).collect();
        assert_eq!(read, first, "{bytes_max}");
    }
}

async fn submit(store: &mut Store, uuid: &str, plan: &Plan) -> ExperimentId {
    let mut transaction = store.writer.begin().await.unwrap();
    let sweep = Sweep { new_experiment: true, ..sweep(uuid, uuid, plan) };
    let submitted = transaction.submit(sweep).await.unwrap();
    transaction.commit().await.unwrap();
    submitted.experiment
}

async fn remove(store: &mut Store, experiment: ExperimentId) {
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_removal(experiment, Removing::Everything, 0).await.unwrap();
    loop {
        let removed = transaction.remove_some().await.unwrap();
        if !matches!(removed, Removed::Some) {
            break;
        }
    }
    transaction.commit().await.unwrap();
}

/// People cite experiments, cells and games by their ids: what is deleted leaves none behind.
#[tokio::test]
async fn ids_of_what_was_deleted_do_not_come_again() {
    let mut store = Store::new().await;
    let games: Vec<_> = (0..4).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    let greatest = "SELECT (SELECT max(experiment_id) FROM experiments) || ' '
        || (SELECT max(cell_id) FROM cells) || ' ' || (SELECT max(game_id) FROM games)";
    let before = store.texts(greatest).await;
    assert_eq!(before, ["1 2 4"]);
    let first = store.submitted.experiment;
    remove(&mut store, first).await;
    assert_eq!(store.integer("SELECT count(*) FROM cells").await, 0);
    let other = plan("other");
    let mut transaction = store.writer.begin().await.unwrap();
    store.submitted = transaction.submit(sweep("uuid-2", "text", &other)).await.unwrap();
    transaction.commit().await.unwrap();
    let games: Vec<_> = (0..4).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    assert_eq!(store.texts(greatest).await, ["2 4 8"]);
}

/// An experiment `x` has the views `results_x`; a second one gets its id behind the name, which
/// another experiment may have in its own name.
#[tokio::test]
async fn views_never_share_a_name() {
    let mut store = Store::new().await;
    for (number, name) in ["x", "x-4", "x", "X", "x-5"].into_iter().enumerate() {
        submit(&mut store, &format!("submit {number}"), &plan(name)).await;
    }
    let views = store.texts("SELECT results_view FROM experiments ORDER BY experiment_id").await;
    assert_eq!(
        views,
        [
            "results_small",
            "results_x",
            "results_x_4",
            "results_x_4_2",
            "results_x_5",
            "results_x_5_6"
        ]
    );
    for view in views {
        let rows = store.rows(&format!("SELECT * FROM {view}")).await;
        assert_eq!(rows.len(), 2, "{view}: {}", text(&rows[0][0]));
    }
}

/// The results views that a file has, as any program sees them.
async fn results_views(store: &Store) -> Vec<String> {
    let all = "SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'results_*' ORDER BY rowid";
    store.texts(all).await
}

/// Every connection reads the whole schema again after each submit, so the file has the views of a hundred
/// experiments. A query that names others has them all the same.
#[tokio::test]
async fn the_file_has_the_views_of_the_hundred_latest_experiments() {
    let mut store = Store::new().await;
    for number in 1..=104 {
        let name = format!("x-{number}");
        submit(&mut store, &name, &plan(&name)).await;
    }
    let named = |numbers: std::ops::RangeInclusive<u32>| {
        numbers.map(|number| format!("results_x_{number}")).collect::<Vec<_>>()
    };
    assert_eq!(results_views(&store).await, named(5..=104));
    assert_eq!(
        store.integer("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'times_x*'").await,
        100
    );
    // Through us they are there, however they are spelt, and have the same columns.
    for view in [
        "results_small",
        "RESULTS_X_4",
        "\"results_x_3\" AS r JOIN results_x_104 AS s USING (depth)",
    ] {
        let sql = format!("SELECT max(depth), count(*) FROM {view}");
        assert_eq!(
            store.rows(&sql).await,
            [[SqlValue::Integer(2), SqlValue::Integer(2)]],
            "{view}"
        );
    }
    let columns = async |view: &str| {
        let table =
            store.writer.readers().query(&format!("SELECT * FROM {view}"), 1).await.unwrap();
        table.columns
    };
    assert_eq!(columns("results_x_2").await, columns("results_x_104").await);
    assert_eq!(columns("times_x_2").await, columns("times_x_104").await);
    let error = store.writer.readers().query("SELECT * FROM results_x_105", 1).await.unwrap_err();
    assert_eq!(error.to_string(), "failed to run the query: no such table: results_x_105");
    // Nothing else can be done because of them.
    for (sql, problem) in [
        ("DELETE FROM results_x_2", "cannot modify results_x_2 because it is a view"),
        ("CREATE TEMP TABLE t AS SELECT * FROM results_x_2", "it would do more than read"),
        ("SELECT * FROM results_x_2; SELECT 1", "it is more than one statement"),
    ] {
        let error = store.writer.readers().query(sql, 1).await.unwrap_err();
        assert!(error.to_string().ends_with(problem), "{sql}: {error}");
    }
    // Its name stays its own.
    submit(&mut store, "another", &plan("x-4")).await;
    assert_eq!(results_views(&store).await.last().unwrap(), "results_x_4_106");

    // The same sweep again, or a changed one, gives them back to the file.
    let mut transaction = store.writer.begin().await.unwrap();
    let same = transaction.submit(sweep("again", "x-1", &plan("x-1"))).await.unwrap();
    assert!(same.existed && same.change.is_none());
    let mut changed = plan("x-2");
    changed.settings.description = "another".to_owned();
    transaction.submit(sweep("changed", "changed", &changed)).await.unwrap();
    transaction.commit().await.unwrap();
    let views = results_views(&store).await;
    assert_eq!(views.len(), 100);
    assert_eq!(views[97..], ["results_x_4_106", "results_x_1", "results_x_2"]);
    assert_eq!(views[..97], named(8..=104));
}

/// A file of before there was a bound has views of them all. They go a few at a time.
#[tokio::test]
async fn views_that_are_too_many_go_bit_by_bit() {
    let mut store = Store::new().await;
    for number in 1..=99 {
        let name = format!("x-{number}");
        submit(&mut store, &name, &plan(&name)).await;
    }
    let mut connection =
        SqliteConnectOptions::new().filename(store.path()).connect().await.unwrap();
    for number in 1..=10 {
        let sql = format!(
            "INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record, sweep_toml,
                engine_revision, submitted_unix_us, results_view, times_view)
            SELECT 'uuid ' || {number}, 'old', description, game, seed, state, priority, record, sweep_toml,
                engine_revision, submitted_unix_us, 'results_old_{number}', 'times_old_{number}'
            FROM experiments WHERE experiment_id = 1;
            CREATE VIEW results_old_{number} AS SELECT 1; CREATE VIEW times_old_{number} AS SELECT 1"
        );
        connection.execute(sqlx::AssertSqlSafe(sql)).await.unwrap();
    }
    connection.close().await.unwrap();
    let mut views = vec![results_views(&store).await.len()];
    for number in 1..=5 {
        let name = format!("y-{number}");
        submit(&mut store, &name, &plan(&name)).await;
        views.push(results_views(&store).await.len());
    }
    assert_eq!(views, [110, 107, 104, 101, 100, 100]);
}
