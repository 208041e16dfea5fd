//! One form for formulas that are obviously equal.

use super::{Expression, Function, Node};

impl Expression {
    /// A tree with at most as many nodes, and the same value for all features for which every intermediate
    /// value is finite:
    ///
    /// - a function of constants is its value, if that is finite;
    /// - x - x is 0 and x / x is 1, also where x is 0;
    /// - x + 0, x - 0, x × 1 and x / 1 are x; x × 0 is 0, x / 0 is 1;
    /// - operands of sums and products are in the order of their nodes.
    ///
    /// Laws that floats break are not used: (a + b) + c may differ from a + (b + c). Formulas of equal
    /// simplified forms have equal values wherever every intermediate value is finite in both; equal values
    /// may have different forms.
    #[must_use]
    pub fn simplified(&self) -> Self {
        // From the last node to the first: operands come before their function.
        let mut operands: Vec<Vec<Node>> = Vec::new();
        for &node in self.nodes.iter().rev() {
            let tree = match node {
                Node::Constant(_) | Node::Feature(_) => vec![node],
                Node::Function(function) => {
                    let mut operand = || operands.pop().unwrap_or_default();
                    let (left, right) = (operand(), operand());
                    applied(function, left, right)
                }
            };
            operands.push(tree);
        }
        Self { nodes: operands.pop().unwrap_or_default() }
    }
}

/// A function of two simplified trees, simplified.
fn applied(function: Function, left: Vec<Node>, right: Vec<Node>) -> Vec<Node> {
    use Function::{Add, Divide, Multiply, Subtract};
    let constants = (constant(&left), constant(&right));
    if let (Some(left), Some(right)) = constants {
        // Adding 0 turns -0 into 0, as every expression has it.
        let value = function.apply(left, right) + 0.0;
        if value.is_finite() {
            return vec![Node::Constant(value)];
        }
    }
    match (function, constants) {
        (Add, (Some(0.0), _)) | (Multiply, (Some(1.0), _)) => right,
        (Add | Subtract, (_, Some(0.0))) | (Multiply | Divide, (_, Some(1.0))) => left,
        (Multiply, (Some(0.0), _) | (_, Some(0.0))) => vec![Node::Constant(0.0)],
        (Divide, (_, Some(0.0))) => vec![Node::Constant(1.0)],
        (Subtract, _) if left == right => vec![Node::Constant(0.0)],
        (Divide, _) if left == right => vec![Node::Constant(1.0)],
        _ => {
            let is_ordered = !function.is_commutative() || left <= right;
            let [first, second] = if is_ordered { [left, right] } else { [right, left] };
            let mut nodes = Vec::with_capacity(1 + first.len() + second.len());
            nodes.push(Node::Function(function));
            nodes.extend(first);
            nodes.extend(second);
            nodes
        }
    }
}

/// The number in a tree of one constant.
fn constant(tree: &[Node]) -> Option<f64> {
    match tree {
        [Node::Constant(constant)] => Some(*constant),
        _ => None,
    }
}
