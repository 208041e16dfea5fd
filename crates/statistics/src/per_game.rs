//! Times of a cell's players, game by game: the mean over games of a player's mean time, and the ratio of two
//! players' geometric means.
//!
//! A long game has more moves than a short one, and its positions depend on its course, so moves are not a random
//! sample; games are. Games from one opening are alike, and form one cluster. A mean over games is then a ratio of two
//! sums over clusters, with the linearised variance of such a ratio (Cochran 1977, section 6.3; Liang and Zeger 1986):
//! that of [`Clustered`](super::Clustered), here from sums of squares and products alone, so that a database can add up
//! millions of clusters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clustered::{Interval, student_quantile_95};
use crate::estimate::Estimate;
use crate::ratio::{Ratio, RatioSums, beyond};

/// The time of one player's searched moves in the games of one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GameTimes {
    /// Games with at least one searched move of the player.
    pub games: u64,
    /// The mean wall time of its searched moves, in microseconds, summed over these games.
    pub wall_us_mean_sum: f64,
    /// The natural logarithm of that mean, summed; means below half a microsecond count as half a microsecond.
    pub wall_us_mean_log_sum: f64,
}

/// Sums of a player's [`GameTimes`] over clusters, with their squares and products.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayerTimeSums {
    /// The number of games.
    pub games: f64,
    /// The sums of mean times, in microseconds.
    pub means: f64,
    /// The sums of their logarithms.
    pub logs: f64,
    /// The squares of each cluster's games.
    pub games_squared: f64,
    /// Each cluster's games times its sum of means.
    pub games_means: f64,
    /// The squares of each cluster's sum of means.
    pub means_squared: f64,
    /// Each cluster's games times its sum of logarithms.
    pub games_logs: f64,
    /// The squares of each cluster's sum of logarithms.
    pub logs_squared: f64,
}

/// Sums of the times of a cell's two players over its clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeSums {
    /// Each player's own sums.
    pub players: [PlayerTimeSums; 2],
    /// Each cluster's games of the first player times those of the second.
    pub games_products: f64,
    /// The sum of logarithms of the first player times that of the second.
    pub logs_products: f64,
    /// The games of the first player times the sum of logarithms of the second.
    pub first_games_second_logs: f64,
    /// The sum of logarithms of the first player times the games of the second.
    pub first_logs_second_games: f64,
}

/// A figure over games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverGames {
    /// The figure.
    pub value: f64,
    /// Its 95% interval; `None` for a single cluster, or hardly more by weight.
    pub interval: Option<Interval>,
}

impl PlayerTimeSums {
    fn add(&mut self, times: &GameTimes) {
        let (games, means, logs) =
            (times.games as f64, times.wall_us_mean_sum, times.wall_us_mean_log_sum);
        self.games += games;
        self.means += means;
        self.logs += logs;
        self.games_squared += games * games;
        self.games_means += games * means;
        self.means_squared += means * means;
        self.games_logs += games * logs;
        self.logs_squared += logs * logs;
    }

    fn mean(&self) -> Option<Ratio> {
        self.ratio(self.means, self.games_means, self.means_squared)
    }

    fn mean_log(&self) -> Option<Ratio> {
        self.ratio(self.logs, self.games_logs, self.logs_squared)
    }

    /// A sum per game, given its products with the games and its squares. `None` without games.
    fn ratio(&self, sum: f64, products: f64, squares: f64) -> Option<Ratio> {
        let Self { games: base, games_squared: base_squared, .. } = *self;
        Ratio::from_sums(RatioSums { base, sum, base_squared, products, squares })
    }
}

impl TimeSums {
    /// Adds a cluster: the times of both players.
    pub fn add(&mut self, [first, second]: [&GameTimes; 2]) {
        for (sums, times) in self.players.iter_mut().zip([first, second]) {
            sums.add(times);
        }
        let [games, second_games] = [first, second].map(|times| times.games as f64);
        let [logs, second_logs] = [first, second].map(|times| times.wall_us_mean_log_sum);
        self.games_products += games * second_games;
        self.logs_products += logs * second_logs;
        self.first_games_second_logs += games * second_logs;
        self.first_logs_second_games += logs * second_games;
    }

