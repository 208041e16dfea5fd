use proptest::prelude::*;
use serde::Deserialize;
use spelrum_engine::Random;

use super::*;

#[derive(Deserialize)]
struct Reference {
    kind: String,
    counts: Vec<u64>,
    score: f64,
    elo: f64,
    elo_error: f64,
    nelo: f64,
    nelo_error: f64,
    los: f64,
}

#[test]
fn strength_agrees_with_the_reference_runner() {
    let text = include_str!("../../tests/vectors/statistics/match.json");
    let references: Vec<Reference> = serde_json::from_str(text).unwrap();
    assert!(references.len() >= 6);
    for reference in references {
        let strength = match reference.kind.as_str() {
            "pentanomial" => PairCounts(reference.counts.clone().try_into().unwrap()).strength(),
            "trinomial" => {
                let [wins, draws, losses] = reference.counts.clone().try_into().unwrap();
                GameCounts([losses, draws, wins]).strength()
            }
            other => panic!("unknown kind {other}"),
        };
        let figures = [
            ("score", strength.score, reference.score),
            ("elo", strength.elo, reference.elo),
            ("elo_error", strength.elo_error, reference.elo_error),
            ("nelo", strength.nelo, reference.nelo),
            ("nelo_error", strength.nelo_error, reference.nelo_error),
            ("los", strength.los, reference.los),
        ];
        for (name, ours, theirs) in figures {
            let relative = (ours - theirs).abs() / theirs.abs();
            assert!(relative < 1e-5, "{name} of {:?}: {ours} for {theirs}", reference.counts);
        }
    }
}

#[test]
fn strength_is_defined_at_the_edges() {
    let nothing = PairCounts::default().strength();
    assert_eq!((nothing.score, nothing.elo, nothing.nelo, nothing.los), (0.5, 0.0, 0.0, 0.5));
    assert_eq!((nothing.elo_error, nothing.nelo_error), (f64::INFINITY, f64::INFINITY));

    let wins = PairCounts([0, 0, 0, 0, 9]).strength();
    assert_eq!((wins.score, wins.elo, wins.los), (1.0, f64::INFINITY, 1.0));
    assert_eq!((wins.nelo, wins.elo_error), (f64::INFINITY, f64::INFINITY));

    let losses = GameCounts([9, 0, 0]).strength();
    assert_eq!((losses.elo, losses.nelo, losses.los), (f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0));

    let equal = PairCounts([0, 0, 100, 0, 0]).strength();
    assert_eq!((equal.score, equal.elo, equal.elo_error, equal.los), (0.5, 0.0, 0.0, 0.5));
    assert_eq!(equal.nelo, 0.0);

    let ahead = PairCounts([0, 0, 0, 100, 0]).strength();
    assert_eq!((ahead.elo_error, ahead.los, ahead.nelo), (0.0, 1.0, f64::INFINITY));
}

#[test]
fn intervals_are_defined_at_the_edges() {
    let whole = |score| ScoreInterval { score, low: 0.0, high: 1.0 };
    assert_eq!(PairCounts::default().interval(), whole(0.5));
    assert_eq!(PairCounts([0, 0, 0, 0, 1]).interval(), whole(1.0));

    let wins = PairCounts([0, 0, 0, 0, 50]).interval();
    assert_eq!((wins.score, wins.high), (1.0, 1.0));
    assert!((0.9..0.95).contains(&wins.low), "{wins:?}");

    // Zero variance: some width, symmetric, shrinking.
    let draws = PairCounts([0, 0, 50, 0, 0]).interval();
    assert_eq!(draws.score, 0.5);
    assert!((draws.low - (1.0 - draws.high)).abs() < 1e-12, "{draws:?}");
    assert!((0.02..0.08).contains(&(draws.high - draws.low)), "{draws:?}");

    // A hundred million games.
    let many = PairCounts([0, 0, 0, 0, 50_000_000]).interval();
    assert!(many.low > 0.999_999, "{many:?}");
}

