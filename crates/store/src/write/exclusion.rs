//! Discarding a worker's results after the fact, in steps so small that nothing waits for them.
//!
//! From the decision on, the worker's new results do not count. The old ones follow cell by cell: each result moves to
//! `uncounted_games` with its moves, its game becomes one that was leased and returned, and the cell's stop rule
//! rereads the rest from the first unit. The rollups lose the result in the same transaction: the games of a few pairs
//! are subtracted together, and those that stay are added again.
//!
//! Two kinds of experiments keep their results. Results that a course has received cannot be withdrawn: the cells that
//! it asked for would no longer follow from them. And the positions of an accuracy experiment share their values,
//! whose origin is not recorded.
//!
//! `exclusions` stores the progress in the same transaction as the steps, so a killed coordinator resumes there.

use spelrum_answers::Removing;
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, ExperimentId, GameId, WorkerId};
use spelrum_scheduling::scheduler::{CellProgress, CellState};
use spelrum_scheduling::stopping::{Prefix, Reading};
use spelrum_statistics::GameCounts;

use crate::error::StoreError;
use crate::open::writer::Writer;
use crate::schema::encoding::rows;
use crate::schema::experiment_states::state_of;
use crate::schema::numbers::{count, integer};
use crate::write::removal_walk::{CellsAhead, ExclusionWalk};
use crate::write::transaction::Transaction;
use crate::write::{barred_workers, checked_games, removal, scheduling, stop_readings, stops};
use spelrum_answers::{KeptResults, NamedWorker};

/// Games examined per step.
const GAMES_AHEAD: i64 = 500;

/// Game numbers that a step takes from the rollups and adds again. Even, so no pair is split between steps.
const NUMBERS_AT_ONCE: i64 = 64;

/// Maximum workers that match one name: all starts of a machine.
const WORKERS_MAX: u32 = 1_000;

/// Maximum number of experiments reported as keeping their results.
const KEPT_MAX: i64 = 100;

/// Effect of excluding workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excludable {
    /// The matching workers, in the order of their ids.
    pub workers: Vec<NamedWorker>,
    /// Whether more workers have the name; those are not included.
    pub more: bool,
    /// Their results that count in the chosen experiments, without those that are kept.
    pub games: u64,
    /// Experiments that keep these workers' results, oldest first; only the first ones if there are very many.
    pub kept: Vec<KeptResults>,
    /// Whether results of these workers, or of workers with the same names and hosts, are being discarded.
    pub goes_on: bool,
}

/// Discarded results of one cell, whose games must be replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenOut {
    /// The cell's experiment.
    pub experiment: ExperimentId,
    /// The experiment's state.
    pub state: ExperimentState,
    /// Whether the experiment is of this engine, which can then play the games.
    pub is_of_this_engine: bool,
    /// The cell.
    pub cell: CellId,
    /// The games, in order.
    pub games: Vec<GameId>,
    /// The reading of the cell's stop rule, from the first unit.
    pub reading: Option<Box<Reading>>,
    /// The cell's games that count now: [`CellState::played`].
    pub played: GameCounts,
}

/// Whether any worker's results are being discarded.
///
/// # Errors
/// If the database fails.
pub(crate) async fn is_excluding(writer: &mut Writer) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT 1 FROM exclusions WHERE done_unix_us IS NULL) AS "any!: bool""#
    )
    .fetch_one(&mut writer.connection)
    .await?)
}

