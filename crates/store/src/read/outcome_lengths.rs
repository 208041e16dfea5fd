//! Lengths of games by their outcomes.

use spelrum_answers::{CellOutcomeLengths, GetOutcomeLengths, Lengths, OutcomeLengths};

use crate::error::StoreError;
use crate::read::answers::{Question, Unanswered};
use crate::read::cells::all_cells;
use crate::read::overview::{GamesRow, games_by_cell};
use crate::read::readers::Readers;
use crate::read::summaries::{find, summary};

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
    let mut games = games_by_cell(&mut snapshot, id).await?;
    let cells = results.into_iter().filter_map(|cell| {
        let [lost, drawn, won] = by_half_points(&games.remove(&cell.cell.0)?);
        let (axes, player, opponent) = (cell.axes, cell.player, cell.opponent);
        Some(CellOutcomeLengths { cell: cell.cell, axes, player, opponent, won, drawn, lost })
    });
    let cells = cells.collect();
    Ok(Some(OutcomeLengths { experiment, axes, cells }))
}

fn by_half_points(rows: &[GamesRow]) -> [Lengths; 3] {
    [0, 1, 2].map(|half_points| {
        let mut lengths = Lengths::default();
        for row in rows.iter().filter(|row| row.half_points == half_points) {
            *lengths.0.entry(row.plies).or_default() += row.games;
        }
        lengths
    })
}
