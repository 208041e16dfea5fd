//! The scheduler's state across restarts, and the facts about reported games that it asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spelrum_model::disturbance::{TimedCell, is_lost_time_known};
use spelrum_model::{CellId, ExperimentId, GameId, GameRange, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{
    Attempts, CellProgress, Changes, ExperimentSnapshot, LeaseState, Snapshot,
};
use spelrum_store::decisions::{LEASES_AT_ONCE, end_name, integer, state_of};
use spelrum_store::{GameFacts, LeasedCell, StoreError};

use crate::cells::{self, Cell, cells};
use crate::numbers::{number, small};
use crate::settings;
use crate::transaction::PgTransaction;
use crate::workers;

/// The scheduler's initial state.
pub(crate) async fn snapshot(tx: &mut PgTransaction<'_>) -> Result<Snapshot, StoreError> {
    let open = all!(
        tx,
        (i64, String, bool),
        "SELECT experiment_id, state, coalesce(course = 'open', false) FROM experiments
        WHERE state IN ('running', 'paused') ORDER BY experiment_id"
    );
    let ids: Vec<i64> = open.iter().map(|(id, ..)| *id).collect();
    let mut states = cells::states(tx, &ids).await?;
    let mut experiments = Vec::new();
    for (id, state, open) in open {
        experiments.push(ExperimentSnapshot {
            experiment: ExperimentId(id),
            settings: settings::read(tx, id).await?.scheduling,
            state: state_of(&state),
            open,
            cells: states.remove(&id).unwrap_or_default(),
        });
    }
    Ok(Snapshot {
        experiments,
        leases: live_leases(tx).await?,
        attempts: open_attempts(tx, None).await?,
        last_lease: tx.last_id("leases").await?,
        excluded: workers::excluded(tx).await?,
        barred: workers::barred(tx).await?,
    })
}

/// Whether the one task of a cell `c` is settled, if it is a training or a verification.
macro_rules! is_task_settled {
    () => {
        "(EXISTS (SELECT 1 FROM networks AS n
                WHERE n.network_id = c.trains_network_id AND n.settled_unix_us IS NOT NULL)
            OR EXISTS (SELECT 1 FROM verifications AS v
                WHERE v.cell_id = c.cell_id AND v.settled_unix_us IS NOT NULL))"
    };
}

/// Live leases; the outstanding games of each are those granted, without the settled ones.
async fn live_leases(tx: &mut PgTransaction<'_>) -> Result<Vec<LeaseState>, StoreError> {
    let found = all!(
        tx,
        (i64, i64, i64, i64, i64, Vec<i64>),
        concat!(
            "SELECT l.lease_id, l.worker_id, r.cell_id, r.first_number, r.games,
                CASE WHEN ",
            is_task_settled!(),
            " THEN ARRAY[0]::bigint[] ELSE ARRAY(SELECT g.number FROM games AS g WHERE g.cell_id = r.cell_id
                AND g.number >= r.first_number AND g.number < r.first_number + r.games ORDER BY g.number) END
            FROM leases AS l
            JOIN lease_ranges AS r ON r.lease_id = l.lease_id
            JOIN cells AS c ON c.cell_id = r.cell_id
            WHERE l.ended_by IS NULL ORDER BY l.lease_id, r.cell_id, r.first_number"
        )
    );
    let mut leases: Vec<LeaseState> = Vec::new();
    for (lease, worker, cell, first, games, settled) in found {
        let (lease, worker) = (LeaseId(lease), WorkerId(worker));
        if leases.last().is_none_or(|last| last.lease != lease) {
            let (granted, outstanding) = (Vec::new(), Vec::new());
            leases.push(LeaseState { lease, worker, granted, outstanding });
        }
        let Some(last) = leases.last_mut() else { continue };
        let range = GameRange { cell: CellId(cell), first: number(first), count: number(games) };
        last.granted.push(range);
        let mut from = range.first;
        for settled in settled.into_iter().map(number).chain([range.end()]) {
            let count = settled - from;
            last.outstanding.extend((count > 0).then_some(GameRange {
                first: from,
                count,
                ..range
            }));
            from = settled + 1;
        }
    }
    Ok(leases)
}

