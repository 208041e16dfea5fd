//! Writes games without moves: they are stored as uncounted games, and then counted as when the end of their cell
//! moves, so that every rollup follows automatically.

use spelrum_model::repeat::{Repeated, compare_bare};
use spelrum_model::{CellId, GameId, WorkerId};

use super::played_games::BareGame;
use super::workers::MetWorkers;
use crate::error::StoreError;
use crate::schema::numbers::{integer, scaled_columns};
use crate::write::game_rows::BEYOND_STOP;
use crate::write::rollups::{self, WorkerSums};
use crate::write::transaction::Transaction;
use crate::write::{checked_games, game_digests, game_engines, openings, stops, uncounted_games};

/// Keeps a result without moves beside the settled one, unless it is kept already.
pub(super) async fn keep_bare_once(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    game: &BareGame,
    reason: Option<&'static str>,
) -> Result<Option<Repeated>, StoreError> {
    let GameId { cell: CellId(cell), number } = game.game;
    let (number, hash) = (integer(number), integer(game.result.moves_hash));
    if is_kept(tx, cell, number, worker, game.started_unix_us, hash).await? {
        return Ok(None);
    }
    let found =
        compare_bare(uncounted_games::settled_of(tx, cell, number).await?.as_ref(), &game.result);
    let reason = reason.unwrap_or_else(|| reason_of(found));
    let Some((movers, opening)) = place_of_bare(tx, cell, game).await? else {
        return Ok(None);
    };
    let [first, second] = movers;
    let result = &game.result;
    let (side, outcome) = (result.first_side.name(), result.outcome.name());
    let (plies, wall_us, now) = (integer(result.plies), integer(game.wall_us), tx.now_unix_us);
    sqlx::query!(
        "INSERT INTO uncounted_games (cell_id, number, reason, opening_id, first_player_id,
            second_player_id, first_side, outcome, termination, plies, moves_hash, worker_id,
            engine_revision, started_unix_us, wall_us, received_unix_us, margin)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        cell,
        number,
        reason,
        opening,
        first,
        second,
        side,
        outcome,
        result.termination,
        plies,
        hash,
        worker.0,
        result.engine_revision,
        game.started_unix_us,
        wall_us,
        now,
        result.margin
    )
    .execute(tx.connection())
    .await?;
    Ok(Some(found))
}

/// The players of a game without moves in moving order, and its opening.
async fn place_of_bare(
    tx: &mut Transaction<'_>,
    cell: i64,
    game: &BareGame,
) -> Result<Option<([i64; 2], i64)>, StoreError> {
    checked_games::fill_cells(tx, std::iter::once(cell)).await?;
    let Some(info) = tx.cache.cells.get(&cell).cloned() else { return Ok(None) };
    let opening = (&*info.game, &*game.result.opening);
    openings::fill_openings(tx, std::iter::once(opening)).await?;
    let key = (info.game.clone(), game.result.opening.clone());
    let opening = tx.cache.openings.get(&key).copied();
    Ok(opening.map(|opening| (info.movers(integer(game.game.number)), opening)))
}

/// Stores games without moves: uncounted at first, then counted as their cell requires.
pub(super) async fn import_bare(
    tx: &mut Transaction<'_>,
    CellId(cell): CellId,
    games: &[Box<BareGame>],
    workers: &MetWorkers,
) -> Result<(), StoreError> {
    if games.is_empty() {
        return Ok(());
    }
    let stop = sqlx::query_scalar!(
        r#"SELECT stop_number AS "stop_number: i64" FROM cells WHERE cell_id = ?"#,
        cell
    )
    .fetch_one(tx.connection())
    .await?;
    stops::move_end(tx, cell, stop, Some(0)).await?;
    let mut sums = WorkerSums::default();
    let mut ids = Vec::with_capacity(games.len());
    for game in games {
        let worker = workers.get(&game.worker).map_or(WorkerId(0), |(worker, _)| *worker);
        ids.extend(insert_bare(tx, cell, worker, game).await?);
        if let Some(info) = tx.cache.cells.get(&cell) {
            sums.played(worker.0, info.experiment, game.started_unix_us);
        }
    }
    game_digests::digest_games(tx, &ids).await?;
    rollups::add_worker_sums(tx, &sums).await?;
    let mut results = rollups::cell_results(tx, std::iter::once(cell)).await?;
    results.entry(cell).or_default();
    rollups::write_cell_results(tx, &results).await?;
    stops::move_end(tx, cell, Some(0), stop).await
}

