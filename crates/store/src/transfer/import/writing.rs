//! Writes imported experiments. A cell's games come in one transaction, through the code that stores workers' results;
//! for games without moves see `games_without_moves`.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::repeat::{Repeated, compare};
use spelrum_model::{CellId, ExperimentId, Plan, PlayedGame, Task, WorkerId};
use spelrum_scheduling::scheduler::CellProgress;

use super::Imported;
use super::games_without_moves::reason_of;
use super::played_games::{Read, ReadGame};
use super::source::{Attempt, SourceCell, SourceExperiment};
use super::workers::MetWorkers;
use super::{claims, games_without_moves};
use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::experiment_views;
use crate::schema::numbers::{integer, safe};
use crate::write::cells::{self, Place, ROWS_AT_ONCE};
use crate::write::stop_readings::{Read as CellRead, read_again};
use crate::write::transaction::Transaction;
use crate::write::uncounted_games::{self, Reason};
use crate::write::{
    checked_games, courses, excluded_workers, networks, settled_games, stop_rules, stops, submit,
    sweep_files,
};

/// An experiment that already exists here.
pub(super) struct Known {
    pub(super) experiment: i64,
    pub(super) state: String,
    /// UUIDs of its sweep's versions, in order.
    pub(super) versions: Vec<String>,
    pub(super) has_course: bool,
}

/// The fields of a settled game that decide whether another result is identical.
struct Settled {
    worker: Option<String>,
    started_unix_us: Option<i64>,
    moves_hash: Option<u64>,
}

/// Finds the experiment with this UUID.
pub(super) async fn known(
    tx: &mut Transaction<'_>,
    uuid: &str,
) -> Result<Option<Known>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT experiment_id AS "experiment_id!", state,
            course IS NOT NULL AS "has_course!: bool"
        FROM experiments WHERE uuid = ?"#,
        uuid
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(found) = found else { return Ok(None) };
    let versions = sqlx::query_scalar!(
        "SELECT uuid FROM sweep_versions WHERE experiment_id = ? ORDER BY version",
        found.experiment_id
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(Some(Known {
        experiment: found.experiment_id,
        state: found.state,
        versions,
        has_course: found.has_course,
    }))
}

/// Whether another experiment has this name.
pub(super) async fn is_name_taken(
    tx: &mut Transaction<'_>,
    name: &str,
    uuid: &str,
) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (
            SELECT 1 FROM experiments AS e
            WHERE e.name = ?1 AND e.uuid <> ?2 AND NOT EXISTS (
                SELECT 1 FROM removals AS x
                WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
        ) AS "taken!: bool""#,
        name,
        uuid
    )
    .fetch_one(tx.connection())
    .await?)
}

/// Stores a new experiment, or updates an existing one to the file's version, except for its games.
pub(super) async fn adopt(
    tx: &mut Transaction<'_>,
    exported: &SourceExperiment,
    known: Option<&Known>,
    plan_of_settings: &Plan,
    parts: &[(Plan, Vec<&SourceCell>)],
) -> Result<i64, StoreError> {
    let experiment = match known {
        Some(known) => {
            submit::update_experiment(tx, known.experiment, &exported.sweep_toml, plan_of_settings)
                .await?;
            submit::drop_settings(tx, known.experiment).await?;
            experiment_views::drop_views(tx, known.experiment).await?;
            known.experiment
        }
        None => {
            let task = parts.first().map(|(plan, _)| plan.task()).unwrap_or_default();
            begin_imported(tx, exported, plan_of_settings, task).await?
        }
    };
    submit::insert_settings(tx, experiment, plan_of_settings).await?;
    sweep_files::keep(tx, ExperimentId(experiment), &exported.files).await?;
    import_versions(tx, experiment, exported).await?;
    let there = cells_by_hash(tx, experiment).await?;
    for (plan, cells) in parts {
        let new: Vec<usize> = (0..cells.len())
            .filter(|index| !there.contains_key(&cells[*index].definition_hash))
            .collect();
        let ids = cells::insert_parts(tx, plan).await?;
        for some in new.chunks(ROWS_AT_ONCE) {
            let asked_after = cells.first().and_then(|cell| cell.asked_after);
            let place = Place { first: 0, asked_after };
            cells::insert_some_cells(tx, experiment, plan, &ids, some, place).await?;
        }
        // Games still to be played may need networks that the file lacks.
        let is_over = ["finished", "cancelled"].contains(&&*exported.state);
        networks::note_networks(tx, experiment, ids.players(plan), !is_over && !new.is_empty())
            .await?;
        place_cells(tx, experiment, plan, cells, &there).await?;
    }
    claims::import_claims(tx, experiment, &exported.claims).await?;
    courses::note(tx, ExperimentId(experiment), &exported.notes).await?;
    experiment_views::create_views(tx, experiment).await?;
    tx.cache.cells.clear();
    Ok(experiment)
}

