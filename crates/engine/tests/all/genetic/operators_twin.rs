//! Selection and crossover of the slow reference, gene by gene.

use std::collections::BTreeSet;

use spelrum_engine::Random;
use spelrum_engine::search::genetic::{GeneticParameters, Selection};

/// What an individual inherits in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gene<M> {
    Move(M),
    /// The number of a move among the legal ones, modulo their number.
    Branch(usize),
}

/// `None` is a gene to be drawn.
pub(crate) type Genes<M> = Vec<Option<Gene<M>>>;

/// Cuts by Floyd's sampling, the first being possible before the second gene.
pub(crate) fn cuts(points: u32, shorter: usize, random: &mut Random) -> BTreeSet<usize> {
    let places = shorter as u32 - 1;
    let mut cuts = BTreeSet::new();
    for last in 1..=places {
        if last + points > places {
            let cut = 1 + random.below(last);
            if !cuts.insert(cut as usize) {
                cuts.insert(last as usize);
            }
        }
    }
    cuts
}

/// A child's genes: each is of the parent whose turn it is after so many cuts.
pub(crate) fn cross<M: Copy>(
    own: &[Option<Gene<M>>],
    other: &[Option<Gene<M>>],
    cuts: &BTreeSet<usize>,
) -> Genes<M> {
    let parent = |ply| {
        let is_own = cuts.iter().filter(|&&cut| cut <= ply).count() % 2 == 0;
        if is_own { own } else { other }
    };
    (0..).map_while(|ply| parent(ply).get(ply).copied()).collect()
}

pub(crate) fn select(
    parameters: &GeneticParameters,
    fitness: &[u32],
    random: &mut Random,
) -> usize {
    let mut drawn = |count| -> Vec<usize> {
        let mut drawn: Vec<usize> =
            (0..count).map(|_| random.below(fitness.len() as u32) as usize).collect();
        drawn.sort_by_key(|&index| std::cmp::Reverse(fitness[index]));
        drawn
    };
    let shares: Vec<u32> = match parameters.selection {
        Selection::Roulette => fitness.to_vec(),
        Selection::Rank => fitness
            .iter()
            .map(|own| fitness.iter().filter(|other| *other <= own).count() as u32)
            .collect(),
        Selection::Tournament => return drawn(parameters.tournament_size)[0],
        Selection::StochasticTournament => {
            let best_first = drawn(2);
            return best_first[usize::from(random.unit() >= parameters.tournament_chance)];
        }
    };
    let mut stop = random.below(shares.iter().sum());
    for (index, share) in shares.into_iter().enumerate() {
        if stop < share {
            return index;
        }
        stop -= share;
    }
    unreachable!("the wheel stops somewhere")
}
