//! Random trees.

use spelrum_engine::Random;
use spelrum_engine::expression::{Expression, Node};

use super::{Limits, Primitives, below, draw_one};

/// The method for the trees of the first generation (Koza 1992, §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Every leaf has the maximum depth.
    Full,
    /// The root is a function; below it every node is drawn uniformly from functions and leaves together, and from the
    /// leaves if a tree would become too deep.
    Grow,
    /// Equally many trees of each depth from 2 to the greatest, alternately full and grown.
    Ramped,
}

impl Initial {
    /// All methods, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("ramped", Self::Ramped), ("grow", Self::Grow), ("full", Self::Full)];

    /// Tree number `number` of a first generation: at most `depth` deep, and within the limits.
    #[must_use]
    pub fn tree(
        self,
        primitives: &Primitives,
        limits: Limits,
        depth: usize,
        number: usize,
        random: &mut Random,
    ) -> Expression {
        let greatest = limits.depth_of_full(depth);
        let (depth, is_full) = match self {
            Self::Full => (greatest, true),
            Self::Grow => (greatest, false),
            Self::Ramped => {
                let least = greatest.min(2);
                let depths = greatest - least + 1;
                (least + number / 2 % depths, number.is_multiple_of(2))
            }
        };
        match is_full {
            true => full(primitives, depth, random),
            false => grow(primitives, depth, Root::Function, random),
        }
    }
}

/// The possible roots of a grown tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A function, if there is room: Koza 1992, §6.2.
    Function,
    /// Any node: Poli, Langdon & McPhee 2008, algorithm 2.1.
    Any,
}

/// A tree whose leaves all have this depth; a single leaf if there are no functions.
#[must_use]
pub fn full(primitives: &Primitives, depth: usize, random: &mut Random) -> Expression {
    let label = |level: usize, random: &mut Random| match level < depth {
        true => draw_one(&primitives.functions, random).into_node(),
        false => draw_one(&primitives.leaves, random),
    };
    build(primitives, label, random)
}

/// A tree of at most this depth, each node drawn from functions and leaves together while there is room.
#[must_use]
pub fn grow(primitives: &Primitives, depth: usize, root: Root, random: &mut Random) -> Expression {
    let Primitives { functions, leaves } = primitives;
    let label = |level: usize, random: &mut Random| {
        if level >= depth {
            return draw_one(leaves, random);
        }
        if level == 0 && root == Root::Function {
            return draw_one(functions, random).into_node();
        }
        match below(functions.len() + leaves.len(), random) {
            function if function < functions.len() => functions[function].into_node(),
            leaf => leaves[leaf - functions.len()],
        }
    };
    build(primitives, label, random)
}

/// A tree whose labels are drawn in prefix order, each by its level.
fn build(
    primitives: &Primitives,
    label: impl Fn(usize, &mut Random) -> Node,
    random: &mut Random,
) -> Expression {
    let mut nodes = Vec::new();
    let mut due = vec![0];
    while let Some(level) = due.pop() {
        let node = match primitives.functions.is_empty() {
            true => draw_one(&primitives.leaves, random),
            false => label(level, random),
        };
        due.extend((0..node.arity()).map(|_| level + 1));
        nodes.push(node);
    }
    Expression::from_nodes(nodes).expect("labels were drawn until no operand was missing")
}

trait IntoNode {
    fn into_node(self) -> Node;
}

impl IntoNode for spelrum_engine::expression::Function {
    fn into_node(self) -> Node {
        Node::Function(self)
    }
}
