//! The scheduler's facts about reported games: whether they are settled, and whether they were leased.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use serde::Serialize;
use spelrum_model::disturbance::TimedCell;
use spelrum_model::{GameId, LeaseId, WorkerId};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::integer;
use crate::write::checked_games;
use crate::write::disturbed_games::{self, KeptDisturbed};
use crate::write::number_runs::{Run, runs};
use crate::write::transaction::Transaction;

/// Facts about a game that a worker reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GameFacts {
    /// Whether the game has a settled result.
    pub settled: bool,
    /// Whether the game was ever leased to this worker under the lease it names.
    pub leased: bool,
    /// How the game is checked for disturbance, if timed.
    pub timed: Option<TimedCell>,
    /// Number of its disturbed results kept, where disturbed games are replayed.
    pub disturbed: u64,
    /// Whether a kept one came under this lease.
    pub is_kept: bool,
    /// When the lease was granted, by the coordinator's clock, if the game was leased under it.
    pub granted_unix_us: Option<i64>,
}

/// The source of a report: the lease, the worker and the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
struct Held(i64, i64, i64);

/// The grant time of numbers, and the numbers.
type GrantedRange = (i64, Range<u64>);

/// Looks up the scheduler's facts about reported games, in order: each game with its worker and the lease it names.
///
/// # Errors
/// If the database fails.
pub(crate) async fn facts(
    tx: &mut Transaction<'_>,
    games: &[(WorkerId, LeaseId, GameId)],
) -> Result<Vec<GameFacts>, StoreError> {
    // Nearly all of them are consecutive and unsettled, so query the existing games of each run.
    let settled = settled_among(tx, &runs(games.iter().map(|(.., game)| *game))).await?;
    let held: BTreeSet<Held> =
        games.iter().map(|(worker, lease, game)| Held(lease.0, worker.0, game.cell.0)).collect();
    let ranges = ranges_of(tx, &held.into_iter().collect::<Vec<_>>()).await?;
    checked_games::fill_cells(tx, games.iter().map(|(.., game)| game.cell.0)).await?;
    let timed = |cell: i64| tx.cache.cells.get(&cell).and_then(|info| info.timed);
    let timed: BTreeMap<i64, TimedCell> =
        games.iter().filter_map(|(.., game)| Some((game.cell.0, timed(game.cell.0)?))).collect();
    let replayed =
        |game: &GameId| timed.get(&game.cell.0).is_some_and(|timed| timed.timing.replays_max > 0);
    let replayed: Vec<GameId> = games.iter().map(|(.., game)| *game).filter(replayed).collect();
    let kept = if replayed.is_empty() {
        KeptDisturbed::new()
    } else {
        disturbed_games::kept(tx, &replayed).await?
    };
    let facts = games.iter().map(|(worker, lease, game)| {
        let number = integer(game.number);
        let kept = kept.get(&(game.cell.0, number));
        let ranges = ranges.get(&Held(lease.0, worker.0, game.cell.0));
        let mut ranges = ranges.into_iter().flatten();
        let granted = ranges.find(|(_, range)| range.contains(&game.number));
        GameFacts {
            settled: settled.contains(&(game.cell.0, number)),
            leased: granted.is_some(),
            granted_unix_us: granted.map(|&(granted_unix_us, _)| granted_unix_us),
            timed: timed.get(&game.cell.0).copied(),
            disturbed: kept.map_or(0, |leases| leases.len() as u64),
            is_kept: kept.is_some_and(|leases| leases.contains(&lease.0)),
        }
    });
    Ok(facts.collect())
}

/// The settled games of these runs.
async fn settled_among(
    tx: &mut Transaction<'_>,
    runs: &[Run],
) -> Result<HashSet<(i64, i64)>, StoreError> {
    let list = rows(runs)?;
    let found = sqlx::query!(
        "SELECT g.cell_id, g.number
        FROM jsonb_each(?) AS j
        CROSS JOIN games AS g ON g.cell_id = j.value ->> 0
            AND g.number BETWEEN j.value ->> 1 AND j.value ->> 2",
        list
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(found.into_iter().map(|row| (row.cell_id, row.number)).collect())
}

/// The numbers granted with leases, by worker and cell, and when. A cell that is being removed has no games any more.
async fn ranges_of(
    tx: &mut Transaction<'_>,
    held: &[Held],
) -> Result<HashMap<Held, Vec<GrantedRange>>, StoreError> {
    let list = rows(held)?;
    let found = sqlx::query!(
        r#"SELECT l.lease_id AS "lease_id!", l.worker_id AS "worker_id!",
            l.granted_unix_us AS "granted_unix_us!", r.cell_id AS "cell_id!",
            r.first_number AS "first_number!", r.games AS "games!"
        FROM jsonb_each(?) AS j
        CROSS JOIN leases AS l ON l.lease_id = j.value ->> 0 AND l.worker_id = j.value ->> 1
        CROSS JOIN lease_ranges AS r ON r.lease_id = l.lease_id AND r.cell_id = j.value ->> 2
        WHERE NOT EXISTS (
            SELECT 1 FROM removals AS x CROSS JOIN cells AS c
            WHERE x.what = 'everything' AND c.cell_id = r.cell_id
                AND c.experiment_id = x.experiment_id)"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let mut ranges: HashMap<Held, Vec<GrantedRange>> = HashMap::new();
    for row in found {
        let range = row.first_number..row.first_number.saturating_add(row.games);
        let held = Held(row.lease_id, row.worker_id, row.cell_id);
        ranges.entry(held).or_default().push((row.granted_unix_us, range));
    }
    Ok(ranges)
}
