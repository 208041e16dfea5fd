//! Experiments under the dispatcher's control: found by name or UUID, with their states and priorities.

use spelrum_model::ExperimentId;
use spelrum_model::ExperimentState;

use crate::error::StoreError;
use crate::open::writer::Writer;
use crate::schema::experiment_states::{state_name, state_of};
use crate::write::transaction::Transaction;

/// The facts about an experiment that controlling it requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The experiment's UUID.
    pub uuid: String,
    /// The experiment's state.
    pub state: ExperimentState,
}

/// An unfinished experiment begun by another revision of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRevision {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The experiment's name.
    pub name: String,
    /// The engine's revision.
    pub engine_revision: u32,
}

/// Unfinished experiments of another revision of the engine.
///
/// # Errors
/// If the database fails.
pub(crate) async fn unfinished_of_other_revisions(
    writer: &mut Writer,
    engine_revision: u32,
) -> Result<Vec<OtherRevision>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT experiment_id AS "experiment_id!", name, engine_revision
        FROM experiments WHERE state IN ('running', 'paused') AND engine_revision <> ?"#,
        engine_revision
    )
    .fetch_all(&mut writer.connection)
    .await?;
    let found = found.into_iter().map(|row| OtherRevision {
        experiment: ExperimentId(row.experiment_id),
        name: row.name,
        engine_revision: row.engine_revision,
    });
    Ok(found.collect())
}

/// The experiment with this UUID or name. If several share the name: the newest that is not over, else the newest.
///
/// # Errors
/// If the database fails.
pub(crate) async fn find(
    tx: &mut Transaction<'_>,
    which: &str,
) -> Result<Option<Found>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT experiment_id AS "experiment_id!", uuid, state FROM experiments
        WHERE (uuid = ?1 OR name = ?1) AND NOT EXISTS (
            SELECT 1 FROM removals AS x
            WHERE x.experiment_id = experiments.experiment_id AND x.what = 'everything')
        ORDER BY uuid = ?1 DESC, state IN ('running', 'paused') DESC, experiment_id DESC
        LIMIT 1"#,
        which
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(found.map(|row| Found {
        experiment: ExperimentId(row.experiment_id),
        uuid: row.uuid,
        state: state_of(&row.state),
    }))
}

/// Stores an experiment's new state.
///
/// # Errors
/// If the database fails.
pub(crate) async fn set_state(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    state: ExperimentState,
) -> Result<(), StoreError> {
    let name = state_name(state);
    let finished = matches!(state, ExperimentState::Finished | ExperimentState::Cancelled)
        .then_some(tx.now_unix_us);
    sqlx::query!(
        "UPDATE experiments SET state = ?1, finished_unix_us = ?2,
            -- Whoever resumes it has seen the forfeits that it was paused for.
            forfeits_after_game_id = CASE
                WHEN ?1 = 'running' AND forfeits_player IS NOT NULL
                    THEN (SELECT coalesce(max(game_id), 0) FROM games)
                ELSE forfeits_after_game_id END,
            forfeits_player = CASE WHEN ?1 = 'paused' THEN forfeits_player END
        WHERE experiment_id = ?3",
        name,
        finished,
        experiment.0
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Stores an experiment's new priority.
///
/// # Errors
/// If the database fails.
pub(crate) async fn set_priority(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    priority: i32,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE experiments SET priority = ?1 WHERE experiment_id = ?2",
        priority,
        experiment.0
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