/// Workers that match an id or a name, and the effect of excluding them from one experiment or all.
///
/// # Errors
/// If the database fails.
pub(crate) async fn excludable(
    tx: &mut Transaction<'_>,
    which: &str,
    from: Option<ExperimentId>,
) -> Result<Excludable, StoreError> {
    let id: Option<i64> = which.parse().ok();
    let limit = WORKERS_MAX + 1;
    let mut found = sqlx::query!(
        r#"SELECT worker_id AS "worker_id!", name AS "name!", host AS "host!"
        FROM workers WHERE worker_id = ?1
        UNION ALL
        SELECT worker_id, name, host FROM workers
        WHERE name = ?2 AND NOT EXISTS (SELECT 1 FROM workers WHERE worker_id = ?1)
        ORDER BY 1 LIMIT ?3"#,
        id,
        which,
        limit
    )
    .fetch_all(tx.connection())
    .await?;
    let more = found.len() > WORKERS_MAX as usize;
    found.truncate(WORKERS_MAX as usize);
    let workers: Vec<i64> = found.iter().map(|row| row.worker_id).collect();
    let list = rows(&workers)?;
    let from = from.map(|experiment| experiment.0);
    let played = sqlx::query!(
        r#"SELECT e.name, e.course IS NOT NULL AS "has_course!: bool",
            e.course IS NOT NULL OR e.kind <> 'games' AS "is_kept!: bool",
            sum(r.games) AS "games!: u64"
        FROM worker_results AS r JOIN experiments AS e ON e.experiment_id = r.experiment_id
        WHERE r.worker_id IN (SELECT value FROM json_each(?1))
            AND (?2 IS NULL OR r.experiment_id = ?2)
            AND NOT EXISTS (
                SELECT 1 FROM removals AS x
                WHERE x.experiment_id = r.experiment_id AND x.what = 'everything')
        GROUP BY e.experiment_id ORDER BY e.experiment_id"#,
        list,
        from
    )
    .fetch_all(tx.connection())
    .await?;
    let goes_on = sqlx::query_scalar!(
        r#"SELECT EXISTS (
            SELECT 1 FROM exclusions AS x JOIN workers AS own ON own.worker_id = x.worker_id
            WHERE x.done_unix_us IS NULL AND EXISTS (
                SELECT 1 FROM json_each(?) AS j JOIN workers AS w ON w.worker_id = j.value
                WHERE w.name = own.name AND w.host = own.host)) AS "any!: bool""#,
        list
    )
    .fetch_one(tx.connection())
    .await?;
    let games = played.iter().filter(|row| !row.is_kept).map(|row| row.games).sum();
    let kept = played.into_iter().filter(|row| row.is_kept).map(|row| KeptResults {
        experiment: row.name,
        has_course: row.has_course,
        games: row.games,
    });
    let kept = kept.take(usize::try_from(KEPT_MAX).unwrap_or(0)).collect();
    let workers = found.into_iter().map(|row| NamedWorker {
        worker: WorkerId(row.worker_id),
        name: row.name,
        host: row.host,
    });
    Ok(Excludable { workers: workers.collect(), more, games, kept, goes_on })
}

