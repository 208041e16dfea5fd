//! Fully connected layers: their output, and its derivative by each weight (back-propagation: Rumelhart,
//! Hinton and Williams 1986, "Learning representations by back-propagating errors", Nature 323).

use super::inputs::Active;
use super::lanes::{LANES, Lane, ZERO, add_scaled, dot, lanes, sigmoid, tanh};
use crate::core::rng::Random;
use spelrum_names::Names;

/// The activation function of a hidden layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "kebab-case")]
pub(super) enum Activation {
    Sigmoid,
    Tanh,
    Relu,
}

impl Activation {
    fn apply(self, sums: &mut [Lane]) {
        match self {
            Self::Sigmoid => sums.iter_mut().for_each(|lane| each(lane, sigmoid)),
            Self::Tanh => sums.iter_mut().for_each(|lane| each(lane, tanh)),
            Self::Relu => sums.iter_mut().for_each(|lane| {
                each(lane, |sum| if sum < 0.0 { 0.0 } else { sum });
            }),
        }
    }

    /// Multiplies each delta by the slope of the activation.
    fn scale_by_slope(self, deltas: &mut [Lane], values: &[Lane]) {
        let slope = |value: f32| match self {
            Self::Sigmoid => value * (1.0 - value),
            Self::Tanh => 1.0 - value * value,
            Self::Relu => f32::from(u8::from(value > 0.0)),
        };
        for (deltas, values) in deltas.iter_mut().zip(values) {
            for lane in 0..LANES {
                deltas[lane] *= slope(values[lane]);
            }
        }
    }
}

#[inline(always)]
fn each(lane: &mut Lane, change: impl Fn(f32) -> f32) {
    for number in lane {
        *number = change(*number);
    }
}

/// A hidden layer. Surplus units fill the last lane: their weights and values are 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    pub(super) units: usize,
    /// A row for each input.
    weights: Vec<Lane>,
    biases: Vec<Lane>,
}

impl Layer {
    fn zeros(inputs: usize, units: usize) -> Self {
        let columns = lanes(units);
        Self { inputs, units, weights: vec![ZERO; inputs * columns], biases: vec![ZERO; columns] }
    }

    fn columns(&self) -> usize {
        self.biases.len()
    }

    fn row(&self, input: usize) -> &[Lane] {
        &self.weights[input * self.columns()..][..self.columns()]
    }

    fn row_mut(&mut self, input: usize) -> &mut [Lane] {
        let columns = self.columns();
        &mut self.weights[input * columns..][..columns]
    }

    /// The layer's values: for each unit the bias, then its inputs in their order.
    #[inline]
    fn forward(
        &self,
        inputs: impl Iterator<Item = (usize, f32)> + Clone,
        activation: Activation,
        values: &mut [Lane],
    ) {
        let columns = self.columns();
        for (column, value) in values.iter_mut().enumerate() {
            let mut sum = self.biases[column];
            for (input, x) in inputs.clone() {
                add_scaled(&mut sum, x, &self.weights[input * columns + column]);
            }
            *value = sum;
        }
        activation.apply(values);
        if let Some(last) = values.last_mut() {
            let filled = self.units - (columns - 1) * LANES;
            last[filled..].fill(0.0);
        }
    }
}

/// A network of one to three hidden layers and an output, the sigmoid of a sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dense {
    pub(super) activation: Activation,
    pub(super) hidden: Vec<Layer>,
    output: Vec<Lane>,
    output_bias: f32,
}

/// The most units of a hidden layer.
pub(super) const UNITS_MAX: usize = 1_024;

/// The most lanes of the values of a network's units.
pub(super) const COLUMNS_MAX: usize = 3 * lanes(UNITS_MAX);

impl Dense {
    pub(super) fn zeros(inputs: usize, units: &[usize], activation: Activation) -> Self {
        let inputs_of = |layer: usize| if layer == 0 { inputs } else { units[layer - 1] };
        let hidden =
            units.iter().enumerate().map(|(at, units)| Layer::zeros(inputs_of(at), *units));
        let last = units.last().copied().unwrap_or(inputs);
        Self {
            activation,
            hidden: hidden.collect(),
            output: vec![ZERO; lanes(last)],
            output_bias: 0.0,
        }
    }

