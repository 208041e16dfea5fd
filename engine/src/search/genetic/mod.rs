//! Genetic minimax: a genetic algorithm whose individuals are lines of play.
//!
//! After Hong, Huang and Lin (2001), "Applying genetic algorithms to game search trees". An
//! individual is a sequence of moves from the searched position; a gene is a move. Every individual
//! ever made stays in one [`ReservationTree`], where the value of its leaf travels up by the
//! minimax rule as far as other individuals let it. How far is its fitness, so that the fittest are
//! those whose end both sides would play for, as far as the search has seen. The move played is the
//! best in the tree, not a gene of the last generation.
//!
//! `docs/genetic-minimax.md` describes the algorithm as built, where it goes beyond the paper, and
//! what its parameters were found to do.

mod children;
mod operators;
mod parameters;
mod population;
mod replay;
mod selection;
mod tree;

pub(crate) use parameters::ALGORITHM;
pub use parameters::{GeneticParameters, Selection};
pub use tree::{NodeId, ReservationTree};

use operators::{PrincipalLine, draw_cut, happens, mutate};
use population::{Draft, Population};
use replay::{Question, Replay};
use selection::Selector;

use super::{Budget, Evaluate, Found, Search, Stop, WIN_MIN};
use crate::play::EndedBy;
use crate::position::Position;
use crate::rng::Random;

/// The search, with the memory it keeps from one move of a game to the next: once it has grown,
/// nothing is allocated while it runs.
#[derive(Clone, Debug)]
pub struct GeneticMinimax<P: Position, E> {
    parameters: GeneticParameters,
    evaluation: E,
    tree: ReservationTree<P::Move>,
    principal: PrincipalLine<P::Move>,
    population: Population<P::Move>,
    offspring: Population<P::Move>,
    selector: Selector,
    draft: Draft<P::Move>,
    replay: Replay<P::Move>,
    /// The longest line in the tree, in plies.
    longest: usize,
}

/// An individual as [`GeneticMinimax::individuals`] shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Individual<M> {
    /// Its genes, from the searched position to its leaf.
    pub moves: Vec<M>,
    /// Its leaf in the reservation tree.
    pub leaf: NodeId,
    /// One plus the plies that its leaf's value climbs along its path.
    pub fitness: u32,
}

impl<P: Position, E: Evaluate<P>> GeneticMinimax<P, E> {
    /// A search with these parameters.
    ///
    /// # Panics
    /// If a parameter lies outside the range its documentation names.
    #[must_use]
    pub fn new(parameters: GeneticParameters, evaluation: E) -> Self {
        parameters.assert_in_range();
        Self {
            parameters,
            evaluation,
            tree: ReservationTree::new(),
            principal: PrincipalLine::new(),
            population: Population::new(),
            offspring: Population::new(),
            selector: Selector::default(),
            draft: Draft::new(),
            replay: Replay::new(),
            longest: 0,
        }
    }

    /// The reservation tree of the last search. Before the first one it is empty, without a root to
    /// ask it about.
    #[must_use]
    pub fn tree(&self) -> &ReservationTree<P::Move> {
        &self.tree
    }