/// Attempts of unsettled games, of one experiment or of all that are not over.
pub(crate) async fn open_attempts(
    tx: &mut PgTransaction<'_>,
    experiment: Option<i64>,
) -> Result<Vec<Attempts>, StoreError> {
    let found = all!(
        tx,
        (i64, i64, i64, i64, i64),
        concat!(
            "SELECT a.cell_id, a.number, a.lost, a.lost_alone, a.failed
            FROM attempts AS a
            JOIN cells AS c ON c.cell_id = a.cell_id
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            WHERE ($1::bigint IS NULL OR e.experiment_id = $1) AND e.state IN ('running', 'paused')
                AND NOT EXISTS (SELECT 1 FROM games AS g WHERE g.cell_id = a.cell_id AND g.number = a.number)
                AND NOT ",
            is_task_settled!(),
            " ORDER BY a.cell_id, a.number"
        ),
        experiment
    );
    let attempts = |(cell, game, lost, lost_alone, failed)| Attempts {
        game: GameId { cell: CellId(cell), number: number(game) },
        lost: small(lost),
        lost_alone: small(lost_alone),
        failed: small(failed),
    };
    Ok(found.into_iter().map(attempts).collect())
}

/// Stores workers' messages about failed games: the last message of each game stays.
pub(crate) async fn note_failures(
    tx: &mut PgTransaction<'_>,
    games: &[(GameId, String)],
) -> Result<(), StoreError> {
    // One statement changes no row twice.
    let last: BTreeMap<GameId, &str> =
        games.iter().map(|(game, message)| (*game, &**message)).collect();
    run!(
        tx,
        "INSERT INTO attempts (cell_id, number, last_message)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])
        ON CONFLICT (cell_id, number) DO UPDATE SET last_message = excluded.last_message",
        last.keys().map(|game| game.cell.0).collect::<Vec<i64>>(),
        last.keys().map(|game| integer(game.number)).collect::<Vec<i64>>(),
        last.values().copied().collect::<Vec<&str>>(),
    );
    Ok(())
}

/// Stores the scheduler's state for its next start.
pub(crate) async fn apply(tx: &mut PgTransaction<'_>, changes: &Changes) -> Result<(), StoreError> {
    let Changes { cells, granted, ended, attempts } = changes;
    if !cells.is_empty() {
        write_cells(tx, cells).await?;
    }
    if !granted.is_empty() {
        grant(tx, granted).await?;
    }
    let now = tx.now_unix_us;
    if !ended.is_empty() {
        run!(
            tx,
            "UPDATE leases SET ended_unix_us = $3, ended_by = j.ended_by
            FROM unnest($1::bigint[], $2::text[]) AS j (lease_id, ended_by)
            WHERE leases.lease_id = j.lease_id",
            ended.iter().map(|(lease, _)| lease.0).collect::<Vec<i64>>(),
            ended.iter().map(|(_, end)| end_name(*end)).collect::<Vec<&str>>(),
            now,
        );
    }
    if !attempts.is_empty() {
        run!(
            tx,
            "INSERT INTO attempts (cell_id, number, lost, lost_alone, failed)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
            ON CONFLICT (cell_id, number) DO UPDATE
            SET lost = excluded.lost, lost_alone = excluded.lost_alone, failed = excluded.failed",
            attempts.iter().map(|attempt| attempt.game.cell.0).collect::<Vec<i64>>(),
            attempts.iter().map(|attempt| integer(attempt.game.number)).collect::<Vec<i64>>(),
            attempts.iter().map(|attempt| i64::from(attempt.lost)).collect::<Vec<i64>>(),
            attempts.iter().map(|attempt| i64::from(attempt.lost_alone)).collect::<Vec<i64>>(),
            attempts.iter().map(|attempt| i64::from(attempt.failed)).collect::<Vec<i64>>(),
        );
    }
    Ok(())
}

async fn write_cells(tx: &mut PgTransaction<'_>, cells: &[CellProgress]) -> Result<(), StoreError> {
    let ids: Vec<i64> = cells.iter().map(|cell| cell.cell.0).collect();
    run!(
        tx,
        "UPDATE cells SET next_number = j.next_number, decided_number = j.decided_number,
            stop_number = j.stop_number
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
            AS j (cell_id, next_number, decided_number, stop_number)
        WHERE cells.cell_id = j.cell_id",
        &ids,
        cells.iter().map(|cell| integer(cell.next_number)).collect::<Vec<i64>>(),
        cells.iter().map(|cell| integer(cell.decided_number)).collect::<Vec<i64>>(),
        cells.iter().map(|cell| cell.stop_number.map(integer)).collect::<Vec<Option<i64>>>(),
    );
    count_again(tx, &ids).await?;
    run!(tx, "DELETE FROM returned_ranges WHERE cell_id = ANY($1)", ids);
    let ranges = || cells.iter().flat_map(|cell| &cell.returned);
    run!(
        tx,
        "INSERT INTO returned_ranges (cell_id, first_number, games)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])",
        ranges().map(|range| range.cell.0).collect::<Vec<i64>>(),
        ranges().map(|range| integer(range.first)).collect::<Vec<i64>>(),
        ranges().map(|range| integer(range.count)).collect::<Vec<i64>>(),
    );
    Ok(())
}

