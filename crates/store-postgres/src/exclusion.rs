//! Workers excluded from experiments, or barred from an engine: decided at once, their results discarded after that.
//!
//! The results of one experiment are discarded in one step, and not in smaller ones as in SQLite.

use std::collections::BTreeMap;

use spelrum_answers::{KeptResults, NamedWorker};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, ExperimentId, ExperimentState, GameId, WorkerId};
use spelrum_scheduling::stopping::Prefix;
use spelrum_store::decisions::{integer, state_of};
use spelrum_store::{Excludable, StoppedForForfeits, StoreError, TakenOut};

use crate::cells;
use crate::numbers::{number, small};
use crate::transaction::PgTransaction;
use crate::workers::{BarRow, read_bar};
use crate::{experiments, results, scheduling};

/// Maximum workers that match one name: all starts of a machine.
const WORKERS_MAX: usize = 1_000;

/// Maximum number of experiments reported as keeping their results.
const KEPT_MAX: usize = 100;

/// Workers that match an id or a name, and the effect of excluding them.
pub(crate) async fn excludable(
    tx: &mut PgTransaction<'_>,
    which: &str,
    from: Option<ExperimentId>,
) -> Result<Excludable, StoreError> {
    let id: Option<i64> = which.parse().ok();
    let mut found = all!(
        tx,
        (i64, String, String),
        "SELECT worker_id, name, host FROM workers
        WHERE worker_id = $1
            OR name = $2 AND NOT EXISTS (SELECT 1 FROM workers WHERE worker_id = $1)
        ORDER BY 1 LIMIT $3",
        id,
        which,
        integer(WORKERS_MAX as u64 + 1)
    );
    let more = found.len() > WORKERS_MAX;
    found.truncate(WORKERS_MAX);
    let workers: Vec<i64> = found.iter().map(|(worker, ..)| *worker).collect();
    let played = all!(
        tx,
        (String, bool, bool, i64),
        "SELECT e.name, e.course IS NOT NULL, e.course IS NOT NULL OR e.kind <> 'games', sum(g.counted)::bigint
        FROM games AS g
        JOIN cells AS c ON c.cell_id = g.cell_id
        JOIN experiments AS e ON e.experiment_id = c.experiment_id
        WHERE g.worker_id = ANY($1) AND ($2::bigint IS NULL OR e.experiment_id = $2) AND NOT EXISTS (
            SELECT 1 FROM removals AS x WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
        GROUP BY e.experiment_id ORDER BY e.experiment_id",
        &workers,
        from.map(|experiment| experiment.0)
    );
    let goes_on = value!(
        tx,
        bool,
        "SELECT EXISTS (SELECT 1 FROM exclusions AS x
            JOIN workers AS w ON w.worker_id = x.worker_id
            JOIN workers AS named ON named.name = w.name AND named.host = w.host
            WHERE x.done_unix_us IS NULL AND named.worker_id = ANY($1))",
        workers
    );
    let named = |(worker, name, host)| NamedWorker { worker: WorkerId(worker), name, host };
    let workers = found.into_iter().map(named).collect();
    let mut excludable = Excludable { workers, more, goes_on, ..Excludable::default() };
    for (experiment, has_course, is_kept, games) in played {
        let games = number(games);
        if !is_kept {
            excludable.games += games;
        } else if excludable.kept.len() < KEPT_MAX {
            excludable.kept.push(KeptResults { experiment, has_course, games });
        }
    }
    Ok(excludable)
}

/// Begins discarding a worker's results. Repeating it changes nothing.
pub(crate) async fn begin(
    tx: &mut PgTransaction<'_>,
    worker: WorkerId,
    from: Option<ExperimentId>,
    since_unix_us: Option<i64>,
) -> Result<(), StoreError> {
    let (from, now) = (from.map(|experiment| experiment.0), tx.now_unix_us);
    run!(
        tx,
        "INSERT INTO exclusions (worker_id, experiment_id, since_unix_us, requested_unix_us)
        SELECT $1, $2, $3, $4 WHERE NOT EXISTS (
            SELECT 1 FROM exclusions
            WHERE worker_id = $1 AND experiment_id IS NOT DISTINCT FROM $2
                AND since_unix_us IS NOT DISTINCT FROM $3 AND readmitted_unix_us IS NULL AND engine IS NULL)",
        worker.0,
        from,
        since_unix_us,
        now,
    );
    // Whether they were right is no longer a question.
    run!(
        tx,
        "UPDATE uncounted_games AS u SET reason = 'excluded' FROM cells AS c
        WHERE c.cell_id = u.cell_id AND u.worker_id = $1 AND u.reason = 'conflict'
            AND ($2::bigint IS NULL OR c.experiment_id = $2)
            AND ($3::bigint IS NULL OR u.started_unix_us >= $3)",
        worker.0,
        from,
        since_unix_us,
    );
    Ok(())
}

