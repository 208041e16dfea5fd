//! Game trees for display: the positions that a search visits, in order, their values, and what
//! each bound cuts off.
//!
//! The searches here are the textbook's, kept as plain as possible, and record all their steps. They are for
//! pictures and counts; players use those of [`crate::search`], which the tests compare with these.
//!
//! ```
//! use spelrum_engine::games::TicTacToe;
//! use spelrum_engine::games::tic_tac_toe::evaluation::TicTacToeOpenLines;
//! use spelrum_engine::tree::{Join, TreeAlgorithm, TreeOptions, grow};
//!
//! let options = TreeOptions {
//!     algorithm: TreeAlgorithm::AlphaBeta,
//!     join: Join::Symmetric,
//!     depth: Some(2),
//!     ..TreeOptions::default()
//! };
//! let tree = grow(&TicTacToe::empty(), &TicTacToeOpenLines, &options)?;
//! assert_eq!(tree.best_line().map(|(_, mv)| mv.to_string()).collect::<Vec<_>>(), ["b2", "a1"]);
//! assert_eq!(tree.root().value.score, 1);
//! # Ok::<(), spelrum_engine::tree::TreeError>(())
//! ```

mod counts;
mod search;
mod values;

use std::ops::Range;

use crate::core::position::{Ending, Position};

pub use counts::{PlyCounts, count_plies};
pub use search::grow;
pub use values::{Examined, LineRank, MoveOrder, ValueTree};

/// The search. The side to move at the root is MAX, the other is MIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeAlgorithm {
    /// Every position to the depth.
    #[default]
    Minimax,
    /// Alpha-beta with both bounds handed down: procedure F2 of Knuth & Moore 1975, "An analysis of
    /// alpha-beta pruning", fail-soft (Fishburn 1983).
    AlphaBeta,
    /// The same with each position's moves in the order of their minimax values, the best first: the best case, which
    /// needs to know the answer.
    AlphaBetaBest,
    /// The same with the worst first. Without moves of equal value nothing is cut off up to three plies; deeper, bounds
    /// from three plies and more above still cut off.
    AlphaBetaWorst,
    /// Only the parent's value so far is handed down, as in many slides: procedure F1 of Knuth & Moore,
    /// branch and bound without deep cut-offs.
    OneBound,
    /// The same with the root's bound as misprinted in some slides, minus infinity: the first move's value
    /// cuts off all the others.
    OneBoundMisprint,
}

/// Which positions of one ply share a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// None: every sequence of moves has its own.
    #[default]
    None,
    /// Equal positions, by their [`Knowledge::table_key`](crate::Knowledge::table_key).
    Equal,
    /// Positions that the game's symmetries map to each other, by their
    /// [`Position::canonical_key`].
    Symmetric,
}

/// The value of a won game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WinScore {
    /// Every win the same: [`WIN`](crate::search::WIN).
    #[default]
    Equal,
    /// A win in n plies `WIN - n`, as players' searches have it.
    SoonerIsBetter,
}

/// Options for growing a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// How it is searched.
    pub algorithm: TreeAlgorithm,
    /// Which positions are one node.
    pub join: Join,
    /// What wins are worth.
    pub wins: WinScore,
    /// Plies to search; `None`: to the end of the game.
    pub depth: Option<u32>,
    /// The most visits: a larger tree is refused.
    pub visits_max: usize,
}

impl TreeOptions {
    /// The greatest useful [`TreeOptions::visits_max`]: such a tree takes some hundred megabytes.
    pub const VISITS_MAX: usize = 2_000_000;
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            algorithm: TreeAlgorithm::default(),
            join: Join::default(),
            wins: WinScore::default(),
            depth: None,
            visits_max: Self::VISITS_MAX,
        }
    }
}

/// The reason for which there is no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// It has more nodes than were allowed.
    #[error("the search visits more than {0} nodes")]
    TooLarge(usize),
    /// The evaluation distinguishes positions that the symmetries map to each other.
    #[error("the evaluation has different values for symmetric positions")]
    EvaluationIsAsymmetric,
    /// Earlier moves may affect the rest of the game.
    #[error("equal positions may go on differently in this game, by the moves before them")]
    HistoryMatters,
}

/// The tree grown by a search. With joined positions it is a graph, in which every branch leads one ply down.
#[derive(Clone, Debug)]
pub struct GameTree<P: Position> {
    /// In the order of their first visits; the root is the first.
    nodes: Vec<TreeNode<P>>,
    /// Those of one node stand together, in the order in which they are tried.
    branches: Vec<Branch<P::Move>>,
}

/// A node's place in the order of first visits, from 0.
pub type NodeId = usize;

