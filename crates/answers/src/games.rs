//! Settled games, in lists and whole.

use std::fmt;

use spelrum_engine::MoveRecord;
use spelrum_model::engines::{EngineIdentity, Forfeit};
use spelrum_model::{
    CellDefinition, CellId, DefinitionHash, ExperimentId, GameEnd, GameId, WorkerId,
};

/// What a game was played from, and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The position that it started from, in the game's notation.
    pub opening: String,
    /// What it came to.
    pub end: GameEnd,
    /// The revision of the engine that played it.
    pub engine_revision: u32,
}

/// What became of a settled game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// It was played.
    Played(Played),
    /// It finally failed, and this is why.
    Failed(String),
}

/// A settled game without its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSummary {
    /// Names it in this database; later ones are greater.
    pub game_id: i64,
    /// Its cell and its number there.
    pub game: GameId,
    /// The names of who moved first, and of who moved second.
    pub players: [String; 2],
    /// What became of it.
    pub result: GameResult,
    /// Why it does not count; none of a game that does.
    pub not_counted_reason: Option<String>,
    /// How long it took by its worker's clock, in microseconds, if it was played.
    pub wall_us: Option<u64>,
    /// Who played it, if somebody did.
    pub worker: Option<WorkerId>,
}

/// A settled game, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledGame {
    /// All but its moves.
    pub summary: GameSummary,
    /// The name of its experiment.
    pub experiment: String,
    /// The UUID of its experiment.
    pub experiment_uuid: String,
    /// The hash that names its cell's definition.
    pub definition_hash: DefinitionHash,
    /// That definition, as canonical JSON: with the game's number all that decides the game.
    pub definition_json: String,
    /// Its moves, one for each ply; none if they are not recorded.
    pub moves: Option<Vec<MoveRecord>>,
    /// Which external engines played it: as who moved first from the opening, and as the other. `None` of
    /// our players.
    pub engines: [Option<EngineIdentity>; 2],
    /// How one of them lost it by a fault of its own, if one did.
    pub forfeit: Option<Forfeit>,
}

/// A settled game, whole, and who played it when.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeGame {
    /// The game.
    pub game: SettledGame,
    /// The name of the worker that played it, if one did and is known.
    pub worker_name: Option<String>,
    /// When it was begun, by its worker's clock, in microseconds of Unix time, if it was played.
    pub started_unix_us: Option<i64>,
}

/// A part of a list of whole games.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeGames {
    /// The games: fewer than were asked for, if they are long.
    pub games: Vec<WholeGame>,
    /// Where the list goes on, if it does.
    pub next: Option<GameCursor>,
}

/// A definition that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionDamage {
    /// It has another hash.
    #[error("it is not the one that its hash was made of")]
    OtherHash,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

impl SettledGame {
    /// Its cell's definition, read and checked against its hash.
    ///
    /// # Errors
    /// If it is damaged, or of a form that this version does not know.
    pub fn definition(&self) -> Result<CellDefinition, DefinitionDamage> {
        if DefinitionHash::of_json(&self.definition_json) != self.definition_hash {
            return Err(DefinitionDamage::OtherHash);
        }
        serde_json::from_str(&self.definition_json)
            .map_err(|error| DefinitionDamage::Unreadable(error.to_string()))
    }
}

/// How a game is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichGame {
    /// By its id in this database.
    Id(i64),
    /// By its cell and its number there.
    InCell(GameId),
}

/// A game that was looked for.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundGame {
    /// It is settled.
    Settled(Box<SettledGame>),
    /// It is not there.
    Missing(MissingGame),
}

/// Why there is no settled game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingGame {
    /// No settled game has this id.
    Id(i64),
    /// There is no such cell.
    Cell(CellId),
    /// It is not settled yet.
    Unsettled(GameId),
    /// Its cell is not to have so many games.
    Beyond {
        /// The game.
        game: GameId,
        /// Games of its cell.
        games_planned: u64,
    },
}

