//! Judging claims: against a slow reference, at the edges, and its error rate.

use proptest::prelude::*;

use super::*;
use crate::{GameCounts, OpeningSpread, PairCounts};

/// Holm's procedure as he describes it: the smallest p-value against alpha / m, then the next against
/// alpha / (m - 1), until one is not rejected.
fn rejected(p_values: &[f64], alpha: f64) -> Vec<bool> {
    let mut rejected = vec![false; p_values.len()];
    loop {
        let left = rejected.iter().filter(|&&done| !done).count();
        let smallest = (0..p_values.len())
            .filter(|&index| !rejected[index])
            .min_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
        match smallest {
            Some(index) if p_values[index] * left as f64 <= alpha => rejected[index] = true,
            Some(_) | None => return rejected,
        }
    }
}

proptest! {
    #[test]
    fn adjusted_p_values_reject_what_the_steps_do(
        p_values in prop::collection::vec(prop_oneof![0.0..1.0, 0.0..0.1, Just(0.01), Just(1.0), Just(0.0)], 0..12),
        alpha in 0.001..0.5,
    ) {
        let adjusted = holm(&p_values);
        let by_adjusted: Vec<bool> = adjusted.iter().map(|&p| p <= alpha).collect();
        prop_assert_eq!(by_adjusted, rejected(&p_values, alpha), "{:?} {:?}", p_values, adjusted);
        for (p, adjusted) in p_values.iter().zip(&adjusted) {
            prop_assert!(p <= adjusted && *adjusted <= 1.0);
        }
    }

    /// The basis of early verdicts: a smaller p-value of one claim never revokes the rejection of another.
    #[test]
    fn a_smaller_p_value_takes_no_rejection_away(
        p_values in prop::collection::vec(0.0..0.1, 1..8),
        place in 0_usize..8,
        factor in 0.0..1.0,
    ) {
        let place = place % p_values.len();
        let before = holm(&p_values);
        let mut smaller = p_values.clone();
        smaller[place] *= factor;
        for (index, (after, before)) in holm(&smaller).into_iter().zip(before).enumerate() {
            prop_assert!(after <= before + 1e-15, "{} of {:?}", index, p_values);
        }
    }

    /// One statement in two forms: a p-value of at most alpha, and an interval beyond the bound.
    #[test]
    fn a_p_value_is_the_interval_looked_up_the_other_way_round(
        counts in prop::array::uniform5(0_u64..30),
        bound in 0.02..0.98,
        alpha in 0.0005..0.3,
    ) {
        let test = PairCounts(counts).test();
        let interval = test.interval(2.0 * alpha);
        let (above, below) = (test.p_value_above(bound), test.p_value_below(bound));
        if f64::abs(above - alpha) > 1e-9 {
            prop_assert_eq!(above < alpha, interval.low > bound, "{} {:?}", above, interval);
        }
        if f64::abs(below - alpha) > 1e-9 {
            prop_assert_eq!(below < alpha, interval.high < bound, "{} {:?}", below, interval);
        }
        // The other player's side gives the same result.
        let [a, b, c, d, e] = counts;
        let other = PairCounts([e, d, c, b, a]).test();
        prop_assert!(f64::abs(other.p_value_below(1.0 - bound) - above) < 1e-9);
    }
}

#[test]
fn the_usual_interval_is_the_test_with_an_error_of_five_percent() {
    for counts in [[1, 2, 3, 4, 5], [0, 0, 0, 0, 40], [7, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0; 5]] {
        let counts = PairCounts(counts);
        let (usual, same) = (counts.interval(), counts.test().interval(0.05));
        assert!((usual.low - same.low).abs() < 1e-9, "{usual:?} {same:?}");
        assert!((usual.high - same.high).abs() < 1e-9, "{usual:?} {same:?}");
        let los = counts.confidence().los;
        if counts.pairs() > 1 {
            assert!((1.0 - los - counts.test().p_value_above(0.5)).abs() < 1e-12);
        }
    }
}

