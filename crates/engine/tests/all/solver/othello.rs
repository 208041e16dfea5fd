//! Othello's solver against plain negamax and the FFO endgame test.

use std::collections::BTreeMap;

use serde::Deserialize;
use spelrum_engine::games::othello::{OthelloSolver, WIPED_OUT};
use spelrum_engine::games::{Othello, OthelloMove};
use spelrum_engine::search::{Budget, Limits, Stop};
use spelrum_engine::{EndedBy, Game, PlainSolver, Position, Random, Side, Solver, Timeless};

use super::{random, random_position};

/// The greatest difference of discs at the end for the side to move, by trying everything.
fn slow_difference(position: &Othello) -> i32 {
    if position.is_over() {
        return for_mover(position);
    }
    let children = (0..position.legal_move_count()).map(|index| {
        let mut child = *position;
        child.play_unchecked(position.nth_legal_move(index));
        -slow_difference(&child)
    });
    children.max().unwrap()
}

fn for_mover(position: &Othello) -> i32 {
    match position.to_move() {
        Side::First => position.disc_difference(),
        Side::Second => -position.disc_difference(),
    }
}

/// A board as no game leaves it: each disc of either side, so that there are many passes, or one in so many of the
/// side to move or of the other.
fn random_board(empty: usize, one_in: u32, random: &mut Random) -> Othello {
    loop {
        let mut squares: Vec<u32> =
            (0..64).filter(|square| ![27, 28, 35, 36].contains(square)).collect();
        random.shuffle(&mut squares);
        let letter = |square| match () {
            () if squares[..empty].contains(&square) => '.',
            () if random.below(one_in) == 0 => 'b',
            () => 'w',
        };
        let board: String = (0..64).map(letter).collect();
        // A board whose discs are not joined is no position.
        let side = if random.below(2) == 0 { 'b' } else { 'w' };
        if let Ok(position) = Othello::parse(&Othello::rules(), &format!("{board} {side}"))
            && !position.is_over()
        {
            return position;
        }
    }
}

/// All results of one solver, by trying everything and by the budget's nodes.
fn check(position: &Othello, solver: &mut OthelloSolver) {
    let unlimited = Limits::default();
    let budget = || Budget::new(&unlimited, &Timeless);
    let difference = slow_difference(position);
    assert_eq!(solver.disc_difference(position, &mut budget()), Ok(difference), "{position}");
    assert_eq!(solver.value(position, &mut budget()), Ok(difference.signum()), "{position}");

    let moves = (0..position.legal_move_count()).map(|index| position.nth_legal_move(index));
    let expected: Vec<(OthelloMove, i32)> = moves
        .map(|mv| {
            let mut child = *position;
            child.play_unchecked(mv);
            (mv, -slow_difference(&child).signum())
        })
        .collect();
    let mut values = Vec::new();
    solver.move_values(position, &mut budget(), &mut values).unwrap();
    assert_eq!(values, expected, "{position}");

    let mut optimal = Vec::new();
    let value = solver.optimal_moves(position, &mut budget(), &mut optimal);
    assert_eq!(value, Ok(difference.signum()), "{position}");
    let best = expected.iter().filter(|&&(_, value)| value == difference.signum());
    assert_eq!(optimal, best.map(|&(mv, _)| mv).collect::<Vec<_>>(), "{position}");
}

/// A position of a random game with so many empty squares.
fn random_ending(empty: u32, random: &mut Random) -> Othello {
    loop {
        let position: Othello = random_position(&Othello::rules(), 60 - empty, random);
        if position.empty_squares() == empty {
            return position;
        }
    }
}

#[test]
fn endings_of_games_have_the_scores_of_plain_negamax() {
    let mut solver = OthelloSolver::default();
    for (empty, positions) in
        [(1, 40), (2, 40), (4, 80), (5, 80), (6, 80), (7, 150), (8, 80), (9, 20), (10, 4)]
    {
        let mut random = random(empty.into());
        for _ in 0..positions {
            check(&random_ending(empty, &mut random), &mut solver);
        }
    }
}

#[test]
fn boards_with_many_passes_have_the_scores_of_plain_negamax() {
    let mut solver = OthelloSolver::default();
    for (empty, positions) in
        [(1, 40), (2, 80), (3, 80), (4, 80), (5, 80), (6, 80), (7, 80), (8, 40), (9, 8)]
    {
        let mut random = random(100 + empty as u64);
        for _ in 0..positions {
            check(&random_board(empty, 2, &mut random), &mut solver);
        }
    }
}