impl MissingGame {
    /// Why a game of a cell is not there. The cell is to have so many games, if there is one.
    #[must_use]
    pub fn why(game: GameId, games_planned: Option<u64>) -> Self {
        match games_planned {
            None => Self::Cell(game.cell),
            Some(games_planned) if game.number < games_planned => Self::Unsettled(game),
            Some(games_planned) => Self::Beyond { game, games_planned },
        }
    }

    /// What to do about it, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Id(_) => "list them: spelrum sql 'SELECT game_id, cell_id, number FROM games'",
            Self::Cell(_) => {
                "list them: spelrum sql 'SELECT cell_id, axes, player, opponent FROM results'"
            }
            Self::Unsettled(_) => "wait for it, or play it: spelrum run FILE, or spelrum worker",
            Self::Beyond { games_planned: 0, .. } => "choose another cell",
            Self::Beyond { .. } => "give one of these as --number",
        }
    }
}

impl std::error::Error for MissingGame {}

impl fmt::Display for MissingGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(_) => f.write_str("there is no settled game of this id"),
            Self::Cell(cell) => write!(f, "there is no cell {cell}"),
            Self::Unsettled(_) => f.write_str("it is not settled yet"),
            Self::Beyond { games_planned: 0, .. } => f.write_str("the cell has no games"),
            Self::Beyond { games_planned, .. } => {
                write!(f, "the cell's games have the numbers 0 to {}", games_planned - 1)
            }
        }
    }
}

/// Whose games are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GamesOf {
    /// Those of all cells that an experiment's sweep names.
    Experiment(ExperimentId),
    /// Those of a cell.
    Cell(CellId),
}

/// Which of them are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GamesFilter {
    /// All that are settled.
    #[default]
    All,
    /// Those that do not count.
    Uncounted,
    /// Those that finally failed.
    Failed,
    /// Those that count.
    Counted,
}

/// In which order they are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GamesOrder {
    /// Those that were settled last come first.
    #[default]
    Newest,
    /// By cell in the grid's order, then by number.
    Number,
    /// As they were settled: whoever asks again from the last one on gets those that came since.
    Settled,
}

/// A question for a list of settled games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GamesQuestion {
    /// Whose.
    pub of: GamesOf,
    /// Which of them.
    pub filter: GamesFilter,
    /// In which order.
    pub order: GamesOrder,
}

/// Where a list of games goes on: after this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameCursor {
    /// Its id in this database.
    pub game_id: i64,
    /// Its cell and its number there.
    pub game: GameId,
}

/// A part of a list of games.
#[derive(Clone, Debug, PartialEq)]
pub struct GamesPage {
    /// The games.
    pub games: Vec<GameSummary>,
    /// Where the list goes on, if it does or, [as they are settled](GamesOrder::Settled), may.
    pub next: Option<GameCursor>,
}

impl GamesPage {
    /// The first so many of these games, which are one more if there are more.
    #[must_use]
    pub fn of(mut games: Vec<GameSummary>, games_max: usize, order: GamesOrder) -> Self {
        let goes_on = games.len() > games_max || order == GamesOrder::Settled;
        games.truncate(games_max);
        let cursor = |last: &GameSummary| GameCursor { game_id: last.game_id, game: last.game };
        let next = goes_on.then(|| games.last().map(cursor)).flatten();
        Self { games, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_game_is_told_why() {
        let game = GameId { cell: CellId(3), number: 5 };
        let said = |missing: MissingGame| format!("{missing}; {}", missing.remedy());
        assert_eq!(
            said(MissingGame::why(game, Some(6))),
            "it is not settled yet; wait for it, or play it: spelrum run FILE, or spelrum worker"
        );
        assert_eq!(
            said(MissingGame::why(game, Some(5))),
            "the cell's games have the numbers 0 to 4; give one of these as --number"
        );
        assert_eq!(
            said(MissingGame::why(game, Some(0))),
            "the cell has no games; choose another cell"
        );
        assert!(said(MissingGame::why(game, None)).starts_with("there is no cell 3; list them"));
        assert!(said(MissingGame::Id(9)).starts_with("there is no settled game of this id; list"));
    }
}
