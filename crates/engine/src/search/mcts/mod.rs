//! Monte Carlo tree search: UCT (Kocsis & Szepesvári 2006, "Bandit based Monte-Carlo planning") with
//! the usual options (Browne et al. 2012, "A survey of Monte Carlo tree search methods").
//!
//! A simulation descends by the children's bounds, adds a position's first or next child, plays a
//! random game from there to its end, and counts the result at every move on the way. The root's
//! most visited move is played.
//!
//! # What is counted
//!
//! A node of the budget is a position made by a move, in the tree and in playouts alike; the test
//! for a winning move makes none. A simulation that a limit cuts off leaves no result.
//!
//! Every simulation makes a node, so every one of them checks the budget. If the root has nothing
//! left to search, since all its children are proven or the tree is full, the search ends as at a
//! node limit.
//!
//! # What is reported
//!
//! The depth is the length of the most visited line. The score is, in thousandths, the expected
//! result of the move played (1,000 a win, -1,000 a loss); with [`MctsParameters::solver`], a
//! proven value scores as a win or loss at the end of the proven line, which need not be the
//! shortest.

mod parameters;
mod tree;

pub use parameters::{Bound, Choice, MctsParameters, PlayoutPolicy};

use std::cmp::Reverse;

use super::algorithm::{Algorithm, Maker};
use super::path::Path;
use super::{Budget, Evaluate, Found, MemoryRefused, NoMove, Search, Stop};
use crate::core::limits::EndedBy;
use crate::core::parameters::{AlgorithmInfo, Parameters, Settings};
use crate::core::position::{Ending, Line, Position, Side};
use crate::core::rng::{PlayoutRandom, Random};
use crate::core::score;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;
use tree::{Child, Known, Tree};

/// Monte Carlo tree search as an algorithm.
pub(crate) struct MctsPlay;

impl Algorithm for MctsPlay {
    const INFO: AlgorithmInfo = parameters::INFO;

    fn draws_random_numbers(_settings: &Settings) -> bool {
        true
    }

    fn memory_bytes(parameters: &Parameters) -> u64 {
        parameters::memory_bytes(parameters)
    }

    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P> {
        let parameters = MctsParameters::from_settings(settings);
        Maker::new(move || Box::new(Mcts::new(parameters, evaluation.clone())))
    }
}

/// Monte Carlo tree search with an evaluation for playouts that are cut off.
#[derive(Debug)]
pub struct Mcts<P: Position, E> {
    parameters: MctsParameters,
    evaluation: E,
    tree: Tree<P::Move>,
    /// The position after the move played last, and its node.
    kept: Option<(P, u32)>,
    /// The path of the simulation in progress.
    way: Vec<Step<P::Move>>,
    /// The same, including the moves before the root.
    path: Path<P>,
}

/// A move on the way down.
#[derive(Clone, Copy, Debug)]
struct Step<M> {
    node: u32,
    /// The child's place among the node's children.
    place: u32,
    mv: M,
    /// Whether a known draw is worth more to the mover than this child.
    draws: bool,
}

/// The result of a simulation.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    /// 1 if the first side wins, 0 if the second does.
    result: f64,
    /// The proven value of the last position, for the first side, with the plies from the move that led
    /// there.
    known: Known,
}

impl<P: Position, E: Evaluate<P>> Search<P> for Mcts<P, E> {
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        self.path.begin(line);
        let mut playout_random = PlayoutRandom::from_seed(random.seed());
        if self.parameters.playout == PlayoutPolicy::Decisive
            && let Some(mv) = root.winning_move()
            && budget.enter().is_ok()
        {
            let score = Some(score::won_in(1));
            return Ok(Found { mv, depth: 1, score, ended_by: EndedBy::Proven });
        }
        let node = self.node_of_root(root, &mut playout_random)?;
        let ended_by = match self.simulate_until_stopped(root, node, budget, &mut playout_random) {
            Ok(ended_by) | Err(Stop::Limit(ended_by)) => ended_by,
            Err(Stop::NoMove(reason)) => return Err(reason),
        };
        let found = self.choose(root, node, ended_by);
        self.keep_for_next_move(root, node, found.mv);
        Ok(found)
    }
}

impl<P: Position, E: Evaluate<P>> Mcts<P, E> {
    /// A search with these parameters.
    ///
    /// # Panics
    /// If a parameter lies outside the range its documentation names.
    #[must_use]
    pub fn new(parameters: MctsParameters, evaluation: E) -> Self {
        parameters.assert_in_range();
        Self {
            parameters,
            evaluation,
            tree: Tree::new(),
            kept: None,
            way: Vec::new(),
            path: Path::new(),
        }
    }

