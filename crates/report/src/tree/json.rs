//! A tree for programs.

use serde::Serialize;
use spelrum_engine::Game;
use spelrum_engine::tree::{Cutoff, GameTree, NodeKind, Value, ValueBound};

use super::picture::{Level, Picture};

/// A tree: its counts and, unless only these are requested, its nodes.
#[derive(Serialize)]
pub struct TreeJson<'a> {
    game: &'static str,
    position: String,
    /// Letter of the side to move, which is MAX.
    to_move: char,
    algorithm: &'a str,
    join: &'a str,
    wins: &'a str,
    evaluation: &'a str,
    depth: Option<u32>,
    #[serde(flatten)]
    value: ScoreJson,
    best_line: Vec<String>,
    plies: Vec<PlyJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<NodeJson>>,
}

#[derive(Serialize)]
struct ScoreJson {
    /// For MAX; a win from 990,000 on.
    score: i32,
    bound: &'static str,
}

#[derive(Serialize)]
struct PlyJson<'a> {
    ply: usize,
    to_move: &'a str,
    nodes: Option<u64>,
    positions: Option<u64>,
    up_to_symmetry: Option<u64>,
    visited: u64,
    evaluated: u64,
    over: u64,
    cut_off: u64,
}

#[derive(Serialize)]
struct NodeJson {
    /// Its place in the order of visits, from 1.
    node: usize,
    ply: u32,
    position: String,
    kind: &'static str,
    #[serde(flatten)]
    value: ScoreJson,
    visits: u32,
    /// Name and value of the bound that cut off the remaining branches.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<i32>,
    branches: Vec<BranchJson>,
}

#[derive(Serialize)]
struct BranchJson {
    #[serde(rename = "move")]
    mv: String,
    moves: u32,
    /// The child node; null if it was cut off.
    node: Option<usize>,
}

/// The request, in the words of the command line.
#[derive(Clone, Copy, Debug)]
pub struct TreeRequest<'a> {
    /// The search.
    pub algorithm: &'a str,
    /// How equal positions are joined.
    pub join: &'a str,
    /// How wins are valued.
    pub wins: &'a str,
    /// The evaluation at the horizon.
    pub evaluation: &'a str,
    /// The depth; `None` if it is unlimited.
    pub depth: Option<u32>,
}

impl<'a> TreeJson<'a> {
    /// The tree of a picture.
    pub fn new<P: Game>(
        tree: &GameTree<P>,
        picture: &'a Picture,
        request: TreeRequest<'a>,
        with_nodes: bool,
    ) -> Self {
        let root = &tree.root().position;
        Self {
            game: P::NAME,
            position: root.to_string(),
            to_move: P::SIDES[root.to_move().index()].letter,
            algorithm: request.algorithm,
            join: request.join,
            wins: request.wins,
            evaluation: request.evaluation,
            depth: request.depth,
            value: score(tree.root().value),
            best_line: tree.best_line().map(|(_, mv)| mv.to_string()).collect(),
            plies: picture.levels.iter().enumerate().map(|(ply, level)| sums(ply, level)).collect(),
            nodes: with_nodes.then(|| (0..tree.nodes().len()).map(|id| node(tree, id)).collect()),
        }
    }
}

fn score(value: Value) -> ScoreJson {
    let bound = match value.bound {
        ValueBound::Exact => "exact",
        ValueBound::AtLeast => "at_least",
        ValueBound::AtMost => "at_most",
    };
    ScoreJson { score: value.score, bound }
}

fn sums(ply: usize, level: &Level) -> PlyJson<'_> {
    PlyJson {
        ply,
        to_move: &level.to_move,
        nodes: level.full_counts.map(|counts| counts.nodes),
        positions: level.full_counts.map(|counts| counts.positions),
        up_to_symmetry: level.full_counts.map(|counts| counts.up_to_symmetry),
        visited: level.sums.visits,
        evaluated: level.sums.evaluated,
        over: level.sums.over,
        cut_off: level.sums.cut,
    }
}

fn node<P: Game>(tree: &GameTree<P>, id: usize) -> NodeJson {
    let node = &tree.nodes()[id];
    let (cut_by, cut_at) = match node.cutoff {
        None => (None, None),
        Some(Cutoff::Alpha(alpha)) => (Some("alpha"), Some(alpha)),
        Some(Cutoff::Beta(beta)) => (Some("beta"), Some(beta)),
        Some(Cutoff::Misprint) => (Some("misprint"), None),
    };
    let branches = tree.branches(id).iter().map(|branch| BranchJson {
        mv: branch.mv.to_string(),
        moves: branch.moves,
        node: branch.child.map(|child| child + 1),
    });
    NodeJson {
        node: id + 1,
        ply: node.ply,
        position: node.position.to_string(),
        kind: match node.kind {
            NodeKind::Inner => "inner",
            NodeKind::Horizon => "horizon",
            NodeKind::Over(_) => "over",
        },
        value: score(node.value),
        visits: node.visits,
        cut_by,
        cut_at,
        branches: branches.collect(),
    }
}
