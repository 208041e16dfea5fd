//! The scheduler's state across restarts.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_model::{CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{
    Attempts, CellProgress, CellState, Changes, ExperimentSnapshot, LeaseEnd, LeaseState, Snapshot,
};
use spelrum_statistics::GameCounts;

use crate::error::StoreError;
use crate::open::writer::Writer;
use crate::schema::encoding::rows;
use crate::schema::numbers::integer;
use crate::schema::settings;
use crate::write::requirements::{self, ends};
use crate::write::transaction::Transaction;
use crate::write::{
    barred_workers, excluded_workers, networks, stop_readings, stops, verifications,
};

/// A worker that holds a live lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The worker.
    pub worker: WorkerId,
    /// The worker's name.
    pub name: String,
    /// The worker's machine.
    pub host: String,
    /// Number of games that the worker plays at once.
    pub slots: u32,
    /// The revision of the worker's engine.
    pub engine_revision: u32,
}

/// The workers that hold live leases, by id.
///
/// # Errors
/// If the database cannot be read.
pub(crate) async fn lease_holders(writer: &mut Writer) -> Result<Vec<LeaseHolder>, StoreError> {
    let mut transaction = writer.begin().await?;
    let found = sqlx::query!(
        r#"SELECT worker_id, name, host, slots, engine_revision
        FROM workers WHERE worker_id IN (
            SELECT worker_id FROM leases INDEXED BY leases_live WHERE ended_by IS NULL)
        ORDER BY worker_id"#
    )
    .fetch_all(transaction.connection())
    .await?;
    let holders = found.into_iter().map(|row| LeaseHolder {
        worker: WorkerId(row.worker_id),
        name: row.name,
        host: row.host,
        slots: row.slots,
        engine_revision: row.engine_revision,
    });
    Ok(holders.collect())
}

/// The scheduler's initial state.
///
/// # Errors
/// If the database cannot be read.
pub(crate) async fn snapshot(writer: &mut Writer) -> Result<Snapshot, StoreError> {
    let mut transaction = writer.begin().await?;
    Ok(Snapshot {
        experiments: unfinished(&mut transaction).await?,
        leases: live_leases(&mut transaction).await?,
        attempts: open_attempts(&mut transaction, None).await?,
        last_lease: transaction.last_id("leases").await?,
        excluded: excluded_workers::excluded(&mut transaction).await?,
        barred: barred_workers::barred(&mut transaction).await?,
    })
}

async fn unfinished(tx: &mut Transaction<'_>) -> Result<Vec<ExperimentSnapshot>, StoreError> {
    let mut experiments = Vec::new();
    let found = sqlx::query!(
        r#"SELECT experiment_id AS "experiment_id!", state = 'paused' AS "paused!: bool",
            course IS 'open' AS "open!: bool"
        FROM experiments WHERE state IN ('running', 'paused') ORDER BY experiment_id"#
    )
    .fetch_all(tx.connection())
    .await?;
    for experiment in found {
        let state =
            if experiment.paused { ExperimentState::Paused } else { ExperimentState::Running };
        let mut cells = cell_states(tx, experiment.experiment_id).await?;
        requirements::add_to_cells(tx, experiment.experiment_id, &mut cells).await?;
        stop_readings::add_to_cells(tx, experiment.experiment_id, &mut cells).await?;
        add_played(tx, experiment.experiment_id, &mut cells).await?;
        networks::add_to_cells(tx, experiment.experiment_id, &mut cells).await?;
        verifications::add_to_cells(tx, experiment.experiment_id, &mut cells).await?;
        experiments.push(ExperimentSnapshot {
            experiment: ExperimentId(experiment.experiment_id),
            settings: settings::read(tx.connection(), experiment.experiment_id).await?.scheduling,
            state,
            open: experiment.open,
            cells,
        });
    }
    Ok(experiments)
}

