//! Where cells end by their stop rules, and the consequences: which of their games count, and which games the rollups
//! sum (invariants 7 and 8).
//!
//! A played game counts if its number is below its cell's end. When the end moves, the games between the old and the
//! new end are added to every rollup, or subtracted, a piece at a time: the cost depends on these games, not on the
//! cell's other games.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::Outcome;
use spelrum_scheduling::scheduler::CellProgress;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, integer};
use crate::write::distinct_games::{self, Likeness};
use crate::write::game_rows::BEYOND_STOP;
use crate::write::margins::first_player_margin;
use crate::write::rollup_sums::{CellResult, Searches, Sums, half_points};
use crate::write::rollups::{self, WorkerSums};
use crate::write::transaction::Transaction;
use crate::write::{cell_openings, checked_games};

/// Numbers processed together. Even, so no pair is split.
const NUMBERS_AT_ONCE: i64 = 2_000;

/// The loss factor from which the rest of a sum has lost its digits and is summed again.
const CANCELLATION: f64 = 1_024.0;

/// A piece of a cell's games.
#[derive(Clone, Copy, Debug)]
struct Piece {
    cell: i64,
    first: i64,
    end: i64,
    /// Whether they count from now on, or no longer.
    count: bool,
}

/// A played game of a piece.
struct Moved {
    game_id: i64,
    number: i64,
    half_points: usize,
    /// The margin for the cell's first player.
    margin: Option<i64>,
    likeness: Likeness,
    worker: i64,
    plies: i64,
    wall_us: f64,
    started: i64,
}

/// Moves cells' ends to where their rules now say, and updates which games count.
pub(crate) async fn end_cells(
    tx: &mut Transaction<'_>,
    cells: &[CellProgress],
) -> Result<(), StoreError> {
    let ends: Vec<(i64, Option<i64>)> =
        cells.iter().map(|cell| (cell.cell.0, cell.stop_number.map(integer))).collect();
    let list = rows(&ends)?;
    let moved = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", c.stop_number AS "before: i64",
            j.value ->> 1 AS "after?: i64"
        FROM jsonb_each(?) AS j JOIN cells AS c ON c.cell_id = j.value ->> 0
        WHERE c.stop_number IS NOT j.value ->> 1"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    for row in moved {
        sqlx::query!(
            "UPDATE cells SET stop_number = ?2 WHERE cell_id = ?1",
            row.cell_id,
            row.after
        )
        .execute(tx.connection())
        .await?;
        tx.cache.cells.remove(&row.cell_id);
        move_end(tx, row.cell_id, row.before, row.after).await?;
    }
    Ok(())
}

/// Updates which games of a cell count to another end.
pub(crate) async fn move_end(
    tx: &mut Transaction<'_>,
    cell: i64,
    before: Option<i64>,
    after: Option<i64>,
) -> Result<(), StoreError> {
    let last = sqlx::query_scalar!(
        r#"SELECT coalesce(max(number), -1) AS "number!: i64" FROM games WHERE cell_id = ?"#,
        cell
    )
    .fetch_one(tx.connection())
    .await?;
    let end = last + 1;
    let (before, after) = (before.unwrap_or(end), after.unwrap_or(end));
    let mut first = before.min(after);
    let end = before.max(after).min(end);
    while first < end {
        let piece_end = end.min(first + NUMBERS_AT_ONCE);
        let piece = Piece { cell, first, end: piece_end, count: after > before };
        move_games(tx, piece).await?;
        first = piece_end;
    }
    Ok(())
}

/// Subtracts a cell's counted games of these numbers, whole pairs below its end, from all rollups, or adds back those
/// subtracted before.
pub(crate) async fn count_again(
    tx: &mut Transaction<'_>,
    cell: i64,
    [first, end]: [i64; 2],
    count: bool,
) -> Result<(), StoreError> {
    if first < end {
        move_games(tx, Piece { cell, first, end, count }).await?;
    }
    Ok(())
}

