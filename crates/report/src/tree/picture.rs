//! Contents of a tree's picture, independent of game and format.

use spelrum_engine::tree::{Branch, GameTree, NodeId, NodeKind, PlyCounts, PlySums};
use spelrum_engine::{Game, Position, Sketch};

use super::win_notation::{WinNotation, chooser, end};
use crate::text::count;

/// Maximum number of drawn branches that were cut off from one node; beyond it, only their number is given.
const CUT_DRAWN_MAX: usize = 8;

/// Heading of the picture.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The game, algorithm and depth, in one line.
    pub title: String,
    /// Meanings of MAX and MIN.
    pub sides: String,
}

/// A tree to draw.
#[derive(Clone, Debug)]
pub struct Picture {
    pub(crate) heading: Heading,
    /// First visited nodes, in that order, then nodes that were cut off.
    pub(crate) nodes: Vec<PictureNode>,
    /// By ply, from the root's on.
    pub(crate) levels: Vec<Level>,
    /// Moves that both sides choose, and their result.
    pub(crate) best_line: String,
    pub(crate) value: String,
}

#[derive(Clone, Debug)]
pub(crate) struct PictureNode {
    pub(crate) ply: usize,
    pub(crate) sketch: Sketch,
    pub(crate) state: State,
    pub(crate) branches: Vec<PictureBranch>,
    /// Whether it lies on the best line.
    pub(crate) is_best: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum State {
    Visited {
        /// Its place in the order of visits, from 1.
        visit: usize,
        /// Number of searches of the node.
        visits: u32,
        value: String,
        /// Whether MAX chooses there; `None` at a terminal node.
        is_max: Option<bool>,
        /// How the game ended there.
        end: Option<String>,
        /// The bound that cut off the remaining branches.
        cutoff: Option<String>,
    },
    Cut,
}

#[derive(Clone, Debug)]
pub(crate) struct PictureBranch {
    /// The move, and the number of moves with the same result.
    pub(crate) label: String,
    pub(crate) child: usize,
    pub(crate) kind: BranchKind,
    pub(crate) is_best: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchKind {
    /// To a node that this branch reached first.
    Tree,
    /// To a node that is drawn elsewhere.
    Joined,
    Cut,
}

/// A ply.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// The choosing side, as MAX or MIN and in the game's word; empty at a terminal node.
    pub(crate) to_move: String,
    /// Counts of the whole tree; `None` if it is too large to be counted.
    pub(crate) full_counts: Option<PlyCounts>,
    /// Sums of the search.
    pub(crate) sums: PlySums,
}

/// Returns the number of nodes in a picture of the tree.
pub fn drawn_nodes<P: Position>(tree: &GameTree<P>) -> usize {
    let cut = (0..tree.nodes().len()).map(|id| match cut_branches(tree, id).count() {
        cut if cut <= CUT_DRAWN_MAX => cut,
        _ => 1,
    });
    tree.nodes().len() + cut.sum::<usize>()
}

fn cut_branches<P: Position>(
    tree: &GameTree<P>,
    id: NodeId,
) -> impl Iterator<Item = &Branch<P::Move>> {
    tree.branches(id).iter().filter(|branch| branch.child.is_none())
}

impl Picture {
    /// Creates the picture of a tree; `whole` contains the counts of the whole tree by ply, where available.
    pub fn new<P: Game>(
        tree: &GameTree<P>,
        words: WinNotation,
        heading: Heading,
        full_counts: &[PlyCounts],
    ) -> Self {
        let mut nodes: Vec<PictureNode> =
            (0..tree.nodes().len()).map(|id| visited(tree, id, words)).collect();
        for id in 0..tree.nodes().len() {
            add_cut(tree, id, &mut nodes);
        }
        let mut at = 0;
        nodes[0].is_best = true;
        for (id, _) in tree.best_line() {
            nodes[id].is_best = true;
            let branch = nodes[at].branches.iter_mut().find(|branch| branch.child == id);
            if let Some(branch) = branch {
                branch.is_best = true;
            }
            at = id;
        }
        let moves: Vec<String> = tree.best_line().map(|(_, mv)| mv.to_string()).collect();
        Self {
            heading,
            nodes,
            levels: levels(tree, full_counts),
            best_line: moves.join(" "),
            value: words.value(tree.root().value),
        }
    }
}

fn visited<P: Game>(tree: &GameTree<P>, id: NodeId, words: WinNotation) -> PictureNode {
    let node = &tree.nodes()[id];
    let branches = tree.branches(id).iter().filter_map(|branch| {
        let kind = if branch.is_joined { BranchKind::Joined } else { BranchKind::Tree };
        let label = label(branch);
        Some(PictureBranch { label, child: branch.child?, kind, is_best: false })
    });
    let (is_max, end) = match node.kind {
        NodeKind::Inner => (Some(tree.is_max(id)), None),
        NodeKind::Horizon => (None, None),
        NodeKind::Over(ending) => {
            (None, Some(end::<P>(ending.winner, tree.root().position.to_move())))
        }
    };
    PictureNode {
        ply: node.ply as usize,
        sketch: node.position.sketch(),
        state: State::Visited {
            visit: id + 1,
            visits: node.visits,
            value: words.value(node.value),
            is_max,
            end,
            cutoff: node.cutoff.map(|cutoff| words.cutoff(cutoff)),
        },
        branches: branches.collect(),
        is_best: false,
    }
}

/// Adds the branches that were cut off from a node.
fn add_cut<P: Game>(tree: &GameTree<P>, id: NodeId, nodes: &mut Vec<PictureNode>) {
    let cut: Vec<_> = cut_branches(tree, id).collect();
    let ply = nodes[id].ply + 1;
    let mut add = |label: String, sketch: Sketch| {
        let child = nodes.len();
        let (branches, is_best) = (Vec::new(), false);
        nodes.push(PictureNode { ply, sketch, state: State::Cut, branches, is_best });
        nodes[id].branches.push(PictureBranch { label, child, kind: BranchKind::Cut, is_best });
    };
    match cut.as_slice() {
        [first, .., last] if cut.len() > CUT_DRAWN_MAX => {
            let moves = format!("{} … {}", first.mv, last.mv);
            add(format!("{} moves", cut.len()), Sketch::Notation(moves));
        }
        cut => {
            for branch in cut {
                let mut position = tree.nodes()[id].position.clone();
                position.play_unchecked(branch.mv);
                add(label(branch), position.sketch());
            }
        }
    }
}

fn label<M: std::fmt::Display>(branch: &Branch<M>) -> String {
    match branch.moves {
        1 => branch.mv.to_string(),
        moves => format!("{} ×{moves}", branch.mv),
    }
}

fn levels<P: Game>(tree: &GameTree<P>, full_counts: &[PlyCounts]) -> Vec<Level> {
    let sums = tree.sums();
    let mut choosers = vec![[None, None]; sums.len()];
    for (id, node) in tree.nodes().iter().enumerate() {
        if node.kind == NodeKind::Inner {
            let is_max = tree.is_max(id);
            choosers[node.ply as usize][usize::from(is_max)] =
                Some((node.position.to_move(), is_max));
        }
    }
    let levels = sums.into_iter().zip(choosers).enumerate().map(|(ply, (sums, choosers))| {
        let names = choosers.into_iter().flatten();
        let names: Vec<String> = names.map(|(side, is_max)| chooser::<P>(side, is_max)).collect();
        Level { to_move: names.join(", "), full_counts: full_counts.get(ply).copied(), sums }
    });
    levels.collect()
}

impl Level {
    /// Returns the counts, in a few short lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(counts) = self.full_counts {
            lines.push(counted(counts.nodes, "node", "nodes"));
            if counts.positions != counts.nodes {
                lines.push(counted(counts.positions, "position", "positions"));
            }
            if counts.up_to_symmetry != counts.positions {
                lines.push(format!("{} up to symmetry", count(counts.up_to_symmetry)));
            }
        }
        let cut = match self.sums.cut {
            0 => String::new(),
            cut => format!(", {} cut off", count(cut)),
        };
        lines.push(format!("{} visited{cut}", count(self.sums.visits)));
        lines
    }
}

fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(number), if number == 1 { singular } else { plural })
}