    /// Number of children in the tree, including those of abandoned lines whose memory is not
    /// reclaimed yet.
    #[must_use]
    pub fn tree_size(&self) -> usize {
        self.tree.places()
    }

    /// The root's node: the last search's node of this position, or a new one.
    ///
    /// Only a position that follows the move played last, with or without a reply, is looked up;
    /// after a forced reply the tree starts afresh.
    fn node_of_root(&mut self, root: &P, random: &mut PlayoutRandom) -> Result<u32, MemoryRefused> {
        if let Some(node) = self.kept_node(root)
            // What is kept may have no child to visit and no free block for another one.
            && (self.tree.known_of(node) != Known::No || self.select(node).is_some())
        {
            return Ok(node);
        }
        self.tree.reset(self.parameters.max_tree_nodes, root.nth_legal_move(0))?;
        let node = self.tree.add_node(root.to_move(), root.legal_move_count(), random);
        Ok(node.unwrap_or_default())
    }

    /// The root's node in the tree of the last move.
    fn kept_node(&mut self, root: &P) -> Option<u32> {
        let (position, node) = self.kept.take()?;
        if position == *root {
            return Some(node);
        }
        let leads_to_root = |child: &Child<P::Move>| {
            let mut reply = position.clone();
            reply.play_unchecked(child.mv);
            reply == *root
        };
        // Several replies may lead to one position, each with a node of its own.
        let replies = self.tree.children(node).iter();
        let same = replies.filter(|child| child.node().is_some() && leads_to_root(child));
        let below = same.max_by_key(|child| child.visits)?.node()?;
        self.tree.give_up(node, Some(below));
        Some(below)
    }

    fn keep_for_next_move(&mut self, root: &P, node: u32, mv: P::Move) {
        if !self.parameters.reuse {
            return;
        }
        let played = self.tree.children(node).iter().find(|child| child.mv == mv);
        if let Some(below) = played.and_then(Child::node) {
            let mut position = root.clone();
            position.play_unchecked(mv);
            self.tree.give_up(node, Some(below));
            self.kept = Some((position, below));
        }
    }

    fn simulate_until_stopped(
        &mut self,
        root: &P,
        node: u32,
        budget: &mut Budget<'_>,
        random: &mut PlayoutRandom,
    ) -> Result<EndedBy, Stop> {
        let mut simulations = 0;
        while !self.parameters.solver || self.tree.known_of(node) == Known::No {
            if self.parameters.simulations.is_some_and(|limit| simulations >= limit) {
                return Ok(EndedBy::Simulations);
            }
            self.simulate(root, node, budget, random)?;
            simulations += 1;
        }
        Ok(EndedBy::Proven)
    }

    fn simulate(
        &mut self,
        root: &P,
        node: u32,
        budget: &mut Budget<'_>,
        random: &mut PlayoutRandom,
    ) -> Result<(), Stop> {
        let mut position = root.clone();
        self.descend(&mut position, node, budget, random)?;
        if self.way.is_empty() {
            // It would make no node, so it would never check the clock, and would find nothing.
            return Err(Stop::Limit(EndedBy::Nodes));
        }
        let verdict = match self.path.ending(&position) {
            Some(ending) => Verdict::of_ending(ending),
            None => self.play_out(&position, budget, random)?,
        };
        self.back_up(verdict);
        Ok(())
    }

    /// Descends by the children's bounds to a new child, or to a node without continuation.
    fn descend(
        &mut self,
        position: &mut P,
        root: u32,
        budget: &mut Budget<'_>,
        random: &mut PlayoutRandom,
    ) -> Result<(), Stop> {
        self.way.clear();
        self.path.return_to_root();
        let mut node = root;
        while let Some((place, draws)) = self.select(node) {
            let is_new = place == self.tree.node(node).children;
            let mv = if is_new {
                position.nth_legal_move(self.tree.next_move_index(node))
            } else {
                self.tree.child(node, place).mv
            };
            budget.enter()?;
            self.path.push(mv, Path::key_of(position));
            position.play_unchecked(mv);
            self.way.push(Step { node, place, mv, draws });
            if is_new || self.path.is_over(position) {
                break;
            }
            let child = self.tree.child(node, place);
            node = match child.node() {
                Some(below) => below,
                None if child.visits < self.parameters.expand_visits => break,
                None => {
                    let (mover, moves) = (position.to_move(), position.legal_move_count());
                    let Some(below) = self.tree.add_node(mover, moves, random) else { break };
                    self.tree.set_node_of(node, place, below);
                    below
                }
            };
        }
        Ok(())
    }

