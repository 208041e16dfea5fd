//! Games that are won by more or less: Othello's discs, from the game to every answer, and no file's word for it.

use rusqlite::Connection;
use serde_json::Value;

use crate::sandbox::Sandbox;

fn sweep(record: &str) -> String {
    format!(
        "name = \"discs\"\ngame = \"othello\"\ngames = 20\nseed = 3\nrecord = \"{record}\"\n\
         [players.random]\nalgorithm = \"random\"\n\
         [players.minimax]\nalgorithm = \"minimax\"\ndepth = 1\n"
    )
}

fn report(sandbox: &Sandbox, db: &str, more: &[&str]) -> String {
    let ran = sandbox.run(&[&["report", "--db", db], more].concat());
    ran.expect_exit(0).stdout().to_owned()
}

#[test]
fn margins_are_told_in_all_forms_and_survive_an_export() {
    for record in ["moves", "games"] {
        let sandbox = Sandbox::new();
        sandbox.write("sweep.toml", &sweep(record));
        sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
        sandbox.run(&["check", "--db", "x.db"]).expect_exit(0);
        let of_winners = "SELECT count(*) FROM games WHERE sign(margin)
            = CASE outcome WHEN 'win' THEN 1 WHEN 'draw' THEN 0 ELSE -1 END";
        assert_eq!(sandbox.sql("x.db", of_winners), "20");
        let is_told = "SELECT abs(r.margin_mean - (SELECT avg(p.margin) FROM game_players AS p
                WHERE p.player = r.player)) < 1e-9 AND r.margin_low < r.margin_mean AS told
            FROM results AS r";
        assert_eq!(sandbox.sql("x.db", is_told), "1");

        let text = report(&sandbox, "x.db", &[]);
        assert!(text.contains("By how much the player wins"), "{text}");
        let table = report(&sandbox, "x.db", &["--table", "margins"]);
        assert!(table.contains("discs") && table.contains("95% interval"), "{table}");
        let json: Value =
            serde_json::from_str(&report(&sandbox, "x.db", &["--format", "json"])).unwrap();
        let margin = &json["cells"][0]["margin"];
        assert_eq!(margin["games"], 20);
        let mean = margin["mean"].as_f64().unwrap();
        assert!(margin["low"].as_f64() < Some(mean) && margin["high"].as_f64() > Some(mean));
        let csv = report(&sandbox, "x.db", &["--table", "margins", "--format", "csv"]);
        let headings =
            "experiment,cell_id,player,opponent,margin_games,margin_mean,margin_low,margin_high";
        assert_eq!(csv.lines().next(), Some(headings));
        let games = sandbox.run(&["games", "--db", "x.db", "--format", "csv"]);
        let headings = games.expect_exit(0).stdout().lines().next().unwrap();
        assert!(headings.ends_with(",forfeit,margin"), "{headings}");
        let games = sandbox.run(&["games", "--db", "x.db"]);
        assert_eq!(games.expect_exit(0).stdout().matches("\n[Margin \"").count(), 20);
        let replayed = sandbox.run(&["replay", "1", "--db", "x.db"]);
        let replayed = replayed.expect_exit(0).stdout();
        assert!(replayed.contains(" discs after ") || replayed.contains("A draw"), "{replayed}");

        sandbox.run(&["export", "--db", "x.db", "--output", "e.db"]).expect_exit(0);
        sandbox.run(&["import", "e.db", "--db", "new.db"]).expect_exit(0);
        sandbox.run(&["check", "--db", "new.db"]).expect_exit(0);
        assert_eq!(report(&sandbox, "new.db", &["--table", "margins"]), table);

        // One that is not of who won is not taken.
        let spoilt = Connection::open(sandbox.path("e.db")).unwrap();
        spoilt.execute_batch("UPDATE games SET margin = -margin - 1 WHERE number = 4").unwrap();
        drop(spoilt);
        let ran = sandbox.run(&["import", "e.db", "--db", "other.db"]);
        assert!(ran.stderr().contains("margin"), "{record}: {}", ran.stderr());
    }
}

/// A cell does not vanish because its games were ended by something else than the game.
#[test]
fn cells_without_a_margin_are_told_of() {
    let sandbox = Sandbox::new();
    let text = sweep("moves").replacen("seed = 3\n", "seed = 3\nmax_plies = 4\n", 1);
    sandbox.write("sweep.toml", &text);
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("x.db", "SELECT count(*) || '/' || count(margin) FROM games"), "20/0");
    let table = report(&sandbox, "x.db", &["--table", "margins"]);
    let row = table.lines().find(|line| line.contains("minimax")).expect("the cell has a row");
    let words: Vec<&str> = row.split_whitespace().collect();
    assert!(words.ends_with(&["0", "–", "–"]), "{table}");
    assert!(table.contains("Games: those that the game's own rules ended."), "{table}");
}

#[test]
fn games_that_count_nothing_say_nothing_of_margins() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep("moves").replace("othello", "tic-tac-toe"));
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("x.db", "SELECT count(margin) FROM games"), "0");
    assert!(!report(&sandbox, "x.db", &["--format", "json"]).contains("\"margin\""));
    let asked = report(&sandbox, "x.db", &["--table", "margins"]);
    assert!(asked.contains("there is nothing to show"), "{asked}");
    let games = sandbox.run(&["games", "--db", "x.db", "--format", "csv"]);
    assert!(!games.expect_exit(0).stdout().contains("margin"));
}