#[test]
fn boards_with_few_discs_of_one_side_have_the_scores_of_plain_negamax() {
    let mut solver = OthelloSolver::default();
    let mut wiped_out = 0;
    for empty in 3..=8 {
        let mut random = random(200 + empty as u64);
        for _ in 0..40 {
            let position = random_board(empty, 12, &mut random);
            check(&position, &mut solver);
            let end = end_of_best_play(position).ending().unwrap();
            wiped_out += u32::from(end.termination == WIPED_OUT);
        }
    }
    assert!(wiped_out > 0, "no board ends with discs of one side alone");
}

/// The end of the game if both sides play for discs.
fn end_of_best_play(mut position: Othello) -> Othello {
    while !position.is_over() {
        let children = (0..position.legal_move_count()).map(|index| {
            let mut child = position;
            child.play_unchecked(position.nth_legal_move(index));
            child
        });
        position = children.min_by_key(slow_difference).unwrap();
    }
    position
}

/// A solver's earlier results affect neither its answer nor its nodes.
#[test]
fn solving_again_takes_the_same_nodes() {
    let mut solver = OthelloSolver::default();
    let endings: Vec<Othello> = (9..15).map(|empty| random_ending(empty, &mut random(7))).collect();
    let solve = |solver: &mut OthelloSolver, position: &Othello| {
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let mut moves = Vec::new();
        let value = solver.optimal_moves(position, &mut budget, &mut moves).unwrap();
        let difference = solver.disc_difference(position, &mut budget).unwrap();
        (value, difference, moves, budget.nodes())
    };
    for _ in 0..2 {
        for position in &endings {
            let fresh = solve(&mut OthelloSolver::default(), position);
            assert_eq!(solve(&mut solver, position), fresh, "{position}");
        }
    }
}

/// Players that hand over to the solver this late make the nodes that they always made.
#[test]
fn near_the_end_the_nodes_are_those_of_the_plain_solver() {
    for empty in 1..=6 {
        let position = random_ending(empty, &mut random(empty.into()));
        let nodes = |solver: &mut dyn Solver<Othello>| {
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            solver.value(&position, &mut budget).unwrap();
            solver.optimal_moves(&position, &mut budget, &mut Vec::new()).unwrap();
            solver.move_values(&position, &mut budget, &mut Vec::new()).unwrap();
            budget.nodes()
        };
        assert_eq!(nodes(&mut OthelloSolver::default()), nodes(&mut PlainSolver::default()));
    }
}

#[test]
fn a_limit_ends_the_search_and_leaves_the_solver_usable() {
    let position = random_ending(14, &mut random(3));
    let mut solver = OthelloSolver::default();
    let fresh = solver.disc_difference(&position, &mut Budget::new(&Limits::default(), &Timeless));
    for nodes in [0, 1, 100] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut budget = Budget::new(&limits, &Timeless);
        let stopped = solver.disc_difference(&position, &mut budget);
        assert_eq!(stopped, Err(Stop::Limit(EndedBy::Nodes)));
        assert_eq!(budget.nodes(), nodes);
        let again =
            solver.disc_difference(&position, &mut Budget::new(&Limits::default(), &Timeless));
        assert_eq!(again, fresh);
    }
}

#[derive(Deserialize)]
struct File {
    positions: Vec<Published>,
}

#[derive(Deserialize)]
struct Published {
    number: u32,
    position: String,
    scores: BTreeMap<String, i32>,
}

/// Positions 1 to 19, with 14 to 16 empty squares. Those from 40 on, with up to 23, are in the benchmark.
#[test]
fn the_ffo_endgame_test_is_solved() {
    let text = include_str!("../../vectors/othello/endgames.json");
    let file: File = serde_json::from_str(text).unwrap();
    let mut solver = OthelloSolver::default();
    for Published { number, position, scores } in file.positions {
        if number >= 40 {
            continue;
        }
        let position = Othello::parse(&Othello::rules(), &position).unwrap();
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let difference = solver.disc_difference(&position, &mut budget).unwrap();
        let published = *scores.values().max().unwrap();
        // Numbers 5 and 11 end with an empty square, which the test gives to the winner.
        let empty_at_end = i32::from([5, 11].contains(&number));
        assert_eq!(difference + empty_at_end, published, "{number}");

        let mut values = Vec::new();
        solver.move_values(&position, &mut budget, &mut values).unwrap();
        let values: BTreeMap<String, i32> =
            values.into_iter().map(|(mv, value)| (mv.to_string(), value)).collect();
        for (mv, score) in scores {
            assert_eq!(values[&mv], score.signum(), "{mv} of {number}");
        }
    }
}
