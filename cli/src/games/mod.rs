//! An experiment's games, one after the other, in the forms in which they leave: text and rows.

mod follow;
mod names;
mod pgn;
mod rows;
mod text;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::str::FromStr;

use spelrum_engine::Outcome;
use spelrum_tournament::builds::without_build;
use spelrum_tournament::results::{
    CellResult, ExperimentSummary, GameResult, GamesFilter, Played, WholeGame,
};
use spelrum_tournament::{CellDefinition, CellId};

pub(crate) use follow::follow_games;
pub(crate) use pgn::Pgn;
pub(crate) use rows::Rows;
pub(crate) use text::Text;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::{GoesOn, ResultsSource};

/// Which games are meant.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Those of these cells; of all if there is none.
    pub(crate) cells: Vec<i64>,
    /// Those in which one of these plays; all if there is none.
    pub(crate) players: Vec<String>,
    /// Those of cells with one of these values on each axis.
    pub(crate) places: Vec<AxisPlace>,
    /// Also those that do not count.
    pub(crate) uncounted: bool,
}

/// A value on an axis, as the sweep writes it.
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
    /// Refuses what is not there: nobody should take a misspelt name for an experiment without games.
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

/// A game with all that is told of it.
pub(crate) struct Told<'g> {
    pub(crate) experiment: &'g ExperimentSummary,
    /// The axes' names, in the sweep's order.
    pub(crate) axes: &'g [String],
    pub(crate) cell: &'g CellResult,
    /// All that decides the cell's games.
    pub(crate) definition: &'g CellDefinition,
    pub(crate) whole: &'g WholeGame,
}

impl Told<'_> {
    /// What came of it, if it was played.
    fn played(&self) -> Option<&Played> {
        match &self.whole.game.summary.result {
            GameResult::Played(played) => Some(played),
            GameResult::Failed(_) => None,
        }
    }

    /// Why it has no result, if it failed.
    fn failure(&self) -> Option<&str> {
        match &self.whole.game.summary.result {
            GameResult::Played(_) => None,
            GameResult::Failed(message) => Some(message),
        }
    }

    /// The builds that the definition demands of who moves first and of who moves second, if they are external engines.
    fn builds(&self) -> [Option<String>; 2] {
        self.parameters().map(|json| without_build(&json).1.map(ToOwned::to_owned))
    }

    /// The parameters of who moves first and of who moves second, as canonical JSON.
    fn parameters(&self) -> [String; 2] {
        let swaps = self.cell.swap_sides && self.whole.game.summary.game.number % 2 == 1;
        let [first, second] = &self.definition.players;
        let movers = if swaps { [second, first] } else { [first, second] };
        movers.map(|parameters| serde_json::to_string(&**parameters).unwrap_or_default())
    }

    /// The names of the external engines that played it, and the SHA-256 of each, for who moved first and who
    /// moved second.
    fn engines(&self) -> [Option<[String; 2]>; 2] {
        self.whole
            .game
            .engines
            .each_ref()
            .map(|engine| engine.as_ref().map(|it| [it.shown_name().to_owned(), it.sha256_hex()]))
    }

    /// What an external engine did to lose it, if it was its fault.
    fn forfeit(&self) -> Option<&str> {
        self.whole.game.forfeit.as_ref().map(|forfeit| &*forfeit.message)
    }

    /// The game's rules, as JSON.
    fn rules(&self) -> String {
        serde_json::to_string(&self.definition.rules).unwrap_or_default()
    }
}

/// The result as it is written on a score sheet, for who moved first and who moved second.
fn score(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "1-0",
        Outcome::Draw => "1/2-1/2",
        Outcome::Loss => "0-1",
    }
}

/// How long a line of moves is at most, unless one word is longer.
const COLUMNS_MAX: usize = 80;

/// Writes words in lines, and an empty line.
fn write_wrapped(out: &mut dyn Write, words: Vec<String>) -> io::Result<()> {
    let mut column = 0;
    for word in words {
        let is_first = column == 0;
        let breaks = !is_first && column + 1 + word.len() > COLUMNS_MAX;
        let before = if is_first {
            ""
        } else if breaks {
            "\n"
        } else {
            " "
        };
        write!(out, "{before}{word}")?;
        column = if is_first || breaks { word.len() } else { column + 1 + word.len() };
    }
    writeln!(out, "\n")
}

/// How many games were told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToldGames {
    pub(crate) games: u64,
    /// Played, and without moves.
    pub(crate) without_moves: u64,
}

impl ToldGames {
    fn add(&mut self, game: &Told<'_>) {
        self.games += 1;
        let lacks_moves = game.played().is_some() && game.whole.game.moves.is_none();
        self.without_moves += u64::from(lacks_moves);
    }
}

/// What writes games.
pub(crate) trait WriteGames {
    /// Before the first: the axes' names, in the sweep's order.
    fn begin(&mut self, axes: &[String]) -> Result<()>;

    /// One after the other.
    fn write(&mut self, game: &Told<'_>) -> Result<()>;

    /// Lets whoever reads along see all that was written.
    fn flush(&mut self) -> Result<()>;

    /// After the last.
    fn finish(&mut self) -> Result<()>;
}

/// Writes all games that are wanted, by cell in the grid's order and by number, however many there are.
pub(crate) async fn write_games(
    source: &ResultsSource,
    experiment: &ExperimentSummary,
    wanted: &Wanted,
    writer: &mut dyn WriteGames,
) -> Result<ToldGames> {
    let mut told = ToldGames::default();
    let mut from = None;
    let mut is_first = true;
    let mut has_cells = false;
    loop {
        let (axes, cells, next) = source.cells(experiment, from).await?;
        if std::mem::take(&mut is_first) {
            wanted.check(&axes)?;
            writer.begin(&axes)?;
        }
        for cell in cells.iter().filter(|cell| wanted.has(&axes, cell)) {
            has_cells = true;
            // Nothing is asked about cells without a game.
            if cell.games > 0 || wanted.uncounted {
                let of = Cell { source, experiment, axes: &axes, cell };
                of.write(wanted.filter(), &mut told, writer).await?;
            }
        }
        match next {
            None => break,
            Some(_) => from = next,
        }
    }
    if has_cells {
        writer.finish()?;
        return Ok(told);
    }
    Err(no_such_cell(experiment))
}

fn no_such_cell(experiment: &ExperimentSummary) -> CliError {
    CliError::new(Exit::Input, "choose games")
        .because(format!("{} has no cell that is so", experiment.name))
        .help("list its cells: spelrum sql 'SELECT cell_id, axes, player, opponent FROM results'")
}

/// What decides the games of the cell that this one is of.
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
        told: &mut ToldGames,
        writer: &mut dyn WriteGames,
    ) -> Result<()> {
        let Self { source, experiment, axes, cell } = *self;
        let mut definition: Option<CellDefinition> = None;
        let mut from: Option<GoesOn<_>> = None;
        loop {
            let (games, next) = source.whole_games(cell.cell, filter, from).await?;
            for whole in &games {
                let definition = match &mut definition {
                    Some(known) => known,
                    none => none.insert(definition_of(whole, cell.cell)?),
                };
                let game = Told { experiment, axes, cell, definition, whole };
                writer.write(&game)?;
                told.add(&game);
            }
            match next {
                None => return Ok(()),
                Some(_) => from = next,
            }
        }
    }
}