/// Updates which played games count after their cells' ends have moved (invariant 7).
pub(crate) async fn count_again(
    tx: &mut PgTransaction<'_>,
    cells: &[i64],
) -> Result<(), StoreError> {
    run!(
        tx,
        "UPDATE games AS g SET counted = 1 - g.counted,
            not_counted_reason = CASE g.counted WHEN 1 THEN 'beyond_stop' END
        FROM cells AS c
        WHERE c.cell_id = ANY($1) AND g.cell_id = c.cell_id AND g.outcome IS NOT NULL
            AND (g.counted = 1) <> (c.stop_number IS NULL OR g.number < c.stop_number)",
        cells,
    );
    Ok(())
}

async fn grant(tx: &mut PgTransaction<'_>, granted: &[LeaseState]) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let leases: Vec<i64> = granted.iter().map(|lease| lease.lease.0).collect();
    run!(
        tx,
        "UPDATE last_ids SET last_id = greatest(last_id, $1) WHERE table_name = 'leases'",
        leases.iter().max(),
    );
    run!(
        tx,
        "INSERT INTO leases (lease_id, worker_id, granted_unix_us)
        SELECT j.*, $3 FROM unnest($1::bigint[], $2::bigint[]) AS j",
        leases,
        granted.iter().map(|lease| lease.worker.0).collect::<Vec<i64>>(),
        now,
    );
    let ranges = || {
        granted.iter().flat_map(|lease| lease.granted.iter().map(|range| (lease.lease.0, range)))
    };
    run!(
        tx,
        "INSERT INTO lease_ranges (lease_id, cell_id, first_number, games)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])",
        ranges().map(|(lease, _)| lease).collect::<Vec<i64>>(),
        ranges().map(|(_, range)| range.cell.0).collect::<Vec<i64>>(),
        ranges().map(|(_, range)| integer(range.first)).collect::<Vec<i64>>(),
        ranges().map(|(_, range)| integer(range.count)).collect::<Vec<i64>>(),
    );
    Ok(())
}

/// The details of cells that a worker needs, in order.
pub(crate) async fn leased_cells(
    tx: &mut PgTransaction<'_>,
    ids: &[CellId],
) -> Result<Vec<LeasedCell>, StoreError> {
    let stored = stored_cells(tx, ids.iter().copied()).await?;
    let settings = settings_of(tx, &stored).await?;
    let leased = |id: &CellId| {
        let cell = stored.get(&id.0).ok_or(StoreError::Missing { what: "a cell" })?;
        let settings = &settings[&cell.experiment_id];
        let has_limit = cell
            .parameters()
            .iter()
            .any(|player| player.contains_key("move_time_us") || player.contains_key("clock"));
        Ok(LeasedCell {
            definition: cell.hash()?,
            game_timeout: settings
                .game_timeout_us
                .filter(|_| cell.trains_network_id.is_none())
                .map(Duration::from_micros),
            timed: cell.timed,
            scaling: settings.timing.scaling.filter(|_| cell.timed && has_limit),
        })
    };
    ids.iter().map(leased).collect()
}

/// Cells by their ids.
pub(crate) async fn stored_cells(
    tx: &mut PgTransaction<'_>,
    ids: impl Iterator<Item = CellId>,
) -> Result<BTreeMap<i64, Cell>, StoreError> {
    let ids: BTreeSet<i64> = ids.map(|cell| cell.0).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let cells = cells!(tx, "c.cell_id = ANY($1)", ids);
    Ok(cells.into_iter().map(|cell| (cell.cell_id, cell)).collect())
}

/// The settings of the experiments of cells.
pub(crate) async fn settings_of(
    tx: &mut PgTransaction<'_>,
    cells: &BTreeMap<i64, Cell>,
) -> Result<BTreeMap<i64, spelrum_model::ExperimentSettings>, StoreError> {
    let ids: BTreeSet<i64> = cells.values().map(|cell| cell.experiment_id).collect();
    let mut settings = BTreeMap::new();
    for id in ids {
        settings.insert(id, settings::read(tx, id).await?);
    }
    Ok(settings)
}

