//! Searches of Pentago to a depth, all finding minimax's value: how many times that of the others
//! each takes, and nodes per second.
//!
//! `cargo bench -p spelrum-engine --bench search`

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]

use spelrum_engine::games::Pentago;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::{Player, Timeless, analyze};

/// Eight marbles, nothing decided.
const MIDDLE: &str = ".w..b....w.....b..b.....w....b..w...";
const EMPTY: &str = "....................................";

/// Without what sees further than the depth.
const FULL: &str = r#""algorithm": "alpha-beta", "preset": "full", "extension": false"#;

/// A player's name and its parameters in JSON.
type Named = (&'static str, &'static str);

/// Each looks at one position to one depth: title, position, depth, players.
const GROUPS: &[(&str, &str, u32, &[Named])] = &[
    (
        "8 marbles to depth 3",
        MIDDLE,
        3,
        &[
            ("minimax", r#""algorithm": "minimax""#),
            ("alpha-beta", r#""algorithm": "alpha-beta""#),
            ("ordered", r#""algorithm": "alpha-beta", "order": true, "iterative": true"#),
            ("full", FULL),
        ],
    ),
    (
        "8 marbles to depth 4",
        MIDDLE,
        4,
        &[
            ("ordered", r#""algorithm": "alpha-beta", "order": true, "iterative": true"#),
            ("full", FULL),
        ],
    ),
    ("8 marbles to depth 5", MIDDLE, 5, &[("full", FULL)]),
    ("empty board to depth 6", EMPTY, 6, &[("full", FULL)]),
];

fn searches(criterion: &mut Criterion) {
    let rules = Pentago::rules(true);
    for (title, position, depth, players) in GROUPS {
        let mut group = criterion.benchmark_group(*title);
        group.sample_size(10).warm_up_time(Duration::from_millis(500));
        let mut value = None;
        for (name, json) in *players {
            let json = format!(r#"{{{json}, "depth": {depth}}}"#);
            let given = serde_json::from_str(&json).unwrap();
            let player = Player::from_parameters(&rules, &given).unwrap();
            let search = || analyze(&rules, position, &player, [1; 32], &Timeless).unwrap();
            let report = search().search;
            assert_eq!(report.score, *value.get_or_insert(report.score), "{name}");
            group.throughput(Throughput::Elements(report.nodes));
            group.bench_function(*name, |bencher| bencher.iter(|| black_box(search())));
        }
        group.finish();
    }
}

criterion_group!(benches, searches);
criterion_main!(benches);
