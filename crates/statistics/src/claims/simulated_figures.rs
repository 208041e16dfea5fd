//! Error rates and power of claims about accuracy, ratings and means over replicates, simulated. The figures of
//! docs/statistics.md used `SPELRUM_COVERAGE_ROUNDS`.

use spelrum_engine::Random;

use super::*;
use crate::comparisons::over_replicates;
use crate::coverage_rounds::rounds_or;
use crate::ratings::{Tally, rate};
use crate::{Clustered, Estimate, GameCounts, OpeningSum, score_of_elo};

/// Three standard errors above a rate, in percent.
fn most(rounds: u32, rate: f64) -> f64 {
    100.0 * (rate + 3.0 * (rate * (1.0 - rate) / f64::from(rounds)).sqrt())
}

fn percent(rounds: u32, mut is_supported: impl FnMut() -> bool) -> f64 {
    let supported = (0..rounds).filter(|_| is_supported()).count();
    100.0 * supported as f64 / f64::from(rounds)
}

/// Two players' shares of best moves over the same positions, of which a common share is easy to both.
fn choices(
    random: &mut Random,
    positions: u64,
    shares: [f64; 2],
    common: f64,
) -> [Vec<OpeningSum>; 2] {
    let mut both = [Vec::new(), Vec::new()];
    for k in 0..positions {
        // With this chance one lot decides for both, so that shares are kept and choices agree.
        let lots = [random.unit(), random.unit()];
        let is_common = random.unit() < common;
        for (player, list) in both.iter_mut().enumerate() {
            let lot = if is_common { lots[0] } else { lots[player] };
            let sum = f64::from(lot < shares[player]);
            list.push(OpeningSum { opening: (0, k), weight: 1.0, sum });
        }
    }
    both
}

#[test]
fn accuracies_at_the_edge_are_rarely_supported() {
    let rounds = rounds_or(400);
    for share in [0.5, 0.9] {
        for positions in [25, 100, 400] {
            let mut random = Random::from_key([positions as u8; 32]);
            let mut above = |true_share: f64| {
                percent(rounds, || {
                    let [choices, _] = choices(&mut random, positions, [true_share; 2], 0.0);
                    let best = choices.iter().filter(|choice| choice.sum > 0.0).count() as u64;
                    let test = GameCounts([positions - best, 0, best]).test();
                    let test = FigureTest::Score { test, is_of_second: false };
                    Bound::Above(share).p_value(&test) <= 0.05
                })
            };
            let (edge, power) = (above(share), above(share + 0.08));
            println!(
                "share {share}, {positions} positions: edge {edge:.1} %, 0.08 above {power:.1} %"
            );
            assert!(edge <= most(rounds, 0.05), "{share} {positions} {edge}");
            for common in [0.0, 0.7] {
                let mut gain = |by: f64| {
                    percent(rounds, || {
                        let shares = [share + by / 2.0, share - by / 2.0];
                        let both = choices(&mut random, positions, shares, common);
                        let [one, two] = both.map(|list| Clustered::score(&list).unwrap());
                        let gain = Estimate::from_sum([(1.0, &one), (-1.0, &two)]);
                        Bound::Above(0.0).p_value(&FigureTest::Gain(gain)) <= 0.05
                    })
                };
                let (edge, power) = (gain(0.0), gain(0.08));
                println!("  paired, common {common}: edge {edge:.1} %, gain of 0.08 {power:.1} %");
                assert!(edge <= most(rounds, 0.05), "{share} {positions} {common} {edge}");
            }
        }
    }
}

/// A round robin of players with these ratings, a pair of games from each opening: the leads of the first player, and
/// whether one scale is not rejected.
fn leads(random: &mut Random, elo: &[f64], openings: u32) -> (Vec<Estimate>, bool) {
    let mut tallies = Vec::new();
    for cluster in 0..openings {
        let lean = 200.0 * (random.unit() - 0.5);
        for one in 0..elo.len() {
            for other in 0..one {
                for (first, second) in [(one, other), (other, one)] {
                    let win = random.unit() < score_of_elo(elo[first] - elo[second] + lean);
                    tallies.push(Tally {
                        cluster,
                        first: first as u32,
                        second: second as u32,
                        wins: u32::from(win),
                        draws: 0,
                        losses: u32::from(!win),
                    });
                }
            }
        }
    }
    let components = rate(elo.len(), 100, &tallies).unwrap();
    let component = &components[0];
    let leads = (1..elo.len()).map(|other| component.lead(0, other).unwrap()).collect();
    (leads, component.lack_of_fit().is_none_or(|fit| !fit.is_rejected()))
}

