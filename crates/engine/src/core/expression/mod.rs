//! Formulas over the features that a game counts in its positions: trees of + - × and protected
//! division, as in genetic programming (Koza 1992, "Genetic programming", chapter 6).
//!
//! # Text
//!
//! `(+ own_discs (- empty 10))`: prefix notation. A function stands after an opening parenthesis and
//! has two operands, each a formula; a constant or the name of a feature is a formula by itself. Space
//! of any kind separates them.
//!
//! # Values
//!
//! Numbers are IEEE doubles, and the only operations are + - × ÷, so a formula has the same value on every
//! machine. Division by 0 is 1 ([`Function::apply`]). Sums and products may overflow to infinity, and from
//! there to NaN; [`crate::evaluation::score`] makes an integer of every value.
//!
//! # Shape
//!
//! An [`Expression`] is its nodes in prefix order, so that a subtree is a range
//! ([`Expression::subtree`]) and replacing one is a splice. The depth of a tree is the number of edges
//! from its root to its farthest leaf: 0 for a single node (Koza 1992, section 6.2).

mod compiled;
mod simplified;
mod text;

use crate::core::problem::{Problem, RangeProblem};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Range;

pub use compiled::Compiled;
pub use text::FORMULA_BYTES_MAX;

/// The greatest depth of a tree: edges from the root to the farthest leaf.
pub const DEPTH_MAX: usize = 64;

/// The greatest number of nodes of a tree.
pub const NODES_MAX: usize = 1_023;

/// The number of operands of every function.
pub const ARITY: usize = 2;

/// A number that a game counts in a position, from one side's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureInfo {
    /// Its name in formulas: lower-case letters, digits and underscores, a letter first. Features of the
    /// viewing side begin with `own_`, those of the other with `opp_`.
    pub name: &'static str,
    /// Its meaning, in a few words.
    pub meaning: &'static str,
    /// Whether it is equal in positions that the game's symmetries map to each other.
    pub is_symmetric: bool,
    /// Whether formulas are bred from it unless a sweep lists features. A sum of other features is not.
    pub is_usual: bool,
}

impl FeatureInfo {
    /// A feature that is equal in positions that the game's symmetries map to each other.
    #[must_use]
    pub const fn symmetric(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, is_symmetric: true, is_usual: true }
    }

    /// A feature that differs between positions that the game's symmetries map to each other.
    #[must_use]
    pub const fn oriented(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, is_symmetric: false, is_usual: true }
    }

    /// A sum of symmetric features, from which formulas are bred only where a sweep lists it.
    #[must_use]
    pub const fn sum(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, is_symmetric: true, is_usual: false }
    }
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// The sum.
    Add,
    /// The first less the second.
    Subtract,
    /// The product.
    Multiply,
    /// The first by the second, but 1 where the second is 0: protected division.
    Divide,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Divide];

    /// Its symbol in formulas.
    #[must_use]
    pub const fn symbol(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }

    /// Its value. As a divisor, every number equal to 0 counts as 0, whatever its sign.
    #[inline]
    #[must_use]
    pub fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide if right == 0.0 => 1.0,
            Self::Divide => left / right,
        }
    }

    /// Whether its operands may be exchanged. For floats nothing more holds: (a + b) + c may differ
    /// from a + (b + c).
    #[must_use]
    pub const fn is_commutative(self) -> bool {
        matches!(self, Self::Add | Self::Multiply)
    }
}

/// A node of a tree. Nodes have an arbitrary but fixed order: functions first, then constants by
/// value, then features by number.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// A function; its two operands follow.
    Function(Function),
    /// A finite number.
    Constant(f64),
    /// A feature, by its place in the game's list.
    Feature(u16),
}

impl Node {
    /// Its number of operands: [`ARITY`] for a function, else 0.
    #[must_use]
    pub const fn arity(self) -> usize {
        match self {
            Self::Function(_) => ARITY,
            Self::Constant(_) | Self::Feature(_) => 0,
        }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Function(_) => 0,
            Self::Constant(_) => 1,
            Self::Feature(_) => 2,
        }
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Function(own), Self::Function(other)) => own.cmp(other),
            (Self::Constant(own), Self::Constant(other)) => own.total_cmp(other),
            (Self::Feature(own), Self::Feature(other)) => own.cmp(other),
            (own, other) => own.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Self::Function(function) => function.hash(state),
            Self::Constant(constant) => constant.to_bits().hash(state),
            Self::Feature(feature) => feature.hash(state),
        }
    }
}

/// A well-formed tree within its bounds: at most [`NODES_MAX`] nodes, [`DEPTH_MAX`] deep, all constants
/// finite and none of them -0.
///
/// Two expressions are equal if they are written alike. [`Expression::simplified`] finds more that
/// have one value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expression {
    /// In prefix order.
    nodes: Vec<Node>,
}

