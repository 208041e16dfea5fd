//! Storing results: settled games with their moves and rollups in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use spelrum_engine::Outcome;
use spelrum_model::{GameId, PlayedGame, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::integer;
use crate::write::checked_games::{self, Checked};
use crate::write::distinct_games::{self, Likeness};
use crate::write::game_digests::{self, NewDigests};
use crate::write::game_rows::{BEYOND_STOP, GameRow, MoveRow, NoteRow, move_rows, note_rows};
use crate::write::insert::insert_digested;
use crate::write::number_runs::runs;
use crate::write::rollup_sums::{Searches, SideSums, side_depths};
use crate::write::rollups::{self, CountedEnd, StoredEnd};
use crate::write::side_rows::{DepthRow, depth_row, side_row};
use crate::write::transaction::Transaction;
use crate::write::{game_engines, move_values, networks, uncounted_games, verifications};

/// Stores settled results, each with its worker, their moves (if the sweep records them) and all rollups.
///
/// Storing is idempotent: a game that already has its settled result, or comes twice, is kept in `uncounted_games`
/// instead (invariant 4).
///
/// # Errors
/// If a game is not one that an engine reports (see [`PlayedGame::check`]), or the database fails.
pub(crate) async fn store(
    tx: &mut Transaction<'_>,
    games: &[(WorkerId, PlayedGame)],
) -> Result<(), StoreError> {
    let games = checked_games::check(tx, games).await?;
    if games.is_empty() {
        return Ok(());
    }
    let there = there(tx, &games).await?;
    let mut seen = BTreeSet::new();
    let (new, again): (Vec<_>, Vec<_>) = games
        .into_iter()
        .partition(|game| !there.contains_key(&game.id()) && seen.insert(game.id()));
    if !new.is_empty() {
        store_new(tx, &new, &there).await?;
    }
    uncounted_games::keep(tx, &again, None).await
}

async fn store_new(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
    there: &HashMap<(i64, i64), StoredEnd>,
) -> Result<(), StoreError> {
    let distinct = distinct(tx, games).await?;
    let first_id = tx.last_id("games").await? + 1;
    let mut digests = NewDigests::new(first_id, games.len());
    insert_games(tx, first_id, games, &mut digests).await?;
    insert_moves(tx, first_id, games, &mut digests).await?;
    insert_depths(tx, first_id, games, &mut digests).await?;
    move_values::insert(tx, games).await?;
    game_engines::insert(tx, first_id, games, &mut digests).await?;
    let sides: Vec<[SideSums; 2]> =
        games.iter().map(|game| SideSums::from_moves(&game.played.record.moves)).collect();
    let searches = insert_sides(tx, first_id, games, &sides, &mut digests).await?;
    game_digests::insert_digests(tx, &digests).await?;
    rollups::add_searches(tx, &searches).await?;
    rollups::add_cell_results(tx, games, &sides, there, &distinct).await?;
    rollups::add_worker_results(tx, games).await
}

/// Settles games as failed, with the message. They have no outcome and never count; a game that already has a settled
/// result is unchanged.
///
/// # Errors
/// If the database fails.
pub(crate) async fn settle_failed(
    tx: &mut Transaction<'_>,
    games: &[(GameId, String)],
) -> Result<(), StoreError> {
    #[derive(Serialize)]
    struct Row<'g>(i64, i64, &'g str);
    networks::settle_failed_trainings(tx, games).await?;
    verifications::settle_failed(tx, games).await?;
    // The first of duplicates wins.
    let mut seen = BTreeSet::new();
    let list: Vec<Row<'_>> = games
        .iter()
        .filter(|(game, _)| seen.insert(*game))
        .map(|(game, message)| Row(game.cell.0, integer(game.number), message))
        .collect();
    let list = rows(&list)?;
    // Settled games are skipped beforehand: an INSERT that conflicts with one would still use up an id.
    let settled = sqlx::query!(
        r#"INSERT INTO games (cell_id, number, first_player_id, second_player_id, counted,
            not_counted_reason, failure)
        SELECT c.cell_id, j.value ->> 1,
            CASE (j.value ->> 1) % 2 * c.swap_sides WHEN 0 THEN c.first_player_id
                ELSE c.second_player_id END,
            CASE (j.value ->> 1) % 2 * c.swap_sides WHEN 0 THEN c.second_player_id
                ELSE c.first_player_id END,
            0, 'failed', j.value ->> 2
        FROM jsonb_each(?1) AS j JOIN cells AS c ON c.cell_id = j.value ->> 0
        WHERE c.number >= 0 AND NOT EXISTS (
            SELECT 1 FROM games AS g
            WHERE g.cell_id = c.cell_id AND g.number = j.value ->> 1)
        ORDER BY j.key
        RETURNING game_id AS "game_id!", cell_id AS "cell_id!", number"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let ids: Vec<i64> = settled.iter().map(|row| row.game_id).collect();
    game_digests::digest_games(tx, &ids).await?;
    checked_games::fill_cells(tx, settled.iter().map(|row| row.cell_id)).await?;
    let mut failed: BTreeMap<i64, i64> = BTreeMap::new();
    for row in settled {
        // A game beyond the cell's end is not a failure of the request.
        let counts = tx.cache.cells.get(&row.cell_id).is_none_or(|cell| cell.counts(row.number));
        *failed.entry(row.cell_id).or_default() += i64::from(counts);
    }
    let mut results = rollups::cell_results(tx, failed.keys().copied()).await?;
    for (cell, count) in failed {
        results.entry(cell).or_default().games_failed += count;
    }
    rollups::write_cell_results(tx, &results).await
}

