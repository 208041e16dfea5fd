//! Sweeps that breed formulas: what they print, through kills, on four processes, and when they move to another
//! database.

use crate::courses::assert_moves;
use crate::sandbox::Sandbox;
use crate::watch::Watcher;

/// Two runs of which no clock decides anything.
fn sweep(generations: u64, games: u32) -> String {
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

/// In a module of this name, for those who only look at kills.
mod kill {
    use super::sweep;
    use crate::chaos::kills;
    use crate::courses::assert_same_through_kills;
    use crate::sandbox::Sandbox;

    #[test]
    fn what_is_bred_is_the_same_on_one_process_and_on_four_that_are_killed() {
        let sandbox = Sandbox::new();
        let generations = 4 + 2 * kills();
        sandbox.write("sweep.toml", &sweep(generations, 20));
        assert_same_through_kills(&sandbox, 2 * (8 + (generations - 1) * 6) * 20, kills());
    }
}

/// Every generation once, instead of its individuals; to programs both.
#[test]
fn whoever_watches_sees_generations() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(4, 10));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let mut by_url = Watcher::start(&sandbox, &["--coordinator", url]);
    let mut by_file = Watcher::start(&sandbox, &["bred", "--db", "c.db", "--json"]);
    by_url.line();
    by_file.line();
    let mut worker = sandbox.worker(url, "2", &["--exit-when-done"]);
    let ((lines, code), (objects, code_by_file)) = (by_url.end(), by_file.end());
    assert_eq!((code, code_by_file), (Some(0), Some(0)));
    worker.wait();

    let generations =
        "SELECT printf('run %d  generation %d  best %.3f  mean %.3f  least %.3f  %d formulas',
        run, generation, best, mean, least, distinct_forms) AS line FROM generations";
    let generations = sandbox.run(&["sql", "--db", "c.db", "--csv", generations]);
    let mut expected: Vec<&str> = generations.stdout().lines().skip(1).collect();
    expected.extend(["run 0  is done", "run 1  is done"]);
    expected.sort_unstable();
    let (end, lines) = lines.split_last().unwrap();
    // SQL rounds otherwise.
    let mut lines: Vec<&str> =
        lines.iter().map(|line| line.split(" of ").next().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, expected);
    assert_eq!(end, "bred is finished: 520 of 520 games settled in 52 cells");

    let objects: Vec<serde_json::Value> =
        objects.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count_of = |event: &str| objects.iter().filter(|object| object["event"] == event).count();
    assert_eq!((count_of("run"), count_of("cell")), (10, 52));
    let best = objects.iter().filter(|object| object["event"] == "run" && object["best"].is_f64());
    assert_eq!(
        best.filter(|object| object["kind"] == "evolve" && object["experiment"] == "bred").count(),
        8
    );
}

#[test]
fn what_was_bred_moves_to_another_database() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(3, 4));
    sandbox.run(&["run", "sweep.toml", "--db", "results.db"]).expect_exit(0);
    assert_moves(&sandbox, "bred");
}
