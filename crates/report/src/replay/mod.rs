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
pub use text::{write_check, write_game, write_verdict};

/// A settled game with its moves, as the database has them.
#[derive(Debug)]
pub struct RecordedGame {
    /// Its row, which is what a person names it by.
    pub game_id: i64,
    /// Its cell and its number there.
    pub game: GameId,
    /// Everything that decides it.
    pub definition: CellDefinition,
    /// Name of its experiment.
    pub experiment: String,
    /// UUID of its experiment.
    pub experiment_uuid: String,
    /// The sweep's names of who moved first, and of who moved second.
    pub names: [String; 2],
    /// The opening position, as the game writes it.
    pub opening: String,
    /// How it ended.
    pub end: GameEnd,
    /// `None` if they were not recorded.
    pub moves: Option<Vec<MoveRecord>>,
    /// The engine revision that played it.
    pub engine_revision: u32,
    /// How long it took, where that was recorded.
    pub wall_us: Option<u64>,
    /// Why it does not count, if it does not.
    pub not_counted_reason: Option<String>,
    /// The external engines that played it: as who moved first, and as who moved second.
    pub engines: [Option<EngineIdentity>; 2],
    /// How one of them lost it by a fault of its own.
    pub forfeit: Option<Forfeit>,
}

impl RecordedGame {
    /// How many plies it took.
    pub fn plies(&self) -> u32 {
        self.end.plies
    }

    /// Whether its moves are there to be shown.
    pub fn has_moves(&self) -> bool {
        self.moves.is_some()
    }
}

/// A recorded game with all that is shown of it.
#[derive(Debug)]
pub struct Replayed {
    /// The game.
    pub game: RecordedGame,
    /// What came of playing it again, if it was.
    pub again: Option<Again>,
    /// What exact tables say of its moves, if they were asked.
    pub by_tables: Option<ByTables>,
}

impl Replayed {
    /// The moves there are to show: those of the record, or else those of the same game played again.
    pub fn moves(&self) -> &[MoveRecord] {
        match (&self.game.moves, &self.again) {
            (Some(moves), _) => moves,
            (None, Some(again)) => &again.moves,
            (None, None) => &[],
        }
    }

    /// Asks exact tables.
    ///
    /// # Errors
    /// As [`ByTables::of`].
    pub fn ask_tables(&mut self) -> crate::error::Result<()> {
        self.by_tables = Some(ByTables::of(&self.game, self.moves())?);
        Ok(())
    }

    /// Whether it came out otherwise when it was played again.
    pub fn is_different(&self) -> bool {
        self.again.as_ref().is_some_and(Again::is_different)
    }
}

/// A game played again.
#[derive(Debug)]
pub struct Again {
    /// Whether it was the same game.
    pub check: Check,
    /// Its moves, as far as it was played.
    pub moves: Vec<MoveRecord>,
}

impl Again {
    /// Whether it was another game than the recorded one.
    #[must_use]
    pub fn is_different(&self) -> bool {
        matches!(self.check, Check::Different(_) | Check::Irregular(_))
    }
}

/// What came of playing a game again.
#[derive(Debug, PartialEq)]
pub enum Check {
    /// It is the same game.
    Same(Compared),
    /// It is not.
    Different(Difference),
    /// An external engine played it, and this is why its record is not one by the rules.
    Irregular(String),
}

/// How much of a game was there to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Opening, end, and of every move all but its time.
    Moves,
    /// Opening, end, and the hash of the moves.
    Hash,
    /// Of a game of our player with an external engine: as [`Compared::Moves`] of our player's moves, and as
    /// [`Compared::Rules`] of the other's.
    OwnMoves,
    /// Of a game of external engines, which nobody can ask again: that the rules allow it.
    Rules,
}

/// Which plies are shown.
#[derive(Clone, Copy, Debug)]
pub struct Plies {
    /// The first.
    pub from: u32,
    /// Where to end before, if not at the end.
    pub before: Option<u32>,
}

impl Plies {
    fn contains(self, ply: u32) -> bool {
        ply >= self.from && self.before.is_none_or(|before| ply < before)
    }
}
