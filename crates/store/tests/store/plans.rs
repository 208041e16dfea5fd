//! How SQLite goes about the store's own queries: none reads through all that there ever was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

use crate::fixture::Store;

/// Tables that grow with the work that was ever asked for or done.
const GROWING: [&str; 29] = [
    "attempts",
    "cell_axes",
    "cell_openings",
    "cell_results",
    "cells",
    "claim_cells",
    "claims",
    "engines",
    "experiment_axes",
    "experiment_files",
    "experiments",
    "forfeits",
    "game_depths",
    "game_engines",
    "game_sides",
    "games",
    "lease_ranges",
    "leases",
    "move_values",
    "moves",
    "players",
    "refused_results",
    "returned_ranges",
    "sweep_versions",
    "told_cells",
    "uncounted_games",
    "uncounted_moves",
    "workers",
    "valued_positions",
];

/// What reads one of them as a whole, by a piece of its text, and why it may.
const MAY_READ_ALL: [(&str, &str); 13] = [
    (r#"SELECT count(*) AS "games!: i64" FROM games"#, CHECKS),
    ("OR g.not_counted_reason IS NOT CASE", CHECKS),
    ("OR c.stop_number IS NOT NULL OR c.decided_number <> 0", CHECKS),
    ("r.openings_variance, r.margin_games", CHECKS),
    ("FROM cell_openings AS o JOIN cells", CHECKS),
    ("WHERE r.games > 0 AND c.experiment_id NOT IN", CHECKS),
    ("FROM workers AS w ORDER BY w.last_hello_unix_us", "those that left no trace are few"),
    ("SELECT (SELECT count(*) FROM experiments)", COUNTS),
    ("ORDER BY e.state IN ('running', 'paused') DESC, e.experiment_id DESC LIMIT ?", COUNTS),
    ("WHERE state IN ('running', 'paused') AND engine_revision <> ?", STARTS),
    ("WHERE state IN ('running', 'paused') AND instr(sweep_toml", HELLOS),
    ("WHERE state IN ('running', 'paused') AND course = 'open'", STARTS),
    ("FROM experiments WHERE state IN ('running', 'paused') ORDER BY experiment_id", STARTS),
];
const CHECKS: &str = "`check` reads everything";
const COUNTS: &str =
    "`status` reads each experiment's state, and no more of those that it does not show";
const STARTS: &str = "a start reads each experiment's state, once";

const HELLOS: &str = "a worker that introduces its engines reads each experiment's state, once";

/// Indexes of few rows of a table, which may be read as a whole.
const OF_FEW: [&str; 2] = ["games_forfeited", "leases_live"];

/// The store's queries, as the build knows them.
fn queries() -> Vec<String> {
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
    let mut queries: Vec<String> = fs::read_dir(known)
        .unwrap()
        .map(|entry| {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let query: serde_json::Value = serde_json::from_str(&text).unwrap();
            query["query"].as_str().unwrap().to_owned()
        })
        .collect();
    queries.sort();
    queries
}

/// The growing tables that a query reads, by what it calls them.
fn names(query: &str) -> BTreeMap<String, &'static str> {
    let words: Vec<&str> = query
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let mut names = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let Some(table) = GROWING.into_iter().find(|table| table == word) else { continue };
        let name = match words[at + 1..] {
            ["AS", name, ..] => name,
            _ => table,
        };
        names.insert(name.to_owned(), table);
    }
    names
}

#[tokio::test]
async fn no_query_reads_through_what_grows() {
    let store = Store::new().await;
    let options = SqliteConnectOptions::new().filename(store.path()).read_only(true);
    let mut connection = options.connect().await.unwrap();
    let queries = queries();
    assert!(queries.len() > 50, "the store's queries are found");
    let (mut searches, mut excused) = (0, Vec::new());
    for query in &queries {
        let names = names(query);
        let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {query}")));
        let plan = plan.fetch_all(&mut connection).await;
        for step in plan.unwrap_or_else(|error| panic!("{query}: {error}")) {
            let step: String = step.get("detail");
            let words: Vec<&str> = step.split(' ').collect();
            let Some(table) = words.get(1).and_then(|name| names.get(*name)) else { continue };
            let is_of_few = words.iter().any(|word| OF_FEW.contains(word));
            searches += u32::from(words[0] == "SEARCH");
            if words[0] != "SCAN" || is_of_few {
                continue;
            }
            let excuse = MAY_READ_ALL.iter().position(|(text, _)| query.contains(text));
            let at = excuse.unwrap_or_else(|| panic!("reads all of {table} ({step}):\n{query}"));
            excused.push(at);
        }
    }
    assert!(searches > 50, "plans are understood");
    excused.sort_unstable();
    let each: Vec<usize> = (0..MAY_READ_ALL.len()).collect();
    assert_eq!(excused, each, "each excuse is for one query: {MAY_READ_ALL:?}");
}
