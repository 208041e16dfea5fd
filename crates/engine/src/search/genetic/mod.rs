//! Genetic minimax: a genetic algorithm whose individuals are lines of play.
//!
//! After Hong, Huang and Lin (2001), "Applying genetic algorithms to game search trees". An
//! individual is a sequence of moves from the searched position; a gene is a move, or the number of
//! one among the legal moves. Every individual
//! ever made stays in one [`ReservationTree`], where the value of its leaf is backed up by the
//! minimax rule as far as other individuals let it. That distance is its fitness, so the fittest
//! are those whose end both sides would play for, as far as the search has seen. The move played is
//! the best in the tree, not a gene of the last generation.
//!
//! `docs/genetic-minimax.md` describes the algorithm as built, its extensions of the paper, and the
//! effects of its parameters.

mod children;
mod graft;
mod leaf;
mod node;
mod operators;
mod parameters;
mod population;
mod principal;
mod selection;
mod tree;

pub use node::NodeId;
pub use parameters::{Encoding, GeneticParameters, Mutation, Selection};
pub use tree::ReservationTree;

use graft::{Graft, Question};
use leaf::LeafSearch;
use operators::{draw_cuts, happens, mutate, mutate_each};
use population::{Draft, Population, Step};
use principal::{PrincipalLine, Refutation, Replies};
use selection::Selector;

use std::cmp::Reverse;

use super::algorithm::{Algorithm, Maker, has_depth};
use super::{Budget, Evaluate, Found, NoMove, Search, Stop, WIN_MIN};
use crate::core::limits::EndedBy;
use crate::core::parameters::{AlgorithmInfo, Parameters, Settings, Value};
use crate::core::position::{Line, Position};
use crate::core::rng::Random;
use crate::core::score::WORST;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;

/// Genetic minimax as an algorithm.
pub(crate) struct GeneticPlay;

impl Algorithm for GeneticPlay {
    const INFO: AlgorithmInfo = parameters::INFO;

    fn draws_random_numbers(_settings: &Settings) -> bool {
        true
    }

    fn memory_bytes(parameters: &Parameters) -> u64 {
        parameters::memory_bytes(parameters)
    }

    fn has_full_tree(parameters: &Parameters) -> bool {
        has_depth(parameters) && parameters.get("deepen") != Some(&Value::Bool(true))
    }

    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P> {
        let parameters = GeneticParameters::from_settings(settings);
        Maker::new(move || Box::new(GeneticMinimax::new(parameters, evaluation.clone())))
    }
}

/// The search, with the memory it keeps from one move of a game to the next: once it has grown, it
/// allocates nothing during a search.
#[derive(Clone, Debug)]
pub struct GeneticMinimax<P: Position, E> {
    parameters: GeneticParameters,
    evaluation: E,
    tree: ReservationTree<P::Move>,
    principal: PrincipalLine<P::Move>,
    population: Population<P::Move>,
    offspring: Population<P::Move>,
    selector: Selector,
    /// The plies before which the present parents are cut; a field to reuse its memory.
    cuts: Vec<usize>,
    draft: Draft<P::Move>,
    graft: Graft<P::Move>,
    leaves: LeafSearch<P>,
    /// Current plies of search beyond the horizon: with `deepen` it grows.
    leaf_depth: u32,
    /// The best lines of the last tree, one for each first move, in descending order.
    seeds: Population<P::Move>,
    /// The longest line in the tree, in plies.
    longest: usize,
    /// The value of the best first move with a completely known subtree.
    floor: i32,
}

/// An individual, as returned by [`GeneticMinimax::individuals`].
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
            cuts: Vec::new(),
            draft: Draft::new(),
            graft: Graft::new(),
            leaves: LeafSearch::new(),
            leaf_depth: 0,
            seeds: Population::new(),
            longest: 0,
            floor: WORST,
        }
    }

    /// The reservation tree of the last search. Before the first one it is empty, without a root.
    #[must_use]
    pub fn tree(&self) -> &ReservationTree<P::Move> {
        &self.tree
    }

    /// The last generation that the last search completed, each individual with its current
    /// fitness.
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
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        self.leaves.path.begin(line);
        self.principal.forget_killers();
        self.seeds.clear();
        let leaf_depth = self.parameters.depth - self.parameters.plies_of_line();
        self.leaf_depth = if self.parameters.deepen { 0 } else { leaf_depth };
        let mut generations = 0;
        let mut settled = None;
        loop {
            let legal_moves = root.legal_move_count();
            self.tree.reset(root.nth_legal_move(0), legal_moves, self.parameters.max_tree_nodes)?;
            self.principal.clear();
            self.leaves.reset();
            self.population.clear();
            self.longest = 0;
            self.floor = WORST;
            let stop = self.evolve(root, &mut generations, budget, random);
            match (stop, self.decisive_move()) {
                (Stop::NoMove(reason), _) => return Err(reason),
                (Stop::Limit(EndedBy::Depth), Some((mv, best))) => {
                    let found = self.found(mv, best, EndedBy::Depth);
                    if found.ended_by == EndedBy::Proven || self.leaf_depth == leaf_depth {
                        return Ok(found);
                    }
                    settled = Some(found);
                    self.gather_seeds(mv);
                    self.leaf_depth += 1;
                }
                (Stop::Limit(limit), _) => return Ok(self.cut_off(root, settled, limit, random)),
            }
        }
    }
}

