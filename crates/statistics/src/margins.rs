//! The mean margin of a cell's games, over the units of its score.
//!
//! Games of a pair, or from one opening if openings repeat, are alike: they form one unit, whose size is the number of
//! its games with a margin. The mean is a ratio of two sums over units of unequal size, with the linearised variance of
//! such a ratio (Cochran 1977, section 6.3) and Student's distribution.

use crate::per_game::OverGames;
use crate::ratio::{Ratio, RatioSums};

/// Sums of the margins of a cell's games over units, from its first player's side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MarginSums {
    /// Games with a margin.
    pub games: f64,
    /// The sum of their margins.
    pub sum: f64,
    /// The squares of each unit's games.
    pub games_squared: f64,
    /// Each unit's games times its margins.
    pub products: f64,
    /// The squares of each unit's margins.
    pub squares: f64,
}

impl MarginSums {
    /// Adds a unit of this many games, with margins of this sum.
    pub fn add(&mut self, games: u64, sum: i64) {
        let (games, sum) = (games as f64, sum as f64);
        self.games += games;
        self.sum += sum;
        self.games_squared += games * games;
        self.products += games * sum;
        self.squares += sum * sum;
    }

    /// The mean margin of a game, with its 95% interval; `None` without a game that has a margin.
    #[must_use]
    pub fn mean(&self) -> Option<OverGames> {
        let Self { games: base, sum, games_squared: base_squared, products, squares } = *self;
        let mean = Ratio::from_sums(RatioSums { base, sum, base_squared, products, squares })?;
        let interval = mean.interval(mean.variance, mean.freedom);
        Some(OverGames { value: mean.value, interval })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spelrum_engine::Random;

    use super::*;
    use crate::student_quantile_95;

    fn sums(units: &[(u64, i64)]) -> MarginSums {
        let mut sums = MarginSums::default();
        for &(games, sum) in units {
            sums.add(games, sum);
        }
        sums
    }

    #[test]
    fn little_or_equal_data_has_defined_means() {
        assert_eq!(sums(&[]).mean(), None);
        assert_eq!(sums(&[(0, 0), (0, 0)]).mean(), None, "nothing but forfeits");
        let alone = sums(&[(2, 20)]).mean().unwrap();
        assert_eq!((alone.value, alone.interval), (10.0, None));
        let equal = sums(&[(2, -20); 5]).mean().unwrap();
        let interval = equal.interval.unwrap();
        assert_eq!((interval.low, equal.value, interval.high), (-10.0, -10.0, -10.0));
    }

    proptest! {
        /// For complete pairs only, it equals the textbook interval of the mean of their means.
        #[test]
        fn whole_pairs_give_students_interval(pairs in prop::collection::vec(-128_i64..=128, 2..60)) {
            let units: Vec<(u64, i64)> = pairs.iter().map(|&sum| (2, sum)).collect();
            let estimate = sums(&units).mean().unwrap();
            let count = pairs.len() as f64;
            let means: Vec<f64> = pairs.iter().map(|&sum| sum as f64 / 2.0).collect();
            let mean = means.iter().sum::<f64>() / count;
            let squares: f64 = means.iter().map(|value| (value - mean) * (value - mean)).sum();
            let error = student_quantile_95(count - 1.0).unwrap()
                * (squares / (count - 1.0) / count).sqrt();
            let interval = estimate.interval.unwrap();
            prop_assert!((estimate.value - mean).abs() < 1e-9);
            prop_assert!((interval.low - (mean - error)).abs() < 1e-6, "{interval:?} {error}");
            prop_assert!((interval.high - (mean + error)).abs() < 1e-6);
        }

        /// From the other player's side only the signs change.
        #[test]
        fn the_other_player_sees_the_opposite(
            units in prop::collection::vec((0_u64..=4, -200_i64..=200), 1..30),
        ) {
            let other: Vec<(u64, i64)> = units.iter().map(|&(games, sum)| (games, -sum)).collect();
            let (mean, other_mean) = (sums(&units).mean(), sums(&other).mean());
            prop_assert_eq!(mean.map(|figure| figure.value), other_mean.map(|figure| -figure.value));
            let ends = |figure: OverGames| figure.interval.map(|interval| (interval.low, interval.high));
            let turned = other_mean.and_then(ends).map(|(low, high)| (-high, -low));
            prop_assert_eq!(mean.and_then(ends), turned);
        }
    }

    /// The coverage of the interval for pairs whose games share an opening.
    #[test]
    fn intervals_hold_the_true_mean_about_as_often_as_they_say() {
        let mut random = Random::from_key([9; 32]);
        let mut draw = |spread: u32| i64::from(random.below(2 * spread + 1)) - i64::from(spread);
        for pairs in [10, 40] {
            let trials = 1_000;
            let held = (0..trials).filter(|_| {
                let mut sums = MarginSums::default();
                for _ in 0..pairs {
                    let opening = draw(10);
                    let margins = [6 + opening + draw(20), 6 + opening + draw(20)];
                    // One in nine was lost by a fault, and has no margin.
                    let is_whole = draw(4) != 0;
                    let (games, sum) =
                        if is_whole { (2, margins[0] + margins[1]) } else { (1, margins[0]) };
                    sums.add(games, sum);
                }
                let interval = sums.mean().unwrap().interval.unwrap();
                interval.low <= 6.0 && 6.0 <= interval.high
            });
            let share = held.count() as f64 / f64::from(trials);
            assert!((0.93..=0.975).contains(&share), "{pairs} pairs: {share}");
        }
    }
}
