//! Settled games, in lists and complete.

mod forms;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::MoveRecord;
use spelrum_model::engines::{EngineIdentity, Forfeit};
use spelrum_model::{
    CellDefinition, CellId, DefinitionHash, ExperimentId, GameEnd, GameId, WorkerId,
};

use crate::cells::{NotACursor, numbers, unsigned};

/// A game's opening and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Played {
    /// The opening position, in the game's notation.
    pub opening: String,
    /// The result.
    pub end: GameEnd,
    /// Revision of the engine that played the game.
    pub engine_revision: u32,
}

/// Outcome of a settled game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GameResult {
    /// The game was played.
    Played(Played),
    /// The game finally failed, for this reason.
    Failed(String),
}

/// A settled game without its moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameSummary {
    /// Identifies the game in this database; later games have greater ids.
    pub game_id: i64,
    /// Its cell and its number there.
    pub game: GameId,
    /// Names of the first and of the second mover.
    pub players: [String; 2],
    /// The outcome.
    pub result: GameResult,
    /// Why the game does not count; `None` if it does.
    pub not_counted_reason: Option<String>,
    /// Duration by the worker's clock, in microseconds, if the game was played.
    pub wall_us: Option<u64>,
    /// The worker that played the game, if there was one.
    pub worker: Option<WorkerId>,
}

/// A complete settled game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettledGame {
    /// All but its moves.
    pub summary: GameSummary,
    /// The name of its experiment.
    pub experiment: String,
    /// The UUID of its experiment.
    pub experiment_uuid: String,
    /// Hash that identifies its cell's definition.
    pub definition_hash: DefinitionHash,
    /// That definition, as canonical JSON: with the game's number, it fully determines the game.
    pub definition_json: String,
    /// Moves, one per ply; `None` if they are not recorded.
    pub moves: Option<Vec<MoveRecord>>,
    /// The external engines that played: first mover from the opening, then second mover. `None` for built-in
    /// players.
    pub engines: [Option<EngineIdentity>; 2],
    /// How a player forfeited the game, if one did.
    pub forfeit: Option<Forfeit>,
}

/// A complete settled game, with its worker and times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WholeGame {
    /// The game.
    pub game: SettledGame,
    /// Name of the worker that played the game, if known.
    pub worker_name: Option<String>,
    /// Start by the worker's clock, in microseconds of Unix time, if the game was played.
    pub started_unix_us: Option<i64>,
    /// The factor of its players' time limits and clocks, if they were scaled by its worker's speed.
    pub time_factor: Option<f64>,
}

/// A page of complete games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WholeGames {
    /// The games: fewer than requested if they are long.
    #[serde(with = "forms::whole_games")]
    #[schemars(with = "Vec<WholeGame>")]
    pub games: Vec<WholeGame>,
    /// Cursor of the next page, if there is one.
    pub next: Option<GameCursor>,
}

/// Why a stored definition is not intact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionDamage {
    /// Its hash differs.
    #[error("it is not the one that its hash was made of")]
    OtherHash,
    /// It cannot be parsed.
    #[error("{0}")]
    Unreadable(String),
}

impl SettledGame {
    /// Parses its cell's definition and checks it against its hash.
    ///
    /// # Errors
    /// If the definition is damaged, or of a form that this version does not support.
    pub fn definition(&self) -> Result<CellDefinition, DefinitionDamage> {
        if DefinitionHash::from_json(&self.definition_json) != self.definition_hash {
            return Err(DefinitionDamage::OtherHash);
        }
        serde_json::from_str(&self.definition_json)
            .map_err(|error| DefinitionDamage::Unreadable(error.to_string()))
    }
}

/// Ways to identify a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichGame {
    /// By its id in this database.
    Id(i64),
    /// By its cell and its number there.
    InCell(GameId),
}

/// Result of looking for a game.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundGame {
    /// The game is settled.
    Settled(Box<SettledGame>),
    /// The game is missing.
    Missing(MissingGame),
}