/// Readmits workers, and the other starts of them.
pub(crate) async fn readmit(
    tx: &mut PgTransaction<'_>,
    workers: &[WorkerId],
    engine: Option<&str>,
) -> Result<Vec<WorkerId>, StoreError> {
    let now = tx.now_unix_us;
    let readmitted = all!(
        tx,
        (i64,),
        "UPDATE exclusions AS x SET readmitted_unix_us = $3
        FROM workers AS w JOIN workers AS named ON named.name = w.name AND named.host = w.host
        WHERE x.worker_id = w.worker_id AND named.worker_id = ANY($1)
            AND ($2::text IS NULL OR x.engine = $2) AND x.readmitted_unix_us IS NULL
        RETURNING x.worker_id",
        workers.iter().map(|worker| worker.0).collect::<Vec<i64>>(),
        engine,
        now
    );
    let mut readmitted: Vec<_> = readmitted.into_iter().map(|(worker,)| WorkerId(worker)).collect();
    readmitted.sort_unstable();
    readmitted.dedup();
    Ok(readmitted)
}

/// Excludes a worker without a lease from what an earlier start of it is excluded from.
pub(crate) async fn inherit(
    tx: &mut PgTransaction<'_>,
    worker: WorkerId,
) -> Result<Vec<Option<ExperimentId>>, StoreError> {
    let now = tx.now_unix_us;
    let inherited = all!(
        tx,
        (Option<i64>,),
        "INSERT INTO exclusions (worker_id, experiment_id, requested_unix_us, done_unix_us)
        SELECT DISTINCT w.worker_id, x.experiment_id, $2::bigint, $2::bigint
        FROM workers AS w
        JOIN workers AS other ON other.name = w.name AND other.host = w.host AND other.worker_id <> w.worker_id
        JOIN exclusions AS x ON x.worker_id = other.worker_id
            AND x.readmitted_unix_us IS NULL AND x.engine IS NULL
        WHERE w.worker_id = $1 AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.worker_id = $1)
            AND NOT EXISTS (
                SELECT 1 FROM exclusions AS own
                WHERE own.worker_id = $1 AND own.experiment_id IS NOT DISTINCT FROM x.experiment_id
                    AND own.engine IS NULL AND own.readmitted_unix_us IS NULL)
        RETURNING experiment_id",
        worker.0,
        now
    );
    let mut inherited: Vec<_> =
        inherited.into_iter().map(|(from,)| from.map(ExperimentId)).collect();
    inherited.sort_unstable();
    Ok(inherited)
}

/// Bars a worker from an engine. Repeating it changes nothing.
pub(crate) async fn bar(
    tx: &mut PgTransaction<'_>,
    worker: WorkerId,
    barred: &Barred,
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let [others, others_games] = barred.of_others.map(integer);
    run!(
        tx,
        "INSERT INTO exclusions (worker_id, engine, forfeits, engine_games, forfeits_of_others,
            engine_games_of_others, requested_unix_us)
        SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (
            SELECT 1 FROM exclusions
            WHERE worker_id = $1 AND engine = $2 AND readmitted_unix_us IS NULL)",
        worker.0,
        &barred.engine,
        integer(barred.forfeits),
        integer(barred.games),
        others,
        others_games,
        now,
    );
    Ok(())
}