/// Begins discarding a worker's results in one experiment or all; none of them count from now on. Repeating the call
/// changes nothing.
///
/// # Errors
/// If the database fails.
pub(crate) async fn begin(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    from: Option<ExperimentId>,
    since_unix_us: Option<i64>,
) -> Result<(), StoreError> {
    let (from, now) = (from.map(|experiment| experiment.0), tx.now_unix_us);
    sqlx::query!(
        "INSERT INTO exclusions (worker_id, experiment_id, since_unix_us, requested_unix_us)
        SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (
            SELECT 1 FROM exclusions
            WHERE worker_id = ?1 AND experiment_id IS ?2 AND since_unix_us IS ?3
                AND engine IS NULL AND readmitted_unix_us IS NULL)",
        worker.0,
        from,
        since_unix_us,
        now
    )
    .execute(tx.connection())
    .await?;
    // Conflicts with other workers' results need no alarm any more.
    sqlx::query!(
        "UPDATE uncounted_games SET reason = 'excluded'
        WHERE worker_id = ?1 AND reason = 'conflict' AND (?3 IS NULL OR started_unix_us >= ?3)
            AND (?2 IS NULL OR cell_id IN (
                SELECT cell_id FROM cells WHERE experiment_id = ?2))",
        worker.0,
        from,
        since_unix_us
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Discards some results of the oldest exclusion: a few milliseconds of work. The scheduler's pending changes of cells
/// must be stored first. `None`: nothing is left to discard.
///
/// # Errors
/// If the database fails.
pub(crate) async fn exclude_some(
    tx: &mut Transaction<'_>,
) -> Result<Option<Vec<TakenOut>>, StoreError> {
    let mut walk = match tx.cache.exclusion.take() {
        Some(walk) => walk,
        None => match begin_exclusion_walk(tx).await? {
            Some(walk) => walk,
            None => return Ok(None),
        },
    };
    if walk.experiment == 0 && !enter_next(tx, &mut walk).await? {
        return end_exclusion(tx, &walk).await;
    }
    let taken = match walk.ahead.first(walk.experiment, tx.connection()).await? {
        Some(cell) => look_at(tx, &mut walk, cell).await?,
        // Leaves and enters in one transaction: a kill between the two would strand the exclusion for ever.
        None => {
            leave(tx, &mut walk).await?;
            if !enter_next(tx, &mut walk).await? {
                return end_exclusion(tx, &walk).await;
            }
            None
        }
    };
    tx.cache.exclusion = Some(walk);
    Ok(Some(taken.into_iter().collect()))
}

/// Records that nothing is left to discard.
async fn end_exclusion(
    tx: &mut Transaction<'_>,
    walk: &ExclusionWalk,
) -> Result<Option<Vec<TakenOut>>, StoreError> {
    let now = tx.now_unix_us;
    sqlx::query!("UPDATE exclusions SET done_unix_us = ?2 WHERE exclusion_id = ?1", walk.id, now)
        .execute(tx.connection())
        .await?;
    Ok(Some(Vec::new()))
}

async fn begin_exclusion_walk(
    tx: &mut Transaction<'_>,
) -> Result<Option<ExclusionWalk>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT exclusion_id AS "id!", worker_id, experiment_id, since_unix_us, engine,
            at_experiment_id, at_cell_id, at_number, kept_first_unix_us, kept_last_unix_us
        FROM exclusions WHERE done_unix_us IS NULL ORDER BY exclusion_id LIMIT 1"#
    )
    .fetch_optional(tx.connection())
    .await?;
    if let Some(row) = found.as_ref().filter(|row| row.engine.is_some()) {
        barred_workers::keep_last_forfeit(tx, row.id).await?;
    }
    Ok(found.map(|row| ExclusionWalk {
        engine: row.engine,
        id: row.id,
        worker: row.worker_id,
        from: row.experiment_id,
        since: row.since_unix_us,
        experiment: row.at_experiment_id,
        ahead: CellsAhead::from(row.at_cell_id),
        number: row.at_number,
        kept: row.kept_first_unix_us.zip(row.kept_last_unix_us).map(|(f, l)| [f, l]),
    }))
}

/// Enters the next experiment with results of the worker, if any.
async fn enter_next(
    tx: &mut Transaction<'_>,
    walk: &mut ExclusionWalk,
) -> Result<bool, StoreError> {
    let next = sqlx::query_scalar!(
        r#"SELECT min(r.experiment_id) AS "id: i64"
        FROM worker_results AS r JOIN experiments AS e ON e.experiment_id = r.experiment_id
        WHERE r.worker_id = ?1 AND r.experiment_id > ?2
            AND (?3 IS NULL OR r.experiment_id = ?3)
            AND e.course IS NULL AND e.kind = 'games' AND NOT EXISTS (
                SELECT 1 FROM removals AS x
                WHERE x.experiment_id = r.experiment_id AND x.what = 'everything')
            -- What was over before, without a forfeit of the worker's, stays.
            AND (?4 IS NULL OR e.state IN ('running', 'paused') OR EXISTS (
                SELECT 1 FROM forfeits AS f
                JOIN games AS g ON g.game_id = f.game_id
                JOIN cells AS c ON c.cell_id = g.cell_id
                JOIN players AS p ON p.player_id IN (c.first_player_id, c.second_player_id)
                WHERE c.experiment_id = r.experiment_id AND g.worker_id = r.worker_id
                    AND g.termination <> 'resignation'
                    AND p.parameters_json ->> 'engine' = ?4))"#,
        walk.worker,
        walk.experiment,
        walk.from,
        walk.engine
    )
    .fetch_one(tx.connection())
    .await?;
    let Some(next) = next else { return Ok(false) };
    walk.experiment = next;
    (walk.ahead, walk.number, walk.kept) = (CellsAhead::from(0), 0, None);
    note_exclusion(tx, walk, 0, 0).await?;
    Ok(true)
}

