//! Lengths of games by their outcomes.

use std::collections::BTreeMap;

use spelrum_answers::{CellOutcomeLengths, GetOutcomeLengths, Lengths, OutcomeLengths};
use spelrum_model::ExperimentId;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::answers::{Question, Unanswered};
use crate::read::cells::{REPORT_ROWS_MAX, all_cells};
use crate::read::readers::Readers;
use crate::read::summaries::{find, summary};
use crate::schema::numbers::count;

impl Question for GetOutcomeLengths {
    const IS_LARGE: bool = true;

    async fn answer(self, readers: &Readers) -> Result<OutcomeLengths, Unanswered> {
        let answer = readers.in_time(outcome_lengths(readers, &self.experiment)).await?;
        answer.ok_or(Unanswered::UnknownExperiment(self.experiment))
    }
}

async fn outcome_lengths(
    readers: &Readers,
    which: &str,
) -> Result<Option<OutcomeLengths>, StoreError> {
    let mut snapshot = readers.snapshot().await?;
    let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
    let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
    let (axes, results) = all_cells(&mut snapshot, id).await?;
    let mut games = games(&mut snapshot, id).await?;
    let cells = results.into_iter().filter_map(|cell| {
        let [lost, drawn, won] = games.remove(&cell.cell.0)?;
        let (axes, player, opponent) = (cell.axes, cell.player, cell.opponent);
        Some(CellOutcomeLengths { cell: cell.cell, axes, player, opponent, won, drawn, lost })
    });
    let cells = cells.collect();
    Ok(Some(OutcomeLengths { experiment, axes, cells }))
}

/// Lengths of the counted games of the cells that the sweep names, by the first player's half points.
async fn games(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<BTreeMap<i64, [Lengths; 3]>, StoreError> {
    let limit = count(REPORT_ROWS_MAX + 1);
    let found = sqlx::query!(
        r#"SELECT g.cell_id, g.plies AS "plies!: u32", CASE g.outcome WHEN 'draw' THEN 1
                WHEN 'win' THEN 2 * (g.number % 2 * c.swap_sides = 0)
                ELSE 2 * (g.number % 2 * c.swap_sides) END AS "half_points!: i64",
            count(*) AS "games!: u64"
        FROM cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id
        WHERE c.experiment_id = ?1 AND c.in_sweep = 1 AND +g.counted = 1
        GROUP BY g.cell_id, 2, 3 LIMIT ?2"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?;
    if found.len() > REPORT_ROWS_MAX {
        return Err(StoreError::LargeReport { rows_max: REPORT_ROWS_MAX });
    }
    let mut by_cell: BTreeMap<i64, [Lengths; 3]> = BTreeMap::new();
    for row in found {
        let outcomes = by_cell.entry(row.cell_id).or_default();
        let outcome = usize::try_from(row.half_points).ok().and_then(|at| outcomes.get_mut(at));
        outcome.into_iter().for_each(|lengths| {
            lengths.0.insert(row.plies, row.games);
        });
    }
    Ok(by_cell)
}