/// Bars a worker without a lease from the engines that an earlier start of it is barred from.
pub(crate) async fn inherit_bars(
    tx: &mut PgTransaction<'_>,
    worker: WorkerId,
) -> Result<Vec<Barred>, StoreError> {
    let now = tx.now_unix_us;
    let found = all!(
        tx,
        BarRow,
        "INSERT INTO exclusions (worker_id, engine, forfeits, engine_games, forfeits_of_others,
            engine_games_of_others, requested_unix_us, done_unix_us)
        SELECT DISTINCT ON (x.engine) w.worker_id, x.engine, x.forfeits, x.engine_games, x.forfeits_of_others,
            x.engine_games_of_others, $2::bigint, $2::bigint
        FROM workers AS w
        JOIN workers AS other ON other.name = w.name AND other.host = w.host AND other.worker_id <> w.worker_id
        JOIN exclusions AS x ON x.worker_id = other.worker_id
            AND x.readmitted_unix_us IS NULL AND x.engine IS NOT NULL
        WHERE w.worker_id = $1 AND NOT EXISTS (SELECT 1 FROM leases AS l WHERE l.worker_id = $1)
            AND NOT EXISTS (
                SELECT 1 FROM exclusions AS own
                WHERE own.worker_id = $1 AND own.engine = x.engine AND own.readmitted_unix_us IS NULL)
        ORDER BY x.engine, x.worker_id
        RETURNING worker_id, engine, forfeits, engine_games, forfeits_of_others, engine_games_of_others",
        worker.0,
        now
    );
    let mut barred: Vec<Barred> = found.into_iter().map(|row| read_bar(row).1).collect();
    barred.sort_by(|one, other| one.engine.cmp(&other.engine));
    Ok(barred)
}

/// The engines of a game's two players; the first to move comes first.
pub(crate) async fn engines_of_sides(
    tx: &mut PgTransaction<'_>,
    game: GameId,
) -> Result<[Option<String>; 2], StoreError> {
    let stored = scheduling::stored_cells(tx, [game.cell].into_iter()).await?;
    let Some(cell) = stored.get(&game.cell.0) else { return Ok([None, None]) };
    let [first, second] = cell.engines();
    let moves_first = cell.first_player_moves_first(game.number);
    Ok(if moves_first { [first, second] } else { [second, first] })
}

/// Pauses running experiments with these cells in which a player has forfeited too many games.
pub(crate) async fn stop_for_forfeits(
    tx: &mut PgTransaction<'_>,
    cells: &[CellId],
) -> Result<Vec<StoppedForForfeits>, StoreError> {
    let found = all!(
        tx,
        (i64, String, i64, String, i64),
        "SELECT experiment_id, name, forfeits_max, player, count(*) FROM (
            SELECT e.experiment_id, e.name, e.forfeits_max,
                CASE (g.number % 2 * c.swap_sides + (g.outcome = 'win')::integer) % 2
                    WHEN 0 THEN c.first_player_name ELSE c.second_player_name END COLLATE \"C\" AS player
            FROM experiments AS e
            JOIN cells AS c ON c.experiment_id = e.experiment_id AND c.in_sweep = 1
            JOIN games AS g ON g.cell_id = c.cell_id
            WHERE e.experiment_id IN (SELECT experiment_id FROM cells WHERE cell_id = ANY($1))
                AND e.forfeits_max IS NOT NULL AND e.state = 'running' AND g.counted = 1
                AND g.termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit')
                AND g.game_id > e.forfeits_after_game_id) AS f
        GROUP BY experiment_id, name, forfeits_max, player HAVING count(*) > forfeits_max
        ORDER BY experiment_id, count(*) DESC, player",
        cells.iter().map(|cell| cell.0).collect::<Vec<i64>>()
    );
    let stop = |(experiment, name, forfeits_max, player, forfeits)| StoppedForForfeits {
        experiment: ExperimentId(experiment),
        name,
        player,
        forfeits: number(forfeits),
        forfeits_max: number(forfeits_max),
    };
    let mut stopped: Vec<StoppedForForfeits> = found.into_iter().map(stop).collect();
    // The player with most forfeits in each.
    stopped.dedup_by_key(|stop| stop.experiment);
    for stop in &stopped {
        experiments::set_state(tx, stop.experiment, ExperimentState::Paused).await?;
        let sql = "UPDATE experiments SET forfeits_player = $2 WHERE experiment_id = $1";
        run!(tx, sql, stop.experiment.0, &stop.player);
    }
    Ok(stopped)
}

