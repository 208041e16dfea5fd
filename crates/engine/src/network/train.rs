//! Stochastic gradient descent: one example after the other, or a few at a time.

use super::Network;
use super::dense::Dense;
use super::errors::{
    Difference, DistanceErrors, Errors, SideErrors, SquareErrors, mean, root_mean_square, square,
};
use super::examples::{Example, Examples, Purpose, stream};
use super::inputs::{Active, Inputs};
use super::lanes::{Lane, ZERO};
use super::order::Order;
use super::recipe::{Loss, Recipe, Schedule, Target};
use super::train_error::TrainError;
use crate::core::host::Host;
use crate::tables::EndgameTable;

/// Examples that are shown between calls of the host.
const EXAMPLES_BETWEEN_LOOKS: usize = 256;

/// One epoch of one network. Errors are root mean squares in plies: the difference between the answer and its
/// target, times the plies for a difference of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// The index of the network.
    pub network: u32,
    /// The number of the epoch, from 1.
    pub epoch: u32,
    /// The training error: over the examples as they were shown, with the weights of that moment.
    pub training_error: f64,
    /// The validation error after the epoch.
    pub validation_error: f64,
}

/// The training of one network. Errors are as in [`Epoch`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The index of the network.
    pub network: u32,
    /// The number of available positions; mirror images count once.
    pub positions: u64,
    /// The number of training positions.
    pub examples: u64,
    /// The number of validation positions.
    pub validation: u64,
    /// The epoch whose weights were kept, from 1: the first with the least validation error.
    pub best_epoch: u32,
    /// Its validation error.
    pub validation_error: f64,
    /// The validation error of always answering the mean of the examples' targets.
    pub constant_error: f64,
}

/// The result of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The network, with the weights of each part's best epoch.
    pub network: Network,
    /// Every epoch, those of the first network first.
    pub epochs: Vec<Epoch>,
    /// The training of each network.
    pub runs: Vec<Run>,
    /// The errors by side, for each side in the training positions.
    pub sides: Vec<SideErrors>,
    /// The same by distance to mate.
    pub distances: Vec<DistanceErrors>,
    /// The same by the square of black's king.
    pub squares: Vec<SquareErrors>,
}

/// Trains a network: a pure function of the recipe and the table. `host` is asked thousands of times a second
/// whether to continue; `tell` is called with each epoch.
///
/// # Errors
/// If the host aborts, weights stop being finite numbers, or there are too few positions.
///
/// # Panics
/// If the table is of another ending than the recipe.
pub fn train(
    recipe: &Recipe,
    table: &EndgameTable,
    host: &dyn Host,
    mut tell: impl FnMut(&Epoch),
) -> Result<Trained, TrainError> {
    assert_eq!(table.endgame(), recipe.endgame(), "the table is of the recipe's ending");
    let mut trained = Trained {
        network: Network::new(recipe.architecture.clone(), Network::zeros(&recipe.architecture)),
        epochs: Vec::new(),
        runs: Vec::new(),
        sides: Vec::new(),
        distances: Vec::new(),
        squares: Vec::new(),
    };
    for part in 0..recipe.networks() {
        let examples = Examples::draw(recipe, table, part, host)?;
        let epochs = &mut trained.epochs;
        let mut note = |epoch: Epoch| {
            tell(&epoch);
            epochs.push(epoch);
        };
        let mut training = Training::new(recipe, part);
        let (run, errors) = training.run(examples, host, &mut note)?;
        trained.runs.push(run);
        trained.sides.extend(errors.sides);
        trained.distances.extend(errors.distances);
        trained.squares.extend(errors.squares);
        trained.network.parts[part] = training.weights;
    }
    Ok(trained)
}

/// A network in training.
struct Training<'r> {
    recipe: &'r Recipe,
    network: usize,
    inputs: Inputs,
    weights: Dense,
    /// The gradient of the current batch; `None` if each example changes the weights at once.
    batch: Option<Batch>,
    active: Active,
    values: Vec<Lane>,
    deltas: Vec<Lane>,
}

struct Batch {
    gradient: Dense,
    /// The inputs with a nonzero gradient.
    rows: Vec<u32>,
    is_in_rows: Vec<bool>,
}