    /// The mean over games of a player's mean time per searched move, in microseconds: of the first player (0) or the
    /// second (1). `None` if the player never searched.
    ///
    /// # Panics
    /// If the player is neither 0 nor 1.
    #[must_use]
    pub fn game_mean(&self, player: usize) -> Option<OverGames> {
        let mean = self.players[player].mean()?;
        let interval = mean.interval(mean.variance, mean.freedom);
        Some(OverGames {
            value: mean.value,
            interval: interval.map(|interval| Interval { low: interval.low.max(0.0), ..interval }),
        })
    }

    /// The geometric mean over games of a player's mean times, divided by that of the other player. An opening's effect
    /// on both cancels. `None` if one of them never searched.
    ///
    /// # Panics
    /// If the player is neither 0 nor 1.
    #[must_use]
    pub fn ratio(&self, player: usize) -> Option<OverGames> {
        let Estimate { value, variance, freedom } = self.log_ratio(player)?;
        let interval = student_quantile_95(freedom).map(|quantile| {
            let error = quantile * variance.sqrt();
            Interval { value, low: value - error, high: value + error }.map(libm::exp)
        });
        Some(OverGames {
            value: libm::exp(value),
            interval: interval.filter(|interval| interval.high.is_finite()),
        })
    }

    /// The natural logarithm of [`TimeSums::ratio`].
    ///
    /// # Panics
    /// If the player is neither 0 nor 1.
    #[must_use]
    pub fn log_ratio(&self, player: usize) -> Option<Estimate> {
        let logs = self.players.map(|sums| sums.mean_log());
        let [first, second] = [logs[0]?, logs[1]?];
        let products = self.logs_products
            - second.value * self.first_logs_second_games
            - first.value * self.first_games_second_logs
            + first.value * second.value * self.games_products;
        let covariance = first.leverage * second.leverage * products;
        let variance = first.variance + second.variance - 2.0 * covariance;
        let variance = beyond(variance, first.rounding + second.rounding);
        let (own, other) = if player == 0 { (first, second) } else { (second, first) };
        let freedom = first.freedom.min(second.freedom);
        Some(Estimate { value: own.value - other.value, variance, freedom })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use spelrum_engine::Random;

    use super::*;
    use crate::{Clustered, OpeningSum};

    /// One game: its opening, and each player's mean time if it searched.
    type Game = (u64, [Option<f64>; 2]);

    fn by_opening(games: &[Game]) -> BTreeMap<u64, [GameTimes; 2]> {
        let mut openings: BTreeMap<u64, [GameTimes; 2]> = BTreeMap::new();
        for (opening, means) in games {
            let times = openings.entry(*opening).or_default();
            for (times, mean) in times.iter_mut().zip(means) {
                let Some(mean) = mean else { continue };
                times.games += 1;
                times.wall_us_mean_sum += mean;
                times.wall_us_mean_log_sum += libm::log(mean.max(0.5));
            }
        }
        openings
    }

    fn sums(games: &[Game]) -> TimeSums {
        let mut sums = TimeSums::default();
        for [first, second] in by_opening(games).values() {
            sums.add([first, second]);
        }
        sums
    }

    /// The slow reference: residuals of single games, summed by opening. Returns the figure, each opening's part in its
    /// error, and the degrees of freedom.
    fn plainly(
        games: &[Game],
        player: usize,
        figure: fn(f64) -> f64,
    ) -> Option<(f64, BTreeMap<u64, f64>, f64)> {
        let values: Vec<(u64, f64)> =
            games.iter().filter_map(|game| Some((game.0, figure(game.1[player]?)))).collect();
        let count = values.len() as f64;
        let mean = values.iter().map(|(_, value)| value).sum::<f64>() / count;
        let mut openings: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for &(opening, value) in &values {
            let (games, residual) = openings.entry(opening).or_default();
            *games += 1.0;
            *residual += (value - mean) / count;
        }
        let shares = openings.values().map(|(games, _)| games / count);
        let effective = 1.0 / shares.map(|share| share * share).sum::<f64>();
        let factor = if effective > 1.0 { (effective / (effective - 1.0)).sqrt() } else { 0.0 };
        let parts =
            openings.into_iter().map(|(opening, (_, residual))| (opening, factor * residual));
        (count > 0.0).then(|| (mean, parts.collect(), effective - 1.0))
    }

    fn close(figure: Option<Interval>, plain: Option<Interval>) -> Result<(), TestCaseError> {
        prop_assert_eq!(figure.is_some(), plain.is_some(), "{:?} {:?}", figure, plain);
        let (Some(figure), Some(plain)) = (figure, plain) else { return Ok(()) };
        let size = plain.value.abs().max(plain.high.abs()).max(1.0);
        for (bound, plain_bound) in
            [(figure.value, plain.value), (figure.low, plain.low), (figure.high, plain.high)]
        {
            prop_assert!((bound - plain_bound).abs() <= 1e-6 * size, "{} {}", bound, plain_bound);
        }
        Ok(())
    }

    fn interval(value: f64, variance: f64, freedom: f64) -> Option<Interval> {
        let error = student_quantile_95(freedom)? * variance.sqrt();
        Some(Interval { value, low: value - error, high: value + error })
    }

    fn games() -> impl Strategy<Value = Vec<Game>> {
        let mean = || prop::option::weighted(0.9, prop_oneof![Just(0.0), 0.1..50_000.0_f64]);
        prop::collection::vec((0..12_u64, [mean(), mean()]), 0..60)
    }

    /// Rounding in sums of equal times causes no error of their mean.
    #[test]
    fn what_rounding_leaves_is_not_a_variance() {
        let log = libm::log;
        for [own, other] in [[137.0, 100.0], [1e-3, 0.7], [3.3e9, 12.1]] {
            let mut sums = TimeSums::default();
            for games in 1..=40_u64 {
                let times = |us: f64| {
                    // Added one by one, or all at once.
                    let add = |us: f64| match games % 3 {
                        0 => (0..games).map(|_| us).sum(),
                        _ => us * games as f64,
                    };
                    GameTimes {
                        games,
                        wall_us_mean_sum: add(us),
                        wall_us_mean_log_sum: add(log(us.max(0.5))),
                    }
                };
                sums.add([&times(own), &times(other)]);
            }
            for figure in [sums.game_mean(0), sums.game_mean(1), sums.ratio(0), sums.ratio(1)] {
                let figure = figure.unwrap();
                let Interval { low, high, .. } = figure.interval.unwrap();
                assert_eq!(
                    (low.to_bits(), high.to_bits()),
                    (figure.value.to_bits(), figure.value.to_bits())
                );
            }
        }
    }

    proptest! {
        /// Sums of squares agree with single games.
        #[test]
        fn sums_say_what_single_games_say(games in games()) {
            let sums = sums(&games);
            let squares = |parts: BTreeMap<u64, f64>| parts.values().map(|part| part * part).sum::<f64>();
            for player in [0, 1] {
                let mean_figure = sums.game_mean(player);
                let plain = plainly(&games, player, |us| us);
                prop_assert_eq!(mean_figure.is_some(), plain.is_some());
                if let (Some(figure), Some((mean, parts, freedom))) = (mean_figure, plain) {
                    prop_assert!((figure.value - mean).abs() <= 1e-9 * mean.max(1.0));
                    let plain = interval(mean, squares(parts), freedom);
                    close(figure.interval, plain.map(|interval| Interval { low: interval.low.max(0.0), ..interval }))?;
                }
            }
            let logs = [0, 1].map(|player| plainly(&games, player, |us| libm::log(us.max(0.5))));
            let [Some(first), Some(second)] = logs else {
                prop_assert_eq!(sums.ratio(0), None);
                prop_assert_eq!(sums.ratio(1), None);
                return Ok(());
            };
            let mut parts = first.1;
            for (opening, part) in second.1 {
                *parts.entry(opening).or_default() -= part;
            }
            let difference = interval(first.0 - second.0, squares(parts), first.2.min(second.2));
            let [ratio, inverse] = [0, 1].map(|player| sums.ratio(player).unwrap());
            prop_assert!((libm::log(ratio.value) - (first.0 - second.0)).abs() < 1e-9);
            prop_assert!((ratio.value * inverse.value - 1.0).abs() < 1e-9);
            if let Some(interval) = ratio.interval {
                close(Some(interval.map(libm::log)), difference)?;
                let inverse = inverse.interval.unwrap();
                prop_assert!((interval.low * inverse.high - 1.0).abs() < 1e-6);
            } else {
                // Overflowing bounds become absent.
                prop_assert!(difference.is_none_or(|interval| interval.high > 700.0 || interval.low < -700.0));
            }
        }

        /// The means and differences equal those used to compare cells.
        #[test]
        fn sums_say_what_clusters_say(games in games()) {
            let sums = sums(&games);
            let openings = by_opening(&games);
            let clustered = |player: usize, sum_of: fn(&GameTimes) -> f64| {
                let values = openings.iter().map(|(&opening, times)| (opening, times[player]));
                let opening_sums = values.filter(|(_, times)| times.games > 0).map(|(opening, times)| OpeningSum {
                    opening: (0, opening),
                    weight: times.games as f64,
                    sum: sum_of(&times),
                });
                Clustered::mean(&opening_sums.collect::<Vec<_>>())
            };
            for player in [0, 1] {
                let plain = clustered(player, |times| times.wall_us_mean_sum);
                let plain = plain.and_then(|mean| mean.interval());
                let plain = plain.map(|interval| Interval { low: interval.low.max(0.0), ..interval });
                close(sums.game_mean(player).and_then(|figure| figure.interval), plain)?;
            }
            let logs = [0, 1].map(|player| clustered(player, |times| times.wall_us_mean_log_sum));
            if let ([Some(first), Some(second)], Some(Some(ratio))) =
                (logs, sums.ratio(0).map(|ratio| ratio.interval))
            {
                close(Some(ratio.map(libm::log)), first.minus(&second).interval())?;
            }
        }
    }

    #[test]
    fn every_edge_has_an_answer() {
        let none = TimeSums::default();
        assert_eq!((none.game_mean(0), none.ratio(0)), (None, None));
        let one = sums(&[(3, [Some(10.0), Some(5.0)])]);
        assert_eq!(one.game_mean(0), Some(OverGames { value: 10.0, interval: None }));
        let ratio = one.ratio(0).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-12 && ratio.interval.is_none(), "{ratio:?}");
        // One opening says nothing about others, for any number of games.
        let one_opening = sums(&[(0, [Some(1.0), Some(2.0)]), (0, [Some(3.0), Some(4.0)])]);
        assert_eq!(one_opening.game_mean(0), Some(OverGames { value: 2.0, interval: None }));
        assert!(one_opening.ratio(1).unwrap().interval.is_none());
        // A player that never searched has no times, and no ratio.
        let alone = sums(&[(0, [Some(1.0), None]), (1, [Some(3.0), None])]);
        assert!(alone.game_mean(0).unwrap().interval.is_some());
        assert_eq!((alone.game_mean(1), alone.ratio(0), alone.ratio(1)), (None, None, None));
        // Times too short for the clock.
        let zero = sums(&[(0, [Some(0.0), Some(8.0)]), (1, [Some(0.0), Some(8.0)])]);
        let mean = zero.game_mean(0).unwrap();
        assert_eq!(mean.interval, Some(Interval { value: 0.0, low: 0.0, high: 0.0 }));
        let ratio = zero.ratio(1).unwrap();
        assert!((ratio.value - 16.0).abs() < 1e-9, "{ratio:?}");
        // No time is negative.
        let wide = sums(&[(0, [Some(0.0), None]), (1, [Some(1_000.0), None])]);
        assert_eq!(wide.game_mean(0).unwrap().interval.map(|interval| interval.low), Some(0.0));
    }

