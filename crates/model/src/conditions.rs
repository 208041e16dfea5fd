//! Under which conditions games are played: all of a cell's definition but its players.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spelrum_engine::{Adjudication, Rules};

/// What of a cell's definition is not a player.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// What the openings, and the random numbers of the cells, come from.
    pub seed: u64,
    /// The game and its rules.
    pub rules: Rules,
    /// Where pairs start, or games if sides are fixed.
    pub openings: OpeningsRule,
    /// A game still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// By which of its players' scores a game ends early, if by any.
    pub adjudication: Option<Adjudication>,
    /// Whether the players swap sides in odd numbers: see [`CellDefinition::swap_sides`](crate::definition::CellDefinition::swap_sides).
    pub swap_sides: bool,
    /// What the numbers of cells stand for.
    pub task: Task,
    /// After so many openings the first comes again; none where there are more than anybody plays, or
    /// nobody has counted them.
    pub openings_count: Option<u64>,
}

impl Conditions {
    /// From how many openings so many games start: one for each pair, or for each game if sides are
    /// fixed.
    #[must_use]
    pub fn openings_of(&self, games: u64) -> u64 {
        if self.swap_sides { games / 2 } else { games }
    }
}

/// What one number of a cell is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A game between the two players.
    #[default]
    Game,
    /// One choice: the first player moves once, from opening n, and the second, the *reference*, says what
    /// each legal move there is worth. Such a cell has fixed sides and ends after a ply.
    Choice,
}

impl Task {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Game, Self::Choice];

    /// What an experiment of such tasks is called, in sweeps and in the database.
    #[must_use]
    pub const fn experiments(self) -> &'static str {
        match self {
            Self::Game => "games",
            Self::Choice => "accuracy",
        }
    }

    /// The task of an experiment that is called so.
    #[must_use]
    pub fn of_experiments(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.experiments() == name)
    }

    /// So many of them, in words: a noun, in the singular for one.
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

/// Which positions the pairs of a cell start from; without pairs, its games.
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
    /// Random play to several distances in turn: opening n is one after `plies[n % plies.len()]` plies, and
    /// the (n / plies.len())-th of those that [`OpeningsRule::Random`] has there.
    Strata {
        /// Plies from the start position: at least two, distinct.
        plies: Arc<[u32]>,
    },
    /// Every position after so many plies, distinct up to symmetry, not over and not won in one
    /// move, in an order shuffled by the sweep's seed.
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
        /// Whose move it is.
        to_move: ToMove,
        /// From how many to how many moves to mate, white's, by best play; absent from the JSON if it is any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        distance: Option<[u32; 2]>,
        /// Whether distances to mate are taken in turn, those with positions left; else all are shuffled
        /// together.
        stratified: bool,
    },
    /// These positions, in this order.
    Listed {
        /// Positions in the game's notation. Shared by all cells of a sweep.
        positions: Arc<[String]>,
    },
}

/// Who is to move where an ending begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToMove {
    /// White, who wins.
    White,
    /// Black, who loses.
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
    /// After how many plies of random play the opening with this number stands; none of one that
    /// is listed or of an ending.
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