#[test]
fn ratings_leads_at_the_edge_are_rarely_supported() {
    let rounds = rounds_or(150);
    for openings in [25, 100] {
        let mut random = Random::from_key([openings as u8; 32]);
        let mut supported = |elo: &[f64], of: usize, within: bool| {
            percent(rounds, || {
                let (leads, fits) = leads(&mut random, elo, openings);
                let bound = if within { Bound::Within([-60.0, 60.0]) } else { Bound::Above(0.0) };
                let p = |lead: &Estimate| bound.p_value(&FigureTest::RatingLead(*lead));
                let p_values: Vec<f64> = leads.iter().take(of).map(p).collect();
                fits && Quantifier::Every.p_value(&p_values) <= 0.05
            })
        };
        let edge = supported(&[0.0, 0.0, -50.0, -200.0], 1, false);
        let power = supported(&[60.0, 0.0, -50.0, -200.0], 1, false);
        let first_edge = supported(&[0.0, 0.0, 0.0, -200.0], 3, false);
        let first = supported(&[60.0, 0.0, 0.0, -200.0], 3, false);
        let apart = supported(&[60.0, 0.0, -50.0, -200.0], 1, true);
        let equal = supported(&[0.0, 0.0, -50.0, -200.0], 1, true);
        println!(
            "{openings} openings: above another {edge:.1} % of equals, {power:.1} % of 60 Elo; first {first_edge:.1} % of \
             three equals, {first:.1} % of 60 Elo; within 60: {apart:.1} % of 60, {equal:.1} % of equals"
        );
        for rate in [edge, first_edge, apart] {
            assert!(rate <= most(rounds, 0.05), "{openings} {rate}");
        }
    }
}

/// The scores of replicates whose strength varies with this deviation, from common openings or not.
fn replicates(
    random: &mut Random,
    count: u64,
    (mean, deviation): (f64, f64),
    is_common: bool,
) -> Vec<Clustered> {
    const OPENINGS: u64 = 50;
    let leans: Vec<f64> = (0..OPENINGS).map(|_| 0.3 * (random.unit() - 0.5)).collect();
    let mut one = |replicate: u64| {
        let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let strength = mean + deviation * normal;
        let conditions = if is_common { 0 } else { replicate };
        let sum = |(k, lean): (u64, &f64)| {
            let lean = if is_common { *lean } else { 0.3 * (random.unit() - 0.5) };
            let mut game = || f64::from(random.unit() < strength + lean);
            OpeningSum { opening: (conditions, k), weight: 1.0, sum: (game() + game()) / 2.0 }
        };
        let sums: Vec<OpeningSum> = (0..).zip(&leans).map(sum).collect();
        Clustered::score(&sums).unwrap()
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn means_over_replicates_at_the_edge_are_rarely_supported() {
    let rounds = rounds_or(400);
    for is_common in [false, true] {
        for deviation in [0.0, 0.05, 0.15] {
            for count in [3, 5, 10, 30] {
                let mut random = Random::from_key([count as u8; 32]);
                let mut supported = |mean: f64, is_pooled: bool| {
                    percent(rounds, || {
                        let scores = replicates(&mut random, count, (mean, deviation), is_common);
                        let scores: Vec<&Clustered> = scores.iter().collect();
                        let estimate = match is_pooled {
                            false => over_replicates(&scores).unwrap(),
                            // All games as if one player had played them.
                            true => {
                                let terms: Vec<_> = scores
                                    .iter()
                                    .map(|score| (1.0 / count as f64, *score))
                                    .collect();
                                Estimate::from(&Clustered::sum(&terms))
                            }
                        };
                        Bound::Above(0.5).p_value(&FigureTest::MeanScore(estimate)) <= 0.05
                    })
                };
                let (edge, pooled) = (supported(0.5, false), supported(0.5, true));
                let power = supported(0.6, false);
                println!(
                    "deviation {deviation}, common openings {is_common}, {count} replicates: edge {edge:.1} %, of 0.6 \
                     {power:.1} %; over games {pooled:.1} %"
                );
                // The openings' part is estimated from few replicates.
                assert!(edge <= most(rounds, 0.06), "{is_common} {deviation} {count} {edge}");
            }
        }
    }
}
