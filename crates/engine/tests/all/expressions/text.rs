//! Parsing and writing formulas, and the shape of trees.

use proptest::prelude::*;
use spelrum_engine::expression::{
    DEPTH_MAX, Expression, FORMULA_BYTES_MAX, Function, NODES_MAX, Node,
};

use super::{FEATURES, expression, parsed};

/// A chain of sums, each in the first operand of the one before.
fn chain(functions: usize) -> String {
    format!("{}1{}", "(+ ".repeat(functions), " 1)".repeat(functions))
}

/// A full tree of this depth.
fn full(depth: usize) -> Vec<Node> {
    match depth {
        0 => vec![Node::Constant(1.0)],
        _ => [vec![Node::Function(Function::Add)], full(depth - 1), full(depth - 1)].concat(),
    }
}

#[test]
fn formulas_are_written_in_one_way() {
    for (text, written) in [
        ("empty", "empty"),
        (" \n10.0\t", "10"),
        ("-0", "0"),
        ("+0.50", "0.5"),
        ("1e300", "1e300"),
        ("-1E-7", "-1e-7"),
        ("12345678", "12345678"),
        ("(+ own_discs(- empty 10))", "(+ own_discs (- empty 10))"),
        ("(*(/ empty empty)\n  (+ 1 -2) )", "(* (/ empty empty) (+ 1 -2))"),
        (
            "(+ own_discs (- (+ (+ (/ empty empty) own_left) own_left) opp_discs))",
            "(+ own_discs (- (+ (+ (/ empty empty) own_left) own_left) opp_discs))",
        ),
    ] {
        assert_eq!(parsed(text).text(FEATURES), written);
    }
}

#[test]
fn what_is_not_a_formula_says_where_and_what_to_write() {
    let long = format!("(+ {} 1)", chain(DEPTH_MAX));
    let wide = {
        let sum = |left: String, right: String| format!("(+ {left} {right})");
        let mut text = "1".to_owned();
        for _ in 0..9 {
            text = sum(text.clone(), text);
        }
        sum(text.clone(), text)
    };
    let messages = [
        "",
        "  ",
        "own_disc",
        "rooks",
        "(+ own_discs opp_dics)",
        "(+ own_discs)",
        "(+)",
        "(- 1 2 3)",
        "(- 1 2 (+ 1 2))",
        "(",
        "()",
        "(+ (- 1 2) (* 3 4)",
        "(1 + 2)",
        "((+ 1 2) 3)",
        "+ 1 2",
        "(+ * 2)",
        "1 2",
        "(+ 1 2))",
        ")",
        "1e400",
        "nan",
        "1,5",
        "(+ é 1)",
        "(^ 1 2)",
        &long,
        &wide,
    ]
    .map(|text| Expression::parse(text, FEATURES).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn bounds_are_held_and_reached() {
    let deepest = parsed(&chain(DEPTH_MAX));
    assert_eq!([deepest.depth(), deepest.size()], [DEPTH_MAX, 2 * DEPTH_MAX + 1]);
    Expression::parse(&chain(DEPTH_MAX + 1), FEATURES).unwrap_err();
    let largest = Expression::from_nodes(full(9)).unwrap();
    assert_eq!([largest.size(), largest.depth()], [NODES_MAX, 9]);
    let error = Expression::from_nodes(full(10)).unwrap_err();
    assert!(error.to_string().contains("2047 nodes"), "{error}");
    let error = deepest.with_subtree(DEPTH_MAX, deepest.nodes()).unwrap_err();
    assert!(error.to_string().contains("64 levels"), "{error}");
    // The longest text of any: every leaf as long as can be.
    let longest = -f64::MIN_POSITIVE * 1.000_000_000_000_000_2;
    let leaves = full(9).into_iter().map(|node| match node {
        Node::Constant(_) => Node::Constant(longest),
        other @ (Node::Function(_) | Node::Feature(_)) => other,
    });
    let text = Expression::from_nodes(leaves.collect()).unwrap().text(FEATURES);
    assert!(text.len() <= FORMULA_BYTES_MAX, "{}", text.len());
}

#[test]
fn nodes_that_are_no_tree_are_refused() {
    let sum = Node::Function(Function::Add);
    let one = Node::Constant(1.0);
    let messages = [
        vec![],
        vec![sum],
        vec![sum, one],
        vec![one, one],
        vec![sum, one, one, one],
        vec![Node::Constant(f64::NAN)],
        vec![sum, one, Node::Constant(f64::INFINITY)],
    ]
    .map(|nodes| Expression::from_nodes(nodes).unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

/// A tree as anyone would write it.
struct Tree(Node, Vec<Self>);

impl Tree {
    fn read(nodes: &mut impl Iterator<Item = Node>) -> Self {
        let node = nodes.next().unwrap();
        Self(node, (0..node.arity()).map(|_| Self::read(nodes)).collect())
    }

    fn depth(&self) -> usize {
        self.1.iter().map(|child| 1 + child.depth()).max().unwrap_or(0)
    }

    fn nodes(&self) -> Vec<Node> {
        [vec![self.0], self.1.iter().flat_map(Self::nodes).collect()].concat()
    }

    /// Every subtree with its level, in prefix order.
    fn subtrees(&self, level: usize) -> Vec<(usize, &Self)> {
        let below = self.1.iter().flat_map(|child| child.subtrees(level + 1));
        [(level, self)].into_iter().chain(below).collect()
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(expression in expression()) {
        let text = expression.text(FEATURES);
        prop_assert_eq!(parsed(&text), expression);
    }

    #[test]
    fn anything_is_read_or_refused(text in "[-+*/() 0-9.eaz_é\\n]{0,40}|.{0,40}") {
        match Expression::parse(&text, FEATURES) {
            Ok(expression) => prop_assert_eq!(parsed(&expression.text(FEATURES)), expression),
            Err(error) => {
                prop_assert!(text.get(error.place).is_some());
                prop_assert!(!error.what.is_empty() && !error.remedy.is_empty());
            }
        }
    }

    #[test]
    fn shapes_are_those_of_trees(expression in expression(), other in expression()) {
        let tree = Tree::read(&mut expression.nodes().iter().copied());
        prop_assert_eq!(expression.depth(), tree.depth());
        let subtrees = tree.subtrees(0);
        prop_assert_eq!(expression.size(), subtrees.len());
        let levels: Vec<usize> = subtrees.iter().map(|(level, _)| *level).collect();
        prop_assert_eq!(expression.levels(), levels);
        for (index, (_, subtree)) in subtrees.iter().enumerate() {
            let range = expression.subtree(index);
            prop_assert_eq!(&expression.nodes()[range.clone()], &subtree.nodes()[..]);
            let operands = expression.operands(index);
            prop_assert_eq!(operands.is_some(), subtree.1.len() == 2);
            if let Some(operands) = operands {
                for (operand, child) in operands.into_iter().zip(&subtree.1) {
                    prop_assert_eq!(
                        &expression.nodes()[expression.subtree(operand)], &child.nodes()[..]
                    );
                }
            }
            if let Ok(grafted) = expression.with_subtree(index, other.nodes()) {
                let end = index + other.size();
                prop_assert_eq!(grafted.subtree(index), index..end);
                prop_assert_eq!(&grafted.nodes()[index..end], other.nodes());
                prop_assert_eq!(grafted.size(), expression.size() - range.len() + other.size());
                let back = grafted.with_subtree(index, &subtree.nodes()).unwrap();
                prop_assert_eq!(&back, &expression);
            }
        }
    }
}