/// Leaves an experiment: reduces the worker's row in `worker_results` to the results that stay, or deletes the row.
async fn leave(tx: &mut Transaction<'_>, walk: &mut ExclusionWalk) -> Result<(), StoreError> {
    match walk.kept {
        Some([first, last]) => {
            sqlx::query!(
                "UPDATE worker_results SET first_started_unix_us = ?3, last_started_unix_us = ?4
                WHERE worker_id = ?1 AND experiment_id = ?2",
                walk.worker,
                walk.experiment,
                first,
                last
            )
            .execute(tx.connection())
            .await?;
        }
        None => {
            sqlx::query!(
                "DELETE FROM worker_results WHERE worker_id = ?1 AND experiment_id = ?2",
                walk.worker,
                walk.experiment
            )
            .execute(tx.connection())
            .await?;
        }
    }
    Ok(())
}

/// Examines the next games of a cell, and discards the first of the worker's results among them, or goes on to the
/// next cell.
async fn look_at(
    tx: &mut Transaction<'_>,
    walk: &mut ExclusionWalk,
    cell: i64,
) -> Result<Option<TakenOut>, StoreError> {
    let is_of_engine = match walk.engine.clone() {
        Some(engine) => barred_workers::plays_with(tx, cell, &engine).await?,
        None => true,
    };
    let found = sqlx::query!(
        r#"SELECT count(*) AS "games!: i64", coalesce(max(number), 0) AS "last!: i64",
            min(CASE WHEN is_its AND is_meant THEN number END) AS "first_meant?: i64",
            max(CASE WHEN is_its AND is_meant THEN number END) AS "last_meant?: i64",
            min(CASE WHEN is_its AND NOT is_meant THEN started END) AS "kept_first?: i64",
            max(CASE WHEN is_its AND NOT is_meant THEN started END) AS "kept_last?: i64"
        FROM (
            SELECT number, coalesce(started_unix_us, 0) AS started,
                outcome IS NOT NULL AND worker_id = ?3 AS is_its,
                ?6 AND (?4 IS NULL OR coalesce(started_unix_us, 0) >= ?4) AS is_meant
            FROM games WHERE cell_id = ?1 AND number >= ?2 ORDER BY number LIMIT ?5)"#,
        cell,
        walk.number,
        walk.worker,
        walk.since,
        GAMES_AHEAD,
        is_of_engine
    )
    .fetch_one(tx.connection())
    .await?;
    if let Some((first, last)) = found.kept_first.zip(found.kept_last) {
        let [before_first, before_last] = walk.kept.unwrap_or([first, last]);
        walk.kept = Some([before_first.min(first), before_last.max(last)]);
    }
    if let Some((first, last)) = found.first_meant.zip(found.last_meant) {
        let first = first - first % 2;
        let end = (last + 1 + (last + 1) % 2).min(first + NUMBERS_AT_ONCE);
        walk.number = end;
        let taken = take_out(tx, walk, cell, [first, end]).await?;
        note_exclusion(tx, walk, cell, taken.games.len()).await?;
        return Ok(Some(taken));
    }
    if found.games == GAMES_AHEAD {
        walk.number = found.last + 1;
        note_exclusion(tx, walk, cell, 0).await?;
    } else {
        walk.ahead.pass();
        walk.number = 0;
        note_exclusion(tx, walk, cell + 1, 0).await?;
    }
    Ok(None)
}

