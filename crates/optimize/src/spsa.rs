//! Simultaneous perturbation stochastic approximation (Spall 1992, "Multivariate stochastic approximation using a
//! simultaneous perturbation gradient approximation"), as chess programmers tune by it.
//!
//! All parameters move at once, each up or down by a coin toss; the settings on both sides play, and every parameter
//! moves towards the winning side. Two measurements give information about a whole gradient.
//!
//! The schedule is fishtest's, which is Spall's (1998, "Implementation of the simultaneous perturbation algorithm",
//! section III) seen from the end: a_k = a / (A + k + 1)^0.602 and c_k = c / (k + 1)^0.101, where A is a tenth of the
//! iterations, and a and c make the last iteration have the given step and perturbation. In iteration k a parameter
//! moves by r_k c_k R Δ, where r_k = a_k / c_k², R is the excess of one side's wins over the other's and Δ is 1 or -1:
//! Spall's step a_k R / (2 c_k Δ) with R as twice a measurement.
//!
//! Whole numbers are rounded up or down at random, alike on both sides, and are perturbed by at least half a step, so
//! that the sides always differ. For a choice each side gets one of two different options, drawn in proportion to
//! weights that move as numbers do.

use spelrum_engine::Random;

use crate::space::{Dimension, Level, greatest};

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;

/// The least weight, so that a choice that lost often is still tried now and then.
const WEIGHT_LEAST: f64 = 0.05;

/// The perturbation of a choice: as large as that of a number with two values.
const CHOICE_PERTURBATION: f64 = 0.5;

/// A search by SPSA.
#[derive(Clone, Debug, PartialEq)]
pub struct Spsa {
    dimensions: Vec<Dimension>,
    schedule: Schedule,
    /// A number per dimension; for a choice a weight per option.
    theta: Vec<Vec<f64>>,
    start: Vec<Level>,
}

/// The sizes of iterations' moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The number of iterations: at least 1.
    pub iterations: u64,
    /// r at the last iteration: the share of a perturbation that a parameter moves per game won more.
    pub step: f64,
    /// c at the last iteration, as a share of the interval.
    pub perturbation: f64,
}

/// Both sides of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Perturbed {
    /// The settings of the plus side, then of the minus side.
    pub sides: [Vec<Level>; 2],
    /// The move of each parameter per game that the first side wins more than the other; for a choice, of each side's
    /// option.
    moves: Vec<f64>,
}

impl Schedule {
    /// The perturbation and the step of an iteration.
    fn gains(&self, iteration: u64) -> (f64, f64) {
        let all = self.iterations.max(1) as f64;
        let stability = all / 10.0;
        let number = iteration as f64 + 1.0;
        let c = self.perturbation * libm::pow(all / number, GAMMA);
        let a_end = self.step * self.perturbation * self.perturbation;
        let a = a_end * libm::pow((stability + all) / (stability + number), ALPHA);
        (c, a / (c * c))
    }
}

impl Spsa {
    /// Starts a search at a point.
    #[must_use]
    pub fn new(dimensions: Vec<Dimension>, start: Vec<Level>, schedule: Schedule) -> Self {
        let theta = dimensions.iter().zip(&start).map(|(dimension, level)| match *dimension {
            Dimension::Choice { options } => vec![0.5; options],
            Dimension::Real | Dimension::Whole { .. } => match *level {
                Level::Part(part) => vec![part.clamp(0.0, 1.0)],
                Level::Choice(_) => vec![0.5],
            },
        });
        let theta = theta.collect();
        Self { dimensions, schedule, theta, start }
    }

    /// The settings of an iteration; `random` must be used for this iteration only.
    #[must_use]
    pub fn perturb(&self, iteration: u64, random: &mut Random) -> Perturbed {
        let (c, r) = self.schedule.gains(iteration);
        let mut perturbed = Perturbed { sides: [Vec::new(), Vec::new()], moves: Vec::new() };
        for (dimension, theta) in self.dimensions.iter().zip(&self.theta) {
            let (levels, by) = match *dimension {
                Dimension::Choice { options } => {
                    let weights = theta.iter().map(|weight| weight.max(WEIGHT_LEAST)).collect();
                    (draw_two(options, weights, random), CHOICE_PERTURBATION)
                }
                Dimension::Real => {
                    let c = c.min(0.5);
                    let sign = sign(random);
                    let centre = theta[0].clamp(c, 1.0 - c);
                    ([centre + sign * c, centre - sign * c].map(Level::Part), sign * c)
                }
                Dimension::Whole { steps } => {
                    let steps = steps as f64;
                    let c = (c * steps).max(0.5).min(steps / 2.0);
                    let (sign, up) = (sign(random), random.unit());
                    let centre = (theta[0] * steps).clamp(c, steps - c);
                    let rounded = |number: f64| (number + up).floor().clamp(0.0, steps) / steps;
                    let sides = [rounded(centre + sign * c), rounded(centre - sign * c)];
                    (sides.map(Level::Part), sign * c / steps)
                }
            };
            let [plus, minus] = levels;
            perturbed.sides[0].push(plus);
            perturbed.sides[1].push(minus);
            perturbed.moves.push(r * by);
        }
        perturbed
    }

    /// Adds the result of an iteration: the excess of the first side's wins over the other's.
    pub fn tell(&mut self, perturbed: &Perturbed, won: f64) {
        let Perturbed { sides: [plus, minus], moves } = perturbed;
        for (place, theta) in self.theta.iter_mut().enumerate() {
            let by = moves[place] * won;
            let mut shift = |at: usize, by: f64| theta[at] = (theta[at] + by).clamp(0.0, 1.0);
            match (plus[place], minus[place]) {
                (Level::Choice(plus_option), Level::Choice(minus_option)) => {
                    shift(plus_option, by);
                    shift(minus_option, -by);
                }
                _ => shift(0, by),
            }
        }
    }

    /// The best point known so far.
    #[must_use]
    pub fn best(&self) -> Vec<Level> {
        let best = |((dimension, theta), start): ((&Dimension, &Vec<f64>), &Level)| match (
            dimension, start,
        ) {
            (Dimension::Choice { .. }, Level::Choice(start)) => {
                Level::Choice(greatest(theta, *start))
            }
            _ => Level::Part(dimension.rounded(theta[0])),
        };
        self.dimensions.iter().zip(&self.theta).zip(&self.start).map(best).collect()
    }
}

fn sign(random: &mut Random) -> f64 {
    if random.below(2) == 0 { 1.0 } else { -1.0 }
}

/// Two different options, drawn one after the other in proportion to their weights.
fn draw_two(options: usize, mut weights: Vec<f64>, random: &mut Random) -> [Level; 2] {
    let mut draw = |weights: &[f64]| {
        let mut left = random.unit() * weights.iter().sum::<f64>();
        for (place, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return place;
            }
        }
        weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(options - 1)
    };
    let first_option = draw(&weights);
    weights[first_option] = 0.0;
    [first_option, draw(&weights)].map(Level::Choice)
}

#[cfg(test)]
mod tests;