/// Distributions of a pair's class: even, drawish, lopsided, all or nothing, mirrored wins.
const PAIRS: [(&str, [f64; 5]); 14] = [
    ("even", [0.2, 0.2, 0.2, 0.2, 0.2]),
    ("bell", [0.1, 0.2, 0.4, 0.2, 0.1]),
    ("drawish", [0.02, 0.1, 0.76, 0.1, 0.02]),
    ("all but drawn", [0.0, 0.01, 0.98, 0.01, 0.0]),
    ("all but mirrored", [0.01, 0.0, 0.98, 0.0, 0.01]),
    ("coin", [0.5, 0.0, 0.0, 0.0, 0.5]),
    ("no odd points", [0.25, 0.0, 0.5, 0.0, 0.25]),
    ("lopsided", [0.02, 0.03, 0.1, 0.15, 0.7]),
    ("half a point now and then", [0.0, 0.0, 0.0, 0.05, 0.95]),
    ("a point now and then", [0.0, 0.0, 0.1, 0.0, 0.9]),
    ("a disaster now and then", [0.05, 0.0, 0.0, 0.0, 0.95]),
    ("lopsided and narrow", [0.0, 0.0, 0.02, 0.18, 0.8]),
    ("behind now and then", [0.1, 0.0, 0.9, 0.0, 0.0]),
    ("nearly always ahead", [0.02, 0.0, 0.0, 0.98, 0.0]),
];

fn true_mean<const N: usize>(distribution: &[f64; N]) -> f64 {
    let step = 1.0 / (N - 1) as f64;
    distribution.iter().enumerate().map(|(class, p)| class as f64 * step * p).sum()
}

/// The coverage of N pairs or games, exactly: the probability of every outcome whose interval holds
/// the true mean.
fn exact_coverage<const N: usize>(
    distribution: &[f64; N],
    units: u64,
    interval: fn(&[u64; N]) -> ScoreInterval,
) -> f64 {
    fn outcomes<const N: usize>(
        class: usize,
        left: u64,
        counts: &mut [u64; N],
        visit: &mut impl FnMut(&[u64; N]),
    ) {
        if class == N - 1 {
            counts[class] = left;
            visit(counts);
            return;
        }
        for n in 0..=left {
            counts[class] = n;
            outcomes(class + 1, left - n, counts, visit);
        }
    }
    let mean = true_mean(distribution);
    let log_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    let mut covered = 0.0;
    outcomes(0, units, &mut [0; N], &mut |counts| {
        if counts.iter().zip(distribution).any(|(&n, &p)| n > 0 && p == 0.0) {
            return;
        }
        let log_probability: f64 = log_factorial(units)
            + counts
                .iter()
                .zip(distribution)
                .filter(|&(&n, _)| n > 0)
                .map(|(&n, &p)| n as f64 * libm::log(p) - log_factorial(n))
                .sum::<f64>();
        let interval = interval(counts);
        if (interval.low..=interval.high).contains(&mean) {
            covered += libm::exp(log_probability);
        }
    });
    covered
}

fn over_pairs(counts: &[u64; 5]) -> ScoreInterval {
    PairCounts(*counts).interval()
}

fn over_games(counts: &[u64; 3]) -> ScoreInterval {
    GameCounts(*counts).interval()
}

#[test]
fn intervals_of_few_pairs_cover_the_truth() {
    for (name, distribution) in PAIRS {
        for pairs in [10, 20] {
            let coverage = exact_coverage(&distribution, pairs, over_pairs);
            assert!(coverage >= 0.95, "{name}, {pairs} pairs: {coverage}");
        }
    }
    // The worst there is: one pair in a hundred is lost, so nine cells of ten see none.
    assert!(exact_coverage(&[0.01, 0.0, 0.0, 0.01, 0.98], 10, over_pairs) > 0.9);
}

