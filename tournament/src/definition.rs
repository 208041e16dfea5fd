//! A cell's definition: all that decides its games (invariant 1), and its hash.

use serde::{Deserialize, Serialize};
use spelrum_engine::{Parameters, Rules};

/// Everything that, with a number, decides a game. Complete in itself: a worker needs nothing else.
///
/// How many games the cell gets, what is measured and what is recorded are no part of it, so that
/// a cell whose sweep changes in those keeps its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellDefinition {
    /// The version of this form: 1.
    pub format: u32,
    /// The sweep's seed.
    pub seed: u64,
    /// The game and its rules.
    pub rules: Rules,
    /// Where pairs start.
    pub openings: OpeningsRule,
    /// A game still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// The first player (who moves first in even numbers) and the second, every parameter spelt out.
    pub players: [Parameters; 2],
}

/// Which positions the pairs of a cell start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum OpeningsRule {
    /// Always the game's start position.
    Start {},
    /// Random play from the start; distinct up to symmetry, not over, and not won in one move.
    Random {
        /// Plies from the start position.
        plies: u32,
    },
    /// Every position after so many plies, distinct up to symmetry, not over and not won in one
    /// move, in an order shuffled by the sweep's seed.
    All {
        /// Plies from the start position.
        plies: u32,
    },
    /// These positions, in this order.
    Listed {
        /// Positions in the game's notation.
        positions: Vec<String>,
    },
}

/// SHA-256 of a definition's canonical JSON: the same cell has the same hash everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionHash(pub [u8; 32]);

impl CellDefinition {
    /// The canonical JSON: serde's fields in the order above, maps by key, no white space.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        todo!("scaffold")
    }

    /// The hash that names the cell in leases and in the database.
    #[must_use]
    pub fn hash(&self) -> DefinitionHash {
        todo!("scaffold")
    }

    /// The cell's seed, below 2^53: from its definition alone, never from its place in a grid.
    #[must_use]
    pub fn cell_seed(&self) -> u64 {
        todo!("scaffold")
    }
}
