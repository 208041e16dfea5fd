//! Databases of earlier releases: what they have is carried over to the last byte.

use std::collections::BTreeMap;
use std::path::Path;

use spelrum_coordinator::store::{SqlValue, Sweep, Writer};
use spelrum_engine::{ENGINE_REVISION, Parameters, Value};
use spelrum_tournament::{DefinitionHash, Plan, PlannedPlayer};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};

use crate::fixture::{
    add_cell, alpha_beta, empty_plan, game, genetic, introduction, parameters, rows, sweep, text,
};

/// A database as it was before cells shared what they have in common.
async fn first_schema(path: &Path) -> SqliteConnection {
    let migrations = path.parent().unwrap().join("migrations");
    std::fs::create_dir(&migrations).unwrap();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
    for name in ["0001_tables.sql", "0002_views.sql"] {
        std::fs::copy(all.join(name), migrations.join(name)).unwrap();
    }
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .pragma("application_id", 0x5370_6c6d.to_string())
        .connect()
        .await
        .unwrap();
    Migrator::new(&*migrations).await.unwrap().run(&mut connection).await.unwrap();
    connection
}

/// Players whose values are hard to write twice in the same way.
fn odd_players() -> [Parameters; 2] {
    let mut first = genetic(3);
    for (name, value) in [
        ("elite", Value::Number(1.0)),
        ("sum", Value::Number(0.1 + 0.2)),
        ("tiny", Value::Number(1e-7)),
        ("note", Value::Text("\"players\":[{}, \\ ü\n]".to_owned())),
    ] {
        first.insert(name.to_owned(), value);
    }
    let second = parameters(&[
        ("algorithm", Value::Text("random".to_owned())),
        ("large", Value::Integer((1 << 53) - 1)),
    ]);
    [first, second]
}

fn old_plan() -> Plan {
    let mut plan = empty_plan("old");
    add_cell(&mut plan, ["ab", "gm"], [alpha_beta(1), genetic(1)], 1, 20);
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 1, 20);
    add_cell(&mut plan, ["odd", "other"], odd_players(), 2, 20);
    plan
}

/// The rows of a plan as they were stored.
async fn store_as_then(connection: &mut SqliteConnection, plan: &Plan) {
    let insert = "INSERT INTO experiments (experiment_id, uuid, name, description, game, seed,
            state, priority, record, sweep_toml, engine_revision, submitted_unix_us, results_view,
            times_view)
        VALUES (1, 'uuid-1', 'old', '', 'pentago', 7, 'running', 3, 'moves', 'text', ?, 5,
            'results_old', 'times_old');
        CREATE VIEW results_old AS SELECT * FROM results WHERE experiment_id = 1;
        CREATE VIEW times_old AS SELECT * FROM time_per_move WHERE experiment_id = 1;
        INSERT INTO experiment_axes VALUES (1, 0, 'depth');";
    // As if this engine had begun it: an experiment of another would not be gone on with.
    let insert = insert.replace("'text', ?,", &format!("'text', {ENGINE_REVISION},"));
    connection.execute(sqlx::AssertSqlSafe(insert)).await.unwrap();
    for (id, player) in (1_i64..).zip(&plan.players) {
        sqlx::query("INSERT INTO players VALUES (?, ?, ?)")
            .bind(id)
            .bind(DefinitionHash::of_json(&player.parameters_json).to_string())
            .bind(&player.algorithm)
            .execute(&mut *connection)
            .await
            .unwrap();
        for (name, value) in player.parameters() {
            let (number, text) = columns(&value);
            sqlx::query("INSERT INTO player_parameters VALUES (?, ?, ?, ?)")
                .bind(id)
                .bind(name)
                .bind(number)
                .bind(text)
                .execute(&mut *connection)
                .await
                .unwrap();
        }
    }
    for (number, cell) in (0_i64..).zip(&plan.cells) {
        let player = |side: usize| i64::try_from(cell.players[side]).unwrap() + 1;
        sqlx::query(
            "INSERT INTO cells (cell_id, experiment_id, number, definition_hash, definition_json,
                seed, first_player_id, second_player_id, first_player_name, second_player_name,
                openings, opening_plies, plies_max, games_planned, timed)
            VALUES (?1 + 1, 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'random', 2, 40, 20, 0)",
        )
        .bind(number)
        .bind(cell.definition_hash.to_string())
        .bind(plan.definition(cell).canonical_json())
        .bind(cell.seed.cast_signed())
        .bind(player(0))
        .bind(player(1))
        .bind(&*cell.player_names[0])
        .bind(&*cell.player_names[1])
        .execute(&mut *connection)
        .await
        .unwrap();
        let rules = "INSERT INTO cell_rules VALUES (?, 'win_before_rotation', 1.0, 'true')";
        sqlx::query(rules).bind(number + 1).execute(&mut *connection).await.unwrap();
    }
}