/// Stores the progress.
async fn note_exclusion(
    tx: &mut Transaction<'_>,
    walk: &ExclusionWalk,
    cell: i64,
    games: usize,
) -> Result<(), StoreError> {
    let games = count(games);
    let [first, last] = walk.kept.map_or([None; 2], |kept| kept.map(Some));
    sqlx::query!(
        "UPDATE exclusions SET at_experiment_id = ?2, at_cell_id = ?3, at_number = ?4,
            games_done = games_done + ?5, kept_first_unix_us = ?6, kept_last_unix_us = ?7
        WHERE exclusion_id = ?1",
        walk.id,
        walk.experiment,
        cell,
        walk.number,
        games,
        first,
        last
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Discards the worker's results among a cell's games of these numbers: whole pairs, even if other workers played some
/// of their games.
async fn take_out(
    tx: &mut Transaction<'_>,
    walk: &ExclusionWalk,
    cell: i64,
    [first, end]: [i64; 2],
) -> Result<TakenOut, StoreError> {
    checked_games::fill_cells(tx, std::iter::once(cell)).await?;
    let stop = tx.cache.cells.get(&cell).and_then(|cell| cell.stop_number);
    let counted = [first, stop.map_or(end, |stop| stop.min(end))];
    stops::count_again(tx, cell, counted, false).await?;
    let found = sqlx::query!(
        r#"SELECT game_id AS "game_id!", number AS "number: u64" FROM games
        WHERE cell_id = ?1 AND number >= ?2 AND number < ?3 AND outcome IS NOT NULL
            AND worker_id = ?4 AND (?5 IS NULL OR coalesce(started_unix_us, 0) >= ?5)
        ORDER BY number"#,
        cell,
        first,
        end,
        walk.worker,
        walk.since
    )
    .fetch_all(tx.connection())
    .await?;
    let ids: Vec<i64> = found.iter().map(|row| row.game_id).collect();
    let numbers: Vec<u64> = found.iter().map(|row| row.number).collect();
    keep_excluded(tx, &ids).await?;
    removal::remove_of_games(tx, Removing::Everything, &ids).await?;
    stops::count_again(tx, cell, counted, true).await?;
    return_taken(tx, cell, &numbers).await?;
    taken_out(tx, walk.experiment, cell, &numbers).await
}

/// Copies results to `uncounted_games`.
async fn keep_excluded(tx: &mut Transaction<'_>, games: &[i64]) -> Result<(), StoreError> {
    let last = sqlx::query_scalar!(
        r#"SELECT coalesce(max(uncounted_game_id), 0) AS "id!: i64" FROM uncounted_games"#
    )
    .fetch_one(tx.connection())
    .await?;
    let list: Vec<(i64, i64)> = games.iter().copied().zip(last + 1..).collect();
    let (list, now) = (rows(&list)?, tx.now_unix_us);
    sqlx::query!(
        "INSERT INTO uncounted_games (uncounted_game_id, cell_id, number, reason, opening_id,
            first_player_id, second_player_id, first_side, outcome, termination, plies,
            moves_hash, worker_id, engine_revision, started_unix_us, wall_us, margin,
            received_unix_us, time_factor, speed)
        SELECT j.value ->> 1, g.cell_id, g.number, 'excluded', g.opening_id, g.first_player_id,
            g.second_player_id, g.first_side, g.outcome, g.termination, g.plies, g.moves_hash,
            g.worker_id, g.engine_revision, coalesce(g.started_unix_us, 0),
            coalesce(g.wall_us, 0), g.margin, ?2, g.time_factor, g.speed
        FROM jsonb_each(?1) AS j JOIN games AS g ON g.game_id = j.value ->> 0",
        list,
        now
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "INSERT INTO uncounted_moves (uncounted_game_id, ply, side, player_id, move,
            position_key, legal_moves, depth, nodes, evaluations, full_tree_leaves, score,
            wall_us, cpu_us, ended_by, involuntary_switches)
        SELECT j.value ->> 1, m.ply, m.side, m.player_id, m.move, m.position_key,
            m.legal_moves, m.depth, m.nodes, m.evaluations, m.full_tree_leaves, m.score,
            m.wall_us, m.cpu_us, m.ended_by, m.involuntary_switches
        FROM jsonb_each(?1) AS j JOIN moves AS m ON m.game_id = j.value ->> 0",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Marks games of a cell as leased and returned.
async fn return_taken(
    tx: &mut Transaction<'_>,
    cell: i64,
    numbers: &[u64],
) -> Result<(), StoreError> {
    let list = rows(numbers)?;
    sqlx::query!(
        "DELETE FROM attempts
        WHERE cell_id = ?1 AND number IN (SELECT value FROM json_each(?2))",
        cell,
        list
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "INSERT INTO returned_ranges (cell_id, first_number, games)
        SELECT ?1, value, 1 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING",
        cell,
        list
    )
    .execute(tx.connection())
    .await?;
    // The results that these conflicted with have no conflict any more.
    sqlx::query!(
        "UPDATE uncounted_games SET reason = 'repeat'
        WHERE reason = 'conflict' AND cell_id = ?1
            AND number IN (SELECT value FROM json_each(?2))",
        cell,
        list
    )
    .execute(tx.connection())
    .await?;
    // As if the cell never had a result.
    sqlx::query!(
        "DELETE FROM cell_results WHERE cell_id = ?1 AND games = 0 AND games_failed = 0
            AND NOT EXISTS (SELECT 1 FROM games AS g WHERE g.cell_id = ?1)",
        cell
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Lets a cell that has lost results end where its rule now says, and returns the cell's new state.
async fn taken_out(
    tx: &mut Transaction<'_>,
    experiment: i64,
    cell: i64,
    numbers: &[u64],
) -> Result<TakenOut, StoreError> {
    sqlx::query!("UPDATE cells SET decided_number = 0 WHERE cell_id = ?", cell)
        .execute(tx.connection())
        .await?;
    let row = sqlx::query!(
        r#"SELECT c.swap_sides, c.games_planned, c.next_number, e.state, e.engine_revision
        FROM cells AS c JOIN experiments AS e ON e.experiment_id = c.experiment_id
        WHERE c.cell_id = ?"#,
        cell
    )
    .fetch_one(tx.connection())
    .await?;
    let mut states = [CellState {
        swap_sides: row.swap_sides,
        next_number: row.next_number,
        ..CellState::new(CellId(cell), row.games_planned)
    }];
    stop_readings::add_to_cells(tx, experiment, &mut states).await?;
    if let Some(reading) = states[0].reading.as_deref() {
        let prefix = Prefix::from(reading.clone());
        let decided = integer(prefix.decided_number());
        stops::end_cells(
            tx,
            &[CellProgress {
                cell: CellId(cell),
                next_number: states[0].next_number,
                returned: Vec::new(),
                decided_number: prefix.decided_number(),
                stop_number: prefix.stop_number(),
            }],
        )
        .await?;
        sqlx::query!("UPDATE cells SET decided_number = ?2 WHERE cell_id = ?1", cell, decided)
            .execute(tx.connection())
            .await?;
    }
    scheduling::add_played(tx, experiment, &mut states).await?;
    let game = |&number: &u64| GameId { cell: CellId(cell), number };
    let [CellState { reading, played, .. }] = states;
    Ok(TakenOut {
        experiment: ExperimentId(experiment),
        state: state_of(&row.state),
        is_of_this_engine: row.engine_revision == ENGINE_REVISION,
        cell: CellId(cell),
        games: numbers.iter().map(game).collect(),
        reading,
        played,
    })
}
