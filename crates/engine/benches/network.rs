//! Networks: examples learnt in a second, and positions valued, beside a plain network.
//!
//! `cargo bench -p spelrum-engine --bench network`. Before all else it says how many times as fast as the
//! plain network ours is, both in turn, the best of several runs. The plain one has a list of weights
//! for each unit, takes every input for a number, 0 or not, and is given its inputs ready made; ours
//! also makes them of positions.

#![expect(clippy::print_stdout, reason = "the ratios are what it is for")]
#![expect(clippy::unwrap_used, reason = "a bench ends at the first error")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::games::Chess;
use spelrum_engine::network::{NetworkEvaluation, Recipe, train};
use spelrum_engine::search::Evaluate;
use spelrum_engine::tables::EndgameTable;
use spelrum_engine::{Game, Random, Timeless};

/// What is trained: 16 inputs to 30 units, as in the study, with one network for both sides; and the four
/// pieces on 64 squares each, with two layers.
const SHAPES: [(&str, &str, usize, &[usize]); 2] = [
    (
        "16-30-1",
        r#""inputs": "all-distances", "networks": "one", "hidden": [30], "activation": "sigmoid""#,
        16,
        &[30],
    ),
    (
        "256-64-32-1",
        r#""inputs": "one-hot", "networks": "black", "hidden": [64, 32], "activation": "sigmoid""#,
        256,
        &[64, 32],
    ),
];

const EXAMPLES: usize = 20_000;
const EPOCHS: usize = 5;

/// Runs of which the shortest counts.
const RUNS: usize = 5;

/// The thread's processor time, so that what other programs take is not counted.
fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn recipe(shape: &str) -> Recipe {
    // One epoch more, in which examples are drawn.
    let json = format!(
        r#"{{"ending": "KBNK", {shape}, "examples": {EXAMPLES}, "validation": 1, "rate": 0.1,
            "epochs": {}, "loss": "squared"}}"#,
        EPOCHS + 1
    );
    Recipe::from_parameters(&serde_json::from_str(&json).unwrap()).unwrap()
}

/// A network as one would write it down.
struct Plain {
    /// Of each layer and unit, the weights of its inputs and the bias.
    layers: Vec<Vec<Vec<f32>>>,
}

fn sigmoid(sum: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-sum))
}

impl Plain {
    fn new(inputs: usize, hidden: &[usize]) -> Self {
        let mut random = Random::from_key([2; 32]);
        let mut below = inputs;
        let layers = hidden.iter().copied().chain([1]).map(|units| {
            let mut unit = |_| (0..=below).map(|_| random.unit() as f32 - 0.5).collect();
            let layer = (0..units).map(&mut unit).collect();
            below = units;
            layer
        });
        Self { layers: layers.collect() }
    }

    /// The values of each layer, the inputs first.
    fn forward(&self, inputs: &[f32]) -> Vec<Vec<f32>> {
        let mut values = vec![inputs.to_vec()];
        for layer in &self.layers {
            let below = &values[values.len() - 1];
            let value = |weights: &Vec<f32>| {
                let products = below.iter().zip(weights).map(|(x, weight)| x * weight);
                sigmoid(products.sum::<f32>() + weights[below.len()])
            };
            values.push(layer.iter().map(value).collect());
        }
        values
    }

    fn learn(&mut self, inputs: &[f32], target: f32, rate: f32) {
        let values = self.forward(inputs);
        let output = values[values.len() - 1][0];
        let mut deltas = vec![(output - target) * output * (1.0 - output)];
        for (layer, below) in self.layers.iter_mut().zip(&values).rev() {
            let slope = |at: usize| below[at] * (1.0 - below[at]);
            let sum =
                |at: usize| layer.iter().zip(&deltas).map(|(unit, d)| unit[at] * d).sum::<f32>();
            let of_below: Vec<f32> = (0..below.len()).map(|at| sum(at) * slope(at)).collect();
            for (unit, delta) in layer.iter_mut().zip(&deltas) {
                for (weight, x) in unit.iter_mut().zip(below.iter().chain([&1.0])) {
                    *weight -= rate * delta * x;
                }
            }
            deltas = of_below;
        }
    }
}

