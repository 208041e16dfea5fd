//! Claims, from the sweep to the report: stated before the first game, judged together, kept wherever they go.

use serde_json::Value;

use crate::sandbox::{Sandbox, root};

fn example() -> String {
    std::fs::read_to_string(root().join("sweeps/tic-tac-toe-claims.toml")).unwrap()
}

fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &example());
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    sandbox
}

fn report(sandbox: &Sandbox, more: &[&str]) -> String {
    sandbox.run(&[&["report", "--db", "c.db"], more].concat()).expect_exit(0).stdout().to_owned()
}

fn json(sandbox: &Sandbox, db: &str) -> Value {
    let ran = sandbox.run(&["report", "--db", db, "--json"]);
    serde_json::from_str(ran.expect_exit(0).stdout()).unwrap()
}

/// What of a report is about claims, and the heading of the rest.
fn head(text: &str) -> &str {
    text.split("Who is stronger").next().unwrap()
}

#[test]
fn a_report_begins_with_its_claims_and_heads_the_rest_exploratory() {
    let sandbox = played();
    insta::assert_snapshot!("text", head(&report(&sandbox, &[])));
    insta::assert_snapshot!("markdown", head(&report(&sandbox, &["--format", "markdown"])));
    let latex = report(&sandbox, &["--format", "latex", "--table", "claims"]);
    insta::assert_snapshot!("latex", latex);
    insta::assert_snapshot!("csv", report(&sandbox, &["--format", "csv", "--table", "claims"]));
    let claims = &json(&sandbox, "c.db")["claims"];
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&claims[1]).unwrap());
    // One table has neither the claims nor the heading.
    let cells = report(&sandbox, &["--table", "cells"]);
    assert!(!cells.contains("Claims") && !cells.contains("Exploratory"), "{cells}");
}

#[test]
fn a_report_without_claims_has_no_heading() {
    let sandbox = Sandbox::new();
    let (sweep, _) = example().split_once("[[claims]]").map(|(a, b)| (a.to_owned(), b)).unwrap();
    sandbox.write("sweep.toml", &sweep.replace("error_rate = 0.05", ""));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "c.db"]);
    assert!(!ran.expect_exit(0).stdout().contains("xploratory"));
    assert_eq!(json(&sandbox, "c.db")["claims"], Value::Array(Vec::new()));
    let none = report(&sandbox, &["--table", "claims"]);
    assert!(none.contains("there is nothing to show"), "{none}");
}

#[test]
fn claims_that_come_late_are_said_to_be_exploratory() {
    let sandbox = played();
    let games = sandbox.sql("c.db", "SELECT count(*) FROM games");
    let changed = example()
        .replace("beats chance at every depth", "beats chance")
        .replace("from four on", "of these");
    sandbox.write("sweep.toml", &changed);
    let dry = sandbox.run(&["run", "sweep.toml", "--db", "c.db", "--dry-run"]);
    let said: Vec<&str> =
        dry.expect_exit(0).stdout().lines().filter(|line| line.starts_with("the claim ")).collect();
    insta::assert_snapshot!("late", said.join("\n"));
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "c.db"]);
    for line in said {
        assert!(ran.stderr().contains(line), "{line}\n{}", ran.stderr());
    }
    insta::assert_snapshot!("late_report", head(&report(&sandbox, &[])));
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM games"), games, "no game is another one");
}

#[test]
fn claims_travel_with_their_experiment() {
    let sandbox = played();
    sandbox.write("sweep.toml", &example().replace("wins at some depth", "wins somewhere"));
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    let before = json(&sandbox, "c.db");
    assert_eq!(before["claims"].as_array().unwrap().len(), 4);
    sandbox.run(&["export", "--db", "c.db", "--output", "e.db"]).expect_exit(0);
    assert_eq!(json(&sandbox, "e.db")["claims"], before["claims"]);
    // Into a database where cells have other ids.
    sandbox.write("other.toml", &crate::sandbox::tic_tac_toe("other", 2));
    sandbox.run(&["run", "other.toml", "--db", "new.db"]).expect_exit(0);
    sandbox.run(&["import", "e.db", "--db", "new.db"]).expect_exit(0);
    let rows = "SELECT l.text, l.hash, l.submitted_unix_us, l.exploratory, l.in_sweep, k.player, k.games, \
                c.definition_hash FROM claims AS l JOIN claim_cells AS k ON k.claim_id = l.claim_id \
                JOIN cells AS c ON c.cell_id = k.cell_id ORDER BY l.number, k.number";
    let csv = |db: &str| {
        sandbox.run(&["sql", "--db", db, "--csv", rows]).expect_exit(0).stdout().to_owned()
    };
    assert_eq!(csv("new.db"), csv("c.db"));
    sandbox.run(&["check", "--db", "new.db"]).expect_exit(0);
    // The same file again brings nothing, and removal leaves nothing.
    sandbox.run(&["import", "e.db", "--db", "new.db"]).expect_exit(0);
    assert_eq!(csv("new.db"), csv("c.db"));
    // A claim that says something else than its hash was not stated, nor one of other cells.
    let db = |statement: &str| {
        let file = rusqlite::Connection::open(sandbox.path("e.db")).unwrap();
        file.execute(statement, []).unwrap();
    };
    for (damage, repair) in [
        ("UPDATE claims SET text = text || '!'", "UPDATE claims SET text = rtrim(text, '!')"),
        (
            "UPDATE claim_cells SET player = 'opponent' WHERE claim_id = 1",
            "UPDATE claim_cells SET player = 'player' WHERE claim_id = 1",
        ),
        ("DELETE FROM claim_cells WHERE number = 1", "DELETE FROM claims WHERE 0"),
    ] {
        db(damage);
        let refused = sandbox.run(&["import", "e.db", "--db", "third.db"]);
        let said = refused.stderr();
        assert!(said.contains("a claim of it is not what was stated"), "{damage}: {said}");
        db(repair);
    }
}