impl<P: Position, E: Evaluate<P>> GeneticMinimax<P, E> {
    /// The move that no further search can change: of a complete tree, or the principal one.
    fn decisive_move(&self) -> Option<(P::Move, NodeId)> {
        if self.tree.is_complete(NodeId::ROOT) {
            self.tree.best_child(NodeId::ROOT, self.parameters.min_visits)
        } else {
            self.principal.first()
        }
    }

    /// The tree's result for a move.
    fn found(&self, mv: P::Move, node: NodeId, ended_by: EndedBy) -> Found<P::Move> {
        let score = self.tree.value(node);
        // If nothing was evaluated, or a win or loss decides, no deeper search can change the
        // value.
        let is_proven =
            ended_by == EndedBy::Depth && (!self.leaves.saw_horizon() || score.abs() >= WIN_MIN);
        Found {
            mv,
            depth: self.longest as u32 + self.leaf_depth,
            score: Some(score),
            ended_by: if is_proven { EndedBy::Proven } else { ended_by },
        }
    }

    /// The move to play when a limit ends the search: the best move of the tree. If an earlier tree
    /// was settled: the best of the moves with completely known subtrees in this tree, provided that
    /// the earlier tree's move, which is searched first, is among them; otherwise the earlier tree's
    /// move.
    fn cut_off(
        &self,
        root: &P,
        settled: Option<Found<P::Move>>,
        limit: EndedBy,
        random: &mut Random,
    ) -> Found<P::Move> {
        if let Some(settled) = settled {
            let known = self.tree.children(NodeId::ROOT).filter(|&(_, n)| self.tree.is_complete(n));
            let best =
                known.max_by_key(|&(mv, n)| (self.tree.value(n), mv == settled.mv, Reverse(mv)));
            return match best {
                Some((mv, node))
                    if self
                        .tree
                        .find(NodeId::ROOT, settled.mv)
                        .is_ok_and(|n| self.tree.is_complete(n)) =>
                {
                    Found { depth: settled.depth, ..self.found(mv, node, limit) }
                }
                _ => Found { ended_by: limit, ..settled },
            };
        }
        match self.tree.best_child(NodeId::ROOT, self.parameters.min_visits) {
            Some((mv, node)) => self.found(mv, node, limit),
            // A limit came before the first individual: no move has a value.
            None => {
                let mv = root.random_move(random);
                Found { mv, depth: 0, score: None, ended_by: limit }
            }
        }
    }

    /// Whether no further search can change the best move: lines are a move and a reply, the tree
    /// has every reply to the best move, and the known replies to the others bound them above.
    fn is_settled(&self, root: &P) -> bool {
        let Some((_, best)) = self.principal.first() else { return false };
        let tree = &self.tree;
        self.parameters.deepen
            && self.parameters.plies_of_line() <= 2
            && tree.is_complete(best)
            && tree.child_count(NodeId::ROOT) == root.legal_move_count()
            && tree
                .children(NodeId::ROOT)
                .all(|(_, child)| tree.is_complete(child) || !tree.maximises(child))
    }

    /// Keeps the best line of each first move for the next tree: that of `best` first, the others
    /// by their values, then visits.
    fn gather_seeds(&mut self, best: P::Move) {
        let tree = &self.tree;
        let mut firsts: Vec<_> = tree.children(NodeId::ROOT).collect();
        firsts.sort_by_key(|&(mv, node)| {
            (mv != best, Reverse(tree.value(node)), Reverse(tree.visits(node)))
        });
        self.seeds.clear();
        let mut line = Vec::new();
        for (mv, node) in firsts {
            line.clear();
            line.push(Step { mv, branch: 0, node });
            tree.extend_best_line(&mut line);
            self.seeds.push(&line);
        }
    }