/// An experiment's cells as the scheduler represents them, in the grid's order.
pub(crate) async fn cell_states(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<Vec<CellState>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", (c.in_sweep = 1 AND c.superseded = 0) AS "in_sweep!: bool",
            c.swap_sides, c.timed, c.games_planned, c.next_number, r.first_number AS "first_number?",
            r.games AS "games?"
        FROM cells AS c LEFT JOIN returned_ranges AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = ?
        ORDER BY c.number, c.cell_id, r.first_number"#,
        experiment
    )
    .fetch_all(tx.connection())
    .await?;
    let mut cells: Vec<CellState> = Vec::new();
    for row in found {
        let cell = CellId(row.cell_id);
        if cells.last().is_none_or(|last| last.cell != cell) {
            cells.push(CellState {
                in_sweep: row.in_sweep,
                swap_sides: row.swap_sides,
                timed: row.timed,
                next_number: row.next_number,
                ..CellState::new(cell, row.games_planned)
            });
        }
        if let (Some(last), Some(first), Some(games)) =
            (cells.last_mut(), row.first_number, row.games)
        {
            last.returned.push(GameRange { cell, first, count: games });
        }
    }
    Ok(cells)
}

/// Adds the results of their games to some of an experiment's cells, if its allocation requires them.
pub(crate) async fn add_played(
    tx: &mut Transaction<'_>,
    experiment: i64,
    cells: &mut [CellState],
) -> Result<(), StoreError> {
    let Some((first, last)) = ends(cells) else { return Ok(()) };
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", r.losses AS "losses: u64", r.draws AS "draws: u64",
            r.wins AS "wins: u64"
        FROM experiments AS e
        CROSS JOIN cells AS c ON +c.experiment_id = e.experiment_id
        CROSS JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE e.experiment_id = ?1 AND e.allocation = 'informative'
            AND c.cell_id BETWEEN ?2 AND ?3"#,
        experiment,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let mut played = BTreeMap::new();
    for row in found {
        played.insert(row.cell_id, GameCounts([row.losses, row.draws, row.wins]));
    }
    for cell in cells {
        cell.played = played.remove(&cell.cell.0).unwrap_or_default();
    }
    Ok(())
}

/// Live leases; the outstanding games of each are those granted, without the games that have a row.
async fn live_leases(tx: &mut Transaction<'_>) -> Result<Vec<LeaseState>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT l.lease_id AS "lease_id!", l.worker_id, r.cell_id, r.first_number,
            r.games, coalesce(g.number,
                CASE WHEN n.settled_unix_us IS NOT NULL OR v.settled_unix_us IS NOT NULL THEN 0 END)
                AS "settled?: u64"
        FROM leases AS l INDEXED BY leases_live
        JOIN lease_ranges AS r ON r.lease_id = l.lease_id
        LEFT JOIN games AS g ON g.cell_id = r.cell_id
            AND g.number >= r.first_number AND g.number < r.first_number + r.games
        JOIN cells AS c ON c.cell_id = r.cell_id
        LEFT JOIN networks AS n ON n.network_id = c.trains_network_id
        LEFT JOIN verifications AS v ON v.cell_id = c.cell_id
        WHERE l.ended_by IS NULL
        ORDER BY l.lease_id, r.cell_id, r.first_number, g.number"#
    )
    .fetch_all(tx.connection())
    .await?;
    let mut leases: Vec<LeaseState> = Vec::new();
    for row in found {
        let lease = LeaseId(row.lease_id);
        if leases.last().is_none_or(|last| last.lease != lease) {
            leases.push(LeaseState {
                lease,
                worker: WorkerId(row.worker_id),
                granted: Vec::new(),
                outstanding: Vec::new(),
            });
        }
        let Some(last) = leases.last_mut() else { continue };
        let range =
            GameRange { cell: CellId(row.cell_id), first: row.first_number, count: row.games };
        if last.granted.last() != Some(&range) {
            last.granted.push(range);
            last.outstanding.push(range);
        }
        // Settled numbers ascend, so only the last part can hold this one. That part can be empty until the next row
        // splits it or the end drops it.
        if let Some(settled) = row.settled
            && let Some(rest) = last.outstanding.pop()
        {
            last.outstanding.push(GameRange { count: settled - rest.first, ..rest });
            last.outstanding.push(GameRange {
                first: settled + 1,
                count: rest.end() - settled - 1,
                ..rest
            });
        }
    }
    for lease in &mut leases {
        lease.outstanding.retain(|range| range.count > 0);
    }
    Ok(leases)
}