impl Expression {
    /// The tree with these nodes in prefix order. A constant -0 becomes 0, which formulas cannot distinguish
    /// from it.
    ///
    /// # Errors
    /// If they are not one whole tree, a constant is not finite, or the tree exceeds its bounds.
    pub fn from_nodes(mut nodes: Vec<Node>) -> Result<Self, RangeProblem> {
        let error = |place: Range<usize>, problem: String, remedy: &str| {
            Err(Problem::at(place, problem, remedy.to_owned()))
        };
        let len = nodes.len();
        if len > NODES_MAX {
            return Err(too_long(NODES_MAX..len, format!("{len} nodes")));
        }
        // Operands still to come, with the depth of each.
        let mut due = vec![0];
        for (index, node) in nodes.iter_mut().enumerate() {
            let Some(depth) = due.pop() else {
                let problem = format!("the tree ends before node {}", index + 1);
                return error(index..len, problem, "leave out what follows it");
            };
            match node {
                Node::Function(_) if depth == DEPTH_MAX => {
                    return Err(too_deep(index..index + 1, "an operand of a node"));
                }
                Node::Function(_) => due.extend([depth + 1; ARITY]),
                Node::Constant(constant) if !constant.is_finite() => {
                    let problem = format!("the constant {constant} is not finite");
                    return error(index..index + 1, problem, "choose a finite one");
                }
                Node::Constant(constant) => *constant += 0.0,
                Node::Feature(_) => {}
            }
        }
        match due.len() {
            0 => Ok(Self { nodes }),
            missing => {
                let problem = format!("{missing} operands are missing");
                error(len..len, problem, "add them at the end")
            }
        }
    }

    /// A tree of one node.
    ///
    /// # Errors
    /// If it is a function, or a constant that is not finite.
    pub fn leaf(node: Node) -> Result<Self, RangeProblem> {
        Self::from_nodes(vec![node])
    }

    /// Its nodes in prefix order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Its number of nodes, at least 1.
    #[must_use]
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// The number of edges from its root to its farthest leaf: 0 for a single node.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels().into_iter().max().unwrap_or(0)
    }

    /// For each node the number of edges from the root.
    #[must_use]
    pub fn levels(&self) -> Vec<usize> {
        let mut due = vec![0];
        let level = |node: &Node| {
            let level = due.pop().unwrap_or(0);
            due.extend([level + 1; ARITY].iter().take(node.arity()));
            level
        };
        self.nodes.iter().map(level).collect()
    }

    /// The nodes of the subtree whose root is the node with this index.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn subtree(&self, index: usize) -> Range<usize> {
        let mut due = 1;
        let mut end = index;
        while due > 0 {
            due = due - 1 + self.nodes[end].arity();
            end += 1;
        }
        index..end
    }

    /// The indices of a function's two operands; `None` of a leaf.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn operands(&self, index: usize) -> Option<[usize; ARITY]> {
        match self.nodes[index] {
            Node::Function(_) => Some([index + 1, self.subtree(index + 1).end]),
            Node::Constant(_) | Node::Feature(_) => None,
        }
    }

    /// The tree with this subtree in place of the one whose root is the node with this index.
    ///
    /// # Errors
    /// As [`Expression::from_nodes`]: if `replacement` is not a tree, or the whole is beyond its bounds.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn with_subtree(&self, index: usize, replacement: &[Node]) -> Result<Self, RangeProblem> {
        let mut nodes = self.nodes.clone();
        nodes.splice(self.subtree(index), replacement.iter().copied());
        Self::from_nodes(nodes)
    }

    /// The tree with one node relabelled: a function for a function, a leaf for a leaf.
    ///
    /// # Errors
    /// If the new node has another number of operands, or is a constant that is not finite.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn with_node(&self, index: usize, node: Node) -> Result<Self, RangeProblem> {
        let mut nodes = self.nodes.clone();
        nodes[index] = node;
        Self::from_nodes(nodes)
    }

    /// The features that it reads, each once, in ascending order.
    #[must_use]
    pub fn features(&self) -> Vec<u16> {
        let feature = |node: &Node| match node {
            Node::Feature(feature) => Some(*feature),
            Node::Function(_) | Node::Constant(_) => None,
        };
        let mut features: Vec<u16> = self.nodes.iter().filter_map(feature).collect();
        features.sort_unstable();
        features.dedup();
        features
    }

    /// Its value, where `features` has the values of all features of the game in list order: the slow
    /// reference. [`Expression::compiled`] is the fast one.
    ///
    /// # Panics
    /// If it reads a feature that `features` lacks.
    #[must_use]
    pub fn evaluate(&self, features: &[f64]) -> f64 {
        self.value_from(&mut 0, features)
    }

    fn value_from(&self, next: &mut usize, features: &[f64]) -> f64 {
        let node = self.nodes[*next];
        *next += 1;
        match node {
            Node::Function(function) => {
                let left = self.value_from(next, features);
                let right = self.value_from(next, features);
                function.apply(left, right)
            }
            Node::Constant(constant) => constant,
            Node::Feature(feature) => features[usize::from(feature)],
        }
    }

    /// Compiles it for many evaluations.
    #[must_use]
    pub fn compiled(&self) -> Compiled {
        Compiled::new(self)
    }
}

fn too_long(place: Range<usize>, has: String) -> RangeProblem {
    Problem::at(
        place,
        format!("the formula has {has}"),
        format!("leave it at {NODES_MAX} nodes: functions, constants and features together"),
    )
}

fn too_deep(place: Range<usize>, subject: &str) -> RangeProblem {
    Problem::at(
        place,
        format!("{subject} is more than {DEPTH_MAX} levels below the root"),
        format!("nest functions at most {DEPTH_MAX} deep"),
    )
}
