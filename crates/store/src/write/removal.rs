//! Permanently deleting an experiment, or only its moves, in steps so small that nothing waits for them.
//!
//! From the decision on, the experiment is invisible: it loses its name, UUID and views, no list shows it, and its
//! games become unleased, so that a late report of one is rejected. Its rows follow, cell by cell: first the games
//! with their dependent rows, then the rest of the cell's rows, then the cell. Shared rows stay, even if no longer
//! used: players, openings, workers. Finally the file shrinks.
//!
//! `removals` stores the progress in the same transaction as the steps, so a killed coordinator resumes there.

use spelrum_answers::Removing;
use spelrum_model::ExperimentId;
use sqlx::{AssertSqlSafe, Executor as _};

use crate::error::StoreError;
use crate::open::writer::Writer;
use crate::schema::encoding::rows;
use crate::schema::experiment_views;
use crate::schema::numbers::{count, integer};
use crate::write::removal_walk::{CellsAhead, Walk};
use crate::write::transaction::Transaction;
use crate::write::{claims, game_digests, game_engines, verifications};

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// Some rows were removed; more may follow.
    Some,
    /// Nothing is left to remove; the file may have to shrink.
    Nothing,
}

/// Maximum rows of one table that a step removes: about two milliseconds of work. A single game can have more moves.
const ROWS_AT_ONCE: i64 = 1_000;

/// Games examined per step.
const GAMES_AT_ONCE: i64 = 100;

/// Cells without games that are removed together.
const CELLS_AT_ONCE: usize = 64;

/// Pages by which the file shrinks in one step.
const PAGES_AT_ONCE: u32 = 200;

/// Whether a removal is in progress, or the file has yet to shrink.
///
/// # Errors
/// If the database fails.
pub(crate) async fn is_removing(writer: &mut Writer) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(r#"SELECT EXISTS (SELECT 1 FROM removals) AS "any!: bool""#)
        .fetch_one(&mut writer.connection)
        .await?)
}

