//! A recorded game as it was, and whether the engine does the same again.

mod again;
mod json;
mod read;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use spelrum_engine::MoveRecord;
use spelrum_tournament::engines::{EngineIdentity, Forfeit};
use spelrum_tournament::results::GameEnd;
use spelrum_tournament::{CellDefinition, Difference, GameId};

pub(crate) use again::{Again, Cells, Watch, play_again};
pub(crate) use json::write as write_json;
pub(crate) use read::recorded_game;
pub(crate) use tables::ByTables;
pub(crate) use text::{write_check, write_game, write_verdict};

/// A settled game with its moves, as the database has them.
#[derive(Debug)]
pub(crate) struct RecordedGame {
    /// Its row, which is what a person names it by.
    pub(crate) game_id: i64,
    /// Its cell and its number there.
    pub(crate) it: GameId,
    /// Everything that decides it.
    definition: CellDefinition,
    experiment: String,
    experiment_uuid: String,
    /// The sweep's names of who moved first, and of who moved second.
    names: [String; 2],
    opening: String,
    end: GameEnd,
    /// `None` if they were not recorded.
    moves: Option<Vec<MoveRecord>>,
    engine_revision: u32,
    wall_us: Option<u64>,
    not_counted_reason: Option<String>,
    /// The external engines that played it: as who moved first, and as who moved second.
    engines: [Option<EngineIdentity>; 2],
    /// How one of them lost it by a fault of its own.
    forfeit: Option<Forfeit>,
}

impl RecordedGame {
    /// How many plies it took.
    pub(crate) fn plies(&self) -> u32 {
        self.end.plies
    }

    /// Whether its moves are there to be shown.
    pub(crate) fn has_moves(&self) -> bool {
        self.moves.is_some()
    }
}

/// A recorded game with all that is shown of it.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// The game.
    pub(crate) game: RecordedGame,
    /// What came of playing it again, if it was.
    pub(crate) again: Option<Again>,
    /// What exact tables say of its moves, if they were asked.
    pub(crate) by_tables: Option<ByTables>,
}

impl Replayed {
    /// The moves there are to show: those of the record, or else those of the same game played again.
    pub(crate) fn moves(&self) -> &[MoveRecord] {
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
    pub(crate) fn ask_tables(&mut self) -> crate::error::Result<()> {
        self.by_tables = Some(ByTables::of(&self.game, self.moves())?);
        Ok(())
    }

    /// Whether it came out otherwise when it was played again.
    pub(crate) fn is_different(&self) -> bool {
        self.again.as_ref().is_some_and(Again::is_different)
    }
}

/// What came of playing a game again.
#[derive(Debug, PartialEq)]
pub(crate) enum Check {
    /// It is the same game.
    Same(Compared),
    /// It is not.
    Different(Difference),
    /// An external engine played it, and this is why its record is not one by the rules.
    Irregular(String),
}

/// How much of a game was there to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
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
pub(crate) struct Plies {
    /// The first.
    pub(crate) from: u32,
    /// Where to end before, if not at the end.
    pub(crate) before: Option<u32>,
}

impl Plies {
    fn contains(self, ply: u32) -> bool {
        ply >= self.from && self.before.is_none_or(|before| ply < before)
    }
}