/// A parameter as it was stored.
fn columns(value: &Value) -> (Option<f64>, String) {
    match value {
        Value::Bool(switch) => (Some(f64::from(u8::from(*switch))), switch.to_string()),
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        Value::Integer(number) => (Some(*number as f64), number.to_string()),
        Value::Number(number) => (Some(*number), number.to_string()),
        Value::Text(text) => (None, text.clone()),
        Value::List(_) | Value::Table(_) => panic!("no player had {value} then"),
    }
}

#[tokio::test]
async fn an_earlier_database_is_carried_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let plan = old_plan();
    let mut connection = first_schema(&path).await;
    store_as_then(&mut connection, &plan).await;
    let parameters = "SELECT player_id, parameter, value_number, value_text
        FROM player_parameters ORDER BY player_id, parameter";
    let before: Vec<(i64, String, Option<f64>, String)> =
        sqlx::query_as(parameters).fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();

    let mut writer = Writer::open(&path).await.unwrap();
    let readers = writer.readers();
    for cell in &plan.cells {
        let json = readers.definition(cell.definition_hash).await.unwrap().unwrap();
        assert_eq!(json, plan.definition(cell).canonical_json());
        assert_eq!(DefinitionHash::of_json(&json), cell.definition_hash);
    }
    let json = rows(&readers, "SELECT hash, parameters_json FROM players").await;
    assert_eq!(json.len(), 4);
    for row in json {
        assert_eq!(text(&row[0]), DefinitionHash::of_json(&text(&row[1])).to_string());
    }
    let after = rows(&readers, parameters).await;
    assert_eq!(after.len(), before.len());
    for (row, (player, parameter, number, value)) in after.iter().zip(before) {
        assert_eq!(row[0], SqlValue::Integer(player));
        assert_eq!(text(&row[1]), parameter);
        assert_eq!(row[2], number.map_or(SqlValue::Null, SqlValue::Real));
        // Very small and very large numbers have an exponent now.
        let value = if parameter == "tiny" { "1e-7".to_owned() } else { value };
        assert_eq!(text(&row[3]), value, "{parameter}");
    }
    let count = async |sql: &str| text(&rows(&readers, sql).await[0][0]);
    assert_eq!(count("SELECT count(*) FROM conditions").await, "1");
    assert_eq!(count("SELECT count(*) || max(value_text) FROM cell_rules").await, "3true");
    assert_eq!(
        count("SELECT version || uuid || cells_added FROM sweep_versions").await,
        "1uuid-13"
    );
    assert_eq!(count("SELECT count(*) FROM results_old").await, "3");

    // It goes on: games come, the same sweep is known, and a changed one grows it.
    let mut transaction = writer.begin().await.unwrap();
    let worker = transaction.introduce(&introduction("w")).await.unwrap();
    let cell = spelrum_tournament::CellId(3);
    transaction.store_games(worker, &[game(cell, 0, 1), game(cell, 1, 2)]).await.unwrap();
    // It knew no files.
    let files = BTreeMap::new();
    let again = Sweep { files: &files, ..sweep("uuid-2", "text", &plan) };
    assert!(transaction.submit(again).await.unwrap().change.is_none());
    let mut changed = old_plan();
    add_cell(&mut changed, ["gm", "odd"], [genetic(1), odd_players()[0].clone()], 3, 4);
    let grown = transaction.submit(sweep("uuid-3", "text 2", &changed)).await.unwrap();
    let change = grown.change.unwrap();
    assert_eq!((change.cells_kept, change.cells_added, change.games_kept), (3, 1, 2));
    transaction.commit().await.unwrap();
    // Both players of the new cell, and its conditions, were there.
    assert_eq!(count("SELECT count(*) FROM players").await, "4");
    assert_eq!(count("SELECT count(*) FROM conditions").await, "1");
    let differences = readers.recount().await.unwrap();
    assert!(differences.is_empty(), "{differences:?}");
    // New players are stored in the same form.
    let known = PlannedPlayer::new(&odd_players()[0]);
    let hash = DefinitionHash::of_json(&known.parameters_json);
    let found = format!("SELECT count(*) FROM players WHERE hash = '{hash}'");
    assert_eq!(count(&found).await, "1");
}

