//! Turns a draft into an individual: its moves are played from the root, illegal ones are replaced,
//! and the line is grafted onto the reservation tree.

use super::leaf::{LeafSearch, Window};
use super::node::NodeId;
use super::population::Draft;
use super::tree::{BestSibling, NewNode, ReservationTree};
use crate::core::limits::EndedBy;
use crate::core::position::Position;
use crate::core::rng::Random;
use crate::core::score;
use crate::search::path::Path;
use crate::search::{Budget, Evaluate, Stop};

/// All that determines a leaf's value and is constant during one search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a, P, E> {
    pub(super) root: &'a P,
    /// Plies to the end of an individual.
    pub(super) line_plies: usize,
    pub(super) evaluation: &'a E,
    /// Plies of alpha-beta search that value a leaf.
    pub(super) leaf_depth: u32,
    /// A lower bound on the value of the best first move: leaves up to here need no exact value.
    pub(super) floor: i32,
    /// Whether genes that lead to completely known subtrees are avoided.
    pub(super) avoid_known: bool,
    /// Whether genes are numbers of branches, and not moves.
    pub(super) by_branches: bool,
}

/// Turns drafts into individuals.
#[derive(Clone, Debug)]
pub(super) struct Graft<M> {
    /// The part of the line that is new to the tree; a field to reuse its memory.
    new: Vec<NewNode<M>>,
    /// Moves to completely known subtrees; a field to reuse its memory.
    complete: Vec<M>,
}

impl<M> Graft<M> {
    pub(super) const fn new() -> Self {
        Self { new: Vec::new(), complete: Vec::new() }
    }
}

