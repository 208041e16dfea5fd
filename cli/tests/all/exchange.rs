//! `spelrum export` and `import`: what comes is what was there, nothing is doubled, and no file is believed.

use rusqlite::Connection;
use serde_json::Value;

use crate::sandbox::{Sandbox, tic_tac_toe};

fn play(sandbox: &Sandbox, sweep: &str, db: &str) {
    sandbox.write("sweep.toml", sweep);
    sandbox.run(&["run", "sweep.toml", "--db", db]).expect_exit(0);
}

fn played(sweep: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    play(&sandbox, sweep, "x.db");
    sandbox
}

fn export(sandbox: &Sandbox, from: &str, to: &str) {
    sandbox.run(&["export", "--db", from, "--output", to]).expect_exit(0);
}

/// Imports, and gives what became of the only experiment.
fn import(sandbox: &Sandbox, file: &str, db: &str) -> Value {
    let ran = sandbox.run(&["import", file, "--db", db, "--json"]);
    let json: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
    sandbox.run(&["check", "--db", db]).expect_exit(0);
    json["experiments"][0].clone()
}

/// Everything that an experiment is asked for, apart from ids.
fn answers(sandbox: &Sandbox, db: &str) -> Vec<String> {
    let ask = |statement: &str| {
        let ran = sandbox.run(&["sql", "--db", db, "--csv", statement]);
        ran.expect_exit(0).stdout().to_owned()
    };
    vec![
        sandbox.run(&["report", "--db", db, "--depths"]).expect_exit(0).stdout().to_owned(),
        sandbox.run(&["report", "--db", db, "--ratings"]).stdout().to_owned(),
        sandbox.all_games(db),
        ask(
            "SELECT uuid, name, description, game, seed, state, priority, record, sweep_toml,
                engine_revision, submitted_unix_us, finished_unix_us, results_view, game_timeout_us, course,
                disturbed_above, replays_max
            FROM experiments",
        ),
        ask("SELECT version, uuid, sweep_toml, cells_added, games_to_play FROM sweep_versions"),
        ask(
            "SELECT number, definition_hash, seed, first_player_name, second_player_name, openings,
                opening_plies, plies_max, games_planned, swap_sides, timed, in_sweep, next_number,
                decided_number, stop_number
            FROM cells ORDER BY number",
        ),
        ask(
            "SELECT c.number, a.axis, a.value_number, a.value_text
            FROM cell_axes AS a JOIN cells AS c ON c.cell_id = a.cell_id ORDER BY 1, 2",
        ),
        ask(
            "SELECT c.number, g.number, w.uuid, w.name, g.started_unix_us, g.wall_us, g.counted,
                g.robbed_share, g.disturbed
            FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
            JOIN workers AS w ON w.worker_id = g.worker_id ORDER BY 1, 2",
        ),
        ask(
            "SELECT c.number, u.number, u.reason, u.moves_hash, u.received_unix_us,
                (SELECT count(*) FROM uncounted_moves AS m WHERE m.uncounted_game_id = u.uncounted_game_id)
            FROM uncounted_games AS u JOIN cells AS c ON c.cell_id = u.cell_id ORDER BY 1, 2, 3, 4",
        ),
        ask("SELECT count(*), sum(games) FROM worker_results"),
        ask(
            "SELECT uuid, host, cpu_model, logical_cores, operating_system, build_commit, build_profile,
                cores, quiet_slots, cpu_quota_us, cpu_period_us
            FROM workers ORDER BY uuid",
        ),
    ]
}

const KINDS: [(&str, &str); 5] = [
    ("moves", ""),
    ("games", "record = \"games\"\n"),
    ("stopped", "stop = { precision = 0.2 }\n"),
    ("timed", "measure = \"time\"\ntiming.disturbed_above = 0.5\nrecord = \"games\"\n"),
    ("fixed", "swap_sides = false\nrecord = \"games\"\nstop = { precision = 0.2 }\n"),
];

#[test]
fn an_export_is_a_database_and_comes_back_as_it_was() {
    for (kind, line) in KINDS {
        let sandbox = played(&format!("{line}{}", tic_tac_toe("small", 60)));
        let before = answers(&sandbox, "x.db");
        export(&sandbox, "x.db", "e.db");
        sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);
        assert_eq!(answers(&sandbox, "e.db"), before, "{kind}: the export");
        let imported = import(&sandbox, "e.db", "new.db");
        assert_eq!((&imported["new"], &imported["state"]), (&true.into(), &"finished".into()));
        assert_eq!(answers(&sandbox, "new.db"), before, "{kind}: imported");
        // Twice changes nothing.
        let ran = sandbox.run(&["import", "e.db", "--db", "new.db"]);
        let games = sandbox.sql("x.db", "SELECT count(*) FROM games");
        let said = format!("small: nothing is new, all {games} games were here already\n");
        assert_eq!(ran.expect_exit(0).stdout(), said);
        assert_eq!(answers(&sandbox, "new.db"), before, "{kind}: imported twice");
        // And back to where it came from.
        assert_eq!(import(&sandbox, "new.db", "x.db")["known"].to_string(), games);
        // The same sweep is at its end there.
        sandbox.run(&["run", "sweep.toml", "--db", "new.db"]).expect_exit(0);
    }
}