/// If openings repeat, the test is over openings, like the interval.
#[test]
fn tests_are_over_openings_where_the_interval_is() {
    for (effective, variance, score) in [(12.0, 0.02, 0.6), (5.5, 0.1, 0.3), (1.0, 0.0, 0.9)] {
        let spread = OpeningSpread { effective, variance };
        let (usual, same) = (spread.interval(score), spread.test(score).interval(0.05));
        assert!((usual.low - same.low).abs() < 1e-9, "{usual:?} {same:?}");
        assert!((usual.high - same.high).abs() < 1e-9, "{usual:?} {same:?}");
        let p = spread.test(score).p_value_above(0.5);
        assert_eq!(p < 0.025, usual.low > 0.5, "{p} {usual:?}");
    }
}

#[test]
fn tails_keep_their_digits() {
    let p = PairCounts([0, 0, 0, 0, 1_000]).test().p_value_above(0.5);
    assert!(p > 0.0 && p < 1e-100, "{p}");
    // Without units there is no evidence for either side.
    let nothing = PairCounts::default().test();
    assert_eq!((nothing.p_value_above(0.5), nothing.p_value_below(0.5)), (1.0, 1.0));
    let one = GameCounts([0, 0, 1]).test();
    assert_eq!((one.p_value_above(0.1), one.p_value_below(0.1)), (1.0, 1.0));
    assert_eq!((one.interval(0.01).low, one.interval(0.01).high), (0.0, 1.0));
}

fn statement(score: Bound, quantifier: Quantifier) -> Claimed {
    Claimed { about: About::Score(score), quantifier, error_rate: 0.05 }
}

fn of_pairs(pairs: [u64; 5], is_of_second: bool) -> FigureTest {
    FigureTest::Score { test: PairCounts(pairs).test(), is_of_second }
}

fn cell(cell: i64, state: CaseState, pairs: [u64; 5]) -> CaseOfClaim {
    let test = (pairs.iter().sum::<u64>() > 0).then(|| of_pairs(pairs, false));
    CaseOfClaim { cells: vec![(cell, false)], state, test }
}

fn claim(claimed: &Claimed, cases: Vec<CaseOfClaim>) -> ClaimToJudge {
    ClaimToJudge { claimed: *claimed, is_exploratory: false, is_counted: true, cases }
}

/// Pairs of an even distribution that give about these p-values of being above one half.
const STRONG: [u64; 5] = [0, 2, 10, 14, 14];
const FAIR: [u64; 5] = [3, 7, 12, 12, 8];
const EVEN: [u64; 5] = [5, 10, 20, 10, 5];

#[test]
fn every_cell_takes_the_worst_and_some_the_best_times_their_number() {
    let cells = || {
        [STRONG, FAIR, EVEN]
            .into_iter()
            .zip(1..)
            .map(|(pairs, number)| cell(number, CaseState::Finished, pairs))
            .collect::<Vec<_>>()
    };
    let alone = |pairs: [u64; 5]| PairCounts(pairs).test().p_value_above(0.5);
    let p = |quantifier| {
        let statement = statement(Bound::Above(0.5), quantifier);
        judge(&[claim(&statement, cells())])[0].figures.unwrap().p
    };
    assert_eq!(p(Quantifier::Every), alone(EVEN));
    assert!((alone(EVEN) - 0.5).abs() < 1e-12);
    assert_eq!(p(Quantifier::Some), 3.0 * alone(STRONG));
}

#[test]
fn a_claim_of_the_other_side_is_the_same_claim() {
    let (above, below) = (
        statement(Bound::Above(0.4), Quantifier::Every),
        statement(Bound::Below(0.6), Quantifier::Every),
    );
    let first = cell(1, CaseState::Finished, FAIR);
    let second =
        CaseOfClaim { cells: vec![(1, true)], test: Some(of_pairs(FAIR, true)), ..first.clone() };
    let judged = judge(&[claim(&above, vec![first]), claim(&below, vec![second])]);
    let p = p_values(&judged);
    assert!((p[0] - p[1]).abs() < 1e-12, "{p:?}");
    let [first, other] = [&judged[0], &judged[1]].map(|judged| judged.cases[0].band.unwrap());
    assert!((first.low + other.high - 1.0).abs() < 1e-12);
    assert!((first.value + other.value - 1.0).abs() < 1e-12);
    // One cell, one band.
    assert_eq!(Some(first), of_pairs(FAIR, false).interval(0.05));
}

