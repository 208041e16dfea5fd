//! Coverage at all looks and widths, simulated; the closed form beside a search by the test, and beside an exact
//! sequence.

use proptest::prelude::*;
use spelrum_engine::Random;

use crate::coverage_rounds::rounds_or;
use crate::*;

/// Distributions of a pair's class: usual, decisive, drawish, lopsided, all or nothing, rare exceptions.
const PAIRS: [(&str, [f64; 5]); 14] = [
    ("usual", [0.1, 0.2, 0.4, 0.2, 0.1]),
    ("decisive", [0.25, 0.0, 0.5, 0.0, 0.25]),
    ("drawish", [0.0, 0.1, 0.8, 0.1, 0.0]),
    ("even", [0.2, 0.2, 0.2, 0.2, 0.2]),
    ("coin", [0.5, 0.0, 0.0, 0.0, 0.5]),
    ("all but drawn", [0.0, 0.01, 0.98, 0.01, 0.0]),
    ("all but mirrored", [0.01, 0.0, 0.98, 0.0, 0.01]),
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

fn class_of<const N: usize>(random: &mut Random, distribution: &[f64; N]) -> usize {
    let mut x = random.unit();
    let class = distribution.iter().position(|p| {
        x -= p;
        x < 0.0
    });
    class.unwrap_or(N - 1)
}

/// A share of this many rounds that is three standard deviations away from 95%.
fn least_coverage(rounds: u32) -> f64 {
    0.95 - 3.0 * (0.95 * 0.05 / f64::from(rounds)).sqrt()
}

fn holds(interval: ScoreInterval, mean: f64) -> bool {
    interval.low <= mean + 1e-12 && mean - 1e-12 <= interval.high
}

/// Of many matches that are looked at after every unit from the second to the last, and after every tenth.
#[derive(Debug, Default)]
struct Looked {
    /// The share in which the sequence held the mean at all looks.
    sequence: f64,
    /// The same of the fixed interval.
    fixed: f64,
    /// The same of the fixed interval at every tenth unit.
    fixed_at_tenths: f64,
    /// The mean width at the planned end, divided by that of the fixed interval.
    ratio: f64,
}

fn look<const N: usize>(
    distribution: &[f64; N],
    [planned, last]: [u64; 2],
    rounds: u32,
    intervals: impl Fn(&[u64; N], f64) -> [ScoreInterval; 2],
) -> Looked {
    let mut random = Random::from_key([21; 32]);
    let mean = true_mean(distribution);
    let (mut held, mut widths) = ([0.0; 3], [0.0; 2]);
    for _ in 0..rounds {
        let mut counts = [0; N];
        let mut has_missed = [false; 3];
        for unit in 1..=last {
            counts[class_of(&mut random, distribution)] += 1;
            let [sequence, fixed] = intervals(&counts, planned as f64);
            has_missed[0] |= !holds(sequence, mean);
            has_missed[1] |= !holds(fixed, mean);
            has_missed[2] |= unit % 10 == 0 && !holds(fixed, mean);
            if unit == planned {
                widths[0] += sequence.high - sequence.low;
                widths[1] += fixed.high - fixed.low;
            }
        }
        for (held, has_missed) in held.iter_mut().zip(has_missed) {
            *held += f64::from(u8::from(!has_missed)) / f64::from(rounds);
        }
    }
    let [sequence, fixed, fixed_at_tenths] = held;
    Looked { sequence, fixed, fixed_at_tenths, ratio: widths[0] / widths[1] }
}

fn of_pairs(counts: &[u64; 5], planned: f64) -> [ScoreInterval; 2] {
    [PairCounts(*counts).sequence(planned).interval(), PairCounts(*counts).interval()]
}

fn of_games(counts: &[u64; 3], planned: f64) -> [ScoreInterval; 2] {
    [GameCounts(*counts).sequence(planned).interval(), GameCounts(*counts).interval()]
}

fn report(name: &str, units: &str, looked: &Looked, width: bool) {
    let missed = [looked.sequence, looked.fixed, looked.fixed_at_tenths];
    let [sequence, fixed, tenths] = missed.map(|held| 100.0 * (1.0 - held));
    let ratio = if width { format!(", width {:.2}", looked.ratio) } else { String::new() };
    println!("{name}, {units}: misses {sequence:.1} %, fixed {fixed:.1} % ({tenths:.1} %){ratio}");
}

/// The figures of docs/statistics.md, which used more rounds (`SPELRUM_COVERAGE_ROUNDS`).
#[test]
fn sequences_cover_the_truth_at_all_looks() {
    let rounds = rounds_or(500);
    for pairs in [10, 25, 50, 100, 200, 500] {
        let rounds = if pairs > 100 { rounds.div_ceil(4) } else { rounds };
        for (name, distribution) in PAIRS {
            let looked = look(&distribution, [pairs, pairs], rounds, of_pairs);
            report(name, &format!("{pairs} pairs"), &looked, true);
            assert!(looked.sequence >= least_coverage(rounds), "{name}, {pairs}: {looked:?}");
        }
    }
    for games in [20, 100] {
        for (name, distribution) in [
            ("coin", [0.5, 0.0, 0.5]),
            ("drawish", [0.05, 0.9, 0.05]),
            ("the first move tells", [0.2, 0.1, 0.7]),
            ("a draw now and then", [0.0, 0.1, 0.9]),
        ] {
            let looked = look(&distribution, [games, games], rounds, of_games);
            report(name, &format!("{games} games"), &looked, true);
            assert!(looked.sequence >= least_coverage(rounds), "{name}, {games}: {looked:?}");
        }
    }
}

/// What the sequence is for: the fixed interval, looked at every ten pairs, misses often.
#[test]
fn a_fixed_interval_misses_at_some_look() {
    let usual = PAIRS[0].1;
    let looked = look(&usual, [350, 350], rounds_or(500), of_pairs);
    report("usual", "350 pairs", &looked, true);
    assert!(looked.fixed < 0.75 && looked.fixed_at_tenths < 0.85, "{looked:?}");
    assert!(looked.sequence > 0.95, "{looked:?}");
}

/// Matches that are grown after looks: up to eight times the pairs that the sequence is tuned to. Where exceptions are
/// rare, a match that saw none for long is too sure of itself.
#[test]
fn sequences_hold_beyond_the_planned_end() {
    let rounds = rounds_or(200);
    for pairs in [25, 100] {
        for (at, (name, distribution)) in PAIRS.iter().enumerate() {
            let looked = look(distribution, [pairs, 8 * pairs], rounds, of_pairs);
            report(name, &format!("{pairs} pairs, and on to {}", 8 * pairs), &looked, false);
            let least = least_coverage(rounds) - if at < 8 { 0.0 } else { 0.05 };
            assert!(looked.sequence >= least, "{name}, {pairs}: {looked:?}");
        }
    }
}

/// The price, at the planned end: less than 1.6 times the width of the fixed interval, for the distributions of `usual`,
/// `decisive` and `drawish`.
#[test]
fn sequences_are_narrow_at_the_planned_end() {
    let rounds = rounds_or(1_000).min(4_000);
    let mut random = Random::from_key([22; 32]);
    for pairs in [25_u32, 35, 50, 70, 100, 140, 200, 300, 500] {
        for (name, distribution) in &PAIRS[..5] {
            let mut widths = [0.0; 2];
            for _ in 0..rounds {
                let mut counts = [0; 5];
                (0..pairs).for_each(|_| counts[class_of(&mut random, distribution)] += 1);
                let intervals = of_pairs(&counts, f64::from(pairs));
                for (width, interval) in widths.iter_mut().zip(intervals) {
                    *width += interval.high - interval.low;
                }
            }
            let ratio = widths[0] / widths[1];
            println!("{name}, {pairs} pairs: width {ratio:.3}");
            assert!(ratio <= 1.6, "{name}, {pairs} pairs: {ratio}");
        }
    }
}

/// Openings that lean to one side, played in turn, pair by pair: the truth is the mean over all openings that might
/// have been drawn.
fn look_over_openings(
    [mean, deviation]: [f64; 2],
    [openings, pairs]: [usize; 2],
    rounds: u32,
) -> Looked {
    let mut random = Random::from_key([23; 32]);
    let (mut held, mut widths) = ([0.0; 2], [0.0; 2]);
    for _ in 0..rounds {
        let expected: Vec<f64> = (0..openings)
            .map(|_| mean + deviation * 3.0_f64.sqrt() * (2.0 * random.unit() - 1.0))
            .collect();
        let mut tally = Tally::new(true);
        let mut by_opening = OpeningTally::new(Some(openings as u64)).unwrap();
        let mut sums = vec![[0, 0]; openings];
        let mut counts = OpeningCounts::default();
        let mut has_missed = [false; 2];
        for pair in 0..pairs {
            let of_opening = expected[pair % openings];
            let wins = (0..2).filter(|_| random.unit() < of_opening).count();
            tally.add(2 * wins);
            by_opening.add(pair as u64, 1, 2 * wins as u64);
            let [units, half_points] = &mut sums[pair % openings];
            counts.remove(*units, *half_points);
            *units += 1;
            *half_points += 2 * wins as u64;
            counts.insert(*units, *half_points);
            let fixed = tally.interval_over(Some(&by_opening));
            // As reports do: over pairs until openings repeat.
            let sequence = match pair + 1 > openings {
                true => counts.spread(2).sequence(fixed.score, openings as f64).interval(),
                false => tally.sequence(pairs as f64).interval(),
            };
            for (has_missed, interval) in has_missed.iter_mut().zip([sequence, fixed]) {
                *has_missed |= !holds(interval, mean);
            }
            if pair + 1 == pairs {
                widths[0] += sequence.high - sequence.low;
                widths[1] += fixed.high - fixed.low;
            }
        }
        for (held, has_missed) in held.iter_mut().zip(has_missed) {
            *held += f64::from(u8::from(!has_missed)) / f64::from(rounds);
        }
    }
    let [sequence, fixed] = held;
    Looked { sequence, fixed, fixed_at_tenths: fixed, ratio: widths[0] / widths[1] }
}

#[test]
fn sequences_over_openings_cover_the_mean_over_other_openings() {
    let rounds = rounds_or(400).min(4_000);
    for (openings, pairs) in [(5, 50), (12, 50), (30, 150), (100, 400)] {
        for mean in [0.5, 0.62] {
            for deviation in [0.0, 0.1, 0.2] {
                let looked = look_over_openings([mean, deviation], [openings, pairs], rounds);
                let name = format!("{openings} openings, mean {mean}, deviation {deviation}");
                report(&name, &format!("{pairs} pairs"), &looked, true);
                assert!(looked.sequence >= least_coverage(rounds), "{name}: {looked:?}");
                assert!(looked.ratio <= 1.6, "{name}: {looked:?}");
            }
        }
    }
}

/// A match that an SPRT stops: the fixed interval at the stop, and the sequence tuned to the games that the test is
/// expected to take.
#[test]
fn sequences_hold_where_a_test_stops() {
    let rounds = rounds_or(200);
    let sprt = Sprt::new(0.0, 60.0, 0.05, 0.05, EloModel::Normalized).unwrap();
    let rule = StopRule::Sprt(sprt);
    let planned = rule.units_expected(2);
    let mut random = Random::from_key([24; 32]);
    for (name, distribution) in [
        ("elo0", [0.1, 0.2, 0.4, 0.2, 0.1]),
        ("between", [0.08, 0.17, 0.4, 0.23, 0.12]),
        ("elo1", [0.07, 0.14, 0.4, 0.25, 0.14]),
    ] {
        let mean = true_mean(&distribution);
        let mut held = [0.0; 2];
        for _ in 0..rounds {
            let mut tally = Tally::new(true);
            for unit in 1..=4_000 {
                tally.add(class_of(&mut random, &distribution));
                if rule.is_checked_after(unit) && rule.is_reached(&tally, None) {
                    break;
                }
            }
            let intervals = [tally.sequence(planned).interval(), tally.interval()];
            for (held, interval) in held.iter_mut().zip(intervals) {
                *held += f64::from(u8::from(holds(interval, mean))) / f64::from(rounds);
            }
        }
        let [sequence, fixed] = held.map(|held| 100.0 * (1.0 - held));
        println!("{name}, tuned to {planned:.0}: misses {sequence:.1} %, fixed {fixed:.1} %");
        assert!(held[0] >= least_coverage(rounds), "{name}: {held:?}");
    }
}

/// The bound by search: the score furthest from the mean that the sequence's test does not reject.
fn bound_by_search(sequence: &ScoreSequence, score: f64, end: f64) -> f64 {
    let (mut inside, mut outside) = (score, end);
    for _ in 0..200 {
        let middle = inside + (outside - inside) / 2.0;
        if sequence.p_value(middle) > 0.05 { inside = middle } else { outside = middle }
    }
    inside
}

/// An exact sequence: the capital of bets on the counts against a mean, mixed over the size of the bets (Waudby-Smith
/// and Ramdas 2024). Bets are normal with the deviation that suits units of this variance at the planned end, cut off
/// where a bet could lose all.
fn capital_of_bets(counts: &[u64; 5], mean: f64, planned: f64) -> f64 {
    const BETS: u32 = 400;
    let deviation = (5.0 / (planned * 0.06)).sqrt();
    let ends = [-1.0 / (1.0 - mean), 1.0 / mean];
    let (mut capital, mut weights) = (0.0, 0.0);
    for at in 0..BETS {
        let bet = ends[0] + (ends[1] - ends[0]) * (f64::from(at) + 0.5) / f64::from(BETS);
        let weight = libm::exp(-bet * bet / (2.0 * deviation * deviation));
        let log: f64 = counts
            .iter()
            .enumerate()
            .map(|(class, &n)| n as f64 * libm::log1p(bet * (class as f64 / 4.0 - mean)))
            .sum();
        capital += weight * libm::exp(log);
        weights += weight;
    }
    capital / weights
}

fn width_of_bets(counts: &[u64; 5], planned: f64) -> f64 {
    let score = PairCounts(*counts).interval().score;
    let bound = |end: f64| {
        let (mut inside, mut outside) = (score.clamp(1e-6, 1.0 - 1e-6), end);
        for _ in 0..30 {
            let middle = inside + (outside - inside) / 2.0;
            let is_inside = capital_of_bets(counts, middle, planned) < 20.0;
            if is_inside { inside = middle } else { outside = middle }
        }
        inside
    };
    bound(1.0 - 1e-9) - bound(1e-9)
}

/// The alternative: never too sure of itself, and wider where most pairs are drawn.
#[test]
fn an_exact_sequence_of_bets_is_wider_where_pairs_are_drawn() {
    let mut random = Random::from_key([25; 32]);
    let mut drawish = Vec::new();
    for pairs in [25_u32, 50, 100, 500] {
        for (name, distribution) in &PAIRS[..3] {
            let mut widths = [0.0; 3];
            for _ in 0..20 {
                let mut counts = [0; 5];
                (0..pairs).for_each(|_| counts[class_of(&mut random, distribution)] += 1);
                let planned = f64::from(pairs);
                let [sequence, fixed] = of_pairs(&counts, planned);
                widths[0] += sequence.high - sequence.low;
                widths[1] += fixed.high - fixed.low;
                widths[2] += width_of_bets(&counts, planned);
            }
            let [ratio, of_bets] = [widths[0], widths[2]].map(|width| width / widths[1]);
            println!("{name}, {pairs} pairs: width {ratio:.2}, of bets {of_bets:.2}");
            if *name == "drawish" {
                drawish.push([ratio, of_bets]);
            }
            // It is no other kind of thing: the same tuning, and about the same width.
            assert!((0.8..1.7).contains(&(of_bets / ratio)), "{name}, {pairs}: {widths:?}");
        }
    }
    assert!(drawish.iter().all(|[ratio, of_bets]| of_bets > ratio), "{drawish:?}");
}

#[test]
fn sequences_are_defined_at_the_edges() {
    let whole_range = |score| ScoreInterval { score, low: 0.0, high: 1.0 };
    assert_eq!(PairCounts::default().sequence(100.0).interval(), whole_range(0.5));
    let one = PairCounts([0, 0, 0, 0, 1]).sequence(100.0);
    assert_eq!((one.interval(), one.confidence().los), (whole_range(1.0), 0.5));
    for planned in [0.0, 1.0, 1e6, 1e15] {
        let two = PairCounts([0, 0, 0, 0, 2]).sequence(planned).interval();
        assert!(two.low < 0.5 && two.high == 1.0, "{planned}: {two:?}");
    }
    let wins = PairCounts([0, 0, 0, 0, 50]).sequence(50.0).interval();
    assert_eq!((wins.score, wins.high), (1.0, 1.0));
    assert!((0.75..0.92).contains(&wins.low), "{wins:?}");
    let many = PairCounts([0, 0, 0, 0, 50_000_000]).sequence(1e8).interval();
    assert!(many.low > 0.999_99, "{many:?}");
}

proptest! {
    /// The closed form is the inverse of the test, and everything said of strength follows from it.
    #[test]
    fn the_closed_form_is_what_a_search_finds(
        counts in prop::array::uniform5(prop_oneof![0..3_u64, 0..200_u64, 0..1_u64 << 40]),
        planned in 2.0..2_000.0_f64,
    ) {
        let sequence = PairCounts(counts).sequence(planned);
        let interval = sequence.interval();
        let ScoreInterval { score, low, high } = interval;
        prop_assert!(0.0 <= low && low <= score && score <= high && high <= 1.0);
        prop_assert!((bound_by_search(&sequence, score, 0.0) - low).abs() < 1e-9, "{interval:?}");
        prop_assert!((bound_by_search(&sequence, score, 1.0) - high).abs() < 1e-9, "{interval:?}");
        let Confidence { elo, elo_low, elo_high, los } = sequence.confidence();
        prop_assert!([elo_low, elo, elo_high].is_sorted());
        prop_assert!((0.0..=1.0).contains(&los));
        prop_assume!((los - 0.975).abs() > 1e-9 && (los - 0.025).abs() > 1e-9);
        prop_assert_eq!(los > 0.975, low > 0.5, "{} {:?}", los, interval);
        prop_assert_eq!(los < 0.025, high < 0.5, "{} {:?}", los, interval);
    }

    /// It is never surer than the fixed interval.
    #[test]
    fn sequences_are_wider_than_fixed_intervals(
        counts in prop::array::uniform5(prop_oneof![0..3_u64, 0..200_u64, 0..1_u64 << 40]),
        planned in 10.0..2_000.0_f64,
    ) {
        let [sequence, fixed] = of_pairs(&counts, planned);
        prop_assert!(sequence.low <= fixed.low && fixed.high <= sequence.high);
    }

    #[test]
    fn the_opponents_sequence_is_the_mirror_image(
        counts in prop::array::uniform5(0..500_u64),
        planned in 2.0..2_000.0_f64,
    ) {
        let mut mirrored = counts;
        mirrored.reverse();
        let [ours, theirs] =
            [counts, mirrored].map(|counts| PairCounts(counts).sequence(planned).interval());
        prop_assert!((ours.low + theirs.high - 1.0).abs() < 1e-9);
        prop_assert!((ours.high + theirs.low - 1.0).abs() < 1e-9);
    }

    /// With one pair from each opening, the sequence equals that over pairs.
    #[test]
    fn a_sequence_over_openings_with_one_pair_each_is_over_pairs(
        counts in prop::array::uniform5(0..200_u64),
        planned in 2.0..2_000.0_f64,
    ) {
        let mut openings = OpeningCounts::default();
        for (half_points, &pairs) in (0..).zip(&counts) {
            openings.add(1, pairs, pairs * half_points, pairs * half_points * half_points);
        }
        let over_pairs = PairCounts(counts).sequence(planned).interval();
        let over_openings = openings.spread(2).sequence(over_pairs.score, planned).interval();
        prop_assert!((over_pairs.low - over_openings.low).abs() < 1e-9);
        prop_assert!((over_pairs.high - over_openings.high).abs() < 1e-9);
    }
}
