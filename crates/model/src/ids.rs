//! Identities: numbers that must not be mixed up. All stay below 2^53.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// An experiment in one results database; its UUID identifies it everywhere.
    ExperimentId
}
id! {
    /// A cell in one results database; the hash of its definition identifies it everywhere.
    CellId
}
id! {
    /// A worker that has registered with a coordinator.
    WorkerId
}
id! {
    /// A lease. Lease ids only grow, across restarts (invariant 6).
    LeaseId
}

/// A game: (cell, number) (invariant 4).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct GameId {
    /// Its cell.
    pub cell: CellId,
    /// Its number in the cell, from 0; pair = number / 2, unless sides are fixed.
    pub number: u64,
}

impl std::fmt::Display for GameId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of cell {}", self.number, self.cell)
    }
}

/// Successive games of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameRange {
    /// Their cell.
    pub cell: CellId,
    /// The first number.
    pub first: u64,
    /// The number of games; never 0.
    pub count: u64,
}

impl GameRange {
    /// The number after the last.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.first + self.count
    }

    /// Whether the range contains the game.
    #[must_use]
    pub fn contains(&self, game: GameId) -> bool {
        self.cell == game.cell && self.first <= game.number && game.number < self.end()
    }
}
