//! Workers barred from an engine because it forfeits on them and not elsewhere. A bar is stored as an exclusion from
//! that engine's games, so their results with the engine are discarded like those of any excluded worker.

use spelrum_model::ExperimentState;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, ExperimentId, GameId, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::integer;
use crate::write::experiments;
use crate::write::transaction::Transaction;

/// Bars a worker from an engine: its results with that engine are discarded and new ones do not count. Repeating the
/// call changes nothing.
///
/// # Errors
/// If the database fails.
pub(crate) async fn bar(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    barred: &Barred,
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let [others, others_games] = barred.of_others.map(integer);
    let (forfeits, games) = (integer(barred.forfeits), integer(barred.games));
    sqlx::query!(
        "INSERT INTO exclusions (worker_id, engine, forfeits, engine_games, forfeits_of_others,
            engine_games_of_others, requested_unix_us)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
            SELECT 1 FROM exclusions
            WHERE worker_id = ?1 AND engine = ?2 AND readmitted_unix_us IS NULL)",
        worker.0,
        barred.engine,
        forfeits,
        games,
        others,
        others_games,
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Bars a worker that has said Hello, and has had no lease yet, from the engines that an earlier start of it (a worker
/// of the same name and host) is barred from. Returns these engines.
///
/// # Errors
/// If the database fails.
pub(crate) async fn inherit(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
) -> Result<Vec<Barred>, StoreError> {
    let now = tx.now_unix_us;
    let found = sqlx::query!(
        r#"INSERT INTO exclusions (worker_id, engine, forfeits, engine_games, forfeits_of_others,
            engine_games_of_others, message, output, requested_unix_us, done_unix_us)
        SELECT w.worker_id, x.engine, x.forfeits, x.engine_games, x.forfeits_of_others,
            x.engine_games_of_others, x.message, x.output, ?2, ?2
        FROM workers AS w
        JOIN exclusions AS x ON x.readmitted_unix_us IS NULL AND x.worker_id <> w.worker_id
            AND x.engine IS NOT NULL
        JOIN workers AS before ON before.worker_id = x.worker_id
            AND before.name = w.name AND before.host = w.host
        WHERE w.worker_id = ?1
            AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.worker_id = ?1)
            AND NOT EXISTS (
                SELECT 1 FROM exclusions AS own
                WHERE own.worker_id = ?1 AND own.engine = x.engine
                    AND own.readmitted_unix_us IS NULL)
        GROUP BY x.engine
        RETURNING engine AS "engine!", forfeits AS "forfeits!",
            engine_games AS "games!", forfeits_of_others AS "others!",
            engine_games_of_others AS "others_games!""#,
        worker.0,
        now
    )
    .fetch_all(tx.connection())
    .await?;
    let mut barred: Vec<Barred> = found
        .into_iter()
        .map(|row| Barred {
            engine: row.engine,
            forfeits: row.forfeits,
            games: row.games,
            of_others: [row.others, row.others_games],
        })
        .collect();
    barred.sort_by(|one, other| one.engine.cmp(&other.engine));
    Ok(barred)
}

/// The workers barred from engines.
pub(crate) async fn barred(
    tx: &mut Transaction<'_>,
) -> Result<Vec<(WorkerId, Barred)>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT worker_id, engine AS "engine!", forfeits AS "forfeits!", engine_games AS "games!",
            forfeits_of_others AS "others!", engine_games_of_others AS "others_games!"
        FROM exclusions
        WHERE engine IS NOT NULL AND readmitted_unix_us IS NULL
        ORDER BY worker_id, engine"#
    )
    .fetch_all(tx.connection())
    .await?;
    let barred = found.into_iter().map(|row| {
        let barred = Barred {
            engine: row.engine,
            forfeits: row.forfeits,
            games: row.games,
            of_others: [row.others, row.others_games],
        };
        (WorkerId(row.worker_id), barred)
    });
    Ok(barred.collect())
}

