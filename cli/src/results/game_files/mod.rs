//! An experiment's games, one after the other, as text or rows.

mod follow;

use std::collections::BTreeMap;
use std::str::FromStr;

use spelrum_answers::{
    CellResult, CellsPage, ExperimentSummary, GamesFilter, WholeGame, WholeGames,
};
use spelrum_model::{CellDefinition, CellId};
use spelrum_report::games::{GameView, WriteGames, WrittenGames};

pub(crate) use follow::follow_games;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;

/// A selection of games.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Only games of these cells, if any are given.
    pub(crate) cells: Vec<i64>,
    /// Only games with one of these players, if any are given.
    pub(crate) players: Vec<String>,
    /// Only games of cells with one of these values on each axis.
    pub(crate) places: Vec<AxisPlace>,
    /// Also games that do not count.
    pub(crate) uncounted: bool,
}

/// A value on an axis, in the sweep's notation.
#[derive(Clone, Debug)]
pub(crate) struct AxisPlace {
    axis: String,
    value: String,
}

impl FromStr for AxisPlace {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let (axis, value) = text.split_once('=').ok_or("write it as AXIS=VALUE")?;
        Ok(Self { axis: axis.trim().to_owned(), value: value.trim().to_owned() })
    }
}

impl Wanted {
    /// Refuses unknown names: a misspelt one must not look like an experiment without games.
    fn check(&self, axes: &[String]) -> Result<()> {
        let missing = self.places.iter().find(|place| !axes.contains(&place.axis));
        match missing {
            None => Ok(()),
            Some(place) => Err(CliError::new(Exit::Input, "choose games")
                .because(format!("there is no axis {}", place.axis))
                .help(match axes {
                    [] => "the experiment has no axes: leave --axis out".to_owned(),
                    axes => format!("its axes are {}", axes.join(", ")),
                })),
        }
    }

    fn has(&self, axes: &[String], cell: &CellResult) -> bool {
        let mut by_axis: BTreeMap<&str, bool> = BTreeMap::new();
        for place in &self.places {
            let value = axes.iter().zip(&cell.axes).find(|(axis, _)| **axis == place.axis);
            let is_its = value.is_some_and(|(_, value)| value.as_ref() == Some(&place.value));
            *by_axis.entry(&place.axis).or_default() |= is_its;
        }
        let plays = |player: &String| *player == cell.player || *player == cell.opponent;
        by_axis.into_values().all(|is_its| is_its)
            && (self.cells.is_empty() || self.cells.contains(&cell.cell.0))
            && (self.players.is_empty() || self.players.iter().any(plays))
    }

    fn filter(&self) -> GamesFilter {
        if self.uncounted { GamesFilter::All } else { GamesFilter::Counted }
    }
}

/// Writes all selected games, by cell in the grid's order and by number, in bounded memory.
pub(crate) async fn write_games(
    source: &ResultsSource,
    experiment: &ExperimentSummary,
    wanted: &Wanted,
    writer: &mut dyn WriteGames,
) -> Result<WrittenGames> {
    let mut written = WrittenGames::default();
    let mut from = None;
    let mut is_first = true;
    let mut has_cells = false;
    loop {
        let CellsPage { axes, cells, next } = source.cells(experiment, from).await?;
        if std::mem::take(&mut is_first) {
            wanted.check(&axes)?;
            writer.begin(&axes)?;
        }
        for cell in cells.iter().filter(|cell| wanted.has(&axes, cell)) {
            has_cells = true;
            // Skips the query for cells without games.
            if cell.games > 0 || wanted.uncounted {
                let cell_games = Cell { source, experiment, axes: &axes, cell };
                cell_games.write(wanted.filter(), &mut written, writer).await?;
            }
        }
        match next {
            None => break,
            Some(_) => from = next,
        }
    }
    if has_cells {
        writer.finish()?;
        return Ok(written);
    }
    Err(no_such_cell(experiment))
}

fn no_such_cell(experiment: &ExperimentSummary) -> CliError {
    CliError::new(Exit::Input, "choose games")
        .because(format!("{} has no such cell", experiment.name))
        .help("list its cells: spelrum sql 'SELECT cell_id, axes, player, opponent FROM results'")
}

/// The definition of the game's cell.
fn definition_of(whole: &WholeGame, cell: CellId) -> Result<CellDefinition> {
    whole.game.definition().map_err(|damage| {
        CliError::new(Exit::Database, format!("read the definition of cell {cell}"))
            .because(damage)
            .help("use the version of spelrum that wrote this database")
    })
}

struct Cell<'c> {
    source: &'c ResultsSource,
    experiment: &'c ExperimentSummary,
    axes: &'c [String],
    cell: &'c CellResult,
}

impl Cell<'_> {
    async fn write(
        &self,
        filter: GamesFilter,
        written: &mut WrittenGames,
        writer: &mut dyn WriteGames,
    ) -> Result<()> {
        let Self { source, experiment, axes, cell } = *self;
        let mut definition: Option<CellDefinition> = None;
        let mut from = None;
        loop {
            let WholeGames { games, next } = source.whole_games(cell.cell, filter, from).await?;
            for whole in &games {
                let definition = match &mut definition {
                    Some(definition) => definition,
                    none => none.insert(definition_of(whole, cell.cell)?),
                };
                let game = GameView { experiment, axes, cell, definition, whole };
                writer.write(&game)?;
                written.add(&game);
            }
            match next {
                None => return Ok(()),
                Some(_) => from = next,
            }
        }
    }
}