async fn begin_imported(
    tx: &mut Transaction<'_>,
    exported: &SourceExperiment,
    plan_of_settings: &Plan,
    task: Task,
) -> Result<i64, StoreError> {
    let kind = task.experiments();
    let experiment =
        submit::insert_experiment(tx, &exported.uuid, &exported.sweep_toml, plan_of_settings)
            .await?;
    let course = exported.course.as_deref();
    sqlx::query!(
        "UPDATE experiments SET state = 'paused', engine_revision = ?2, submitted_unix_us = ?3,
            course = ?4, pruned_unix_us = ?5, kind = ?6, engine_cpu_known = ?7
        WHERE experiment_id = ?1",
        experiment,
        exported.engine_revision,
        exported.submitted_unix_us,
        course,
        exported.pruned_unix_us,
        kind,
        exported.engine_cpu_known
    )
    .execute(tx.connection())
    .await?;
    Ok(experiment)
}

async fn import_versions(
    tx: &mut Transaction<'_>,
    experiment: i64,
    exported: &SourceExperiment,
) -> Result<(), StoreError> {
    for (number, version) in (1_i64..).zip(&exported.versions) {
        let [kept, continued, added, returned, dropped, games_kept, games_to_play] = version.counts;
        sqlx::query!(
            "INSERT OR IGNORE INTO sweep_versions (experiment_id, version, uuid, sweep_toml,
                submitted_unix_us, cells_kept, cells_continued, cells_added, cells_returned,
                cells_dropped, games_kept, games_to_play)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            experiment,
            number,
            version.uuid,
            version.sweep_toml,
            version.submitted_unix_us,
            kept,
            continued,
            added,
            returned,
            dropped,
            games_kept,
            games_to_play
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}

pub(super) async fn cells_by_hash(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<BTreeMap<String, i64>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT cell_id AS "cell_id!", definition_hash FROM cells
        WHERE experiment_id = ?"#,
        experiment
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(found.into_iter().map(|row| (row.definition_hash, row.cell_id)).collect())
}

/// A cell's id, number and games, its players' names, whether it is timed, named by the sweep and superseded, and the
/// games planned before its end was changed.
type PlacedCell<'c> = (i64, i64, i64, &'c str, &'c str, (u8, u8, u8), Option<i64>);

/// Stores the cells' data beside their definitions, as in the file.
async fn place_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    plan: &Plan,
    cells: &[&SourceCell],
    before: &BTreeMap<String, i64>,
) -> Result<(), StoreError> {
    let rule = stop_rules::stop_rule(tx, plan.stop).await?;
    let ids = cells_by_hash(tx, experiment).await?;
    let its = || {
        let found = cells.iter().zip(&plan.cells);
        found.filter_map(|(cell, planned)| Some((*ids.get(&cell.definition_hash)?, *cell, planned)))
    };
    let list = its()
        .map(|(id, cell, _)| {
            let games = safe("a cell's games", cell.games)?;
            let [first, second] = &cell.names;
            let [timed, in_sweep, superseded] =
                [cell.timed, cell.in_sweep, cell.superseded].map(u8::from);
            let games_first =
                cell.games_first.map(|games| safe("a cell's games", games)).transpose()?;
            let (number, flags) = (cell.number, (timed, in_sweep, superseded));
            Ok((id, number, games, &**first, &**second, flags, games_first))
        })
        .collect::<Result<Vec<PlacedCell<'_>>, StoreError>>()?;
    for some in list.chunks(ROWS_AT_ONCE) {
        let some = rows(some)?;
        sqlx::query!(
            "UPDATE cells SET number = j.value ->> 1,
                games_planned = max(games_planned, j.value ->> 2),
                first_player_name = j.value ->> 3, second_player_name = j.value ->> 4,
                timed = j.value ->> '$[5][0]', in_sweep = j.value ->> '$[5][1]',
                superseded = j.value ->> '$[5][2]', stop_rule_id = ?2,
                games_planned_first = coalesce(games_planned_first, j.value ->> 6,
                    CASE WHEN games_planned < j.value ->> 2 AND EXISTS (
                        SELECT 1 FROM cell_results AS r
                        WHERE r.cell_id = cells.cell_id AND r.games > 0)
                    THEN games_planned END)
            FROM jsonb_each(?1) AS j WHERE cell_id = j.value ->> 0",
            some,
            rule
        )
        .execute(tx.connection())
        .await?;
    }
    let moved: Vec<i64> = its()
        .filter(|(_, cell, _)| before.contains_key(&cell.definition_hash))
        .map(|(id, ..)| id)
        .collect();
    let list = rows(&moved)?;
    sqlx::query!("DELETE FROM cell_axes WHERE cell_id IN (SELECT value FROM json_each(?))", list)
        .execute(tx.connection())
        .await?;
    let moved = its().filter(|(_, cell, _)| before.contains_key(&cell.definition_hash));
    cells::insert_places(tx, plan, moved.map(|(id, _, planned)| (id, planned))).await
}

