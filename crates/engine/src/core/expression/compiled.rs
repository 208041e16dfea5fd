//! Compiled formulas: a straight line of instructions, without recursion, stack or allocation.

use super::{Expression, Function, Node};

/// A formula as a program.
///
/// It works on numbered places: first the values of the features that it reads, then its constants, then
/// intermediate results. Those are numbered as on a stack, so there are at most as many as the tree is deep.
/// It computes the same as [`Expression::evaluate`], bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// In ascending order.
    features: Vec<u16>,
    constants: Vec<f64>,
    instructions: Vec<Instruction>,
    places: usize,
    /// The place of the final value.
    result: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    function: Function,
    left: u16,
    right: u16,
    to: u16,
}

/// Few formulas need more places than this.
const FEW: usize = 32;
/// More than any formula needs: the maximum of leaves plus the maximum of results at once.
const MOST: usize = 1_024;

const _: () = assert!(super::NODES_MAX.div_ceil(2) + super::DEPTH_MAX < MOST);

impl Compiled {
    pub(super) fn new(expression: &Expression) -> Self {
        let features = expression.features();
        let mut constants: Vec<f64> = Vec::new();
        for node in expression.nodes() {
            if let Node::Constant(constant) = node
                && !constants.contains(constant)
            {
                constants.push(*constant);
            }
        }
        let first_result = features.len() + constants.len();
        let number = |place: usize| u16::try_from(place).unwrap_or(u16::MAX);

        let mut instructions = Vec::new();
        let mut places = first_result;
        // From the last node to the first, operands come before their function: the places of
        // operands, the first on top.
        let mut operands: Vec<u16> = Vec::new();
        for node in expression.nodes().iter().rev() {
            let place = match node {
                Node::Feature(feature) => features.partition_point(|other| other < feature),
                Node::Constant(constant) => {
                    let is_same = |number: &f64| number == constant;
                    features.len() + constants.iter().position(is_same).unwrap_or(0)
                }
                Node::Function(function) => {
                    let mut operand = || operands.pop().unwrap_or(0);
                    let (left, right) = (operand(), operand());
                    let is_result = |place: &&u16| usize::from(**place) >= first_result;
                    let to = first_result + operands.iter().filter(is_result).count();
                    places = places.max(to + 1);
                    let function = *function;
                    instructions.push(Instruction { function, left, right, to: number(to) });
                    to
                }
            };
            operands.push(number(place));
        }
        let result = operands.pop().unwrap_or(0);
        Self { features, constants, instructions, places, result }
    }

    /// The features that it reads, by their places in the game's list, each once, in ascending order.
    #[must_use]
    pub fn features(&self) -> &[u16] {
        &self.features
    }

    /// Its value. `compute` is called once with the features that it reads ([`Compiled::features`]), and
    /// writes the value of each into the place with the same index.
    #[inline]
    #[must_use]
    pub fn evaluate(&self, compute: impl FnOnce(&[u16], &mut [f64])) -> f64 {
        if self.places <= FEW { self.run::<FEW>(compute) } else { self.run::<MOST>(compute) }
    }

    #[inline]
    fn run<const PLACES: usize>(&self, compute: impl FnOnce(&[u16], &mut [f64])) -> f64 {
        let mut places = [0.0; PLACES];
        let (features, others) = places.split_at_mut(self.features.len());
        compute(&self.features, features);
        others[..self.constants.len()].copy_from_slice(&self.constants);
        // Every place is below `PLACES`; the remainder by a power of two lets the compiler see it.
        let place = |number: u16| usize::from(number) % PLACES;
        for instruction in &self.instructions {
            let left = places[place(instruction.left)];
            let right = places[place(instruction.right)];
            places[place(instruction.to)] = instruction.function.apply(left, right);
        }
        places[place(self.result)]
    }
}
