//! The variance between workers: the part of a measurement that depends on the worker.
//!
//! A measurement of a unit (a pair, a game) is the sum of its stratum's part (a cell, a side), its worker's effect, and
//! chance. Each worker's effect is drawn once from a normal distribution, whose standard deviation is estimated. Strata
//! may have any number of units of any worker.
//!
//! The interval is Wald's (1947, "A note on regression analysis"; Seely and El-Bassiouni 1983, "Applying Wald's
//! variance component test", for the form used here), which is exact for the ratio of the two variances, for normal
//! chance and any numbers of units, and somewhat wide for the deviation itself if units are few: along each axis of the
//! units' table, after removing the strata, the expected sum of squares grows with the ratio of the two variances, and
//! the weighted mean of these sums over the variance of chance is distributed as F.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use roots::find_root_brent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::clustered::Interval;
use crate::root::Tolerance;

/// Sums over the units of one stratum played by one worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkerSum {
    /// The stratum: all other influences are equal within it.
    pub stratum: usize,
    /// The worker that played them.
    pub worker: usize,
    /// The number of units.
    pub units: f64,
    /// The sum of the measurements.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// The workers' effects on the measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetweenWorkers {
    /// The standard deviation of the workers' effects, with its 95% interval. Few workers make its upper end very
    /// large.
    pub deviation: Interval,
    /// The standard deviation of chance per unit.
    pub within: f64,
    /// The probability of differences at least this large if workers did not differ.
    pub p_value: f64,
    /// Each worker's effect relative to the mean of all, with its standard error; in the order of the workers' numbers,
    /// and only for workers that share a stratum with others.
    pub effects: Vec<WorkerEffect>,
}

/// The effect of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerEffect {
    /// The worker's number.
    pub worker: usize,
    /// The excess of its measurements over the mean of the workers.
    pub effect: f64,
    /// The standard error.
    pub error: f64,
}

/// Eigenvalues below this share of the largest belong to axes without comparisons.
const NOTHING: f64 = 1e-9;

/// Each tail of a 95% interval.
const TAIL: f64 = 0.025;

impl BetweenWorkers {
    /// Estimates effects from these sums. `None` if no two workers share a stratum, if no degrees of freedom are left
    /// for chance, or if chance is zero because all units of a worker in a stratum are equal.
    #[must_use]
    pub fn from_sums(sums: &[WorkerSum]) -> Option<Self> {
        let table = Table::from_sums(sums)?;
        let eigen = SymmetricEigen::new(table.compared.clone());
        let largest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
        // For each axis: its weight and its sum of squares.
        let (mut axes, mut inverse) =
            (Vec::new(), DMatrix::zeros(table.workers.len(), table.workers.len()));
        for (value, axis) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if *value > NOTHING * largest {
                let projection = axis.dot(&table.above);
                axes.push((*value, projection * projection / value));
                inverse += axis * axis.transpose() / *value;
            }
        }
        let freedom = table.units - table.strata as f64 - axes.len() as f64;
        if axes.is_empty() || freedom < 1.0 {
            return None;
        }
        let explained: f64 = axes.iter().map(|(_, square)| square).sum();
        let left = table.squares - explained;
        if left <= table.rounding {
            return None;
        }
        let chance = left / freedom;
        let wald = Wald { axes, chance };
        let distribution = FisherSnedecor::new(wald.axes.len() as f64, freedom).ok()?;
        // A library's quantiles of F are less exact than its probabilities.
        let deviation = |ratio: f64| (chance * ratio).sqrt();
        let bound =
            |tail: f64| deviation(wald.ratio(|statistic| distribution.cdf(statistic) - tail));
        let effects = table.effects(&inverse, chance);
        Some(Self {
            deviation: Interval {
                value: deviation(wald.ratio(|statistic| statistic - 1.0)),
                low: bound(1.0 - TAIL),
                high: bound(TAIL),
            },
            within: chance.sqrt(),
            p_value: distribution.sf(wald.statistic(0.0)),
            effects,
        })
    }
}

/// The comparisons along each axis.
struct Wald {
    /// The eigenvalue and the sum of squares of each axis.
    axes: Vec<(f64, f64)>,
    /// The variance of chance.
    chance: f64,
}

impl Wald {
    /// The statistic, distributed as F if the variance between workers is this multiple of that of chance.
    fn statistic(&self, ratio: f64) -> f64 {
        let sum: f64 = self.axes.iter().map(|(value, square)| square / (1.0 + ratio * value)).sum();
        sum / self.axes.len() as f64 / self.chance
    }

