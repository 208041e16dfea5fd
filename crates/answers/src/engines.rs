//! External engines that an experiment's players used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::CellId;
use spelrum_model::engines::EngineIdentity;

use crate::forfeits::PlayerForfeits;

/// The external engines that played counted games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnginesUsed {
    /// Sorted by player, then by the engine's own name, then by build.
    pub engines: Vec<UsedEngine>,
    /// Cells in which one player was several programs, in the grid's order: the first [`MIXED_CELLS_MAX`].
    pub mixed: Vec<MixedCell>,
    /// Forfeit counts by player name, for players that forfeited any games.
    pub forfeits: Vec<PlayerForfeits>,
}

/// Maximum number of listed cells with several programs as one player (invariant 9).
pub const MIXED_CELLS_MAX: usize = 1_000;

/// A program that played as a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsedEngine {
    /// The player's name in the sweep.
    pub player: String,
    /// The program.
    pub engine: EngineIdentity,
    /// The build that the player's cells require, in hexadecimal; `None` where any build may play.
    pub build: Option<String>,
    /// Number of cells.
    pub cells: u64,
    /// Counted games played with this program.
    pub games: u64,
}

/// A cell in which one player was several programs, so that its result is of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixedCell {
    /// The cell.
    pub cell: CellId,
    /// The player's name in the sweep.
    pub player: String,
    /// Number of programs.
    pub programs: u64,
}

impl EnginesUsed {
    /// Whether no external engine played.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.engines.is_empty()
    }
}
