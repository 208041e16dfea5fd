use spelrum_engine::Random;

use super::*;
use crate::{Interval, OpeningSum};

/// A cell with each opening played once, as a pair.
fn cell(number: i64, place: &[&str], players: [&str; 2], scores: &[f64]) -> ComparedCell<i64> {
    cell_of(0, number, place, players, scores)
}

/// The same, from the openings of these conditions.
fn cell_of(
    conditions: u64,
    number: i64,
    place: &[&str],
    players: [&str; 2],
    scores: &[f64],
) -> ComparedCell<i64> {
    let openings = (0..).zip(scores).map(|(k, &sum)| ((conditions, k), sum));
    let openings = openings.map(|(opening, sum)| OpeningSum { opening, weight: 1.0, sum });
    ComparedCell {
        cell: number,
        place: place.iter().map(|&value| (value != "-").then(|| value.to_owned())).collect(),
        player: players[0].to_owned(),
        opponent: players[1].to_owned(),
        seed: 1,
        score: Clustered::score(&openings.collect::<Vec<_>>()).unwrap(),
    }
}

const AB: [&str; 2] = ["ab", "gm"];

fn lines(differences: &[Difference<i64>]) -> Vec<String> {
    let line = |difference: &Difference<i64>| {
        let changed = match &difference.changed {
            Changed::Axis { axis, from, to } => format!("axis {axis} {from}>{to}"),
            Changed::Player { from } => format!("player {from}>{}", difference.player),
        };
        let place: Vec<_> =
            difference.place.iter().map(|value| value.as_deref().unwrap_or("-")).collect();
        let [first, against] = difference.cells;
        format!(
            "{first}-{against} {changed} {} {:+.3} over {}",
            place.join(","),
            difference.score,
            difference.openings_shared
        )
    };
    differences.iter().map(line).collect()
}

#[test]
fn neighbours_on_an_axis_of_numbers_are_compared() {
    let cells = [
        cell(1, &["1", "5ms"], AB, &[0.5, 0.5, 0.25]),
        cell(2, &["1", "10ms"], AB, &[0.5, 0.75, 0.5]),
        cell(3, &["2", "5ms"], AB, &[0.75, 0.75, 0.5, 1.0]),
        cell(4, &["3", "5ms"], AB, &[1.0, 1.0, 1.0, 1.0]),
        cell(5, &["-", "5ms"], ["ab", "random"], &[1.0, 1.0]),
    ];
    let (all, is_truncated) = differences(&[0, 1], &cells);
    assert!(!is_truncated);
    assert_eq!(
        lines(&all),
        [
            "3-1 axis 0 1>2 -,5ms +0.333 over 3",
            "4-3 axis 0 2>3 -,5ms +0.250 over 4",
            "2-1 axis 1 5ms>10ms 1,- +0.167 over 3",
        ]
    );
}

#[test]
fn words_are_compared_with_the_first() {
    let words = ["roulette", "tournament", "rank"];
    let cells: Vec<_> =
        (1..).zip(words).map(|(id, word)| cell(id, &[word], AB, &[0.5; 4])).collect();
    let (all, _) = differences(&[0], &cells);
    assert_eq!(
        lines(&all),
        [
            "2-1 axis 0 roulette>tournament - +0.000 over 4",
            "3-1 axis 0 roulette>rank - +0.000 over 4",
        ]
    );
}

/// For each opponent, the others' scores against it are compared with that of the first of them.
#[test]
fn players_are_compared_by_the_opponents_that_they_share() {
    let cells = [
        cell(1, &[], ["a", "b"], &[0.75; 4]),
        cell(2, &[], ["a", "c"], &[1.0; 4]),
        cell(3, &[], ["b", "c"], &[0.5; 4]),
    ];
    let (all, _) = differences(&[], &cells);
    assert_eq!(
        lines(&all),
        [
            "3-1 player a>c  -0.250 over 4",
            "2-1 player b>c  -0.250 over 4",
            "3-2 player a>b  -0.500 over 4",
        ]
    );
}