    /// Initial weights: uniform about 0, with a variance of one over a unit's number of inputs that are not 0
    /// (LeCun, Bottou, Orr and Müller 1998, "Efficient BackProp"), twice that before units that are 0 for
    /// half of all sums (He, Zhang, Ren and Sun 2015, "Delving Deep into Rectifiers"). Biases are 0.
    pub(super) fn randomise(&mut self, active: usize, random: &mut Random) {
        let gain = if self.activation == Activation::Relu { 6.0 } else { 3.0 };
        let mut draw = |gain: f64, inputs: usize| {
            let bound = (gain / inputs.max(1) as f64).sqrt();
            (bound * (2.0 * random.unit() - 1.0)) as f32
        };
        let mut inputs = active;
        for layer in &mut self.hidden {
            let units = layer.units;
            for input in 0..layer.inputs {
                let row = layer.row_mut(input).as_flattened_mut();
                row[..units].fill_with(|| draw(gain, inputs));
            }
            inputs = units;
        }
        self.output.as_flattened_mut()[..inputs].fill_with(|| draw(3.0, inputs));
    }

    /// Lanes of the values of all units.
    pub(super) fn columns(&self) -> usize {
        self.hidden.iter().map(Layer::columns).sum()
    }

    /// The output, from 0 to 1. Writes the units' values into `values`, layer after layer.
    #[inline]
    pub(super) fn forward(&self, active: &Active, values: &mut [Lane]) -> f32 {
        let mut rest = values;
        let mut below: &[Lane] = &[];
        for (at, layer) in self.hidden.iter().enumerate() {
            let (here, after) = rest.split_at_mut(layer.columns());
            if at == 0 {
                layer.forward(active.iter(), self.activation, here);
            } else {
                let inputs = below.as_flattened()[..layer.inputs].iter().copied().enumerate();
                layer.forward(inputs, self.activation, here);
            }
            (below, rest) = (here, after);
        }
        sigmoid(self.output_bias + dot(&self.output, below))
    }

    /// Writes the error's derivative by the sum of each unit into `deltas`, given that by the sum of the
    /// output. `values` are those of [`Dense::forward`].
    #[inline]
    pub(super) fn backward(&self, delta: f32, values: &[Lane], deltas: &mut [Lane]) {
        let mut end = self.columns();
        let mut above: Option<&Layer> = None;
        for layer in self.hidden.iter().rev() {
            let begin = end - layer.columns();
            let (here, after) = deltas.split_at_mut(end);
            let here = &mut here[begin..];
            match above {
                None => {
                    for (here, weights) in here.iter_mut().zip(&self.output) {
                        *here = weights.map(|weight| weight * delta);
                    }
                }
                Some(above) => {
                    let after = &after[..above.columns()];
                    let here = here.as_flattened_mut();
                    for (unit, here) in here[..layer.units].iter_mut().enumerate() {
                        *here = dot(above.row(unit), after);
                    }
                    here[layer.units..].fill(0.0);
                }
            }
            self.activation.scale_by_slope(here, &values[begin..end]);
            (end, above) = (begin, Some(layer));
        }
    }

    /// Adds `scale` times the error's gradient to these weights, which are the network's own or others of the
    /// same shape.
    #[inline]
    pub(super) fn add_gradient(
        &mut self,
        scale: f32,
        active: &Active,
        values: &[Lane],
        delta: f32,
        deltas: &[Lane],
    ) {
        let mut begin = 0;
        let mut below: &[Lane] = &[];
        for (at, layer) in self.hidden.iter_mut().enumerate() {
            let (inputs, end) = (layer.inputs, begin + layer.columns());
            let here = &deltas[begin..end];
            let mut add = |input: usize, x: f32| {
                let factor = scale * x;
                for (weights, delta) in layer.row_mut(input).iter_mut().zip(here) {
                    add_scaled(weights, factor, delta);
                }
            };
            if at == 0 {
                active.iter().for_each(|(input, x)| add(input, x));
            } else {
                let below = below.as_flattened()[..inputs].iter();
                below.enumerate().for_each(|(input, x)| add(input, *x));
            }
            for (bias, delta) in layer.biases.iter_mut().zip(here) {
                add_scaled(bias, scale, delta);
            }
            below = &values[begin..end];
            begin = end;
        }
        let factor = scale * delta;
        for (weights, values) in self.output.iter_mut().zip(below) {
            add_scaled(weights, factor, values);
        }
        self.output_bias += factor;
    }

