//! Rot: no bit that changes a value passes the checks of `spelrum check`.
//!
//! `SPELRUM_FLIPS=1000 cargo test -p spelrum-store --test store rot::no_changed_bit -- --nocapture` changes more;
//! `SPELRUM_ROT_DB=FILE` takes a copy of that database instead of a small one.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use spelrum_model::GameId;
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Readers, Removing, Writer};

use crate::fixture::{
    Store, add_cell, alpha_beta, claim, game, introduction, of_worker, plan, with_engines,
};

/// A closed database with games of several kinds.
async fn closed() -> (tempfile::TempDir, PathBuf) {
    let mut plan = plan("rot");
    plan.anchors.push("gm".to_owned());
    plan.claims.push(claim("its own", [0, 1], spelrum_model::Role::Opponent));
    plan.conditions[0].openings_count = Some(3);
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 3, 20);
    let mut store = Store::with(&plan).await;
    for index in 0..3 {
        let cell = store.cell(index);
        let mut games: Vec<_> = (0..19).map(|number| game(cell, number, number)).collect();
        games[5] = with_engines(games[5].clone(), [Some(1), Some(2)], Some("it went away"));
        store.store(&games).await;
    }
    let mut transaction = store.writer.begin().await.unwrap();
    let second = transaction.introduce(&introduction("worker-2")).await.unwrap();
    let failed = GameId { cell: store.submitted.cells[0].cell, number: 19 };
    transaction.settle_failed(&[(failed, "failed".to_owned())]).await.unwrap();
    let again = [game(store.submitted.cells[0].cell, 4, 77)];
    transaction.store_uncounted(&of_worker(second, &again), false).await.unwrap();
    transaction.commit().await.unwrap();
    let path = store.path();
    let Store { directory, writer, .. } = store;
    writer.close().await.unwrap();
    (directory, path)
}

/// What the checks find first.
async fn findings(path: &Path) -> Vec<String> {
    let readers = match Readers::open(path).await {
        Ok(readers) => readers,
        Err(error) => return vec![error.to_string()],
    };
    let found = async {
        let damage = readers.damage().await?;
        if !damage.is_empty() {
            return Ok(damage);
        }
        let compared = readers.compare_digests()?;
        if !compared.changed.is_empty() {
            return Ok(compared.changed);
        }
        Ok(readers.recount_after(&compared).await?.iter().map(ToString::to_string).collect())
    };
    let found: Result<_, spelrum_store::StoreError> = found.await;
    readers.close().await;
    found.unwrap_or_else(|error| vec![error.to_string()])
}

/// Everything that SQL can read of the tables and the schema; `None` if reading fails.
fn dump(path: &Path) -> Option<u64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{}?immutable=1", path.display());
    let connection = Connection::open_with_flags(uri, flags).ok()?;
    let read = || -> rusqlite::Result<u64> {
        let mut hasher = DefaultHasher::new();
        let mut tables: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        tables.push("sqlite_schema".to_owned());
        for table in tables {
            table.hash(&mut hasher);
            let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
            let width = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for column in 0..width {
                    match row.get_ref(column)? {
                        ValueRef::Null => 0.hash(&mut hasher),
                        ValueRef::Integer(value) => (1, value).hash(&mut hasher),
                        ValueRef::Real(value) => (2, value.to_bits()).hash(&mut hasher),
                        ValueRef::Text(value) => (3, value).hash(&mut hasher),
                        ValueRef::Blob(value) => (4, value).hash(&mut hasher),
                    }
                }
            }
        }
        Ok(hasher.finish())
    };
    read().ok()
}

/// A sequence of numbers that a seed gives (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[tokio::test]
async fn no_changed_bit_passes() {
    let flips: u32 = std::env::var("SPELRUM_FLIPS").map_or(40, |flips| flips.parse().unwrap());
    let (directory, path) = match std::env::var_os("SPELRUM_ROT_DB") {
        None => closed().await,
        Some(original) => {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("results.db");
            std::fs::copy(original, &path).unwrap();
            Writer::open(&path).await.unwrap().close().await.unwrap();
            (directory, path)
        }
    };
    assert_eq!(findings(&path).await, Vec::<String>::new());
    let before = dump(&path);
    assert!(before.is_some());
    let whole = std::fs::read(&path).unwrap();
    let copy = directory.path().join("flipped.db");
    let mut numbers = Numbers(17);
    let (mut live, mut tried, mut missed) = (0, 0, Vec::new());
    while live < flips {
        tried += 1;
        let bit = numbers.below(8 * whole.len() as u64);
        let mut bytes = whole.clone();
        let byte = usize::try_from(bit / 8).unwrap();
        bytes[byte] ^= 1 << (bit % 8);
        std::fs::write(&copy, bytes).unwrap();
        if dump(&copy) == before {
            continue;
        }
        live += 1;
        if findings(&copy).await.is_empty() {
            missed.push(format!("bit {} of byte {byte}", bit % 8));
        }
    }
    println!("{tried} bits changed, {live} of them live, {} missed", missed.len());
    assert_eq!(missed, Vec::<String>::new());
}