/// Keeps the engine's fault and message of its last forfeited game, before the game is discarded.
pub(crate) async fn keep_last_forfeit(
    tx: &mut Transaction<'_>,
    exclusion: i64,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE exclusions SET message = f.message, output = f.output
        FROM forfeits AS f
        WHERE exclusion_id = ?1 AND exclusions.message IS NULL AND f.game_id = (
            SELECT max(l.game_id) FROM forfeits AS l
            JOIN games AS g ON g.game_id = l.game_id
            JOIN cells AS c ON c.cell_id = g.cell_id
            JOIN players AS p ON p.player_id = c.first_player_id
            JOIN players AS q ON q.player_id = c.second_player_id
            JOIN exclusions AS x ON x.exclusion_id = ?1
            WHERE g.worker_id = x.worker_id AND x.engine IN (
                p.parameters_json ->> 'engine', q.parameters_json ->> 'engine'))",
        exclusion
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Whether a player of a cell uses an engine.
pub(crate) async fn plays_with(
    tx: &mut Transaction<'_>,
    cell: i64,
    engine: &str,
) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT ?2 IN (p.parameters_json ->> 'engine', q.parameters_json ->> 'engine')
            AS "any?: bool"
        FROM cells AS c
        JOIN players AS p ON p.player_id = c.first_player_id
        JOIN players AS q ON q.player_id = c.second_player_id
        WHERE c.cell_id = ?1"#,
        cell,
        engine
    )
    .fetch_one(tx.connection())
    .await?
    .unwrap_or(false))
}

/// The engines of a cell's two players, by their names in sweeps; the first to move in this game comes first.
///
/// # Errors
/// If the database fails.
pub(crate) async fn engines_of_sides(
    tx: &mut Transaction<'_>,
    game: GameId,
) -> Result<[Option<String>; 2], StoreError> {
    let row = sqlx::query!(
        r#"SELECT c.swap_sides,
            p.parameters_json ->> 'engine' AS "first?: String",
            q.parameters_json ->> 'engine' AS "second?: String"
        FROM cells AS c
        JOIN players AS p ON p.player_id = c.first_player_id
        JOIN players AS q ON q.player_id = c.second_player_id
        WHERE c.cell_id = ?"#,
        game.cell.0
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(row.map_or([None, None], |row| {
        let swaps = row.swap_sides && game.number % 2 == 1;
        if swaps { [row.second, row.first] } else { [row.first, row.second] }
    }))
}

/// Marks experiments with these cells in which a player has forfeited more games than the sweep allows: each as
/// stopped for that player.
///
/// # Errors
/// If the database fails.
pub(crate) async fn stop_for_forfeits(
    tx: &mut Transaction<'_>,
    cells: &[CellId],
) -> Result<Vec<StoppedForForfeits>, StoreError> {
    let list = rows(&cells.iter().map(|cell| cell.0).collect::<Vec<_>>())?;
    let found = sqlx::query!(
        r#"SELECT e.experiment_id AS "experiment_id!", e.name AS "name!",
            e.forfeits_max AS "forfeits_max!",
            CASE (g.number % 2 * c.swap_sides + (g.outcome = 'win')) % 2
                WHEN 0 THEN c.first_player_name ELSE c.second_player_name END
                AS "player!: String",
            count(*) AS "games!: u64"
        FROM experiments AS e
        CROSS JOIN cells AS c ON c.experiment_id = e.experiment_id AND c.in_sweep = 1
        CROSS JOIN games AS g INDEXED BY games_forfeited ON g.cell_id = c.cell_id
        WHERE e.experiment_id IN (
                SELECT experiment_id FROM cells
                WHERE cell_id IN (SELECT value FROM json_each(?)))
            AND e.forfeits_max IS NOT NULL AND e.state = 'running'
            AND g.counted = 1
            AND g.termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit')
            AND g.game_id > e.forfeits_after_game_id
        GROUP BY e.experiment_id, 4 HAVING count(*) > e.forfeits_max
        ORDER BY e.experiment_id, count(*) DESC, 4"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let mut stopped: Vec<StoppedForForfeits> = found
        .into_iter()
        .map(|row| StoppedForForfeits {
            experiment: ExperimentId(row.experiment_id),
            name: row.name,
            player: row.player,
            forfeits: row.games,
            forfeits_max: row.forfeits_max,
        })
        .collect();
    // Keep the player with most forfeits in each.
    stopped.dedup_by_key(|stop| stop.experiment);
    for stop in &stopped {
        experiments::set_state(tx, stop.experiment, ExperimentState::Paused).await?;
        sqlx::query!(
            "UPDATE experiments SET forfeits_player = ?2 WHERE experiment_id = ?1",
            stop.experiment.0,
            stop.player
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(stopped)
}

/// An experiment paused because a player forfeited more games than its sweep allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedForForfeits {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The experiment's name.
    pub name: String,
    /// The player.
    pub player: String,
    /// Number of forfeits since the experiment began or was resumed.
    pub forfeits: u64,
    /// Number of forfeits allowed.
    pub forfeits_max: u64,
}
