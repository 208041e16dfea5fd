//! Selection of parents and survivors.

use std::cmp::Reverse;

use super::operators::happens;
use super::parameters::{GeneticParameters, Selection};
use crate::core::rng::Random;

/// A generation's fitness, prepared for drawing parents.
#[derive(Clone, Debug, Default)]
pub(super) struct Selector {
    fitness: Vec<u32>,
    /// For roulette and rank: the cumulative sums of the individuals' shares. All drawing is by
    /// integers (invariant 2).
    wheel: Vec<u32>,
    by_fitness: Vec<u32>,
}

impl Selector {
    /// Takes over a generation's fitness, each at least 1.
    pub(super) fn prepare(&mut self, selection: Selection, fitness: impl Iterator<Item = u32>) {
        self.fitness.clear();
        self.fitness.extend(fitness);
        match selection {
            Selection::Roulette => {
                let Self { fitness, wheel, .. } = self;
                spin_up(wheel, fitness.iter().copied());
            }
            Selection::Rank => {
                let Self { fitness, wheel, by_fitness } = self;
                by_fitness.clear();
                by_fitness.extend_from_slice(fitness);
                by_fitness.sort_unstable();
                let rank = |own: &u32| by_fitness.partition_point(|other| other <= own) as u32;
                spin_up(wheel, fitness.iter().map(rank));
            }
            Selection::Tournament | Selection::StochasticTournament => {}
        }
    }

    /// Draws a parent: its index in the generation.
    pub(super) fn draw(&self, parameters: &GeneticParameters, random: &mut Random) -> usize {
        match parameters.selection {
            Selection::Roulette | Selection::Rank => {
                let total = self.wheel.last().copied().unwrap_or(0);
                let stop = random.below(total);
                self.wheel.partition_point(|&sum| sum <= stop)
            }
            Selection::Tournament => {
                let size = self.fitness.len() as u32;
                let mut winner = random.below(size) as usize;
                for _ in 1..parameters.tournament_size {
                    let rival = random.below(size) as usize;
                    if self.fitness[rival] > self.fitness[winner] {
                        winner = rival;
                    }
                }
                winner
            }
            Selection::StochasticTournament => {
                let size = self.fitness.len() as u32;
                let [mut fitter, mut weaker] = [(); 2].map(|()| random.below(size) as usize);
                if self.fitness[weaker] > self.fitness[fitter] {
                    std::mem::swap(&mut fitter, &mut weaker);
                }
                if happens(parameters.tournament_chance, random) { fitter } else { weaker }
            }
        }
    }

    /// The indices of the `count` fittest in descending order; ties keep the generation's order.
    pub(super) fn fittest(&mut self, count: usize) -> &[u32] {
        let Self { fitness, by_fitness, .. } = self;
        by_fitness.clear();
        by_fitness.extend(0..fitness.len() as u32);
        let order = |index: &u32| (Reverse(fitness[*index as usize]), *index);
        let count = count.min(by_fitness.len());
        if (1..by_fitness.len()).contains(&count) {
            by_fitness.select_nth_unstable_by_key(count - 1, order);
        }
        by_fitness.truncate(count);
        by_fitness.sort_unstable_by_key(order);
        by_fitness
    }
}

/// Accumulates shares. The parameters' bounds keep the sum below 2^32.
fn spin_up(wheel: &mut Vec<u32>, shares: impl Iterator<Item = u32>) {
    wheel.clear();
    wheel.extend(shares.scan(0, |sum, share| {
        *sum += share;
        Some(*sum)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(selection: Selection, fitness: &[u32]) -> Selector {
        let mut selector = Selector::default();
        selector.prepare(selection, fitness.iter().copied());
        selector
    }

    /// The number of times that each individual is drawn in 40,000 draws.
    fn counts(selection: Selection, tournament_size: u32, fitness: &[u32]) -> Vec<u32> {
        counts_with(
            GeneticParameters { selection, tournament_size, ..GeneticParameters::tuned(1) },
            fitness,
        )
    }

    fn counts_with(parameters: GeneticParameters, fitness: &[u32]) -> Vec<u32> {
        let selector = selector(parameters.selection, fitness);
        let mut random = Random::from_key([7; 32]);
        let mut counts = vec![0; fitness.len()];
        for _ in 0..40_000 {
            counts[selector.draw(&parameters, &mut random)] += 1;
        }
        counts
    }

    /// Each count lies within five standard deviations (at most 500) of its share of 40,000.
    #[track_caller]
    fn check(counts: &[u32], shares: &[u32]) {
        let total: u32 = shares.iter().sum();
        for (&count, &share) in counts.iter().zip(shares) {
            let expected = 40_000 * share / total;
            assert!(count.abs_diff(expected) < 500, "{counts:?} is far from shares {shares:?}");
        }
    }

    #[test]
    fn roulette_draws_in_proportion_to_fitness() {
        check(&counts(Selection::Roulette, 2, &[1, 3, 2, 2]), &[1, 3, 2, 2]);
    }

    #[test]
    fn rank_draws_in_proportion_to_those_no_fitter() {
        check(&counts(Selection::Rank, 2, &[1, 9, 2, 2]), &[1, 4, 3, 3]);
    }

    #[test]
    fn a_tournament_of_two_gives_the_best_of_four_its_seven_sixteenths() {
        check(&counts(Selection::Tournament, 2, &[1, 2, 3, 4]), &[1, 3, 5, 7]);
    }

    fn stochastic_tournament(tournament_chance: f64) -> Vec<u32> {
        let selection = Selection::StochasticTournament;
        counts_with(
            GeneticParameters { selection, tournament_chance, ..GeneticParameters::tuned(1) },
            &[1, 2, 3, 4],
        )
    }

    /// Its chance is that of the fitter of two, and of the weaker what is left.
    #[test]
    fn a_stochastic_tournament_lies_between_a_lot_and_a_tournament_of_two() {
        check(&stochastic_tournament(0.5), &[1, 1, 1, 1]);
        check(&stochastic_tournament(0.75), &[5, 7, 9, 11]);
        check(&stochastic_tournament(1.0), &[1, 3, 5, 7]);
    }

    #[test]
    fn equals_win_a_stochastic_tournament_as_often() {
        let parameters = GeneticParameters::study(1);
        assert_eq!(parameters.selection, Selection::StochasticTournament);
        check(&counts_with(parameters, &[2, 2, 2]), &[1, 1, 1]);
        check(&counts_with(parameters, &[2]), &[1]);
    }

    #[test]
    fn a_tournament_of_one_is_uniform() {
        check(&counts(Selection::Tournament, 1, &[1, 2, 3, 4]), &[1, 1, 1, 1]);
    }

    #[test]
    fn the_largest_sums_fit() {
        let largest = super::super::GeneticParameters::MAX_POPULATION as usize;
        let fittest = super::super::GeneticParameters::MAX_DEPTH + 1;
        for selection in [Selection::Roulette, Selection::Rank] {
            let selector = selector(selection, &vec![fittest; largest]);
            assert!(selector.wheel.is_sorted() && selector.wheel.len() == largest);
        }
    }

    #[test]
    fn the_fittest_come_in_order() {
        let mut selector = selector(Selection::Tournament, &[2, 5, 1, 5, 3]);
        assert_eq!(selector.fittest(0), &[] as &[u32]);
        assert_eq!(selector.fittest(3), &[1, 3, 4]);
        assert_eq!(selector.fittest(9), &[1, 3, 4, 0, 2]);
    }
}
