//! What is to be known of a run of `[evolve]`: each individual, and each generation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use spelrum_engine::expression::{Expression, FeatureInfo};

use super::measure::Tally;
use crate::optimize::genetic_programming::breeding::Bred;
use crate::optimize::genetic_programming::selection::{Candidate, Ranking};

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
    /// How it came to be, by [name](crate::optimize::genetic_programming::breeding::Operator::name).
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

impl Individual {
    pub(super) fn of(bred: &Bred, features: &[FeatureInfo]) -> Self {
        Self {
            formula: bred.tree.text(features),
            simplified: bred.tree.simplified().text(features),
            size: bred.tree.size() as u64,
            depth: bred.tree.depth() as u64,
            operator: bred.operator.name().to_owned(),
            parents: bred.parents.iter().map(|parent| *parent as u64).collect(),
        }
    }
}

impl Scored {
    pub(super) fn of(tally: &Tally, fitness: Option<f64>, rank: u64) -> Self {
        let Tally { games, failed, wins, draws, losses, margin, rounds, kept } = *tally;
        let games_failed = failed;
        Self { fitness, rank, games, games_failed, wins, draws, losses, margin, rounds, kept }
    }
}

impl Generation {
    pub(super) fn of(trees: &[Expression], candidates: &[Candidate], ranking: &Ranking) -> Self {
        let fits: Vec<f64> = candidates.iter().filter_map(|it| it.fitness).collect();
        let count = fits.len() as f64;
        let mean = fits.iter().sum::<f64>() / count;
        let squares: f64 = fits.iter().map(|fit| (fit - mean) * (fit - mean)).sum();
        let all = trees.len() as f64;
        let forms: BTreeSet<Expression> = trees.iter().map(Expression::simplified).collect();
        let best = ranking.order.first().copied().unwrap_or(0);
        let finite = |number: f64| number.is_finite().then_some(number);
        Self {
            individuals: trees.len() as u64,
            measured: fits.len() as u64,
            best_individual: best as u64,
            best: candidates.get(best).and_then(|it| it.fitness),
            mean: finite(mean),
            least: fits.iter().copied().reduce(f64::min),
            sd: (fits.len() > 1).then(|| (squares / (count - 1.0)).sqrt()).and_then(finite),
            distinct: forms.len() as u64,
            mean_size: trees.iter().map(|tree| tree.size() as f64).sum::<f64>() / all,
            mean_depth: trees.iter().map(|tree| tree.depth() as f64).sum::<f64>() / all,
        }
    }
}
