//! Experiments under the dispatcher's control: found, steered, and read again.

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{CellId, ExperimentId, ExperimentState, GameId};
use spelrum_store::decisions::{integer, state_name, state_of};
use spelrum_store::{Found, OtherRevision, Retry, StoreError};

use crate::numbers::{number, small};
use crate::settings;
use crate::transaction::PgTransaction;
use crate::{cells, scheduling, tasks};

pub(crate) async fn unfinished_of_other_revisions(
    tx: &mut PgTransaction<'_>,
    engine_revision: u32,
) -> Result<Vec<OtherRevision>, StoreError> {
    let found = all!(
        tx,
        (i64, String, i64),
        "SELECT experiment_id, name, engine_revision FROM experiments
        WHERE state IN ('running', 'paused') AND engine_revision <> $1 ORDER BY experiment_id",
        i64::from(engine_revision)
    );
    let other = |(experiment, name, revision)| OtherRevision {
        experiment: ExperimentId(experiment),
        name,
        engine_revision: small(revision),
    };
    Ok(found.into_iter().map(other).collect())
}

/// The experiment with this UUID or name.
pub(crate) async fn find(
    tx: &mut PgTransaction<'_>,
    which: &str,
) -> Result<Option<Found>, StoreError> {
    let found = first!(
        tx,
        (i64, String, String),
        "SELECT experiment_id, uuid, state FROM experiments AS e
        WHERE (uuid = $1 OR name = $1) AND NOT EXISTS (
            SELECT 1 FROM removals AS x
            WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
        ORDER BY uuid = $1 DESC, state IN ('running', 'paused') DESC, experiment_id DESC
        LIMIT 1",
        which
    );
    Ok(found.map(|(experiment, uuid, state)| Found {
        experiment: ExperimentId(experiment),
        uuid,
        state: state_of(&state),
    }))
}

pub(crate) async fn set_state(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    state: ExperimentState,
) -> Result<(), StoreError> {
    let is_over = matches!(state, ExperimentState::Finished | ExperimentState::Cancelled);
    let finished = is_over.then_some(tx.now_unix_us);
    // Its forfeits so far were seen before it was resumed.
    run!(
        tx,
        "UPDATE experiments SET state = $1, finished_unix_us = $2,
            forfeits_after_game_id = CASE WHEN $1 = 'running' AND forfeits_player IS NOT NULL
                THEN (SELECT coalesce(max(game_id), 0) FROM games) ELSE forfeits_after_game_id END,
            forfeits_player = CASE WHEN $1 = 'paused' THEN forfeits_player END
        WHERE experiment_id = $3",
        state_name(state),
        finished,
        experiment.0,
    );
    Ok(())
}

pub(crate) async fn set_priority(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    priority: i32,
) -> Result<(), StoreError> {
    let sql = "UPDATE experiments SET priority = $1 WHERE experiment_id = $2";
    run!(tx, sql, priority, experiment.0);
    Ok(())
}

/// Withdraws the results of an experiment's failed games.
pub(crate) async fn retry_failed(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
) -> Result<Retry, StoreError> {
    let facts = first!(
        tx,
        (String, bool, i64),
        "SELECT name, course IS NOT NULL, engine_revision FROM experiments WHERE experiment_id = $1",
        experiment.0
    );
    let Some((name, has_course, revision)) = facts else {
        return Err(StoreError::Missing { what: "an experiment" });
    };
    if has_course {
        return Err(StoreError::HasCourse { name });
    }
    if small(revision) != ENGINE_REVISION {
        // This engine can play different games (invariant 2).
        return Err(StoreError::OtherEngine { name, revision: small(revision) });
    }
    let failed = all!(
        tx,
        (i64, i64),
        "DELETE FROM games AS g USING cells AS c
        WHERE c.cell_id = g.cell_id AND c.experiment_id = $1 AND c.in_sweep = 1 AND c.superseded = 0
            AND g.failure IS NOT NULL AND (c.stop_number IS NULL OR g.number < c.stop_number)
        RETURNING g.cell_id, g.number",
        experiment.0
    );
    let game = |(cell, game)| GameId { cell: CellId(cell), number: number(game) };
    let mut games: Vec<GameId> = failed.into_iter().map(game).collect();
    games.extend(tasks::retry_trainings(tx, experiment.0).await?);
    if games.is_empty() {
        return Ok(Retry::default());
    }
    games.sort_unstable();
    play_again(tx, &games).await?;
    Ok(Retry { games, ..reload(tx, experiment).await? })
}

/// Makes games that have no result any more ones that were leased and returned, in cells whose rules read again.
pub(crate) async fn play_again(
    tx: &mut PgTransaction<'_>,
    games: &[GameId],
) -> Result<(), StoreError> {
    let cells: Vec<i64> = games.iter().map(|game| game.cell.0).collect();
    let numbers: Vec<i64> = games.iter().map(|game| integer(game.number)).collect();
    run!(
        tx,
        "DELETE FROM attempts WHERE (cell_id, number) IN (
            SELECT * FROM unnest($1::bigint[], $2::bigint[]))",
        &cells,
        &numbers,
    );
    run!(
        tx,
        "INSERT INTO returned_ranges (cell_id, first_number, games)
        SELECT cell_id, number, 1 FROM unnest($1::bigint[], $2::bigint[]) AS j (cell_id, number)
        ON CONFLICT DO NOTHING",
        &cells,
        numbers,
    );
    run!(tx, "UPDATE cells SET decided_number = 0 WHERE cell_id = ANY($1)", cells);
    Ok(())
}

/// The scheduler's state of an experiment, without the games.
pub(crate) async fn reload(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
) -> Result<Retry, StoreError> {
    Ok(Retry {
        games: Vec::new(),
        cells: cells::states_of(tx, experiment.0).await?,
        attempts: scheduling::open_attempts(tx, Some(experiment.0)).await?,
        settings: settings::read(tx, experiment.0).await?.scheduling,
    })
}
