//! Verifications: games replayed by another worker, and the comparison of both results.

use std::collections::BTreeMap;

use spelrum_model::{
    CellId, DefinitionHash, ExperimentId, GameId, PlayedVerification, VerificationDefinition,
    WorkerId,
};
use spelrum_scheduling::scheduler::{CellState, Tasks};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::integer;
use crate::write::requirements;
use crate::write::transaction::Transaction;

/// The cell number of all verifications: outside the grid, like that of trainings.
pub(crate) const VERIFICATION_NUMBER: i64 = -1;

/// The reason for a missing verdict when the game's result no longer exists.
const RESULT_IS_GONE: &str = "the result that it was to be compared with was taken out";

/// A game to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToVerify {
    /// The id of the game with this very result.
    pub game_id: i64,
    /// The game's cell and number.
    pub game: GameId,
    /// The cell's definition, as canonical JSON.
    pub definition_json: String,
    /// The nodes at which the search of each ply ends; empty if the moves are not recorded.
    pub stops: Vec<u64>,
    /// The worker that played the game.
    pub played_by: Option<WorkerId>,
}

impl ToVerify {
    /// The hash of the verification's definition, and the stops in their stored form.
    pub fn named(&self, ordered_before: u32) -> (DefinitionHash, String) {
        let (cell, stops) = (&self.definition_json, &self.stops);
        let json = VerificationDefinition::json_of(cell, self.game.number, stops, ordered_before);
        let list = serde_json::to_string(stops).unwrap_or_default();
        (DefinitionHash::from_json(&json), list)
    }
}

/// A verification with a different result, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The game.
    pub game: GameId,
    /// The worker that played the game.
    pub played_by: Option<WorkerId>,
    /// The worker that replayed the game.
    pub verified_by: WorkerId,
    /// The first ply that differs; `None` for a difference in the whole game.
    pub ply: Option<u32>,
}

/// Orders verifications of games, each in a cell of its own; returns the new cells. Skips games whose results no
/// longer exist.
///
/// # Errors
/// If the database fails.
pub(crate) async fn order(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    games: &[ToVerify],
) -> Result<Vec<CellState>, StoreError> {
    let now = tx.now_unix_us;
    let mut id = tx.last_id("cells").await?;
    let mut states = Vec::with_capacity(games.len());
    for game in games {
        let (cell, number) = (game.game.cell.0, integer(game.game.number));
        let known = sqlx::query!(
            r#"SELECT
                (SELECT count(*) FROM verifications AS v
                    WHERE v.verified_cell_id = ?1 AND v.number = ?2) AS "before!: u32",
                EXISTS (SELECT 1 FROM games AS g
                    WHERE g.game_id = ?3 AND g.cell_id = ?1 AND g.number = ?2) AS "is_there!: bool",
                EXISTS (SELECT 1 FROM verifications AS v
                    WHERE v.game_id = ?3 AND v.settled_unix_us IS NULL) AS "waits!: bool""#,
            cell,
            number,
            game.game_id
        )
        .fetch_one(tx.connection())
        .await?;
        if !known.is_there || known.waits {
            continue;
        }
        let (hash, stops) = game.named(known.before);
        let hash = hash.to_string();
        id += 1;
        sqlx::query!(
            "INSERT INTO cells (experiment_id, cell_id, number, definition_hash, conditions_id, seed,
                first_player_id, second_player_id, first_player_name, second_player_name,
                openings, games_planned, swap_sides, timed, in_sweep)
            SELECT ?1, ?2, ?3, ?4, conditions_id, 0, first_player_id, second_player_id,
                first_player_name, second_player_name, openings, 1, 0, 0, 0
            FROM cells WHERE cell_id = ?5",
            experiment.0,
            id,
            VERIFICATION_NUMBER,
            hash,
            cell
        )
        .execute(tx.connection())
        .await?;
        let played_by = game.played_by.map(|worker| worker.0);
        sqlx::query!(
            "INSERT INTO verifications (cell_id, verified_cell_id, number, game_id, ordered_before,
                stops_json, played_by_worker_id, ordered_unix_us)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            id,
            cell,
            number,
            game.game_id,
            known.before,
            stops,
            played_by,
            now
        )
        .execute(tx.connection())
        .await?;
        let tasks = Tasks::Verifications { not_by: game.played_by };
        states.push(CellState { swap_sides: false, tasks, ..CellState::new(CellId(id), 1) });
    }
    requirements::add_to_cells(tx, experiment.0, &mut states).await?;
    Ok(states)
}

