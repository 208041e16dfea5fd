//! Plans against simulated matches, which are read by the rules and intervals of real ones.

use spelrum_engine::Random;

use super::unit_model::Chances;
use super::*;
use crate::claims::{About, Bound, Claimed, Quantifier};
use crate::coverage_rounds::rounds_or;
use crate::{EloModel, OpeningTally, PairCounts, Sprt, StopRule, Tally, Verdict};

/// A pair's half points, drawn from a model.
fn draw(model: &UnitModel, random: &mut Random) -> usize {
    let mut left = random.unit();
    let chances: &[f64] = match model.chances() {
        Chances::Pair(chances) => chances,
        Chances::Game(chances) => chances,
    };
    for (class, chance) in chances.iter().enumerate() {
        left -= chance;
        if left < 0.0 {
            return class;
        }
    }
    chances.len() - 1
}

struct Simulated {
    units: f64,
    low: f64,
    high: f64,
    verdicts: [f64; 2],
}

/// Matches that are read at each checkpoint of their rule.
fn simulated(rule: &StopRule, model: &UnitModel, units_max: u64, matches: u32) -> Simulated {
    let mut random = Random::from_key([3; 32]);
    let (mut ends, mut verdicts) = (Vec::new(), [0.0; 2]);
    for _ in 0..matches {
        let mut tally = Tally::new(model.is_of_pairs());
        while tally.units() < units_max {
            tally.add(draw(model, &mut random));
            if rule.is_checked_after(tally.units()) && rule.is_reached(&tally, None) {
                break;
            }
        }
        if let StopRule::Sprt(sprt) = rule {
            match sprt.verdict(tally.llr(sprt)) {
                Some(Verdict::Elo0) => verdicts[0] += 1.0,
                Some(Verdict::Elo1) => verdicts[1] += 1.0,
                None => {}
            }
        }
        ends.push(tally.units());
    }
    ends.sort_unstable();
    let matches = f64::from(matches);
    Simulated {
        units: ends.iter().sum::<u64>() as f64 / matches,
        low: ends[ends.len() / 10] as f64,
        high: ends[ends.len() * 9 / 10] as f64,
        verdicts: verdicts.map(|count| count / matches),
    }
}

fn sprt(elo0: f64, elo1: f64, model: EloModel) -> StopRule {
    StopRule::Sprt(Sprt::new(elo0, elo1, 0.05, 0.1, model).unwrap())
}

#[track_caller]
fn near(what: &str, planned: f64, seen: f64, share: f64) {
    println!("{what}: planned {planned:.3}, simulated {seen:.3}");
    assert!((planned - seen).abs() <= share * seen, "{what}: planned {planned}, simulated {seen}");
}

/// The games, and the verdicts, of sequential tests under each hypothesis and between them, cut short or not.
#[test]
fn the_course_of_a_sequential_test_is_that_of_simulated_matches() {
    let matches = rounds_or(200);
    let tests = [
        (sprt(0.0, 60.0, EloModel::Normalized), UnitModel::even(true, 0.0), 5_000),
        (sprt(0.0, 100.0, EloModel::Normalized), UnitModel::even(true, 0.6), 5_000),
        (sprt(0.0, 100.0, EloModel::Logistic), UnitModel::even(true, 0.3), 5_000),
        (sprt(-30.0, 60.0, EloModel::Logistic), UnitModel::even(false, 0.3), 300),
    ];
    for (rule, even, units_max) in tests {
        let StopRule::Sprt(test) = rule else { continue };
        for share in [0.0, 0.5, 1.0] {
            let elo = test.elo0() + share * (test.elo1() - test.elo0());
            let model = even.at_elo(elo, test.model());
            let planned = RuleCourse::planned(&rule, &model, None, units_max);
            let seen = simulated(&rule, &model, units_max, matches);
            // A mean of so few matches is itself uncertain.
            let error = 0.1 + 2.5 / f64::from(matches).sqrt();
            near(&format!("{rule} at {elo}"), planned.units, seen.units, error);
            near("  one in ten", planned.low, seen.low, error + 0.1);
            near("  nine in ten", planned.high, seen.high, error + 0.1);
            for (planned, seen) in planned.verdicts.into_iter().zip(seen.verdicts) {
                println!("  verdict: planned {planned:.3}, simulated {seen:.3}");
                assert!((planned - seen).abs() < 0.03 + 2.5 / f64::from(matches).sqrt());
            }
        }
    }
}