fn p_values(judged: &[JudgedClaim]) -> Vec<f64> {
    judged.iter().map(|judged| judged.figures.map_or(f64::NAN, |figures| figures.p)).collect()
}

#[test]
fn claims_wait_for_their_cells_and_for_each_other() {
    let statement = statement(Bound::Above(0.5), Quantifier::Every);
    let fair = PairCounts(FAIR).test().p_value_above(0.5);
    assert!(fair > 0.025 && fair <= 0.05, "{fair}");
    let claim_about = |cells: Vec<CaseOfClaim>| claim(&statement, cells);
    let judgements = |claims: &[ClaimToJudge]| -> Vec<Judgement> {
        judge(claims).iter().map(|judged| judged.judgement).collect()
    };
    let strong = || claim_about(vec![cell(1, CaseState::Finished, STRONG)]);
    let fair = || claim_about(vec![cell(2, CaseState::Finished, FAIR)]);
    let even = || claim_about(vec![cell(3, CaseState::Finished, EVEN)]);
    let open =
        || claim_about(vec![cell(1, CaseState::Finished, STRONG), cell(4, CaseState::Open, EVEN)]);
    let sequential = || claim_about(vec![cell(5, CaseState::Sequential, STRONG)]);
    let gone = || claim_about(vec![cell(6, CaseState::Gone, [0; 5])]);
    use Judgement::{NotShown, Open, Supported};
    assert_eq!(judgements(&[]), []);
    assert_eq!(judgements(&[strong()]), [Supported]);
    assert_eq!(judgements(&[fair()]), [Supported]);
    assert_eq!(judgements(&[even()]), [NotShown]);
    assert_eq!(judgements(&[strong(), fair()]), [Supported, Supported]);
    assert_eq!(judgements(&[even(), fair()]), [NotShown, NotShown]);
    // It would be supported beside a strong one, but not beside an even one as well.
    assert_eq!(judgements(&[open(), fair()]), [Open, Open]);
    assert_eq!(judgements(&[open(), fair(), even()]), [Open, NotShown, NotShown]);
    assert_eq!(judgements(&[open(), strong()]), [Open, Supported]);
    let not_judged = Judgement::NotJudged;
    assert_eq!(judgements(&[sequential()]), [not_judged(NotJudged::Sequential)]);
    assert_eq!(judgements(&[gone(), strong()]), [not_judged(NotJudged::Gone), Supported]);
    // A claim that is not judged still counts: it was stated.
    assert_eq!(judgements(&[gone(), fair()]), [not_judged(NotJudged::Gone), NotShown]);
    let exploratory = ClaimToJudge { is_exploratory: true, is_counted: false, ..strong() };
    let judged = judge(&[exploratory, fair()]);
    assert_eq!(judged[0].judgement, Judgement::Exploratory);
    assert_eq!(judged[0].figures.unwrap().p_adjusted, None);
    assert_eq!(judged[1].judgement, Supported);
    // A claim that left the family costs the others the same as before.
    let left = ClaimToJudge { is_exploratory: true, ..strong() };
    assert_eq!(judgements(&[left, fair()]), [Judgement::Exploratory, NotShown]);
    let nothing = claim_about(vec![cell(1, CaseState::Finished, [0; 5])]);
    assert_eq!(p_values(&judge(&[nothing])), [1.0]);
    assert_eq!(Quantifier::Every.p_value(&[]), 1.0, "no case shows nothing");
}