#[test]
fn the_list_has_an_end() {
    let value = |n: i64| n.to_string();
    let cells: Vec<_> =
        (0..=DIFFERENCES_MAX as i64 + 1).map(|n| cell(n, &[&value(n)], AB, &[0.5; 2])).collect();
    let (all, is_truncated) = differences(&[0], &cells);
    assert_eq!((all.len(), is_truncated), (DIFFERENCES_MAX, true));
    let (all, is_truncated) = differences(&[0], &cells[..=DIFFERENCES_MAX]);
    assert_eq!((all.len(), is_truncated), (DIFFERENCES_MAX, false));
}

/// An opening's effect on both cells cancels.
#[test]
fn an_opening_that_both_cells_had_cancels() {
    let lean = [0.0, 0.25, 0.5, 0.25, 0.5, 0.0, 0.25, 0.5, 0.0, 0.25];
    let other: Vec<f64> = lean.iter().map(|score| score + 0.5).collect();
    let cells = [cell(1, &["1"], AB, &lean), cell(2, &["2"], AB, &other)];
    let (all, _) = differences(&[0], &cells);
    let shared = all[0].interval.unwrap();
    // The same scores on other openings.
    let mut apart = cells.clone();
    let sums: Vec<_> = (0..)
        .zip(&other)
        .map(|(k, &sum)| OpeningSum { opening: (1, k), weight: 1.0, sum })
        .collect();
    apart[1].score = Clustered::score(&sums).unwrap();
    let (all, _) = differences(&[0], &apart);
    let unshared = all[0].interval.unwrap();
    assert_eq!(all[0].openings_shared, 0);
    assert!(
        shared.high - shared.low < 0.75 * (unshared.high - unshared.low),
        "{shared:?} {unshared:?}"
    );
    assert!(shared.is_clear());
}

/// In a complete grid of two values per axis, effects equal means computed by hand.
#[test]
fn effects_of_a_square_are_differences_of_means() {
    let cells = [
        cell(1, &["1", "false"], AB, &[0.25, 0.5, 0.25, 0.0]),
        cell(2, &["1", "true"], AB, &[0.5, 0.5, 0.25, 0.25]),
        cell(3, &["2", "false"], AB, &[0.5, 0.75, 0.5, 0.25]),
        cell(4, &["2", "true"], AB, &[1.0, 1.0, 0.75, 1.0]),
    ];
    let [a, b, c, d] = [0.25, 0.375, 0.5, 0.9375];
    let effects = effects(&[0, 1], &cells);
    assert_eq!(effects.len(), 1);
    let expected = [(c + d - a - b) / 2.0, (b + d - a - c) / 2.0, d - c - (b - a)];
    for (effect, expected) in effects[0].effects.iter().zip(expected) {
        assert!((effect.score - expected).abs() < 1e-12, "{effect:?} for {expected}");
    }
    assert_eq!(effects[0].effects.len(), 3);
    assert_eq!((effects[0].has_interactions, effects[0].residual), (true, None));
    let names: Vec<_> = effects[0].effects[2]
        .contrasts
        .iter()
        .map(|contrast| (contrast.axis, contrast.from.as_str(), contrast.to.as_str()))
        .collect();
    assert_eq!(names, [(0, "1", "2"), (1, "false", "true")]);
    // By hand: each opening's own estimate of the effect.
    let by_opening = |k: usize| {
        let score = |cell: usize| {
            [
                [0.25, 0.5, 0.25, 0.0],
                [0.5, 0.5, 0.25, 0.25],
                [0.5, 0.75, 0.5, 0.25],
                [1.0, 1.0, 0.75, 1.0],
            ][cell][k]
        };
        (score(2) + score(3) - score(0) - score(1)) / 2.0
    };
    let mean = (0..4).map(by_opening).sum::<f64>() / 4.0;
    let variance =
        (0..4).map(|k| (by_opening(k) - mean) * (by_opening(k) - mean)).sum::<f64>() / 3.0 / 4.0;
    let Interval { low, high, .. } = effects[0].effects[0].interval.unwrap();
    let prior: f64 =
        [a, b, c, d].iter().map(|m| (m * m + (1.0 - m) * (1.0 - m)) / 40.0 / 4.0).sum();
    let error = 3.182_446_305_283_71 * (variance + prior).sqrt();
    assert!(((high - low) / 2.0 - error).abs() < 1e-12, "{low} {high} {error}");
}