    /// Adds `scale` times a gradient of the same shape and clears it. In its first layer only these rows are
    /// not 0.
    pub(super) fn take(&mut self, scale: f32, gradient: &mut Self, rows: &[u32]) {
        let take = |to: &mut [Lane], from: &mut [Lane]| {
            for (to, from) in to.iter_mut().zip(from) {
                add_scaled(to, scale, from);
                *from = ZERO;
            }
        };
        for (at, (to, from)) in self.hidden.iter_mut().zip(&mut gradient.hidden).enumerate() {
            take(&mut to.biases, &mut from.biases);
            if at == 0 {
                for row in rows.iter().map(|row| *row as usize) {
                    take(to.row_mut(row), from.row_mut(row));
                }
            } else {
                take(&mut to.weights, &mut from.weights);
            }
        }
        take(&mut self.output, &mut gradient.output);
        self.output_bias += scale * gradient.output_bias;
        gradient.output_bias = 0.0;
    }

    /// Every weight and bias in the order of a network's bytes: for each layer the rows of its inputs and
    /// then the biases, then the output's weights and its bias.
    pub(super) fn numbers(&self) -> Vec<f32> {
        let mut numbers = Vec::new();
        let mut last = 0;
        for layer in &self.hidden {
            last = layer.units;
            for row in (0..layer.inputs).map(|input| layer.row(input)).chain([&*layer.biases]) {
                numbers.extend_from_slice(&row.as_flattened()[..last]);
            }
        }
        numbers.extend_from_slice(&self.output.as_flattened()[..last]);
        numbers.push(self.output_bias);
        numbers
    }

    /// Sets the weights from the sequence of [`Dense::numbers`].
    pub(super) fn set_numbers(&mut self, mut numbers: impl Iterator<Item = f32>) {
        let mut set =
            |to: &mut [f32]| to.iter_mut().zip(&mut numbers).for_each(|(to, from)| *to = from);
        let mut last = 0;
        for layer in &mut self.hidden {
            last = layer.units;
            for input in 0..layer.inputs {
                set(&mut layer.row_mut(input).as_flattened_mut()[..last]);
            }
            set(&mut layer.biases.as_flattened_mut()[..last]);
        }
        set(&mut self.output.as_flattened_mut()[..last]);
        set(std::slice::from_mut(&mut self.output_bias));
    }

    pub(super) fn is_finite(&self) -> bool {
        self.numbers().iter().all(|number| number.is_finite())
    }
}

/// The number of a network's weights and biases.
pub(super) fn numbers_of(inputs: usize, units: &[usize]) -> usize {
    let (mut sum, mut below) = (0, inputs);
    for units in units {
        sum += (below + 1) * units;
        below = *units;
    }
    sum + below + 1
}

#[cfg(test)]
mod tests {
    use super::super::inputs::{InputSet, Inputs};
    use super::super::recipe::Loss;
    use super::super::squares::Squares;
    use super::super::twin::{Twin, dense_inputs};
    use super::*;

    /// Networks of all shapes with nonzero weights, and a position for each.
    fn each(mut check: impl FnMut(Dense, &Active, usize)) {
        let mut random = Random::from_key([5; 32]);
        for set in [InputSet::AllDistances, InputSet::OneHot] {
            let inputs = Inputs { set, men: 4, has_turn: true };
            for activation in Activation::ALL {
                for units in [&[1][..], &[8], &[5, 11], &[9, 8, 3], &[2, 17, 24]] {
                    let mut dense = Dense::zeros(inputs.count(), units, activation);
                    let count = dense.numbers().len();
                    assert_eq!(count, numbers_of(inputs.count(), units));
                    dense.set_numbers((0..count).map(|_| random.unit() as f32 * 1.6 - 0.8));
                    let mut active = Active::NONE;
                    let squares = [(); 4].map(|()| random.below(64) as u8);
                    inputs.read(Squares::new(&squares), random.below(2) == 0, &mut active);
                    check(dense, &active, inputs.count());
                }
            }
        }
    }

