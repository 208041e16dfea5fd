//! Disturbed games: results that are kept beside the settled ones while their games are played again, and how many
//! there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use spelrum_tournament::results::DisturbedGames;
use spelrum_tournament::{CellId, ExperimentId, GameId, LeaseId, PlayedGame, WorkerId};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::unsigned;
use crate::write::checked_games;
use crate::write::number_runs::runs;
use crate::write::transaction::Transaction;
use crate::write::uncounted_games::{self, Reason};

/// Under which leases disturbed results of a game are kept; 0 of one whose lease is not known.
pub(crate) type KeptDisturbed = HashMap<(i64, i64), Vec<i64>>;

/// Keeps results whole that were disturbed and whose games are played again: each once, by the lease under which it
/// was reported.
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

/// What is kept of these games.
pub(crate) async fn kept(
    tx: &mut Transaction<'_>,
    games: &[GameId],
) -> Result<KeptDisturbed, StoreError> {
    // One that comes twice would be counted twice.
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

/// How many disturbed games of each cell of an experiment count, and how many were played again.
pub(crate) async fn disturbed(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<DisturbedGames>, StoreError> {
    let mut cells: BTreeMap<i64, DisturbedGames> = BTreeMap::new();
    let none =
        |cell| DisturbedGames { cell: CellId(cell), games: 0, replayed: 0, half_points_before: 0 };
    let marked = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!: i64", count(*) AS "games!: i64"
        FROM cells AS c JOIN games AS g ON g.cell_id = c.cell_id AND g.disturbed = 1
        WHERE c.experiment_id = ? AND c.in_sweep = 1 AND g.counted = 1
        GROUP BY c.cell_id"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in marked {
        cells.entry(row.cell_id).or_insert_with(|| none(row.cell_id)).games = unsigned(row.games);
    }
    // The first of them that is disturbed is the first result that there was.
    let replayed = sqlx::query!(
        r#"SELECT g.cell_id AS "cell_id!: i64", count(*) AS "games!: i64",
            sum((CASE f.outcome WHEN 'win' THEN 1 WHEN 'loss' THEN -1 ELSE 0 END
                - CASE g.outcome WHEN 'win' THEN 1 WHEN 'loss' THEN -1 ELSE 0 END)
                * (1 - 2 * (g.number % 2 * c.swap_sides))) AS "half_points!: i64"
        FROM (
            SELECT u.cell_id, u.number, min(u.uncounted_game_id) AS first_id
            FROM cells AS n JOIN uncounted_games AS u ON u.cell_id = n.cell_id
            WHERE n.experiment_id = ? AND n.in_sweep = 1 AND u.reason = 'disturbed'
            GROUP BY u.cell_id, u.number) AS r
        JOIN uncounted_games AS f ON f.uncounted_game_id = r.first_id
        JOIN games AS g ON g.cell_id = r.cell_id AND g.number = r.number AND g.counted = 1
        JOIN cells AS c ON c.cell_id = g.cell_id
        GROUP BY g.cell_id"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in replayed {
        let of = cells.entry(row.cell_id).or_insert_with(|| none(row.cell_id));
        (of.replayed, of.half_points_before) = (unsigned(row.games), row.half_points);
    }
    Ok(cells.into_values().collect())
}