async fn insert_bare(
    tx: &mut Transaction<'_>,
    cell: i64,
    worker: WorkerId,
    game: &BareGame,
) -> Result<Option<i64>, StoreError> {
    let Some((movers, opening)) = place_of_bare(tx, cell, game).await? else {
        return Ok(None);
    };
    let [first, second] = movers;
    let result = &game.result;
    let number = integer(game.game.number);
    let (side, outcome) = (result.first_side.name(), result.outcome.name());
    let (plies, wall_us) = (integer(result.plies), integer(game.wall_us));
    let hash = integer(result.moves_hash);
    let timed = tx.cache.cells.get(&cell).and_then(|info| info.timed);
    let share = game.robbed_share.filter(|_| timed.is_some());
    let disturbed = share.zip(timed).map(|(share, timed)| timed.disturbs(share));
    let (time_factor, speed) = scaled_columns(game.scaled);
    let id = sqlx::query_scalar!(
        r#"INSERT INTO games (cell_id, number, opening_id, first_player_id, second_player_id,
            first_side, outcome, termination, plies, moves_hash, worker_id, engine_revision,
            started_unix_us, wall_us, counted, not_counted_reason, margin, robbed_share,
            disturbed, time_factor, speed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, ?15, ?16, ?17,
            ?18, ?19, ?20)
        RETURNING game_id AS "id!""#,
        cell,
        number,
        opening,
        first,
        second,
        side,
        outcome,
        result.termination,
        plies,
        hash,
        worker.0,
        result.engine_revision,
        game.started_unix_us,
        wall_us,
        BEYOND_STOP,
        result.margin,
        share,
        disturbed,
        time_factor,
        speed
    )
    .fetch_one(tx.connection())
    .await?;
    game_engines::keep(tx, id, &game.engines, game.forfeit.as_ref()).await?;
    for (row, player) in game.sides.iter().zip(movers) {
        sqlx::query!(
            "INSERT INTO game_sides (game_id, side, player_id, moves, searched_moves, wall_us,
                cpu_us, nodes, evaluations, full_tree_leaves, wall_us_squared)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            id,
            row.side,
            player,
            row.moves,
            row.searched_moves,
            row.wall_us,
            row.cpu_us,
            row.nodes,
            row.evaluations,
            row.full_tree_leaves,
            row.wall_us_squared
        )
        .execute(tx.connection())
        .await?;
    }
    for row in &game.depths {
        let times = serde_json::to_string(&row.times)
            .map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))?;
        sqlx::query!(
            "INSERT INTO game_depths (game_id, side, depth, searched_moves, wall_us, cpu_us,
                nodes, evaluations, full_tree_leaves, wall_us_squared, move_times_json)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            id,
            row.side,
            row.depth,
            row.searched_moves,
            row.wall_us,
            row.cpu_us,
            row.nodes,
            row.evaluations,
            row.full_tree_leaves,
            row.wall_us_squared,
            times
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(Some(id))
}

/// Whether this result is kept beside the settled one.
pub(super) async fn is_kept(
    tx: &mut Transaction<'_>,
    cell: i64,
    number: i64,
    worker: WorkerId,
    started_unix_us: i64,
    moves_hash: i64,
) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (
            SELECT 1 FROM uncounted_games
            WHERE cell_id = ? AND number = ? AND worker_id = ? AND started_unix_us = ?
                AND moves_hash = ?
        ) AS "kept!: bool""#,
        cell,
        number,
        worker.0,
        started_unix_us,
        moves_hash
    )
    .fetch_one(tx.connection())
    .await?)
}

/// The stored name of the reason for keeping a result beside the settled one.
pub(super) fn reason_of(found: Repeated) -> &'static str {
    match found {
        Repeated::Repeat => "repeat",
        Repeated::Conflict => "conflict",
    }
}
