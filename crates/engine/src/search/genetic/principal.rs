//! Refutation: the principal line with another reply of the opponent.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::leaf::static_value;
use super::node::NodeId;
use super::population::{Draft, Step};
use super::tree::ReservationTree;
use crate::core::position::Position;
use crate::core::rng::Random;
use crate::search::{Budget, Evaluate, Stop, make_child};

/// The line on which each side plays its best known move, and the known replies to it.
#[derive(Clone, Debug)]
pub(super) struct PrincipalLine<M> {
    steps: Vec<Step<M>>,
    orders: Orders<M>,
    killers: Vec<M>,
    attack: Option<Attack>,
}

/// A refutation under test.
#[derive(Clone, Copy, Debug)]
struct Attack {
    ply: usize,
    /// The node of the opponent's reply.
    node: NodeId,
    /// Its value before.
    value: i32,
}

/// The order of replies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replies<'a, P, E> {
    pub(super) root: &'a P,
    pub(super) evaluation: &'a E,
    /// Whether replies come in the order of the static evaluation of the resulting positions.
    pub(super) in_order: bool,
}

/// Static orders of replies, kept by node.
#[derive(Clone, Debug)]
struct Orders<M> {
    moves: Vec<M>,
    /// The range of untried replies at each node.
    untried: BTreeMap<NodeId, Range<usize>>,
}

/// The outcome of a request for a refutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refutation {
    /// The draft is a refutation.
    Drafted,
    /// The tree has all replies on the principal line.
    NothingOpen,
}

/// The most replies kept in static orders. If there are more, all are dropped.
const MAX_ORDERED_REPLIES: usize = 1 << 22;

/// Their memory in bytes, at most.
pub(super) const ORDERED_BYTES_MAX: u64 = 8 * MAX_ORDERED_REPLIES as u64;

impl<M: Copy + Ord> PrincipalLine<M> {
    pub(super) const fn new() -> Self {
        Self { steps: Vec::new(), orders: Orders::new(), killers: Vec::new(), attack: None }
    }

    /// Call when the tree is emptied. Killers stay, since good replies remain good.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.orders.clear();
        self.attack = None;
    }

    /// Call when another position is searched.
    pub(super) fn forget_killers(&mut self) {
        self.killers.clear();
    }

    /// The first move and its node; `None` before there is a line.
    pub(super) fn first(&self) -> Option<(M, NodeId)> {
        self.steps.first().map(|step| (step.mv, step.node))
    }

    /// Makes a draft of the line with another reply of the opponent. The ply is drawn uniformly
    /// from those whose subtrees are not completely known; the reply is a killer that is not in the
    /// tree, or the first in static order that is not, or drawn when the draft is grafted.
    pub(super) fn refute<P: Position<Move = M>, E: Evaluate<P>>(
        &mut self,
        replies: &Replies<'_, P, E>,
        tree: &ReservationTree<M>,
        draft: &mut Draft<M>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Refutation, Stop> {
        self.attack = None;
        self.update(tree);
        let before = std::iter::once(NodeId::ROOT).chain(self.steps.iter().map(|step| step.node));
        let open = before
            .enumerate()
            .take(self.steps.len())
            .filter(|&(_, node)| !tree.maximises(node) && !tree.is_complete(node));
        let count = open.clone().count() as u32;
        if count == 0 {
            return Ok(Refutation::NothingOpen);
        }
        let Some((ply, node)) = open.clone().nth(random.below(count) as usize) else {
            return Ok(Refutation::NothingOpen);
        };
        draft.follow(&self.steps, self.steps.len());
        match self.choose(replies, ply, node, tree, budget)? {
            Some(mv) => draft.replace(ply, mv),
            None => draft.redraw(ply),
        }
        self.attack = Some(Attack { ply, node, value: tree.value(node) });
        Ok(Refutation::Drafted)
    }

    /// Call when the draft's result is in the tree: if it was a refutation and lowered its target's
    /// value, its reply becomes a killer.
    pub(super) fn learn(&mut self, tree: &ReservationTree<M>, line: &[Step<M>], killers: usize) {
        if let Some(Attack { ply, node, value }) = self.attack.take()
            && tree.value(node) != value
            && killers > 0
        {
            let reply = line[ply].mv;
            self.killers.retain(|&killer| killer != reply);
            self.killers.truncate(killers - 1);
            self.killers.insert(0, reply);
        }
    }

    /// A reply at a node, `ply` plies from the root, that is not in the tree; `None` if it is to be
    /// drawn at random.
    fn choose<P: Position<Move = M>, E: Evaluate<P>>(
        &mut self,
        replies: &Replies<'_, P, E>,
        ply: usize,
        node: NodeId,
        tree: &ReservationTree<M>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<M>, Stop> {
        let is_new = |mv: M| tree.find(node, mv).is_err();
        let lacks_order = replies.in_order && !self.orders.untried.contains_key(&node);
        let killers = self.killers.iter().copied().filter(|&mv| is_new(mv));
        if lacks_order || killers.clone().next().is_some() {
            let mut position = replies.root.clone();
            for step in &self.steps[..ply] {
                position = make_child(&position, step.mv, budget)?;
            }
            if let Some(killer) = killers.clone().find(|&mv| position.is_legal(mv)) {
                return Ok(Some(killer));
            }
            if lacks_order {
                self.orders.add(node, &position, ply as u32 + 1, replies.evaluation, budget)?;
            }
        }
        Ok(self.orders.next(node, is_new))
    }

    /// Keeps the line while its leaf's value is backed up to the root; otherwise finds another.
    fn update(&mut self, tree: &ReservationTree<M>) {
        let climbs = |leaf: &Step<M>| tree.fitness(leaf.node) as usize == self.steps.len() + 1;
        if self.steps.last().is_some_and(climbs) {
            return;
        }
        self.steps.clear();
        tree.extend_best_line(&mut self.steps);
    }
}

impl<M: Copy + Ord> Orders<M> {
    const fn new() -> Self {
        Self { moves: Vec::new(), untried: BTreeMap::new() }
    }

    fn clear(&mut self) {
        self.moves.clear();
        self.untried.clear();
    }

    /// Makes every reply (each is a node) and keeps them, the statically best for the mover first.
    fn add<P: Position<Move = M>, E: Evaluate<P>>(
        &mut self,
        node: NodeId,
        position: &P,
        ply: u32,
        evaluation: &E,
        budget: &mut Budget<'_>,
    ) -> Result<(), Stop> {
        if self.moves.len() >= MAX_ORDERED_REPLIES {
            self.clear();
        }
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        let mut valued = Vec::with_capacity(moves.len());
        for mv in moves {
            let child = make_child(position, mv, budget)?;
            // For the order alone: earlier positions are ignored.
            let leads_to = (&child, child.ending());
            valued.push((static_value(evaluation, position, leads_to, ply, budget)?, mv));
        }
        valued.sort_unstable_by_key(|&(value, mv)| (Reverse(value), mv));
        let start = self.moves.len();
        self.moves.extend(valued.into_iter().map(|(_, mv)| mv));
        self.untried.insert(node, start..self.moves.len());
        Ok(())
    }

    /// The next new reply at a node; `None` if the node has no order or it is used up.
    fn next(&mut self, node: NodeId, is_new: impl Fn(M) -> bool) -> Option<M> {
        let Self { moves, untried } = self;
        untried.get_mut(&node)?.map(|index| moves[index]).find(|&mv| is_new(mv))
    }
}
