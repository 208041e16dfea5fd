//! Searches of Pentago to a depth: nodes per second.

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::{Player, Rules, Timeless, analyze};

/// Eight marbles, nothing decided.
const MIDDLE: &str = ".w..b....w.....b..b.....w....b..w...";

const PLAYERS: &[(&str, &str)] = &[
    ("minimax to depth 2", r#"{"algorithm": "minimax", "depth": 2}"#),
    ("alpha-beta to depth 3", r#"{"algorithm": "alpha-beta", "depth": 3}"#),
    ("alpha-beta to depth 3, ordered", r#"{"algorithm": "alpha-beta", "depth": 3, "order": true}"#),
    (
        "alpha-beta to depth 3, iterative and ordered",
        r#"{"algorithm": "alpha-beta", "depth": 3, "order": true, "iterative": true}"#,
    ),
];

fn searches(criterion: &mut Criterion) {
    let rules = Rules::Pentago { win_before_rotation: true };
    let mut group = criterion.benchmark_group("pentago");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    for (name, json) in PLAYERS {
        let player = Player::from_parameters(&rules, &serde_json::from_str(json).unwrap()).unwrap();
        let search = || analyze(&rules, MIDDLE, &player, [1; 32], &Timeless).unwrap();
        group.throughput(Throughput::Elements(search().search.nodes));
        group.bench_function(*name, |bencher| bencher.iter(|| black_box(search())));
    }
    group.finish();
}

criterion_group!(benches, searches);
criterion_main!(benches);
