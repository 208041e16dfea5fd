//! A generation from the one before.

use std::collections::BTreeSet;

use spelrum_engine::Random;
use spelrum_engine::expression::Expression;

use super::selection::{Ranking, Selection};
use super::trees::Initial;
use super::variation::{Mutation, Points, crossover};
use super::{Limits, Primitives};

/// How often a child is bred again that another individual equals already; then it is taken as it is.
pub const ATTEMPTS_MAX: usize = 100;

/// How generations are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Breeding {
    /// What trees are made of.
    pub primitives: Primitives,
    /// How large they may be.
    pub limits: Limits,
    /// How many individuals there are.
    pub population: usize,
    /// How the first generation is made.
    pub initial: Initial,
    /// How deep its trees may be.
    pub initial_depth: usize,
    /// How many of the best are individuals of the next generation, too.
    pub elite: usize,
    /// How probable it is that a child is made by mutation, and not by crossover.
    pub mutation_rate: f64,
    /// How mutation is done.
    pub mutation: Mutation,
    /// Where crossover is done.
    pub points: Points,
    /// How parents are drawn.
    pub selection: Selection,
    /// Whether individuals of a generation may be the same but for what
    /// [simplifying](Expression::simplified) finds.
    pub duplicates: bool,
}

/// How an individual came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It is a random tree.
    Random,
    /// It is one of the best of the generation before.
    Elite,
    /// By crossover of two.
    Crossover,
    /// By mutation of one.
    Mutation,
}

impl Operator {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Random, Self::Elite, Self::Crossover, Self::Mutation];

    /// Its name: what the database calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Elite => "elite",
            Self::Crossover => "crossover",
            Self::Mutation => "mutation",
        }
    }
}

/// An individual of a new generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Bred {
    /// Its tree.
    pub tree: Expression,
    /// How it came to be.
    pub operator: Operator,
    /// The places of its parents in the generation before, that which gave its root first.
    pub parents: Vec<usize>,
}

impl Breeding {
    /// The first generation.
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

    /// The generation after one whose trees these are.
    ///
    /// # Panics
    /// If there are none, or the ranking is not of them.
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

    /// The child of a mutation, or the two of a crossover.
    fn children(&self, trees: &[Expression], ranking: &Ranking, random: &mut Random) -> Vec<Bred> {
        if random.unit() < self.mutation_rate {
            let parent = ranking.select(self.selection, random);
            let tree = self.mutation.child(&trees[parent], &self.primitives, self.limits, random);
            return vec![Bred { tree, operator: Operator::Mutation, parents: vec![parent] }];
        }
        let parents = [(); 2].map(|()| ranking.select(self.selection, random));
        let pair = parents.map(|place| &trees[place]);
        let [one, other] = crossover(pair, self.points, self.limits, random);
        let bred = |tree, parents: [usize; 2]| Bred {
            tree,
            operator: Operator::Crossover,
            parents: parents.to_vec(),
        };
        vec![bred(one, parents), bred(other, [parents[1], parents[0]])]
    }
}

/// A generation that is being made.
struct Generation<'b> {
    breeding: &'b Breeding,
    bred: Vec<Bred>,
    /// The simplified forms that it has.
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

    /// Adds what is made, as far as there is room: what is there already is left out, and made again if it is
    /// all of it.
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