#[test]
fn bands_hold_for_all_cells_of_the_family_together() {
    let statement = statement(Bound::Above(0.5), Quantifier::Every);
    let finished = |number| cell(number, CaseState::Finished, FAIR);
    let one = claim(&statement, vec![finished(1), finished(2)]);
    let other = claim(&statement, vec![finished(2), finished(3), finished(4)]);
    let beside =
        ClaimToJudge { is_exploratory: true, ..claim(&statement, vec![finished(1), finished(8)]) };
    let judged = judge(&[one, other, beside]);
    let band = |error: f64| of_pairs(FAIR, false).interval(error);
    assert_eq!(judged[0].cases[1].band, band(0.05 / 4.0));
    assert_eq!(judged[1].cases[2].band, band(0.05 / 4.0));
    assert_eq!(judged[2].cases[0].band, band(0.05 / 2.0));
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Pairs with these probabilities of 0, ½, 1, 1½ and 2 points.
    fn pairs(&mut self, pairs: u64, chances: [f64; 5]) -> [u64; 5] {
        let mut counts = [0; 5];
        for _ in 0..pairs {
            let mut rest = self.next();
            let class = chances.iter().position(|chance| {
                rest -= chance;
                rest < 0.0
            });
            counts[class.unwrap_or(4)] += 1;
        }
        counts
    }
}

/// How often any claim of a family of five is supported, in percent, if all are false: four about single even
/// cells, and one about some of three; and how often any band misses.
fn wrong(pairs: u64, chances: [f64; 5], rounds: u64) -> [f64; 2] {
    let single = statement(Bound::Above(0.5), Quantifier::Every);
    let some = statement(Bound::Below(0.5), Quantifier::Some);
    let mut random = Random(pairs);
    let (mut supported, mut missed) = (0, 0);
    for _ in 0..rounds {
        let mut number = 0;
        let mut next = || {
            number += 1;
            cell(number, CaseState::Finished, random.pairs(pairs, chances))
        };
        let mut claims: Vec<ClaimToJudge> = (0..4).map(|_| claim(&single, vec![next()])).collect();
        claims.push(claim(&some, (0..3).map(|_| next()).collect()));
        let judged = judge(&claims);
        let is_supported = |judged: &JudgedClaim| judged.judgement == Judgement::Supported;
        supported += u64::from(judged.iter().any(is_supported));
        let mut bands = judged.iter().flat_map(|judged| &judged.cases).filter_map(|case| case.band);
        missed += u64::from(bands.any(|band| band.low > 0.5 || band.high < 0.5));
    }
    [supported, missed].map(|count| 100.0 * count as f64 / rounds as f64)
}

/// The figures of docs/statistics.md, with `SPELRUM_COVERAGE_ROUNDS=20000`.
#[test]
fn a_family_of_false_claims_is_rarely_supported() {
    let rounds = u64::from(crate::coverage_rounds::rounds_or(400));
    for (name, chances) in [
        ("usual", [0.1, 0.2, 0.4, 0.2, 0.1]),
        ("decisive", [0.25, 0.0, 0.5, 0.0, 0.25]),
        ("drawish", [0.0, 0.1, 0.8, 0.1, 0.0]),
    ] {
        for pairs in [5, 10, 25, 100] {
            let [supported, missed] = wrong(pairs, chances, rounds);
            println!(
                "{name}, {pairs} pairs: {supported:.1} % supported, {missed:.1} % outside a band"
            );
            // Three standard errors above 5%.
            let most = 5.0 + 3.0 * 100.0 * (0.05 * 0.95 / rounds as f64).sqrt();
            assert!(supported <= most && missed <= most, "{name} {pairs} {supported} {missed}");
        }
    }
}

