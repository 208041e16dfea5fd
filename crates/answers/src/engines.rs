//! Which external engines the players of an experiment were.

use spelrum_model::CellId;
use spelrum_model::engines::EngineIdentity;

use crate::forfeits::PlayerForfeits;

/// The external engines that played counted games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnginesUsed {
    /// By player, then by what they say of themselves, then by build.
    pub engines: Vec<UsedEngine>,
    /// The cells in which one player was more than one program, in the grid's order: the first
    /// [`MIXED_CELLS_MAX`].
    pub mixed: Vec<MixedCell>,
    /// Of players that forfeited any: how many, by name.
    pub forfeits: Vec<PlayerForfeits>,
}

/// The most cells with several programs as one player that are told (invariant 9).
pub const MIXED_CELLS_MAX: usize = 1_000;

/// A program that played as a player.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedEngine {
    /// The player's name in the sweep.
    pub player: String,
    /// Which program it was.
    pub engine: EngineIdentity,
    /// The build that the player's cells demand, in hexadecimal; `None` where any build may play.
    pub build: Option<String>,
    /// In how many cells.
    pub cells: u64,
    /// Counted games that it played so.
    pub games: u64,
}

/// A cell in which one player was more than one program: what came of it is of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedCell {
    /// The cell.
    pub cell: CellId,
    /// The player's name in the sweep.
    pub player: String,
    /// How many programs it was.
    pub programs: u64,
}

impl EnginesUsed {
    /// Whether none played.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.engines.is_empty()
    }
}
