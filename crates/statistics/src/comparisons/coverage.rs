//! Coverage of the intervals of replicates, simulated.

use spelrum_engine::Random;

use super::*;
use crate::OpeningSum;
use crate::coverage_rounds::rounds_or;

/// Openings of each replicate, one pair each.
const OPENINGS: u64 = 50;

/// How replicates' strengths are spread: standardised deviations.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Normal,
    /// Most are a little weaker than the mean, and few are much stronger: skewness 1.9.
    Skewed,
}

impl Spread {
    const fn mean(self) -> f64 {
        match self {
            Self::Normal => 0.5,
            Self::Skewed => 0.42,
        }
    }

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Normal => (0..12).map(|_| random.unit()).sum::<f64>() - 6.0,
            Self::Skewed => {
                let power = random.unit();
                let power = power * power * power;
                (power * power - 1.0 / 7.0) / (1.0_f64 / 13.0 - 1.0 / 49.0).sqrt()
            }
        }
    }
}

/// The replicates of one simulated sweep.
fn sweep(
    random: &mut Random,
    count: u64,
    (spread, deviation): (Spread, f64),
    have_common_openings: bool,
) -> Vec<ComparedCell<u64>> {
    let leans = |random: &mut Random| -> Vec<f64> {
        (0..OPENINGS).map(|_| 0.3 * (random.unit() - 0.5)).collect()
    };
    let common = leans(random);
    let of_replicate = |replicate: u64| {
        let strength = spread.mean() + deviation * spread.draw(random);
        let own = if have_common_openings { common.clone() } else { leans(random) };
        let conditions = if have_common_openings { 0 } else { replicate };
        let opening_sum = |(k, lean): (u64, f64)| {
            let mut game = || f64::from(random.unit() < strength + lean);
            let sum = (game() + game()) / 2.0;
            OpeningSum { opening: (conditions, k), weight: 1.0, sum }
        };
        let sums: Vec<OpeningSum> = (0..).zip(own).map(opening_sum).collect();
        ComparedCell {
            cell: replicate,
            place: vec![Some(replicate.to_string())],
            player: "network".to_owned(),
            opponent: "random".to_owned(),
            seed: 1,
            score: Clustered::score(&sums).unwrap(),
        }
    };
    (0..count).map(of_replicate).collect()
}

/// The figures of docs/statistics.md, which used many more rounds (`SPELRUM_COVERAGE_ROUNDS`).
#[test]
fn intervals_of_replicates_cover_the_mean_over_further_replicates() {
    let rounds = rounds_or(200);
    for have_common_openings in [false, true] {
        for spread in [Spread::Normal, Spread::Skewed] {
            for deviation in [0.0, 0.05, 0.15] {
                for count in [3, 5, 10, 30] {
                    let mut random = Random::from_key([count as u8; 32]);
                    let (mut held, mut pooled, mut width) = (0, 0, 0.0);
                    for _ in 0..rounds {
                        let cells =
                            sweep(&mut random, count, (spread, deviation), have_common_openings);
                        let [group] = &replicated(&[0], &cells)[..] else { panic!() };
                        let holds = |interval: crate::Interval| {
                            let mean = spread.mean();
                            u32::from(interval.low <= mean && mean <= interval.high)
                        };
                        let interval = group.interval.unwrap();
                        held += holds(interval);
                        width += interval.high - interval.low;
                        // All games as if one player had played them.
                        let terms: Vec<_> =
                            cells.iter().map(|cell| (1.0 / count as f64, &cell.score)).collect();
                        pooled += holds(Clustered::sum(&terms).interval().unwrap());
                    }
                    let share = |held: u32| f64::from(held) / f64::from(rounds);
                    println!(
                        "{spread:?}, deviation {deviation}, common openings {have_common_openings}, \
                         {count} replicates: {:.1} %, pooled {:.1} %, half width {:.3}",
                        100.0 * share(held),
                        100.0 * share(pooled),
                        width / 2.0 / f64::from(rounds)
                    );
                    // Student's interval of few draws from a skewed distribution misses more often.
                    let least = match spread {
                        Spread::Normal => 0.945,
                        Spread::Skewed if deviation > 0.1 => 0.84,
                        Spread::Skewed => 0.94,
                    };
                    let chance = 3.0 * (least * (1.0 - least) / f64::from(rounds)).sqrt();
                    assert!(share(held) >= least - chance, "{spread:?} {deviation} {count}");
                }
            }
        }
    }
}
