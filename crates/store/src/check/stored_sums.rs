//! The stored sums, compared with a count of the games.

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;

use crate::check::counted_sums::{Hashes, OpeningSums, near};
use crate::check::counting::Counting;
use crate::check::rollup_queries::ROLLUPS;
use crate::check::taken_rows::{TakenRow, Taking};

/// Sums of logarithms, which no query of a rollup has.
const LOGARITHMS: [&str; 4] = [
    "first_player_wall_us_mean_log_sum",
    "second_player_wall_us_mean_log_sum",
    "first_player_cpu_us_mean_log_sum",
    "second_player_cpu_us_mean_log_sum",
];

/// Whether a stored row is as counted; `None` if it is not as expected.
type Same = Option<bool>;

/// The tables whose stored sums are those of the count.
pub(crate) fn confirmed(
    counting: Counting,
    connection: &Connection,
) -> rusqlite::Result<BTreeSet<&'static str>> {
    let Some(mut counting) = counting.end() else { return Ok(BTreeSet::new()) };
    let checks = [
        ("cell_results", cell_results(&mut counting, connection)?),
        ("cell_depths", cell_depths(&mut counting, connection)?),
        ("cell_move_times", cell_move_times(&counting, connection)?),
        ("cell_openings", cell_openings(&mut counting, connection)?),
        ("worker_results", worker_results(&mut counting, connection)?),
    ];
    for (table, is_same) in checks {
        if !is_same {
            counting.doubt(table);
        }
    }
    Ok(counting.confirmed())
}

/// Whether all rows of a table are as counted. A row's values are those of the rollup's columns: its key, its integers,
/// its reals; then these.
fn all_rows(
    connection: &Connection,
    table: &str,
    more: &[&str],
    mut is_same: impl FnMut(&TakenRow) -> Same,
) -> rusqlite::Result<bool> {
    let Some(rollup) = ROLLUPS.iter().find(|rollup| rollup.table == table) else {
        return Ok(false);
    };
    let columns = [rollup.key, rollup.integers, rollup.reals, more].concat();
    let mut taking = Taking::prepare(connection, table, "", &columns)?;
    if !taking.has_all() {
        return Ok(false);
    }
    let (mut rows, taken) = taking.rows()?;
    while rows.next()?.is_some() {
        if is_same(&taken.row()) != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads this many integers from a place on.
fn integers<const N: usize>(row: &TakenRow, from: usize) -> Option<[i64; N]> {
    let mut values = [0; N];
    for (at, value) in values.iter_mut().enumerate() {
        *value = row.integer(from + at)?;
    }
    Some(values)
}

/// Reads this many reals from a place on.
fn reals<const N: usize>(row: &TakenRow, from: usize) -> Option<[f64; N]> {
    let mut values = [0.0; N];
    for (at, value) in values.iter_mut().enumerate() {
        *value = row.real(from + at)?;
    }
    Some(values)
}

/// Whether a row has these values after its key.
fn has<const I: usize, const R: usize>(
    row: &TakenRow,
    keys: usize,
    (counted, sums): ([i64; I], [f64; R]),
) -> Same {
    let stored: [f64; R] = reals(row, keys + I)?;
    Some(
        integers::<I>(row, keys)? == counted
            && stored.iter().zip(sums).all(|(stored, sum)| near(*stored, sum)),
    )
}

fn cell_results(counting: &mut Counting, connection: &Connection) -> rusqlite::Result<bool> {
    let mut left = counting.cells.values().filter(|cell| cell.has_games).count();
    let cells = &counting.cells;
    let is_same = all_rows(connection, "cell_results", &[], |row| {
        let cell = cells.get(&row.integer(0)?).filter(|cell| cell.has_games)?;
        left = left.checked_sub(1)?;
        has(row, 1, cell.sums.columns())
    })?;
    Ok(is_same && left == 0)
}

fn cell_depths(counting: &mut Counting, connection: &Connection) -> rusqlite::Result<bool> {
    let depths = &mut counting.depths;
    let is_same = all_rows(connection, "cell_depths", &[], |row| {
        let [cell, player, depth] = integers(row, 0)?;
        let sums = depths.remove(&(cell, player, depth))?;
        has(row, 3, ([sums.searched_moves], sums.reals))
    })?;
    Ok(is_same && depths.is_empty())
}

fn cell_move_times(counting: &Counting, connection: &Connection) -> rusqlite::Result<bool> {
    let mut stored = Hashes::default();
    let is_same = all_rows(connection, "cell_move_times", &[], |row| {
        let key: [i64; 4] = integers(row, 0)?;
        // A row of no search is in no sum.
        let searched_moves = row.integer(4).filter(|moves| *moves > 0)?;
        stored.add(&key, searched_moves);
        Some(true)
    })?;
    Ok(is_same && stored.is_same(&counting.times))
}

fn cell_openings(counting: &mut Counting, connection: &Connection) -> rusqlite::Result<bool> {
    let mut counted = std::mem::take(&mut counting.openings);
    let mut single = Hashes::default();
    let is_same = all_rows(connection, "cell_openings", &LOGARITHMS, |row| {
        let [cell, opening] = integers(row, 0)?;
        let stored = OpeningSums {
            integers: integers(row, 2)?,
            means: reals(row, 17)?,
            logarithms: reals(row, 21)?,
        };
        if counting.comes_again(cell) {
            let sums = counted.remove(&(cell, opening))?;
            let is_same = sums.integers == stored.integers
                && sums.means.iter().zip(stored.means).all(|(sum, stored)| near(*sum, stored))
                && sums.has_logarithms(&stored.logarithms);
            Some(is_same)
        } else {
            single.add_row((cell, opening), &stored);
            Some(true)
        }
    })?;
    Ok(is_same && counted.is_empty() && single.is_same(&counting.single_openings))
}

fn worker_results(counting: &mut Counting, connection: &Connection) -> rusqlite::Result<bool> {
    let workers: &mut HashMap<_, _> = &mut counting.workers;
    let is_same = all_rows(connection, "worker_results", &[], |row| {
        let [experiment, worker] = integers(row, 0)?;
        has(row, 2, workers.remove(&(experiment, worker))?.columns()?)
    })?;
    Ok(is_same && workers.is_empty())
}
