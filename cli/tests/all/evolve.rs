//! Sweeps that breed formulas: what they print, through kills, on four processes, and when they move to another
//! database.

use crate::sandbox::{Sandbox, Watched, wait_until};

/// Two runs of which no clock decides anything.
fn sweep(generations: u32, games: u32) -> String {
    format!(
        "name = \"bred\"
game = \"tic-tac-toe\"
seed = 7
games = {games}
record = \"games\"
pairing = {{ gauntlet = \"evolved\" }}

[players.evolved]
algorithm = \"alpha-beta\"
depth = 1
ties = \"random\"
evaluation = \"expression\"

[players.random]
algorithm = \"random\"

[evolve]
player = \"evolved\"
runs = 2
population = 8
generations = {generations}
elite = 2
mutation_rate = 0.3
depth = 3
constants = [10]
"
    )
}

/// Every individual with what came of it, and every counted game.
fn course(sandbox: &Sandbox, db: &str) -> String {
    let statement = "
        SELECT 'note', run, kind, step, trial, note, '' FROM course_notes
        UNION ALL
        SELECT 'game', c.number, c.asked_after, g.number, g.outcome, c.definition_hash, g.moves_hash
            FROM games AS g JOIN cells AS c USING (cell_id) WHERE g.counted = 1
        ORDER BY 1, 2, 3, 4, 5";
    let ran = sandbox.run(&["sql", "--db", db, "--csv", statement]);
    ran.expect_exit(0);
    ran.stdout().to_owned()
}

#[test]
fn a_run_prints_what_it_bred() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(5, 10));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "results.db"]);
    ran.expect_exit(0);
    insta::assert_snapshot!(ran.stdout());
    let said = ran.stderr();
    // Eight at first, and then six children in each generation.
    assert!(said.contains("2 runs of `evolve`, 640 games at most, into results.db"), "{said}");

    // The same for programs.
    let table = |name: &str, format: &str| {
        let report = ["report", "--db", "results.db", "--table", name, "--format", format];
        let ran = sandbox.run(&report);
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    insta::assert_snapshot!(table("evolution", "csv"));
    insta::assert_snapshot!(table("family", "text"));
    assert!(table("family", "csv").starts_with("experiment,run,generation,individual,operator,"));
    let json = sandbox.run(&["report", "--db", "results.db", "--json"]);
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["runs"][1]["kind"], "evolve");
    assert_eq!(json["runs"][1]["parameter"], "formula");
    assert_eq!(json["generations"].as_array().unwrap().len(), 10);
    assert_eq!(json["families"][0]["generation"], 4);
    let page = sandbox.run(&["report", "--db", "results.db", "--format", "html"]);
    page.expect_exit(0);
    assert!(page.stdout().contains("Fitness by generation"));
    assert!(page.stdout().contains("<svg"));

    // The views have what the notes say.
    let individuals =
        "SELECT count(*), count(DISTINCT run), sum(kept), sum(games) FROM individuals";
    assert_eq!(sandbox.sql("results.db", individuals), "80,2,16,800");
    let cells = "SELECT count(*), max(generation) FROM individual_cells";
    assert_eq!(sandbox.sql("results.db", cells), "64,4");
    let best = "SELECT count(*) FROM generations AS g JOIN individuals AS i USING (experiment_id, run, generation)
        WHERE i.rank = 0 AND i.individual = g.best_individual AND i.fitness = g.best AND g.best >= g.mean";
    assert_eq!(sandbox.sql("results.db", best), "10");
}

#[test]
fn what_is_bred_is_the_same_on_one_process_and_on_four_that_are_killed() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(6, 20));
    sandbox.run(&["run", "sweep.toml", "--db", "one.db", "--slots", "1"]).expect_exit(0);
    sandbox.run(&["check", "--db", "one.db"]).expect_exit(0);
    let expected = course(&sandbox, "one.db");
    assert_eq!(sandbox.settled("one.db"), 2 * (8 + 5 * 6) * 20);

    let mut run =
        Watched::start(&sandbox, &["run", "sweep.toml", "--db", "run.db", "--slots", "2"]);
    run.read_until("into run.db");
    wait_until("games are settled", || sandbox.settled("run.db") >= 200);
    run.process.kill();
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "run.db"), expected);

    let mut coordinator = sandbox.coordinator_with("four.db", "127.0.0.1:0", "500ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut workers = [(); 3].map(|()| sandbox.worker(&url, "1", &[]));
    wait_until("games are settled", || sandbox.settled("four.db") >= 200);
    coordinator.process.kill();
    workers[0].kill();
    coordinator = sandbox.coordinator_with("four.db", &address, "500ms");
    sandbox.wait_until_finished(&coordinator);
    sandbox.run(&["check", "--db", "four.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "four.db"), expected);

    // A coordinator tells the same report as the file.
    let report = |of: [&str; 2]| sandbox.run(&["report", of[0], of[1]]).stdout().to_owned();
    assert_eq!(report(["--coordinator", &coordinator.url]), report(["--db", "one.db"]));
}

#[test]
fn what_was_bred_moves_to_another_database() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(3, 4));
    sandbox.run(&["run", "sweep.toml", "--db", "results.db"]).expect_exit(0);
    sandbox.run(&["export", "bred", "--output", "part.db", "--db", "results.db"]).expect_exit(0);
    sandbox.run(&["import", "part.db", "--db", "new.db"]).expect_exit(0);
    assert_eq!(course(&sandbox, "new.db"), course(&sandbox, "results.db"));
    let report = |db| sandbox.run(&["report", "--db", db]).stdout().to_owned();
    assert_eq!(report("new.db"), report("results.db"));
}