/// Attempts of unsettled games, of one experiment or of all that are not over.
pub(crate) async fn open_attempts(
    tx: &mut Transaction<'_>,
    experiment: Option<i64>,
) -> Result<Vec<Attempts>, StoreError> {
    let [first, last] = experiment.map_or([0, i64::MAX], |only| [only; 2]);
    let found = sqlx::query!(
        r#"SELECT a.cell_id, a.number, a.lost, a.lost_alone, a.failed
        -- From what is to be played, and not through all that was ever lost.
        FROM experiments AS e
        CROSS JOIN cells AS c ON c.experiment_id = e.experiment_id
        CROSS JOIN attempts AS a ON a.cell_id = c.cell_id
        WHERE e.experiment_id BETWEEN ?1 AND ?2 AND e.state IN ('running', 'paused')
            AND NOT EXISTS (
                SELECT 1 FROM games AS g WHERE g.cell_id = a.cell_id AND g.number = a.number)
            AND NOT EXISTS (
                SELECT 1 FROM networks AS n
                WHERE n.network_id = c.trains_network_id AND n.settled_unix_us IS NOT NULL)
            AND NOT EXISTS (
                SELECT 1 FROM verifications AS v
                WHERE v.cell_id = c.cell_id AND v.settled_unix_us IS NOT NULL)
        ORDER BY a.cell_id, a.number"#,
        first,
        last
    )
    .fetch_all(tx.connection())
    .await?;
    let found = found.into_iter().map(|row| Attempts {
        game: GameId { cell: CellId(row.cell_id), number: row.number },
        lost: row.lost,
        lost_alone: row.lost_alone,
        failed: row.failed,
    });
    Ok(found.collect())
}