#[test]
fn a_precision_is_reached_where_it_is_planned() {
    for (precision, even, units_max) in [
        (0.03, UnitModel::even(true, 0.0), 5_000),
        (0.05, UnitModel::even(true, 0.5), 5_000),
        (0.05, UnitModel::even(false, 0.3), 5_000),
        (0.03, UnitModel::even(true, 0.0), 300),
    ] {
        let rule = StopRule::from_precision(precision).unwrap();
        for mean in [0.5, 0.6, 0.8, 0.95] {
            let model = even.with_mean(mean);
            let planned = RuleCourse::planned(&rule, &model, None, units_max);
            let seen = simulated(&rule, &model, units_max, rounds_or(100));
            near(&format!("{rule} at {mean}"), planned.units, seen.units, 0.2);
            assert!(planned.low <= seen.units * 1.05 && seen.units <= planned.high * 1.05);
        }
    }
}

/// The course of a match that has begun: eight of ten matches end between both ends.
#[test]
fn eight_of_ten_matches_end_where_a_running_one_says() {
    let rules = [sprt(0.0, 60.0, EloModel::Normalized), StopRule::from_precision(0.04).unwrap()];
    for rule in rules {
        let mut shares = Vec::new();
        for t in [0.0, 0.12, 0.25] {
            let model = UnitModel::even(true, 0.2).with_t_value(t);
            for looked_at in [30, 60, 120] {
                let mut random = Random::from_key([5; 32]);
                let (mut held, mut asked) = (0_u32, 0_u32);
                for _ in 0..rounds_or(100) {
                    let mut tally = Tally::new(true);
                    let mut course = None;
                    while tally.units() < 2_000 {
                        tally.add(draw(&model, &mut random));
                        if rule.is_checked_after(tally.units()) && rule.is_reached(&tally, None) {
                            break;
                        }
                        if tally.units() == looked_at {
                            let state = RuleState { tally: &tally, spread: None };
                            course = Some(RuleCourse::continued(&rule, state, None, 2_000));
                        }
                    }
                    let Some(course) = course else { continue };
                    asked += 1;
                    let units = tally.units() as f64;
                    held += u32::from(course.low <= units && units <= course.high);
                }
                if asked >= 40 {
                    let share = f64::from(held) / f64::from(asked);
                    println!("{rule} at {t}, after {looked_at}: {share:.2} of {asked}");
                    assert!(share > 0.6, "{rule} at {t}, after {looked_at}: {share:.2} of {asked}");
                    shares.push(share);
                }
            }
        }
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        println!("{rule}: {mean:.2} on average");
        assert!(mean > 0.77, "{rule}: {mean:.2} on average");
    }
}

/// Chance of a verdict and width of fixed matches.
#[test]
fn power_and_width_are_those_of_simulated_matches() {
    let mut random = Random::from_key([4; 32]);
    let matches = rounds_or(400);
    for even in
        [UnitModel::even(true, 0.0), UnitModel::even(true, 0.6), UnitModel::even(false, 0.3)]
    {
        for (units, mean) in [(20, 0.7), (100, 0.6), (400, 0.55)] {
            let model = even.with_mean(mean);
            let (mut shown, mut width) = (0.0, 0.0);
            for _ in 0..matches {
                let mut tally = Tally::new(model.is_of_pairs());
                for _ in 0..units {
                    tally.add(draw(&model, &mut random));
                }
                let interval = tally.interval();
                shown += if interval.low > 0.5 { 1.0 } else { 0.0 };
                width += (interval.high - interval.low) / 2.0;
            }
            let matches = f64::from(matches);
            near("width", half_width(&model, units, None), width / matches, 0.05);
            let (planned, seen) = (power(&model, units, None, 0.5), shown / matches);
            println!("{units} units at {mean}: power {planned:.3}, simulated {seen:.3}");
            assert!((planned - seen).abs() < 0.04 + 2.5 * (0.25 / matches).sqrt());
        }
    }
}

