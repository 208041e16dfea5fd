//! `run` from the sweep to the tables, and everything that reads results afterwards.

use serde_json::Value;

use crate::sandbox::{Sandbox, tic_tac_toe, wait_until};

#[test]
fn a_sweep_becomes_tables() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 20));
    let ran = sandbox.run(&["run", "sweep.toml"]);
    ran.expect_exit(0);
    assert!(ran.stdout().contains("Who is stronger"), "{}", ran.stdout());
    assert!(ran.stdout().contains("What a move costs"), "{}", ran.stdout());
    assert!(ran.stderr().contains("40 of 40 games settled"), "{}", ran.stderr());
    let report = sandbox.run(&["report", "--db", "small.db"]);
    report.expect_exit(0);
    assert_eq!(report.stdout(), ran.stdout());

    let again = sandbox.run(&["run", "sweep.toml"]);
    again.expect_exit(0);
    assert!(again.stderr().contains("small is finished already"), "{}", again.stderr());
    assert_eq!(again.stdout(), ran.stdout(), "a finished sweep is shown, not played again");

    let statement =
        "SELECT count(*) FROM workers WHERE logical_cores > 0 AND operating_system <> ''
        AND build_profile IN ('debug', 'release')
        AND (build_commit = '' OR length(build_commit) IN (40, 64))";
    assert_eq!(
        sandbox.sql("small.db", statement),
        sandbox.sql("small.db", "SELECT count(*) FROM workers")
    );
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let named = "SELECT DISTINCT cpu_model <> '' FROM workers";
        assert_eq!(sandbox.sql("small.db", named), "1");
    }
}

#[test]
fn values_are_set_on_the_command_line() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 50));
    let set = ["--set", "depth=2..4", "--set", "players.alphabeta.shuffle=false", "--quick"];
    let ran = sandbox.run(&[&["run", "sweep.toml"][..], &set].concat());
    ran.expect_exit(0);
    let said = "quick: 6 games instead of 50 in each cell";
    assert!(ran.stderr().contains(said), "{}", ran.stderr());
    assert_eq!(sandbox.sql("small.db", "SELECT count(*) FROM games"), "18");
    let depths = "SELECT group_concat(CAST(depth AS INTEGER), ' ') FROM results_small";
    assert_eq!(sandbox.sql("small.db", depths), "2 3 4");
    // What is stored is what was played.
    let stored = "SELECT sweep_toml FROM experiments";
    let text = sandbox.run(&["sql", "--db", "small.db", "--csv", stored]).stdout().to_owned();
    for line in ["games = 6", "shuffle = false", "depth = { from = 2, to = 4, step = 1 }"] {
        assert!(text.contains(line), "{text}");
    }

    let submit = sandbox.run(&["submit", "sweep.toml", "--dry-run", "--json", "--set", "depth=1"]);
    submit.expect_exit(0);
    let estimate: Value = serde_json::from_str(submit.stdout()).unwrap();
    assert_eq!((&estimate["cells"], &estimate["games"]), (&1.into(), &50.into()));
}

#[test]
fn openings_may_be_in_a_file_beside_the_sweep() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("sweeps")).unwrap();
    let openings = "openings = { kind = \"listed\", file = \"book.txt\" }\ngames =";
    let sweep = tic_tac_toe("listed", 6).replace("games =", openings);
    sandbox.write("sweeps/listed.toml", &sweep);
    sandbox.write("sweeps/book.txt", "# Corner, centre, edge\nx........\n....x....\n.x.......\n");
    sandbox.run(&["run", "sweeps/listed.toml"]).expect_exit(0);
    let positions = "SELECT group_concat(position, ' ') FROM (SELECT DISTINCT position
        FROM openings JOIN games USING (opening_id) ORDER BY number)";
    assert_eq!(sandbox.sql("listed.db", positions), "x........ ....x.... .x.......");
    let kept = "SELECT name || ': ' || length(text) FROM experiment_files";
    assert_eq!(sandbox.sql("listed.db", kept), "book.txt: 53");
}

