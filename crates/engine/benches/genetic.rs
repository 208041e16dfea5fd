//! Genetic minimax on Pentago: what a search costs, and how many times that its slow twin takes,
//! which builds the reservation tree anew each generation and values it by recursion.
//!
//! `cargo bench -p spelrum-engine --bench genetic`. Throughput is in nodes: a time of 1 ms at 5
//! Melem/s is 5,000 moves made.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters};
use spelrum_engine::search::{Budget, Evaluate, Limits, Search};
use spelrum_engine::{Game, Line, Position, Random, Rules, Timeless};

#[path = "../tests/all/genetic/twin.rs"]
mod twin;

/// A position after eight random moves.
fn midgame() -> Pentago {
    let rules = Rules::from_name("pentago").expect("the game exists");
    let mut position = Pentago::start(&rules).expect("these are its rules");
    let mut random = Random::from_key([4; 32]);
    for _ in 0..8 {
        let mv = position.random_move(&mut random);
        position.play_unchecked(mv);
    }
    assert!(position.ending().is_none());
    position
}

/// Nodes of one search. The memory that a game's later moves find grown is grown.
fn run(search: &mut impl Search<Pentago>, root: &Pentago, limits: &Limits) -> u64 {
    let mut budget = Budget::new(limits, &Timeless);
    let found = search.search(Line::from_start(root), &mut budget, &mut Random::from_key([9; 32]));
    black_box(found).expect("nothing aborts it");
    budget.nodes()
}

fn bench<E: Evaluate<Pentago> + Copy>(criterion: &mut Criterion, evaluation: E, name: &str) {
    let root = midgame();
    for preset in GeneticParameters::PRESETS {
        let mut group = criterion.benchmark_group(format!("{preset}/{name}"));
        for depth in [2, 4, 6] {
            let parameters = GeneticParameters::preset(preset, depth).expect("it is in the list");
            // What `line_plies` leaves of the depth is searched behind the lines.
            let parameters = GeneticParameters { generations: None, ..parameters };
            let limits = Limits { nodes: Some(200_000), ..Limits::default() };
            let mut search = GeneticMinimax::new(parameters, evaluation);
            group.throughput(Throughput::Elements(run(&mut search, &root, &limits)));
            group.bench_function(format!("depth {depth}"), |bencher| {
                bencher.iter(|| run(&mut search, &root, &limits));
            });
        }
        group.finish();
    }
}

/// The same search, node for node, by both.
fn compare(criterion: &mut Criterion, name: &str, parameters: GeneticParameters, limits: &Limits) {
    let root = midgame();
    let evaluation = PentagoRuns::default();
    let mut search = GeneticMinimax::new(parameters, evaluation);
    let mut twin = twin::Twin::new(parameters, evaluation);
    let nodes = run(&mut search, &root, limits);
    assert_eq!(nodes, run(&mut twin, &root, limits));

    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(nodes)).sample_size(10);
    group.bench_function("search", |bencher| bencher.iter(|| run(&mut search, &root, limits)));
    group.bench_function("twin", |bencher| bencher.iter(|| run(&mut twin, &root, limits)));
    group.finish();
}

fn all(criterion: &mut Criterion) {
    bench(criterion, PentagoRuns::default(), "runs");
    bench(criterion, PentagoLines::default(), "lines");
    let study = GeneticParameters { generations: Some(40), ..GeneticParameters::study(4) };
    compare(criterion, "study/40 generations", study, &Limits::default());
    let nodes = Limits { nodes: Some(10_000), ..Limits::default() };
    compare(criterion, "strong/10,000 nodes", GeneticParameters::strong(4), &nodes);
}

criterion_group!(benches, all);
criterion_main!(benches);