/// How games of a cell are checked for disturbance, if they are timed.
pub(crate) fn timed(
    cell: &Cell,
    settings: &spelrum_model::ExperimentSettings,
) -> Option<TimedCell> {
    let is_known = |player: spelrum_engine::Parameters| match player.get("algorithm") {
        Some(spelrum_engine::Value::Text(algorithm)) => is_lost_time_known(algorithm),
        _ => false,
    };
    cell.timed.then(|| TimedCell {
        timing: settings.timing,
        known: cell.parameters().map(is_known),
        swap_sides: cell.swap_sides,
    })
}

/// The scheduler's facts about reported games, in order.
pub(crate) async fn facts(
    tx: &mut PgTransaction<'_>,
    games: &[(WorkerId, LeaseId, GameId)],
) -> Result<Vec<GameFacts>, StoreError> {
    let stored = stored_cells(tx, games.iter().map(|(.., game)| game.cell)).await?;
    let settings = settings_of(tx, &stored).await?;
    let found = all!(
        tx,
        (bool, Option<i64>, i64, bool),
        "SELECT EXISTS (SELECT 1 FROM games AS g WHERE g.cell_id = j.cell_id AND g.number = j.number),
            (SELECT l.granted_unix_us FROM leases AS l JOIN lease_ranges AS r ON r.lease_id = l.lease_id
                WHERE l.lease_id = j.lease_id AND l.worker_id = j.worker_id AND r.cell_id = j.cell_id
                    AND j.number >= r.first_number AND j.number < r.first_number + r.games
                    AND NOT EXISTS (
                        SELECT 1 FROM removals AS x JOIN cells AS c ON c.experiment_id = x.experiment_id
                        WHERE x.what = 'everything' AND c.cell_id = r.cell_id)
                LIMIT 1),
            (SELECT count(*) FROM uncounted_games AS u
                WHERE u.cell_id = j.cell_id AND u.number = j.number AND u.reason = 'disturbed'),
            EXISTS (SELECT 1 FROM uncounted_games AS u WHERE u.cell_id = j.cell_id AND u.number = j.number
                AND u.reason = 'disturbed' AND u.lease_id = j.lease_id)
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
            WITH ORDINALITY AS j (worker_id, lease_id, cell_id, number, place)
        ORDER BY j.place",
        games.iter().map(|(worker, ..)| worker.0).collect::<Vec<i64>>(),
        games.iter().map(|(_, lease, _)| lease.0).collect::<Vec<i64>>(),
        games.iter().map(|(.., game)| game.cell.0).collect::<Vec<i64>>(),
        games.iter().map(|(.., game)| integer(game.number)).collect::<Vec<i64>>(),
    );
    let facts = |(game, row): (&GameId, (bool, Option<i64>, i64, bool))| {
        let (settled, granted_unix_us, disturbed, is_kept) = row;
        let cell = stored.get(&game.cell.0);
        let timed = cell.and_then(|cell| timed(cell, &settings[&cell.experiment_id]));
        let replays = timed.is_some_and(|timed| timed.timing.replays_max > 0);
        GameFacts {
            settled,
            leased: granted_unix_us.is_some(),
            timed,
            disturbed: if replays { number(disturbed) } else { 0 },
            is_kept: replays && is_kept,
            granted_unix_us,
        }
    };
    Ok(games.iter().map(|(.., game)| game).zip(found).map(facts).collect())
}

/// Deletes leases that ended long ago and that no worker can report for.
pub(crate) async fn forget_leases(
    tx: &mut PgTransaction<'_>,
    after: LeaseId,
    kept: u64,
) -> Result<Option<LeaseId>, StoreError> {
    let bound = tx.last_id("leases").await?.saturating_sub(integer(kept));
    let looked_at = all!(
        tx,
        (i64, bool),
        concat!(
            "SELECT l.lease_id, l.ended_by IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM lease_ranges AS r
                JOIN cells AS c ON c.cell_id = r.cell_id
                JOIN experiments AS e ON e.experiment_id = c.experiment_id
                WHERE r.lease_id = l.lease_id AND e.state IN ('running', 'paused') AND NOT ",
            is_task_settled!(),
            " AND r.games > (SELECT count(*) FROM games AS g WHERE g.cell_id = r.cell_id
                    AND g.number >= r.first_number AND g.number < r.first_number + r.games))
            FROM leases AS l WHERE l.lease_id > $1 AND l.lease_id <= $2
            ORDER BY l.lease_id LIMIT $3"
        ),
        after.0,
        bound,
        i64::from(LEASES_AT_ONCE)
    );
    let over: Vec<i64> =
        looked_at.iter().filter(|(_, is_over)| *is_over).map(|(lease, _)| *lease).collect();
    run!(tx, "DELETE FROM leases WHERE lease_id = ANY($1)", over);
    Ok(looked_at.last().map(|(lease, _)| LeaseId(*lease)))
}
