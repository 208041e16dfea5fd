//! Refutation: the principal line with another reply of the opponent's.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::leaf::static_value;
use super::node::NodeId;
use super::population::{Draft, Step};
use super::tree::ReservationTree;
use crate::core::position::Position;
use crate::core::rng::Random;
use crate::search::{Budget, Evaluate, Stop, made};

/// The line on which each side plays its best known move, and what is known of replies to it.
#[derive(Clone, Debug)]
pub(super) struct PrincipalLine<M> {
    steps: Vec<Step<M>>,
    orders: Orders<M>,
    killers: Vec<M>,
    attack: Option<Attack>,
}

/// A refutation on trial.
#[derive(Clone, Copy, Debug)]
struct Attack {
    ply: usize,
    /// Where the opponent replies.
    node: NodeId,
    /// What it was worth before.
    value: i32,
}

/// How replies are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replies<'a, P, E> {
    pub(super) root: &'a P,
    pub(super) evaluation: &'a E,
    /// Whether replies come in the order of the static evaluation of where they lead.
    pub(super) in_order: bool,
}

/// Static orders of replies, kept by node.
#[derive(Clone, Debug)]
struct Orders<M> {
    moves: Vec<M>,
    /// Where the replies at a node lie that are still to be tried.
    untried: BTreeMap<NodeId, Range<usize>>,
}

/// What became of the wish to refute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refutation {
    /// The draft is one.
    Drafted,
    /// The tree knows all replies on the principal line.
    NothingOpen,
}

/// Replies in static orders that are kept at most. All are forgotten when there are more.
const MAX_ORDERED_REPLIES: usize = 1 << 22;

/// Bytes of memory that they take at most.
pub(super) const ORDERED_BYTES_MAX: u64 = 8 * MAX_ORDERED_REPLIES as u64;

impl<M: Copy + Ord> PrincipalLine<M> {
    pub(super) const fn new() -> Self {
        Self { steps: Vec::new(), orders: Orders::new(), killers: Vec::new(), attack: None }
    }

    /// To be called when the tree is emptied. Killers stay, as good replies do.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.orders.clear();
        self.attack = None;
    }

    /// To be called when another position is searched.
    pub(super) fn forget_killers(&mut self) {
        self.killers.clear();
    }

    /// The first move and the node that it leads to; none before there is a line.
    pub(super) fn first(&self) -> Option<(M, NodeId)> {
        self.steps.first().map(|step| (step.mv, step.node))
    }

    /// Makes a draft of the line in which one reply of the opponent's is another one. The ply is
    /// drawn uniformly from those after which the tree does not know everything yet; the reply is
    /// a killer that is not in the tree, or the first in static order that is not, or drawn when
    /// the draft is grafted.
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
        draft.copy(&self.steps);
        match self.choose(replies, ply, node, tree, budget)? {
            Some(mv) => draft.replace(ply, mv),
            None => draft.redraw(ply),
        }
        self.attack = Some(Attack { ply, node, value: tree.value(node) });
        Ok(Refutation::Drafted)
    }

    /// To be called when what became of the draft is in the tree: if it was a refutation and
    /// lowered what it was aimed at, its reply is a killer from now on.
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

    /// A reply at a node, `ply` plies from the root, that is not in the tree; none if it is to be
    /// drawn by lot.
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
                position = made(&position, step.mv, budget)?;
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

    /// Keeps the line while its leaf's value climbs to the root, and finds another if it does not.
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

    /// Makes every reply (each is a node) and keeps them, the statically best for who moves first.
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
            let child = made(position, mv, budget)?;
            // For the order alone: what came before the position is not asked.
            let leads_to = (&child, child.ending());
            valued.push((static_value(evaluation, position, leads_to, ply, budget)?, mv));
        }
        valued.sort_unstable_by_key(|&(value, mv)| (Reverse(value), mv));
        let start = self.moves.len();
        self.moves.extend(valued.into_iter().map(|(_, mv)| mv));
        self.untried.insert(node, start..self.moves.len());
        Ok(())
    }

    /// The next reply at a node that is new; none if the node has no order or it is used up.
    fn next(&mut self, node: NodeId, is_new: impl Fn(M) -> bool) -> Option<M> {
        let Self { moves, untried } = self;
        untried.get_mut(&node)?.map(|index| moves[index]).find(|&mv| is_new(mv))
    }
}