    /// The ratio at which `left` becomes 0. `left` falls with the statistic, which falls with the ratio; 0 if `left` is
    /// not positive at the start.
    fn ratio(&self, left: impl Fn(f64) -> f64) -> f64 {
        let left = |ratio: f64| left(self.statistic(ratio));
        if left(0.0) <= 0.0 {
            return 0.0;
        }
        let mut above = 1.0;
        while left(above) > 0.0 && above < RATIO_MAX {
            above *= 2.0;
        }
        let mut tolerance = Tolerance(above * 1e-12);
        find_root_brent(0.0, above, left, &mut tolerance).unwrap_or(above)
    }
}

/// The largest ratio of the variance between workers to that of chance that is searched.
const RATIO_MAX: f64 = 1e30;

/// The sums after subtracting the strata's means.
struct Table {
    /// The workers' own numbers.
    workers: Vec<usize>,
    strata: usize,
    units: f64,
    /// The weight of the comparison of each two workers: in the diagonal the units of each, less the part absorbed by
    /// their strata's means.
    compared: DMatrix<f64>,
    /// The excess of each worker's sum over the strata's means.
    above: DVector<f64>,
    /// The sum of squares of the residuals, and its rounding error.
    squares: f64,
    rounding: f64,
}

/// The least a sum of squares must be to count, as a share of the squares it is the difference of.
const ROUNDING: f64 = 1e-10;

impl Table {
    /// Uses the strata that at least two workers share for effects; the others only for chance.
    fn from_sums(sums: &[WorkerSum]) -> Option<Self> {
        let mut sums: Vec<WorkerSum> = sums.iter().copied().filter(|sum| sum.units > 0.0).collect();
        sums.sort_by_key(|sum| (sum.stratum, sum.worker));
        debug_assert!(
            sums.is_sorted_by(|a, b| (a.stratum, a.worker) < (b.stratum, b.worker)),
            "a worker has two sums of a stratum"
        );
        let strata: Vec<&[WorkerSum]> = sums.chunk_by(|a, b| a.stratum == b.stratum).collect();
        let shared = strata.iter().filter(|stratum| stratum.len() > 1);
        let mut workers: Vec<usize> =
            shared.flat_map(|stratum| stratum.iter()).map(|sum| sum.worker).collect();
        workers.sort_unstable();
        workers.dedup();
        if workers.is_empty() {
            return None;
        }
        let count = workers.len();
        let place = |worker: usize| workers.binary_search(&worker).ok();
        let mut compared = DMatrix::zeros(count, count);
        let mut above = DVector::zeros(count);
        let (mut units, mut squares, mut all) = (0.0, 0.0, 0.0);
        for stratum in &strata {
            let total: f64 = stratum.iter().map(|sum| sum.units).sum();
            let sum: f64 = stratum.iter().map(|sum| sum.sum).sum();
            let of_squares: f64 = stratum.iter().map(|sum| sum.squares).sum();
            units += total;
            squares += of_squares - sum * sum / total;
            all += of_squares;
            if stratum.len() == 1 {
                continue;
            }
            for first in *stratum {
                let Some(row) = place(first.worker) else { continue };
                above[row] += first.sum - first.units * sum / total;
                compared[(row, row)] += first.units;
                for second in *stratum {
                    let Some(column) = place(second.worker) else { continue };
                    compared[(row, column)] -= first.units * second.units / total;
                }
            }
        }
        let rounding = ROUNDING * all;
        Some(Self { strata: strata.len(), workers, units, compared, above, squares, rounding })
    }

    /// Each worker's effect, by least squares.
    fn effects(&self, inverse: &DMatrix<f64>, chance: f64) -> Vec<WorkerEffect> {
        let effects = inverse * &self.above;
        let worker_effect = |(row, &worker): (usize, &usize)| WorkerEffect {
            worker,
            effect: effects[row],
            error: (chance * inverse[(row, row)]).sqrt(),
        };
        self.workers.iter().enumerate().map(worker_effect).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng as _, SeedableRng as _};
    use statrs::distribution::Normal;

    use super::*;

    /// Draws from the normal distribution.
    struct Chance(ChaCha8Rng, Normal);

    impl Chance {
        fn new(seed: u64) -> Self {
            Self(ChaCha8Rng::seed_from_u64(seed), Normal::standard())
        }

        fn normal(&mut self) -> f64 {
            self.1.inverse_cdf((self.0.next_u64() as f64 + 0.5) / 18_446_744_073_709_551_616.0)
        }

        fn below(&mut self, bound: u64) -> u64 {
            self.0.next_u64() % bound
        }
    }

    /// Single units: stratum, worker, measurement.
    type Units = Vec<(usize, usize, f64)>;

