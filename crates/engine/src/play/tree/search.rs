//! The tree searches, with a record of all their steps.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{
    Branch, Cutoff, GameTree, Join, NodeId, NodeKind, TreeAlgorithm, TreeError, TreeNode,
    TreeOptions, Value, ValueBound, WinScore,
};
use crate::core::knowledge::Knowledge;
use crate::core::position::Side;
use crate::core::score;
use crate::evaluation::Evaluate;
use crate::search::path::Path;

/// Searches from a position and keeps the tree. A position that is over, or is searched to depth 0, is a tree
/// of one node. The thread needs [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
///
/// # Errors
/// If the tree is larger than allowed, or positions cannot be joined as requested.
pub fn grow<P: Knowledge, E: Evaluate<P>>(
    root: &P,
    evaluation: &E,
    options: &TreeOptions,
) -> Result<GameTree<P>, TreeError> {
    if options.join != Join::None && P::HISTORY_MATTERS {
        return Err(TreeError::HistoryMatters);
    }
    if options.join == Join::Symmetric && !evaluation.is_symmetric() {
        return Err(TreeError::EvaluationIsAsymmetric);
    }
    let mut grower = Grower {
        evaluation,
        options,
        max: root.to_move(),
        tree: GameTree { nodes: Vec::new(), branches: Vec::new() },
        known: BTreeMap::new(),
        values: BTreeMap::new(),
        path: Path::new(),
        visits: 0,
    };
    let root = grower.add(root.clone(), 0);
    grower.visit(root, Window::of_root(options.algorithm))?;
    Ok(grower.tree)
}

struct Grower<'a, P: Knowledge, E> {
    evaluation: &'a E,
    options: &'a TreeOptions,
    /// The side to move at the root.
    max: Side,
    tree: GameTree<P>,
    /// If positions are joined, the node of each by its ply and key.
    known: BTreeMap<(u32, u64), NodeId>,
    /// If the best moves come first, the exact value of each position by its ply and key.
    values: BTreeMap<(u32, u64), i32>,
    path: Path<P>,
    visits: usize,
}

/// What MAX has already (alpha) and what MIN allows (beta). Values between them matter.
#[derive(Clone, Copy, Debug)]
struct Window {
    alpha: i32,
    beta: i32,
}

impl Window {
    /// No bounds: every score lies between.
    const WHOLE: Self = Self { alpha: i32::MIN, beta: i32::MAX };

    const fn of_root(algorithm: TreeAlgorithm) -> Self {
        match algorithm {
            TreeAlgorithm::Minimax
            | TreeAlgorithm::AlphaBeta
            | TreeAlgorithm::AlphaBetaBest
            | TreeAlgorithm::AlphaBetaWorst
            | TreeAlgorithm::OneBound => Self::WHOLE,
            TreeAlgorithm::OneBoundMisprint => Self { beta: i32::MIN, ..Self::WHOLE },
        }
    }

    /// The window for a child, from the given one and the best value so far.
    const fn window_for_child(self, algorithm: TreeAlgorithm, is_max: bool) -> Self {
        match algorithm {
            TreeAlgorithm::Minimax => Self::WHOLE,
            TreeAlgorithm::AlphaBeta
            | TreeAlgorithm::AlphaBetaBest
            | TreeAlgorithm::AlphaBetaWorst => self,
            TreeAlgorithm::OneBound | TreeAlgorithm::OneBoundMisprint if is_max => {
                Self { beta: Self::WHOLE.beta, ..self }
            }
            TreeAlgorithm::OneBound | TreeAlgorithm::OneBoundMisprint => {
                Self { alpha: Self::WHOLE.alpha, ..self }
            }
        }
    }

    /// The value that a fail-soft search in this window returned.
    const fn value(self, score: i32) -> Value {
        let bound = if score >= self.beta {
            ValueBound::AtLeast
        } else if score <= self.alpha {
            ValueBound::AtMost
        } else {
            ValueBound::Exact
        };
        Value { score, bound }
    }

    /// Whether another search in this window would not find more.
    const fn is_answered_by(self, value: Value) -> bool {
        match value.bound {
            ValueBound::Exact => true,
            ValueBound::AtLeast => value.score >= self.beta,
            ValueBound::AtMost => value.score <= self.alpha,
        }
    }

    /// The bound that a node's best value so far has reached, if it has.
    const fn cutoff(self, best: i32, is_max: bool) -> Option<Cutoff> {
        if is_max && best >= self.beta {
            Some(match self.beta {
                i32::MIN => Cutoff::Misprint,
                beta => Cutoff::Beta(beta),
            })
        } else if !is_max && best <= self.alpha {
            Some(Cutoff::Alpha(self.alpha))
        } else {
            None
        }
    }
}