    /// The index of the child to visit: past the last, for a new one, if no other is more urgent
    /// and there is room; `None` if there is none. Also whether a known draw is more urgent than
    /// that.
    ///
    /// A known draw is an arm like any other, except that visiting it finds nothing: the visit
    /// counts as a draw, and the simulation visits the most urgent of the others.
    fn select(&mut self, node: u32) -> Option<(u32, bool)> {
        let &tree::Node { children, legal_moves, has_draw, draws, .. } = self.tree.node(node);
        let (place, urgency) = match children {
            0 => (0, -1.0),
            _ => self.most_urgent(node),
        };
        let draw = if has_draw { self.urgency_of_draw(node, draws) } else { -1.0 };
        let first_play = self.parameters.first_play_urgency as f32;
        let is_untried = legal_moves > children;
        if is_untried && (urgency < first_play || children == 0) && self.tree.has_room_at(node) {
            Some((children, draw > first_play))
        } else {
            (urgency >= 0.0).then_some((place, draw > urgency))
        }
    }

    fn most_urgent(&self, node: u32) -> (u32, f32) {
        match self.parameters.bound {
            Bound::Ucb1 => self.tree.most_urgent(node, self.ucb1_factor(node)),
            Bound::Ucb1Tuned => {
                self.tree.most_urgent_tuned(node, self.ln_visits(node), self.parameters.exploration)
            }
        }
    }

    fn urgency_of_draw(&self, node: u32, draws: u32) -> f32 {
        let visits = f64::from(draws.max(1));
        match self.parameters.bound {
            Bound::Ucb1 => 0.5 + self.ucb1_factor(node) * (1.0 / visits.sqrt()) as f32,
            Bound::Ucb1Tuned => {
                let bound = tree::tuned_bound(self.ln_visits(node) / visits, 0.0);
                (0.5 + self.parameters.exploration * bound) as f32
            }
        }
    }

    fn ucb1_factor(&self, node: u32) -> f32 {
        (self.parameters.exploration * self.ln_visits(node).sqrt()) as f32
    }

    fn ln_visits(&self, node: u32) -> f64 {
        libm::log(f64::from(self.tree.node(node).visits))
    }

    /// Plays from a position that is not over.
    fn play_out(
        &self,
        start: &P,
        budget: &mut Budget<'_>,
        random: &mut PlayoutRandom,
    ) -> Result<Verdict, Stop> {
        let is_decisive = self.parameters.playout == PlayoutPolicy::Decisive;
        if is_decisive && start.winning_move().is_some() {
            budget.enter()?;
            return Ok(match start.to_move() {
                Side::First => Verdict { result: 1.0, known: Known::Win(2) },
                Side::Second => Verdict { result: 0.0, known: Known::Loss(2) },
            });
        }
        let mut sum = 0.0;
        for _ in 0..self.parameters.playouts {
            let mut position = start.clone();
            let mut plies_left = self.parameters.playout_plies;
            while plies_left > 0 && !position.is_over() {
                plies_left -= budget.enter_run(|room| {
                    let plies_max = room.min(plies_left);
                    if is_decisive {
                        position.play_decisively(random, plies_max)
                    } else {
                        position.play_randomly(random, plies_max)
                    }
                })?;
            }
            sum += match position.ending() {
                Some(ending) => Verdict::of_ending(ending).result,
                None => self.evaluate(&position, budget)?,
            };
        }
        Ok(Verdict { result: sum / f64::from(self.parameters.playouts), known: Known::No })
    }

    /// The static evaluation as a chance that the first side wins.
    fn evaluate(&self, position: &P, budget: &mut Budget<'_>) -> Result<f64, Stop> {
        budget.evaluate()?;
        let value = f64::from(self.evaluation.evaluate(position));
        let result = 1.0 / (1.0 + libm::exp(-value / self.parameters.evaluation_scale));
        Ok(for_side(position.to_move(), result))
    }

