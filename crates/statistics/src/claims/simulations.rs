//! Error rates and power of claims, simulated. The figures of docs/statistics.md used `SPELRUM_COVERAGE_ROUNDS=20000`.

use spelrum_engine::Random;

use super::*;
use crate::coverage_rounds::rounds_or;
use crate::{
    Clustered, EloModel, Estimate, GameTimes, OpeningSum, PairCounts, Sprt, StopRule, Tally,
    TimeSums, Verdict, score_of_elo,
};

/// Three standard errors above 5%, in percent.
fn most(rounds: u32) -> f64 {
    5.0 + 300.0 * (0.05 * 0.95 / f64::from(rounds)).sqrt()
}

fn percent(rounds: u32, mut is_supported: impl FnMut() -> bool) -> f64 {
    let supported = (0..rounds).filter(|_| is_supported()).count();
    100.0 * supported as f64 / f64::from(rounds)
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// The gain of one simulated cell over another, one pair from each opening.
fn gain(random: &mut Random, openings: u64, [score, other]: [f64; 2], is_common: bool) -> Estimate {
    let leans: Vec<f64> = (0..openings).map(|_| random.unit() - 0.5).collect();
    let mut cell = |score: f64, conditions: u64, is_same: bool| {
        // An opening that favours the first player of both cells, by less near the ends.
        let width = 0.8 * score.min(1.0 - score);
        let sums: Vec<OpeningSum> = (0..)
            .zip(&leans)
            .map(|(k, &lean)| {
                let lean = if is_same { lean } else { random.unit() - 0.5 };
                let mut game = || f64::from(random.unit() < score + width * lean);
                OpeningSum { opening: (conditions, k), weight: 1.0, sum: (game() + game()) / 2.0 }
            })
            .collect();
        Clustered::score(&sums).unwrap()
    };
    let [one, two] = [cell(score, 0, true), cell(other, u64::from(!is_common), is_common)];
    Estimate::from(&one.minus(&two))
}

#[test]
fn gains_that_are_none_are_rarely_supported() {
    let rounds = rounds_or(400);
    for score in [0.5, 0.9] {
        for is_common in [true, false] {
            for openings in [10, 25, 100, 400] {
                let mut random = Random::from_key([openings as u8; 32]);
                let mut supported = |bound: Bound, by: f64| {
                    percent(rounds, || {
                        let scores = [score + by / 2.0, score - by / 2.0];
                        let gain = gain(&mut random, openings, scores, is_common);
                        bound.p_value(&FigureTest::Gain(gain)) <= 0.05
                    })
                };
                let above = Bound::Above(0.0);
                let within = Bound::Within([-0.1, 0.1]);
                let [none, edge] = [supported(above, 0.0), supported(within, 0.1)];
                let [power, equal] = [supported(above, 0.1), supported(within, 0.0)];
                println!(
                    "score {score}, common openings {is_common}, {openings} pairs: above 0 {none:.1} %, of 0.1 \
                     {power:.1} %; within 0.1 at the edge {edge:.1} %, of equals {equal:.1} %"
                );
                assert!(none <= most(rounds) && edge <= most(rounds), "{none} {edge}");
            }
        }
    }
}

/// A cell that an SPRT ended, with pairs of these chances: the evidence on its score.
fn ended(random: &mut Random, sprt: Sprt, chances: [f64; 5], bound: Bound) -> FigureTest {
    let rule = StopRule::Sprt(sprt);
    let mut tally = Tally::new(true);
    while tally.units() < 2_000 {
        let mut rest = random.unit();
        let class = chances.iter().position(|chance| {
            rest -= chance;
            rest < 0.0
        });
        tally.add(class.unwrap_or(4));
        if rule.is_checked_after(tally.units()) && rule.is_reached(&tally, None) {
            break;
        }
    }
    FigureTest::from_sprt(&sprt, sprt.verdict(tally.llr(&sprt)), bound, false).unwrap()
}

/// Chances of pairs with this mean score and so many drawn games, as of two independent games.
fn pairs(score: f64, drawn: f64) -> [f64; 5] {
    let [win, draw, loss] = [score - drawn / 2.0, drawn, 1.0 - score - drawn / 2.0];
    [loss * loss, 2.0 * loss * draw, draw * draw + 2.0 * win * loss, 2.0 * draw * win, win * win]
}

/// Two cells with an SPRT each, and one of a fixed number of games, all at the edge of their claims.
#[test]
fn a_family_with_sequential_tests_is_rarely_supported_if_false() {
    let rounds = rounds_or(200);
    for (elo0, elo1, model) in [
        (0.0, 60.0, EloModel::Normalized),
        (0.0, 40.0, EloModel::Logistic),
        (20.0, 60.0, EloModel::Logistic),
    ] {
        for drawn in [0.0, 0.3, 0.6] {
            let sprt = Sprt::new(elo0, elo1, 0.05 / 3.0, 0.05, model).unwrap();
            let score = score_of_elo(elo0);
            let about = About::Score(Bound::Above(score));
            let claimed = Claimed { about, quantifier: Quantifier::Every, error_rate: 0.05 };
            let mut random = Random::from_key([7; 32]);
            let mut family = |score: f64| {
                percent(rounds, || {
                    let chances = pairs(score, drawn);
                    let mut counts = [0; 5];
                    for _ in 0..200 {
                        let mut rest = random.unit();
                        let class = chances.iter().position(|chance| {
                            rest -= chance;
                            rest < 0.0
                        });
                        counts[class.unwrap_or(4)] += 1;
                    }
                    let test = PairCounts(counts).test();
                    let fixed = FigureTest::Score { test, is_of_second: false };
                    let bound = about.bound();
                    let sequential = [0, 1].map(|_| ended(&mut random, sprt, chances, bound));
                    let claim = |(cell, test)| ClaimToJudge {
                        claimed,
                        is_exploratory: false,
                        is_counted: true,
                        cases: vec![CaseOfClaim {
                            cells: vec![(cell, false)],
                            state: CaseState::Finished,
                            test: Some(test),
                        }],
                    };
                    let tests = sequential.into_iter().chain([fixed]);
                    let claims: Vec<ClaimToJudge> = (0..).zip(tests).map(claim).collect();
                    let judged = judge(&claims);
                    judged.iter().any(|judged| judged.judgement == Judgement::Supported)
                })
            };
            let any = family(score);
            println!("{model:?} {elo0} to {elo1}, {drawn} drawn: any of three {any:.1} %");
            assert!(any <= most(rounds), "{elo0} {elo1} {drawn} {any}");
        }
    }
}

/// A test of other strengths than the claim's shows nothing of it.
#[test]
fn an_sprt_enters_only_claims_that_it_tests() {
    let logistic = Sprt::new(10.0, 30.0, 0.02, 0.04, EloModel::Logistic).unwrap();
    let normalized = Sprt::new(0.0, 30.0, 0.02, 0.04, EloModel::Normalized).unwrap();
    let weaker = Sprt::new(-30.0, 0.0, 0.02, 0.04, EloModel::Normalized).unwrap();
    let shown = |sprt: &Sprt, bound: Bound| bound.tested_by(sprt);
    let (stronger, not_stronger) = (Some((Verdict::Elo1, 0.02)), Some((Verdict::Elo0, 0.04)));
    assert_eq!(shown(&logistic, Bound::Above(0.5)), stronger);
    assert_eq!(shown(&logistic, Bound::Above(score_of_elo(10.0))), stronger);
    assert_eq!(shown(&logistic, Bound::Above(0.52)), None);
    assert_eq!(shown(&logistic, Bound::Below(0.55)), not_stronger);
    assert_eq!(shown(&logistic, Bound::Below(0.5)), None);
    assert_eq!(shown(&normalized, Bound::Above(0.5)), stronger);
    assert_eq!(shown(&normalized, Bound::Above(0.51)), None);
    assert_eq!(shown(&normalized, Bound::Below(0.9)), None);
    assert_eq!(shown(&weaker, Bound::Above(0.5)), None);
    assert_eq!(shown(&weaker, Bound::Below(0.5)), not_stronger);
    assert_eq!(shown(&weaker, Bound::Within([0.4, 0.6])), None);
    // The second player's score is above one half where the first player's is below.
    let p = |verdict, is_of_second| {
        let test = FigureTest::from_sprt(&weaker, verdict, Bound::Above(0.5), is_of_second)?;
        Some(Bound::Above(0.5).p_value(&test))
    };
    assert_eq!(p(Some(Verdict::Elo0), false), None);
    assert_eq!(p(Some(Verdict::Elo0), true), Some(0.04));
    assert_eq!(p(Some(Verdict::Elo1), true), Some(1.0));
    assert_eq!(p(None, true), Some(1.0));
}

/// Ratios of times whose games differ by their openings, of a player that takes half its opponent's time.
#[test]
fn ratios_of_times_at_the_edge_are_rarely_supported() {
    let rounds = rounds_or(400);
    for openings in [10, 25, 100] {
        let mut random = Random::from_key([openings; 32]);
        let mut supported = |bound: Bound, ratio: f64| {
            percent(rounds, || {
                let mut sums = TimeSums::default();
                for _ in 0..openings {
                    let of_opening = normal(&mut random);
                    let mut of_player = |mean: f64| {
                        let mut times = GameTimes::default();
                        for _ in 0..2 {
                            let log =
                                libm::log(mean) + 0.5 * of_opening + 0.3 * normal(&mut random);
                            times.games += 1;
                            times.wall_us_mean_sum += libm::exp(log);
                            times.wall_us_mean_log_sum += log;
                        }
                        times
                    };
                    let both = [of_player(1_000.0 * ratio), of_player(1_000.0)];
                    sums.add(both.each_ref());
                }
                let log = sums.log_ratio(0).unwrap();
                bound.p_value(&FigureTest::TimeRatio(log)) <= 0.05
            })
        };
        let edge = supported(Bound::Below(0.5), 0.5);
        let power = supported(Bound::Below(0.5), 0.45);
        let [apart, equal] = [1.1, 1.0].map(|ratio| supported(Bound::Within([0.9, 1.1]), ratio));
        println!(
            "{openings} openings: below 0.5 at 0.5 {edge:.1} %, at 0.45 {power:.1} %; within 0.9 to 1.1 at 1.1 \
             {apart:.1} %, at 1 {equal:.1} %"
        );
        assert!(edge <= most(rounds) && apart <= most(rounds), "{openings} {edge} {apart}");
    }
}
