//! Whether one scale fits: the test of lack of fit, and the pairings that depart from the scale.

use nalgebra::DVector;

use super::Tally;
use super::cycles::{Cycles, cycles};
use super::model::{Layout, Match};
use super::residuals::{EVEN_GAME, Residuals, sum_of_squares};
use super::signs::{Signs, mixed};

/// The level of the test.
const LEVEL: f64 = 0.05;

/// Whether one scale fits the games of players that met.
#[derive(Clone, Debug, PartialEq)]
pub struct LackOfFit {
    /// The chance of departures this large or larger if one scale fits.
    pub p_value: f64,
    /// The number of independent departures that the pairings allow.
    pub freedom: u64,
    /// How far scores are from one scale.
    pub cycles: Cycles,
    /// The pairings on which the scale can fail, by their players' places.
    pub pairings: Vec<Departure>,
}

/// How far the score of a pairing departs from the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// A player, by its place in the component.
    pub player: usize,
    /// The other, whose place is later.
    pub opponent: usize,
    /// The player's points per game, less those that the scale expects.
    pub score: f64,
    /// Half the width of its 95% interval, simultaneous for all pairings.
    pub error: f64,
    /// The p-value, adjusted for the number of pairings.
    pub p_value: f64,
}

impl LackOfFit {
    /// `None` if no scale could fail: the players met only in a tree, or there are too few clusters to reject anything.
    pub(super) fn new(
        layout: &Layout,
        at: &DVector<f64>,
        matches: &[Match],
        tallies: &[Tally],
    ) -> Option<Self> {
        let residuals = Residuals::new(layout, at, matches, tallies)?;
        let signs = Signs::new(residuals.groups);
        if signs.least() > LEVEL {
            return None;
        }
        let free: f64 = residuals.pairings.iter().map(|pairing| pairing.free).sum();
        let squares: f64 = residuals.iter().map(|(_, parts)| sum_of_squares(parts)).sum();
        let dispersion = squares / free;
        let (mut sums, mut greatest) = (vec![0.0; signs.len()], vec![0.0_f64; signs.len()]);
        let mut scaled = Vec::with_capacity(residuals.pairings.len());
        for (number, (pairing, parts)) in residuals.iter().enumerate() {
            let spread = sum_of_squares(parts);
            // A pairing of which few games could have gone otherwise varies little in the games seen, by chance.
            let unit = 1.0 / spread.max(dispersion * pairing.free).max(f64::MIN_POSITIVE).sqrt();
            let weight = 1.0 / (pairing.variance + EVEN_GAME);
            // Where all clusters went alike, signs alone would make a certainty of it.
            let missing = pairing.missing_variance(parts).sqrt();
            signs.sums(parts, |vector, sum| {
                let sum = if missing > 0.0 && vector > 0 {
                    let bits = mixed(((number as u64) << 32) + vector as u64);
                    sum + missing * if bits >> 63 == 0 { 1.0 } else { -1.0 }
                } else {
                    sum
                };
                sums[vector] += weight * sum * sum;
                greatest[vector] = greatest[vector].max((sum * unit).abs());
            });
            let observed: f64 = parts.iter().sum();
            scaled.push((observed, unit));
        }
        let p_value = either(&sums, &greatest);
        greatest.sort_unstable_by(f64::total_cmp);
        // The least bound that at most a share of `LEVEL` reaches or exceeds.
        let beyond = (LEVEL * signs.len() as f64) as usize;
        let bound = greatest[signs.len() - beyond];
        let departures =
            residuals.pairings.iter().zip(scaled).map(|(pairing, (observed, unit))| Departure {
                player: pairing.player,
                opponent: pairing.opponent,
                score: observed / pairing.games,
                error: bound / unit / pairing.games,
                p_value: Signs::p_value(&greatest, (observed * unit).abs()),
            });
        let shares = residuals.pairings.iter().map(|pairing| pairing.free / pairing.variance);
        Some(Self {
            p_value,
            freedom: (shares.sum::<f64>() + 0.5) as u64,
            cycles: cycles(&residuals),
            pairings: departures.collect(),
        })
    }

    /// Whether the test rejects one scale, at the 5% level.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.p_value <= LEVEL
    }
}

/// The p-value of the smaller of two p-values, each of a statistic of all sign vectors: of the sum of squares, which
/// finds what is spread over many pairings, and of the greatest departure, which finds a single one among many.
fn either(sums: &[f64], greatest: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        values.iter().map(|&value| Signs::p_value(&sorted, value)).collect()
    };
    let least: Vec<f64> =
        ranks(sums).into_iter().zip(ranks(greatest)).map(|(sum, one)| -sum.min(one)).collect();
    let mut sorted = least.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    Signs::p_value(&sorted, least[0])
}
