//! A stop rule ends cells where a recount says it must, on one process and on four, whatever is killed.

use crate::sandbox::{Sandbox, Watched, tic_tac_toe, wait_until};

/// Games that are surely played between two kills.
const GAMES_BETWEEN: u64 = 100;

fn sweep(rule: &str) -> String {
    format!("stop = {{ {rule} }}\n{}", tic_tac_toe("sweep", 20_000))
}

/// What counts, row for row, and where the cells end.
fn counted(sandbox: &Sandbox, db: &str) -> String {
    let statement = "
        SELECT c.definition_hash, c.stop_number, c.decided_number, g.number, o.position, g.outcome,
            g.termination, g.plies, g.moves_hash,
            (SELECT group_concat(m.move || '/' || m.nodes || '/' || coalesce(m.score, '-'), ' ')
                FROM moves AS m WHERE m.game_id = g.game_id) AS moves
        FROM games AS g
        JOIN cells AS c ON c.cell_id = g.cell_id
        JOIN openings AS o ON o.opening_id = g.opening_id
        WHERE g.counted = 1 ORDER BY c.definition_hash, g.number";
    let ran = sandbox.run(&["sql", "--db", db, "--csv", statement]);
    ran.expect_exit(0);
    ran.stdout().to_owned()
}

fn assert_stopped(sandbox: &Sandbox, db: &str) {
    sandbox.run(&["check", "--db", db]).expect_exit(0);
    let open = "SELECT count(*) FROM cells WHERE stop_number IS NULL OR stop_number <>
                (SELECT count(*) FROM games WHERE games.cell_id = cells.cell_id AND counted = 1)";
    assert_eq!(sandbox.sql(db, open), "0");
}

/// Plays on one process, in a run that is killed, and by a coordinator with three workers, of which it and one
/// are killed: the same games count, and the cells end where a recount says.
fn assert_same_everywhere(sandbox: &Sandbox, rule: &str) {
    sandbox.write("sweep.toml", &sweep(rule));
    sandbox.run(&["run", "sweep.toml", "--db", "one.db", "--slots", "1"]).expect_exit(0);
    assert_stopped(sandbox, "one.db");
    let games: u64 = sandbox.sql("one.db", "SELECT sum(stop_number) FROM cells").parse().unwrap();
    assert!(games > 2 * GAMES_BETWEEN, "the last kill comes in mid-sweep: {games} games");

    let mut run = Watched::start(sandbox, &["run", "sweep.toml", "--db", "run.db", "--slots", "2"]);
    run.read_until("games in 2 cells, into run.db");
    wait_until("games are settled", || sandbox.settled("run.db") >= GAMES_BETWEEN);
    run.process.kill();
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    assert_stopped(sandbox, "run.db");
    assert_eq!(counted(sandbox, "run.db"), counted(sandbox, "one.db"));

    let mut coordinator = sandbox.coordinator_with("four.db", "127.0.0.1:0", "200ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut workers = [(); 3].map(|()| sandbox.worker(&url, "2", &[]));
    wait_until("games are settled", || sandbox.settled("four.db") >= GAMES_BETWEEN);
    coordinator.process.kill();
    workers[0].kill();
    coordinator = sandbox.coordinator_with("four.db", &address, "200ms");
    sandbox.wait_until_finished(&coordinator);
    assert_stopped(sandbox, "four.db");
    assert_eq!(counted(sandbox, "four.db"), counted(sandbox, "one.db"));
}

#[test]
fn a_sequential_test_ends_the_same_on_one_process_and_on_four_that_are_killed() {
    let sandbox = Sandbox::new();
    assert_same_everywhere(&sandbox, "sprt = { elo0 = 0, elo1 = 3 }");
    let report = sandbox.run(&["report", "--db", "four.db", "--json"]);
    let report: serde_json::Value = serde_json::from_str(report.stdout()).unwrap();
    for cell in report["cells"].as_array().unwrap() {
        let sprt = &cell["sprt"];
        let [llr, lower, upper] = ["llr", "lower", "upper"].map(|key| sprt[key].as_f64().unwrap());
        let taken = if llr >= upper { "elo1" } else { "elo0" };
        assert!(llr >= upper || llr <= lower, "{cell}");
        assert_eq!(sprt["verdict"], taken, "{cell}");
        assert_eq!(cell["stop_rule"], "sprt 0 to 3 Elo, normalized, alpha 0.05, beta 0.05");
        assert_eq!(cell["games"], cell["stopped_after"], "{cell}");
    }
}

#[test]
fn the_status_says_where_rules_stand() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep("precision = 0.03"));
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    let ended = sandbox.sql("run.db", "SELECT count(stop_number) FROM cells");
    let cells = sandbox.sql("run.db", "SELECT count(*) FROM cells");
    let coordinator = sandbox.coordinator("run.db", "127.0.0.1:0");
    for door in [["--db", "run.db"], ["--coordinator", &coordinator.url]] {
        let said = sandbox.run(&["status", door[0], door[1]]);
        let line = format!("precision 0.03; it has ended {ended} of {cells} cells");
        assert!(said.expect_exit(0).stdout().contains(&line), "{}", said.stdout());
        let json = sandbox.run(&["status", door[0], door[1], "--json"]);
        let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
        let stops = &json["stops"][0];
        assert_eq!(stops["experiment"], json["experiments"][0]["name"]);
        assert_eq!(stops["rule"], "precision 0.03");
        assert_eq!(
            [&stops["cells_ended"], &stops["cells"]].map(ToString::to_string),
            [&*ended, &*cells]
        );
    }
}

#[test]
fn a_precision_stop_is_the_same_on_one_process_and_on_four_that_are_killed() {
    let sandbox = Sandbox::new();
    assert_same_everywhere(&sandbox, "precision = 0.03");

    // Other rules, over the same games.
    for rule in ["precision = 0.025", "sprt = { elo0 = 0, elo1 = 2 }"] {
        sandbox.write("sweep.toml", &sweep(rule));
        sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
        sandbox.run(&["run", "sweep.toml", "--db", "anew.db"]).expect_exit(0);
        assert_stopped(&sandbox, "run.db");
        assert_eq!(counted(&sandbox, "run.db"), counted(&sandbox, "anew.db"));
    }
    sandbox.write("sweep.toml", &sweep("precision = 0.03"));
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    assert_stopped(&sandbox, "run.db");
    assert_eq!(counted(&sandbox, "run.db"), counted(&sandbox, "one.db"));
}