#[test]
fn games_that_are_missing_are_added_and_no_others() {
    for (kind, line) in KINDS {
        let sandbox = played(&format!("{line}{}", tic_tac_toe("small", 20)));
        export(&sandbox, "x.db", "early.db");
        let early = import(&sandbox, "early.db", "y.db")["games"].as_u64().unwrap();
        play(&sandbox, &format!("{line}{}", tic_tac_toe("small", 60)), "x.db");
        export(&sandbox, "x.db", "late.db");
        let late = import(&sandbox, "late.db", "y.db");
        assert_eq!(late["changed"], true, "{kind}: its text is newer");
        assert_eq!(late["known"].as_u64(), Some(early), "{kind}");
        let (ours, theirs) = (answers(&sandbox, "y.db"), answers(&sandbox, "x.db"));
        assert_eq!(ours[..3], theirs[..3], "{kind}");
        assert_eq!(ours[5..], theirs[5..], "{kind}");
        // What is older brings nothing.
        let again = import(&sandbox, "early.db", "y.db");
        assert_eq!((&again["games"], &again["changed"]), (&0.into(), &false.into()), "{kind}");
    }
}

#[test]
fn what_is_not_finished_is_paused_and_can_go_on() {
    // However fast the worker is, and slow the rest: half of the games need more memory than it offers.
    let table = "table = true\ntable_mib = \"$table_mib\"\n";
    let sweep = tic_tac_toe("small", 400) + table;
    let sweep = sweep.replace("depth = [1, 2]\n", "table_mib = [1, 8]\n");
    let sweep = sweep.replace("depth = \"$depth\"\n", "depth = 1\n");
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep);
    let coordinator = sandbox.coordinator_with("x.db", "127.0.0.1:0", "200ms");
    let url = coordinator.url.clone();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut worker = sandbox.worker(&url, "1", &["--memory", "6MiB"]);
    crate::sandbox::wait_until("some games are settled", || {
        sandbox.sql("x.db", "SELECT count(*) FROM games").parse::<u32>().unwrap() >= 20
    });
    let export = ["export", "small", "--coordinator", &url, "--output", "e.db"];
    sandbox.run(&export).expect_exit(0);
    worker.kill();
    drop(coordinator);
    sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("e.db", "SELECT state FROM experiments"), "paused");
    let ran = sandbox.run(&["import", "e.db", "--db", "y.db"]);
    assert!(
        ran.expect_exit(0).stdout().contains("it is paused: spelrum resume"),
        "{}",
        ran.stdout()
    );
    sandbox.run(&["check", "--db", "y.db"]).expect_exit(0);
    for db in ["e.db", "y.db"] {
        sandbox.run(&["run", "sweep.toml", "--db", db]);
        sandbox.run(&["resume", "small", "--db", db]);
        sandbox.run(&["run", "sweep.toml", "--db", db]).expect_exit(0);
        assert_eq!(sandbox.sql(db, "SELECT count(*) FROM games"), "800", "{db}");
        sandbox.run(&["check", "--db", db]).expect_exit(0);
    }
}

fn spoil(sandbox: &Sandbox, db: &str, statements: &str) {
    let connection = Connection::open(sandbox.path(db)).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(statements).unwrap();
}

#[test]
fn another_result_of_a_game_is_kept_once_and_judged() {
    let sandbox = played(&tic_tac_toe("small", 4));
    export(&sandbox, "x.db", "same.db");
    export(&sandbox, "x.db", "other.db");
    // The same games by somebody else; and one search that no engine of this revision makes.
    spoil(&sandbox, "same.db", "UPDATE workers SET uuid = 'another'");
    spoil(
        &sandbox,
        "other.db",
        "UPDATE workers SET uuid = 'a third';
        UPDATE moves SET nodes = nodes + 1 WHERE game_id = 3 AND ended_by <> 'only_move'",
    );
    let same = import(&sandbox, "same.db", "x.db");
    assert_eq!(
        (&same["repeats"], &same["conflicts"], &same["games"]),
        (&8.into(), &0.into(), &0.into())
    );
    let other = import(&sandbox, "other.db", "x.db");
    assert_eq!((&other["repeats"], &other["conflicts"]), (&7.into(), &1.into()));
    for file in ["same.db", "other.db"] {
        assert_eq!(import(&sandbox, file, "x.db")["known"], 8);
    }
    assert_eq!(sandbox.sql("x.db", "SELECT count(*) FROM uncounted_games"), "16");
    assert_eq!(sandbox.sql("x.db", "SELECT count(*) FROM games"), "8");
}