async fn move_games(tx: &mut Transaction<'_>, piece: Piece) -> Result<(), StoreError> {
    checked_games::fill_cells(tx, std::iter::once(piece.cell)).await?;
    let Some(cell) = tx.cache.cells.get(&piece.cell).cloned() else { return Ok(()) };
    let games = played_games(tx, piece, |number| cell.first_player_moves_first(number)).await?;
    let times = if piece.count { 1 } else { -1 };
    let mut sums = CellResult { games_failed: failed_games(tx, piece).await?, ..<_>::default() };
    let mut workers = WorkerSums::default();
    let mut halves: BTreeMap<i64, (usize, Option<i64>)> = BTreeMap::new();
    for game in &games {
        sums.add_points(cell.first_player_moves_first(game.number), game.half_points);
        sums.plies += game.plies;
        sums.wall_us += game.wall_us;
        sums.margins.add(game.margin);
        let half = (game.half_points, game.margin);
        if cell.swap_sides
            && let Some((other, other_margin)) = halves.insert(game.number / 2, half)
        {
            // In number order: the first player moved first in the first of the two.
            sums.add_pair([other, game.half_points]);
            sums.margins.add_pair([other_margin, game.margin]);
        }
        let sum = workers.played(game.worker, cell.experiment, game.started);
        sum.add(game.plies, game.wall_us);
    }
    let ids: Vec<i64> = games.iter().map(|game| game.game_id).collect();
    let likes: BTreeSet<Likeness> = games.iter().map(|game| game.likeness).collect();
    let distinct = distinct_games::counted_likes(tx, &likes).await?.len();
    // The games by opening are those of the piece that count, before or from now on.
    let range = [piece.first, piece.end];
    let numbering = cell.numbering();
    if !piece.count {
        let taken = cell_openings::sums(tx.connection(), piece.cell, numbering, range).await?;
        mark_games(tx, &ids, piece.count).await?;
        cell_openings::take(tx.connection(), piece.cell, numbering, taken).await?;
    } else {
        mark_games(tx, &ids, piece.count).await?;
        let added = cell_openings::sums(tx.connection(), piece.cell, numbering, range).await?;
        cell_openings::add(tx.connection(), &added).await?;
    }
    sums.distinct_games =
        count(distinct_games::counted_likes(tx, &likes).await?.len().abs_diff(distinct));

    let mut results = rollups::cell_results(tx, std::iter::once(piece.cell)).await?;
    results.entry(piece.cell).or_default().add_counts(&sums, times);
    rollups::write_cell_results(tx, &results).await?;
    if ids.is_empty() {
        return Ok(());
    }
    let searches = searches_of(tx, &ids).await?;
    if piece.count {
        rollups::add_worker_sums(tx, &workers).await?;
        rollups::add_searches(tx, &searches).await
    } else {
        rollups::add_worker_sums(tx, &workers.negated()).await?;
        take_searches(tx, piece.cell, searches).await
    }
}

/// The games of a piece that start or stop counting.
async fn played_games(
    tx: &mut Transaction<'_>,
    piece: Piece,
    first_player_moves_first: impl Fn(i64) -> bool,
) -> Result<Vec<Moved>, StoreError> {
    let Piece { cell, first, end, count } = piece;
    let found = sqlx::query!(
        r#"SELECT game_id AS "game_id!", number, outcome AS "outcome!", margin,
            opening_id AS "opening_id!", first_player_id, moves_hash AS "moves_hash!: i64",
            worker_id AS "worker_id!", plies AS "plies!: i64",
            coalesce(wall_us, 0) AS "wall_us!: i64",
            coalesce(started_unix_us, 0) AS "started!: i64"
        FROM games
        WHERE cell_id = ?1 AND number >= ?2 AND number < ?3 AND outcome IS NOT NULL
            AND CASE WHEN ?4 THEN not_counted_reason IS ?5 ELSE counted = 1 END
        ORDER BY number"#,
        cell,
        first,
        end,
        count,
        BEYOND_STOP
    )
    .fetch_all(tx.connection())
    .await?;
    let games = found.into_iter().filter_map(|row| {
        let moved_first = first_player_moves_first(row.number);
        Some(Moved {
            game_id: row.game_id,
            number: row.number,
            half_points: half_points(moved_first, Outcome::named(&row.outcome)?),
            margin: first_player_margin(moved_first, row.margin),
            likeness: Likeness(cell, row.moves_hash, row.opening_id, row.first_player_id),
            worker: row.worker_id,
            plies: row.plies,
            wall_us: row.wall_us as f64,
            started: row.started,
        })
    });
    Ok(games.collect())
}

