//! A whole tree as values alone: what alpha-beta looks at in any order of the moves, the fewest leaves that any search
//! needs, and the rank of a line among all lines.

use std::ops::Range;

use super::TreeError;
use crate::core::position::{Position, Side};
use crate::core::score;
use crate::evaluation::Evaluate;
use crate::search::path::Path;

/// The whole tree of a position to a depth, without its positions: moves, minimax values and static values.
///
/// A win in n plies is worth `WIN - n`, as in players' searches. No positions are joined.
///
/// ```
/// use spelrum_engine::games::ConnectFour;
/// use spelrum_engine::games::connect_four::evaluation::ConnectFourLines;
/// use spelrum_engine::tree::{MoveOrder, ValueTree};
///
/// let tree = ValueTree::grow(&ConnectFour::empty(), &ConnectFourLines::default(), 4, 10_000)?;
/// assert_eq!(tree.leaves(), 7_u64.pow(4));
/// // 7^2 + 7^2 - 1 (Knuth & Moore 1975).
/// assert_eq!(tree.fewest_leaves(), 97);
/// assert_eq!(tree.examine(MoveOrder::BestFirst).leaves, 97);
/// # Ok::<(), spelrum_engine::tree::TreeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueTree<M> {
    /// The root is the first. Children of one node stand together, in the game's order.
    nodes: Vec<ValueNode<M>>,
}

#[derive(Clone, Copy, Debug)]
struct ValueNode<M> {
    /// The move that leads here; none leads to the root.
    mv: Option<M>,
    /// Whether the side to move at the root moves here.
    maximises: bool,
    first_child: u32,
    children: u32,
    /// Leaves at or below this node; 0 while it grows.
    leaves: u32,
    /// The minimax value for the side to move at the root.
    value: i32,
    /// The value without a search for the side to move at the root: the evaluation, or the score of the game that is
    /// over.
    static_value: i32,
}

/// The order in which alpha-beta tries the moves of every position. Equal ones stay in the game's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOrder {
    /// The game's own.
    Listed,
    /// The best by the static value of the positions that they lead to first.
    Static,
    /// The best by minimax value first.
    BestFirst,
    /// The worst by minimax value first.
    WorstFirst,
}

/// What alpha-beta looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Leaves visited.
    pub leaves: u64,
    /// Positions with moves left untried because a value equals the bound: without moves of equal value there are none.
    pub ties: u64,
    /// Positions with moves left untried because a value is beyond the bound.
    pub beyond: u64,
}

/// The rank of a line among all lines of a tree.
///
/// Of two lines the better one is that which has the move of the greater minimax value, for the side to move, at the
/// position where they part. Moves of equal value leave both lines equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRank {
    /// Lines that are better.
    pub better: u64,
    /// All lines, this one included.
    pub lines: u64,
    /// First moves that are better than the line's.
    pub better_moves: u64,
    /// All first moves.
    pub moves: u64,
}

/// The bounds of a visit: what MAX has already, and what MIN allows.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    alpha: i32,
    beta: i32,
}

impl<M: Copy + Eq> ValueTree<M> {
    /// Grows the tree of a position, which is one node if the position is over or the depth is 0. A node takes some 30
    /// bytes. The thread needs [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
    ///
    /// # Errors
    /// If the tree has more nodes than allowed, or than 2^32.
    pub fn grow<P: Position<Move = M>, E: Evaluate<P>>(
        root: &P,
        evaluation: &E,
        depth: u32,
        nodes_max: usize,
    ) -> Result<Self, TreeError> {
        let mut grower = Grower {
            evaluation,
            depth,
            nodes_max: nodes_max.min(u32::MAX as usize),
            max: root.to_move(),
            path: Path::new(),
            nodes: Vec::new(),
        };
        grower.add(None, root, 0)?;
        grower.expand(0, root, 0)?;
        Ok(Self { nodes: grower.nodes })
    }

    /// The number of leaves, and so of lines: minimax looks at all of them.
    #[must_use]
    pub fn leaves(&self) -> u64 {
        self.nodes[0].leaves.into()
    }

    /// The fewest leaves by which the root's value can be proven, whatever the search: those of the smallest strategy of
    /// MAX that guarantees as much, and of the smallest of MIN that allows no more, which share one leaf.
    ///
    /// In a uniform tree of b moves and d plies without equal values that is b^⌈d/2⌉ + b^⌊d/2⌋ − 1 (Knuth & Moore 1975, "An
    /// analysis of alpha-beta pruning").
    #[must_use]
    pub fn fewest_leaves(&self) -> u64 {
        let value = self.nodes[0].value;
        self.smallest_proof(0, value, true) + self.smallest_proof(0, value, false) - 1
    }

    /// The leaves of the smallest strategy of one side, MAX or MIN, that holds this value at a node which has it or better.
    fn smallest_proof(&self, node: usize, value: i32, of_max: bool) -> u64 {
        let children = self.children(node);
        if children.is_empty() {
            return 1;
        }
        let holds = |child: &usize| match of_max {
            true => self.nodes[*child].value >= value,
            false => self.nodes[*child].value <= value,
        };
        if self.nodes[node].maximises == of_max {
            let proofs =
                children.filter(holds).map(|child| self.smallest_proof(child, value, of_max));
            proofs.min().unwrap_or(0)
        } else {
            children.map(|child| self.smallest_proof(child, value, of_max)).sum()
        }
    }

    /// Searches the tree by alpha-beta with both bounds and no window at the root (procedure F2 of Knuth & Moore 1975, fail-soft), and
    /// counts.
    #[must_use]
    pub fn examine(&self, order: MoveOrder) -> Examined {
        let mut examined = Examined::default();
        self.visit(0, Bounds { alpha: i32::MIN, beta: i32::MAX }, order, &mut examined);
        examined
    }