    /// An opening's effect on both players cancels in their ratio, but in neither mean.
    #[test]
    fn openings_cancel_in_the_ratio() {
        let games: Vec<Game> = (0..10_u64)
            .map(|opening| {
                let us = 10.0 * f64::from(1_u32 << opening);
                (opening, [Some(us), Some(3.0 * us)])
            })
            .collect();
        let ratio = sums(&games).ratio(1).unwrap();
        let interval = ratio.interval.unwrap();
        assert!((ratio.value - 3.0).abs() < 1e-9, "{ratio:?}");
        assert!(interval.high / interval.low - 1.0 < 1e-5, "{ratio:?}");
        let mean = sums(&games).game_mean(0).unwrap();
        assert!(mean.interval.unwrap().high > 1.5 * mean.value, "{mean:?}");
    }

    fn normal(random: &mut Random) -> f64 {
        let [radius, turn] = [1.0 - random.unit(), random.unit()];
        (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * turn)
    }

    /// The coverage of the intervals of the mean and of the ratio. The logarithm of a mean time is normal: the
    /// opening's part, in both players, and the game's own, equally large, together have this deviation.
    fn simulated_coverage(games_of_openings: &[u64], deviation: f64, rounds: u32) -> [f64; 2] {
        let mut random = Random::from_key([21; 32]);
        let part = deviation / 2.0_f64.sqrt();
        let truths = [100.0 * libm::exp(deviation * deviation / 2.0), 0.25];
        let mut covered = [0.0; 2];
        for _ in 0..rounds {
            let mut sums = TimeSums::default();
            for &games in games_of_openings {
                let of_opening = part * normal(&mut random);
                let mut times = [GameTimes::default(); 2];
                for _ in 0..games {
                    for (times, typical_us) in times.iter_mut().zip([100.0_f64, 400.0]) {
                        let log = libm::log(typical_us) + of_opening + part * normal(&mut random);
                        times.games += 1;
                        times.wall_us_mean_sum += libm::exp(log);
                        times.wall_us_mean_log_sum += log;
                    }
                }
                let [first, second] = &times;
                sums.add([first, second]);
            }
            let figures = [sums.game_mean(0), sums.ratio(0)];
            for ((covered, figure), truth) in covered.iter_mut().zip(figures).zip(truths) {
                let interval = figure.and_then(|estimate| estimate.interval);
                let holds = interval
                    .is_some_and(|interval| interval.low <= truth && truth <= interval.high);
                *covered += f64::from(u8::from(holds));
            }
        }
        covered.map(|sum| sum / f64::from(rounds))
    }