/// Discards the results of the next exclusion in the next of its experiments.
pub(crate) async fn exclude_some(
    tx: &mut PgTransaction<'_>,
) -> Result<Option<Vec<TakenOut>>, StoreError> {
    let next = first!(
        tx,
        (i64, i64, Option<i64>, Option<i64>, Option<String>),
        "SELECT exclusion_id, worker_id, experiment_id, since_unix_us, engine FROM exclusions
        WHERE done_unix_us IS NULL ORDER BY exclusion_id LIMIT 1"
    );
    let Some((exclusion, worker, from, since, engine)) = next else { return Ok(None) };
    // Results that a course has received, and those of choices, stay. Those with an engine go where games are still
    // to be played, or where it forfeited one.
    let found = all!(
        tx,
        (i64, String, i64, i64, i64, i64),
        "WITH its AS (
            SELECT c.experiment_id, e.state, e.engine_revision, g.game_id, g.cell_id, g.number, g.termination,
                g.started_unix_us
            FROM games AS g
            JOIN cells AS c ON c.cell_id = g.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            JOIN players AS f ON f.player_id = c.first_player_id
            JOIN players AS s ON s.player_id = c.second_player_id
            WHERE g.worker_id = $1 AND ($2::bigint IS NULL OR c.experiment_id = $2)
                AND e.course IS NULL AND e.kind = 'games'
                AND ($4::text IS NULL
                    OR $4 IN (f.parameters_json::jsonb ->> 'engine', s.parameters_json::jsonb ->> 'engine'))
                AND NOT EXISTS (SELECT 1 FROM removals AS x
                    WHERE x.experiment_id = c.experiment_id AND x.what = 'everything')),
        chosen AS (
            SELECT * FROM its WHERE ($3::bigint IS NULL OR started_unix_us >= $3)
                AND ($4::text IS NULL OR state IN ('running', 'paused') OR experiment_id IN (
                    SELECT experiment_id FROM its
                    WHERE termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit'))))
        SELECT experiment_id, state, engine_revision, game_id, cell_id, number FROM chosen
        WHERE experiment_id = (SELECT min(experiment_id) FROM chosen) ORDER BY cell_id, number",
        worker,
        from,
        since,
        engine
    );
    let now = tx.now_unix_us;
    run!(
        tx,
        "UPDATE exclusions SET games_done = games_done + $2, done_unix_us = CASE WHEN $2 = 0 THEN $3::bigint END
        WHERE exclusion_id = $1",
        exclusion,
        integer(found.len() as u64),
        now,
    );
    let Some((experiment, state, revision, ..)) = found.first().cloned() else {
        return Ok(Some(Vec::new()));
    };
    let games: Vec<i64> = found.iter().map(|(_, _, _, game, ..)| *game).collect();
    results::take_out(tx, &games).await?;
    let mut by_cell: BTreeMap<CellId, Vec<GameId>> = BTreeMap::new();
    for (_, _, _, _, cell, game) in &found {
        let cell = CellId(*cell);
        by_cell.entry(cell).or_default().push(GameId { cell, number: number(*game) });
    }
    let ids: Vec<GameId> = by_cell.values().flatten().copied().collect();
    experiments::play_again(tx, &ids).await?;
    let cells: Vec<i64> = by_cell.keys().map(|cell| cell.0).collect();
    // The rules read the rest from the first unit, which may end the cells elsewhere.
    let before = cells::some_states(tx, experiment, &cells).await?;
    for state in &before {
        let Some(reading) = state.reading.as_deref() else { continue };
        let prefix = Prefix::from(reading.clone());
        run!(
            tx,
            "UPDATE cells SET decided_number = $2, stop_number = $3 WHERE cell_id = $1",
            state.cell.0,
            integer(prefix.decided_number()),
            prefix.stop_number().map(integer),
        );
    }
    scheduling::count_again(tx, &cells).await?;
    let after = cells::some_states(tx, experiment, &cells).await?;
    let taken = before.into_iter().zip(after).map(|(before, after)| TakenOut {
        experiment: ExperimentId(experiment),
        state: state_of(&state),
        is_of_this_engine: small(revision) == ENGINE_REVISION,
        cell: before.cell,
        games: by_cell.remove(&before.cell).unwrap_or_default(),
        reading: before.reading,
        played: after.played,
    });
    Ok(Some(taken.collect()))
}