/// Stores workers' messages about failed games: the last message of each game stays.
///
/// # Errors
/// If the database fails.
pub(crate) async fn note_failures(
    tx: &mut Transaction<'_>,
    games: &[(GameId, String)],
) -> Result<(), StoreError> {
    let list: Vec<(i64, i64, &str)> = games
        .iter()
        .map(|(game, message)| (game.cell.0, integer(game.number), &**message))
        .collect();
    let list = rows(&list)?;
    sqlx::query!(
        "INSERT INTO attempts (cell_id, number, last_message)
        SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?) WHERE true
        ON CONFLICT (cell_id, number) DO UPDATE SET last_message = excluded.last_message",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Stores the scheduler's state for its next start.
///
/// # Errors
/// If the database fails.
pub(crate) async fn apply(tx: &mut Transaction<'_>, changes: &Changes) -> Result<(), StoreError> {
    let Changes { cells, granted, ended, attempts } = changes;
    if !cells.is_empty() {
        write_cells(tx, cells).await?;
    }
    if !granted.is_empty() {
        grant(tx, granted).await?;
    }
    if !ended.is_empty() {
        end(tx, ended).await?;
    }
    if !attempts.is_empty() {
        write_attempts(tx, attempts).await?;
    }
    Ok(())
}

async fn write_cells(tx: &mut Transaction<'_>, cells: &[CellProgress]) -> Result<(), StoreError> {
    let numbers = |cell: &CellProgress| {
        (cell.cell.0, integer(cell.next_number), integer(cell.decided_number))
    };
    let list: Vec<(i64, i64, i64)> = cells.iter().map(numbers).collect();
    let list = rows(&list)?;
    stops::end_cells(tx, cells).await?;
    sqlx::query!(
        "UPDATE cells SET next_number = j.value ->> 1, decided_number = j.value ->> 2
        FROM jsonb_each(?) AS j WHERE cell_id = j.value ->> 0",
        list
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "DELETE FROM returned_ranges
        WHERE cell_id IN (SELECT value ->> 0 FROM jsonb_each(?))",
        list
    )
    .execute(tx.connection())
    .await?;
    let ranges: Vec<Range> =
        cells.iter().flat_map(|cell| &cell.returned).map(Range::from).collect();
    if ranges.is_empty() {
        return Ok(());
    }
    let ranges = rows(&ranges)?;
    sqlx::query!(
        "INSERT INTO returned_ranges (cell_id, first_number, games)
        SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?)",
        ranges
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

async fn grant(tx: &mut Transaction<'_>, granted: &[LeaseState]) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let leases: Vec<(i64, i64)> =
        granted.iter().map(|lease| (lease.lease.0, lease.worker.0)).collect();
    let leases = rows(&leases)?;
    sqlx::query!(
        "INSERT INTO leases (lease_id, worker_id, granted_unix_us)
        SELECT value ->> 0, value ->> 1, ?2 FROM jsonb_each(?1)",
        leases,
        now
    )
    .execute(tx.connection())
    .await?;
    let ranges: Vec<(i64, Range)> = granted
        .iter()
        .flat_map(|lease| lease.granted.iter().map(|range| (lease.lease.0, Range::from(range))))
        .collect();
    let ranges = rows(&ranges)?;
    sqlx::query!(
        "INSERT INTO lease_ranges (lease_id, cell_id, first_number, games)
        SELECT value ->> '$[0]', value ->> '$[1][0]', value ->> '$[1][1]', value ->> '$[1][2]'
        FROM jsonb_each(?)",
        ranges
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

async fn end(tx: &mut Transaction<'_>, ended: &[(LeaseId, LeaseEnd)]) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let list: Vec<(i64, &str)> =
        ended.iter().map(|&(lease, end)| (lease.0, end_name(end))).collect();
    let list = rows(&list)?;
    sqlx::query!(
        "UPDATE leases SET ended_unix_us = ?2, ended_by = j.value ->> 1
        FROM jsonb_each(?1) AS j WHERE lease_id = j.value ->> 0",
        list,
        now
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

async fn write_attempts(tx: &mut Transaction<'_>, attempts: &[Attempts]) -> Result<(), StoreError> {
    let list: Vec<(i64, i64, u32, u32, u32)> = attempts
        .iter()
        .map(|attempts| {
            let Attempts { game, lost, lost_alone, failed } = *attempts;
            (game.cell.0, integer(game.number), lost, lost_alone, failed)
        })
        .collect();
    let list = rows(&list)?;
    sqlx::query!(
        "INSERT INTO attempts (cell_id, number, lost, lost_alone, failed)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
        FROM jsonb_each(?) WHERE true
        ON CONFLICT (cell_id, number) DO UPDATE SET lost = excluded.lost,
            lost_alone = excluded.lost_alone, failed = excluded.failed",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// A range in its stored form: cell, first number, games.
#[derive(Serialize)]
struct Range(i64, i64, i64);

impl From<&GameRange> for Range {
    fn from(range: &GameRange) -> Self {
        Self(range.cell.0, integer(range.first), integer(range.count))
    }
}

/// The stored name of the reason why a lease ended.
fn end_name(end: LeaseEnd) -> &'static str {
    match end {
        LeaseEnd::Finished => "finished",
        LeaseEnd::Expired => "expired",
        LeaseEnd::GivenBack => "given_back",
        LeaseEnd::Cancelled => "cancelled",
    }
}