    fn visit(&self, id: usize, bounds: Bounds, order: MoveOrder, examined: &mut Examined) -> i32 {
        let ValueNode { maximises, value, .. } = self.nodes[id];
        let children = self.in_order(id, order);
        let Some((&last, _)) = children.split_last() else {
            examined.leaves += 1;
            return value;
        };
        let Bounds { mut alpha, mut beta } = bounds;
        let mut best = if maximises { i32::MIN } else { i32::MAX };
        for &child in &children {
            let value = self.visit(child, Bounds { alpha, beta }, order, examined);
            let bound = if maximises {
                best = best.max(value);
                alpha = alpha.max(best);
                bounds.beta
            } else {
                best = best.min(value);
                beta = beta.min(best);
                bounds.alpha
            };
            if alpha >= beta && child != last {
                let count = if best == bound { &mut examined.ties } else { &mut examined.beyond };
                *count += 1;
                break;
            }
        }
        best
    }

    fn in_order(&self, node: usize, order: MoveOrder) -> Vec<usize> {
        let mut children: Vec<usize> = self.children(node).collect();
        let sign = if self.nodes[node].maximises { 1 } else { -1 };
        // For the side to move.
        let value = |&child: &usize| sign * self.nodes[child].value;
        match order {
            MoveOrder::Listed => {}
            MoveOrder::Static => {
                children.sort_by_key(|&child| -sign * self.nodes[child].static_value);
            }
            MoveOrder::BestFirst => children.sort_by_key(|child| -value(child)),
            MoveOrder::WorstFirst => children.sort_by_key(value),
        }
        children
    }

    /// The rank of a line that begins at the root; `None` if a move of it is not in the tree. If it ends before a leaf,
    /// it stands for the best line that begins with it.
    #[must_use]
    pub fn rank(&self, line: &[M]) -> Option<LineRank> {
        let moves = self.children(0).len() as u64;
        let mut rank = LineRank { better: 0, lines: self.leaves(), better_moves: 0, moves };
        let mut node = 0;
        for (ply, &mv) in line.iter().enumerate() {
            let next = self.children(node).find(|&child| self.nodes[child].mv == Some(mv))?;
            let (maximises, value) = (self.nodes[node].maximises, self.nodes[next].value);
            for child in &self.nodes[self.children(node)] {
                let is_better = if maximises { child.value > value } else { child.value < value };
                if is_better {
                    rank.better += u64::from(child.leaves);
                    rank.better_moves += u64::from(ply == 0);
                }
            }
            node = next;
        }
        Some(rank)
    }

    fn children(&self, node: usize) -> Range<usize> {
        let ValueNode { first_child, children, .. } = self.nodes[node];
        first_child as usize..(first_child + children) as usize
    }
}

struct Grower<'a, P: Position, E> {
    evaluation: &'a E,
    depth: u32,
    nodes_max: usize,
    /// The side to move at the root.
    max: Side,
    path: Path<P>,
    nodes: Vec<ValueNode<P::Move>>,
}

impl<P: Position, E: Evaluate<P>> Grower<'_, P, E> {
    /// Adds a position, to which the path leads.
    fn add(&mut self, mv: Option<P::Move>, position: &P, ply: u32) -> Result<(), TreeError> {
        if self.nodes.len() == self.nodes_max {
            return Err(TreeError::TooLarge(self.nodes_max));
        }
        let to_move = position.to_move();
        let ending = self.path.ending(position);
        let static_value = match ending {
            Some(ending) => score::of_ending(ending, self.max, ply),
            None => score::for_mover(self.max, to_move, self.evaluation.evaluate(position)),
        };
        let is_leaf = ending.is_some() || ply == self.depth;
        self.nodes.push(ValueNode {
            mv,
            maximises: to_move == self.max,
            first_child: 0,
            children: 0,
            leaves: is_leaf.into(),
            value: static_value,
            static_value,
        });
        Ok(())
    }

    /// Adds all that follows a node, unless it is a leaf, and values it.
    fn expand(&mut self, id: usize, position: &P, ply: u32) -> Result<(), TreeError> {
        if self.nodes[id].leaves > 0 {
            return Ok(());
        }
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        let first = self.nodes.len();
        for &mv in &moves {
            self.after(position, mv, |grower, child| grower.add(Some(mv), child, ply + 1))?;
        }
        let children = first..self.nodes.len();
        for (child, &mv) in children.clone().zip(&moves) {
            self.after(position, mv, |grower, after| grower.expand(child, after, ply + 1))?;
        }
        let maximises = self.nodes[id].maximises;
        let values = self.nodes[children.clone()].iter().map(|child| child.value);
        let best = if maximises { values.max() } else { values.min() };
        let leaves = self.nodes[children.clone()].iter().map(|child| child.leaves).sum();
        let node = &mut self.nodes[id];
        (node.value, node.leaves) = (best.unwrap_or(node.value), leaves);
        // Both are at most `nodes_max`.
        (node.first_child, node.children) = (first as u32, children.len() as u32);
        Ok(())
    }

    /// Does something with the position after a move, to which the path leads meanwhile.
    fn after(
        &mut self,
        position: &P,
        mv: P::Move,
        act: impl FnOnce(&mut Self, &P) -> Result<(), TreeError>,
    ) -> Result<(), TreeError> {
        let mut child = position.clone();
        child.play_unchecked(mv);
        self.path.push(mv, Path::key_of(position));
        let done = act(self, &child);
        self.path.pop();
        done
    }
}
