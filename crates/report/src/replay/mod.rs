//! A recorded game, and the comparison with its replay.

mod json;
mod recorded;
mod tables;
mod text;

use spelrum_engine::MoveRecord;
use spelrum_model::GameEnd;
use spelrum_model::engines::{EngineIdentity, Forfeit};
use spelrum_model::{CellDefinition, Difference, GameId};

pub use json::write as write_json;
pub use recorded::recorded_game;
pub use tables::ByTables;
pub(crate) use text::{end, remark_words, search_words};
pub use text::{write_check, write_game, write_verdict};

/// A settled game with its moves, as stored.
#[derive(Debug)]
pub struct RecordedGame {
    /// Row id, by which users refer to the game.
    pub game_id: i64,
    /// Its cell and its number there.
    pub game: GameId,
    /// The definition, which fully determines the game.
    pub definition: CellDefinition,
    /// Name of its experiment.
    pub experiment: String,
    /// UUID of its experiment.
    pub experiment_uuid: String,
    /// The sweep's names of the first and of the second mover.
    pub names: [String; 2],
    /// The opening position, in the game's notation.
    pub opening: String,
    /// The result.
    pub end: GameEnd,
    /// `None` if they were not recorded.
    pub moves: Option<Vec<MoveRecord>>,
    /// The engine revision that played the game.
    pub engine_revision: u32,
    /// Duration, if recorded.
    pub wall_us: Option<u64>,
    /// Why the game does not count; `None` if it does.
    pub not_counted_reason: Option<String>,
    /// The external engines that played: first mover, second mover.
    pub engines: [Option<EngineIdentity>; 2],
    /// How one of them forfeited the game.
    pub forfeit: Option<Forfeit>,
}

impl RecordedGame {
    /// Returns the number of plies.
    pub fn plies(&self) -> u32 {
        self.end.plies
    }

    /// Whether its moves can be shown.
    pub fn has_moves(&self) -> bool {
        self.moves.is_some()
    }
}

/// A recorded game with everything that is shown about it.
#[derive(Debug)]
pub struct Replayed {
    /// The game.
    pub game: RecordedGame,
    /// The replay, if there was one.
    pub again: Option<Rerun>,
    /// Verdicts of exact tables on its moves, if tables were used.
    pub by_tables: Option<ByTables>,
}

impl Replayed {
    /// Returns the moves to show: the recorded ones, or otherwise the replay's.
    pub fn moves(&self) -> &[MoveRecord] {
        match (&self.game.moves, &self.again) {
            (Some(moves), _) => moves,
            (None, Some(again)) => &again.moves,
            (None, None) => &[],
        }
    }

    /// Looks the moves up in exact tables.
    ///
    /// # Errors
    /// As [`ByTables::new`].
    pub fn ask_tables(&mut self) -> crate::error::Result<()> {
        self.by_tables = Some(ByTables::new(&self.game, self.moves())?);
        Ok(())
    }

    /// Whether the replay differs.
    pub fn is_different(&self) -> bool {
        self.again.as_ref().is_some_and(Rerun::is_different)
    }
}

/// A replay.
#[derive(Debug)]
pub struct Rerun {
    /// Result of the comparison.
    pub check: Check,
    /// Moves of the replay, as far as it went.
    pub moves: Vec<MoveRecord>,
}

impl Rerun {
    /// Whether the replay differs from the recorded game.
    #[must_use]
    pub fn is_different(&self) -> bool {
        matches!(self.check, Check::Different(_) | Check::Irregular(_))
    }
}

/// Result of comparing a replay with its record.
#[derive(Debug, PartialEq)]
pub enum Check {
    /// The games are identical.
    Same(Compared),
    /// The games differ.
    Different(Difference),
    /// An external engine played, and the record violates the rules for this reason.
    Irregular(String),
}

/// How much of a game could be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Opening, end, and everything about each move except its time.
    Moves,
    /// Opening, end, and the hash of the moves.
    Hash,
    /// For a game between a built-in player and an external engine: as [`Compared::Moves`] for the built-in player's
    /// moves, and as [`Compared::Rules`] for the other's.
    OwnMoves,
    /// For external engines, which cannot be replayed: only that the rules allow the game.
    Rules,
}

/// Range of shown plies.
#[derive(Clone, Copy, Debug)]
pub struct Plies {
    /// The first.
    pub from: u32,
    /// End of the range (exclusive); `None` for the end of the game.
    pub before: Option<u32>,
}

impl Plies {
    fn contains(self, ply: u32) -> bool {
        ply >= self.from && self.before.is_none_or(|before| ply < before)
    }
}