    #[test]
    fn the_output_is_that_of_a_plain_network() {
        each(|dense, active, count| {
            let mut values = vec![[7.0; LANES]; dense.columns()];
            let found = dense.forward(active, &mut values);
            let expected = Twin::from_dense(&dense).output(&dense_inputs(active, count));
            assert!((f64::from(found) - expected).abs() < 2e-6, "{found} {expected} {dense:?}");
        });
    }

    /// Each weight's change equals the derivative of the error.
    #[test]
    fn the_gradient_is_that_of_differences() {
        const TARGET: f64 = 0.3;
        each(|dense, active, count| {
            let inputs = dense_inputs(active, count);
            let mut twin = Twin::from_dense(&dense);
            let mut values = vec![ZERO; dense.columns()];
            let mut deltas = vec![[7.0; LANES]; dense.columns()];
            let answer = dense.forward(active, &mut values);
            let delta = (answer - TARGET as f32) * answer * (1.0 - answer);
            dense.backward(delta, &values, &mut deltas);
            let units: Vec<usize> = dense.hidden.iter().map(|layer| layer.units).collect();
            let mut gradient = Dense::zeros(count, &units, dense.activation);
            gradient.add_gradient(2.0, active, &values, delta, &deltas);
            for (at, found) in gradient.numbers().into_iter().enumerate() {
                let expected = 2.0 * twin.slope(at, &inputs, TARGET, Loss::Squared);
                assert!((f64::from(found) - expected).abs() < 2e-5, "{at}: {found} {expected}");
            }
            // Surplus units of a lane stay 0.
            let total: f32 = gradient.numbers().iter().map(|number| number.abs()).sum();
            let lanes = gradient.hidden.iter().flat_map(|layer| [&layer.weights, &layer.biases]);
            let lanes = lanes.chain([&gradient.output]).flat_map(|lanes| lanes.as_flattened());
            let of_lanes: f32 = lanes.map(|number| number.abs()).sum::<f32>();
            assert!((of_lanes + gradient.output_bias.abs() - total).abs() < 1e-3 * total.max(1.0));

            // A gradient gives the same change as direct addition, and is then 0.
            let rows: Vec<u32> = active.iter().map(|(row, _)| row as u32).collect();
            let (mut at_once, mut taken) = (dense.clone(), dense.clone());
            at_once.add_gradient(-0.5 * 2.0, active, &values, delta, &deltas);
            taken.take(-0.5, &mut gradient, &rows);
            assert_eq!(gradient, Dense::zeros(count, &units, dense.activation));
            for (at_once, taken) in at_once.numbers().into_iter().zip(taken.numbers()) {
                assert!((at_once - taken).abs() < 1e-6);
            }
        });
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        each(|dense, _, count| {
            let units: Vec<usize> = dense.hidden.iter().map(|layer| layer.units).collect();
            let mut read = Dense::zeros(count, &units, dense.activation);
            read.set_numbers(dense.numbers().into_iter());
            assert_eq!(read, dense);
            assert!(dense.is_finite());
            read.output_bias = f32::NAN;
            assert!(!read.is_finite());
        });
    }

    #[test]
    fn first_weights_are_about_0_and_as_wide_as_they_should_be() {
        for (activation, gain) in [(Activation::Tanh, 3.0), (Activation::Relu, 6.0)] {
            let mut dense = Dense::zeros(256, &[60, 12], activation);
            dense.randomise(4, &mut Random::from_key([3; 32]));
            for (numbers, bound) in [
                (&dense.hidden[0].weights, gain / 4.0),
                (&dense.hidden[1].weights, gain / 60.0),
                (&dense.output, 3.0 / 12.0_f64),
            ] {
                let numbers: Vec<f32> = numbers
                    .as_flattened()
                    .iter()
                    .copied()
                    .filter(|number| *number != 0.0)
                    .collect();
                let greatest = numbers.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
                let bound = bound.sqrt() as f32;
                assert!(greatest <= bound && greatest > 0.7 * bound, "{greatest} of {bound}");
                let mean = numbers.iter().sum::<f32>() / numbers.len() as f32;
                assert!(mean.abs() < bound / (numbers.len() as f32).sqrt() * 3.0, "{mean}");
            }
        }
    }
}