    /// Counts a simulation's result at every move of its path, and propagates proven values upwards
    /// (Winands, Björnsson & Saito 2008, "Monte-Carlo tree search solver"; draws as by Cazenave &
    /// Saffidine 2010, "Score bounded Monte-Carlo tree search").
    fn back_up(&mut self, verdict: Verdict) {
        // For the first side; a node's children have it for the mover.
        let Verdict { mut result, mut known } = verdict;
        if !self.parameters.solver {
            known = Known::No;
        }
        for index in (0..self.way.len()).rev() {
            let Step { node, place, mv, draws } = self.way[index];
            let at = self.tree.node(node);
            let mover = at.mover;
            if place == at.children {
                self.tree.add_child(node, mv);
            }
            self.tree.count_result(node, place, for_side(mover, result));
            if draws {
                self.tree.count_draw(node);
                result = 0.5;
            }
            if known != Known::No {
                known = self.tree.set_known(node, place, known.for_side(mover));
                known = known.for_side(mover).a_ply_later();
            }
        }
    }

    /// The move to play.
    fn choose(&self, root: &P, node: u32, ended_by: EndedBy) -> Found<P::Move> {
        let children = self.tree.children(node);
        let untried = self.tree.node(node).legal_moves > self.tree.node(node).children;
        let best = best_child(children, self.tree.node(node).draws, self.parameters.choice);
        let all_lose = best.is_some_and(|child| matches!(child.known, Known::Loss(_)));
        let Some(best) = best.filter(|_| !(untried && all_lose)) else {
            // Nothing is proven of this move, which is better than a loss.
            let mv = root.nth_legal_move(self.tree.next_move_index(node));
            return Found { mv, depth: 0, score: None, ended_by };
        };
        let score = match best.known {
            Known::Win(plies) => score::won_in(u32::from(plies)),
            Known::Draw => 0,
            Known::Loss(plies) => -score::won_in(u32::from(plies)),
            Known::No => ((2.0 * best.mean() - 1.0) * 1_000.0).round() as i32,
        };
        let depth = self.most_visited_line(best);
        Found { mv: best.mv, depth, score: Some(score), ended_by }
    }

    fn most_visited_line(&self, first: &Child<P::Move>) -> u32 {
        let mut plies = 1;
        let mut node = first.node();
        while let Some(at) = node {
            let draws = self.tree.node(at).draws;
            let best = best_child(self.tree.children(at), draws, Choice::Robust);
            let Some(child) = best else { break };
            plies += 1;
            node = child.node();
        }
        plies
    }
}

/// A win in the fewest plies; else, among moves that do not lose, the most visited or the one with
/// the best mean; else the longest loss. Ties go to the better other figure, then to the first. A
/// known draw has all the visits that were counted as draws.
fn best_child<M>(children: &[Child<M>], draws: u32, choice: Choice) -> Option<&Child<M>> {
    let known = |child: &Child<M>| match child.known {
        Known::Win(plies) => (2, -i32::from(plies)),
        Known::No | Known::Draw => (1, 0),
        Known::Loss(plies) => (0, i32::from(plies)),
    };
    let places = children.iter().enumerate();
    let best = places.max_by(|(place, child), (other_place, other)| {
        let [visits, other_visits] = [child, other].map(|child| match child.known {
            Known::Draw => draws.max(child.visits),
            Known::No | Known::Win(_) | Known::Loss(_) => child.visits,
        });
        let visits = visits.cmp(&other_visits);
        let mean = child.mean().total_cmp(&other.mean());
        let by_choice = match choice {
            Choice::Robust => visits.then(mean),
            Choice::Max => mean.then(visits),
        };
        let first = Reverse(place).cmp(&Reverse(other_place));
        known(child).cmp(&known(other)).then(by_choice).then(first)
    });
    best.map(|(_, child)| child)
}

/// Converts a result between the first side and this side.
fn for_side(side: Side, result: f64) -> f64 {
    match side {
        Side::First => result,
        Side::Second => 1.0 - result,
    }
}

impl Verdict {
    fn of_ending(ending: Ending) -> Self {
        match ending.winner {
            Some(Side::First) => Self { result: 1.0, known: Known::Win(1) },
            None => Self { result: 0.5, known: Known::Draw },
            Some(Side::Second) => Self { result: 0.0, known: Known::Loss(1) },
        }
    }
}

impl Known {
    /// Converts a proven value between the first side and this side.
    const fn for_side(self, side: Side) -> Self {
        match (side, self) {
            (Side::First, known) | (Side::Second, known @ (Self::No | Self::Draw)) => known,
            (Side::Second, Self::Win(plies)) => Self::Loss(plies),
            (Side::Second, Self::Loss(plies)) => Self::Win(plies),
        }
    }

    const fn a_ply_later(self) -> Self {
        match self {
            Self::Win(plies) => Self::Win(plies.saturating_add(1)),
            Self::Loss(plies) => Self::Loss(plies.saturating_add(1)),
            Self::No | Self::Draw => self,
        }
    }
}
