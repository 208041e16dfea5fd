//! Notes on individuals and generations of `[evolve]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An individual: noted when bred, with its generation and its index there, both from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Individual {
    /// Its formula.
    pub formula: String,
    /// Its simplified formula.
    pub simplified: String,
    /// Its number of nodes.
    pub size: u64,
    /// The number of edges from its root to its farthest leaf.
    pub depth: u64,
    /// The [name](spelrum_optimize::genetic_programming::breeding::Operator::name) of its origin.
    pub operator: String,
    /// The indices of its parents in the previous generation.
    pub parents: Vec<u64>,
}

/// The result of an individual: noted when its generation is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Its fitness; `None` if one of its games failed.
    pub fitness: Option<f64>,
    /// Its place in the order of its generation, from 0.
    pub rank: u64,
    /// The number of games counted.
    pub games: u64,
    /// Games that finally failed.
    pub games_failed: u64,
    /// Games won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// The sum of its games' margins; 0 for a game without one.
    pub margin: i64,
    /// The number of knock-out rounds survived.
    pub rounds: u64,
    /// Whether it keeps an earlier measurement.
    pub kept: bool,
}

/// A measured generation. Fitness figures cover the individuals with a fitness; `None` without any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generation {
    /// The number of individuals.
    pub individuals: u64,
    /// The number of individuals with a fitness.
    pub measured: u64,
    /// The first individual in its order.
    pub best_individual: u64,
    /// The fitness of that individual.
    pub best: Option<f64>,
    /// The mean fitness.
    pub mean: Option<f64>,
    /// The smallest fitness.
    pub least: Option<f64>,
    /// The standard deviation of fitness, with n - 1; `None` for fewer than two.
    pub sd: Option<f64>,
    /// The number of distinct simplified forms.
    pub distinct: u64,
    /// The mean number of nodes.
    pub mean_size: f64,
    /// The mean depth.
    pub mean_depth: f64,
}
