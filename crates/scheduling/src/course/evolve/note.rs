//! The notes on a run of `[evolve]`: on each individual, and on each generation.

use std::collections::BTreeSet;

use spelrum_engine::expression::{Expression, FeatureInfo};
use spelrum_model::course::{Generation, Individual, Scored};
use spelrum_optimize::genetic_programming::breeding::Bred;
use spelrum_optimize::genetic_programming::selection::{Candidate, Ranking};

use super::measure::Tally;

/// The note on a new individual.
pub(super) fn individual(bred: &Bred, features: &[FeatureInfo]) -> Individual {
    Individual {
        formula: bred.tree.text(features),
        simplified: bred.tree.simplified().text(features),
        size: bred.tree.size() as u64,
        depth: bred.tree.depth() as u64,
        operator: bred.operator.name().to_owned(),
        parents: bred.parents.iter().map(|parent| *parent as u64).collect(),
    }
}

/// The note on an individual's results.
pub(super) fn scored(tally: &Tally, fitness: Option<f64>, rank: u64) -> Scored {
    let Tally { games, failed, wins, draws, losses, margin, rounds, kept } = *tally;
    let games_failed = failed;
    Scored { fitness, rank, games, games_failed, wins, draws, losses, margin, rounds, kept }
}

/// The note on a measured generation.
pub(super) fn generation(
    trees: &[Expression],
    candidates: &[Candidate],
    ranking: &Ranking,
) -> Generation {
    let fits: Vec<f64> = candidates.iter().filter_map(|candidate| candidate.fitness).collect();
    let count = fits.len() as f64;
    let mean = fits.iter().sum::<f64>() / count;
    let squares: f64 = fits.iter().map(|fit| (fit - mean) * (fit - mean)).sum();
    let all = trees.len() as f64;
    let forms: BTreeSet<Expression> = trees.iter().map(Expression::simplified).collect();
    let best = ranking.order.first().copied().unwrap_or(0);
    let finite = |number: f64| number.is_finite().then_some(number);
    Generation {
        individuals: trees.len() as u64,
        measured: fits.len() as u64,
        best_individual: best as u64,
        best: candidates.get(best).and_then(|candidate| candidate.fitness),
        mean: finite(mean),
        least: fits.iter().copied().reduce(f64::min),
        sd: (fits.len() > 1).then(|| (squares / (count - 1.0)).sqrt()).and_then(finite),
        distinct: forms.len() as u64,
        mean_size: trees.iter().map(|tree| tree.size() as f64).sum::<f64>() / all,
        mean_depth: trees.iter().map(|tree| tree.depth() as f64).sum::<f64>() / all,
    }
}
