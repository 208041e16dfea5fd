//! CMA-ES on known functions, with and without noise, and against its definition.

use spelrum_engine::Random;

use super::*;

fn key(seed: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key
}

fn parts(levels: &[Level]) -> Vec<f64> {
    let part = |level: &Level| match level {
        Level::Part(part) => *part,
        Level::Choice(_) => panic!(),
    };
    levels.iter().map(part).collect()
}

/// The best point after this many generations of a search for the minimum of a function.
fn minimum(
    dimensions: Vec<Dimension>,
    start: Vec<Level>,
    generations: u64,
    seed: u64,
    mut function: impl FnMut(&[Level], &mut Random) -> f64,
) -> Vec<Level> {
    let population = usual_population(&dimensions);
    let mut search = CmaEs::new(dimensions.clone(), start, population);
    let mut random = Random::from_key(key(seed));
    for _ in 0..generations {
        let samples = search.ask(&mut random);
        assert_eq!(samples.len() as u64, population);
        for sample in &samples {
            for (dimension, level) in dimensions.iter().zip(&sample.levels) {
                if let Level::Part(part) = *level {
                    assert!((0.0..=1.0).contains(&part));
                    assert_eq!(dimension.rounded(part), part);
                }
            }
        }
        let fitness: Vec<Option<f64>> =
            samples.iter().map(|sample| Some(-function(&sample.levels, &mut random))).collect();
        search.tell(&samples, &fitness);
    }
    search.best()
}

fn square(number: f64) -> f64 {
    number * number
}

/// Numbers from -2 to 2, as shares of that interval.
fn rosenbrock(levels: &[Level]) -> f64 {
    let x: Vec<f64> = parts(levels).iter().map(|part| 4.0 * part - 2.0).collect();
    x.windows(2)
        .map(|pair| 100.0 * square(pair[1] - pair[0] * pair[0]) + square(1.0 - pair[0]))
        .sum()
}

#[test]
fn the_least_of_rosenbrocks_function_is_found() {
    let start = vec![Level::Part(0.2); 4];
    let found = minimum(vec![Dimension::Real; 4], start, 400, 1, |levels, _| rosenbrock(levels));
    // At 1, which is 3/4 of the way.
    assert!(parts(&found).iter().all(|part| (part - 0.75).abs() < 1e-6), "{found:?}");
    assert!(rosenbrock(&found) < 1e-9);
}

#[test]
fn a_quadratic_is_found_through_noise() {
    let best = [0.3, 0.7, 0.5, 0.25];
    let dimensions =
        vec![Dimension::Real, Dimension::Real, Dimension::Real, Dimension::Whole { steps: 8 }];
    let mut off = 0.0;
    for seed in 0..10 {
        let start = vec![Level::Part(0.9); 4];
        let found = minimum(dimensions.clone(), start, 60, seed, |levels, random| {
            let value: f64 =
                parts(levels).iter().zip(best).map(|(part, optimum)| square(part - optimum)).sum();
            value + 0.05 * normal(random)
        });
        off += parts(&found)
            .iter()
            .zip(best)
            .map(|(part, optimum)| square(part - optimum))
            .sum::<f64>()
            / 10.0;
    }
    // It started at 1.03.
    assert!(off < 0.03, "{off}");
}

#[test]
fn choices_and_bounds() {
    let dimensions =
        vec![Dimension::Choice { options: 3 }, Dimension::Real, Dimension::Whole { steps: 1 }];
    let start = vec![Level::Choice(0), Level::Part(0.5), Level::Part(0.0)];
    let mut right = 0;
    for seed in 0..10 {
        let found = minimum(dimensions.clone(), start.clone(), 40, seed, |levels, random| {
            let [Level::Choice(choice), Level::Part(real), Level::Part(whole)] = *levels else {
                panic!()
            };
            // The best point is at the upper ends, with the last option of the choice.
            [1.0, 0.6, 0.0][choice] - real - whole + 0.2 * normal(random)
        });
        let [Level::Choice(choice), Level::Part(real), Level::Part(whole)] = found[..] else {
            panic!()
        };
        right += u32::from(choice == 2 && real > 0.75 && whole == 1.0);
    }
    assert!(right >= 8, "{right}");
}

/// Mean and covariance of the drawn points are those of the search.
#[test]
fn points_are_drawn_from_the_distribution() {
    let mut search = CmaEs::new(vec![Dimension::Real; 2], vec![Level::Part(0.5); 2], 6);
    search.sigma = 0.01;
    search.covariance = vec![vec![2.0, 0.9], vec![0.9, 1.0]];
    search.eigen = Eigen::from_matrix(&search.covariance);
    let mut random = Random::from_key(key(9));
    let draws: Vec<Vec<f64>> = (0..20_000).map(|_| search.draw(&mut random)).collect();
    for i in 0..2 {
        for j in 0..2 {
            let product = |draw: &Vec<f64>| (draw[i] - 0.5) * (draw[j] - 0.5) / square(0.01);
            let mean = draws.iter().map(product).sum::<f64>() / draws.len() as f64;
            assert!((mean - search.covariance[i][j]).abs() < 0.06, "{i} {j} {mean}");
        }
    }
}

/// Only the order counts; without any fitness nothing moves; the same seed gives the same course.
#[test]
fn order_alone_counts() {
    let searched = |transformed: fn(f64) -> f64| {
        let mut search = CmaEs::new(vec![Dimension::Real; 3], vec![Level::Part(0.5); 3], 8);
        let mut random = Random::from_key(key(2));
        for _ in 0..20 {
            let samples = search.ask(&mut random);
            let value =
                |sample: &Sample| Some(transformed(-parts(&sample.levels).iter().sum::<f64>()));
            let fitness: Vec<_> = samples.iter().map(value).collect();
            search.tell(&samples, &fitness);
        }
        search
    };
    assert_eq!(searched(|value| value), searched(|value| value * 7.0 - 3.0));
    let mut search = searched(|value| value);
    let (mean, samples) = (search.mean.clone(), search.ask(&mut Random::from_key(key(1))));
    search.tell(&samples, &vec![None; samples.len()]);
    assert_eq!(search.mean, mean);
}

/// The constants of the tutorial's table for ten coordinates, computed by hand.
#[test]
fn constants_are_the_tutorials() {
    let constants = Constants::new(10, 10);
    assert_eq!(usual_population(&[Dimension::Real; 10]), 10);
    assert_eq!(constants.weights.len(), 5);
    let expected = [0.456_26, 0.270_75, 0.162_23, 0.085_23, 0.025_51];
    assert!(
        constants
            .weights
            .iter()
            .zip(expected)
            .all(|(found, expected)| (found - expected).abs() < 1e-3)
    );
    assert!((constants.mu_eff - 3.167).abs() < 0.01, "{}", constants.mu_eff);
    assert!((constants.c_1 - 0.0153).abs() < 1e-3, "{}", constants.c_1);
    assert!((constants.chi - 3.0847).abs() < 1e-3, "{}", constants.chi);
}