/// The settled ones among the games and the other games of their pairs.
async fn there(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
) -> Result<HashMap<(i64, i64), StoredEnd>, StoreError> {
    let pairs: BTreeSet<GameId> = games
        .iter()
        .map(|game| GameId { number: game.played.game.number / 2, ..game.played.game })
        .collect();
    let list = rows(&runs(pairs.into_iter()))?;
    let found = sqlx::query!(
        r#"SELECT g.cell_id, g.number, g.counted, g.outcome, g.margin
        FROM jsonb_each(?) AS j
        CROSS JOIN games AS g ON g.cell_id = j.value ->> 0
            AND g.number BETWEEN 2 * (j.value ->> 1) AND 2 * (j.value ->> 2) + 1"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let found = found.into_iter().map(|row| {
        let outcome = row.outcome.as_deref().and_then(Outcome::named);
        let end = outcome.map(|outcome| CountedEnd { outcome, margin: row.margin });
        ((row.cell_id, row.number), StoredEnd { counted: end.filter(|_| row.counted) })
    });
    Ok(found.collect())
}

/// For each game, whether it is the first counted one of its cell with its opening, moves and first mover.
async fn distinct(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
) -> Result<Vec<bool>, StoreError> {
    let key = |game: &Checked<'_>| {
        let hash = integer(game.played.moves_hash);
        Likeness(game.cell_id(), hash, game.opening_id, game.movers()[0])
    };
    let mut seen = BTreeSet::new();
    let distinct = games.iter().map(|game| game.counts() && seen.insert(key(game)));
    let mut distinct: Vec<bool> = distinct.collect();
    let known = distinct_games::counted_likes(tx, &seen).await?;
    if !known.is_empty() {
        for (distinct, game) in distinct.iter_mut().zip(games) {
            *distinct = *distinct && !known.contains(&key(game));
        }
    }
    Ok(distinct)
}

/// Inserts rows of `games` with successive ids.
async fn insert_games(
    tx: &mut Transaction<'_>,
    first_id: i64,
    games: &[Checked<'_>],
    digests: &mut NewDigests,
) -> Result<(), StoreError> {
    let list: Vec<GameRow> = (first_id..)
        .zip(games)
        .map(|(id, game)| GameRow::new(Some(id), game, (!game.counts()).then_some(BEYOND_STOP)))
        .collect();
    insert_digested(tx.connection(), &list, |row, digest| {
        digests.add(row.0.unwrap_or(first_id), digest);
    })
    .await
}

async fn insert_moves(
    tx: &mut Transaction<'_>,
    first_id: i64,
    games: &[Checked<'_>],
    digests: &mut NewDigests,
) -> Result<(), StoreError> {
    let with_moves = || (first_id..).zip(games).filter(|(_, game)| game.cell.record_moves);
    let list: Vec<MoveRow<'_>> = with_moves().flat_map(|(id, game)| move_rows(id, game)).collect();
    insert_digested(tx.connection(), &list, |row, digest| digests.add(row.0, digest)).await?;
    let list: Vec<NoteRow<'_>> = with_moves()
        .flat_map(|(id, game)| note_rows(id, game))
        .collect::<Result<_, StoreError>>()?;
    insert_digested(tx.connection(), &list, |row, digest| digests.add(row.game, digest)).await
}

/// Inserts the searches by depth of games without moves.
async fn insert_depths(
    tx: &mut Transaction<'_>,
    first_id: i64,
    games: &[Checked<'_>],
    digests: &mut NewDigests,
) -> Result<(), StoreError> {
    let of_game = |(id, game): (i64, &Checked<'_>)| {
        let moves = &game.played.record.moves;
        side_depths(moves).into_iter().map(move |(key, depth)| depth_row(id, key, &depth))
    };
    let without_moves = (first_id..).zip(games).filter(|(_, game)| !game.cell.record_moves);
    let list: Vec<DepthRow> = without_moves.flat_map(of_game).collect::<Result<_, StoreError>>()?;
    insert_digested(tx.connection(), &list, |row, digest| digests.add(row.0, digest)).await
}

/// Inserts each game's two sides, and sums their searches.
async fn insert_sides(
    tx: &mut Transaction<'_>,
    first_id: i64,
    games: &[Checked<'_>],
    sides: &[[SideSums; 2]],
    digests: &mut NewDigests,
) -> Result<Searches, StoreError> {
    let mut searches = Searches::default();
    let mut list = Vec::with_capacity(2 * games.len());
    for ((id, game), sides) in (first_id..).zip(games).zip(sides) {
        let movers = game.movers();
        let moves = &game.played.record.moves;
        if game.counts() {
            searches.add(game.cell_id(), movers, moves);
        }
        for (side, (player, sums)) in movers.into_iter().zip(sides).enumerate() {
            list.push(side_row(id, side, player, sums));
        }
    }
    insert_digested(tx.connection(), &list, |row, digest| digests.add(row.0, digest)).await?;
    Ok(searches)
}
