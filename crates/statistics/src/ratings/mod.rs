//! Ratings: players' strengths on one scale, from the results of their games.
//!
//! The model is that of Bradley and Terry (1952) with draws (Davidson 1970) and a term for the first move (Davidson and
//! Beaver 1977). With d the strength of the player that moves first, minus that of the other, plus the value of moving
//! first, a game is won, lost and drawn with chances in proportion to
//!
//! ```text
//! exp(d / 2)   exp(-d / 2)   nu
//! ```
//!
//! Strengths are shown in Elo, 400 / ln 10 times 2 / (2 + nu) per unit of d: between about equal players a difference
//! in Elo then means the same expected score for any share of draws, and the same as everywhere else. (Without the
//! second factor a game of many draws stretches the scale.)
//!
//! *The prior.* Besides its games each player has one virtual game, half won and half lost, without a first move,
//! against a player with whom its component as a whole breaks even; the first move has such a game, too, between equal
//! players. So a player that has won everything has a finite rating, which grows with the logarithm of its games, and
//! an interval as wide as one game makes it.
//!
//! *The covariance* is the sandwich (Huber 1967; White 1982) over clusters of games that share an opening (Liang and
//! Zeger 1986): games from one opening, of any players, are not independent. The virtual games are in its middle too,
//! each as its own cluster, so that no interval collapses if all openings went alike. An interval is Student's, with
//! one degree of freedom fewer than there are clusters; if a player's games are spread unevenly over the clusters,
//! their effective number counts (Kish 1965, 8.2).
//!
//! | file | subject |
//! |---|---|
//! | `components` | players on one scale |
//! | `model` | chances, gradient and curvature |
//! | `fit` | the most likely strengths, by Newton's method |
//! | `covariance` | their uncertainty |
//! | `residuals`, `signs` | departures from the model, and their distribution |
//! | `lack_of_fit`, `cycles` | whether one scale fits, and how far it does not |
//! | `disc`, `nash` | ratings where one scale does not fit |

mod components;
mod covariance;
mod cycles;
mod disc;
mod fit;
mod lack_of_fit;
mod model;
mod nash;
mod residuals;
mod signs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use components::{Component, rate};
pub use cycles::Cycles;
pub use disc::{DISC_PLAYERS_MAX, Disc, DiscPlace};
pub use lack_of_fit::{Departure, LackOfFit};
pub use nash::{NashPlace, nash_average};

/// Results of one cluster's games in which one player moved first against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// The cluster, such as an opening, shared with other games; counted from 0.
    pub cluster: u32,
    /// The player that moved first.
    pub first: u32,
    /// The player that moved second: another or the same.
    pub second: u32,
    /// Games won by the first mover.
    pub wins: u32,
    /// Drawn games.
    pub draws: u32,
    /// Games won by the second mover.
    pub losses: u32,
}

/// A figure in Elo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RatingEstimate")]
pub struct Estimate {
    /// The most likely value.
    pub elo: f64,
    /// Half the width of its 95% interval; 0 if exact by definition, `None` with fewer than two clusters.
    pub error: Option<f64>,
}

impl Tally {
    /// The number of games.
    #[must_use]
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }
}

#[cfg(test)]
mod fit_tests;
#[cfg(test)]
mod tests;