/// Values of every table of a game, and of others, each changed alone.
#[tokio::test]
async fn every_changed_value_is_named() {
    let (directory, path) = closed().await;
    let copy = directory.path().join("changed.db");
    for (change, named) in [
        ("UPDATE games SET wall_us = wall_us + 1 WHERE game_id = 7", "game 7 (number 6 of cell 1)"),
        ("UPDATE moves SET score = 5 WHERE game_id = 7 AND ply = 1", "game 7 "),
        ("UPDATE game_sides SET wall_us_squared = wall_us_squared * 1.000000000001", "game 1 "),
        ("UPDATE forfeits SET output = 'x'", "game 6 "),
        ("DELETE FROM game_engines WHERE game_id = 6 AND side = 1", "game 6 "),
        ("UPDATE game_digests SET digest = digest - 1 WHERE game_id = 9", "game 9 "),
        ("DELETE FROM game_digests WHERE game_id = 9", "it has no digest"),
        (
            "UPDATE cell_openings SET first_player_wall_us_mean_sum = \
            first_player_wall_us_mean_sum * 1.000000000001",
            "cell_openings: its rows",
        ),
        ("UPDATE workers SET host = 'other'", "workers: its rows"),
        ("DELETE FROM uncounted_moves WHERE ply = 0", "uncounted_moves: "),
        ("UPDATE sqlite_sequence SET seq = seq + 1", "sqlite_sequence: its rows"),
        (
            "UPDATE table_digests SET row_count = row_count + 1 WHERE table_name = 'cells'",
            "cells: ",
        ),
        (
            "UPDATE players SET parameters_json = parameters_json || ' ' WHERE player_id = 1",
            "player 1: ",
        ),
        ("PRAGMA user_version = 7", "user_version 7"),
    ] {
        std::fs::copy(&path, &copy).unwrap();
        let connection = Connection::open(&copy).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        connection.execute_batch(change).unwrap();
        connection.close().unwrap();
        let found = findings(&copy).await;
        assert!(found.iter().any(|line| line.contains(named)), "{change}: {found:?}");
    }
}

/// What is removed and pruned leaves the digests of what is left right, at every step; what had changed before it was
/// pruned is still found.
#[tokio::test]
async fn a_pruned_game_keeps_its_digest() {
    let mut store = Store::new().await;
    let games: Vec<_> = (0..12).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    let connection = Connection::open(store.path()).unwrap();
    connection
        .execute("UPDATE moves SET nodes = nodes + 1 WHERE game_id = 3 AND ply = 0", [])
        .unwrap();
    let mut transaction = store.writer.begin().await.unwrap();
    let experiment = store.submitted.experiment;
    transaction.begin_removal(experiment, Removing::Moves, 12).await.unwrap();
    transaction.commit().await.unwrap();
    while store.writer.is_removing().await.unwrap() {
        let mut transaction = store.writer.begin().await.unwrap();
        let step = transaction.remove_some().await.unwrap();
        transaction.commit().await.unwrap();
        let changed = store.writer.readers().compare_digests().unwrap().changed;
        assert_eq!(changed.len(), 1, "{changed:?}");
        assert!(changed[0].starts_with("game 3 "), "{changed:?}");
        if step == spelrum_store::Removed::Nothing {
            break;
        }
    }
    assert_eq!(store.integer("SELECT count(*) FROM moves").await, 0);
}

/// Reading leaves nothing beside a file that no program has open. A coordinator that opens it meanwhile is in nobody's way
/// until it writes to the file itself.
#[tokio::test]
async fn a_file_at_rest_is_read_without_a_trace() {
    let (directory, path) = closed().await;
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    let readers = Readers::open(&path).await.unwrap();
    readers.query("SELECT count(*) FROM games", 10).await.unwrap();
    readers.recount().await.unwrap();
    assert_eq!(names(), ["results.db"]);
    let writer = Writer::open(&path).await.unwrap();
    readers.recount().await.unwrap();
    writer.close().await.unwrap();
    let error = readers.recount().await.unwrap_err();
    assert!(error.to_string().contains("a coordinator opened it meanwhile"), "{error}");
    readers.query("SELECT count(*) FROM games", 10).await.unwrap_err();
    assert_eq!(names(), ["results.db"]);
    Readers::open(&path).await.unwrap().recount().await.unwrap();
}
