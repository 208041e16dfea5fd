//! Searches of Pentago and chess to a depth, those of a group all finding minimax's value: how many
//! times that of the others each takes, and nodes per second.
//!
//! `cargo bench -p spelrum-engine --bench search`

#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]

use spelrum_engine::games::{Chess, Pentago};
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::{Player, Rules, Timeless, analyze};

/// Eight marbles, nothing decided.
const MIDDLE: &str = ".w..b....w.....b..b.....w....b..w...";
const EMPTY: &str = "....................................";

/// Without what sees further than the depth.
const FULL: &str = r#""algorithm": "alpha-beta", "preset": "full", "extension": false"#;

/// A player's name and its parameters in JSON.
type Named = (&'static str, &'static str);

/// A middle game of chess with much to be taken.
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Each looks at one position to one depth: title, position, depth, players.
type Groups = &'static [(&'static str, &'static str, u32, &'static [Named])];

const CHESS: Groups = &[
    (
        "chess: much to be taken, to depth 4",
        KIWIPETE,
        4,
        &[
            ("alpha-beta", r#""algorithm": "alpha-beta", "evaluation": "material""#),
            (
                "captures first",
                r#""algorithm": "alpha-beta", "evaluation": "material", "captures": true"#,
            ),
        ],
    ),
    (
        "chess: start position to depth 8, material",
        START,
        8,
        &[("chess", r#""algorithm": "alpha-beta", "preset": "chess", "evaluation": "material""#)],
    ),
    (
        "chess: start position to depth 8, positional",
        START,
        8,
        &[("chess", r#""algorithm": "alpha-beta", "preset": "chess", "evaluation": "positional""#)],
    ),
    (
        "chess: much to be taken, to depth 7, positional",
        KIWIPETE,
        7,
        &[("chess", r#""algorithm": "alpha-beta", "preset": "chess", "evaluation": "positional""#)],
    ),
];

const PENTAGO: Groups = &[
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
    compare(criterion, &Pentago::rules(true), PENTAGO);
    compare(criterion, &Rules::usual::<Chess>(), CHESS);
}

fn compare(criterion: &mut Criterion, rules: &Rules, groups: Groups) {
    for (title, position, depth, players) in groups {
        let mut group = criterion.benchmark_group(*title);
        group.sample_size(10).warm_up_time(Duration::from_millis(500));
        let mut value = None;
        for (name, json) in *players {
            let json = format!(r#"{{{json}, "depth": {depth}}}"#);
            let given = serde_json::from_str(&json).unwrap();
            let player = Player::from_parameters(rules, &given).unwrap();
            let search = || analyze(rules, position, &player, [1; 32], &Timeless).unwrap();
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