#[test]
fn names_that_are_taken_need_a_word() {
    let sandbox = played(&tic_tac_toe("small", 4));
    play(&sandbox, &tic_tac_toe("small", 4), "y.db");
    export(&sandbox, "y.db", "e.db");
    let refused = sandbox.run(&["import", "e.db", "--db", "x.db"]);
    assert_eq!(
        refused.expect_exit(3).stderr(),
        "error: failed to import small: there is another experiment of this name\nhelp: give --new to have \
         both, as in spelrum submit --new; their UUIDs distinguish them\n"
    );
    sandbox.run(&["import", "e.db", "--db", "x.db", "--new"]).expect_exit(0);
    assert_eq!(sandbox.sql("x.db", "SELECT count(*) FROM experiments"), "2");
    sandbox.run(&["check", "--db", "x.db"]).expect_exit(0);
    sandbox.run(&["import", "e.db", "--db", "x.db"]).expect_exit(0);
}

#[test]
fn nothing_of_a_file_is_believed() {
    let sandbox = played(&tic_tac_toe("small", 4));
    let spoilt = [
        ("game", "UPDATE moves SET move = 'a1'", "game 0 of cell 1: "),
        ("hash", "UPDATE games SET moves_hash = 5", "its moves_hash is not that of its moves"),
        ("outcome", "UPDATE games SET outcome = 'loss' WHERE outcome <> 'loss'", "the outcome"),
        ("definition", "UPDATE cells SET definition_hash = upper(definition_hash)", "its hash"),
        (
            "player",
            "UPDATE players SET parameters_json = replace(parameters_json, 'depth\":1', 'depth\":3')",
            "its hash",
        ),
        (
            "view",
            "ALTER TABLE attempts RENAME TO tried;
            CREATE VIEW attempts AS SELECT * FROM tried",
            "its table attempts is not ours",
        ),
        ("column", "ALTER TABLE games ADD COLUMN more TEXT", "its table games is not ours"),
        ("worker", "DELETE FROM workers", "it has no worker 1"),
        ("name", "UPDATE experiments SET name = char(27) || '[2J'", "its name or UUID is not one"),
        (
            "long",
            "UPDATE experiments SET sweep_toml = printf('%.*c', 3000000, 'x')",
            "does not write",
        ),
        ("older", "DELETE FROM _sqlx_migrations WHERE version > 1", "its schema has number 1"),
        (
            "development",
            "UPDATE _sqlx_migrations SET checksum = x'00'; UPDATE _sqlx_migrations SET version = version + 26
            WHERE version > 1",
            "number 1 differs",
        ),
        (
            "newer",
            "UPDATE _sqlx_migrations SET version = 99
            WHERE version = (SELECT max(version) FROM _sqlx_migrations)",
            "its schema has number 99",
        ),
    ];
    for (name, statements, said) in spoilt {
        let file = format!("{name}.db");
        export(&sandbox, "x.db", &file);
        spoil(&sandbox, &file, statements);
        let ran = sandbox.run(&["import", &file, "--db", "y.db"]);
        assert_ne!(ran.0.status.code(), Some(0), "{name}");
        assert!(ran.stderr().contains(said), "{name}: {}", ran.stderr());
        assert!(ran.stderr().contains("\nhelp: "), "{name}: {}", ran.stderr());
        assert_eq!(sandbox.sql("y.db", "SELECT count(*) FROM experiments"), "0", "{name}");
    }
    sandbox.write("text.db", &"no database, but long enough to be taken for one. ".repeat(50));
    let ran = sandbox.run(&["import", "text.db", "--db", "y.db"]);
    assert!(ran.stderr().contains("it is not a database"), "{}", ran.stderr());
    export(&sandbox, "x.db", "cut.db");
    let whole = std::fs::read(sandbox.path("cut.db")).unwrap();
    std::fs::write(sandbox.path("cut.db"), &whole[..whole.len() / 2]).unwrap();
    sandbox.run(&["import", "cut.db", "--db", "y.db"]).expect_exit(3);
    assert_eq!(sandbox.sql("y.db", "SELECT count(*) FROM games"), "0");
}
