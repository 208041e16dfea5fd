//! Disturbed games: results kept beside the settled ones while their games are replayed, and their number.

use std::collections::{BTreeSet, HashMap};

use spelrum_model::{GameId, LeaseId, PlayedGame, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::checked_games;
use crate::write::number_runs::runs;
use crate::write::transaction::Transaction;
use crate::write::uncounted_games::{self, Reason};

/// The leases of a game's kept disturbed results; 0 for an unknown lease.
pub(crate) type KeptDisturbed = HashMap<(i64, i64), Vec<i64>>;

/// Stores complete results of disturbed games that will be replayed: each once, by the lease under which it was
/// reported.
///
/// # Errors
/// If a game is not one that an engine reports (see [`PlayedGame::check`]), or the database fails.
pub(crate) async fn store(
    tx: &mut Transaction<'_>,
    games: &[(WorkerId, LeaseId, PlayedGame)],
) -> Result<(), StoreError> {
    let played: Vec<(WorkerId, PlayedGame)> =
        games.iter().map(|(worker, _, game)| (*worker, game.clone())).collect();
    let checked = checked_games::check(tx, &played).await?;
    for (game, (_, lease, played)) in checked.iter().zip(games) {
        let there = kept(tx, &[played.game]).await?;
        if there.get(&game.id()).is_some_and(|leases| leases.contains(&lease.0)) {
            continue;
        }
        let id = uncounted_games::insert(tx, game, Reason::Disturbed.name(), None).await?;
        sqlx::query!(
            "UPDATE uncounted_games SET lease_id = ? WHERE uncounted_game_id = ?",
            lease.0,
            id
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}

/// The disturbed results kept of these games.
pub(crate) async fn kept(
    tx: &mut Transaction<'_>,
    games: &[GameId],
) -> Result<KeptDisturbed, StoreError> {
    // A duplicate would be counted twice.
    let games: BTreeSet<GameId> = games.iter().copied().collect();
    let list = rows(&runs(games.into_iter()))?;
    let found = sqlx::query!(
        r#"SELECT u.cell_id, u.number, coalesce(u.lease_id, 0) AS "lease_id!: i64"
        FROM jsonb_each(?) AS j
        CROSS JOIN uncounted_games AS u ON u.cell_id = j.value ->> 0
            AND u.number BETWEEN j.value ->> 1 AND j.value ->> 2
        WHERE u.reason = 'disturbed'"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let mut kept = KeptDisturbed::new();
    for row in found {
        kept.entry((row.cell_id, row.number)).or_default().push(row.lease_id);
    }
    Ok(kept)
}