    /// Makes generations until a limit ends the search, or the next tree is due.
    fn evolve(
        &mut self,
        root: &P,
        generations: &mut u64,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Stop {
        let mut is_first = true;
        let mut stale_individuals = 0;
        loop {
            let leaves = self.tree.leaf_count();
            self.offspring.clear();
            let made = if is_first {
                self.found_population(root, budget, random)
            } else {
                self.breed(root, budget, random)
            };
            if let Err(stop) = made {
                return stop;
            }
            std::mem::swap(&mut self.population, &mut self.offspring);

            is_first = false;
            *generations += 1;
            stale_individuals = if self.tree.leaf_count() > leaves {
                0
            } else {
                stale_individuals + self.population.len()
            };
            if self.parameters.generations.is_some_and(|limit| *generations >= limit)
                || stale_individuals >= GeneticParameters::STALE_INDIVIDUALS
            {
                return Stop::Limit(EndedBy::Generations);
            }
        }
    }

    /// The first generation: the seeds from the last tree, if there was one. Otherwise, with `seed_root` one
    /// individual for every legal first move, in random order (a limit may come before the last of them),
    /// then random ones.
    fn found_population(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        if self.seeds.len() > 0 {
            for index in 0..self.seeds.len() {
                self.draft.follow(self.seeds.individual(index), 0);
                self.introduce(root, budget, random)?;
            }
            return Ok(());
        }
        if self.parameters.seed_root {
            let mut order: Vec<u32> = (0..root.legal_move_count()).collect();
            random.shuffle(&mut order);
            order.truncate(GeneticParameters::MAX_POPULATION as usize);
            for index in order {
                self.draft.begin_with(root.nth_legal_move(index));
                self.introduce(root, budget, random)?;
            }
        }
        while self.offspring.len() < self.parameters.population as usize {
            self.draft.clear();
            self.give_birth(root, budget, random)?;
        }
        Ok(())
    }

    /// Makes the draft an individual of the first generation. With `in_turn` the best move so far
    /// must then withstand every reply before the next individual comes.
    fn introduce(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        self.give_birth(root, budget, random)?;
        if !self.parameters.in_turn {
            return Ok(());
        }
        while self.refute(root, budget, random)? == Refutation::Drafted {
            self.give_birth(root, budget, random)?;
        }
        if let Some((_, best)) = self.principal.first()
            && self.tree.is_complete(best)
        {
            self.floor = self.floor.max(self.tree.value(best));
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
        let GeneticParameters {
            selection, elites, population, crossover_rate, mutation_rate, ..
        } = self.parameters;
        let fitness = self.population.leaves().map(|leaf| self.tree.fitness(leaf));
        self.selector.prepare(selection, fitness);
        for &index in self.selector.fittest(elites.min(population) as usize) {
            self.offspring.push(self.population.individual(index as usize));
        }
        while self.offspring.len() < population as usize {
            let parents = [(); 2].map(|()| self.selector.draw(&self.parameters, random));
            let [first, second] = parents.map(|parent| self.population.individual(parent).len());
            self.cuts.clear();
            if happens(crossover_rate, random) {
                let points = self.parameters.crossover_points;
                draw_cuts(&mut self.cuts, points, first.min(second), random);
            }
            for [own, other] in [parents, [parents[1], parents[0]]] {
                if self.offspring.len() == population as usize {
                    break;
                }
                self.draft.copy(self.population.individual(own));
                if !self.cuts.is_empty() {
                    self.draft.cross(self.population.individual(other), &self.cuts);
                }
                let is_mutated = match self.parameters.mutation {
                    Mutation::OneGene => happens(mutation_rate, random),
                    Mutation::EachGene => mutate_each(&mut self.draft, mutation_rate, random),
                };
                if is_mutated {
                    self.mutate(root, budget, random)?;
                }
                self.give_birth(root, budget, random)?;
            }
        }
        Ok(())
    }

    /// Changes the draft, whose genes are marked where each mutates by itself: marks one where it is
    /// one, or turns the draft into a refutation of the principal line.
    ///
    /// # Errors
    /// If a limit forbids it, or nothing is left to refute and the best move is settled.
    fn mutate(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        if self.parameters.refute > 0.0 && happens(self.parameters.refute, random) {
            match self.refute(root, budget, random)? {
                Refutation::Drafted => return Ok(()),
                Refutation::NothingOpen if self.is_settled(root) => {
                    return Err(Stop::Limit(EndedBy::Depth));
                }
                Refutation::NothingOpen => {}
            }
        }
        if self.parameters.mutation == Mutation::OneGene {
            mutate(&mut self.draft, random);
        }
        Ok(())
    }

    /// Turns the draft into a refutation of the principal line, if there is a reply left to try.
    fn refute(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Refutation, Stop> {
        let Self { parameters, evaluation, tree, draft, principal, .. } = self;
        let replies = Replies { root, evaluation: &*evaluation, in_order: parameters.order };
        principal.refute(&replies, tree, draft, budget, random)
    }

    /// Makes the draft an individual of the next generation: grafts it unless it is a copy, and
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
        let Self { parameters, evaluation, tree, draft, graft, leaves, .. } = self;
        let question = Question {
            root,
            line_plies: parameters.plies_of_line() as usize,
            evaluation: &*evaluation,
            leaf_depth: self.leaf_depth,
            floor: self.floor,
            avoid_known: parameters.reject_duplicates,
            by_branches: parameters.encoding == Encoding::Branches,
        };
        let mut tries = 0;
        loop {
            let is_new =
                !draft.is_copy() && graft.run(&question, draft, tree, leaves, budget, random)?;
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
        let killers = self.parameters.killers as usize;
        self.principal.learn(&self.tree, self.draft.steps(), killers);
        self.offspring.push(self.draft.steps());
        Ok(())
    }
}