impl<M: Copy + Ord> Graft<M> {
    /// Plays a draft from the root and ensures that its line is in the tree. Genes that are
    /// missing, marked or illegal at their place are drawn uniformly from the legal moves; the end
    /// of the game or the horizon makes the leaf. Returns whether the line is new.
    ///
    /// A branch's number is never illegal: it counts on from the first move after the last one. A
    /// line from the tree keeps its moves, and gets the numbers of their branches.
    ///
    /// A new leaf is valued once. The tree changes only at the very end, so a search may stop
    /// anywhere.
    ///
    /// # Errors
    /// If a limit forbids a move or the evaluation, or the tree is full.
    pub(super) fn run<P: Position<Move = M>, E: Evaluate<P>>(
        &mut self,
        question: &Question<'_, P, E>,
        draft: &mut Draft<M>,
        tree: &mut ReservationTree<M>,
        leaves: &mut LeafSearch<P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<bool, Stop> {
        let mut position = question.root.clone();
        let mut node = NodeId::ROOT;
        leaves.path.return_to_root();
        let lacks_numbers = question.by_branches && !draft.is_numbered();
        for ply in 0..draft.known().len() {
            let step = draft.known()[ply];
            if lacks_numbers {
                draft.number(ply, branch_of(&position, step.mv));
            }
            budget.enter()?;
            leaves.path.push(step.mv, Path::key_of(&position));
            position.play_unchecked(step.mv);
            node = step.node;
        }

        // While the tree has the moves, it also has the end of the game.
        let (vacancy, first_new) = loop {
            let ply = draft.known().len();
            let mut gene = question.express(draft, ply, &position, random);
            let mut found = tree.find(node, gene.mv);
            if gene.is_drawn
                && question.avoid_known
                && found.is_ok_and(|child| tree.is_complete(child))
                && !tree.is_complete(node)
            {
                gene = self.draw_open_move(&position, tree, node, random);
                found = tree.find(node, gene.mv);
            }
            let Gene { mv, branch, .. } = gene;
            budget.enter()?;
            leaves.path.push(mv, Path::key_of(&position));
            position.play_unchecked(mv);
            draft.express(ply, mv, branch);
            match found {
                Ok(child) => {
                    draft.settle(child);
                    if tree.is_leaf(child) {
                        draft.finish();
                        return Ok(false);
                    }
                    node = child;
                }
                Err(vacancy) => break (vacancy, mv),
            }
        };

        // From here on every position is new.
        let us = question.root.to_move();
        self.new.clear();
        let mut mv = first_new;
        let value = loop {
            let ply = draft.known().len() + self.new.len() + 1;
            let is_ours = position.to_move() == us;
            if let Some(ending) = leaves.path.ending(&position) {
                self.new.push(NewNode { mv, maximises: is_ours, legal_moves: 0 });
                break score::of_ending(ending, us, ply as u32);
            }
            if ply == question.line_plies {
                self.new.push(NewNode { mv, maximises: is_ours, legal_moves: 0 });
                // Only if there is a sibling can a bound replace the value.
                let parent = if self.new.len() == 1 { tree.best_sibling(vacancy) } else { None };
                break value_of_leaf(question, &position, is_ours, parent, leaves, budget)?;
            }
            let gene = question.express(draft, ply, &position, random);
            let legal_moves = gene.legal_moves.unwrap_or_else(|| position.legal_move_count());
            self.new.push(NewNode { mv, maximises: is_ours, legal_moves });
            mv = gene.mv;
            budget.enter()?;
            leaves.path.push(mv, Path::key_of(&position));
            position.play_unchecked(mv);
            draft.express(ply, mv, gene.branch);
        };
        if !tree.has_room(self.new.len()) {
            return Err(Stop::Limit(EndedBy::Nodes));
        }
        tree.graft(vacancy, &self.new, value, |node| draft.settle(node));
        draft.finish();
        Ok(true)
    }

    /// A legal move to a subtree that is not completely known, each equally likely. There must be
    /// one.
    fn draw_open_move<P: Position<Move = M>>(
        &mut self,
        position: &P,
        tree: &ReservationTree<M>,
        node: NodeId,
        random: &mut Random,
    ) -> Gene<M> {
        self.complete.clear();
        let complete = tree.children(node).filter(|&(_, child)| tree.is_complete(child));
        self.complete.extend(complete.map(|(mv, _)| mv));
        let place = random.below(tree.open_moves(node));
        // The open move preceded by `place` others: the first legal move up to which there are more
        // than `place` open ones.
        let mut low = place;
        let mut high = place + self.complete.len() as u32;
        while low < high {
            let middle = low.midpoint(high);
            let mv = position.nth_legal_move(middle);
            let complete = self.complete.partition_point(|&other| other <= mv) as u32;
            if middle + 1 - complete > place {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let (legal_moves, mv) = position.pick_move(|_| low);
        Gene { mv, branch: low, is_drawn: true, legal_moves: Some(legal_moves) }
    }
}

/// A gene in the position where it stands.
#[derive(Clone, Copy, Debug)]
struct Gene<M> {
    mv: M,
    /// Its move's place among the legal moves; meaningless where genes are moves.
    branch: u32,
    is_drawn: bool,
    /// Legal moves of the position, where they had to be counted.
    legal_moves: Option<u32>,
}

impl<P: Position, E> Question<'_, P, E> {
    /// The move that a draft's gene means in the position of its ply.
    #[inline(always)]
    fn express(
        &self,
        draft: &Draft<P::Move>,
        ply: usize,
        position: &P,
        random: &mut Random,
    ) -> Gene<P::Move> {
        let gene = draft.gene(ply);
        let (mut branch, mut is_drawn) = (0, false);
        if !self.by_branches || !draft.is_numbered() {
            if let Some(mv) = gene.map(|step| step.mv).filter(|&mv| position.is_legal(mv)) {
                if self.by_branches {
                    branch = branch_of(position, mv);
                }
                return Gene { mv, branch, is_drawn, legal_moves: None };
            }
            is_drawn = true;
        }
        let (legal_moves, mv) = position.pick_move(|legal_moves| {
            branch = match gene {
                Some(step) if !is_drawn && step.branch < legal_moves => step.branch,
                Some(step) if !is_drawn => step.branch % legal_moves,
                Some(_) | None => {
                    is_drawn = true;
                    random.below(legal_moves)
                }
            };
            branch
        });
        Gene { mv, branch, is_drawn, legal_moves: Some(legal_moves) }
    }
}

/// The place of a legal move among all in canonical order.
fn branch_of<P: Position>(position: &P, mv: P::Move) -> u32 {
    let mut low = 0;
    let mut high = position.legal_move_count();
    while low < high {
        let middle = low.midpoint(high);
        if position.nth_legal_move(middle) < mv {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The value of a new leaf at the horizon for the side to move at the root.
///
/// With a leaf search the value is exact if it is better for the parent's mover than the leaf's
/// siblings, and better than the floor. Otherwise the leaf never determines its parent's value,
/// since siblings stay, or never the root's: a bound suffices, and the stored value is worse by at
/// least one, so that it is not taken for an equal.
fn value_of_leaf<P: Position, E: Evaluate<P>>(
    question: &Question<'_, P, E>,
    leaf: &P,
    is_ours: bool,
    sibling: Option<BestSibling>,
    leaves: &mut LeafSearch<P>,
    budget: &mut Budget<'_>,
) -> Result<i32, Stop> {
    let mut window = Window::FULL;
    if question.leaf_depth > 0 {
        window.alpha = question.floor;
        match sibling {
            Some(BestSibling { value, maximises: true }) => {
                window.alpha = window.alpha.max(value);
            }
            Some(BestSibling { value, maximises: false }) => {
                window.beta = value;
                // A sibling may equal the floor: whether this one is worse decides a tie.
                window.alpha = window.alpha.max(score::WORST + 1) - 1;
            }
            None => {}
        }
    }
    let search = (question.leaf_depth, question.line_plies as u32);
    let value = if is_ours {
        leaves.value(question.evaluation, leaf, search, window, budget)?
    } else {
        -leaves.value(question.evaluation, leaf, search, window.negated(), budget)?
    };
    Ok(if window == Window::FULL {
        value
    } else if value >= window.beta {
        value.max(window.beta + 1)
    } else if value <= window.alpha {
        value.min(window.alpha - 1)
    } else {
        value
    })
}