#[test]
fn the_report_in_json_agrees_with_sql() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 20));
    sandbox.run(&["run", "sweep.toml", "--db", "results.db"]).expect_exit(0);
    let report = sandbox.run(&["report", "small", "--db", "results.db", "--json"]);
    let report: Value = serde_json::from_str(report.stdout()).unwrap();
    assert_eq!(report["axes"], serde_json::json!(["depth"]));
    assert_eq!(report["state"], "finished");
    let cells = report["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for (cell, depth) in cells.iter().zip(["1", "2"]) {
        assert_eq!(cell["axes"], serde_json::json!([depth]));
        assert_eq!(cell["games"], 20);
        let statement = format!(
            "SELECT sum((outcome = 'win') = (number % 2 = 0) AND outcome <> 'draw') FROM games
             WHERE cell_id = {}",
            cell["cell_id"]
        );
        assert_eq!(sandbox.sql("results.db", &statement), cell["wins"].to_string());
        let all = ["wins", "draws", "losses"].map(|key| cell[key].as_u64().unwrap());
        assert_eq!(all.iter().sum::<u64>(), 20);
        let score = cell["score"].as_f64().unwrap();
        assert!((score - (all[0] as f64 + all[1] as f64 / 2.0) / 20.0).abs() < 1e-9);
        let pairs = cell["pairs"].as_array().unwrap();
        assert_eq!(pairs.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 10);
    }
    for cost in report["moves"].as_array().unwrap() {
        let statement = format!(
            "SELECT count(*) FROM moves JOIN games USING (game_id)
             JOIN cells USING (cell_id)
             WHERE cell_id = {} AND ended_by <> 'only_move' AND player_id =
                 CASE '{}' WHEN first_player_name THEN cells.first_player_id
                 ELSE cells.second_player_id END",
            cost["cell_id"],
            cost["player"].as_str().unwrap()
        );
        assert_eq!(sandbox.sql("results.db", &statement), cost["searched_moves"].to_string());
    }
}

#[test]
fn sql_prints_tables_json_and_csv() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let statement = "SELECT axis AS b, value_text AS a, NULL AS none FROM cell_axes ORDER BY a";
    let sql = |format: &[&str]| {
        let ran = sandbox.run(&[&["sql", "--db", "small.db", statement], format].concat());
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    insta::assert_snapshot!(sql(&[]));
    insta::assert_snapshot!(sql(&["--json"]));
    assert_eq!(sql(&["--csv"]), "b,a,none\r\ndepth,1,\r\ndepth,2,\r\n");
    assert_eq!(sql(&["--format", "csv"]), sql(&["--csv"]));
    assert_eq!(sql(&["--format", "json"]), sql(&["--json"]));
    let lines = "{\"b\":\"depth\",\"a\":\"1\",\"none\":null}\n{\"b\":\"depth\",\"a\":\"2\",\"none\":null}\n";
    assert_eq!(sql(&["--jsonl"]), lines);
    // A file is there when all of it is, and not before.
    assert_eq!(sql(&["--jsonl", "--output", "rows.jsonl"]), "");
    assert_eq!(std::fs::read_to_string(sandbox.path("rows.jsonl")).unwrap(), lines);
    let failing = "SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)";
    sandbox.run(&["sql", "--db", "small.db", failing, "--output", "rows.jsonl"]).expect_exit(3);
    assert_eq!(std::fs::read_to_string(sandbox.path("rows.jsonl")).unwrap(), lines);
    assert!(!sandbox.path("rows.jsonl.partial").exists());
    let few = sandbox.run(&["sql", "--db", "small.db", "--csv", statement, "--rows-max", "1"]);
    assert_eq!(few.expect_exit(0).stdout(), "b,a,none\r\ndepth,1,\r\n");
    assert_eq!(few.stderr(), "note: there are more rows than these; raise --rows-max\n");
}

#[test]
fn sql_writes_parquet_if_it_was_built_to() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let statement = "SELECT * FROM results_small";
    let format = ["--format", "parquet", "--output", "results.parquet"];
    let ran = sandbox.run(&[&["sql", "--db", "small.db", statement], &format[..]].concat());
    if cfg!(feature = "parquet") {
        ran.expect_exit(0);
        let file = std::fs::read(sandbox.path("results.parquet")).unwrap();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    } else {
        ran.expect_exit(2);
        assert!(ran.stderr().contains("this spelrum was built without it"), "{}", ran.stderr());
        assert!(!sandbox.path("results.parquet").exists());
    }
}

