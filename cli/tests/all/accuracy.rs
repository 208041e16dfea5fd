//! Accuracy experiments as people run them: what is printed, through both doors, and that kills change nothing.

use serde_json::Value;

use crate::sandbox::{Sandbox, Watched, wait_until};

const TIC_TAC_TOE: &str = "name = \"choices\"
kind = \"accuracy\"
game = \"tic-tac-toe\"
seed = 5
positions = { kind = \"random\", plies = [2, 4] }
choices = 24

[reference]
algorithm = \"exact\"

[axes]
depth = [1, 2]

[players.minimax]
algorithm = \"minimax\"
depth = \"$depth\"

[players.random]
algorithm = \"random\"
";

/// Pentago late in the game: each position takes the solver some milliseconds.
const PENTAGO: &str = "name = \"late\"
kind = \"accuracy\"
game = \"pentago\"
positions = { kind = \"random\", plies = [26, 30] }
choices = 120

[reference]
algorithm = \"exact\"

[players.alphabeta]
algorithm = \"alpha-beta\"
evaluation = \"runs\"
vary = { depth = [1, 2] }

[players.random]
algorithm = \"random\"
";

#[test]
fn how_well_players_choose_is_told_through_both_doors() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", TIC_TAC_TOE);
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "c.db"]);
    ran.expect_exit(0);
    assert!(ran.stdout().contains("How well each player chooses"), "{}", ran.stdout());
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let through_both = |arguments: &[&str]| {
        let from_file = sandbox.run(&[&["report", "--db", "c.db"], arguments].concat());
        from_file.expect_exit(0);
        let url = ["report", "--coordinator", &coordinator.url];
        let from_coordinator = sandbox.run(&[&url, arguments].concat());
        from_coordinator.expect_exit(0);
        assert_eq!(from_coordinator.stdout(), from_file.stdout());
        from_file.stdout().to_owned()
    };
    let tables = ["accuracy", "wins", "plies"].map(|name| through_both(&["--table", name]));
    let text = tables.concat();
    insta::assert_snapshot!("accuracy", text);
    insta::assert_snapshot!("accuracy_csv", through_both(&["--format", "csv"]));
    let page = through_both(&["--format", "html"]);
    for title in
        ["Best moves by depth", "Wins kept by depth", "Best moves by plies before the position"]
    {
        assert!(page.contains(title), "{title}");
    }
    assert!(!page.contains("Who is stronger"), "nobody is");
    let json: Value = serde_json::from_str(&through_both(&["--json"])).unwrap();
    let accuracy = json["accuracy"].as_array().unwrap();
    // Three cells, each over all positions and by plies.
    assert_eq!(accuracy.len(), 9);
    for skill in ["best_skill", "keeps_win_skill"] {
        let statement =
            format!("SELECT group_concat(printf('%.9f', {skill}), ' ') FROM results_choices");
        let by_view = sandbox.sql("c.db", &statement);
        for row in accuracy.iter().filter(|row| row["plies"].is_null()) {
            let skill = format!("{:.9}", row[skill].as_f64().unwrap());
            assert!(by_view.contains(&skill), "{skill} in {by_view}");
            assert_eq!(row["reference"], "exact");
        }
    }
}

/// Scores of minimax do not say who wins.
#[test]
fn wins_kept_are_told_only_where_the_reference_knows() {
    let sandbox = Sandbox::new();
    let by_scores = "algorithm = \"minimax\"\ndepth = 2";
    sandbox.write("sweep.toml", &TIC_TAC_TOE.replace("algorithm = \"exact\"", by_scores));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "c.db"]);
    ran.expect_exit(0);
    assert!(!ran.stdout().contains("keeps a win"), "{}", ran.stdout());
    assert!(ran.stdout().contains("in the reference's unit"), "{}", ran.stdout());
    let wins = sandbox.run(&["report", "--db", "c.db", "--table", "wins"]);
    assert!(wins.stdout().contains("there is nothing to show"), "{}", wins.stdout());
    let json = sandbox.run(&["report", "--db", "c.db", "--json"]);
    let json: Value = serde_json::from_str(json.stdout()).unwrap();
    for row in json["accuracy"].as_array().unwrap() {
        assert!(row["winnable"].is_null() && row["keeps_win"].is_null(), "{row}");
    }
    let statement = "SELECT count(winnable) + count(keeps_win) FROM accuracy";
    assert_eq!(sandbox.sql("c.db", statement), "0");
}