/// Games of earlier releases know their opening, and that says which side moved first.
#[tokio::test]
async fn earlier_games_learn_which_side_moved_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.db");
    let mut connection = first_schema(&path).await;
    store_as_then(&mut connection, &old_plan()).await;
    let openings = [
        ("pentago", ".".repeat(36), "first"),
        ("pentago", format!("w{}", ".".repeat(35)), "second"),
        ("pentago", format!("wb{}", ".".repeat(34)), "first"),
        ("pentago", format!("wwb{}", ".".repeat(33)), "second"),
        ("tic-tac-toe", ".........".to_owned(), "first"),
        ("tic-tac-toe", "....x....".to_owned(), "second"),
        ("tic-tac-toe", "o...x....".to_owned(), "first"),
        ("nim", "3,4,5/w".to_owned(), "first"),
        ("nim", "3,4,4/b".to_owned(), "second"),
    ];
    let worker = "INSERT INTO workers VALUES (1, 'w', 'w', 'h', 1, 1, '0', 0, 0);
        INSERT INTO games (cell_id, number, first_player_id, second_player_id, counted,
            not_counted_reason, failure) VALUES (2, 0, 1, 1, 0, 'failed', 'why');";
    connection.execute(worker).await.unwrap();
    for (id, (game, position, _)) in (1_i64..).zip(&openings) {
        sqlx::query(
            "INSERT INTO openings VALUES (?1, ?2, ?3);
            INSERT INTO games (cell_id, number, opening_id, first_player_id, second_player_id,
                outcome, termination, plies, moves_hash, worker_id, engine_revision, counted)
            VALUES (1, ?1, ?1, 1, 2, 'win', 'full_board', 1, 1, 1, 1, 1);
            INSERT INTO uncounted_games VALUES (?1, 1, ?1, 'repeat', ?1, 1, 2, 'win', 'full_board',
                1, 1, 1, 1, 0, 0, 0)",
        )
        .bind(id)
        .bind(*game)
        .bind(position)
        .execute(&mut connection)
        .await
        .unwrap();
    }
    connection.close().await.unwrap();

    let writer = Writer::open(&path).await.unwrap();
    let readers = writer.readers();
    let expected: Vec<&str> = openings.iter().map(|(_, _, side)| *side).collect();
    for table in ["games", "uncounted_games"] {
        let sides = format!(
            "SELECT first_side FROM {table} WHERE opening_id IS NOT NULL ORDER BY opening_id"
        );
        let sides: Vec<String> =
            rows(&readers, &sides).await.iter().map(|row| text(&row[0])).collect();
        assert_eq!(sides, expected, "{table}");
    }
    let failed = "SELECT first_side FROM games WHERE failure IS NOT NULL";
    assert_eq!(rows(&readers, failed).await, [[SqlValue::Null]]);
}