    /// The last generation that the last search completed, each individual as fit as it is now.
    #[must_use]
    pub fn individuals(&self) -> Vec<Individual<P::Move>> {
        (0..self.population.len())
            .map(|index| {
                let leaf = self.population.leaf(index);
                let moves = self.population.individual(index).iter().map(|step| step.mv).collect();
                Individual { moves, leaf, fitness: self.tree.fitness(leaf) }
            })
            .collect()
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for GeneticMinimax<P, E> {
    fn search(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, Stop> {
        let legal_moves = root.legal_move_count();
        self.tree.reset(root.nth_legal_move(0), legal_moves, self.parameters.max_tree_nodes);
        self.principal.clear();
        self.population.clear();
        self.longest = 0;

        let ended_by = match self.evolve(root, budget, random) {
            Stop::Limit(ended_by) => ended_by,
            Stop::Aborted => return Err(Stop::Aborted),
        };
        let Some((mv, best)) = self.tree.best_child(NodeId::ROOT, self.parameters.min_visits)
        else {
            // A limit came before the first individual: nothing is known of any move.
            let mv = root.random_move(random);
            return Ok(Found { mv, depth: 0, score: None, ended_by });
        };
        let score = self.tree.value(best);
        // A complete tree in which nothing was evaluated, or a win or loss decides: no deeper
        // search can find another value.
        let is_proven =
            ended_by == EndedBy::Depth && (budget.evaluations() == 0 || score.abs() >= WIN_MIN);
        Ok(Found {
            mv,
            depth: self.longest as u32,
            score: Some(score),
            ended_by: if is_proven { EndedBy::Proven } else { ended_by },
        })
    }
}

impl<P: Position, E: Evaluate<P>> GeneticMinimax<P, E> {
    /// Makes generation after generation until something ends the search.
    fn evolve(&mut self, root: &P, budget: &mut Budget<'_>, random: &mut Random) -> Stop {
        let mut generations = 0;
        let mut stale_individuals = 0;
        loop {
            let leaves = self.tree.leaf_count();
            self.offspring.clear();
            let made = if generations == 0 {
                self.found_population(root, budget, random)
            } else {
                self.breed(root, budget, random)
            };
            if let Err(stop) = made {
                return stop;
            }
            std::mem::swap(&mut self.population, &mut self.offspring);

            generations += 1;
            stale_individuals = if self.tree.leaf_count() > leaves {
                0
            } else {
                stale_individuals + self.population.len()
            };
            if self.parameters.generations.is_some_and(|limit| generations >= limit)
                || stale_individuals >= GeneticParameters::STALE_INDIVIDUALS
            {
                return Stop::Limit(EndedBy::Generations);
            }
        }
    }

    /// The first generation: with `seed_root` one individual for every legal first move, in an
    /// order drawn by lot (a limit may come before the last of them), then random ones.
    fn found_population(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        if self.parameters.seed_root {
            let mut order: Vec<u32> = (0..root.legal_move_count()).collect();
            random.shuffle(&mut order);
            order.truncate(GeneticParameters::MAX_POPULATION as usize);
            for index in order {
                self.draft.begin_with(root.nth_legal_move(index));
                self.give_birth(root, budget, random)?;
            }
        }
        while self.offspring.len() < self.parameters.population as usize {
            self.draft.clear();
            self.give_birth(root, budget, random)?;
        }
        Ok(())
    }

    /// The next generation: the elite, then the children of drawn parents, two from each pair.
    fn breed(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        let GeneticParameters { selection, tournament_size, elites, population, .. } =
            self.parameters;
        let fitness = self.population.leaves().map(|leaf| self.tree.fitness(leaf));
        self.selector.prepare(selection, fitness);
        for &index in self.selector.fittest(elites.min(population) as usize) {
            self.offspring.push(self.population.individual(index as usize));
        }
        while self.offspring.len() < population as usize {
            let parents = [(); 2].map(|()| self.selector.draw(selection, tournament_size, random));
            let [first, second] = parents.map(|parent| self.population.individual(parent).len());
            let cut = if happens(self.parameters.crossover_rate, random) {
                draw_cut(first, second, random)
            } else {
                None
            };
            for [own, other] in [parents, [parents[1], parents[0]]] {
                if self.offspring.len() == population as usize {
                    break;
                }
                self.draft.copy(self.population.individual(own));
                if let Some(cut) = cut {
                    self.draft.cross(self.population.individual(other), cut);
                }
                if happens(self.parameters.mutation_rate, random) {
                    self.mutate(random);
                }
                self.give_birth(root, budget, random)?;
            }
        }
        Ok(())
    }

    /// Changes a gene of the draft, or makes it a refutation of the principal line.
    fn mutate(&mut self, random: &mut Random) {
        let refutes = self.parameters.refute > 0.0
            && happens(self.parameters.refute, random)
            && self.principal.refute(&self.tree, &mut self.draft, random);
        if !refutes {
            mutate(&mut self.draft, random);
        }
    }

    /// Makes the draft an individual of the coming generation: replays it unless it is a copy, and
    /// mutates it again if it should be new and is not.
    ///
    /// # Errors
    /// If a limit forbids it, or the whole game tree is known.
    fn give_birth(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        let Self { parameters, evaluation, tree, draft, replay, .. } = self;
        let question = Question {
            root,
            depth: parameters.depth as usize,
            evaluation: &*evaluation,
            avoid_known: parameters.reject_duplicates,
        };
        let mut tries = 0;
        loop {
            let is_new = !draft.is_copy() && replay.run(&question, draft, tree, budget, random)?;
            if is_new {
                self.longest = self.longest.max(draft.len());
                if tree.is_complete(NodeId::ROOT) {
                    return Err(Stop::Limit(EndedBy::Depth));
                }
                break;
            }
            if !parameters.reject_duplicates || tries == GeneticParameters::DUPLICATE_TRIES {
                break;
            }
            tries += 1;
            mutate(draft, random);
        }
        self.offspring.push(self.draft.steps());
        Ok(())
    }
}