#[test]
fn the_units_for_a_width_and_a_power_are_the_fewest() {
    let model = UnitModel::even(true, 0.3).with_mean(0.55);
    let units = units_for_half_width(&model, 0.02, None).unwrap();
    assert!(half_width(&model, units, None) <= 0.02 && half_width(&model, units - 1, None) > 0.02);
    let units = units_for_power(&model, 0.8, None, 0.5).unwrap();
    assert!(power(&model, units, None, 0.5) >= 0.8 && power(&model, units - 1, None, 0.5) < 0.8);
    // Half an opening of each extreme is never ruled out.
    assert_eq!(units_for_half_width(&model, 0.02, Some(12)), None);
    assert_eq!(units_for_power(&UnitModel::even(true, 0.3), 0.8, None, 0.5), None);
}

/// An observed distribution keeps its draws and its agreement of pairs when its mean moves.
#[test]
fn observed_units_are_tilted_to_a_mean() {
    let tally = Tally::Pairs(PairCounts([2, 5, 80, 12, 7]));
    let model = UnitModel::observed(&tally, None).unwrap();
    for mean in [0.2, 0.5, 0.55, 0.9] {
        let tilted = model.with_mean(mean);
        assert!((tilted.mean() - mean).abs() < 1e-9);
        assert!((tilted.with_mean(model.mean()).variance() - model.variance()).abs() < 1e-9);
    }
    assert!(model.with_mean(0.5).variance() < UnitModel::even(true, 0.0).variance() / 2.0);
    assert!(UnitModel::observed(&Tally::new(true), None).is_none());
}

/// Openings that lean make repeated openings worth less, and the lean is found from their spread.
#[test]
fn openings_that_lean_widen_a_planned_interval() {
    let mut random = Random::from_key([6; 32]);
    let even = UnitModel::even(true, 0.0);
    let mut tally = Tally::new(true);
    let mut openings = OpeningTally::new(Some(20)).unwrap();
    for unit in 0..400 {
        let lean = if unit % 20 < 10 { 0.7 } else { 0.3 };
        let half_points = draw(&even.with_mean(lean), &mut random);
        tally.add(half_points);
        openings.add(unit, 1, half_points as u64);
    }
    let spread = openings.spread(400, 2).unwrap();
    let model = UnitModel::observed(&tally, Some(spread)).unwrap();
    let interval = spread.interval(tally.interval().score);
    near(
        "width over openings",
        half_width(&model, 400, Some(20)),
        (interval.high - interval.low) / 2.0,
        0.05,
    );
    let without = half_width(&UnitModel::observed(&tally, None).unwrap(), 400, Some(20));
    assert!(without < 0.7 * half_width(&model, 400, Some(20)));
}

#[test]
fn claims_are_decided_as_often_as_planned() {
    let above = |bound| Claimed {
        about: About::Score(Bound::Above(bound)),
        quantifier: Quantifier::Every,
        error_rate: 0.05,
    };
    let even = UnitModel::even(true, 0.0);
    let chance = |units, claims: &[PlannedClaim]| {
        let mut random = Random::from_key([8; 32]);
        let normal = move || {
            // Twelve uniform numbers less six: near enough to normal here.
            (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
        };
        let model = even.with_mean(0.6);
        let cells = [PlannedCell { model, units, openings: None, sprt: None }; 2];
        chance_that_all_are_supported(claims, &cells, 4_000, normal)
    };
    let one = PlannedClaim { claimed: above(0.5), cases: vec![vec![(0, false)]] };
    let other = PlannedClaim { claimed: above(0.5), cases: vec![vec![(1, false)]] };
    let both =
        PlannedClaim { claimed: above(0.5), cases: vec![vec![(0, false)], vec![(1, false)]] };
    let alone = chance(60, std::slice::from_ref(&one));
    // One-sided, so somewhat more than the two-sided interval's.
    let two_sided = power(&even.with_mean(0.6), 60, None, 0.5);
    assert!(alone > two_sided && alone < two_sided + 0.15, "{alone} and {two_sided}");
    assert!((chance(60, &[both]) - alone * alone).abs() < 0.03);
    let family = chance(60, &[one, other]);
    assert!(family < alone * alone + 0.01 && family > alone * alone - 0.1, "{family}");
    assert!(
        chance(60, &[PlannedClaim { claimed: above(0.6), cases: vec![vec![(0, false)]] }]) < 0.1
    );
}