async fn failed_games(tx: &mut Transaction<'_>, piece: Piece) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT count(*) AS "games!: i64" FROM games
        WHERE cell_id = ?1 AND number >= ?2 AND number < ?3 AND failure IS NOT NULL"#,
        piece.cell,
        piece.first,
        piece.end
    )
    .fetch_one(tx.connection())
    .await?)
}

async fn mark_games(
    tx: &mut Transaction<'_>,
    games: &[i64],
    count: bool,
) -> Result<(), StoreError> {
    let list = rows(games)?;
    let reason = (!count).then_some(BEYOND_STOP);
    sqlx::query!(
        "UPDATE games SET counted = ?2, not_counted_reason = ?3
        WHERE game_id IN (SELECT value FROM json_each(?1))",
        list,
        count,
        reason
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The searches of games for the rollups, whether or not their moves are stored.
async fn searches_of(tx: &mut Transaction<'_>, games: &[i64]) -> Result<Searches, StoreError> {
    let list = rows(games)?;
    let depths = sqlx::query!(
        r#"SELECT cell_id AS "cell_id!", player_id AS "player_id!: i64",
            depth AS "depth!", sum(searched_moves) AS "searched_moves!: i64",
            total(wall_us) AS "wall_us!: f64", total(cpu_us) AS "cpu_us!: f64",
            total(nodes) AS "nodes!: f64", total(evaluations) AS "evaluations!: f64",
            total(full_tree_leaves) AS "full_tree_leaves!: f64",
            total(wall_us_squared) AS "wall_us_squared!: f64"
        FROM (
            SELECT g.cell_id, m.player_id, m.depth, 1 AS searched_moves, m.wall_us, m.cpu_us,
                m.nodes, m.evaluations, m.full_tree_leaves,
                1.0 * m.wall_us * m.wall_us AS wall_us_squared
            FROM json_each(?1) AS j
            CROSS JOIN games AS g ON g.game_id = j.value
            CROSS JOIN moves AS m ON m.game_id = g.game_id
            WHERE m.ended_by <> 'only_move'
            UNION ALL
            SELECT g.cell_id,
                CASE d.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END,
                d.depth, d.searched_moves, d.wall_us, d.cpu_us, d.nodes, d.evaluations,
                d.full_tree_leaves, d.wall_us_squared
            FROM json_each(?1) AS j
            CROSS JOIN games AS g ON g.game_id = j.value
            CROSS JOIN game_depths AS d ON d.game_id = g.game_id)
        GROUP BY cell_id, player_id, depth"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let times = sqlx::query!(
        r#"SELECT cell_id AS "cell_id!", player_id AS "player_id!: i64", depth AS "depth!",
            bucket AS "bucket!: u32",
            sum(searched_moves) AS "searched_moves!: i64"
        FROM (
            SELECT g.cell_id, m.player_id, m.depth, (
                SELECT b.time_bucket_id FROM time_buckets AS b
                WHERE b.from_us <= m.wall_us ORDER BY b.from_us DESC LIMIT 1) AS bucket,
                1 AS searched_moves
            FROM json_each(?1) AS j
            CROSS JOIN games AS g ON g.game_id = j.value
            CROSS JOIN moves AS m ON m.game_id = g.game_id
            WHERE m.ended_by <> 'only_move'
            UNION ALL
            SELECT g.cell_id,
                CASE d.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END,
                d.depth, CAST(t.key AS INTEGER), t.value
            FROM json_each(?1) AS j
            CROSS JOIN games AS g ON g.game_id = j.value
            CROSS JOIN game_depths AS d ON d.game_id = g.game_id
            CROSS JOIN json_each(d.move_times_json) AS t)
        GROUP BY cell_id, player_id, depth, bucket"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(Searches {
        depths: depths
            .into_iter()
            .map(|row| {
                let sums = Sums {
                    searched_moves: row.searched_moves,
                    wall_us: row.wall_us,
                    cpu_us: row.cpu_us,
                    nodes: row.nodes,
                    evaluations: row.evaluations,
                    full_tree_leaves: row.full_tree_leaves,
                    wall_us_squared: row.wall_us_squared,
                };
                ((row.cell_id, row.player_id, row.depth), sums)
            })
            .collect(),
        times: times
            .into_iter()
            .map(|row| ((row.cell_id, row.player_id, row.depth, row.bucket), row.searched_moves))
            .collect(),
    })
}

/// Subtracts searches of a cell from `cell_depths` and `cell_move_times`.
async fn take_searches(
    tx: &mut Transaction<'_>,
    cell: i64,
    searches: Searches,
) -> Result<(), StoreError> {
    let taken = searches.depths.clone();
    rollups::add_searches(tx, &searches.negated()).await?;
    sqlx::query!("DELETE FROM cell_depths WHERE cell_id = ? AND searched_moves = 0", cell)
        .execute(tx.connection())
        .await?;
    sqlx::query!("DELETE FROM cell_move_times WHERE cell_id = ? AND searched_moves = 0", cell)
        .execute(tx.connection())
        .await?;
    if has_cancelled(tx, cell, &taken).await? {
        sum_up_searches(tx, cell).await?;
    }
    Ok(())
}

/// Whether sums of a cell lost digits when these were subtracted: where one search took an hour and all others a
/// millisecond, only rounding is left of the others' squares.
async fn has_cancelled(
    tx: &mut Transaction<'_>,
    cell: i64,
    taken: &BTreeMap<(i64, i64, u32), Sums>,
) -> Result<bool, StoreError> {
    let left = sqlx::query!(
        r#"SELECT player_id, depth, wall_us, cpu_us, nodes, evaluations, full_tree_leaves,
            wall_us_squared
        FROM cell_depths WHERE cell_id = ?"#,
        cell
    )
    .fetch_all(tx.connection())
    .await?;
    let has_cancelled = left.iter().any(|row| {
        let Some(taken) = taken.get(&(cell, row.player_id, row.depth)) else { return false };
        [
            (row.wall_us, taken.wall_us),
            (row.cpu_us, taken.cpu_us),
            (row.nodes, taken.nodes),
            (row.evaluations, taken.evaluations),
            (row.full_tree_leaves, taken.full_tree_leaves),
            (row.wall_us_squared, taken.wall_us_squared),
        ]
        .iter()
        .any(|(left, taken)| left * CANCELLATION < *taken)
    });
    Ok(has_cancelled)
}

/// Recomputes a cell's search sums from all its counted games.
async fn sum_up_searches(tx: &mut Transaction<'_>, cell: i64) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM cell_depths WHERE cell_id = ?", cell)
        .execute(tx.connection())
        .await?;
    sqlx::query!("DELETE FROM cell_move_times WHERE cell_id = ?", cell)
        .execute(tx.connection())
        .await?;
    let mut first = 0;
    loop {
        let games = sqlx::query!(
            r#"SELECT game_id AS "game_id!", number FROM games
            WHERE cell_id = ?1 AND number >= ?2 AND counted = 1 ORDER BY number LIMIT ?3"#,
            cell,
            first,
            NUMBERS_AT_ONCE
        )
        .fetch_all(tx.connection())
        .await?;
        let Some(last) = games.last() else { return Ok(()) };
        first = last.number + 1;
        let ids: Vec<i64> = games.iter().map(|game| game.game_id).collect();
        let searches = searches_of(tx, &ids).await?;
        rollups::add_searches(tx, &searches).await?;
    }
}