/// Adds to cells that are verifications their details.
pub(crate) async fn add_to_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    cells: &mut [CellState],
) -> Result<(), StoreError> {
    let found = sqlx::query!(
        r#"SELECT v.cell_id AS "cell_id!", v.played_by_worker_id
        FROM cells AS c CROSS JOIN verifications AS v ON v.cell_id = c.cell_id
        WHERE c.experiment_id = ? AND c.number = ?"#,
        experiment,
        VERIFICATION_NUMBER
    )
    .fetch_all(tx.connection())
    .await?;
    if found.is_empty() {
        return Ok(());
    }
    let found: BTreeMap<_, _> =
        found.into_iter().map(|row| (row.cell_id, row.played_by_worker_id)).collect();
    for cell in cells {
        if let Some(played_by) = found.get(&cell.cell.0) {
            cell.tasks = Tasks::Verifications { not_by: played_by.map(WorkerId) };
            cell.in_sweep = true;
            // The networks existed when the game was played.
            cell.after = None;
        }
    }
    Ok(())
}

/// Stores verdicts, each with the worker that replayed the game; returns verifications that differ. An existing
/// verdict stays.
///
/// # Errors
/// If the database fails.
pub(crate) async fn store(
    tx: &mut Transaction<'_>,
    verifications: &[(WorkerId, PlayedVerification)],
) -> Result<Vec<Deviation>, StoreError> {
    let now = tx.now_unix_us;
    let mut deviations = Vec::new();
    for (worker, PlayedVerification { played, difference }) in verifications {
        let cell = played.game.cell.0;
        let verdict = if difference.is_some() { "different" } else { "same" };
        let ply = difference.as_ref().and_then(|difference| difference.ply);
        let json = difference
            .as_ref()
            .map(|difference| serde_json::to_string(difference).unwrap_or_default());
        let stored = sqlx::query!(
            r#"UPDATE verifications SET settled_unix_us = ?2, verified_by_worker_id = ?3,
                engine_revision = ?4,
                verdict = CASE WHEN game_id IS NULL THEN 'not played' ELSE ?5 END,
                failure = CASE WHEN game_id IS NULL THEN ?6 END,
                ply = CASE WHEN game_id IS NOT NULL THEN ?7 END,
                difference_json = CASE WHEN game_id IS NOT NULL THEN ?8 END
            WHERE cell_id = ?1 AND settled_unix_us IS NULL
            RETURNING verified_cell_id, number, verdict AS "verdict!",
                played_by_worker_id"#,
            cell,
            now,
            worker.0,
            played.engine_revision,
            verdict,
            RESULT_IS_GONE,
            ply,
            json
        )
        .fetch_optional(tx.connection())
        .await?;
        if let Some(row) = stored.filter(|row| row.verdict == "different") {
            let cell = CellId(row.verified_cell_id);
            deviations.push(Deviation {
                game: GameId { cell, number: row.number },
                played_by: row.played_by_worker_id.map(WorkerId),
                verified_by: *worker,
                ply,
            });
        }
    }
    Ok(deviations)
}

/// Settles the verifications among these tasks as failed: they cannot be played.
pub(crate) async fn settle_failed(
    tx: &mut Transaction<'_>,
    tasks: &[(GameId, String)],
) -> Result<(), StoreError> {
    let list: Vec<(i64, &str)> =
        tasks.iter().map(|(task, message)| (task.cell.0, &**message)).collect();
    let (list, now) = (rows(&list)?, tx.now_unix_us);
    sqlx::query!(
        "UPDATE verifications SET settled_unix_us = ?2, verdict = 'not played',
            failure = j.value ->> 1
        FROM jsonb_each(?1) AS j
        WHERE verifications.cell_id = j.value ->> 0 AND settled_unix_us IS NULL",
        list,
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes the verifications of cells, and those whose tasks belong to these cells.
pub(crate) async fn remove(tx: &mut Transaction<'_>, cells: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM verifications WHERE cell_id IN (SELECT value FROM json_each(?1))
            OR verified_cell_id IN (SELECT value FROM json_each(?1))",
        cells
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
