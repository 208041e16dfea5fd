//! What the dispatcher looks up beside the results.

use std::time::Duration;

use spelrum_tournament::scheduler::ExperimentState;
use spelrum_tournament::speed::Scaling;
use spelrum_tournament::{CellId, DefinitionHash, ExperimentId, HashError};

use super::Writer;
use super::error::StoreError;
use super::numbers::scaling;
use super::scheduling::state_of;
use super::transaction::{Transaction, rows};

/// An experiment, as steering it needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The experiment.
    pub experiment: ExperimentId,
    /// Its UUID.
    pub uuid: String,
    /// Its state.
    pub state: ExperimentState,
}

/// A cell, as a worker that plays its games needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasedCell {
    /// The hash of its definition.
    pub definition: DefinitionHash,
    /// How long a game may take before it fails.
    pub game_timeout: Option<Duration>,
    /// Whether its games are timed.
    pub timed: bool,
    /// How time limits are scaled, if its players have some, and they are.
    pub scaling: Option<Scaling>,
}

/// An unfinished experiment that another revision of the engine has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRevision {
    /// The experiment.
    pub experiment: ExperimentId,
    /// Its name.
    pub name: String,
    /// The engine's revision.
    pub engine_revision: u32,
}

impl Writer {
    /// The unfinished experiments that are not of this revision of the engine.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn unfinished_of_other_revisions(
        &mut self,
        engine_revision: u32,
    ) -> Result<Vec<OtherRevision>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT experiment_id AS "experiment_id!: i64", name,
                engine_revision AS "engine_revision: u32"
            FROM experiments WHERE state IN ('running', 'paused') AND engine_revision <> ?"#,
            engine_revision
        )
        .fetch_all(&mut self.connection)
        .await?;
        let found = found.into_iter().map(|row| OtherRevision {
            experiment: ExperimentId(row.experiment_id),
            name: row.name,
            engine_revision: row.engine_revision,
        });
        Ok(found.collect())
    }

    /// Names this database among all others, for workers that meet another one behind the same
    /// address.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn database_uuid(&mut self) -> Result<String, StoreError> {
        let uuid = sqlx::query_scalar!("SELECT uuid FROM databases")
            .fetch_one(&mut self.connection)
            .await?;
        Ok(uuid)
    }
}

impl Transaction<'_> {
    /// The experiment with this UUID or name. Of several with the name it is the newest that is not
    /// over, or the newest.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn experiment(&mut self, which: &str) -> Result<Option<Found>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT experiment_id AS "experiment_id!: i64", uuid, state FROM experiments
            WHERE (uuid = ?1 OR name = ?1) AND NOT EXISTS (
                SELECT 1 FROM removals AS x
                WHERE x.experiment_id = experiments.experiment_id AND x.what = 'everything')
            ORDER BY uuid = ?1 DESC, state IN ('running', 'paused') DESC, experiment_id DESC
            LIMIT 1"#,
            which
        )
        .fetch_optional(self.connection())
        .await?;
        Ok(found.map(|row| Found {
            experiment: ExperimentId(row.experiment_id),
            uuid: row.uuid,
            state: state_of(&row.state),
        }))
    }

    /// What a worker must be told of cells, in order.
    ///
    /// # Errors
    /// If the database fails, or a cell is not there.
    pub async fn leased_cells(&mut self, cells: &[CellId]) -> Result<Vec<LeasedCell>, StoreError> {
        let list = rows(cells)?;
        let found = sqlx::query!(
            r#"SELECT c.definition_hash, c.timed AS "timed: bool",
                CASE WHEN c.trains_network_id IS NULL THEN e.game_timeout_us END
                    AS "game_timeout_us?: i64",
                CASE WHEN c.timed = 1 AND EXISTS (
                    SELECT 1 FROM player_parameters AS p
                    WHERE p.player_id IN (c.first_player_id, c.second_player_id)
                        AND p.parameter IN ('move_time_us', 'clock')) THEN e.reference_speed END
                    AS "reference_speed?: i64",
                e.factor_max_permille AS "factor_max_permille: u32"
            FROM json_each(?) AS j
            JOIN cells AS c ON c.cell_id = j.value
            JOIN experiments AS e ON e.experiment_id = c.experiment_id ORDER BY j.key"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        if found.len() != cells.len() {
            return Err(StoreError::Missing { what: "a cell" });
        }
        let cells = found.iter().map(|row| {
            let game_timeout =
                row.game_timeout_us.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(0)));
            let definition = row.definition_hash.parse()?;
            let scaling = scaling(row.reference_speed, row.factor_max_permille);
            Ok(LeasedCell { definition, game_timeout, timed: row.timed, scaling })
        });
        cells
            .collect::<Result<_, HashError>>()
            .map_err(|error| sqlx::Error::Decode(Box::new(error)).into())
    }
}
