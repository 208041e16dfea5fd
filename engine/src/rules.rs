//! Which game, under which rules: the data form of a start position.

use serde::{Deserialize, Serialize};

/// A game and its rules, as a sweep names them. The JSON form is part of a cell's definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rules {
    /// Pentago.
    Pentago {
        /// Whether a placement that makes five wins at once, before any turn of a quadrant.
        #[serde(default = "yes")]
        win_before_rotation: bool,
    },
    /// Tic-tac-toe.
    TicTacToe {},
    /// Nim.
    Nim {
        /// Objects in each heap.
        #[serde(default = "classic_heaps")]
        heaps: Vec<u32>,
        /// Whether taking the last object loses (misère) instead of winning (normal play).
        #[serde(default)]
        misere: bool,
    },
}

fn yes() -> bool {
    true
}

fn classic_heaps() -> Vec<u32> {
    vec![3, 4, 5]
}