/// Stores missing games of a cell, and differing results of existing ones. Workers are keyed by the file's ids.
pub(super) async fn import_games(
    tx: &mut Transaction<'_>,
    cell: CellId,
    games: Vec<ReadGame>,
    workers: &MetWorkers,
    imported: &mut Imported,
) -> Result<(), StoreError> {
    let there = settled_in(tx, cell, &games).await?;
    let worker = |id: i64| workers.get(&id).cloned().unwrap_or((WorkerId(0), String::new()));
    let players: BTreeSet<WorkerId> =
        games.iter().filter_map(|game| game.what.worker()).map(|id| worker(id).0).collect();
    let mut excluded = BTreeSet::new();
    for by in players {
        if excluded_workers::is_excluded(tx, by, cell.0).await? {
            excluded.insert(by);
        }
    }
    let (mut with_moves, mut bare, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for ReadGame { what, reason, received_unix_us } in games {
        let known = there.get(&integer(what.number()));
        let is_excluded = what.worker().is_some_and(|id| excluded.contains(&worker(id).0));
        let beside = is_excluded.then_some(Reason::Excluded.name());
        match (what, known, reason) {
            (Read::Whole(by, game), _, Some(reason)) => {
                let (by, _) = worker(by);
                let is_new = keep_once(tx, by, game, Some(reason), Some(received_unix_us)).await?;
                imported.uncounted += u64::from(is_new.is_some());
            }
            (Read::Bare(_) | Read::Failed(..), _, Some(_)) => {}
            (Read::Whole(by, game), None, None) if is_excluded => {
                let found = keep_once(tx, worker(by).0, game, beside, None).await?;
                imported.count(found, is_excluded);
            }
            (Read::Bare(game), None, None) if is_excluded => {
                let by = worker(game.worker).0;
                let found = games_without_moves::keep_bare_once(tx, by, &game, beside).await?;
                imported.count(found, is_excluded);
            }
            (Read::Whole(by, game), None, None) => with_moves.push((worker(by).0, game)),
            (Read::Bare(game), None, None) => bare.push(game),
            (Read::Failed(game, message), None, None) => failed.push((game, message)),
            (Read::Failed(..), Some(_), None) => imported.known += 1,
            (Read::Whole(by, game), Some(known), None) => {
                let (by, uuid) = worker(by);
                if known.is(&uuid, game.started_unix_us, game.moves_hash) {
                    imported.known += 1;
                } else {
                    let found = keep_once(tx, by, game, beside, None).await?;
                    imported.count(found, is_excluded);
                }
            }
            (Read::Bare(game), Some(known), None) => {
                let (by, uuid) = worker(game.worker);
                if known.is(&uuid, game.started_unix_us, game.result.moves_hash) {
                    imported.known += 1;
                } else {
                    let found = games_without_moves::keep_bare_once(tx, by, &game, beside).await?;
                    imported.count(found, is_excluded);
                }
            }
        }
    }
    imported.games += (with_moves.len() + bare.len()) as u64;
    imported.failed += failed.len() as u64;
    settled_games::store(tx, &with_moves).await?;
    settled_games::settle_failed(tx, &failed).await?;
    games_without_moves::import_bare(tx, cell, &bare, workers).await
}

async fn settled_in(
    tx: &mut Transaction<'_>,
    cell: CellId,
    games: &[ReadGame],
) -> Result<BTreeMap<i64, Settled>, StoreError> {
    let numbers: Vec<i64> = games.iter().map(|game| integer(game.what.number())).collect();
    let list = rows(&numbers)?;
    let found = sqlx::query!(
        r#"SELECT g.number, w.uuid AS "uuid?", g.started_unix_us, g.moves_hash
        FROM json_each(?2) AS j
        CROSS JOIN games AS g ON g.cell_id = ?1 AND g.number = j.value
        LEFT JOIN workers AS w ON w.worker_id = g.worker_id"#,
        cell.0,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let found = found.into_iter().map(|row| {
        let (started_unix_us, moves_hash) = (row.started_unix_us, row.moves_hash);
        (row.number, Settled { worker: row.uuid, started_unix_us, moves_hash })
    });
    Ok(found.collect())
}

/// Keeps a result beside the settled one, unless it is kept already; if no reason is given, comparing the two supplies
/// it.
async fn keep_once(
    tx: &mut Transaction<'_>,
    worker: WorkerId,
    game: PlayedGame,
    reason: Option<&'static str>,
    received_unix_us: Option<i64>,
) -> Result<Option<Repeated>, StoreError> {
    let (cell, number) = (game.game.cell.0, integer(game.game.number));
    let hash = integer(game.moves_hash);
    if games_without_moves::is_kept(tx, cell, number, worker, game.started_unix_us, hash).await? {
        return Ok(None);
    }
    let found = compare(uncounted_games::settled_of(tx, cell, number).await?.as_ref(), &game);
    let reported = [(worker, game)];
    let checked = checked_games::check(tx, &reported).await?;
    for game in &checked {
        let reason = reason.unwrap_or_else(|| reason_of(found));
        uncounted_games::insert(tx, game, reason, received_unix_us).await?;
    }
    Ok(Some(found))
}

/// Finishes a cell after its games: applies its stop rule to all of them again, and returns unplayed games to the
/// queue.
pub(super) async fn finish_cell(tx: &mut Transaction<'_>, cell: CellId) -> Result<(), StoreError> {
    let row = sqlx::query!(
        r#"SELECT c.stop_rule_id, c.swap_sides, k.openings_count, c.repeats, c.games_planned
        FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE c.cell_id = ?"#,
        cell.0
    )
    .fetch_one(tx.connection())
    .await?;
    let rules = stop_rules::all(tx.connection()).await?;
    let read = CellRead {
        rule: row.stop_rule_id.and_then(|id| rules.get(&id).copied()),
        swap_sides: row.swap_sides,
        openings_count: row.openings_count,
        repeats: row.repeats,
        games_planned: row.games_planned,
    };
    let (decided_number, stop_number) = match read.start() {
        None => (0, None),
        Some(nothing) => {
            let prefix = read_again(tx.connection(), cell.0, nothing).await?;
            (prefix.decided_number(), prefix.stop_number())
        }
    };
    let decided = integer(decided_number);
    sqlx::query!(
        "UPDATE cells SET decided_number = ?2, next_number = max(next_number, (
            SELECT coalesce(max(g.number) + 1, 0) FROM games AS g WHERE g.cell_id = ?1))
        WHERE cell_id = ?1",
        cell.0,
        decided
    )
    .execute(tx.connection())
    .await?;
    let progress =
        CellProgress { cell, next_number: 0, returned: Vec::new(), decided_number, stop_number };
    stops::end_cells(tx, &[progress]).await?;
    sqlx::query!("DELETE FROM returned_ranges WHERE cell_id = ?", cell.0)
        .execute(tx.connection())
        .await?;
    sqlx::query!(
        "WITH RECURSIVE leased (number, last) AS (
            SELECT r.first_number, r.first_number + r.games - 1
            FROM lease_ranges AS r JOIN leases AS l ON l.lease_id = r.lease_id
            WHERE r.cell_id = ?1 AND l.ended_by IS NULL
            UNION ALL
            SELECT number + 1, last FROM leased WHERE number < last),
        taken AS (
            SELECT number FROM games WHERE cell_id = ?1
            UNION SELECT number FROM leased
            UNION SELECT next_number FROM cells WHERE cell_id = ?1)
        INSERT INTO returned_ranges (cell_id, first_number, games)
        SELECT ?1, earlier + 1, number - earlier - 1
        FROM (SELECT number, lag(number, 1, -1) OVER (ORDER BY number) AS earlier FROM taken
            WHERE number <= (SELECT next_number FROM cells WHERE cell_id = ?1))
        WHERE number - earlier > 1",
        cell.0
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Stores lost and failed attempts of a new cell's games, and the outcome reported to its course.
pub(super) async fn import_history(
    tx: &mut Transaction<'_>,
    cell: CellId,
    attempts: &[Attempt],
    outcome: Option<[i64; 11]>,
) -> Result<(), StoreError> {
    let attempts = rows(attempts)?;
    sqlx::query!(
        "INSERT OR IGNORE INTO attempts (cell_id, number, lost, lost_alone, failed, last_message)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
        FROM jsonb_each(?1)",
        attempts,
        cell.0
    )
    .execute(tx.connection())
    .await?;
    if let Some(outcome) = outcome {
        let outcome = rows(&[outcome])?;
        sqlx::query!(
            "INSERT OR IGNORE INTO told_cells (cell_id, games, games_failed, wins, draws, losses,
                pairs_0, pairs_half, pairs_1, pairs_1_half, pairs_2, margin_sum)
            SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
                value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9,
                value ->> 10
            FROM jsonb_each(?1)",
            outcome,
            cell.0
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}

/// Sets an experiment's state after all its cells: finished if no games are left to play. An experiment with games left
/// that was not running here stays paused until a user resumes it. Returns the state.
pub(super) async fn settle_state(
    tx: &mut Transaction<'_>,
    experiment: i64,
    exported: &SourceExperiment,
    is_new: bool,
) -> Result<String, StoreError> {
    let now = tx.now_unix_us;
    let cancelled = is_new && exported.state == "cancelled";
    let finished_unix_us = exported.finished_unix_us.unwrap_or(now);
    Ok(sqlx::query_scalar!(
        "UPDATE experiments AS e SET
            state = CASE
                WHEN ?2 OR e.state = 'cancelled' THEN 'cancelled'
                WHEN e.course IS NOT 'open' AND u.unsettled = 0 THEN 'finished'
                WHEN e.state = 'running' THEN 'running'
                ELSE 'paused' END,
            finished_unix_us = CASE
                WHEN ?2 OR e.course IS NOT 'open' AND u.unsettled = 0
                THEN coalesce(e.finished_unix_us, ?3)
                WHEN e.state = 'cancelled' THEN e.finished_unix_us END
        FROM (
            SELECT count(*) AS unsettled FROM cells AS c
            LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND c.in_sweep = 1
                AND coalesce(r.games + r.games_failed, 0)
                    < coalesce(c.stop_number, c.games_planned)) AS u
        WHERE e.experiment_id = ?1
        RETURNING state",
        experiment,
        cancelled,
        finished_unix_us
    )
    .fetch_one(tx.connection())
    .await?)
}

/// Whether this release plays an experiment's games as they were played.
pub(super) fn is_ours(exported: &SourceExperiment) -> bool {
    exported.engine_revision == ENGINE_REVISION
}

impl Settled {
    /// Whether this is the same result of the same worker.
    fn is(&self, worker: &str, started_unix_us: i64, moves_hash: u64) -> bool {
        self.worker.as_deref() == Some(worker)
            && self.started_unix_us == Some(started_unix_us)
            && self.moves_hash == Some(moves_hash)
    }
}