/// Returns some of the free pages to the file system, once no rows are left to remove. Returns whether more are left.
/// The next checkpoint cuts the file itself.
///
/// # Errors
/// If the database fails.
pub(crate) async fn shrink(writer: &mut Writer) -> Result<bool, StoreError> {
    // The query macros cannot describe a pragma. It must be stepped to its end, as this does.
    let pragma = AssertSqlSafe(format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"));
    writer.connection.execute(pragma).await?;
    let free: i64 =
        sqlx::query_scalar("PRAGMA freelist_count").fetch_one(&mut writer.connection).await?;
    if free > 0 {
        return Ok(true);
    }
    let mut transaction = writer.begin().await?;
    sqlx::query!("DELETE FROM removals WHERE experiment_id IS NULL")
        .execute(transaction.connection())
        .await?;
    transaction.commit().await?;
    Ok(false)
}

/// Begins removing an experiment, or only its moves. `games` is the number of games concerned, for showing progress.
///
/// # Errors
/// If the database fails.
pub(crate) async fn begin(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    what: Removing,
    games: u64,
) -> Result<(), StoreError> {
    let (name, games, now) = (what.name(), integer(games), tx.now_unix_us);
    // Repeating the decision changes nothing; a removal of the moves becomes one of everything.
    sqlx::query!(
        "INSERT INTO removals (experiment_id, experiment, what, requested_unix_us, games)
        SELECT experiment_id, name, ?2, ?3, ?4 FROM experiments WHERE experiment_id = ?1
        ON CONFLICT (experiment_id) DO UPDATE SET what = excluded.what,
            requested_unix_us = excluded.requested_unix_us, games = excluded.games,
            games_done = 0, cell_id = 0, number = 0
        WHERE excluded.what <> what",
        experiment.0,
        name,
        now,
        games
    )
    .execute(tx.connection())
    .await?;
    match what {
        Removing::Everything => hide(tx, experiment.0).await?,
        Removing::Moves => {
            sqlx::query!(
                "UPDATE experiments SET record = 'games', pruned_unix_us = ?2
                WHERE experiment_id = ?1",
                experiment.0,
                now
            )
            .execute(tx.connection())
            .await?;
        }
    }
    // Drops cached facts of its cells, such as whether they record moves.
    tx.cache.cells.clear();
    tx.cache.removal = None;
    tx.cache.exclusion = None;
    Ok(())
}

/// Removes everything by which an experiment can be found.
async fn hide(tx: &mut Transaction<'_>, experiment: i64) -> Result<(), StoreError> {
    experiment_views::drop_views(tx, experiment).await?;
    sqlx::query!(
        "UPDATE experiments SET uuid = 'removed ' || experiment_id, name = '',
            state = 'cancelled', results_view = '', times_view = ''
        WHERE experiment_id = ?",
        experiment
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes some rows of the oldest removal: a few milliseconds of work.
///
/// # Errors
/// If the database fails.
pub(crate) async fn remove_some(tx: &mut Transaction<'_>) -> Result<Removed, StoreError> {
    let mut walk = match tx.cache.removal.take() {
        Some(walk) => walk,
        None => match begin_walk(tx).await? {
            Some(walk) => walk,
            None => return Ok(Removed::Nothing),
        },
    };
    let cell = walk.ahead.first(walk.experiment, tx.connection()).await?;
    if walk.emptied.len() >= CELLS_AT_ONCE || (cell.is_none() && !walk.emptied.is_empty()) {
        remove_cells(tx, &mut walk).await?;
    } else if let Some(cell) = cell {
        remove_games(tx, &mut walk, cell).await?;
    } else {
        end_walk(tx, &walk).await?;
        return Ok(Removed::Some);
    }
    tx.cache.removal = Some(walk);
    Ok(Removed::Some)
}

async fn begin_walk(tx: &mut Transaction<'_>) -> Result<Option<Walk>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT removal_id AS "removal_id!", experiment_id AS "experiment_id!", what, cell_id,
            number
        FROM removals WHERE experiment_id IS NOT NULL ORDER BY removal_id LIMIT 1"#
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(found.map(|row| {
        let what = Removing::named(&row.what).unwrap_or(Removing::Everything);
        // Cells whose games are gone can still exist.
        let (cell, number) = match what {
            Removing::Everything => (0, 0),
            Removing::Moves => (row.cell_id, row.number),
        };
        Walk {
            removal: row.removal_id,
            experiment: row.experiment_id,
            what,
            ahead: CellsAhead::from(cell),
            number,
            emptied: Vec::new(),
        }
    }))
}

/// Removes some games of a cell, or only their moves; or goes on to the next cell.
async fn remove_games(
    tx: &mut Transaction<'_>,
    walk: &mut Walk,
    cell: i64,
) -> Result<(), StoreError> {
    let found = sqlx::query!(
        r#"SELECT game_id AS "game_id!", number, coalesce(plies, 0) AS "plies!: i64"
        FROM games WHERE cell_id = ? AND number >= ? ORDER BY number LIMIT ?"#,
        cell,
        walk.number,
        GAMES_AT_ONCE
    )
    .fetch_all(tx.connection())
    .await?;
    let mut plies = 0;
    let mut games = Vec::new();
    for game in found {
        plies += game.plies;
        if !games.is_empty() && plies > ROWS_AT_ONCE {
            break;
        }
        games.push(game.game_id);
        walk.number = game.number + 1;
    }
    let next = if games.is_empty() {
        walk.ahead.pass();
        walk.number = 0;
        if walk.what == Removing::Everything {
            walk.emptied.push(cell);
        }
        cell + 1
    } else {
        remove_of_games(tx, walk.what, &games).await?;
        cell
    };
    let done = count(games.len());
    sqlx::query!(
        "UPDATE removals SET cell_id = ?2, number = ?3, games_done = games_done + ?4
        WHERE removal_id = ?1",
        walk.removal,
        next,
        walk.number,
        done
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes games with all dependent rows, or only their moves.
pub(crate) async fn remove_of_games(
    tx: &mut Transaction<'_>,
    what: Removing,
    games: &[i64],
) -> Result<(), StoreError> {
    let ids = games;
    let games = rows(ids)?;
    let before = match what {
        Removing::Moves => {
            let before = game_digests::digests_of_searches(tx, ids).await?;
            keep_searches(tx, &games).await?;
            Some(before)
        }
        Removing::Everything => None,
    };
    sqlx::query!("DELETE FROM move_notes WHERE game_id IN (SELECT value FROM json_each(?))", games)
        .execute(tx.connection())
        .await?;
    sqlx::query!("DELETE FROM moves WHERE game_id IN (SELECT value FROM json_each(?))", games)
        .execute(tx.connection())
        .await?;
    if let Some(before) = before {
        let after = game_digests::digests_of_searches(tx, ids).await?;
        return game_digests::change_digests(tx, &before, &after).await;
    }
    sqlx::query!(
        "DELETE FROM game_depths WHERE game_id IN (SELECT value FROM json_each(?))",
        games
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("DELETE FROM game_sides WHERE game_id IN (SELECT value FROM json_each(?))", games)
        .execute(tx.connection())
        .await?;
    game_engines::remove(tx, &games).await?;
    sqlx::query!("DELETE FROM games WHERE game_id IN (SELECT value FROM json_each(?))", games)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Keeps the rollups' sums over the moves of games that lose them.
async fn keep_searches(tx: &mut Transaction<'_>, games: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO game_depths (game_id, side, depth, searched_moves, wall_us, cpu_us, nodes,
            evaluations, full_tree_leaves, wall_us_squared, move_times_json)
        SELECT game_id, side, depth, sum(searched_moves), total(wall_us), total(cpu_us),
            total(nodes), total(evaluations), total(full_tree_leaves), total(wall_us_squared),
            json_group_object(CAST(time_bucket_id AS TEXT), searched_moves)
        FROM (
            SELECT game_id, side, depth, time_bucket_id, count(*) AS searched_moves,
                total(wall_us) AS wall_us, total(cpu_us) AS cpu_us, total(nodes) AS nodes,
                total(evaluations) AS evaluations,
                total(full_tree_leaves) AS full_tree_leaves,
                total(1.0 * wall_us * wall_us) AS wall_us_squared
            FROM (
                SELECT m.*, (
                    SELECT b.time_bucket_id FROM time_buckets AS b
                    WHERE b.from_us <= m.wall_us ORDER BY b.from_us DESC LIMIT 1
                ) AS time_bucket_id
                FROM moves AS m
                WHERE m.game_id IN (SELECT value FROM json_each(?))
                    AND m.ended_by <> 'only_move')
            GROUP BY game_id, side, depth, time_bucket_id)
        GROUP BY game_id, side, depth",
        games
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes the remaining rows of cells without games, and finally the cells.
async fn remove_cells(tx: &mut Transaction<'_>, walk: &mut Walk) -> Result<(), StoreError> {
    let cells = rows(&walk.emptied)?;
    let more = remove_uncounted(tx, &cells).await?
        || remove_leases(tx, &cells).await?
        || remove_attempts(tx, &cells).await?
        || remove_returned(tx, &cells).await?
        || remove_refused(tx, &cells).await?
        || remove_openings(tx, &cells).await?;
    if more {
        return Ok(());
    }
    // Each cell has few of these rows.
    verifications::remove(tx, &cells).await?;
    claims::remove_cells(tx, &cells).await?;
    sqlx::query!(
        "DELETE FROM cell_move_times WHERE cell_id IN (SELECT value FROM json_each(?))",
        cells
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "DELETE FROM cell_depths WHERE cell_id IN (SELECT value FROM json_each(?))",
        cells
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "DELETE FROM cell_results WHERE cell_id IN (SELECT value FROM json_each(?))",
        cells
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("DELETE FROM told_cells WHERE cell_id IN (SELECT value FROM json_each(?))", cells)
        .execute(tx.connection())
        .await?;
    sqlx::query!("DELETE FROM cell_axes WHERE cell_id IN (SELECT value FROM json_each(?))", cells)
        .execute(tx.connection())
        .await?;
    sqlx::query!("DELETE FROM cells WHERE cell_id IN (SELECT value FROM json_each(?))", cells)
        .execute(tx.connection())
        .await?;
    // The cached facts are of no further use.
    tx.cache.cells.clear();
    walk.emptied.clear();
    Ok(())
}

/// Removes some results that did not count; returns whether there were any.
async fn remove_uncounted(tx: &mut Transaction<'_>, cells: &str) -> Result<bool, StoreError> {
    const RESULTS_AT_ONCE: i64 = 25;
    let games = sqlx::query_scalar!(
        r#"SELECT u.uncounted_game_id AS "id!"
        FROM json_each(?) AS j JOIN uncounted_games AS u ON u.cell_id = j.value LIMIT ?"#,
        cells,
        RESULTS_AT_ONCE
    )
    .fetch_all(tx.connection())
    .await?;
    if games.is_empty() {
        return Ok(false);
    }
    let games = rows(&games)?;
    sqlx::query!(
        "DELETE FROM uncounted_moves
        WHERE uncounted_game_id IN (SELECT value FROM json_each(?))",
        games
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "DELETE FROM uncounted_games
        WHERE uncounted_game_id IN (SELECT value FROM json_each(?))",
        games
    )
    .execute(tx.connection())
    .await?;
    Ok(true)
}

/// Removes some leases; returns whether there were any.
async fn remove_leases(tx: &mut Transaction<'_>, cells: &str) -> Result<bool, StoreError> {
    let leases = sqlx::query_scalar!(
        r#"DELETE FROM lease_ranges WHERE (lease_id, cell_id, first_number) IN (
            SELECT r.lease_id, r.cell_id, r.first_number
            FROM json_each(?) AS j JOIN lease_ranges AS r ON r.cell_id = j.value LIMIT ?)
        RETURNING lease_id AS "lease_id!""#,
        cells,
        ROWS_AT_ONCE
    )
    .fetch_all(tx.connection())
    .await?;
    if leases.is_empty() {
        return Ok(false);
    }
    let (leases, now) = (rows(&leases)?, tx.now_unix_us);
    // Live leases are left over from another engine: nothing here would ever end them.
    sqlx::query!(
        "UPDATE leases SET ended_unix_us = ?2, ended_by = 'cancelled'
        WHERE ended_by IS NULL AND lease_id IN (SELECT value FROM json_each(?1))",
        leases,
        now
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "DELETE FROM leases WHERE lease_id IN (SELECT value FROM json_each(?))
            AND NOT EXISTS (
                SELECT 1 FROM lease_ranges AS r WHERE r.lease_id = leases.lease_id)",
        leases
    )
    .execute(tx.connection())
    .await?;
    Ok(true)
}

async fn remove_attempts(tx: &mut Transaction<'_>, cells: &str) -> Result<bool, StoreError> {
    let removed = sqlx::query!(
        "DELETE FROM attempts WHERE (cell_id, number) IN (
            SELECT a.cell_id, a.number
            FROM json_each(?) AS j JOIN attempts AS a ON a.cell_id = j.value LIMIT ?)",
        cells,
        ROWS_AT_ONCE
    )
    .execute(tx.connection())
    .await?;
    Ok(removed.rows_affected() > 0)
}

async fn remove_returned(tx: &mut Transaction<'_>, cells: &str) -> Result<bool, StoreError> {
    let removed = sqlx::query!(
        "DELETE FROM returned_ranges WHERE (cell_id, first_number) IN (
            SELECT r.cell_id, r.first_number
            FROM json_each(?) AS j JOIN returned_ranges AS r ON r.cell_id = j.value LIMIT ?)",
        cells,
        ROWS_AT_ONCE
    )
    .execute(tx.connection())
    .await?;
    Ok(removed.rows_affected() > 0)
}

async fn remove_refused(tx: &mut Transaction<'_>, cells: &str) -> Result<bool, StoreError> {
    let removed = sqlx::query!(
        "DELETE FROM refused_results WHERE refused_result_id IN (
            SELECT r.refused_result_id
            FROM json_each(?) AS j JOIN refused_results AS r ON r.cell_id = j.value LIMIT ?)",
        cells,
        ROWS_AT_ONCE
    )
    .execute(tx.connection())
    .await?;
    Ok(removed.rows_affected() > 0)
}

async fn remove_openings(tx: &mut Transaction<'_>, cells: &str) -> Result<bool, StoreError> {
    let removed = sqlx::query!(
        "DELETE FROM cell_openings WHERE (cell_id, opening_number) IN (
            SELECT o.cell_id, o.opening_number
            FROM json_each(?) AS j JOIN cell_openings AS o ON o.cell_id = j.value LIMIT ?)",
        cells,
        ROWS_AT_ONCE
    )
    .execute(tx.connection())
    .await?;
    Ok(removed.rows_affected() > 0)
}

/// Ends a removal: only the file has yet to shrink.
async fn end_walk(tx: &mut Transaction<'_>, walk: &Walk) -> Result<(), StoreError> {
    sqlx::query!("UPDATE removals SET experiment_id = NULL WHERE removal_id = ?", walk.removal)
        .execute(tx.connection())
        .await?;
    if walk.what == Removing::Moves {
        return Ok(());
    }
    for sql in [
        "DELETE FROM exclusions WHERE experiment_id = ?",
        "DELETE FROM claims WHERE experiment_id = ?",
        "DELETE FROM experiment_axes WHERE experiment_id = ?",
        "DELETE FROM experiment_anchors WHERE experiment_id = ?",
        "DELETE FROM experiment_files WHERE experiment_id = ?",
        "DELETE FROM sweep_versions WHERE experiment_id = ?",
        "DELETE FROM course_notes WHERE experiment_id = ?",
        "DELETE FROM worker_results WHERE experiment_id = ?",
        "DELETE FROM experiments WHERE experiment_id = ?",
    ] {
        sqlx::query(sql).bind(walk.experiment).execute(tx.connection()).await?;
    }
    Ok(())
}