/// Why there is no settled game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingGame {
    /// No settled game has this id.
    Id(i64),
    /// The cell does not exist.
    Cell(CellId),
    /// The game is not settled yet.
    Unsettled(GameId),
    /// The number exceeds its cell's planned games.
    Beyond {
        /// The game.
        game: GameId,
        /// Games of its cell.
        games_planned: u64,
    },
}

impl MissingGame {
    /// Returns why a game of a cell is missing. `games_planned` is `None` if the cell does not exist.
    #[must_use]
    pub fn new(game: GameId, games_planned: Option<u64>) -> Self {
        match games_planned {
            None => Self::Cell(game.cell),
            Some(games_planned) if game.number < games_planned => Self::Unsettled(game),
            Some(games_planned) => Self::Beyond { game, games_planned },
        }
    }

    /// Returns the remedy, as a sentence without a full stop.
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

/// Which games are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GamesOf {
    /// Games of all cells that an experiment's sweep names.
    Experiment(ExperimentId),
    /// Games of a cell.
    Cell(CellId),
}

/// Filter of listed games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GamesFilter {
    /// All settled games.
    #[default]
    All,
    /// Games that do not count.
    Uncounted,
    /// Games that finally failed.
    Failed,
    /// Games that count.
    Counted,
}

/// Order of listed games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GamesOrder {
    /// Latest settled first.
    #[default]
    Newest,
    /// By cell in the grid's order, then by number.
    Number,
    /// In order of settlement: a later request that continues from the last game returns the games settled since.
    Settled,
}

/// A request for a list of settled games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GamesQuestion {
    /// Which games.
    pub scope: GamesOf,
    /// Filter.
    pub filter: GamesFilter,
    /// Order.
    pub order: GamesOrder,
}

/// Position in a list of games, which continues after this game. Its text is `GAME_ID-CELL-NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9]{1,18}-[0-9]{1,18}-[0-9]{1,18}$"))]
pub struct GameCursor {
    /// Its id in this database.
    pub game_id: i64,
    /// Its cell and its number there.
    pub game: GameId,
}

impl From<GameCursor> for String {
    fn from(GameCursor { game_id, game: GameId { cell, number } }: GameCursor) -> Self {
        format!("{game_id}-{cell}-{number}")
    }
}

impl TryFrom<String> for GameCursor {
    type Error = NotACursor;

    fn try_from(text: String) -> Result<Self, NotACursor> {
        let [game_id, cell, number] = numbers(&text).ok_or(NotACursor)?;
        Ok(Self { game_id, game: GameId { cell: CellId(cell), number: unsigned(number)? } })
    }
}

/// A page of games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GamesPage {
    /// The games.
    pub games: Vec<GameSummary>,
    /// Cursor of the next page, if there is or, [in order of settlement](GamesOrder::Settled), may be one.
    pub next: Option<GameCursor>,
}

impl GamesPage {
    /// Creates a page of at most `games_max` of these games; one more than that means there is a next page.
    #[must_use]
    pub fn new(mut games: Vec<GameSummary>, games_max: usize, order: GamesOrder) -> Self {
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
        let text = |missing: MissingGame| format!("{missing}; {}", missing.remedy());
        assert_eq!(
            text(MissingGame::new(game, Some(6))),
            "it is not settled yet; wait for it, or play it: spelrum run FILE, or spelrum worker"
        );
        assert_eq!(
            text(MissingGame::new(game, Some(5))),
            "the cell's games have the numbers 0 to 4; give one of these as --number"
        );
        assert_eq!(
            text(MissingGame::new(game, Some(0))),
            "the cell has no games; choose another cell"
        );
        assert!(text(MissingGame::new(game, None)).starts_with("there is no cell 3; list them"));
        assert!(text(MissingGame::Id(9)).starts_with("there is no settled game of this id; list"));
    }
}
