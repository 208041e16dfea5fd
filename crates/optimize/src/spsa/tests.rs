//! SPSA against a slow computation of its formulas, and on matches of players with known best settings.

use spelrum_engine::Random;

use super::*;

fn key(seed: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key
}

/// The result of a match of this many pairs for a side of this strength: wins minus losses, with draws.
fn played(ahead: f64, pairs: u64, random: &mut Random) -> f64 {
    let score = 1.0 / (1.0 + libm::exp(-ahead));
    let mut won = 0.0;
    for _ in 0..2 * pairs {
        let drawn = random.unit();
        let draws = 0.6 * score.min(1.0 - score);
        if drawn < score - draws / 2.0 {
            won += 1.0;
        } else if drawn >= score + draws / 2.0 {
            won -= 1.0;
        }
    }
    won
}

/// A number, a whole number from 0 to 8, a switch and a choice of three, with a best setting.
const DIMENSIONS: [Dimension; 4] = [
    Dimension::Real,
    Dimension::Whole { steps: 8 },
    Dimension::Choice { options: 2 },
    Dimension::Choice { options: 3 },
];

fn strength(levels: &[Level]) -> f64 {
    let square = |number: f64| number * number;
    let [Level::Part(real), Level::Part(whole), Level::Choice(switch), Level::Choice(choice)] =
        *levels
    else {
        panic!("{levels:?}")
    };
    // The worst is about 400 Elo behind the best.
    -3.0 * square(real - 0.8) - 3.0 * square(whole - 0.25)
        + [0.0, 0.7][switch]
        + [0.0, 0.3, 0.8][choice]
}

fn start() -> Vec<Level> {
    vec![Level::Part(0.2), Level::Part(1.0), Level::Choice(0), Level::Choice(0)]
}

fn search(seed: u64, iterations: u64, pairs: u64, at_once: usize) -> Vec<Level> {
    let schedule =
        Schedule { iterations, step: 60.0 / (iterations * pairs) as f64, perturbation: 0.05 };
    let mut spsa = Spsa::new(DIMENSIONS.to_vec(), start(), schedule);
    let mut random = Random::from_key(key(seed));
    let mut waiting = std::collections::VecDeque::new();
    for iteration in 0..iterations + at_once as u64 {
        if waiting.len() == at_once || iteration >= iterations {
            let (perturbed, won): (Perturbed, f64) = waiting.pop_front().unwrap();
            spsa.tell(&perturbed, won);
        }
        if iteration < iterations {
            let perturbed = spsa.perturb(iteration, &mut random);
            check(&perturbed);
            let [plus, minus] = perturbed.sides.each_ref().map(|side| strength(side));
            let won = played(plus - minus, pairs, &mut random);
            waiting.push_back((perturbed, won));
        }
    }
    spsa.best()
}

/// Both sides lie within bounds, whole numbers are whole, and the sides differ everywhere.
fn check(perturbed: &Perturbed) {
    for (dimension, (plus, minus)) in
        DIMENSIONS.iter().zip(perturbed.sides[0].iter().zip(&perturbed.sides[1]))
    {
        assert_ne!(plus, minus);
        for level in [plus, minus] {
            match *level {
                Level::Part(part) => {
                    assert!((0.0..=1.0).contains(&part));
                    assert_eq!(dimension.rounded(part), part);
                }
                Level::Choice(choice) => assert!(choice < 3),
            }
        }
    }
}

/// 200 iterations of 10 pairs, 4,000 games, find most of the possible gain.
#[test]
fn the_best_settings_are_found_from_games() {
    let best = strength(&[Level::Part(0.8), Level::Part(0.25), Level::Choice(1), Level::Choice(2)]);
    let first = strength(&start());
    let mut gained = 0.0;
    let searches = 20;
    for seed in 0..searches {
        let found = search(seed, 200, 10, 4);
        gained += (strength(&found) - first) / (best - first);
    }
    gained /= searches as f64;
    println!("{gained}");
    assert!(gained > 0.85, "{gained}");
}

#[test]
fn the_same_seed_is_the_same_course() {
    assert_eq!(search(3, 50, 4, 2), search(3, 50, 4, 2));
    assert_ne!(search(3, 50, 4, 2), search(4, 50, 4, 2));
}

/// Compares with Spall's original formulas, for one number far from its bounds.
#[test]
fn steps_are_those_of_the_formulas() {
    let schedule = Schedule { iterations: 100, step: 0.002, perturbation: 0.05 };
    let mut spsa = Spsa::new(vec![Dimension::Real], vec![Level::Part(0.5)], schedule);
    let mut theta = 0.5;
    let mut random = Random::from_key(key(1));
    for k in 0..100_u32 {
        let perturbed = spsa.perturb(u64::from(k), &mut random);
        let [Level::Part(plus), Level::Part(minus)] =
            [perturbed.sides[0][0], perturbed.sides[1][0]]
        else {
            panic!()
        };
        let won = f64::from(k % 7) - 3.0;
        spsa.tell(&perturbed, won);
        // The last iteration has the given perturbation and step.
        let c = 0.05 * libm::pow(100.0, 0.101);
        let c_k = c / libm::pow(f64::from(k) + 1.0, 0.101);
        let a = 0.002 * 0.05 * 0.05 * libm::pow(110.0, 0.602);
        let a_k = a / libm::pow(10.0 + f64::from(k) + 1.0, 0.602);
        let delta = if plus > minus { 1.0 } else { -1.0 };
        assert!((plus - (theta + c_k * delta)).abs() < 1e-9, "{plus} {theta}");
        theta += a_k * (2.0 * won) / (2.0 * c_k * delta);
        let [Level::Part(now)] = spsa.best()[..] else { panic!() };
        assert!((now - theta).abs() < 1e-9, "{now} {theta}");
    }
}

#[test]
fn nothing_won_moves_nothing() {
    let schedule = Schedule { iterations: 10, step: 0.1, perturbation: 0.05 };
    let mut spsa = Spsa::new(DIMENSIONS.to_vec(), start(), schedule);
    let before = spsa.clone();
    let perturbed = spsa.perturb(0, &mut Random::from_key(key(1)));
    spsa.tell(&perturbed, 0.0);
    assert_eq!(spsa, before);
    assert_eq!(spsa.best(), start());
}
