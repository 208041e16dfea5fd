//! Conditions of games: a cell's definition except its players.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spelrum_engine::{Adjudication, Rules};

/// The part of a cell's definition without players.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// The source of the openings and of the cells' random numbers.
    pub seed: u64,
    /// The game and its rules.
    pub rules: Rules,
    /// The openings of pairs, or of games if sides are fixed.
    pub openings: OpeningsRule,
    /// A game still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// The rule by which players' scores end a game early, if any.
    pub adjudication: Option<Adjudication>,
    /// Whether the players swap sides in odd numbers: see [`CellDefinition::swap_sides`](crate::definition::CellDefinition::swap_sides).
    pub swap_sides: bool,
    /// The meaning of cells' numbers.
    pub task: Task,
    /// The number of openings before they repeat; `None` if more than are ever played, or not counted.
    pub openings_count: Option<u64>,
}

impl Conditions {
    /// The number of openings used by this many games: one per pair, or per game if sides are fixed.
    #[must_use]
    pub fn openings_of(&self, games: u64) -> u64 {
        if self.swap_sides { games / 2 } else { games }
    }
}

/// The task behind one number of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A game between the two players.
    #[default]
    Game,
    /// One choice: the first player moves once, from opening n, and the second, the *reference*, gives the value of
    /// each legal move there. Such a cell has fixed sides and ends after a ply.
    Choice,
}

impl Task {
    /// Both tasks.
    pub const ALL: [Self; 2] = [Self::Game, Self::Choice];

    /// The name of such experiments, in sweeps and in the database.
    #[must_use]
    pub const fn experiments(self) -> &'static str {
        match self {
            Self::Game => "games",
            Self::Choice => "accuracy",
        }
    }

    /// The task with this name.
    #[must_use]
    pub fn from_experiments(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.experiments() == name)
    }

    /// This many tasks in words: a noun, in the singular for one.
    #[must_use]
    pub const fn noun(self, count: u64) -> &'static str {
        match (self, count) {
            (Self::Game, 1) => "game",
            (Self::Game, _) => "games",
            (Self::Choice, 1) => "choice",
            (Self::Choice, _) => "choices",
        }
    }

    /// Whether it is a game.
    #[must_use]
    pub fn is_game(&self) -> bool {
        *self == Self::Game
    }
}

/// The starting positions of a cell's pairs; without pairs, of its games.
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
    /// Random play to several distances in turn: opening n is one after `plies[n % plies.len()]` plies, namely number
    /// n / plies.len() of those that [`OpeningsRule::Random`] has there.
    Strata {
        /// Plies from the start position: at least two, distinct.
        plies: Arc<[u32]>,
    },
    /// Every position after this many plies, distinct up to symmetry, not over and not won in one move, in an order
    /// shuffled by the sweep's seed.
    All {
        /// Plies from the start position.
        plies: u32,
    },
    /// Positions of a chess ending that white wins, by the ending's table
    /// ([`EndgameTable`](spelrum_engine::tables::EndgameTable)): each once up to symmetry, in an order shuffled
    /// by the sweep's seed, and turned or mirrored by it.
    Ending {
        /// The ending's name, as [`Endgame::name`](spelrum_engine::tables::Endgame::name) has it.
        ending: String,
        /// The side to move.
        to_move: ToMove,
        /// The range of white's moves to mate by best play; absent from the JSON if unbounded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        distance: Option<[u32; 2]>,
        /// Whether distances to mate alternate, among those with positions left; otherwise all are shuffled together.
        stratified: bool,
    },
    /// These positions, in this order.
    Listed {
        /// Positions in the game's notation. Shared by all cells of a sweep.
        positions: Arc<[String]>,
    },
}

/// The side to move at the start of an ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToMove {
    /// White, the winner.
    White,
    /// Black, the loser.
    Black,
}

impl ToMove {
    /// Both.
    pub const ALL: [Self; 2] = [Self::White, Self::Black];

    /// `white` or `black`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Black => "black",
        }
    }
}

impl OpeningsRule {
    /// Plies of random play before the opening with this number; `None` for listed positions and endings.
    #[must_use]
    pub fn plies_of(&self, number: u64) -> Option<u32> {
        match self {
            Self::Start {} => Some(0),
            Self::Random { plies } | Self::All { plies } => Some(*plies),
            Self::Strata { plies } => {
                let stratum = number.checked_rem(plies.len() as u64)?;
                plies.get(usize::try_from(stratum).ok()?).copied()
            }
            Self::Ending { .. } | Self::Listed { .. } => None,
        }
    }
}