/// Where sides are fixed: losses, draws and wins.
#[test]
fn intervals_of_few_games_cover_the_truth() {
    for (name, distribution) in [
        ("even", [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
        ("coin", [0.5, 0.0, 0.5]),
        ("drawish", [0.05, 0.9, 0.05]),
        ("the first move tells", [0.2, 0.1, 0.7]),
        ("lopsided", [0.1, 0.05, 0.85]),
        ("no losses", [0.0, 0.5, 0.5]),
        ("a draw now and then", [0.0, 0.1, 0.9]),
    ] {
        for games in [20, 50, 100] {
            let coverage = exact_coverage(&distribution, games, over_games);
            assert!(coverage >= 0.94, "{name}, {games} games: {coverage}");
        }
    }
}

/// A pair that scores ½ each way, or a game of ½ points: the unit is all that differs.
#[test]
fn equal_units_have_equal_intervals() {
    assert_eq!(GameCounts([0, 7, 0]).interval(), PairCounts([0, 0, 7, 0, 0]).interval());
    assert_eq!(GameCounts([3, 0, 9]).interval(), PairCounts([3, 0, 0, 0, 9]).interval());
    assert_eq!(GameCounts::default().interval(), PairCounts::default().interval());
}

#[test]
fn intervals_of_many_pairs_cover_the_truth() {
    let mut random = Random::from_key([5; 32]);
    for (name, distribution) in PAIRS {
        let mean = true_mean(&distribution);
        for pairs in [50, 300] {
            let samples = 2_000;
            let mut covered = 0;
            for _ in 0..samples {
                let mut counts = [0; 5];
                for _ in 0..pairs {
                    let mut x = random.unit();
                    let class = distribution.iter().position(|p| {
                        x -= p;
                        x < 0.0
                    });
                    counts[class.unwrap_or(4)] += 1;
                }
                let interval = PairCounts(counts).interval();
                covered += u32::from((interval.low..=interval.high).contains(&mean));
            }
            let coverage = f64::from(covered) / f64::from(samples);
            assert!(coverage >= 0.93, "{name}, {pairs} pairs: {coverage}");
        }
    }
}

#[test]
fn intervals_are_no_wider_than_they_must_be() {
    // Against the plain interval of the mean, where that one is good.
    let interval = PairCounts([200, 200, 200, 200, 200]).interval();
    let plain = 2.0 * Z_95 * (0.125_f64 / 1000.0).sqrt();
    assert!(((interval.high - interval.low) / plain - 1.0).abs() < 0.02, "{interval:?}");
}

#[test]
fn student_quantiles_agree_with_tables() {
    for (freedom, quantile) in [
        (1.0, 12.706_205),
        (2.0, 4.302_653),
        (9.0, 2.262_157),
        (49.0, 2.009_575),
        (1_000.0, 1.962_339),
        (249_999.0, 1.959_973),
        (1e12, 1.959_964),
    ] {
        assert!((student_quantile(freedom) / quantile - 1.0).abs() < 1e-6, "{freedom}");
    }
}

proptest! {
    #[test]
    fn intervals_hold_their_score_within_bounds(
        counts in prop::array::uniform5(prop_oneof![0..3_u64, 0..200_u64, 0..1_u64 << 50]),
    ) {
        let ScoreInterval { score, low, high } = PairCounts(counts).interval();
        prop_assert!(0.0 <= low && low <= score && score <= high && high <= 1.0);
        let strength = PairCounts(counts).strength();
        let figures =
            [strength.elo, strength.elo_error, strength.nelo, strength.nelo_error, strength.los];
        prop_assert!(figures.iter().all(|figure| !figure.is_nan()), "{strength:?}");
    }

    #[test]
    fn the_other_side_sees_the_mirror_image(counts in prop::array::uniform5(0..500_u64)) {
        let mut mirrored = counts;
        mirrored.reverse();
        let (ours, theirs) = (PairCounts(counts).interval(), PairCounts(mirrored).interval());
        prop_assert!((ours.score + theirs.score - 1.0).abs() < 1e-12);
        prop_assert!((ours.low + theirs.high - 1.0).abs() < 1e-9);
        prop_assert!((ours.high + theirs.low - 1.0).abs() < 1e-9);
    }

    #[test]
    fn intervals_shrink_as_pairs_come(counts in prop::array::uniform5(0..50_u64)) {
        prop_assume!(counts.iter().sum::<u64>() > 0);
        let mut width = f64::INFINITY;
        for times in [1, 2, 5, 40, 5_000] {
            let interval = PairCounts(counts.map(|n| n * times)).interval();
            prop_assert!(interval.high - interval.low <= width);
            width = interval.high - interval.low;
        }
    }
}
