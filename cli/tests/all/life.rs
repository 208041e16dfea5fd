//! The life of an experiment: each of the study's further sweeps is grown, paused, killed, moved,
//! resumed and pruned, and has exactly its games in the end.

use crate::sandbox::{Sandbox, root, wait_until};

/// Workers say that they live this often, so that the games of a killed one come back soon.
const HEARTBEAT: &str = "200ms";

/// A sweep of the project, made small: values that make it quick, and a larger grid to grow to.
fn live(name: &str, small: &[&str], grown: &[&str], cells: [u64; 2], games: u64) {
    let sandbox = Sandbox::new();
    let file = root().join(format!("sweeps/{name}.toml"));
    let file = file.to_str().unwrap();
    let with = |settings: &[&str], games: &str| -> Vec<String> {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let all = [file].into_iter().chain(settings).chain(["--set", games]);
        all.map(ToOwned::to_owned).collect()
    };
    let run = |arguments: &[&str], more: &[String]| {
        let more = more.iter().map(String::as_str);
        let all: Vec<&str> = arguments.iter().copied().chain(more).collect();
        let ran = sandbox.run(&all);
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    let count = |db: &str, sql: &str| -> u64 { sandbox.sql(db, sql).parse().unwrap() };

    // Played, grown, and paused before the rest is played.
    let mut coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", HEARTBEAT);
    let url = coordinator.url.clone();
    run(&["submit", "--coordinator", &url], &with(small, "games=2"));
    let mut worker = sandbox.worker(&url, "2", &["--exit-when-done"]);
    assert_eq!(worker.wait().code(), Some(0));
    let said = run(&["submit", "--coordinator", &url], &with(grown, "games=4"));
    assert!(said.contains("kept"), "{said}");
    assert_eq!(said.contains("added"), cells[0] < cells[1], "{said}");
    run(&["pause", name, "--coordinator", &url], &[]);
    // The coordinator is killed, and the file is moved.
    coordinator.process.kill();
    for suffix in ["", "-wal"] {
        let from = sandbox.path(&format!("a.db{suffix}"));
        if from.exists() {
            std::fs::rename(from, sandbox.path(&format!("b.db{suffix}"))).unwrap();
        }
    }
    let coordinator = sandbox.coordinator_with("b.db", "127.0.0.1:0", HEARTBEAT);
    let url = coordinator.url.clone();
    let state = "SELECT state FROM experiments";
    assert_eq!(sandbox.sql("b.db", state), "paused");
    run(&["resume", name, "--coordinator", &url], &[]);
    // A worker is killed, too.
    let before = count("b.db", "SELECT count(*) FROM games");
    let mut killed = sandbox.worker(&url, "2", &[]);
    wait_until("one more game is settled", || {
        count("b.db", "SELECT count(*) FROM games") != before
    });
    killed.kill();
    let mut last = sandbox.worker(&url, "2", &["--exit-when-done"]);
    assert_eq!(last.wait().code(), Some(0));
    wait_until("the experiment is finished", || sandbox.sql("b.db", state) == "finished");
    drop(coordinator);

    // Exactly the games that the grown sweep asks for, each once.
    let wrong = "SELECT count(*) FROM cells AS c WHERE in_sweep = 1 AND (
        (SELECT count(*) FROM games AS g WHERE g.cell_id = c.cell_id AND counted = 1)
            <> games_planned
        OR (SELECT max(number) FROM games AS g WHERE g.cell_id = c.cell_id) <> games_planned - 1)";
    assert_eq!(count("b.db", wrong), 0);
    assert_eq!(count("b.db", "SELECT count(*) FROM games"), games);
    assert_eq!(count("b.db", "SELECT count(*) FROM cells WHERE in_sweep = 1"), cells[1]);
    let before_that = "SELECT cells_added FROM sweep_versions WHERE version = 1";
    assert_eq!(count("b.db", before_that), cells[0]);
    let others = "SELECT count(*) FROM uncounted_games WHERE reason <> 'repeat'";
    assert_eq!(count("b.db", others), 0);

    // Without its moves it reports the same.
    let report = run(&["report", "--db", "b.db"], &[]);
    run(&["prune", name, "--db", "b.db", "--yes"], &[]);
    assert_eq!(count("b.db", "SELECT count(*) FROM moves"), 0);
    assert_eq!(count("b.db", "SELECT count(*) FROM games"), games);
    assert_eq!(run(&["report", "--db", "b.db"], &[]), report);
}

#[test]
fn of_the_ladder() {
    let quick = "players.alphabeta.nodes=200";
    let small = ["players.alphabeta.vary.depth=3,4", quick];
    let grown = ["players.alphabeta.vary.depth=2,3,4", quick];
    // The file's overrides give some cells other numbers of games than the four.
    live("pentago-ladder", &small, &grown, [5, 9], 6 * 4 + 20 + 2 * 10);
}

#[test]
fn of_the_time_odds() {
    let depths = "gm_depth=2,3";
    let small = [r#"budget=[{ab="1ms",gm="2ms"}]"#, depths];
    let grown = [r#"budget=[{ab="1ms",gm="2ms"},{ab="2ms",gm="4ms"}]"#, depths];
    live("pentago-time-odds", &small, &grown, [2, 4], 16);
}

#[test]
fn of_the_tuning() {
    let quick = ["players.hero.move_time=1ms", "sample.points=6"];
    live("genetic-tuning", &quick, &quick, [6, 6], 24);
}
