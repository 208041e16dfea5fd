//! How much memory the games of cells may take, by what their players say.

use std::collections::BTreeMap;

use spelrum_engine::{Parameters, memory_bytes_of};
use spelrum_tournament::scheduler::CellState;

use super::error::StoreError;
use super::transaction::Transaction;

/// How much memory a player with these parameters may take, in bytes.
pub(super) fn bytes_of(parameters_json: &str) -> u64 {
    // What no engine of today can read is refused by the worker that gets it.
    let parameters = serde_json::from_str::<Parameters>(parameters_json);
    memory_bytes_of(&parameters.unwrap_or_default())
}

impl Transaction<'_> {
    /// Gives some of an experiment's cells the memory that a game of each may take: both of its
    /// players play at once. It follows from the definitions, and is not stored.
    pub(super) async fn add_memory(
        &mut self,
        experiment: i64,
        cells: &mut [CellState],
    ) -> Result<(), StoreError> {
        if cells.is_empty() {
            return Ok(());
        }
        let players = sqlx::query!(
            r#"SELECT player_id AS "player_id!: i64", parameters_json FROM players
            WHERE player_id IN (
                SELECT first_player_id FROM cells WHERE experiment_id = ?1
                UNION SELECT second_player_id FROM cells WHERE experiment_id = ?1)"#,
            experiment
        )
        .fetch_all(self.connection())
        .await?;
        let bytes: BTreeMap<i64, u64> = players
            .into_iter()
            .map(|row| (row.player_id, bytes_of(&row.parameters_json)))
            .collect();
        let pairs = sqlx::query!(
            r#"SELECT cell_id AS "cell_id!: i64", first_player_id, second_player_id FROM cells
            WHERE experiment_id = ?"#,
            experiment
        )
        .fetch_all(self.connection())
        .await?;
        let of = |player: i64| bytes.get(&player).copied().unwrap_or(0);
        let needs: BTreeMap<i64, u64> = pairs
            .into_iter()
            .map(|row| (row.cell_id, of(row.first_player_id) + of(row.second_player_id)))
            .collect();
        for cell in cells {
            cell.memory_bytes = needs.get(&cell.cell.0).copied().unwrap_or(0);
        }
        Ok(())
    }
}
