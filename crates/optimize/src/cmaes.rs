//! Evolution by a normal distribution that learns the direction of better points: CMA-ES (Hansen 2016, "The CMA
//! evolution strategy: a tutorial", arXiv 1604.00772, appendix C; weights of the better half only, as in its section
//! 3).
//!
//! Points are drawn around a mean and ranked by their measurements; mean, step size and covariance move towards the
//! better half. Only the order counts.
//!
//! Bounds: a point outside is redrawn a few times, then moved to the bound. Whole numbers are rounded, and a choice is
//! the greatest of as many numbers as it has options; their spread never falls below the distance to the next value (as
//! in Hansen 2011, "A CMA-ES for mixed-integer nonlinear optimization"): otherwise all points would become equal before
//! anything is known.

use spelrum_engine::Random;

use crate::eigen::Eigen;
use crate::space::{Dimension, Level, greatest};

/// The initial step size, as a share of the intervals (tutorial, appendix C: 0.3 of the expected range of the best).
const SIGMA: f64 = 0.3;

/// Redraws of a point outside the bounds.
const REDRAWS: usize = 10;

/// The least spread of a whole number, as a share of its step.
const STEP_SPREAD: f64 = 0.3;

/// The least spread of a choice's numbers.
const CHOICE_SPREAD: f64 = 0.1;

/// The lead of the initial choice.
const HEAD_START: f64 = 0.1;

/// A search by CMA-ES.
#[derive(Clone, Debug, PartialEq)]
pub struct CmaEs {
    dimensions: Vec<Dimension>,
    start: Vec<Level>,
    constants: Constants,
    mean: Vec<f64>,
    sigma: f64,
    covariance: Vec<Vec<f64>>,
    /// The covariance's decomposition: scales and directions.
    eigen: Eigen,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    generation: u64,
}

/// Constants that depend on the number of coordinates and points.
#[derive(Clone, Debug, PartialEq)]
struct Constants {
    population: usize,
    weights: Vec<f64>,
    mu_eff: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
    chi: f64,
}

/// A drawn point.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its coordinates, 0 to 1.
    coordinates: Vec<f64>,
    /// The levels that the coordinates stand for.
    pub levels: Vec<Level>,
}

