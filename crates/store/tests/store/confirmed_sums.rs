//! Sums counted along with the comparison of digests: what they do not confirm is what a recount by SQL finds,
//! whatever has changed.
//!
//! `SPELRUM_CHANGES=2000 cargo test -p spelrum-store --test store confirmed_sums::` tries more changes.

use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::test_runner::{Config, TestRunner};
use rusqlite::Connection;
use spelrum_model::{GameId, Record};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Difference, Readers, StoreError};

use crate::fixture::{SUMS, Store, add_cell, add_cell_of, alpha_beta, game, genetic, plan, sweep};

/// Tables from which sums are counted, and those that hold them: with their keys.
const TABLES: [(&str, &str); 12] = [
    ("games", "game_id"),
    ("moves", "game_id, ply"),
    ("game_sides", "game_id, side"),
    ("game_depths", "game_id, side, depth"),
    ("cell_depths", "cell_id, player_id, depth"),
    ("cell_move_times", "cell_id, player_id, depth, time_bucket_id"),
    ("cell_results", "cell_id"),
    ("cell_openings", "cell_id, opening_number"),
    ("worker_results", "worker_id, experiment_id"),
    ("cells", "cell_id"),
    ("conditions", "conditions_id"),
    ("time_buckets", "time_bucket_id"),
];

/// A change of one value, or of a row.
#[derive(Clone, Debug)]
struct Change {
    table: usize,
    row: u32,
    column: usize,
    to: usize,
}

impl Change {
    fn strategy() -> impl Strategy<Value = Self> {
        (0..TABLES.len(), 0..400_u32, 0..40_usize, 0..12_usize)
            .prop_map(|(table, row, column, to)| Self { table, row, column, to })
    }

    fn apply(&self, connection: &Connection) {
        let (table, key) = TABLES[self.table];
        let columns: Vec<(String, String)> = connection
            .prepare("SELECT name, type FROM pragma_table_info(?)")
            .unwrap()
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let (column, kind) = &columns[self.column % columns.len()];
        let values: &[&str] = match &**kind {
            "TEXT" => {
                &["NULL", "'win'", "'loss'", "'draw'", "'only_move'", "'depth'", "'{\"3\":1}'"]
            }
            "REAL" => &["# + 1", "# * 1.000001", "# * (1 + 1e-15)", "0.0", "-#", "1e300"],
            _ => &["# + 1", "# - 1", "0", "1", "# + 2", "-#", "NULL", "# * 1000", "1 << 53"],
        };
        let rows = connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0))
            .unwrap();
        let row = self.row.checked_rem(rows).unwrap_or(0);
        let place = format!("({key}) = (SELECT {key} FROM {table} LIMIT 1 OFFSET {row})");
        let sql = if self.to == 11 {
            format!("DELETE FROM {table} WHERE {place}")
        } else {
            let value = values[self.to % values.len()].replace('#', column);
            format!("UPDATE OR IGNORE {table} SET {column} = {value} WHERE {place}")
        };
        // A trigger or a check may refuse it: then nothing has changed.
        let _ = connection.execute(&sql, []);
    }
}