    /// Draws cells in which each worker has played any number of games.
    fn draw(chance: &mut Chance, workers: usize, strata: usize, deviation: f64) -> Units {
        let adds: Vec<f64> = (0..workers).map(|_| deviation * chance.normal()).collect();
        let mut units = Units::new();
        for stratum in 0..strata {
            for (worker, adds) in adds.iter().enumerate() {
                for _ in 0..chance.below(9) {
                    units.push((stratum, worker, 10.0 * stratum as f64 + adds + chance.normal()));
                }
            }
        }
        units
    }

    fn sums(units: &Units) -> Vec<WorkerSum> {
        let mut sums: Vec<WorkerSum> = Vec::new();
        for &(stratum, worker, measured) in units {
            let is_it = |sum: &WorkerSum| (sum.stratum, sum.worker) == (stratum, worker);
            let place = sums.iter().position(is_it).unwrap_or_else(|| {
                sums.push(WorkerSum { stratum, worker, units: 0.0, sum: 0.0, squares: 0.0 });
                sums.len() - 1
            });
            sums[place].units += 1.0;
            sums[place].sum += measured;
            sums[place].squares += measured * measured;
        }
        sums
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-7 * (1.0 + a.abs().max(b.abs()))
    }

    /// The same estimate over single units and their full projection, without axes.
    #[test]
    fn it_is_what_the_units_themselves_give() {
        let mut chance = Chance::new(1);
        for round in 0..40 {
            let units = draw(&mut chance, 2 + round % 4, 1 + round % 3, 0.7);
            let Some(estimate) = BetweenWorkers::from_sums(&sums(&units)) else { continue };
            let indicator = |column: usize, is_stratum: bool| {
                DVector::from_iterator(
                    units.len(),
                    units.iter().map(|&(stratum, worker, _)| {
                        f64::from(u8::from(column == if is_stratum { stratum } else { worker }))
                    }),
                )
            };
            let columns = |count: usize, is_stratum| {
                let indicators: Vec<_> =
                    (0..count).map(|column| indicator(column, is_stratum)).collect();
                DMatrix::from_columns(&indicators)
            };
            let (strata, workers) = (columns(3, true), columns(5, false));
            let measured = DVector::from_iterator(units.len(), units.iter().map(|unit| unit.2));
            let hat = &strata * strata.clone().pseudo_inverse(1e-9).unwrap();
            let left = DMatrix::identity(units.len(), units.len()) - hat;
            let compared = workers.transpose() * &left * &workers;
            let above = workers.transpose() * &left * &measured;
            let square = |ratio: f64| {
                let grown = &compared + ratio * &compared * &compared;
                above.dot(&(grown.pseudo_inverse(1e-7).unwrap() * &above))
            };
            let rank = compared.rank(1e-7);
            let chance = (measured.dot(&(&left * &measured)) - square(0.0))
                / (units.len() - strata.rank(1e-9) - rank) as f64;
            assert!(close(estimate.within * estimate.within, chance), "{estimate:?}");
            let distribution =
                FisherSnedecor::new(rank as f64, (units.len() - strata.rank(1e-9) - rank) as f64)
                    .unwrap();
            let statistic =
                |deviation: f64| square(deviation * deviation / chance) / rank as f64 / chance;
            let Interval { value, low, high } = estimate.deviation;
            for (deviation, is, should_be) in [
                (value, statistic(value), 1.0),
                (low, distribution.cdf(statistic(low)), 0.975),
                (high, distribution.cdf(statistic(high)), 0.025),
            ] {
                assert!(
                    close(is, should_be) || (deviation == 0.0 && is < should_be),
                    "{is} is not {should_be}: {estimate:?}"
                );
            }
            // They solve the normal equations, and their mean is 0.
            let mut effects = DVector::zeros(5);
            estimate.effects.iter().for_each(|effect| effects[effect.worker] = effect.effect);
            let solved = (&compared * &effects - &above).amax();
            assert!(solved < 1e-9 * (1.0 + above.amax()), "{effects} leave {solved}: {estimate:?}");
            assert!(effects.sum().abs() < 1e-9, "{effects}");
        }
    }