/// Cells drawn from a grid, with a misfit of the model.
#[test]
fn a_sample_tells_main_effects() {
    let mut random = Random::from_key([7; 32]);
    let mut cells = Vec::new();
    for id in 0..30 {
        let [depth, rate] = [random.below(5), random.below(4)];
        let word = random.below(3);
        let mean = 0.3 + 0.08 * f64::from(depth) + if word == 2 { 0.1 } else { 0.0 };
        let scores: Vec<f64> = (0..40).map(|_| mean + 0.1 * (random.unit() - 0.5)).collect();
        let place =
            [["a", "b", "c"][word as usize].to_owned(), depth.to_string(), rate.to_string()];
        cells.push(cell(id, &place.each_ref().map(String::as_str), AB, &scores));
    }
    // The grid's order.
    cells.sort_by(|a, b| a.place.cmp(&b.place));
    let effects = effects(&[0, 1, 2], &cells);
    let find_effect = |axis: usize, to: &str| {
        let is = |effect: &&Effect| matches!(&effect.contrasts[..], [contrast] if contrast.axis == axis && contrast.to == to);
        effects[0].effects.iter().find(is).unwrap()
    };
    for (effect, truth) in [
        (find_effect(1, "4"), 0.32),
        (find_effect(2, "3"), 0.0),
        (find_effect(0, "b"), 0.0),
        (find_effect(0, "c"), 0.1),
    ] {
        let interval = effect.interval.unwrap();
        assert!(interval.low < truth && truth < interval.high, "{effect:?} for {truth}");
        assert!(interval.high - interval.low < 0.1, "{effect:?}");
    }
}

/// The effects of two axes that vary together cannot be separated.
#[test]
fn what_cannot_be_told_apart_has_no_effects() {
    let cells = [
        cell(1, &["1", "1"], AB, &[0.5; 4]),
        cell(2, &["2", "2"], AB, &[0.6; 4]),
        cell(3, &["3", "3"], AB, &[0.6; 4]),
    ];
    assert_eq!(effects(&[0, 1], &cells), []);
    // A single axis has its differences.
    assert_eq!(effects(&[0], &cells), []);
    assert_eq!(effects::<i64>(&[], &[]), []);
}

#[test]
fn replicates_are_judged_by_how_seeds_differ() {
    let mut cells = Vec::new();
    for (seed, scores) in (1..).zip([[0.5, 0.75], [0.0, 0.25], [0.75, 1.0]]) {
        for (depth, add) in [("1", 0.0), ("2", 0.0)] {
            // Each seed has openings of its own.
            let mut cell = cell_of(
                seed,
                cells.len() as i64,
                &[&seed.to_string(), depth],
                AB,
                &scores.map(|score| score + add),
            );
            cell.seed = seed;
            cells.push(cell);
        }
    }
    let groups = replicates(&[0], &cells);
    assert_eq!(groups.len(), 2);
    let [first, _] = &groups[..] else { panic!() };
    assert_eq!(
        (first.cell, first.seeds, first.place.clone()),
        (0, 3, vec![None, Some("1".to_owned())])
    );
    let mean = 1.625 / 3.0;
    assert!((first.score - mean).abs() < 1e-12);
    let squares = [0.625, 0.125, 0.875].map(|score: f64| (score - mean) * (score - mean));
    let deviation = (squares.iter().sum::<f64>() / 2.0).sqrt();
    assert!((first.deviation.unwrap() - deviation).abs() < 1e-12);
    let half = 4.302_652_729_749_464 * deviation / 3.0_f64.sqrt();
    let interval = first.interval.unwrap();
    assert!((interval.low - (mean - half).max(0.0)).abs() < 1e-12 && interval.high <= 1.0);
    assert!(first.deviation_between.unwrap() < deviation);
    // Student's distribution with 2 degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t²).
    let t = (mean - 0.5) / (deviation / 3.0_f64.sqrt());
    assert!((first.p_value.unwrap() - (1.0 - t / (2.0 + t * t).sqrt())).abs() < 1e-9);
    // Seeds that lost every game so far are not certain to lose every game.
    for cell in &mut cells {
        cell.score = Clustered::score_of_one_opening(&[3, 0, 0]).unwrap();
    }
    let alike = &replicates(&[0], &cells)[0];
    assert_eq!((alike.score, alike.deviation), (0.0, Some(0.0)));
    assert!(alike.interval.unwrap().high > 0.2, "{alike:?}");
    // One seed is not a replicate.
    assert_eq!(replicates(&[0], &cells[..2]), []);
}

