//! Children of trees: crossover and mutation.

use spelrum_engine::Random;
use spelrum_engine::expression::{Expression, Node};

use super::trees::{Root, grow};
use super::{Limits, Primitives, below, draw_one};

/// The choice of nodes for crossover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// All nodes are equally likely.
    Uniform,
    /// Nine times of ten a function, else a leaf: Koza 1992, §6.5.
    Functions,
}

impl Points {
    /// All choices, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 2] =
        [("uniform", Self::Uniform), ("functions", Self::Functions)];

    fn draw(self, tree: &Expression, random: &mut Random) -> usize {
        if self == Self::Functions && tree.size() > 1 {
            let wants_function = below(10, random) < 9;
            let is_wanted = |(_, node): &(usize, &Node)| (node.arity() > 0) == wants_function;
            let wanted: Vec<usize> =
                tree.nodes().iter().enumerate().filter(is_wanted).map(|(index, _)| index).collect();
            return draw_one(&wanted, random);
        }
        below(tree.size(), random)
    }
}

/// The kind of mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Replaces the label of one node by another of its kind, a function by a function and a leaf by a leaf: *point* or
    /// *node replacement* mutation (the guide's §5.2.2), of one node.
    Label,
    /// Replaces a subtree by a grown one: Koza 1992, §6.5.1; the guide's §5.2.1.
    Subtree,
}

impl Mutation {
    /// All kinds, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 2] = [("label", Self::Label), ("subtree", Self::Subtree)];

    /// A mutated copy of a tree.
    #[must_use]
    pub fn child(
        self,
        tree: &Expression,
        primitives: &Primitives,
        limits: Limits,
        random: &mut Random,
    ) -> Expression {
        match self {
            Self::Label => with_other_label(tree, primitives, random),
            Self::Subtree => with_other_subtree(tree, primitives, limits, random),
        }
    }
}

/// The two children of a pair of trees: a node of each is drawn, and their subtrees are swapped.
///
/// If a child would exceed the limits, the node whose subtree is too large is replaced by one of its children, drawn
/// uniformly, as often as needed. (A subtree that does not fit has more levels or nodes than the one in its place, so
/// it is not a leaf.)
#[must_use]
pub fn crossover(
    [first, second]: [&Expression; 2],
    points: Points,
    limits: Limits,
    random: &mut Random,
) -> [Expression; 2] {
    let mut at = [points.draw(first, random), points.draw(second, random)];
    loop {
        let swapped = |tree: &Expression, index: usize, from: &Expression, other: usize| {
            tree.with_subtree(index, &from.nodes()[from.subtree(other)])
                .ok()
                .filter(|child| limits.allow(child))
        };
        let children = [swapped(first, at[0], second, at[1]), swapped(second, at[1], first, at[0])];
        match children {
            [Some(one), Some(other)] => return [one, other],
            [None, _] => at[1] = operand(second, at[1], random),
            [Some(_), None] => at[0] = operand(first, at[0], random),
        }
    }
}

/// One of a node's operands; a leaf stands for itself.
fn operand(tree: &Expression, index: usize, random: &mut Random) -> usize {
    tree.operands(index).map_or(index, |operands| draw_one(&operands, random))
}

/// The tree with another label of the same kind at one node; unchanged if there is none.
fn with_other_label(tree: &Expression, primitives: &Primitives, random: &mut Random) -> Expression {
    let index = below(tree.size(), random);
    let label = tree.nodes()[index];
    let others: Vec<Node> = match label {
        Node::Function(_) => {
            primitives.functions.iter().map(|&function| Node::Function(function)).collect()
        }
        Node::Constant(_) | Node::Feature(_) => primitives.leaves.clone(),
    };
    let others: Vec<Node> = others.into_iter().filter(|other| *other != label).collect();
    if others.is_empty() {
        return tree.clone();
    }
    tree.with_node(index, draw_one(&others, random)).unwrap_or_else(|_| tree.clone())
}

/// The tree with a grown subtree at one node, as deep as the limits allow.
fn with_other_subtree(
    tree: &Expression,
    primitives: &Primitives,
    limits: Limits,
    random: &mut Random,
) -> Expression {
    let index = below(tree.size(), random);
    let room = Limits {
        depth: limits.depth.saturating_sub(tree.levels()[index]),
        nodes: limits.nodes.saturating_sub(tree.size() - tree.subtree(index).len()).max(1),
    };
    let subtree = grow(primitives, room.depth_of_full(room.depth), Root::Any, random);
    tree.with_subtree(index, subtree.nodes()).unwrap_or_else(|_| tree.clone())
}