impl<P: Knowledge, E: Evaluate<P>> Grower<'_, P, E> {
    fn add(&mut self, position: P, ply: u32) -> NodeId {
        let kind = self.kind(&position, ply);
        // Replaced by the visit that follows.
        let value = Value { score: 0, bound: ValueBound::Exact };
        let branches = 0..0;
        let node =
            TreeNode { position, ply, kind, visits: 0, value, cutoff: None, best: None, branches };
        self.tree.nodes.push(node);
        self.tree.nodes.len() - 1
    }

    /// Whether and why the search ends at a position.
    fn kind(&mut self, position: &P, ply: u32) -> NodeKind {
        match self.path.ending(position) {
            Some(ending) => NodeKind::Over(ending),
            None if self.options.depth == Some(ply) => NodeKind::Horizon,
            None => NodeKind::Inner,
        }
    }

    /// The value of a node in a window.
    fn visit(&mut self, id: NodeId, window: Window) -> Result<i32, TreeError> {
        if self.visits == self.options.visits_max {
            return Err(TreeError::TooLarge(self.options.visits_max));
        }
        self.visits += 1;
        let node = &mut self.tree.nodes[id];
        node.visits += 1;
        if let Some(score) = self.leaf_score(id) {
            self.tree.nodes[id].value = Value { score, bound: ValueBound::Exact };
            return Ok(score);
        }
        self.list_branches(id)?;

        let is_max = self.tree.is_max(id);
        let branches = self.tree.nodes[id].branches.clone();
        let mut inner = window;
        let mut best: Option<(i32, usize)> = None;
        let mut cutoff = None;
        for branch in branches.clone() {
            let window_for_child = inner.window_for_child(self.options.algorithm, is_max);
            let value = self.follow(id, branch, window_for_child)?;
            let (best_value, _) = match best {
                Some((best, at)) if is_max && value <= best || !is_max && value >= best => {
                    (best, at)
                }
                Some(_) | None => *best.insert((value, branch)),
            };
            if is_max {
                inner.alpha = inner.alpha.max(best_value);
            } else {
                inner.beta = inner.beta.min(best_value);
            }
            let is_last = branch + 1 == branches.end;
            cutoff = window.cutoff(best_value, is_max).filter(|_| !is_last);
            if cutoff.is_some() {
                break;
            }
        }
        let Some((score, best)) = best else { unreachable!("a position that goes on has a move") };
        let is_exact = cutoff.is_none() && self.is_exact(branches, best, is_max);
        let node = &mut self.tree.nodes[id];
        node.value = match is_exact {
            true => Value { score, bound: ValueBound::Exact },
            false => window.value(score),
        };
        node.cutoff = cutoff;
        node.best = Some(best);
        Ok(score)
    }

    /// If all branches were tried: whether the value is exact regardless of the window. The best
    /// one's must be exact, and no other may be better than its bound.
    fn is_exact(&self, branches: Range<usize>, best: usize, is_max: bool) -> bool {
        let open = if is_max { ValueBound::AtLeast } else { ValueBound::AtMost };
        branches.into_iter().all(|branch| {
            let child = self.tree.branches[branch].child;
            let bound = child.map(|child| self.tree.nodes[child].value.bound);
            bound == Some(ValueBound::Exact)
                || branch != best && bound.is_some_and(|bound| bound != open)
        })
    }

    /// The value of a node that is not searched.
    fn leaf_score(&self, id: NodeId) -> Option<i32> {
        let node = &self.tree.nodes[id];
        (node.kind != NodeKind::Inner).then(|| self.score_of(&node.position, node.ply, node.kind))
    }

    /// The value of a position at which the search ends; 0 where it goes on.
    fn score_of(&self, position: &P, ply: u32, kind: NodeKind) -> i32 {
        match kind {
            NodeKind::Inner => 0,
            NodeKind::Horizon => {
                let score = self.evaluation.evaluate(position);
                score::for_mover(self.max, position.to_move(), score)
            }
            NodeKind::Over(ending) => {
                let plies = match self.options.wins {
                    WinScore::Equal => 0,
                    WinScore::SoonerIsBetter => ply,
                };
                score::of_ending(ending, self.max, plies)
            }
        }
    }

    /// Lists a node's branches, if no earlier visit has.
    fn list_branches(&mut self, id: NodeId) -> Result<(), TreeError> {
        let node = &self.tree.nodes[id];
        if !node.branches.is_empty() {
            return Ok(());
        }
        let mut moves = Vec::new();
        node.position.legal_moves(&mut moves);
        match self.options.algorithm {
            TreeAlgorithm::AlphaBetaBest => moves = self.by_value(id, moves, true)?,
            TreeAlgorithm::AlphaBetaWorst => moves = self.by_value(id, moves, false)?,
            TreeAlgorithm::Minimax
            | TreeAlgorithm::AlphaBeta
            | TreeAlgorithm::OneBound
            | TreeAlgorithm::OneBoundMisprint => {}
        }
        let begin = self.tree.branches.len();
        // If positions are joined, the index of the branch to each.
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        for mv in moves {
            let branch = Branch { mv, moves: 1, child: None, is_joined: false };
            let place = self.tree.branches.len();
            let same = match self.key(&self.after(id, mv)) {
                None => place,
                Some(key) => *places.entry(key).or_insert(place),
            };
            match self.tree.branches.get_mut(same) {
                Some(known) => known.moves += 1,
                None => self.tree.branches.push(branch),
            }
        }
        self.tree.nodes[id].branches = begin..self.tree.branches.len();
        Ok(())
    }

    /// A node's moves by their minimax values, the mover's best or worst first; equal ones in the game's own order.
    fn by_value(
        &mut self,
        id: NodeId,
        moves: Vec<P::Move>,
        best_first: bool,
    ) -> Result<Vec<P::Move>, TreeError> {
        let (position, ply) = (self.tree.nodes[id].position.clone(), self.tree.nodes[id].ply);
        let mut valued = Vec::with_capacity(moves.len());
        for mv in moves {
            valued.push((self.exact_after(&position, mv, ply)?, mv));
        }
        let highest_first = self.tree.is_max(id) == best_first;
        valued.sort_by_key(|&(value, _)| if highest_first { -value } else { value });
        Ok(valued.into_iter().map(|(_, mv)| mv).collect())
    }

    /// The minimax value of the position after a move.
    fn exact_after(&mut self, from: &P, mv: P::Move, ply: u32) -> Result<i32, TreeError> {
        let mut position = from.clone();
        position.play_unchecked(mv);
        self.path.push(mv, Path::key_of(from));
        let value = self.exact(&position, ply + 1);
        self.path.pop();
        value
    }

    /// The minimax value of a position at this ply. Where earlier moves matter, no value is kept.
    fn exact(&mut self, position: &P, ply: u32) -> Result<i32, TreeError> {
        let key = (ply, position.table_key());
        if let Some(&value) = self.values.get(&key).filter(|_| !P::HISTORY_MATTERS) {
            return Ok(value);
        }
        if self.values.len() == self.options.visits_max {
            return Err(TreeError::TooLarge(self.options.visits_max));
        }
        let value = match self.kind(position, ply) {
            NodeKind::Inner => {
                let mut moves = Vec::new();
                position.legal_moves(&mut moves);
                let mut values = Vec::with_capacity(moves.len());
                for mv in moves {
                    values.push(self.exact_after(position, mv, ply)?);
                }
                let is_max = position.to_move() == self.max;
                let best = if is_max { values.iter().max() } else { values.iter().min() };
                best.copied().unwrap_or_default()
            }
            leaf @ (NodeKind::Horizon | NodeKind::Over(_)) => self.score_of(position, ply, leaf),
        };
        self.values.insert(key, value);
        Ok(value)
    }

    /// The key that joined positions share.
    fn key(&self, position: &P) -> Option<u64> {
        match self.options.join {
            Join::None => None,
            Join::Equal => Some(position.table_key()),
            Join::Symmetric => Some(position.canonical_key()),
        }
    }

    fn after(&self, id: NodeId, mv: P::Move) -> P {
        let mut position = self.tree.nodes[id].position.clone();
        position.play_unchecked(mv);
        position
    }

    /// The value at the end of a branch, which is searched unless enough is known.
    fn follow(&mut self, from: NodeId, branch: usize, window: Window) -> Result<i32, TreeError> {
        let key = Path::key_of(&self.tree.nodes[from].position);
        self.path.push(self.tree.branches[branch].mv, key);
        let value = self.value_after(from, branch, window)?;
        self.path.pop();
        Ok(value)
    }

    /// The same, for the branch that was pushed last.
    fn value_after(
        &mut self,
        from: NodeId,
        branch: usize,
        window: Window,
    ) -> Result<i32, TreeError> {
        if let Some(child) = self.tree.branches[branch].child {
            return self.look_up(child, window);
        }
        let child = self.after(from, self.tree.branches[branch].mv);
        let ply = self.tree.nodes[from].ply + 1;
        let key = self.key(&child);
        let known = key.and_then(|key| self.known.get(&(ply, key)).copied());
        if let Some(child) = known {
            let branch = &mut self.tree.branches[branch];
            (branch.child, branch.is_joined) = (Some(child), true);
            return self.look_up(child, window);
        }
        let child = self.add(child, ply);
        self.tree.branches[branch].child = Some(child);
        if let Some(key) = key {
            self.known.insert((ply, key), child);
        }
        self.visit(child, window)
    }

    /// The value of a node that was visited before.
    fn look_up(&mut self, id: NodeId, window: Window) -> Result<i32, TreeError> {
        let value = self.tree.nodes[id].value;
        if window.is_answered_by(value) { Ok(value.score) } else { self.visit(id, window) }
    }
}
