//! Time per move by game phase, from the moves themselves, cell by cell.

use spelrum_answers::{CellPhases, PhaseCounter, PhaseSums, PhaseUnit, Phases};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::cells::{REPORT_ROWS_MAX, all_cells};
use crate::read::comparisons::definition_prefixes;
use crate::read::readers::Readers;
use crate::read::summaries::{facts, find, summary};

impl Readers {
    /// Returns the time per move by phase in the cells of the experiment with this UUID or name, in one snapshot;
    /// `None` if the experiment is missing. Reads all the experiment's moves.
    ///
    /// # Errors
    /// If the database fails, takes too long, or has too many cells and phases for a report.
    pub async fn phases(&self, which: &str) -> Result<Option<Phases>, StoreError> {
        self.in_time(self.all_phases(which)).await
    }

    async fn all_phases(&self, which: &str) -> Result<Option<Phases>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
        let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
        let unit = PhaseUnit::from_game_name(&experiment.game);
        let (axes, results) = all_cells(&mut snapshot, id).await?;
        let Some(facts) = facts(&mut snapshot, id).await? else { return Ok(None) };
        let moves_recorded = facts.moves_recorded;
        let mut prefixes = definition_prefixes(&mut snapshot, id).await?;
        let (mut cells, mut rows) = (Vec::new(), 0);
        let played = results.into_iter().filter(|cell| moves_recorded && cell.games > 0);
        for result in played {
            let prefix = prefixes.remove(&result.cell.0).unwrap_or_default();
            let Some(phases_of) = PhaseCounter::from_prefix(&prefix) else { continue };
            let phases = moves_of(&mut snapshot, result.cell.0, &phases_of).await?.times(unit);
            rows += phases.len();
            if rows > REPORT_ROWS_MAX {
                return Err(StoreError::LargeReport { rows_max: REPORT_ROWS_MAX });
            }
            if !phases.is_empty() {
                let (cell, axes) = (result.cell, result.axes);
                let (player, opponent) = (result.player, result.opponent);
                cells.push(CellPhases { cell, axes, player, opponent, phases });
            }
        }
        Ok(Some(Phases { experiment, axes, unit, moves_recorded, cells }))
    }
}

/// The searched moves of a cell's counted games.
async fn moves_of(
    connection: &mut SqliteConnection,
    cell: i64,
    phases_of: &PhaseCounter,
) -> Result<PhaseSums, StoreError> {
    // An opening affects the phase only if it is taken from a list.
    let found = sqlx::query!(
        r#"SELECT m.player_id <> c.first_player_id AS "is_second!: bool", o.position AS "position?",
            m.ply AS "ply!",
            count(*) AS "searched_moves!: u64", total(m.wall_us) AS "wall_us!: f64"
        FROM cells AS c
        CROSS JOIN games AS g ON g.cell_id = c.cell_id
        LEFT JOIN openings AS o ON o.opening_id = g.opening_id AND c.openings = 'listed'
        CROSS JOIN moves AS m ON m.game_id = g.game_id
        WHERE c.cell_id = ? AND g.counted = 1 AND m.ended_by <> 'only_move'
        GROUP BY o.opening_id, m.ply, m.player_id"#,
        cell
    )
    .fetch_all(connection)
    .await?;
    let mut sums = PhaseSums::default();
    for row in found {
        let ply = u32::try_from(row.ply).unwrap_or(u32::MAX);
        let phase = phases_of.phase(row.position.as_deref(), ply);
        sums.add(phase, usize::from(row.is_second), row.searched_moves, row.wall_us);
    }
    Ok(sums)
}
