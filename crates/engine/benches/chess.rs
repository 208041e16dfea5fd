//! Chess: counting leaves beside `cozy-chess` alone, evaluations, keys, exchanges, playouts, and nodes
//! of alpha-beta.
//!
//! `cargo bench -p spelrum-engine --bench chess`. Throughput is in leaves, positions, plies or nodes,
//! as the group says. Before all else it says how many times as long as `cozy-chess` alone perft takes,
//! both in turn, the least of several runs.

#![expect(clippy::print_stdout, reason = "the ratios are what it is for")]

use std::hint::black_box;
use std::time::Duration;

use cozy_chess::Board;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::games::Chess;
use spelrum_engine::games::chess::evaluation::{ChessMaterial, ChessPositional};
use spelrum_engine::search::Evaluate;
use spelrum_engine::{
    Game, Knowledge, Player, PlayoutRandom, Position, Random, Timeless, analyze, perft,
};

/// The reference positions, and depths of about five million leaves.
const POSITIONS: [(&str, &str, u32); 4] = [
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 5),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4),
    ("position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6),
    ("position 4", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 5),
];

/// Runs of which the shortest counts.
const RUNS: u32 = 7;

fn chess(fen: &str) -> Chess {
    Chess::parse(&Chess::rules(), fen).expect("a position of the reference data")
}

/// Leaves by `cozy-chess` alone, the moves of the last ply counted and not made.
fn cozy_perft(board: &Board, depth: u32) -> u64 {
    let mut leaves = 0;
    if depth <= 1 {
        board.generate_moves(|moves| {
            leaves += moves.len() as u64;
            false
        });
        return leaves;
    }
    board.generate_moves(|moves| {
        for mv in moves {
            let mut child = board.clone();
            child.play_unchecked(mv);
            leaves += cozy_perft(&child, depth - 1);
        }
        false
    });
    leaves
}

/// The thread's processor time, so that what other programs take is not counted.
fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn shortest(work: impl Fn() -> u64) -> Duration {
    let took = |_| {
        let start = cpu();
        black_box(work());
        cpu() - start
    };
    (0..RUNS).map(took).min().unwrap_or_default()
}

fn ratios(_: &mut Criterion) {
    for (name, fen, depth) in POSITIONS {
        let (ours, board) = (chess(fen), fen.parse::<Board>().expect("the same"));
        let leaves = perft(&ours, depth).leaves;
        assert_eq!(leaves, cozy_perft(&board, depth), "{name}");
        let own = shortest(|| perft(black_box(&ours), depth).leaves);
        let alone = shortest(|| cozy_perft(black_box(&board), depth));
        let rate = |took: Duration| leaves as f64 / took.as_secs_f64() / 1e6;
        let ratio = own.as_secs_f64() / alone.as_secs_f64();
        let [own, alone] = [rate(own), rate(alone)];
        println!(
            "perft of {name} to depth {depth}: {own:.0} million leaves/s, cozy-chess {alone:.0}, \
             {ratio:.3} times its time"
        );
    }
}

fn counting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chess perft");
    for (name, fen, depth) in POSITIONS {
        let (ours, board) = (chess(fen), fen.parse::<Board>().expect("the same"));
        group.throughput(Throughput::Elements(perft(&ours, depth).leaves));
        group.bench_function(name, |bencher| bencher.iter(|| perft(black_box(&ours), depth)));
        group.bench_function(format!("{name}, cozy-chess"), |bencher| {
            bencher.iter(|| cozy_perft(black_box(&board), depth));
        });
    }
    group.finish();
}

/// Positions of random games, none of them over.
fn positions() -> Vec<Chess> {
    let mut random = Random::from_key([3; 32]);
    let mut positions = Vec::new();
    while positions.len() < 2_000 {
        let mut position = Chess::initial();
        while !position.is_over() {
            positions.push(position.clone());
            position.play_unchecked(position.random_move(&mut random));
        }
    }
    positions
}

/// What is asked of a position, a position each.
fn looking(criterion: &mut Criterion) {
    let positions = positions();
    let (material, positional) = (ChessMaterial::default(), ChessPositional::default());
    let mut group = criterion.benchmark_group("chess positions");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut measure = |name: &str, query: &dyn Fn(&Chess) -> u64| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                positions.iter().fold(0, |sum: u64, position| sum.wrapping_add(query(position)))
            });
        });
    };
    measure("material", &|position| material.evaluate(position) as u64);
    measure("positional", &|position| positional.evaluate(position) as u64);
    measure("whether it is over", &|position| u64::from(position.is_over()));
    measure("count moves", &|position| u64::from(position.legal_move_count()));
    measure("canonical key", &|position| position.canonical_key());
    measure("table key", &|position| position.table_key());
    measure("exchanges of all captures", &|position| {
        let mut moves = Vec::new();
        position.tactical_moves(&mut moves);
        moves.into_iter().map(|mv| position.exchange(mv) as u64).fold(0, u64::wrapping_add)
    });
    group.finish();
}

/// Random games from the start; throughput is in plies.
fn playouts(criterion: &mut Criterion) {
    let games = || {
        let mut random = PlayoutRandom::from_seed(6);
        let plies = (0..20).map(|_| Chess::initial().play_randomly(&mut random, u32::MAX));
        plies.map(u64::from).sum::<u64>()
    };
    let mut group = criterion.benchmark_group("20 random games of chess");
    group.throughput(Throughput::Elements(games()));
    group.bench_function("uniform", |bencher| bencher.iter(games));
    group.finish();
}

/// Alpha-beta to a number of nodes in the middle of a game; throughput is in nodes.
fn searching(criterion: &mut Criterion) {
    const NODES: u64 = 200_000;
    let rules = Chess::rules();
    let (_, middle, _) = POSITIONS[1];
    let mut group = criterion.benchmark_group("chess alpha-beta");
    group.throughput(Throughput::Elements(NODES));
    group.sample_size(20);
    for evaluation in ["material", "positional"] {
        for (name, switches) in [("plain", ""), ("full", r#", "preset": "full""#)] {
            let json = format!(
                r#"{{"algorithm": "alpha-beta", "iterative": true, "nodes": {NODES},
                    "evaluation": "{evaluation}"{switches}}}"#
            );
            let given = serde_json::from_str(&json).expect("these are parameters");
            let player = Player::from_parameters(&rules, &given).expect("of alpha-beta");
            group.bench_function(format!("{evaluation}, {name}"), |bencher| {
                bencher.iter(|| analyze(&rules, middle, &player, [1; 32], &Timeless));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, ratios, counting, looking, playouts, searching);
criterion_main!(benches);
