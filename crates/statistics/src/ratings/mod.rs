//! Ratings: how strong players are on one scale, from who met whom and what came of it.
//!
//! The model is that of Bradley and Terry (1952) with draws (Davidson 1970) and a term for who moves first
//! (Davidson and Beaver 1977). With d the strength of the player who moves first, minus that of the other,
//! plus what moving first is worth, a game is won, lost and drawn with chances in proportion to
//!
//! ```text
//! exp(d / 2)   exp(-d / 2)   nu
//! ```
//!
//! Strengths are shown in Elo, 400 / ln 10 times 2 / (2 + nu) for each unit of d: where players are about
//! equal, a difference in Elo then means the same expected score whether or not games are drawn often, and
//! the same as everywhere else. (Without the second factor a game of many draws stretches the scale.)
//!
//! *The prior.* Beside its games each player has one virtual game, half won and half lost, without a first
//! move, against a player with whom its component as a whole breaks even; and so has the first move, between
//! equal players. So whoever has won everything has a finite rating, which grows with the logarithm of its
//! games, and an interval as wide as one game makes it.
//!
//! *The covariance* is the sandwich (Huber 1967; White 1982) over clusters of games that share an opening
//! (Liang and Zeger 1986): games from one opening, of whatever players, are not independent. The virtual
//! games are in its middle too, each for itself, so that no interval collapses where all openings went alike.
//! An interval is Student's, with one degree of freedom fewer than there are clusters; where a player's games
//! are spread over the clusters unevenly, their effective number counts (Kish 1965, 8.2).
//!
//! | file | subject |
//! |---|---|
//! | `components` | who is on one scale with whom |
//! | `model` | chances, gradient and curvature |
//! | `fit` | the most likely strengths, by Newton's method |
//! | `covariance` | how sure they are |

mod components;
mod covariance;
mod fit;
mod model;

pub use components::{Component, rate};

/// What came of the games of one cluster in which one player moved first against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// What they share with other games, such as an opening: clusters count from 0.
    pub cluster: u32,
    /// Who moved first.
    pub first: u32,
    /// Who moved second: another player, or the same.
    pub second: u32,
    /// Games that the one who moved first won.
    pub wins: u32,
    /// Games that nobody won.
    pub draws: u32,
    /// Games that the one who moved second won.
    pub losses: u32,
}

/// A figure in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub elo: f64,
    /// Half the width of its 95% interval; 0 of what is so by definition, none if there are fewer than two
    /// clusters to tell it from.
    pub error: Option<f64>,
}

impl Tally {
    /// How many games.
    #[must_use]
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }
}

#[cfg(test)]
mod tests;
