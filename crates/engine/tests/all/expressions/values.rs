//! Values computed plainly, compiled, and simplified.

use proptest::prelude::*;
use spelrum_engine::expression::{Expression, Function, Node};

use super::{FEATURES, expression, number, parsed};

/// Compiled, with features from a list.
fn compiled(expression: &Expression, features: &[f64]) -> f64 {
    expression.compiled().evaluate(|wanted, values| {
        assert_eq!(wanted, expression.features());
        for (&feature, value) in wanted.iter().zip(values) {
            *value = features[usize::from(feature)];
        }
    })
}

/// Whether every value on the way is finite.
fn is_finite_all_the_way(expression: &Expression, features: &[f64]) -> bool {
    let subtree = |index| expression.nodes()[expression.subtree(index)].to_vec();
    (0..expression.size())
        .all(|index| Expression::from_nodes(subtree(index)).unwrap().evaluate(features).is_finite())
}

#[test]
fn division_by_zero_is_one() {
    for (text, value) in [
        ("(/ 3 2)", 1.5),
        ("(/ 3 0)", 1.0),
        ("(/ 0 (- 5 5))", 1.0),
        ("(/ -7 (* -1 0))", 1.0),
        ("(/ empty empty)", 1.0),
        ("(- own_discs opp_discs)", -2.0),
        ("(* own_discs (+ opp_discs 0.5))", 16.5),
    ] {
        assert_eq!(parsed(text).evaluate(&[3.0, 5.0, 0.0, 1.0]), value, "{text}");
        assert_eq!(compiled(&parsed(text), &[3.0, 5.0, 0.0, 1.0]), value, "{text}");
    }
}

#[test]
fn what_is_plainly_the_same_has_one_form() {
    let simplified: Vec<String> = [
        "(+ 1 (* 2 3))",
        "(/ 1 0)",
        "(+ empty 0)",
        "(+ 0 empty)",
        "(- empty 0)",
        "(- 0 empty)",
        "(* 1 empty)",
        "(* empty (- empty empty))",
        "(/ empty 1)",
        "(/ empty 0)",
        "(/ 0 empty)",
        "(/ (+ empty 1) (+ 1 empty))",
        "(- (* own_left empty) (* empty own_left))",
        "(+ own_left (+ empty 1))",
        "(* 1e300 1e300)",
        "(- own_left empty)",
        "(+ own_discs (- (+ (+ (/ empty empty) own_left) own_left) opp_discs))",
    ]
    .into_iter()
    .map(|text| format!("{text} is {}", parsed(text).simplified().text(FEATURES)))
    .collect();
    insta::assert_snapshot!(simplified.join("\n"));
}

/// The largest, the deepest to either side.
#[test]
fn trees_at_their_bounds_are_computed() {
    let leaf = |index: usize| match index % 3 {
        0 => Node::Constant(index as f64),
        _ => Node::Feature((index % FEATURES.len()) as u16),
    };
    let function = |index: usize| Node::Function(Function::ALL[index % 4]);
    let to_the_right: Vec<Node> =
        (0..64).flat_map(|index| [function(index), leaf(index)]).chain([leaf(64)]).collect();
    let to_the_left: Vec<Node> = (0..64).map(function).chain((0..65).map(leaf)).collect();
    fn full(depth: usize, number: &mut usize) -> Vec<Node> {
        *number += 1;
        let own = *number;
        if depth == 0 {
            return vec![Node::Constant(own as f64)];
        }
        let head = vec![Node::Function(Function::ALL[own % 4])];
        [head, full(depth - 1, number), full(depth - 1, number)].concat()
    }
    for nodes in [to_the_right, to_the_left, full(9, &mut 0)] {
        let expression = Expression::from_nodes(nodes).unwrap();
        let features = [3.0, 5.0, 7.0, -2.0];
        let (fast, slow) = (compiled(&expression, &features), expression.evaluate(&features));
        assert_eq!(fast.to_bits(), slow.to_bits());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn compiled_is_bit_for_bit_the_same(
        expression in expression(), features in [number(), number(), number(), number()],
    ) {
        let (fast, slow) = (compiled(&expression, &features), expression.evaluate(&features));
        prop_assert!(fast.to_bits() == slow.to_bits() || (fast.is_nan() && slow.is_nan()));
    }

    #[test]
    fn simplified_has_the_same_value(
        expression in expression(), features in [number(), number(), number(), number()],
    ) {
        let simplified = expression.simplified();
        prop_assert!(simplified.size() <= expression.size());
        prop_assert!(simplified.depth() <= expression.depth());
        prop_assert_eq!(&simplified.simplified(), &simplified);
        prop_assert_eq!(&Expression::from_nodes(simplified.nodes().to_vec()), &Ok(simplified.clone()));
        if is_finite_all_the_way(&expression, &features) {
            prop_assert_eq!(simplified.evaluate(&features), expression.evaluate(&features));
        }
    }

    #[test]
    fn operands_of_sums_and_products_may_be_exchanged(
        left in expression(), right in expression(), is_sum: bool,
    ) {
        let function = if is_sum { Function::Add } else { Function::Multiply };
        let combined = |left: &Expression, right: &Expression| {
            let nodes = [&[Node::Function(function)], left.nodes(), right.nodes()].concat();
            Expression::from_nodes(nodes).unwrap().simplified()
        };
        prop_assert_eq!(combined(&left, &right), combined(&right, &left));
    }
}
