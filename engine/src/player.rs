//! A player: an algorithm with all its parameters and limits, fixed.

use crate::parameters::{ParameterError, ParameterInfo, Parameters};
use crate::rules::Rules;

/// The algorithms by the names a sweep uses.
pub const ALGORITHMS: &[&str] = &["random", "minimax", "alpha-beta", "genetic-minimax"];

/// A player, complete in itself: every parameter has its value, so that defaults may change
/// later without changing what a stored player means.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    parameters: Parameters,
}

impl Player {
    /// Makes a player from what a sweep says: `algorithm`, its parameters and its limits.
    /// What is not named gets its default (or the preset's value).
    ///
    /// # Errors
    /// An unknown algorithm or key (with the nearest known one), a value of the wrong type or
    /// outside its range, an evaluation this game lacks, or a search that nothing bounds.
    pub fn from_parameters(_rules: &Rules, _given: &Parameters) -> Result<Self, ParameterError> {
        todo!("scaffold")
    }

    /// All parameters, defaults spelt out. `from_parameters` of these gives an equal player.
    /// A limit that is off is absent; durations are integers in microseconds (`move_time_us`).
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Whether its moves depend on random numbers, so that a repeated opening may give another game.
    #[must_use]
    pub fn draws_random_numbers(&self) -> bool {
        todo!("scaffold")
    }

    /// Whether a time limit bounds its moves.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        todo!("scaffold")
    }
}

/// The parameters an algorithm takes, limits included; empty for an unknown one.
#[must_use]
pub fn parameters_of(_algorithm: &str) -> &'static [ParameterInfo] {
    todo!("scaffold")
}