#[test]
fn equivalence_is_two_tests_and_both_must_reject() {
    let within = |ends: [f64; 2], is_of_second: bool, pairs: [u64; 5]| {
        Bound::Within(ends).p_value(&of_pairs(pairs, is_of_second))
    };
    let many = [100, 200, 400, 200, 90];
    let test = PairCounts(many).test();
    let [above, below] = [test.p_value_above(0.45), test.p_value_below(0.55)];
    assert!(below < above && above < 0.001, "{above} {below}");
    assert_eq!(within([0.45, 0.55], false, many), above);
    // From the other side the near end is the upper one.
    assert_eq!(within([0.45, 0.55], true, many), test.p_value_above(1.0 - 0.55));
    assert_eq!(within([0.45, 0.52], true, many), test.p_value_above(1.0 - 0.52));
    // Few games show no equality, however even they are.
    assert!(within([0.45, 0.55], false, EVEN) > 0.05);
    let about = |ends: [f64; 2]| About::Score(Bound::Within(ends));
    assert_eq!(about([0.45, 0.55]).equivalence().unwrap(), "equal within ±0.05");
    assert_eq!(about([0.42, 0.58]).equivalence().unwrap(), "equal within ±0.08");
    assert_eq!(about([0.4, 0.7]).equivalence().unwrap(), "within 0.4 to 0.7");
    assert_eq!(about([0.4, 0.7]).words(), "score within 0.4 to 0.7");
    assert_eq!(About::Score(Bound::Above(0.5)).equivalence(), None);
}

proptest! {
    /// The two tests at α are the interval with an error of 2α inside both bounds.
    #[test]
    fn equivalence_is_an_interval_inside_its_bounds(
        counts in prop::array::uniform5(0_u64..60),
        (low, high) in (0.05..0.5, 0.5..0.95),
        alpha in 0.0005..0.3,
    ) {
        let p = Bound::Within([low, high]).p_value(&of_pairs(counts, false));
        let interval = of_pairs(counts, false).interval(2.0 * alpha).unwrap();
        if f64::abs(p - alpha) > 1e-9 {
            prop_assert_eq!(p < alpha, low < interval.low && interval.high < high, "{} {:?}", p, interval);
        }
    }
}

/// The likeliest distribution of this mean, as in planning: each chance times a power of one number.
fn tilted(chances: [f64; 5], mean: f64) -> [f64; 5] {
    let tilt = |log: f64| {
        let weights: Vec<f64> =
            (0..).zip(chances).map(|(k, chance)| chance * libm::exp(log * f64::from(k))).collect();
        let all: f64 = weights.iter().sum();
        <[f64; 5]>::try_from(weights.iter().map(|weight| weight / all).collect::<Vec<_>>()).unwrap()
    };
    let mean_of = |chances: [f64; 5]| -> f64 {
        (0..).zip(chances).map(|(k, chance)| f64::from(k) / 4.0 * chance).sum()
    };
    let (mut low, mut high) = (-5.0, 5.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if mean_of(tilt(middle)) < mean { low = middle } else { high = middle }
    }
    tilt(low)
}

/// The figures of docs/statistics.md, with `SPELRUM_COVERAGE_ROUNDS=20000`: how often players are called equal within
/// 0.05 who differ by just that, and how often equal ones are.
#[test]
fn players_at_the_edge_of_equivalence_are_rarely_called_equal() {
    let rounds = u64::from(crate::coverage_rounds::rounds_or(400));
    for (name, chances) in [
        ("usual", [0.1, 0.2, 0.4, 0.2, 0.1]),
        ("decisive", [0.25, 0.0, 0.5, 0.0, 0.25]),
        ("drawish", [0.0, 0.1, 0.8, 0.1, 0.0]),
    ] {
        for pairs in [100, 200, 400, 1_000] {
            let mut random = Random(pairs);
            let [at_edge, equal] = [0.55, 0.5].map(|mean| {
                let chances = tilted(chances, mean);
                let called = (0..rounds).filter(|_| {
                    let test = of_pairs(random.pairs(pairs, chances), false);
                    Bound::Within([0.45, 0.55]).p_value(&test) <= 0.05
                });
                100.0 * called.count() as f64 / rounds as f64
            });
            println!("{name}, {pairs} pairs: {at_edge:.1} % at the edge, {equal:.1} % of equals");
            let most = 5.0 + 3.0 * 100.0 * (0.05 * 0.95 / rounds as f64).sqrt();
            assert!(at_edge <= most, "{name} {pairs} {at_edge}");
        }
    }
}
