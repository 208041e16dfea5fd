//! Space that a removal would free, and the progress of running removals.

use spelrum_answers::{Removable, Removal, Removing};

use crate::error::StoreError;
use crate::read::readers::Readers;

/// Database bytes per game without its moves: measured over thousands of games of Pentago, rollups and indexes
/// included.
pub const GAME_BYTES: f64 = 200.0;

/// Database bytes per move. A move that was not searched takes 47, since SQLite stores small numbers in fewer bytes.
pub const MOVE_BYTES: f64 = 64.0;

/// Bytes kept of a game that loses its moves: each side's searches by depth, `game_depths`.
const DEPTHS_BYTES: f64 = 150.0;

/// Bytes per cell: indexes, axes, rollups.
const CELL_BYTES: u64 = 1_500;

impl Readers {
    /// Estimates what removing an experiment (by UUID) or its moves would free, from the rollups.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn removable(&self, uuid: &str, what: Removing) -> Result<Removable, StoreError> {
        let found = sqlx::query!(
            r#"SELECT count(*) AS "cells!: u64",
                coalesce(sum(r.games + r.games_failed), 0) AS "games!: u64",
                coalesce(sum(r.games > 0), 0) AS "cells_played!: u64",
                coalesce(sum(r.games), 0) AS "games_played!: u64",
                coalesce(sum(CASE WHEN e.record = 'moves' THEN r.plies ELSE 0 END), 0)
                    AS "moves!: u64"
            FROM experiments AS e
            JOIN cells AS c ON c.experiment_id = e.experiment_id
            LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
            WHERE e.uuid = ?"#,
            uuid
        )
        .fetch_one(self.reads())
        .await?;
        let bytes_of_moves = (found.moves as f64 * MOVE_BYTES) as u64;
        if what == Removing::Moves {
            if found.moves == 0 {
                return Ok(Removable::default());
            }
            let bytes_kept = (found.games_played as f64 * DEPTHS_BYTES) as u64;
            return Ok(Removable {
                cells: found.cells_played,
                games: found.games_played,
                moves: found.moves,
                bytes: bytes_of_moves.saturating_sub(bytes_kept),
            });
        }
        let (cells, games, moves) = (found.cells, found.games, found.moves);
        let bytes = bytes_of_moves + (games as f64 * GAME_BYTES) as u64 + cells * CELL_BYTES;
        Ok(Removable { cells, games, moves, bytes })
    }

    /// Returns removals in progress, oldest first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn removals(&self) -> Result<Vec<Removal>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT experiment, what, games, games_done,
                experiment_id IS NULL AS "shrinking!: bool"
            FROM removals ORDER BY removal_id LIMIT 1000"#
        )
        .fetch_all(self.reads())
        .await?;
        let found = found.into_iter().map(|row| Removal {
            experiment: row.experiment,
            removing: Removing::named(&row.what).unwrap_or(Removing::Everything),
            games: row.games,
            games_done: row.games_done,
            is_shrinking: row.shrinking,
        });
        Ok(found.collect())
    }
}