/// The coverage of intervals of a difference, with openings that favour one side in both cells, and in each
/// separately.
#[test]
fn differences_cover_the_truth() {
    const ROUNDS: u32 = 4_000;
    for (openings, least) in [(3_u64, 0.95), (5, 0.95), (10, 0.945), (30, 0.94), (100, 0.94)] {
        for pairs_each in [1_u32, 4] {
            let mut random = Random::from_key([openings as u8; 32]);
            let mut held = 0;
            for _ in 0..ROUNDS {
                let mut sums = [Vec::new(), Vec::new()];
                for k in 0..openings {
                    let lean = 0.3 * (random.unit() - 0.5);
                    for (sums, mean) in sums.iter_mut().zip([0.45, 0.6]) {
                        let deviation = 0.2 * (random.unit() - 0.5);
                        let chance = mean + lean + deviation;
                        // Unequal numbers of pairs.
                        let pairs = pairs_each + random.below(pairs_each);
                        let game = |random: &mut Random| f64::from(random.unit() < chance);
                        let sum = (0..2 * pairs).map(|_| game(&mut random) / 2.0).sum();
                        sums.push(OpeningSum { opening: (0, k), weight: f64::from(pairs), sum });
                    }
                }
                let [first, second] = sums.map(|sums| Clustered::score(&sums).unwrap());
                let interval = second.minus(&first).interval().unwrap();
                held += u32::from(interval.low <= 0.15 && 0.15 <= interval.high);
            }
            let share = f64::from(held) / f64::from(ROUNDS);
            println!(
                "{openings} openings, {pairs_each} to {} pairs: {share:.3}",
                2 * pairs_each - 1
            );
            assert!(share >= least, "{openings} openings, {pairs_each} pairs each: {share}");
        }
    }
}

#[test]
fn an_axis_groups_all_cells_and_leaves_those_alone_that_it_does_not_affect() {
    let cells = [
        cell(1, &["1", "a"], AB, &[0.5, 0.75]),
        cell(2, &["1", "b"], AB, &[0.5, 0.75]),
        cell(3, &["2", "a"], AB, &[0.25, 0.75]),
        cell(4, &["2", "b"], AB, &[1.0, 0.75]),
        cell(5, &["-", "a"], ["ab", "random"], &[1.0, 0.75]),
        cell(6, &["1", "c"], AB, &[0.5, 0.75]),
    ];
    let groups = replicated(&[0], &cells);
    let counts: Vec<_> = groups.iter().map(|group| (group.cell, group.seeds)).collect();
    assert_eq!(counts, [(1, 2), (2, 2), (5, 1), (6, 1)]);
    assert_eq!(groups[2].interval, cells[4].score.interval().map(|own| own.clamped(0.0, 1.0)));
    assert_eq!((groups[3].interval, groups[3].deviation), (None, None));
    assert!(groups[0].interval.is_some());
    // Over both axes, which is what a table of two keys makes, only the players are left.
    let groups = replicated(&[0, 1], &cells);
    let counts: Vec<_> = groups.iter().map(|group| (group.cell, group.seeds)).collect();
    assert_eq!(counts, [(1, 5), (5, 1)]);
}

/// Openings that favour one side of all replicates are an error that more replicates do not reduce.
#[test]
fn openings_in_common_are_an_error_of_all_replicates() {
    let half = |is_common: bool| {
        let of_replicate = |replicate: u64| {
            let place = [replicate.to_string()];
            let conditions = if is_common { 0 } else { replicate };
            cell_of(conditions, replicate as i64, &[&place[0]], AB, &[0.0, 0.25, 0.5, 1.0, 1.0])
        };
        let cells: Vec<_> = (0..40).map(of_replicate).collect();
        let [group] = &replicated(&[0], &cells)[..] else { panic!() };
        assert!(group.deviation.unwrap() < 1e-12);
        let interval = group.interval.unwrap();
        ((interval.high - interval.low) / 2.0, cells[0].score.variance())
    };
    let (common, variance) = half(true);
    let (apart, _) = half(false);
    // One opening's part is in all 40; the prior is each replicate's own.
    assert!(common > 2.0 * variance.sqrt() * 0.9, "{common} of {variance}");
    assert!(apart < 3.0 * (variance / 40.0).sqrt(), "{apart} of {variance}");
}

