//! Games with their moves, in sequence: as text, as PGN, as rows and as positions.

mod bulletformat;
mod names;
mod openings;
mod pgn;
mod positions;
mod rows;
mod text;

use std::io::{self, Write};

use spelrum_answers::{CellResult, ExperimentSummary, GameResult, Played, WholeGame};
use spelrum_engine::Outcome;
use spelrum_model::CellDefinition;
use spelrum_model::builds::without_build;

pub(crate) use openings::name_opening;
pub use pgn::Pgn;
pub use positions::{PositionForm, Positions, WhichPositions};
pub use rows::Rows;
pub use text::Text;

use crate::error::Result;

/// A game with everything that is written about it.
pub struct GameView<'g> {
    /// Its experiment.
    pub experiment: &'g ExperimentSummary,
    /// The axes' names, in the sweep's order.
    pub axes: &'g [String],
    /// Its cell.
    pub cell: &'g CellResult,
    /// The definition, which determines the cell's games.
    pub definition: &'g CellDefinition,
    /// The game with its moves.
    pub whole: &'g WholeGame,
}

impl GameView<'_> {
    /// Returns the result, if the game was played.
    fn played(&self) -> Option<&Played> {
        match &self.whole.game.summary.result {
            GameResult::Played(played) => Some(played),
            GameResult::Failed(_) => None,
        }
    }

    /// Returns the reason for a missing result, if the game failed.
    fn failure(&self) -> Option<&str> {
        match &self.whole.game.summary.result {
            GameResult::Played(_) => None,
            GameResult::Failed(message) => Some(message),
        }
    }

    /// Returns the builds that the definition requires of the first and second mover, if they are external engines.
    fn builds(&self) -> [Option<String>; 2] {
        self.parameters().map(|json| without_build(&json).1.map(ToOwned::to_owned))
    }

    /// Returns the parameters of the first and second mover, as canonical JSON.
    fn parameters(&self) -> [String; 2] {
        let swaps = self.cell.swap_sides && self.whole.game.summary.game.number % 2 == 1;
        let [first, second] = &self.definition.players;
        let movers = if swaps { [second, first] } else { [first, second] };
        movers.map(|parameters| serde_json::to_string(&**parameters).unwrap_or_default())
    }

    /// Returns the names and SHA-256 of the external engines that played: first mover, second mover.
    fn engines(&self) -> [Option<[String; 2]>; 2] {
        self.whole.game.engines.each_ref().map(|engine| {
            engine.as_ref().map(|engine| [engine.shown_name().to_owned(), engine.sha256_hex()])
        })
    }

    /// Returns how an external engine forfeited the game, if it did.
    fn forfeit(&self) -> Option<&str> {
        self.whole.game.forfeit.as_ref().map(|forfeit| &*forfeit.message)
    }

    /// The game's rules, as JSON.
    fn rules(&self) -> String {
        serde_json::to_string(&self.definition.rules).unwrap_or_default()
    }
}

/// Returns the result as on a score sheet: first mover, then second mover.
fn score(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "1-0",
        Outcome::Draw => "1/2-1/2",
        Outcome::Loss => "0-1",
    }
}

/// Maximum length of a line of moves, unless one word is longer.
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

/// Numbers of games that were written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WrittenGames {
    /// All.
    pub games: u64,
    /// Played, and without moves.
    pub without_moves: u64,
}

impl WrittenGames {
    /// Counts a game.
    pub fn add(&mut self, game: &GameView<'_>) {
        self.games += 1;
        let lacks_moves = game.played().is_some() && game.whole.game.moves.is_none();
        self.without_moves += u64::from(lacks_moves);
    }
}

/// A writer of games.
pub trait WriteGames {
    /// Begins the output, with the axes' names in the sweep's order.
    ///
    /// # Errors
    /// If they cannot be written, or not in this format.
    fn begin(&mut self, axes: &[String]) -> Result<()>;

    /// Writes the next game.
    ///
    /// # Errors
    /// If the game cannot be written, or not in this format.
    fn write(&mut self, game: &GameView<'_>) -> Result<()>;

    /// Flushes written games to concurrent readers.
    ///
    /// # Errors
    /// If they cannot be written, or not in this format.
    fn flush(&mut self) -> Result<()>;

    /// Ends the output, after the last game.
    ///
    /// # Errors
    /// If it cannot be written, or not in this format.
    fn finish(&mut self) -> Result<()>;
}