/// A position that was visited.
#[derive(Clone, Debug)]
pub struct TreeNode<P> {
    /// The position; of joined ones the first that was reached.
    pub position: P,
    /// Plies from the root.
    pub ply: u32,
    /// Whether and why the search ends here.
    pub kind: NodeKind,
    /// The number of searches: more than one only for a joined node whose known bound did not suffice.
    pub visits: u32,
    /// Its value, by the latest visit.
    pub value: Value,
    /// The reason for which the latest visit left branches untried.
    pub cutoff: Option<Cutoff>,
    /// The first of its best branches among those tried.
    best: Option<usize>,
    branches: Range<usize>,
}

/// The role of a node in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// It goes on.
    Inner,
    /// It is evaluated instead of searched.
    Horizon,
    /// The game is over.
    Over(Ending),
}

/// The value of a node for MAX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Points, or a win or loss from [`WIN_MIN`](crate::search::WIN_MIN) on.
    pub score: i32,
    /// Whether the value is exact.
    pub bound: ValueBound,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueBound {
    /// It is this.
    Exact,
    /// It is this or more.
    AtLeast,
    /// It is this or less.
    AtMost,
}

/// The reason for a cut-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cutoff {
    /// MIN has no more than MAX has elsewhere: this much.
    Alpha(i32),
    /// MAX has no less than MIN has elsewhere: this much.
    Beta(i32),
    /// The misprint's bound at the root, below every value.
    Misprint,
}

/// A way down from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch<M> {
    /// The move; if several lead to the same node, the first.
    pub mv: M,
    /// The number of moves that lead to the same node.
    pub moves: u32,
    /// The child node; `None` if it was cut off.
    pub child: Option<NodeId>,
    /// Whether the node existed already.
    pub is_joined: bool,
}

/// The totals of a ply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlySums {
    /// Nodes visited.
    pub nodes: u64,
    /// Visits of them.
    pub visits: u64,
    /// Nodes that were evaluated.
    pub evaluated: u64,
    /// Nodes where the game is over.
    pub over: u64,
    /// Branches to this ply that were cut off.
    pub cut: u64,
}

impl<P: Position> GameTree<P> {
    /// The first node.
    #[must_use]
    pub fn root(&self) -> &TreeNode<P> {
        &self.nodes[0]
    }

    /// All nodes, in the order of their first visits.
    #[must_use]
    pub fn nodes(&self) -> &[TreeNode<P>] {
        &self.nodes
    }

    /// The branches of a node, in the order in which they are tried.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn branches(&self, node: NodeId) -> &[Branch<P::Move>] {
        &self.branches[self.nodes[node].branches.clone()]
    }

    /// Whether MAX, who moves at the root, is to move.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn is_max(&self, node: NodeId) -> bool {
        self.nodes[node].position.to_move() == self.root().position.to_move()
    }

    /// The index of a node's best branch among [`GameTree::branches`]; `None` if it has none.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn best(&self, node: NodeId) -> Option<usize> {
        let node = &self.nodes[node];
        node.best.map(|best| best - node.branches.start)
    }

    /// The principal line: each node on it below the root, with the move that leads there.
    ///
    /// Where symmetric positions are joined, a node may represent the image of the line's position. The moves
    /// can be played from the root.
    pub fn best_line(&self) -> impl Iterator<Item = (NodeId, P::Move)> {
        let mut node = 0;
        let mut position = self.root().position.clone();
        std::iter::from_fn(move || {
            let branch = self.branches[self.nodes[node].best?];
            let child = branch.child?;
            let mv = if position == self.nodes[node].position {
                branch.mv
            } else {
                self.move_to(&position, child)?
            };
            position.play_unchecked(mv);
            node = child;
            Some((child, mv))
        })
    }

    /// The first move from a position to one that a node stands for.
    fn move_to(&self, position: &P, node: NodeId) -> Option<P::Move> {
        let key = self.nodes[node].position.canonical_key();
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        moves.into_iter().find(|&mv| {
            let mut after = position.clone();
            after.play_unchecked(mv);
            after.canonical_key() == key
        })
    }

    /// Totals by ply, from the root's to the last that has a node or a cut-off branch.
    #[must_use]
    pub fn sums(&self) -> Vec<PlySums> {
        let mut sums: Vec<PlySums> = Vec::new();
        let mut at = |ply: u32, add: &dyn Fn(&mut PlySums)| {
            let ply = ply as usize;
            if sums.len() <= ply {
                sums.resize(ply + 1, PlySums::default());
            }
            add(&mut sums[ply]);
        };
        for node in &self.nodes {
            at(node.ply, &|sums| {
                sums.nodes += 1;
                sums.visits += u64::from(node.visits);
                match node.kind {
                    NodeKind::Inner => {}
                    NodeKind::Horizon => sums.evaluated += 1,
                    NodeKind::Over(_) => sums.over += 1,
                }
            });
            let branches = &self.branches[node.branches.clone()];
            let cut = branches.iter().filter(|branch| branch.child.is_none()).count() as u64;
            if cut > 0 {
                at(node.ply + 1, &|sums| sums.cut += cut);
            }
        }
        sums
    }
}