/// A closed database with games of all kinds: with and without moves, of pairs and of fixed sides, from openings that
/// come again and others, and a failed one.
async fn closed() -> (tempfile::TempDir, PathBuf) {
    let mut plan = plan("twice");
    plan.conditions[0].openings_count = Some(3);
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 3, 20);
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(3), genetic(3)], 4, 19);
    let mut store = Store::with(&plan).await;
    plan.name = "without moves".to_owned();
    plan.settings.record = Record::Games;
    let mut transaction = store.writer.begin().await.unwrap();
    let without = transaction.submit(sweep("uuid-2", "", &plan)).await.unwrap();
    transaction.commit().await.unwrap();
    let cells = store.submitted.cells.iter().chain(&without.cells);
    let games: Vec<_> = cells
        .enumerate()
        .flat_map(|(at, cell)| (0..17).map(move |number| (at as u64, cell.cell, number)))
        .map(|(at, cell, number)| game(cell, number, number * 3 + at))
        .collect();
    store.store(&games).await;
    let failed = GameId { cell: store.cell(1), number: 17 };
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.settle_failed(&[(failed, "failed".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    store.assert_recount().await;
    let path = store.path();
    let Store { directory, writer, .. } = store;
    writer.close().await.unwrap();
    (directory, path)
}

/// What a recount finds, and what is found after a comparison; each in words.
async fn found_twice(path: &Path) -> [String; 2] {
    let shown = |found: Result<Vec<Difference>, StoreError>| match found {
        Ok(found) => found.iter().map(|difference| format!("{difference}\n")).collect(),
        Err(error) => error.to_string(),
    };
    let readers = Readers::open(path).await.unwrap();
    let by_sql = shown(readers.recount().await);
    let compared = readers.compare_digests().unwrap();
    let after = shown(readers.recount_after(&compared).await);
    readers.close().await;
    [by_sql, after]
}

#[test]
fn what_is_not_confirmed_is_what_a_recount_finds() {
    let changes: u32 =
        std::env::var("SPELRUM_CHANGES").map_or(48, |changes| changes.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (directory, path) = runtime.block_on(closed());
    let copy = directory.path().join("changed.db");
    let different = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: changes, ..Config::default() });
    let tried = runner.run(&vec(Change::strategy(), 1..3), |changes| {
        std::fs::copy(&path, &copy).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection
            .execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            .unwrap();
        changes.iter().for_each(|change| change.apply(&connection));
        connection.close().unwrap();
        let [by_sql, after] = runtime.block_on(found_twice(&copy));
        proptest::prop_assert_eq!(&by_sql, &after);
        different.set(different.get() + u32::from(!by_sql.is_empty()));
        Ok(())
    });
    tried.unwrap();
    assert!(different.get() >= changes / 4, "{} of {changes} changes were found", different.get());
}

/// Each stored sum, changed alone, is not confirmed.
#[tokio::test]
async fn no_changed_sum_is_confirmed() {
    let (directory, path) = closed().await;
    let copy = directory.path().join("changed.db");
    let is_sum = |name: &str| SUMS.contains(&name) && name != "games";
    // The first rows are of openings that come again, and of games with moves; the last ones are of others.
    let places = ["ASC", "DESC"].map(|order| TABLES.map(|(table, key)| (table, key, order)));
    for (table, key, order) in places.concat() {
        // Games without moves have nothing by which their sides are counted, but their searches by depth.
        if !is_sum(table) || (table, order) == ("game_sides", "DESC") {
            continue;
        }
        let columns: Vec<String> = Connection::open(&path)
            .unwrap()
            .prepare("SELECT name FROM pragma_table_info(?)")
            .unwrap()
            .query_map([table], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        // The bounds of intervals follow from the sums, and are computed again in any case.
        let is_counted = |column: &&String| {
            !["score", "score_low", "score_high", "margin_low", "margin_high"].contains(&&***column)
                && !column.starts_with("openings_")
                && !key.split(", ").any(|key| key == **column)
        };
        for column in columns.iter().filter(is_counted) {
            std::fs::copy(&path, &copy).unwrap();
            let connection = Connection::open(&copy).unwrap();
            connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
            let value = if column == "move_times_json" { "'{\"3\":99}'" } else { "# + 1" };
            let sql = format!(
                "UPDATE {table} SET {column} = {} WHERE ({key}) IN (
                    SELECT {key} FROM {table} ORDER BY {} LIMIT 1)",
                value.replace('#', column),
                key.split(", ").map(|key| format!("{key} {order}")).collect::<Vec<_>>().join(", ")
            );
            assert_eq!(connection.execute(&sql, []).unwrap(), 1, "{sql}");
            connection.close().unwrap();
            let compared = Readers::open(&copy).await.unwrap().compare_digests().unwrap();
            assert!(!compared.has_confirmed(table), "{sql}");
            assert_eq!(found_twice(&copy).await[0], found_twice(&copy).await[1], "{sql}");
        }
    }
}