    /// If each worker has equally many units there is a formula (Searle, Casella and McCulloch 1992, section 3.5).
    #[test]
    fn balanced_tables_give_the_intervals_of_the_textbook() {
        let means = [1.0, 2.0, 4.0];
        let sums: Vec<WorkerSum> = (0..3)
            .map(|worker| {
                let mean: f64 = means[worker];
                let squares = 10.0 * (mean * mean + 0.9);
                WorkerSum { stratum: 5, worker, units: 10.0, sum: 10.0 * mean, squares }
            })
            .collect();
        let estimate = BetweenWorkers::from_sums(&sums).unwrap();
        // Chance: 27 degrees of freedom, a sum of squares of 27; workers: 2 and 140 / 3.
        let f = 140.0 / 6.0;
        let distribution = FisherSnedecor::new(2.0, 27.0).unwrap();
        let bound = |quantile| ((f / distribution.inverse_cdf(quantile) - 1.0) / 10.0).sqrt();
        assert!(close(estimate.within, 1.0));
        assert!(close(estimate.deviation.value, ((f - 1.0) / 10.0).sqrt()), "{estimate:?}");
        assert!(
            close(estimate.deviation.low, bound(0.975))
                && close(estimate.deviation.high, bound(0.025))
        );
        assert!(close(estimate.p_value, distribution.sf(f)));
        let effects: Vec<f64> = estimate.effects.iter().map(|effect| effect.effect).collect();
        assert!(close(effects[0], -4.0 / 3.0) && close(effects[2], 5.0 / 3.0), "{effects:?}");
    }

    /// The interval covers the true deviation at its nominal rate, for any table.
    #[test]
    fn intervals_keep_their_promise() {
        let mut chance = Chance::new(2);
        for (workers, strata, deviation) in [(2, 3, 0.5), (4, 2, 0.0), (6, 3, 0.3), (5, 1, 2.0)] {
            let (mut covering, mut estimated, mut noticed) = (0, 0, 0);
            for _ in 0..2_000 {
                let units = draw(&mut chance, workers, strata, deviation);
                let Some(estimate) = BetweenWorkers::from_sums(&sums(&units)) else { continue };
                estimated += 1;
                let Interval { low, high, .. } = estimate.deviation;
                covering += usize::from(low <= deviation && deviation <= high);
                noticed += usize::from(estimate.p_value < 0.05);
            }
            assert!(estimated > 1_900, "{workers} workers: {estimated} told");
            let share = f64::from(covering as u32) / f64::from(estimated);
            // Without any variance only the lower tail can miss. With few units the variance of chance is poorly
            // determined, and the interval is wide.
            let expected = if deviation > 0.0 { 0.95..0.98 } else { 0.975..0.975 };
            let [least, most] = [expected.start - 0.016, expected.end + 0.016];
            assert!(
                (least..=most).contains(&share),
                "{workers} workers, {deviation}: {share} of intervals"
            );
            let share = f64::from(noticed as u32) / f64::from(estimated);
            assert!(deviation > 0.0 || (share - 0.05).abs() < 0.016, "{share} noticed");
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_not_compared() {
        let worker_sum = |stratum, worker, units, sum, squares| WorkerSum {
            stratum,
            worker,
            units,
            sum,
            squares,
        };
        let none: [&[WorkerSum]; 5] = [
            &[],
            // A single worker, and two that share no stratum.
            &[worker_sum(0, 0, 9.0, 3.0, 4.0)],
            &[worker_sum(0, 0, 9.0, 3.0, 4.0), worker_sum(1, 1, 9.0, 5.0, 4.0)],
            // No degrees of freedom for chance, or zero chance.
            &[worker_sum(0, 0, 1.0, 3.0, 9.0), worker_sum(0, 1, 1.0, 2.0, 4.0)],
            &[worker_sum(0, 0, 5.0, 5.0, 5.0), worker_sum(0, 1, 5.0, 10.0, 20.0)],
        ];
        for sums in none {
            assert_eq!(BetweenWorkers::from_sums(sums), None, "{sums:?}");
        }
        // Units played by a single worker determine chance.
        let more = [
            worker_sum(0, 0, 2.0, 3.0, 5.0),
            worker_sum(0, 1, 2.0, 3.0, 5.0),
            worker_sum(1, 7, 9.0, 3.0, 4.0),
        ];
        let estimate = BetweenWorkers::from_sums(&more).unwrap();
        assert_eq!(estimate.deviation.low, 0.0);
        assert_eq!(estimate.effects.iter().map(|effect| effect.worker).collect::<Vec<_>>(), [0, 1]);
    }

    /// The order of the sums and an offset of a stratum change nothing.
    #[test]
    fn offsets_of_strata_take_nothing_away() {
        let mut chance = Chance::new(3);
        let units = draw(&mut chance, 4, 3, 1.0);
        let estimate = BetweenWorkers::from_sums(&sums(&units)).unwrap();
        let moved =
            units.iter().rev().map(|&(s, w, value)| (s, w, value + 3.0 * s as f64)).collect();
        let moved_estimate = BetweenWorkers::from_sums(&sums(&moved)).unwrap();
        assert!(close(estimate.deviation.value, moved_estimate.deviation.value));
        assert!(close(estimate.deviation.high, moved_estimate.deviation.high));
    }
}
