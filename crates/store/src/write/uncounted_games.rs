//! Results beside the settled ones: stored completely, each with its reason (invariant 4).

use spelrum_engine::{Outcome, Side};
use spelrum_model::repeat::{Repeated, SettledMove, SettledResult, SettledSearches, compare};
use spelrum_model::{PlayedGame, WorkerId};
use spelrum_names::Names;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::checked_games::{self, Checked};
use crate::write::excluded_workers;
use crate::write::game_rows::{GameRow, MoveRow, move_rows};
use crate::write::transaction::Transaction;

/// Why a result does not count. The names are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
pub enum Reason {
    /// The game already has its result, and this one is identical or allowed to differ.
    Repeat,
    /// The game already has its result, and this one differs where it must not.
    Conflict,
    /// The experiment was already cancelled.
    AfterCancel,
    /// Its worker is excluded.
    Excluded,
    /// Its players were disturbed, and the game is replayed.
    Disturbed,
}

impl From<Repeated> for Reason {
    fn from(repeated: Repeated) -> Self {
        match repeated {
            Repeated::Repeat => Self::Repeat,
            Repeated::Conflict => Self::Conflict,
        }
    }
}

/// Stores other results completely in `uncounted_games`; distinguishes repeats from conflicts itself.
///
/// # Errors
/// If a game is not one that an engine reports (see [`PlayedGame::check`]), or the database fails.
pub(crate) async fn store(
    tx: &mut Transaction<'_>,
    games: &[(WorkerId, PlayedGame)],
    after_cancel: bool,
) -> Result<(), StoreError> {
    let games = checked_games::check(tx, games).await?;
    keep(tx, &games, after_cancel.then_some(Reason::AfterCancel)).await
}

/// Stores checked results, with the given reason or a computed one.
pub(crate) async fn keep(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
    reason: Option<Reason>,
) -> Result<(), StoreError> {
    // Such results are few: storing them singly is simple, and fast enough.
    for game in games {
        let reason = match reason {
            _ if excluded_workers::is_excluded(tx, game.worker, game.cell_id()).await? => {
                Reason::Excluded
            }
            Some(reason) => reason,
            None => {
                let settled = settled_of(tx, game.cell_id(), game.number).await?;
                compare(settled.as_ref(), game.played).into()
            }
        };
        if reason == Reason::Conflict {
            tracing::warn!(
                cell = game.cell_id(),
                number = game.number,
                worker = game.worker.0,
                "two results of one deterministic game differ"
            );
        }
        insert(tx, game, reason.name(), None).await?;
    }
    Ok(())
}

/// The stored record of the game's settled result, if any, unless the game finally failed.
pub(crate) async fn settled_of(
    tx: &mut Transaction<'_>,
    cell: i64,
    number: i64,
) -> Result<Option<SettledResult>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT g.game_id AS "game_id!", g.first_side AS "first_side!", g.outcome AS "outcome!",
            g.margin, g.termination AS "termination!", g.plies AS "plies!: u64",
            g.moves_hash AS "moves_hash!", g.engine_revision AS "engine_revision!", o.position,
            NOT EXISTS (
                SELECT 1 FROM player_parameters AS p
                WHERE p.player_id IN (g.first_player_id, g.second_player_id)
                    AND (p.parameter IN ('move_time_us', 'clock')
                        OR p.parameter = 'reproducible' AND p.value_text = 'false')
            ) AS "is_deterministic!: bool",
            EXISTS (SELECT 1 FROM moves AS m WHERE m.game_id = g.game_id) AS "has_moves!: bool",
            (SELECT coalesce(sum(s.nodes), 0) FROM game_sides AS s WHERE s.game_id = g.game_id)
                AS "nodes!: u64"
        FROM games AS g JOIN openings AS o ON o.opening_id = g.opening_id
        WHERE g.cell_id = ? AND g.number = ? AND g.outcome IS NOT NULL"#,
        cell,
        number
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(found) = found else { return Ok(None) };
    let searches = if found.has_moves {
        SettledSearches::Moves(settled_moves(tx, found.game_id).await?)
    } else {
        SettledSearches::Nodes(found.nodes)
    };
    let named = Side::named(&found.first_side).zip(Outcome::named(&found.outcome));
    Ok(named.map(|(first_side, outcome)| SettledResult {
        is_deterministic: found.is_deterministic,
        engine_revision: found.engine_revision,
        opening: found.position,
        first_side,
        outcome,
        margin: found.margin,
        termination: found.termination,
        plies: found.plies,
        moves_hash: found.moves_hash,
        searches,
    }))
}

async fn settled_moves(
    tx: &mut Transaction<'_>,
    game_id: i64,
) -> Result<Vec<SettledMove>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT move AS "mv", depth, nodes, score
        FROM moves WHERE game_id = ? ORDER BY ply"#,
        game_id
    )
    .fetch_all(tx.connection())
    .await?;
    let moves = found.into_iter().map(|row| SettledMove {
        mv: row.mv,
        depth: row.depth,
        nodes: row.nodes,
        score: row.score,
    });
    Ok(moves.collect())
}

/// Stores a checked result with the reason; the time of receipt defaults to now. Returns its id.
pub(crate) async fn insert(
    tx: &mut Transaction<'_>,
    checked: &Checked<'_>,
    reason: &'static str,
    received_unix_us: Option<i64>,
) -> Result<i64, StoreError> {
    let list = rows(&[GameRow::new(None, checked, Some(reason))])?;
    let now = received_unix_us.unwrap_or(tx.now_unix_us);
    let id = sqlx::query_scalar!(
        r#"INSERT INTO uncounted_games (cell_id, number, opening_id, first_player_id,
            second_player_id, first_side, outcome, termination, plies, moves_hash,
            engine_revision, started_unix_us, wall_us, worker_id, reason, margin,
            received_unix_us, time_factor, speed)
        SELECT value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
            value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12,
            value ->> 13, value ->> 14, value ->> 16, value ->> 17, ?2,
            value ->> 20, value ->> 21
        FROM jsonb_each(?1)
        RETURNING uncounted_game_id AS "id!""#,
        list,
        now
    )
    .fetch_one(tx.connection())
    .await?;
    let moves: Vec<MoveRow<'_>> = move_rows(id, checked).collect();
    let list = rows(&moves)?;
    sqlx::query!(
        "INSERT INTO uncounted_moves (uncounted_game_id, ply, side, player_id, move,
            position_key, legal_moves, depth, nodes, evaluations, full_tree_leaves, score,
            wall_us, cpu_us, ended_by, involuntary_switches)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11,
            value ->> 12, value ->> 13, value ->> 14, value ->> 15
        FROM jsonb_each(?)",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(id)
}
