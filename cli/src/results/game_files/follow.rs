//! An experiment's games as they are settled, until the experiment is over.

use std::collections::BTreeMap;
use std::time::Duration;

use spelrum_answers::{CellResult, CellsPage, ExperimentSummary, WholeGame, WholeGames};
use spelrum_model::{CellDefinition, CellId};
use spelrum_report::games::{GameView, WriteGames, WrittenGames};

use super::{Wanted, definition_of, no_such_cell};
use crate::error::Result;
use crate::remote::reconnecting::Away;
use crate::results::ResultsSource;

/// Interval between queries.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Writes the selected games in the order of settling, present and future ones, until the experiment is over. Flushes
/// the output, and waits for a coordinator that goes away.
pub(crate) async fn follow_games(
    source: &ResultsSource,
    experiment: &ExperimentSummary,
    wanted: &Wanted,
    writer: &mut dyn WriteGames,
    written: &mut WrittenGames,
) -> Result<()> {
    let mut following = Following { experiment, wanted, cells: Cells::default(), definition: None };
    following.cells.read(source, experiment).await?;
    wanted.check(&following.cells.axes)?;
    writer.begin(&following.cells.axes)?;
    let mut from = None;
    let mut away = Away::default();
    loop {
        // Queried before the games: so after an end, all games are there.
        let looked = async {
            let has_ended = source.progress(experiment).await?.has_ended();
            let WholeGames { games, next } =
                source.settled_games(experiment, wanted.filter(), from).await?;
            following.cells.read_missing(source, experiment, &games).await?;
            Ok((has_ended, games, next))
        };
        let (has_ended, games, next) = match looked.await {
            Ok(looked) => looked,
            Err(error) => {
                tokio::time::sleep(away.wait(error, crate::terminal::notices::notify)?).await;
                continue;
            }
        };
        away = Away::default();
        let is_all = games.is_empty();
        from = next.or(from);
        for whole in &games {
            following.write(whole, writer, written)?;
        }
        writer.flush()?;
        if is_all && has_ended {
            return if following.cells.any(wanted) {
                Ok(())
            } else {
                Err(no_such_cell(experiment))
            };
        }
        if is_all {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

struct Following<'f> {
    experiment: &'f ExperimentSummary,
    wanted: &'f Wanted,
    cells: Cells,
    /// The last definition read: games of one cell often follow each other.
    definition: Option<(CellId, CellDefinition)>,
}

impl Following<'_> {
    fn write(
        &mut self,
        whole: &WholeGame,
        writer: &mut dyn WriteGames,
        written: &mut WrittenGames,
    ) -> Result<()> {
        let id = whole.game.summary.game.cell;
        let axes = &self.cells.axes;
        let selected = self.cells.cells.get(&id).filter(|cell| self.wanted.has(axes, cell));
        let Some(cell) = selected else { return Ok(()) };
        let definition = match self.definition.take() {
            Some((last, definition)) if last == id => definition,
            _ => definition_of(whole, id)?,
        };
        let game =
            GameView { experiment: self.experiment, axes, cell, definition: &definition, whole };
        writer.write(&game)?;
        written.add(&game);
        self.definition = Some((id, definition));
        Ok(())
    }
}

/// The cells of an experiment. A growing experiment, or one with a course, gets more.
#[derive(Default)]
struct Cells {
    axes: Vec<String>,
    cells: BTreeMap<CellId, CellResult>,
}

impl Cells {
    async fn read(&mut self, source: &ResultsSource, experiment: &ExperimentSummary) -> Result<()> {
        let mut from = None;
        loop {
            let CellsPage { axes, cells, next } = source.cells(experiment, from).await?;
            self.axes = axes;
            self.cells.extend(cells.into_iter().map(|cell| (cell.cell, cell)));
            if next.is_none() {
                return Ok(());
            }
            from = next;
        }
    }

    /// Queries again if games belong to unknown cells.
    async fn read_missing(
        &mut self,
        source: &ResultsSource,
        experiment: &ExperimentSummary,
        games: &[WholeGame],
    ) -> Result<()> {
        let has_cell = |whole: &WholeGame| self.cells.contains_key(&whole.game.summary.game.cell);
        if games.iter().all(has_cell) { Ok(()) } else { self.read(source, experiment).await }
    }

    fn any(&self, wanted: &Wanted) -> bool {
        self.cells.values().any(|cell| wanted.has(&self.axes, cell))
    }
}