impl Constants {
    /// Appendix C, table 1, without negative weights.
    fn new(n: usize, population: usize) -> Self {
        let population = population.max(2);
        let mu = population / 2;
        let raw: Vec<f64> = (1..=mu)
            .map(|i| libm::log((population as f64 + 1.0) / 2.0) - libm::log(i as f64))
            .collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let mu_eff = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let n = n as f64;
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        let c_1 = 2.0 / ((n + 1.3) * (n + 1.3) + mu_eff);
        Self {
            population,
            weights,
            mu_eff,
            c_sigma,
            d_sigma: 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma,
            c_c: (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n),
            c_1,
            c_mu: (1.0 - c_1)
                .min(2.0 * (0.25 + mu_eff + 1.0 / mu_eff - 2.0) / ((n + 2.0) * (n + 2.0) + mu_eff)),
            chi: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

/// The default number of points per generation: 4 + ⌊3 ln n⌋ for n coordinates (tutorial, equation 48).
#[must_use]
pub fn usual_population(dimensions: &[Dimension]) -> u64 {
    4 + (3.0 * libm::log(coordinates_of(dimensions) as f64)).floor() as u64
}

fn coordinates_of(dimensions: &[Dimension]) -> usize {
    let coordinates = |dimension: &Dimension| match dimension {
        Dimension::Choice { options } => *options,
        Dimension::Real | Dimension::Whole { .. } => 1,
    };
    dimensions.iter().map(coordinates).sum::<usize>().max(1)
}

impl CmaEs {
    /// Starts a search at a point, with this many points in each generation: at least 2.
    #[must_use]
    pub fn new(dimensions: Vec<Dimension>, start: Vec<Level>, population: u64) -> Self {
        let mut mean = Vec::new();
        for (dimension, level) in dimensions.iter().zip(&start) {
            match (*dimension, *level) {
                (Dimension::Choice { options }, Level::Choice(chosen)) => {
                    mean.extend(
                        (0..options)
                            .map(|option| if option == chosen { 0.5 + HEAD_START } else { 0.5 }),
                    );
                }
                (_, Level::Part(part)) => mean.push(part.clamp(0.0, 1.0)),
                (_, Level::Choice(_)) => mean.push(0.5),
            }
        }
        let n = mean.len();
        let population = usize::try_from(population).unwrap_or(usize::MAX);
        let covariance: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
        Self {
            constants: Constants::new(n, population),
            eigen: Eigen::from_matrix(&covariance),
            covariance,
            dimensions,
            start,
            mean,
            sigma: SIGMA,
            path_sigma: vec![0.0; n],
            path_c: vec![0.0; n],
            generation: 0,
        }
    }

    /// The points of this generation; `random` must be used for this generation only.
    #[must_use]
    pub fn ask(&self, random: &mut Random) -> Vec<Sample> {
        let sample = |_| {
            let mut coordinates = self.draw(random);
            for _ in 0..REDRAWS {
                if coordinates.iter().all(|coordinate| (0.0..=1.0).contains(coordinate)) {
                    break;
                }
                coordinates = self.draw(random);
            }
            coordinates.iter_mut().for_each(|coordinate| *coordinate = coordinate.clamp(0.0, 1.0));
            let levels = self.levels(&coordinates);
            Sample { coordinates, levels }
        };
        (0..self.constants.population).map(sample).collect()
    }

    fn draw(&self, random: &mut Random) -> Vec<f64> {
        let Eigen { values, vectors } = &self.eigen;
        let scaled: Vec<f64> =
            values.iter().map(|value| value.max(0.0).sqrt() * normal(random)).collect();
        let coordinate = |(mean, row): (&f64, &Vec<f64>)| {
            mean + self.sigma * row.iter().zip(&scaled).map(|(b, z)| b * z).sum::<f64>()
        };
        self.mean.iter().zip(vectors).map(coordinate).collect()
    }

    /// Adds the fitness of this generation's points; greater is better. A point without a fitness counts as the mean of
    /// the others.
    pub fn tell(&mut self, samples: &[Sample], fitness: &[Option<f64>]) {
        let known: Vec<f64> = fitness.iter().flatten().copied().collect();
        self.generation += 1;
        if known.is_empty() {
            return;
        }
        let middle = known.iter().sum::<f64>() / known.len() as f64;
        let mut order: Vec<usize> = (0..samples.len()).collect();
        let fitness_of = |place: &usize| fitness.get(*place).copied().flatten().unwrap_or(middle);
        order.sort_by(|first, second| fitness_of(second).total_cmp(&fitness_of(first)));
        let best: Vec<&[f64]> = order
            .iter()
            .take(self.constants.weights.len())
            .map(|place| samples[*place].coordinates.as_slice())
            .collect();
        self.update(&best);
    }

    /// Equations 41 to 47, for the better half in order.
    #[expect(clippy::needless_range_loop, reason = "formulas of matrices have indices")]
    fn update(&mut self, best: &[&[f64]]) {
        let Constants { weights, mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi, .. } =
            self.constants.clone();
        let n = self.mean.len();
        let steps: Vec<Vec<f64>> = best
            .iter()
            .map(|point| (0..n).map(|i| (point[i] - self.mean[i]) / self.sigma).collect())
            .collect();
        let step: Vec<f64> =
            (0..n).map(|i| weights.iter().zip(&steps).map(|(w, y)| w * y[i]).sum()).collect();
        for i in 0..n {
            self.mean[i] = (self.mean[i] + self.sigma * step[i]).clamp(0.0, 1.0);
        }
        // C^(-1/2) times the step.
        let Eigen { values, vectors } = &self.eigen;
        let turned: Vec<f64> = (0..n)
            .map(|k| {
                let along: f64 = (0..n).map(|i| vectors[i][k] * step[i]).sum();
                along / values[k].max(1e-20).sqrt()
            })
            .collect();
        let decay = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
        for i in 0..n {
            let whitened: f64 = (0..n).map(|k| vectors[i][k] * turned[k]).sum();
            self.path_sigma[i] = (1.0 - c_sigma) * self.path_sigma[i] + decay * whitened;
        }
        let length =
            self.path_sigma.iter().map(|component| component * component).sum::<f64>().sqrt();
        let age = libm::pow(1.0 - c_sigma, 2.0 * self.generation as f64);
        let is_short = length / (1.0 - age).sqrt() < (1.4 + 2.0 / (n as f64 + 1.0)) * chi;
        let h = if is_short { 1.0 } else { 0.0 };
        let decay = (c_c * (2.0 - c_c) * mu_eff).sqrt();
        for i in 0..n {
            self.path_c[i] = (1.0 - c_c) * self.path_c[i] + h * decay * step[i];
        }
        let forgotten = c_1 * (1.0 - h) * c_c * (2.0 - c_c);
        for i in 0..n {
            for j in 0..n {
                let rank_mu: f64 = weights.iter().zip(&steps).map(|(w, y)| w * y[i] * y[j]).sum();
                self.covariance[i][j] = (1.0 - c_1 - c_mu + forgotten) * self.covariance[i][j]
                    + c_1 * self.path_c[i] * self.path_c[j]
                    + c_mu * rank_mu;
            }
        }
        self.sigma *= libm::exp(((c_sigma / d_sigma) * (length / chi - 1.0)).min(1.0));
        self.sigma = self.sigma.clamp(1e-12, 1.0);
        self.keep_spread();
        self.eigen = Eigen::from_matrix(&self.covariance);
    }

    /// Keeps the spread of whole numbers and choices large enough to try others.
    fn keep_spread(&mut self) {
        let mut at = 0;
        for dimension in &self.dimensions {
            let (coordinates, least) = match *dimension {
                Dimension::Real => (1, 0.0),
                Dimension::Whole { steps } => (1, (STEP_SPREAD / steps as f64).min(SIGMA)),
                Dimension::Choice { options } => (options, CHOICE_SPREAD),
            };
            for i in at..at + coordinates {
                let variance = (least / self.sigma) * (least / self.sigma);
                self.covariance[i][i] = self.covariance[i][i].max(variance);
            }
            at += coordinates;
        }
    }

    /// The best point known so far: the mean.
    #[must_use]
    pub fn best(&self) -> Vec<Level> {
        self.levels(&self.mean)
    }

    fn levels(&self, coordinates: &[f64]) -> Vec<Level> {
        let mut left = coordinates;
        let mut level = |(dimension, start): (&Dimension, &Level)| {
            let count = if let Dimension::Choice { options } = dimension { *options } else { 1 };
            let (own, rest) = left.split_at(count);
            left = rest;
            match (dimension, start) {
                (Dimension::Choice { .. }, Level::Choice(start)) => {
                    Level::Choice(greatest(own, *start))
                }
                _ => Level::Part(dimension.rounded(own[0])),
            }
        };
        self.dimensions.iter().zip(&self.start).map(&mut level).collect()
    }
}

/// A standard normal number, by the polar method (Marsaglia & Bray 1964), without using its second one.
#[must_use]
pub fn normal(random: &mut Random) -> f64 {
    loop {
        let [x, y] = [2.0 * random.unit() - 1.0, 2.0 * random.unit() - 1.0];
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests;
