//! Monte Carlo tree search on Pentago: what a simulation costs, and how many times that its slow
//! twin of the tests takes, whose nodes own their children and list every move.
//!
//! `cargo bench -p spelrum-engine --bench mcts`. Throughput is in simulations.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::evaluation::PentagoRuns;
use spelrum_engine::search::mcts::{Bound, Mcts, MctsParameters, PlayoutPolicy};
use spelrum_engine::search::{Budget, Limits, Search};
use spelrum_engine::{Line, Random, Timeless};

#[path = "../tests/all/mcts/twin.rs"]
mod twin;

const SIMULATIONS: u64 = 20_000;
const TWIN_SIMULATIONS: u64 = 500;

/// The parameters of a search that begins anew each time.
fn parameters(simulations: u64) -> MctsParameters {
    MctsParameters { simulations: Some(simulations), reuse: false, ..MctsParameters::DEFAULT }
}

fn run(search: &mut impl Search<Pentago>) {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let root = black_box(Pentago::empty(true));
    let found = search.search(Line::from_start(&root), &mut budget, &mut Random::from_key([9; 32]));
    black_box(found).expect("nothing aborts it");
}

/// From the empty board, one playout each.
fn searches(criterion: &mut Criterion) {
    let uniform = MctsParameters { playout: PlayoutPolicy::Uniform, ..parameters(SIMULATIONS) };
    let variants = [
        ("uniform playouts", uniform),
        ("decisive playouts", parameters(SIMULATIONS)),
        ("every child first", MctsParameters { first_play_urgency: 1_000.0, ..uniform }),
        ("ucb1-tuned", MctsParameters { bound: Bound::Ucb1Tuned, exploration: 1.0, ..uniform }),
    ];
    let mut group = criterion.benchmark_group("mcts/empty board");
    group.throughput(Throughput::Elements(SIMULATIONS)).sample_size(20);
    for (name, parameters) in variants {
        let mut search = Mcts::new(parameters, PentagoRuns::default());
        group.bench_function(name, |bencher| bencher.iter(|| run(&mut search)));
    }
    group.finish();
}

/// The same search, node for node, by both.
fn compare(criterion: &mut Criterion) {
    let parameters = parameters(TWIN_SIMULATIONS);
    let mut search = Mcts::new(parameters, PentagoRuns::default());
    let mut twin = twin::Twin::new(parameters, PentagoRuns::default());
    let mut group = criterion.benchmark_group("mcts/500 simulations");
    group.throughput(Throughput::Elements(TWIN_SIMULATIONS)).sample_size(10);
    group.bench_function("search", |bencher| bencher.iter(|| run(&mut search)));
    group.bench_function("twin", |bencher| bencher.iter(|| run(&mut twin)));
    group.finish();
}

criterion_group!(benches, searches, compare);
criterion_main!(benches);
