//! The details of cells that workers need to play their games.

use std::time::Duration;

use spelrum_model::speed::Scaling;
use spelrum_model::{CellId, DefinitionHash, HashError};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::scaling;
use crate::write::transaction::Transaction;

/// The details of a cell that a worker needs to play its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasedCell {
    /// The hash of its definition.
    pub definition: DefinitionHash,
    /// The time after which a game fails.
    pub game_timeout: Option<Duration>,
    /// Whether its games are timed.
    pub timed: bool,
    /// The scaling of time limits, if its players have limits and they are scaled.
    pub scaling: Option<Scaling>,
}

/// The details of cells that a worker needs, in order.
///
/// # Errors
/// If the database fails, or a cell is missing.
pub(crate) async fn find(
    tx: &mut Transaction<'_>,
    cells: &[CellId],
) -> Result<Vec<LeasedCell>, StoreError> {
    let list = rows(cells)?;
    let found = sqlx::query!(
        r#"SELECT c.definition_hash, c.timed,
            CASE WHEN c.trains_network_id IS NULL THEN e.game_timeout_us END
                AS "game_timeout_us?: u64",
            CASE WHEN c.timed = 1 AND EXISTS (
                SELECT 1 FROM player_parameters AS p
                WHERE p.player_id IN (c.first_player_id, c.second_player_id)
                    AND p.parameter IN ('move_time_us', 'clock')) THEN e.reference_speed END
                AS "reference_speed?: u64",
            e.factor_max_permille
        FROM json_each(?) AS j
        JOIN cells AS c ON c.cell_id = j.value
        JOIN experiments AS e ON e.experiment_id = c.experiment_id ORDER BY j.key"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    if found.len() != cells.len() {
        return Err(StoreError::Missing { what: "a cell" });
    }
    let cells = found.iter().map(|row| {
        let game_timeout = row.game_timeout_us.map(Duration::from_micros);
        let definition = row.definition_hash.parse()?;
        let scaling = scaling(row.reference_speed, row.factor_max_permille);
        Ok(LeasedCell { definition, game_timeout, timed: row.timed, scaling })
    });
    cells
        .collect::<Result<_, HashError>>()
        .map_err(|error| sqlx::Error::Decode(Box::new(error)).into())
}
