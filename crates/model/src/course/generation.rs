//! Individuals and generations of `[evolve]`, as they are noted.

use serde::{Deserialize, Serialize};

/// An individual: noted with its generation and its index there, both from 0, when it is bred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Individual {
    /// Its formula.
    pub formula: String,
    /// The same, simplified.
    pub simplified: String,
    /// Its number of nodes.
    pub size: u64,
    /// The number of edges from its root to its farthest leaf.
    pub depth: u64,
    /// How it came to be, by [name](spelrum_optimize::genetic_programming::breeding::Operator::name).
    pub operator: String,
    /// The indices of its parents in the generation before.
    pub parents: Vec<u64>,
}

/// How an individual did: noted when its generation is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Its fitness; `None` if it has none, since a game of its failed.
    pub fitness: Option<f64>,
    /// Its place in the order of its generation, from 0.
    pub rank: u64,
    /// Games that count.
    pub games: u64,
    /// Games that finally failed.
    pub games_failed: u64,
    /// Games that it won.
    pub wins: u64,
    /// Games that nobody won.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// The sum of its games' margins; 0 in a game that has none.
    pub margin: i64,
    /// How many rounds of a knock-out it survived.
    pub rounds: u64,
    /// Whether it keeps what an earlier measurement came to.
    pub kept: bool,
}

/// A generation that is measured. Figures of fitness are of those that have one; `None` if nobody has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// How many individuals it has.
    pub individuals: u64,
    /// How many of them have a fitness.
    pub measured: u64,
    /// Who is the first in its order.
    pub best_individual: u64,
    /// The fitness of that.
    pub best: Option<f64>,
    /// The mean fitness.
    pub mean: Option<f64>,
    /// The least fitness.
    pub least: Option<f64>,
    /// The standard deviation of fitness, with n - 1; `None` of fewer than two.
    pub sd: Option<f64>,
    /// How many different simplified forms there are.
    pub distinct: u64,
    /// The mean number of nodes.
    pub mean_size: f64,
    /// The mean depth.
    pub mean_depth: f64,
}
