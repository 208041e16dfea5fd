//! From (cell, number) to a game, on whichever worker asks.

use std::sync::Arc;

use spelrum_engine::{GameRecord, Host, PlayError};

use crate::definition::CellDefinition;

/// A cell ready to be played: players parsed, openings at hand. Shared by a worker's slots.
#[derive(Debug)]
pub struct PlayableCell {
    definition: CellDefinition,
}

/// A definition that this engine cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read the cell's definition: {0}")]
pub struct DefinitionError(pub String);

/// One game of a cell, derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedGame {
    /// The position it starts from, in the game's notation.
    pub opening: Arc<str>,
    /// Whether the cell's first player moves first: in even numbers.
    pub first_player_moves_first: bool,
    /// The ChaCha8 keys of who moves first and of the other.
    pub keys: [[u8; 32]; 2],
}

impl PlayableCell {
    /// Reads a definition.
    ///
    /// # Errors
    /// If a player's parameters or an opening are not of this engine.
    pub fn new(_definition: CellDefinition) -> Result<Self, DefinitionError> {
        todo!("scaffold")
    }

    /// The definition.
    #[must_use]
    pub fn definition(&self) -> &CellDefinition {
        &self.definition
    }

    /// Derives the game with this number (invariant 1).
    ///
    /// # Errors
    /// If the openings rule has no opening for its pair.
    pub fn derive(&self, _number: u64) -> Result<DerivedGame, DefinitionError> {
        todo!("scaffold")
    }

    /// Plays the game with this number. With `stops`, replays a timed game by its recorded node
    /// counts instead of the clock (invariant 3).
    ///
    /// # Errors
    /// As [`spelrum_engine::play_game`].
    pub fn play(
        &self,
        _number: u64,
        _stops: Option<&[Option<u64>]>,
        _host: &dyn Host,
    ) -> Result<(DerivedGame, GameRecord), PlayError> {
        todo!("scaffold")
    }
}
