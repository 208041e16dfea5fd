//! What came of a run of `[evolve]`: its generations, and where its best individual comes from.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::course::{Generation, Individual, Note, Scored};
use spelrum_optimize::genetic_programming::breeding::Operator;

/// So many of a family are shown at most: the best, and its ancestors from the latest on.
pub const FAMILY_MAX: usize = 64;

/// The operator of those who went on as they were.
pub const ELITE: &str = Operator::Elite.name();

/// What a run of `[evolve]` bred, as far as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evolution {
    /// The generations that are measured, in order.
    pub generations: Vec<Generation>,
    /// The best individual of the latest of them, and its ancestors: the latest generations first, and in each
    /// in the order of their indices; [`FAMILY_MAX`] at most. Ancestors stand where they were bred: as elite they are not
    /// there again.
    pub family: Vec<Relative>,
}

/// An individual in a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Relative {
    /// Its generation, from 0.
    pub generation: u64,
    /// Its index there, from 0.
    pub index: u64,
    /// What it is.
    pub individual: Individual,
    /// Its fitness, if it has one.
    pub fitness: Option<f64>,
}

/// What is known of a run while its notes are read.
#[derive(Debug, Default)]
pub(super) struct KnownEvolution {
    generations: BTreeMap<u64, Generation>,
    individuals: BTreeMap<(u64, u64), Individual>,
    fitness: BTreeMap<(u64, u64), Option<f64>>,
}

impl KnownEvolution {
    /// Takes a note, if it is one of evolution.
    pub(super) fn take(&mut self, note: Note) {
        match note {
            Note::Generation(generation, of) => {
                self.generations.insert(generation, of);
            }
            Note::Individual(generation, index, of) => {
                self.individuals.insert((generation, index), of);
            }
            Note::Scored(generation, index, Scored { fitness, .. }) => {
                self.fitness.insert((generation, index), fitness);
            }
            Note::Begun(_)
            | Note::Confirmed(_)
            | Note::Tried(..)
            | Note::Estimated(..)
            | Note::Ended(_) => {}
        }
    }

    /// What the notes come to.
    pub(super) fn evolution(mut self) -> Evolution {
        let mut family = Vec::new();
        let latest = self.generations.last_key_value();
        let mut wanted: BTreeSet<u64> = latest.iter().map(|(_, it)| it.best_individual).collect();
        let mut generation = latest.map_or(0, |(generation, _)| *generation);
        while !wanted.is_empty() && family.len() < FAMILY_MAX {
            let mut parents = BTreeSet::new();
            for index in std::mem::take(&mut wanted) {
                let place = (generation, index);
                let Some(individual) = self.individuals.remove(&place) else { continue };
                parents.extend(individual.parents.iter().copied());
                if individual.operator == ELITE && !family.is_empty() {
                    continue;
                }
                let fitness = self.fitness.get(&place).copied().flatten();
                family.push(Relative { generation, index, individual, fitness });
            }
            let Some(before) = generation.checked_sub(1) else { break };
            (generation, wanted) = (before, parents);
        }
        family.truncate(FAMILY_MAX);
        Evolution { generations: self.generations.into_values().collect(), family }
    }
}
