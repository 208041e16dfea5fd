//! Nash averaging (Balduzzi, Tuyls, Perolat and Graepel 2018, "Re-evaluating Evaluation"): players rated against the mix
//! of players that no player beats.
//!
//! Two choose a player each, and get its expected points against the other's. The mix that does not lose to any other is
//! an equilibrium; where there are several, that of maximum entropy is taken, so that copies of a player share its
//! part. It is approached by the extragradient method with a vanishing reward for entropy (Cen, Wei and Chi 2021).

use nalgebra::{DMatrix, DVector};

use super::disc::Disc;

/// Rewards for entropy, in points per game, and how many steps are made with each.
const REWARDS: [(f64, u32); 4] = [(0.1, 200), (0.01, 1_000), (0.001, 6_000), (0.000_1, 30_000)];
/// The length of a step: the greatest that converges for scores of at most one half.
const STEP: f64 = 1.0;

/// A player against the equilibrium mix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NashPlace {
    /// Its share of the mix.
    pub share: f64,
    /// Its expected points per game against the mix, less one half: 0 for players with a share, and below for others.
    pub score: f64,
}

/// The equilibrium of a disc's expected scores, in its players' order.
#[must_use]
pub fn nash_average(disc: &Disc) -> Vec<NashPlace> {
    let shares = equilibrium(&disc.scores);
    let scores = &disc.scores * &shares;
    shares.iter().zip(&scores).map(|(&share, &score)| NashPlace { share, score }).collect()
}

/// The mix of rows of an antisymmetric matrix against which no row has a positive mean.
pub(super) fn equilibrium(scores: &DMatrix<f64>) -> DVector<f64> {
    let players = scores.nrows();
    let mut mix = DVector::from_element(players, 1.0 / players as f64);
    let mut logarithms = mix.map(libm::log);
    for (reward, steps) in REWARDS {
        for _ in 0..steps {
            let towards = |against: &DVector<f64>| {
                let next = &logarithms * (1.0 - STEP * reward) + scores * against * STEP;
                let most = next.max();
                let sum: f64 = next.iter().map(|&value| libm::exp(value - most)).sum();
                let total = most + libm::log(sum);
                next.map(|value| value - total)
            };
            let half = towards(&mix).map(libm::exp);
            let next = towards(&half);
            let next_mix = next.map(libm::exp);
            let moved = (&next_mix - &mix).amax();
            logarithms = next;
            mix = next_mix;
            if moved < 1e-10 {
                break;
            }
        }
    }
    mix
}
