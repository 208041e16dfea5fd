//! Formulas evaluated: trees with their features given, and evaluations of positions of games.
//!
//! `cargo bench -p spelrum-engine --bench expression`

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::evaluation::{ExpressionEvaluation, Features, View};
use spelrum_engine::expression::{Expression, FeatureInfo};
use spelrum_engine::games::{ConnectFour, Pentago};
use spelrum_engine::search::Evaluate;
use spelrum_engine::{Position, Random};

const FEATURES: &[FeatureInfo] = &[
    FeatureInfo::symmetric("a", "a"),
    FeatureInfo::symmetric("b", "b"),
    FeatureInfo::symmetric("c", "c"),
    FeatureInfo::symmetric("d", "d"),
];

/// Full trees: a function at every node, one after the other, down to features and a constant.
fn full(depth: u32, number: &mut usize) -> String {
    *number += 1;
    let number_here = *number;
    if depth == 0 {
        return ["a", "b", "c", "d", "10"][number_here % 5].to_owned();
    }
    let function = ["+", "-", "*", "/"][number_here % 4];
    format!("({function} {} {})", full(depth - 1, number), full(depth - 1, number))
}

/// The evaluations of one tree after the other, as a search makes them: features that change each time.
fn trees(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("formulas, features given");
    for (depth, nodes) in [(2, 7), (4, 31), (6, 127)] {
        let expression = Expression::parse(&full(depth, &mut 0), FEATURES).unwrap();
        assert_eq!(expression.size(), nodes);
        let compiled = expression.compiled();
        group.throughput(Throughput::Elements(1_000));
        group.bench_function(format!("{nodes} nodes"), |bench| {
            bench.iter(|| {
                let mut sum = 0.0;
                for step in 0..1_000_u32 {
                    sum += compiled.evaluate(|wanted, values| {
                        for (&feature, value) in wanted.iter().zip(values) {
                            *value = f64::from(step & 63) + f64::from(feature);
                        }
                    });
                }
                black_box(sum)
            });
        });
        group.bench_function(format!("{nodes} nodes, the plain way"), |bench| {
            bench.iter(|| {
                let mut sum = 0.0;
                for step in 0..1_000_u32 {
                    let features = [0.0, 1.0, 2.0, 3.0].map(|offset| f64::from(step & 63) + offset);
                    sum += expression.evaluate(&features);
                }
                black_box(sum)
            });
        });
    }
    group.finish();
}

/// Positions on the way of random games.
fn positions<G: Position>(start: G) -> Vec<G> {
    let mut random = Random::from_key([1; 32]);
    let mut positions = Vec::new();
    while positions.len() < 1_000 {
        let mut position = start.clone();
        while !position.is_over() {
            positions.push(position.clone());
            position.play_unchecked(position.random_move(&mut random));
        }
    }
    positions.truncate(1_000);
    positions
}

fn games(criterion: &mut Criterion) {
    fn bench<G: Features>(criterion: &mut Criterion, name: &str, start: G, formula: &str) {
        let formula = Expression::parse(formula, G::FEATURES).unwrap();
        let positions = positions(start);
        let mut group = criterion.benchmark_group(format!("formulas, {name}"));
        group.throughput(Throughput::Elements(1_000));
        for (view, title) in [(View::Mover, "mover"), (View::Difference, "difference")] {
            let evaluation = ExpressionEvaluation::<G>::new(&formula, view);
            group.bench_function(title, |bench| {
                bench.iter(|| {
                    positions
                        .iter()
                        .map(|position| i64::from(evaluation.evaluate(position)))
                        .sum::<i64>()
                });
            });
        }
        group.finish();
    }
    let pentago = "(+ (- own_run3 opp_run3) (* 3 (- own_run4 opp_run4)))";
    bench(criterion, "Pentago", Pentago::empty(true), pentago);
    let connect_four = "(+ (- own_line2 opp_line2) (* 4 (- own_line3 opp_line3)))";
    bench(criterion, "Connect Four", ConnectFour::empty(), connect_four);
}

criterion_group!(benches, trees, games);
criterion_main!(benches);
