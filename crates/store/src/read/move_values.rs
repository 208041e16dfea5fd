//! Values of a position's moves by a reference.

use spelrum_engine::MoveValue;
use spelrum_model::CellId;

use crate::error::StoreError;
use crate::read::readers::Readers;

impl Readers {
    /// Returns the values of a position's legal moves in canonical order, as first reported for a choice in the
    /// position; empty if there is none yet.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn values_of(
        &self,
        cell: CellId,
        position: &str,
        engine_revision: u32,
    ) -> Result<Vec<MoveValue>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT v.move AS mv, v.value
            FROM cells AS c
            JOIN experiments AS e ON e.experiment_id = c.experiment_id
            JOIN openings AS o ON o.game = e.game AND o.position = ?2
            JOIN valued_positions AS p ON p.conditions_id = c.conditions_id
                AND p.reference_player_id = c.second_player_id AND p.opening_id = o.opening_id
                AND p.engine_revision = ?3
            JOIN move_values AS v ON v.valued_position_id = p.valued_position_id
            WHERE c.cell_id = ?1
            ORDER BY v.number"#,
            cell.0,
            position,
            engine_revision
        )
        .fetch_all(self.reads())
        .await?;
        Ok(found.into_iter().map(|row| MoveValue { mv: row.mv, value: row.value }).collect())
    }
}