/// Scores of pairs, each a quarter of 0 to 4, higher by the strength.
fn drawn(random: &mut Random, pairs: usize, strength: f64) -> Vec<f64> {
    let pair = |random: &mut Random| {
        let luck = random.unit();
        ((luck + strength) * 5.0).floor().clamp(0.0, 4.0) / 4.0
    };
    (0..pairs).map(|_| pair(random)).collect()
}

#[test]
fn builds_are_told_in_order_and_marked_where_their_strength_changed() {
    let mut random = Random::from_key([7; 32]);
    let names = ["dev@1be07d43", "dev@9f2c61aa", "dev@unknown", "dev"];
    let strengths = [0.0, 0.15, 0.15, 0.0];
    let mut cells: Vec<_> = (0..)
        .zip(names.iter().zip(strengths))
        .map(|(number, (name, strength))| {
            cell(number, &["5ms"], [name, "base"], &drawn(&mut random, 400, strength))
        })
        .collect();
    // Of one build alone nothing is courses; a player's name may have the sign in it.
    cells.push(cell(8, &["10ms"], ["dev", "base"], &[0.5, 0.5]));
    cells.push(cell(9, &["5ms"], ["me@home", "base"], &[0.5, 0.25]));
    let courses = histories(1, &cells);
    let marks = |history: &History<i64>| -> Vec<(Option<String>, i64, Option<bool>)> {
        let mark = |build: &BuildScore<i64>| {
            let gain = build.gain.filter(|gain| gain.is_clear).map(|gain| gain.score > 0.0);
            (build.build.clone(), build.cell, gain)
        };
        history.builds.iter().map(mark).collect()
    };
    assert_eq!(courses.len(), 1, "{courses:?}");
    assert_eq!((&*courses[0].player, &*courses[0].opponent), ("dev", "base"));
    let build = |text: &str| Some(text.to_owned());
    assert_eq!(
        marks(&courses[0]),
        [
            (build("1be07d43"), 0, None),
            (build("9f2c61aa"), 1, Some(true)),
            (build("unknown"), 2, None),
            (None, 3, Some(false)),
        ]
    );

    // The same as an axis of commits, in the axis's order, whichever side they play.
    let commits = ["b", "a", "9"].map(|digit| digit.repeat(40));
    let mut random = Random::from_key([8; 32]);
    let cells: Vec<_> = (0..)
        .zip(commits.iter().zip([0.0, 0.2, 0.2]))
        .map(|(number, (commit, strength))| {
            cell(number, &["-", commit], ["dev", "base"], &drawn(&mut random, 400, strength))
        })
        .collect();
    let courses = histories(2, &cells);
    assert_eq!(courses.len(), 1);
    assert_eq!(courses[0].place, [None, None]);
    let expected = commits.map(Some).into_iter().zip([None, Some(true), None]);
    assert!(marks(&courses[0]).into_iter().map(|(build, _, mark)| (build, mark)).eq(expected));
    let gain = courses[0].builds[1].gain.unwrap();
    let difference = courses[0].builds[1].score - courses[0].builds[0].score;
    assert!((gain.score - difference).abs() < 1e-9);
}

/// Of rows of builds that are all alike at most one in twenty has a mark.
#[test]
fn builds_that_are_alike_seldom_seem_to_differ() {
    let mut random = Random::from_key([9; 32]);
    let rows = 400;
    let marked = (0..rows).filter(|_| {
        let cells: Vec<_> = (0..8)
            .map(|number| {
                let commit = format!("{number:040x}");
                cell(number, &[&commit], AB, &drawn(&mut random, 60, 0.0))
            })
            .collect();
        let courses = histories(1, &cells);
        courses[0].builds.iter().any(|build| build.gain.is_some_and(|gain| gain.is_clear))
    });
    let marked = marked.count();
    // Three standard deviations above 5% of 400.
    assert!((1..=33).contains(&marked), "{marked} of {rows}");
}