/// By a table losses are in plies.
#[test]
fn choices_in_an_ending_lose_plies_and_wins() {
    let sandbox = Sandbox::new();
    let sweep = TIC_TAC_TOE
        .replace("tic-tac-toe", "chess")
        .replace("{ kind = \"random\", plies = [2, 4] }", "{ kind = \"ending\", ending = \"KRK\" }")
        .replace("exact", "table");
    sandbox.write("sweep.toml", &sweep);
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    let tables = ["accuracy", "wins"].map(|name| {
        let report = sandbox.run(&["report", "--db", "c.db", "--table", name]);
        report.expect_exit(0);
        report.stdout().to_owned()
    });
    insta::assert_snapshot!("ending", tables.concat());
}

#[test]
fn what_is_of_games_is_refused_of_choices() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", TIC_TAC_TOE);
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    for asked in ["--ratings", "--compare", "--table=colours", "--table=cells"] {
        let ran = sandbox.run(&["report", "--db", "c.db", asked]);
        assert!(ran.failure().contains("it is of kind accuracy"), "{asked}: {}", ran.failure());
    }
    let pruned = sandbox.run(&["prune", "choices", "--db", "c.db", "--yes"]);
    assert!(pruned.failure().contains("its moves are its results"), "{}", pruned.failure());
    sandbox.run(&["check", "--db", "c.db"]).expect_exit(0);
    sandbox.run(&["delete", "choices", "--db", "c.db", "--yes"]).expect_exit(0);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM choices"), "0");
}

/// A choice is replayed like any game, and another sweep of the name continues it.
#[test]
fn choices_are_replayed_and_continued() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &TIC_TAC_TOE.replace("choices = 24", "choices = 16"));
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM valued_positions"), "16");
    sandbox.run(&["replay", "1", "--db", "c.db"]).expect_exit(0);
    sandbox.write("sweep.toml", TIC_TAC_TOE);
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM games"), "72");
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM valued_positions"), "24");
    // Nothing is left to value, nor to choose.
    let dry = sandbox.run(&["run", "sweep.toml", "--db", "c.db", "--dry-run"]);
    dry.expect_exit(0);
    sandbox.write("games.toml", &crate::sandbox::tic_tac_toe("choices", 4));
    let ran = sandbox.run(&["run", "games.toml", "--db", "c.db"]);
    assert!(ran.failure().contains("--new"), "{}", ran.failure());
}

/// What was chosen, row for row, with what each move of its position is worth.
fn chosen(sandbox: &Sandbox, db: &str) -> String {
    let statement = "
        SELECT c.definition_hash, h.number, h.position, h.plies, h.move, h.value, h.rank, h.nodes,
            (SELECT group_concat(v.move || '/' || v.value, ' ' ORDER BY v.number)
                FROM move_values AS v WHERE v.valued_position_id = h.valued_position_id) AS move_values
        FROM choices AS h JOIN cells AS c ON c.cell_id = h.cell_id
        ORDER BY c.definition_hash, h.number";
    let ran = sandbox.run(&["sql", "--db", db, "--csv", statement]);
    ran.expect_exit(0);
    ran.stdout().to_owned()
}

#[test]
fn the_same_choices_on_one_process_and_on_four_that_are_killed() {
    const BETWEEN: u64 = 40;
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", PENTAGO);
    sandbox.run(&["run", "sweep.toml", "--db", "one.db", "--slots", "1"]).expect_exit(0);
    let expected = chosen(&sandbox, "one.db");
    assert!(expected.lines().count() > 100, "{expected}");
    let settled = |db| sandbox.sql(db, "SELECT count(*) FROM games").parse::<u64>().unwrap();

    let mut run =
        Watched::start(&sandbox, &["run", "sweep.toml", "--db", "run.db", "--slots", "2"]);
    run.read_until("choices in 3 cells, into run.db");
    wait_until("choices are settled", || settled("run.db") >= BETWEEN);
    run.process.kill();
    sandbox.run(&["run", "sweep.toml", "--db", "run.db"]).expect_exit(0);
    assert_eq!(chosen(&sandbox, "run.db"), expected);

    let mut coordinator = sandbox.coordinator_with("four.db", "127.0.0.1:0", "200ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut workers = [(); 3].map(|()| sandbox.worker(&url, "1", &[]));
    wait_until("choices are settled", || settled("four.db") >= BETWEEN);
    coordinator.process.kill();
    workers[0].kill();
    coordinator = sandbox.coordinator_with("four.db", &address, "200ms");
    wait_until("the experiment is finished", || {
        let list = sandbox.run(&["list", "--coordinator", &coordinator.url, "--json"]);
        list.stdout().contains("\"finished\"")
    });
    assert_eq!(chosen(&sandbox, "four.db"), expected);
    sandbox.run(&["check", "--db", "four.db"]).expect_exit(0);
    let played = "SELECT count(*) FROM games WHERE counted = 1";
    assert_eq!(sandbox.sql("four.db", played), "360");
}
