use proptest::prelude::*;
use serde::Deserialize;
use spelrum_engine::Random;

use crate::student::{Z_95, student_quantile};
use crate::*;

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
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: String,
    llr: f64,
    lower: f64,
    upper: f64,
}

#[test]
fn figures_agree_with_the_reference_runner() {
    let text = include_str!("../tests/vectors/statistics/match.json");
    let references: Vec<Reference> = serde_json::from_str(text).unwrap();
    assert!(references.len() >= 6);
    for reference in references {
        let Reference { elo0, elo1, alpha, beta, .. } = reference;
        let model = EloModel::named(&reference.model).unwrap();
        let sprt = Sprt::new(elo0, elo1, alpha, beta, model).unwrap();
        let (strength, llr) = match reference.kind.as_str() {
            "pentanomial" => {
                let pairs = PairCounts(reference.counts.clone().try_into().unwrap());
                (pairs.strength(), sprt.llr_of_pairs(&pairs))
            }
            "trinomial" => {
                let [wins, draws, losses] = reference.counts.clone().try_into().unwrap();
                let games = GameCounts([losses, draws, wins]);
                (games.strength(), sprt.llr_of_games(&games))
            }
            other => panic!("unknown kind {other}"),
        };
        let [lower, upper] = sprt.bounds();
        let figures = [
            ("score", strength.score, reference.score),
            ("elo", strength.elo, reference.elo),
            ("elo_error", strength.elo_error, reference.elo_error),
            ("nelo", strength.nelo, reference.nelo),
            ("nelo_error", strength.nelo_error, reference.nelo_error),
            ("los", strength.los, reference.los),
            ("llr", llr, reference.llr),
            ("lower", lower, reference.lower),
            ("upper", upper, reference.upper),
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
fn sequential_tests_are_defined_at_the_edges() {
    let normalized = |elo0, elo1| Sprt::new(elo0, elo1, 0.05, 0.05, EloModel::Normalized).unwrap();
    let logistic = |elo0, elo1| Sprt::new(elo0, elo1, 0.05, 0.05, EloModel::Logistic).unwrap();
    // From the notes on the vectors.
    let equal = PairCounts([0, 0, 100, 0, 0]);
    let llr = normalized(0.0, 10.0).llr_of_pairs(&equal);
    assert!((llr + 0.160).abs() < 5e-4, "{llr}");
    for test in [normalized(0.0, 10.0), logistic(0.0, 10.0), normalized(-200.0, 200.0)] {
        assert_eq!(test.llr_of_pairs(&PairCounts::default()), 0.0);
        assert_eq!(test.llr_of_games(&GameCounts::default()), 0.0);
        assert_eq!(
            test.verdict(test.llr_of_pairs(&PairCounts([0, 0, 0, 0, 4_000]))),
            Some(Verdict::Elo1)
        );
        assert_eq!(
            test.verdict(test.llr_of_games(&GameCounts([4_000, 0, 0]))),
            Some(Verdict::Elo0)
        );
        assert_eq!(test.verdict(0.0), None);
    }
    // Without information on draws, an even match favours neither of two strengths around 0.
    assert!(normalized(-5.0, 5.0).llr_of_pairs(&PairCounts([3, 4, 9, 4, 3])).abs() < 1e-9);
}

#[test]
fn only_what_is_a_test_is_one() {
    let is_test =
        |elo0, elo1, alpha, beta| Sprt::new(elo0, elo1, alpha, beta, EloModel::Logistic).is_some();
    assert!(is_test(-200.0, 200.0, 0.499, 1e-9));
    for (elo0, elo1) in [(5.0, 5.0), (5.0, 0.0), (0.0, 200.1), (f64::NAN, 1.0), (0.0, f64::NAN)] {
        assert!(!is_test(elo0, elo1, 0.05, 0.05), "{elo0} {elo1}");
    }
    for error in [0.0, 0.5, 1.0, -0.1, f64::NAN] {
        assert!(!is_test(0.0, 5.0, error, 0.05) && !is_test(0.0, 5.0, 0.05, error), "{error}");
    }
    assert_eq!(Sprt::new(-0.0, 5.0, 0.05, 0.05, EloModel::Logistic).unwrap().elo0().to_bits(), 0);
}

/// The likelihood ratio by its definition: the best of many distributions that each hypothesis allows.
#[test]
fn likelihood_ratios_agree_with_a_search_of_all_distributions() {
    let log_likelihood = |counts: &[f64; 3], p: [f64; 3]| {
        counts.iter().zip(p).map(|(n, p)| n * libm::log(p)).sum::<f64>()
    };
    // For a game with three outcomes, a hypothesis leaves one number free: the share of draws.
    let best = |counts: &[f64; 3], wins_of: &dyn Fn(f64) -> f64| {
        let draws = (1..200_000).map(|step| f64::from(step) / 200_000.0);
        let possible = draws.filter_map(|draws| {
            let wins = wins_of(draws);
            let p = [1.0 - draws - wins, draws, wins];
            p.iter().all(|&p| p > 0.0).then(|| log_likelihood(counts, p))
        });
        possible.fold(f64::NEG_INFINITY, f64::max)
    };
    for counts in [[20_u64, 50, 30], [5, 0, 9], [100, 3, 100], [1, 90, 4]] {
        let seen = counts.map(|count| if count == 0 { 1e-3 } else { count as f64 });
        for (elo0, elo1) in [(0.0, 10.0), (-30.0, 20.0), (0.0, 100.0)] {
            let with = |model| Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap();
            let logistic = |elo| best(&seen, &move |draws| score_of_elo(elo) - draws / 2.0);
            // For a mean m and a variance v with (m - ½)² = t² v, where v = wins + draws / 4 - m².
            let normalized = |elo: f64| {
                let t = elo * core::f64::consts::LN_10 / 800.0;
                best(&seen, &move |draws| {
                    let lead = t.signum() * t.abs() * ((1.0 - draws) / 4.0 / (1.0 + t * t)).sqrt();
                    lead + (1.0 - draws) / 2.0
                })
            };
            for (model, expected) in [
                (EloModel::Logistic, logistic(elo1) - logistic(elo0)),
                (EloModel::Normalized, normalized(elo1) - normalized(elo0)),
            ] {
                let llr = with(model).llr_of_games(&GameCounts(counts));
                assert!(
                    (llr - expected).abs() < 1e-4,
                    "{counts:?} {model:?}: {llr} for {expected}"
                );
            }
        }
    }
}

#[test]
fn intervals_are_defined_at_the_edges() {
    let whole_range = |score| ScoreInterval { score, low: 0.0, high: 1.0 };
    assert_eq!(PairCounts::default().interval(), whole_range(0.5));
    assert_eq!(PairCounts([0, 0, 0, 0, 1]).interval(), whole_range(1.0));

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

/// Visits every possible outcome of this many pairs or games under this distribution, with its probability.
fn every_outcome<const N: usize>(
    distribution: &[f64; N],
    units: u64,
    visit: &mut impl FnMut(&[u64; N], f64),
) {
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
    let log_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
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
        visit(counts, libm::exp(log_probability));
    });
}

/// The exact coverage for N pairs or games: the total probability of the outcomes whose interval contains
/// the true mean.
fn exact_coverage<const N: usize>(
    distribution: &[f64; N],
    units: u64,
    interval: fn(&[u64; N]) -> ScoreInterval,
) -> f64 {
    let mean = true_mean(distribution);
    let mut covered = 0.0;
    every_outcome(distribution, units, &mut |counts, probability| {
        let interval = interval(counts);
        if (interval.low..=interval.high).contains(&mean) {
            covered += probability;
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
    // The worst case: one pair in a hundred is lost, so nine cells of ten see none.
    assert!(exact_coverage(&[0.01, 0.0, 0.0, 0.01, 0.98], 10, over_pairs) > 0.9);
}

/// The probability that equal players are called different, either way, at 97.5% each.
fn told_apart(distribution: &[f64; 5], pairs: u64, los: fn(&PairCounts) -> f64) -> f64 {
    let mut share = 0.0;
    every_outcome(distribution, pairs, &mut |counts, probability| {
        if !(0.025..=0.975).contains(&los(&PairCounts(*counts))) {
            share += probability;
        }
    });
    share
}

/// With few pairs, the figures of match runners call equal players different far too often; reports do not.
#[test]
fn few_pairs_of_equals_are_not_told_apart() {
    let bell = [0.1, 0.2, 0.4, 0.2, 0.1];
    for (pairs, plain_share) in [(2, 0.180), (5, 0.130), (20, 0.073)] {
        let plain = told_apart(&bell, pairs, |pairs| pairs.strength().los);
        assert!((plain - plain_share).abs() < 1e-3, "{pairs} pairs: {plain}");
    }
    for (name, distribution) in
        PAIRS.into_iter().filter(|(_, distribution)| true_mean(distribution) == 0.5)
    {
        for pairs in [2, 5, 10, 20] {
            let share = told_apart(&distribution, pairs, |pairs| pairs.confidence().los);
            assert!(share <= 0.05, "{name}, {pairs} pairs: {share}");
        }
    }
}

/// With fixed sides: losses, draws and wins.
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

/// A pair that scores ½ each way, or a game of ½ points: only the unit differs.
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
    // Compared with the plain interval of the mean, where that one is accurate.
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

/// Pairs from openings whose scores deviate from the mean: each game is won or lost.
fn play_openings(
    random: &mut Random,
    [mean, deviation]: [f64; 2],
    pairs_of_openings: &[u64],
) -> (OpeningCounts, PairCounts) {
    let (mut openings, mut pairs) = (OpeningCounts::default(), PairCounts::default());
    for &of_opening in pairs_of_openings {
        // Uniform, with this standard deviation.
        let expected = mean + deviation * 3.0_f64.sqrt() * (2.0 * random.unit() - 1.0);
        let mut half_points = 0;
        for _ in 0..of_opening {
            let wins =
                usize::from(random.unit() < expected) + usize::from(random.unit() < expected);
            pairs.0[2 * wins] += 1;
            half_points += 2 * wins as u64;
        }
        openings.insert(of_opening, half_points);
    }
    (openings, pairs)
}

/// The coverage of the mean over all possible openings by intervals over openings and over pairs, and the width
/// of those over openings.
fn simulated_coverage(cell: [f64; 2], pairs_of_openings: &[u64], rounds: u32) -> [f64; 3] {
    let mut random = Random::from_key([13; 32]);
    let (mut covered, mut width) = ([0.0; 2], 0.0);
    for _ in 0..rounds {
        let (openings, pairs) = play_openings(&mut random, cell, pairs_of_openings);
        let over_pairs = pairs.interval();
        let over_openings = openings.spread(2).interval(over_pairs.score);
        for (covered, interval) in covered.iter_mut().zip([over_openings, over_pairs]) {
            *covered += f64::from(u8::from(interval.low <= cell[0] && cell[0] <= interval.high));
        }
        width += over_openings.high - over_openings.low;
    }
    [covered[0], covered[1], width].map(|sum| sum / f64::from(rounds))
}

/// The figures of docs/statistics.md, which used many more rounds (`SPELRUM_COVERAGE_ROUNDS`).
#[test]
fn intervals_over_openings_cover_the_mean_over_other_openings() {
    let rounds = crate::coverage_rounds::rounds_or(2_000);
    let in_turn = |openings: u64, pairs: u64| -> Vec<u64> {
        (0..openings).map(|at| (pairs - at).div_ceil(openings)).collect()
    };
    for (name, pairs_of_openings) in [
        ("5 openings, 50 pairs", in_turn(5, 50)),
        ("12 openings, 50 pairs", in_turn(12, 50)),
        ("12 openings, 1 to 12 pairs each", (1..=12).collect()),
        ("30 openings, 50 pairs", in_turn(30, 50)),
    ] {
        for mean in [0.5, 0.62] {
            for deviation in [0.0, 0.05, 0.1, 0.15, 0.2] {
                let [covered, over_pairs, width] =
                    simulated_coverage([mean, deviation], &pairs_of_openings, rounds);
                println!(
                    "{name}, mean {mean}, deviation {deviation}: {:.1} %, over pairs {:.1} %, half \
                     width {:.3}",
                    100.0 * covered,
                    100.0 * over_pairs,
                    width / 2.0,
                );
                // Three standard deviations of this many rounds below 94%.
                let least = 0.94 - 3.0 * (0.94 * 0.06 / f64::from(rounds)).sqrt();
                assert!(covered >= least, "{name}, {mean}, {deviation}: {covered}");
            }
        }
    }
    // The case that intervals over openings are for.
    let [covered, over_pairs, _] = simulated_coverage([0.5, 0.2], &in_turn(12, 50), rounds);
    assert!(over_pairs < 0.9 && covered > over_pairs, "{over_pairs}, {covered}");
}

/// A lower bound for every cell: half an opening of each extreme is never ruled out.
#[test]
fn few_openings_have_a_width_that_no_games_end() {
    for (openings, half_width) in [(2, 0.491), (5, 0.226), (12, 0.087), (30, 0.0334), (100, 0.0099)]
    {
        let mut counts = OpeningCounts::default();
        for _ in 0..openings {
            counts.insert(1_000_000, 2_000_000);
        }
        let interval = counts.spread(2).interval(0.5);
        let half = (interval.high - interval.low) / 2.0;
        assert!((half - half_width).abs() < 0.001, "{openings}: {half}");
    }
}

/// The slow reference: every unit with its own weight, nothing grouped and nothing expanded.
fn spread_plainly(openings: &[(u64, u64)], games_of_unit: u64) -> (f64, OpeningSpread) {
    let score =
        |(units, half_points): (u64, u64)| half_points as f64 / (2 * games_of_unit * units) as f64;
    let all: f64 = openings.iter().map(|&(units, _)| units as f64).sum();
    let mean = openings.iter().map(|&opening| opening.0 as f64 * score(opening)).sum::<f64>() / all;
    let deviations = openings
        .iter()
        .map(|&opening| opening.0 as f64 * (score(opening) - mean) * (score(opening) - mean));
    let variance = deviations.sum::<f64>() / all;
    let squares: f64 = openings.iter().map(|&(units, _)| (units * units) as f64).sum();
    (mean, OpeningSpread { effective: all * all / squares, variance })
}

fn any_openings(games_of_unit: u64) -> impl Strategy<Value = Vec<(u64, u64)>> {
    let opening = (1_u64..40, 0.0..=1.0_f64).prop_map(move |(units, share)| {
        (units, (share * (2 * games_of_unit * units) as f64) as u64)
    });
    prop::collection::vec(opening, 1..40)
}

proptest! {
    /// Grouped sums equal those of the single openings, in any order of adding and removing.
    #[test]
    fn openings_spread_as_each_of_them_says(
        openings in any_openings(2),
        other_openings in any_openings(2),
    ) {
        let mut counts = OpeningCounts::default();
        for &(units, half_points) in other_openings.iter().chain(&openings) {
            counts.insert(units, half_points);
        }
        for &(units, half_points) in &other_openings {
            counts.remove(units, half_points);
        }
        let (mean, expected) = spread_plainly(&openings, 2);
        let spread = counts.spread(2);
        prop_assert!((counts.mean(2) - mean).abs() < 1e-12);
        prop_assert!((spread.effective - expected.effective).abs() < 1e-9 * expected.effective);
        prop_assert!((spread.variance - expected.variance).abs() < 1e-12);
        let interval = spread.interval(mean);
        prop_assert!(0.0 <= interval.low && interval.low <= mean);
        prop_assert!(mean <= interval.high && interval.high <= 1.0);
        let confidence = spread.confidence(mean);
        prop_assert_eq!(confidence.los > 0.975, interval.low > 0.5);
        prop_assert_eq!(confidence.los < 0.025, interval.high < 0.5);
    }

    /// With one pair from each opening, the interval equals that over pairs.
    #[test]
    fn openings_with_one_pair_each_are_pairs(counts in prop::array::uniform5(0..200_u64)) {
        let pairs = PairCounts(counts);
        let mut openings = OpeningCounts::default();
        for (half_points, &pairs) in (0..).zip(&counts) {
            openings.add(1, pairs, pairs * half_points, pairs * half_points * half_points);
        }
        let over_pairs = pairs.interval();
        let over_openings = openings.spread(2).interval(over_pairs.score);
        prop_assert!((over_pairs.low - over_openings.low).abs() < 1e-12);
        prop_assert!((over_pairs.high - over_openings.high).abs() < 1e-12);
        let [los, over_openings] =
            [pairs.confidence().los, openings.spread(2).confidence(over_pairs.score).los];
        prop_assert!((los - over_openings).abs() < 1e-9);
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
        let confidence = PairCounts(counts).confidence();
        let figures = [confidence.elo_low, confidence.elo, confidence.elo_high];
        prop_assert!(figures.is_sorted(), "{confidence:?}");
        prop_assert!((0.0..=1.0).contains(&confidence.los), "{confidence:?}");
    }

    /// The figures of a report never contradict each other.
    #[test]
    fn the_likelihood_of_superiority_says_what_the_interval_says(
        counts in prop::array::uniform5(prop_oneof![0..3_u64, 0..200_u64, 0..1_u64 << 40]),
    ) {
        let ScoreInterval { low, high, .. } = PairCounts(counts).interval();
        let los = PairCounts(counts).confidence().los;
        // At the boundary itself both are rounded.
        prop_assume!((los - 0.975).abs() > 1e-6 && (los - 0.025).abs() > 1e-6);
        prop_assert_eq!(los > 0.975, low > 0.5, "{} {}", los, low);
        prop_assert_eq!(los < 0.025, high < 0.5, "{} {}", los, high);
    }

    /// Every test between strengths has a finite log-likelihood ratio, and the opponent's is its mirror image.
    #[test]
    fn likelihood_ratios_are_defined_everywhere(
        counts in prop::array::uniform5(prop_oneof![Just(0), 0..4_u64, 0..2_000_u64, 0..1_u64 << 40]),
        elos in prop::array::uniform2(-SPRT_ELO_MAX..SPRT_ELO_MAX),
        model in prop::sample::select(EloModel::ALL.to_vec()),
    ) {
        let [elo0, elo1] = if elos[0] < elos[1] { elos } else { [elos[1], elos[0]] };
        prop_assume!(elo1 - elo0 > 0.1);
        let test = |elo0, elo1| Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap();
        let llr = test(elo0, elo1).llr_of_pairs(&PairCounts(counts));
        prop_assert!(llr.is_finite());
        let mut mirrored = counts;
        mirrored.reverse();
        let theirs = test(-elo1, -elo0).llr_of_pairs(&PairCounts(mirrored));
        prop_assert!(theirs.is_finite());
        // Beyond this, classes never seen are so rare beside the others that their digits are lost.
        if counts.iter().all(|&count| count < 1 << 20) {
            prop_assert!((llr + theirs).abs() < 1e-4 * llr.abs().max(1.0), "{} {}", llr, theirs);
        }
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