impl<'r> Training<'r> {
    fn new(recipe: &'r Recipe, network: usize) -> Self {
        let architecture = &recipe.architecture;
        let inputs = architecture.inputs();
        let zeros = || Dense::zeros(inputs.count(), &architecture.hidden, architecture.activation);
        let mut weights = zeros();
        weights.randomise(inputs.active(), &mut stream(recipe.seed, network, Purpose::Weights));
        let batch = (recipe.batch > 1).then(|| Batch {
            gradient: zeros(),
            rows: Vec::new(),
            is_in_rows: vec![false; inputs.count()],
        });
        let columns = weights.columns();
        Self {
            recipe,
            network,
            inputs,
            weights,
            batch,
            active: Active::NONE,
            values: vec![ZERO; columns],
            deltas: vec![ZERO; columns],
        }
    }

    /// Trains and keeps the best weights.
    fn run(
        &mut self,
        examples: Examples,
        host: &dyn Host,
        note: &mut dyn FnMut(Epoch),
    ) -> Result<(Run, Errors), TrainError> {
        let Examples { training, validation, positions } = examples;
        let network = self.network as u32;
        let target = self.target();
        let guess = mean(training.iter().map(|example| f64::from(target.value(example.plies()))));
        let count = training.len() as u64;
        let random = stream(self.recipe.seed, self.network, Purpose::Order);
        let mut order = Order::new(training, self.recipe.balance, random);
        let mut best: Option<(f64, u32, Dense)> = None;
        for epoch in 1..=self.recipe.epochs {
            let shown = order.next_epoch();
            let training_error = self.show(shown, rate(self.recipe, epoch), host)?;
            let validation_error = self.error(&validation);
            if !validation_error.is_finite() || !self.weights.is_finite() {
                return Err(TrainError::Diverged { network, epoch });
            }
            note(Epoch { network, epoch, training_error, validation_error });
            match &mut best {
                Some((least, best_epoch, _)) if validation_error >= *least => {
                    let waited = epoch - *best_epoch;
                    if self.recipe.patience > 0 && waited >= self.recipe.patience {
                        break;
                    }
                }
                Some((least, best_epoch, weights)) => {
                    (*least, *best_epoch) = (validation_error, epoch);
                    weights.clone_from(&self.weights);
                }
                None => best = Some((validation_error, epoch, self.weights.clone())),
            }
        }
        let Some((validation_error, best_epoch, weights)) = best else {
            unreachable!("there is one epoch at least");
        };
        self.weights = weights;
        let errors = Errors::from_differences(network, target, &self.differences(&validation));
        let squared_difference =
            |example: &Example| square(f64::from(target.value(example.plies())) - guess);
        let squares = validation.iter().map(squared_difference);
        let run = Run {
            network,
            positions,
            examples: count,
            validation: validation.len() as u64,
            best_epoch,
            validation_error,
            constant_error: target.over * mean(squares).sqrt(),
        };
        Ok((run, errors))
    }

    /// Shows every example once, in order, and returns the training error.
    fn show(
        &mut self,
        examples: &[Example],
        rate: f64,
        host: &dyn Host,
    ) -> Result<f64, TrainError> {
        let mut squares = 0.0;
        let batch = self.recipe.batch;
        let mut shown = 0;
        for examples in examples.chunks(batch) {
            let scale = -(rate / examples.len() as f64) as f32;
            for example in examples {
                if shown % EXAMPLES_BETWEEN_LOOKS == 0 && host.aborted() {
                    return Err(TrainError::Aborted);
                }
                shown += 1;
                squares += square(self.learn(*example, scale));
            }
            if let Some(Batch { gradient, rows, is_in_rows }) = &mut self.batch {
                self.weights.take(scale, gradient, rows);
                rows.drain(..).for_each(|row| is_in_rows[row as usize] = false);
            }
        }
        Ok(self.target().over * (squares / shown as f64).sqrt())
    }

    /// Learns from one example, at once or with its batch, and returns the difference before.
    #[inline]
    fn learn(&mut self, example: Example, scale: f32) -> f64 {
        let answer = self.answer(example);
        let error = answer - self.target().value(example.plies());
        let delta = match self.recipe.loss {
            Loss::Squared => error * answer * (1.0 - answer),
            Loss::CrossEntropy => error,
        };
        let Self { weights, batch, active, values, deltas, .. } = self;
        weights.backward(delta, values, deltas);
        match batch {
            None => weights.add_gradient(scale, active, values, delta, deltas),
            Some(Batch { gradient, rows, is_in_rows }) => {
                gradient.add_gradient(1.0, active, values, delta, deltas);
                for (row, _) in active.iter() {
                    if !std::mem::replace(&mut is_in_rows[row], true) {
                        rows.push(row as u32);
                    }
                }
            }
        }
        f64::from(error)
    }