/// Inputs like those of the shape: numbers, or four ones.
fn plain_inputs(inputs: usize) -> Vec<Vec<f32>> {
    let mut random = Random::from_key([1; 32]);
    let of_squares = inputs == 256;
    let row_of_inputs = |_| {
        if !of_squares {
            return (0..inputs).map(|_| random.unit() as f32).collect();
        }
        let mut row = vec![0.0; inputs];
        (0..4).for_each(|man| row[64 * man + random.below(64) as usize] = 1.0);
        row
    };
    (0..1_000).map(row_of_inputs).collect()
}

fn ratios(_: &mut Criterion) {
    let table = EndgameTable::make(&"KBNK".parse().unwrap(), |_| {});
    for (name, shape, inputs, hidden) in SHAPES {
        let recipe = recipe(shape);
        let mut ours = Duration::MAX;
        for _ in 0..RUNS {
            let mut epoch_times = Vec::new();
            black_box(train(&recipe, &table, &Timeless, |_| epoch_times.push(cpu())).unwrap());
            ours = ours.min((epoch_times[EPOCHS] - epoch_times[0]) / (EPOCHS * EXAMPLES) as u32);
        }
        let (rows, mut plain) = (plain_inputs(inputs), Plain::new(inputs, hidden));
        let mut plain_time = Duration::MAX;
        for _ in 0..RUNS {
            let begun = cpu();
            rows.iter().for_each(|inputs| plain.learn(black_box(inputs), 0.4, 0.1));
            plain_time = plain_time.min((cpu() - begun) / rows.len() as u32);
        }
        print_rates(&format!("{name}: learns"), ours, plain_time);

        let evaluation = evaluation(recipe);
        let positions = positions(&table);
        let mut times = [Duration::MAX; 2];
        for _ in 0..RUNS {
            let begun = cpu();
            let sum: i64 =
                positions.iter().map(|position| i64::from(evaluation.evaluate(position))).sum();
            black_box(sum);
            times[0] = times[0].min((cpu() - begun) / positions.len() as u32);
            let begun = cpu();
            let sum: f32 = rows.iter().map(|row| plain.forward(row)[hidden.len() + 1][0]).sum();
            black_box(sum);
            times[1] = times[1].min((cpu() - begun) / rows.len() as u32);
        }
        print_rates(&format!("{name}: values"), times[0], times[1]);
    }
}

/// By a network that is trained already.
fn evaluation(recipe: Recipe) -> NetworkEvaluation {
    let evaluation = NetworkEvaluation::new(recipe);
    evaluation.network().unwrap();
    evaluation
}

fn print_rates(label: &str, ours: Duration, plain: Duration) {
    let [ours, plain] = [ours, plain].map(|took| 1.0 / took.as_secs_f64());
    println!(
        "{label} {ours:.0} positions/s, a plain network {plain:.0}: {:.1} times as many",
        ours / plain
    );
}

fn positions(table: &EndgameTable) -> Vec<Chess> {
    let drawn = table.positions().step_by(table.len() / 3_000).take(2_000);
    drawn.map(|position| Chess::parse(&Chess::rules(), &table.fen(&position)).unwrap()).collect()
}

fn evaluating(criterion: &mut Criterion) {
    let table = EndgameTable::make(&"KBNK".parse().unwrap(), |_| {});
    let positions = positions(&table);
    let mut group = criterion.benchmark_group("network evaluations");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let squares = r#""inputs": "king-pairs", "networks": "black", "hidden": [40, 32]"#;
    for (name, shape) in
        SHAPES.map(|(name, shape, ..)| (name, shape)).into_iter().chain([("king-pairs", squares)])
    {
        let evaluation = evaluation(recipe(shape));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                positions
                    .iter()
                    .map(|position| i64::from(evaluation.evaluate(position)))
                    .sum::<i64>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ratios, evaluating);
criterion_main!(benches);
