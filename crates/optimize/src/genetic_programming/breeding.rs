//! Breeding a generation from the previous one.

use std::collections::BTreeSet;

use spelrum_engine::Random;
use spelrum_engine::expression::Expression;
use spelrum_names::Names;

use super::selection::{Ranking, Selection};
use super::trees::Initial;
use super::variation::{Mutation, Points, crossover};
use super::{Limits, Primitives};

/// Attempts to breed a child that equals no other individual; the last is accepted anyway.
pub const ATTEMPTS_MAX: usize = 100;

/// Settings for making generations.
#[derive(Clone, Debug, PartialEq)]
pub struct Breeding {
    /// Building blocks of trees.
    pub primitives: Primitives,
    /// Limits on the size of trees.
    pub limits: Limits,
    /// Number of individuals.
    pub population: usize,
    /// The method for the first generation.
    pub initial: Initial,
    /// The maximum depth of the first generation's trees.
    pub initial_depth: usize,
    /// Number of best individuals that are copied into the next generation.
    pub elite: usize,
    /// The probability that a child is made by mutation instead of crossover.
    pub mutation_rate: f64,
    /// The kind of mutation.
    pub mutation: Mutation,
    /// The choice of crossover points.
    pub points: Points,
    /// The method of drawing parents.
    pub selection: Selection,
    /// Whether individuals of a generation may be equal after [simplifying](Expression::simplified).
    pub duplicates: bool,
}

/// The origin of an individual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
pub enum Operator {
    /// A random tree.
    Random,
    /// One of the best of the previous generation.
    Elite,
    /// Crossover of two parents.
    Crossover,
    /// Mutation of one parent.
    Mutation,
}

/// An individual of a new generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Bred {
    /// Its tree.
    pub tree: Expression,
    /// Its origin.
    pub operator: Operator,
    /// The indices of its parents in the previous generation, the one that gave its root first.
    pub parents: Vec<usize>,
}

impl Breeding {
    /// Makes the first generation.
    #[must_use]
    pub fn first(&self, random: &mut Random) -> Vec<Bred> {
        let mut new = Generation::new(self);
        while !new.is_full() {
            let number = new.bred.len();
            let depth = self.initial_depth;
            new.add(&mut || {
                let tree = self.initial.tree(&self.primitives, self.limits, depth, number, random);
                vec![Bred { tree, operator: Operator::Random, parents: Vec::new() }]
            });
        }
        new.bred
    }

    /// Makes the generation after the one with these trees.
    ///
    /// # Panics
    /// If there are no trees, or the ranking does not fit them.
    #[must_use]
    pub fn next(&self, trees: &[Expression], ranking: &Ranking, random: &mut Random) -> Vec<Bred> {
        let mut new = Generation::new(self);
        for &place in ranking.order.iter().take(self.elite.min(self.population)) {
            let tree = trees[place].clone();
            new.push(Bred { tree, operator: Operator::Elite, parents: vec![place] });
        }
        while !new.is_full() {
            new.add(&mut || self.children(trees, ranking, random));
        }
        new.bred
    }

    /// One child of a mutation, or two of a crossover.
    fn children(&self, trees: &[Expression], ranking: &Ranking, random: &mut Random) -> Vec<Bred> {
        if random.unit() < self.mutation_rate {
            let parent = ranking.select(self.selection, random);
            let tree = self.mutation.child(&trees[parent], &self.primitives, self.limits, random);
            return vec![Bred { tree, operator: Operator::Mutation, parents: vec![parent] }];
        }
        let parents = [(); 2].map(|()| ranking.select(self.selection, random));
        let pair = parents.map(|place| &trees[place]);
        let [first, second] = crossover(pair, self.points, self.limits, random);
        let bred = |tree, parents: [usize; 2]| Bred {
            tree,
            operator: Operator::Crossover,
            parents: parents.to_vec(),
        };
        vec![bred(first, parents), bred(second, [parents[1], parents[0]])]
    }
}

/// A generation in progress.
struct Generation<'b> {
    breeding: &'b Breeding,
    bred: Vec<Bred>,
    /// The simplified forms present so far.
    forms: BTreeSet<Expression>,
}

impl<'b> Generation<'b> {
    fn new(breeding: &'b Breeding) -> Self {
        Self { breeding, bred: Vec::new(), forms: BTreeSet::new() }
    }

    fn is_full(&self) -> bool {
        self.bred.len() >= self.breeding.population
    }

    fn push(&mut self, bred: Bred) {
        if !self.breeding.duplicates {
            self.forms.insert(bred.tree.simplified());
        }
        self.bred.push(bred);
    }

    /// Adds individuals while there is room: skips existing ones, and makes new ones if all of them exist already.
    fn add(&mut self, make: &mut dyn FnMut() -> Vec<Bred>) {
        for attempt in 1.. {
            let before = self.bred.len();
            for bred in make() {
                let is_there = !self.breeding.duplicates
                    && attempt < ATTEMPTS_MAX
                    && self.forms.contains(&bred.tree.simplified());
                if !is_there && !self.is_full() {
                    self.push(bred);
                }
            }
            if self.bred.len() > before {
                return;
            }
        }
    }
}