/// Rows come as they are found, from either door, and a statement ends with who asked it.
#[test]
fn rows_without_end_end_with_their_reader() {
    use std::io::{BufRead as _, BufReader};
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let ask = |door: [&str; 2]| {
        let mut child = sandbox
            .spelrum(&[&["sql", "--csv", endless], &door[..]].concat())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = lines.take(20_000).last();
        let ended = child.wait().unwrap();
        last.is_some_and(|last| last.unwrap() == "19999" && ended.code() == Some(0))
    };
    // More often than there are places; a coordinator hears in its own time that one is free.
    for _ in 0..6 {
        assert!(ask(["--db", "c.db"]));
        wait_until("a query has a place", || ask(["--coordinator", &coordinator.url]));
    }
    assert_eq!(sandbox.sql("c.db", "SELECT 1"), "1");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
                SELECT i FROM n";
    let mut child = sandbox
        .spelrum(&["sql", "--db", "small.db", "--csv", many])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn two_experiments_share_a_database() {
    let sandbox = Sandbox::new();
    for name in ["one", "two"] {
        let file = format!("{name}.toml");
        sandbox.write(&file, &tic_tac_toe(name, 4));
        sandbox.run(&["run", &file, "--db", "both.db"]).expect_exit(0);
    }
    let list = sandbox.run(&["list", "--db", "both.db"]);
    let ages = [(r" +\S+ \S+ ago", "  [AGE]"), (" +submitted", "  submitted"), ("─+", "─")];
    insta::with_settings!({ filters => ages }, {
        insta::assert_snapshot!(list.stdout());
    });
    let report = sandbox.run(&["report", "--db", "both.db"]);
    report.expect_exit(3);
    assert!(report.stderr().contains("name one of: one, two"), "{}", report.stderr());
    sandbox.run(&["report", "two", "--db", "both.db"]).expect_exit(0);
}

#[test]
fn a_dry_run_says_what_would_be_played_and_plays_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 1_000));
    let ran = sandbox.run(&["submit", "sweep.toml", "--dry-run"]);
    ran.expect_exit(0);
    assert!(ran.stdout().contains("games     2,000"), "{}", ran.stdout());
    let ran = sandbox.run(&["submit", "sweep.toml", "--dry-run", "--json"]);
    let estimate: Value = serde_json::from_str(ran.stdout()).unwrap();
    assert_eq!(estimate["cells"], 2);
    assert_eq!(estimate["games"], 2_000);
    assert!(estimate["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(estimate["stop_rule"], Value::Null);
    assert_eq!(std::fs::read_dir(sandbox.path("")).unwrap().count(), 1);
}

#[test]
fn a_dry_run_describes_the_stop_rule() {
    let sandbox = Sandbox::new();
    for (rule, words, key) in [
        (
            "sprt = { elo0 = 0, elo1 = 20 }",
            "stop rule SPRT of elo0 = 0 against elo1 = 20 (normalized Elo), alpha 0.05, beta 0.05",
            "sprt 0 to 20 Elo, normalized, alpha 0.05, beta 0.05",
        ),
        (
            "precision = 0.04",
            "stop rule precision: the 95% interval of the score is ± 0.04 or narrower",
            "precision 0.04",
        ),
    ] {
        sandbox.write("sweep.toml", &format!("stop = {{ {rule} }}\n{}", tic_tac_toe("small", 100)));
        for command in ["run", "submit"] {
            let ran = sandbox.run(&[command, "sweep.toml", "--dry-run"]);
            let text = ran.expect_exit(0).stdout();
            for expected in
                ["  cells     2\n", "  games     at most 200\n", "  time      at most ", words]
            {
                assert!(text.contains(expected), "{expected}: {text}");
            }
            let ran = sandbox.run(&[command, "sweep.toml", "--dry-run", "--json"]);
            let estimate: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
            assert_eq!(estimate["stop_rule"], key);
        }
    }
    let run = sandbox.run(&["run", "sweep.toml"]);
    let errors = run.expect_exit(0).stderr();
    assert!(
        errors.contains("playing small: at most 200 games in 2 cells, into small.db"),
        "{errors}"
    );
}

#[test]
fn the_estimate_of_the_database_is_of_the_right_size() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 2_000));
    let ran = sandbox.run(&["submit", "sweep.toml", "--dry-run", "--json"]);
    let estimate: Value = serde_json::from_str(ran.stdout()).unwrap();
    let estimated = estimate["bytes"].as_u64().unwrap();
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let bytes = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
    let real: u64 = sandbox.sql("small.db", bytes).parse().unwrap();
    assert!((real / 2..=real * 2).contains(&estimated), "{estimated} for {real}");
}
