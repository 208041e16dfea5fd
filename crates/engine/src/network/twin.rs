//! A slow, obvious network in 64-bit floats, for the tests.

use super::dense::{Activation, Dense};
use super::inputs::Active;
use super::recipe::Loss;

/// A network's weights and biases, in the order of its bytes.
pub(super) struct Twin {
    activation: Activation,
    units: Vec<usize>,
    pub(super) numbers: Vec<f64>,
}

impl Twin {
    pub(super) fn from_dense(dense: &Dense) -> Self {
        let units = dense.hidden.iter().map(|layer| layer.units).collect();
        let numbers = dense.numbers().into_iter().map(f64::from).collect();
        Self { activation: dense.activation, units, numbers }
    }

    pub(super) fn output(&self, inputs: &[f64]) -> f64 {
        let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
        let mut numbers = self.numbers.as_slice();
        let mut values = inputs.to_vec();
        for (layer, units) in self.units.iter().copied().chain([1]).enumerate() {
            let (weights, rest) = numbers.split_at(values.len() * units);
            let (biases, rest) = rest.split_at(units);
            let sum = |unit: usize| {
                let products = values.iter().zip(weights.iter().skip(unit).step_by(units));
                biases[unit] + products.map(|(value, weight)| value * weight).sum::<f64>()
            };
            let activation = |sum: f64| match self.activation {
                _ if layer == self.units.len() => sigmoid(sum),
                Activation::Sigmoid => sigmoid(sum),
                Activation::Tanh => libm::tanh(sum),
                Activation::Relu => sum.max(0.0),
            };
            values = (0..units).map(|unit| activation(sum(unit))).collect();
            numbers = rest;
        }
        assert!(numbers.is_empty());
        values[0]
    }

    /// The derivative of the loss by a weight, from differences.
    pub(super) fn slope(&mut self, at: usize, inputs: &[f64], target: f64, loss: Loss) -> f64 {
        const STEP: f64 = 1e-5;
        let weight = self.numbers[at];
        let [above, below] = [STEP, -STEP].map(|step| {
            self.numbers[at] = weight + step;
            let output = self.output(inputs);
            match loss {
                Loss::Squared => (output - target) * (output - target) / 2.0,
                Loss::CrossEntropy => {
                    -target * libm::log(output) - (1.0 - target) * libm::log(1.0 - output)
                }
            }
        });
        self.numbers[at] = weight;
        (above - below) / (2.0 * STEP)
    }
}

/// All inputs, including those that are 0.
pub(super) fn dense_inputs(active: &Active, count: usize) -> Vec<f64> {
    let mut dense = vec![0.0; count];
    active.iter().for_each(|(input, value)| dense[input] = f64::from(value));
    dense
}