    #[inline]
    fn answer(&mut self, example: Example) -> f32 {
        self.inputs.read(example.squares(), example.white_moves(), &mut self.active);
        self.weights.forward(&self.active, &mut self.values)
    }

    /// The error over these positions.
    fn error(&mut self, examples: &[Example]) -> f64 {
        self.target().over * root_mean_square(&self.differences(examples))
    }

    /// The differences between its answers and their targets.
    fn differences(&mut self, examples: &[Example]) -> Vec<Difference> {
        let target = self.target();
        let mut difference =
            |example: &Example| f64::from(self.answer(*example) - target.value(example.plies()));
        examples.iter().map(|example| (*example, difference(example))).collect()
    }

    const fn target(&self) -> Target {
        self.recipe.architecture.target
    }
}

/// The rate of an epoch.
fn rate(recipe: &Recipe, epoch: u32) -> f64 {
    let done = f64::from(epoch - 1) / f64::from(recipe.epochs);
    recipe.rate
        * match recipe.schedule {
            Schedule::Constant => 1.0,
            Schedule::Linear => 1.0 - done,
            Schedule::Cosine => 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done)),
        }
}

#[cfg(test)]
mod tests {
    use super::super::twin::{Twin, dense_inputs};
    use super::*;
    use crate::core::host::Timeless;

    fn recipe(json: &str) -> Recipe {
        Recipe::from_parameters(&serde_json::from_str(json).unwrap()).unwrap()
    }

    /// Descent by the differences of a plain network, example by example and batch by batch.
    #[test]
    fn weights_go_where_plain_descent_takes_them() {
        let table = EndgameTable::make(&"KRK".parse().unwrap(), |_| {});
        for (batch, loss) in [(1, "squared"), (1, "cross-entropy"), (7, "squared")] {
            for (inputs, activation) in [("all-distances", "sigmoid"), ("one-hot", "tanh")] {
                let recipe = recipe(&format!(
                    r#"{{"ending": "KRK", "networks": "one", "hidden": [3, 2], "rate": 0.8,
                        "examples": 40, "validation": 5, "target_over": 40, "batch": {batch},
                        "loss": "{loss}", "inputs": "{inputs}", "activation": "{activation}"}}"#
                ));
                let examples = Examples::draw(&recipe, &table, 0, &Timeless).unwrap();
                let mut training = Training::new(&recipe, 0);
                let mut twin = Twin::from_dense(&training.weights);
                let count = training.inputs.count();
                let mut squares = 0.0;
                for batch in examples.training.chunks(recipe.batch) {
                    let mut change = vec![0.0; twin.numbers.len()];
                    for example in batch {
                        let mut active = Active::NONE;
                        let white_moves = example.white_moves();
                        training.inputs.read(example.squares(), white_moves, &mut active);
                        let inputs = dense_inputs(&active, count);
                        let target = 0.9 - f64::from(example.plies().unwrap()) / 40.0;
                        squares += square(twin.output(&inputs) - target);
                        for (at, change) in change.iter_mut().enumerate() {
                            let slope = twin.slope(at, &inputs, target, recipe.loss);
                            *change -= 0.8 / batch.len() as f64 * slope;
                        }
                    }
                    twin.numbers
                        .iter_mut()
                        .zip(change)
                        .for_each(|(number, change)| *number += change);
                }
                let error = training.show(&examples.training, 0.8, &Timeless).unwrap();
                let expected = 40.0 * (squares / 40.0).sqrt();
                assert!((error - expected).abs() < 1e-3, "{error} {expected}");
                for (found, expected) in training.weights.numbers().iter().zip(&twin.numbers) {
                    assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn rates_go_down_as_they_should() {
        let rates = |schedule: &str| {
            let recipe = recipe(&format!(
                r#"{{"ending": "KRK", "rate": 2, "epochs": 4, "schedule": "{schedule}"}}"#
            ));
            [1, 2, 3, 4].map(|epoch| rate(&recipe, epoch))
        };
        assert_eq!(rates("constant"), [2.0; 4]);
        assert_eq!(rates("linear"), [2.0, 1.5, 1.0, 0.5]);
        let half = 0.5_f64.sqrt();
        let cosine = [2.0, 1.0 + half, 1.0, 1.0 - half];
        for (found, expected) in rates("cosine").into_iter().zip(cosine) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
