//! The result of a game, as a stop rule sees it.

use spelrum_engine::Outcome;

/// A player's result in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Points {
    /// It lost.
    Zero,
    /// A draw.
    Half,
    /// It won.
    One,
}

/// The settled result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Played to its end: the points of the cell's first player, and the hash of its moves
    /// ([`GameRecord::moves_hash`](spelrum_engine::GameRecord::moves_hash)).
    Played(Points, u64),
    /// It has finally failed: no rule reads its unit.
    Failed,
}

impl Points {
    /// 0, 1 or 2.
    #[must_use]
    pub const fn half_points(self) -> usize {
        match self {
            Self::Zero => 0,
            Self::Half => 1,
            Self::One => 2,
        }
    }

    /// The points of the other player.
    #[must_use]
    pub const fn swapped(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::Half => Self::Half,
            Self::One => Self::Zero,
        }
    }
}

/// The player whose points are given.
impl From<Outcome> for Points {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Loss => Self::Zero,
            Outcome::Draw => Self::Half,
            Outcome::Win => Self::One,
        }
    }
}
