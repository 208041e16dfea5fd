//! Result of an `[evolve]` run: its generations, and the descent of its best individual.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::course::{Generation, Individual, Note, Scored};
use spelrum_optimize::genetic_programming::breeding::Operator;

/// Maximum number of shown family members: the best, and its ancestors from the latest on.
pub const FAMILY_MAX: usize = 64;

/// The operator for individuals that survived unchanged.
pub const ELITE: &str = Operator::Elite.name();

/// The state of an `[evolve]` run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evolution {
    /// Measured generations, in order.
    pub generations: Vec<Generation>,
    /// The best individual of the latest of them, and its ancestors: the latest generations first, each in the order
    /// of indices; at most [`FAMILY_MAX`]. Ancestors appear where they were bred, not again as elite.
    pub family: Vec<Relative>,
}

/// An individual in a family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Relative {
    /// Its generation, from 0.
    pub generation: u64,
    /// Its index there, from 0.
    pub index: u64,
    /// The individual.
    pub individual: Individual,
    /// Its fitness, once known.
    pub fitness: Option<f64>,
}

/// State of a run while its notes are read.
#[derive(Debug, Default)]
pub(super) struct KnownEvolution {
    generations: BTreeMap<u64, Generation>,
    individuals: BTreeMap<(u64, u64), Individual>,
    fitness: BTreeMap<(u64, u64), Option<f64>>,
}

impl KnownEvolution {
    /// Processes a note, ignoring other kinds than evolution's.
    pub(super) fn take(&mut self, note: Note) {
        match note {
            Note::Generation(generation, generation_note) => {
                self.generations.insert(generation, generation_note);
            }
            Note::Individual(generation, index, individual) => {
                self.individuals.insert((generation, index), individual);
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

    /// Assembles the evolution from the notes.
    pub(super) fn evolution(mut self) -> Evolution {
        let mut family = Vec::new();
        let latest = self.generations.last_key_value();
        let mut wanted: BTreeSet<u64> =
            latest.iter().map(|(_, generation)| generation.best_individual).collect();
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
