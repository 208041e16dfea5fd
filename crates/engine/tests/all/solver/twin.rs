//! The Pentago solver against the plain one, which plays every move on one board at a time.

use proptest::prelude::*;
use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::PentagoSolver;
use spelrum_engine::search::{Budget, Limits};
use spelrum_engine::{PlainSolver, Position, Solver, Timeless};

use super::{random, random_position};

fn solve_with(
    solver: &mut impl Solver<Pentago>,
    position: &Pentago,
) -> (i32, Vec<<Pentago as Position>::Move>) {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let mut moves = Vec::new();
    let value = solver.optimal_moves(position, &mut budget, &mut moves).unwrap();
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    assert_eq!(solver.value(position, &mut budget).unwrap(), value, "{position}");
    (value, moves)
}

fn check(seed: u64, plies: u32, win_before_rotation: bool) {
    let rules = Pentago::rules(win_before_rotation);
    let position: Pentago = random_position(&rules, plies, &mut random(seed));
    let expected = solve_with(&mut PlainSolver::default(), &position);
    let found = solve_with(&mut PentagoSolver::default(), &position);
    assert_eq!(found, expected, "{position} under {rules:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn values_and_optimal_moves_agree(seed: u64, plies in 31_u32..36, before: bool) {
        check(seed, plies, before);
    }
}

/// Two plies more to the end of the game are as far as the plain solver goes in a moment.
#[test]
fn values_and_optimal_moves_agree_further_from_the_end() {
    for seed in 0..6 {
        check(seed, 30, seed % 2 == 0);
    }
}

/// A solver's earlier results affect neither its answer nor its nodes.
#[test]
fn solving_again_takes_the_same_nodes() {
    let mut solver = PentagoSolver::default();
    let positions: Vec<Pentago> = (0..12)
        .map(|seed| {
            let rules = Pentago::rules(seed % 3 != 0);
            random_position(&rules, 23 + seed as u32 % 6, &mut random(seed))
        })
        .collect();
    let solve = |solver: &mut PentagoSolver, position: &Pentago| {
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let mut moves = Vec::new();
        let value = solver.optimal_moves(position, &mut budget, &mut moves).unwrap();
        (value, moves, budget.nodes())
    };
    for _ in 0..2 {
        for position in &positions {
            let fresh = solve(&mut PentagoSolver::default(), position);
            assert_eq!(solve(&mut solver, position), fresh, "{position}");
        }
    }
}