    /// The figures of docs/statistics.md, which used many more rounds (`SPELRUM_COVERAGE_ROUNDS`).
    #[test]
    fn intervals_cover_the_mean_over_other_openings() {
        let rounds = crate::coverage_rounds::rounds_or(1_000);
        for (name, games_of_openings) in [
            ("5 openings, 20 games each", vec![20; 5]),
            ("12 openings, 2 to 24 games each", (1..=12).map(|games| 2 * games).collect()),
            ("30 openings, 2 games each", vec![2; 30]),
            ("100 openings, 2 games each", vec![2; 100]),
        ] {
            // The required coverage of the mean: the more skewed its times, the more openings it takes.
            for (deviation, least) in [(0.1, 0.94), (0.5, 0.92), (1.0, 0.86)] {
                let [mean, ratio] = simulated_coverage(&games_of_openings, deviation, rounds);
                println!(
                    "{name}, deviation {deviation}: mean {:.1} %, ratio {:.1} %",
                    100.0 * mean,
                    100.0 * ratio,
                );
                // Three standard deviations below, for this many rounds.
                let below =
                    |least: f64| least - 3.0 * (least * (1.0 - least) / f64::from(rounds)).sqrt();
                assert!(mean >= below(least), "{name}, {deviation}: {mean}");
                assert!(ratio >= below(0.94), "{name}, {deviation}: {ratio}");
            }
        }
    }
}
