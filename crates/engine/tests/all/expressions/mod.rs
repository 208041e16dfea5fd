//! Formulas: their text, their shape, their values by three ways of computing them, and the evaluation.

mod evaluation;
mod features;
mod scores;
mod text;
mod values;

use proptest::prelude::*;
use spelrum_engine::expression::{Expression, FeatureInfo, Function, Node};

/// What the formulas here are over.
const FEATURES: &[FeatureInfo] = &[
    FeatureInfo::symmetric("own_discs", "discs"),
    FeatureInfo::symmetric("opp_discs", "discs of the opponent"),
    FeatureInfo::symmetric("empty", "free cells"),
    FeatureInfo::oriented("own_left", "discs on the left"),
];

fn parsed(text: &str) -> Expression {
    Expression::parse(text, FEATURES).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Numbers of every size, and those that are special to some rule.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => prop::sample::select(vec![0.0, 1.0, -1.0, 2.0, 10.0, 0.5, -0.25]),
        2 => (-64_i32..64).prop_map(f64::from),
        1 => prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
    ]
}

/// Trees of any shape.
fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        number().prop_map(Node::Constant),
        (0..FEATURES.len() as u16).prop_map(Node::Feature),
    ];
    let tree = leaf.prop_map(|node| vec![node]).prop_recursive(8, 200, 2, |inner| {
        let function = prop::sample::select(Function::ALL.to_vec());
        (function, inner.clone(), inner).prop_map(|(function, left, right)| {
            [vec![Node::Function(function)], left, right].concat()
        })
    });
    tree.prop_map(|nodes| Expression::from_nodes(nodes).unwrap())
}
