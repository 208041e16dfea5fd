//! Tic-tac-toe and Nim against their known solutions.

use proptest::prelude::*;
use spelrum_engine::games::nim::LAST_OBJECT;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Game, Position, Side, perft};

use super::exact_values::Solver;
use super::{after, moves_of, random_game};

fn nim(heaps: &[u32], misere: bool) -> Nim {
    Nim::start(&Nim::rules(heaps, misere).unwrap()).unwrap()
}

#[test]
fn tic_tac_toe_is_a_draw() {
    assert_eq!(Solver::new(10_000).value(&TicTacToe::empty()), Some(0));
}

#[test]
fn tic_tac_toe_moves_are_the_empty_cells_until_it_is_over() {
    for seed in 0..50 {
        for position in random_game(TicTacToe::empty(), seed) {
            let moves = moves_of(&position);
            assert_eq!(moves.len(), position.legal_move_count() as usize);
            assert_eq!(moves.is_empty(), position.is_over());
            for (index, mv) in (0..).zip(&moves) {
                assert_eq!(position.nth_legal_move(index), *mv);
            }
            let text = position.to_string();
            for (cell, mark) in (0..).zip(text.chars()) {
                let mv = spelrum_engine::games::TicTacToeMove::new(cell);
                assert_eq!(position.is_legal(mv), mark == '.' && !position.is_over());
            }
        }
    }
}

/// Bouton (1901): the player to move wins if the exclusive or of the heaps is not zero; in misère
/// play the same, unless no heap has two objects: then with an even number of heaps of one.
fn mover_wins(heaps: &[u32], misere: bool) -> bool {
    let sum = heaps.iter().fold(0, |sum, heap| sum ^ heap);
    if misere && heaps.iter().all(|&heap| heap <= 1) { sum == 0 } else { sum != 0 }
}

#[test]
fn nim_has_the_values_of_theory() {
    for misere in [false, true] {
        let mut solver = Solver::new(100_000);
        for number in 1..6 * 6 * 6 * 3 {
            let heaps = [number / 108, number / 18 % 6, number / 3 % 6, number % 3];
            let value = solver.value(&nim(&heaps, misere));
            assert_eq!(value == Some(1), mover_wins(&heaps, misere), "{heaps:?}, misere: {misere}");
        }
    }
}

#[test]
fn the_last_object_wins_or_in_misere_play_loses() {
    for (misere, winner) in [(false, Side::First), (true, Side::Second)] {
        let position = nim(&[2], misere);
        let over = after(&position, position.parse_move("a2").unwrap());
        let ending = over.ending().unwrap();
        assert_eq!(ending.termination, LAST_OBJECT);
        assert_eq!(ending.winner, Some(winner));
        assert_eq!(over.legal_move_count(), 0);
        assert!(moves_of(&over).is_empty());
    }
}

/// Fewer leaves than the full tree only where games end early.
#[test]
fn full_trees_have_the_leaves_that_perft_counts() {
    for heaps in [&[3, 4, 5][..], &[1], &[1, 1, 1, 1], &[7], &[2, 0, 2]] {
        let position = nim(heaps, false);
        for depth in 0..=7 {
            let leaves = perft(&position, depth).leaves;
            assert_eq!(
                position.full_tree_leaves(depth).unwrap(),
                leaves,
                "{heaps:?} to depth {depth}"
            );
        }
        let whole = perft(&position, 12).leaves;
        assert_eq!(position.full_tree_leaves(12).unwrap(), whole);
        assert_eq!(position.full_tree_leaves(1_000).unwrap(), whole);
    }
    for depth in 0..=4 {
        let empty = TicTacToe::empty();
        assert_eq!(empty.full_tree_leaves(depth).unwrap(), perft(&empty, depth).leaves);
    }
    assert_eq!(TicTacToe::empty().full_tree_leaves(20).unwrap(), 362_880);
    let empty = Pentago::empty(true);
    assert_eq!(
        [0, 1, 2, 3].map(|depth| empty.full_tree_leaves(depth).unwrap()),
        [1, 288, 80_640, 21_934_080]
    );
}

#[test]
fn full_trees_saturate_below_2_to_the_53() {
    assert_eq!(Pentago::empty(true).full_tree_leaves(36).unwrap(), (1 << 53) - 1);
    assert_eq!(nim(&[30; 8], true).full_tree_leaves(240).unwrap(), (1 << 53) - 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nim_moves_agree_with_each_other(
        heaps in prop::collection::vec(0_u32..=30, 1..=8), misere: bool, seed: u64,
    ) {
        prop_assume!(heaps.iter().sum::<u32>() > 0);
        for position in random_game(nim(&heaps, misere), seed) {
            let moves = moves_of(&position);
            prop_assert!(moves.is_sorted());
            prop_assert_eq!(moves.len(), position.legal_move_count() as usize);
            prop_assert_eq!(moves.len() as u32, position.heaps().sum::<u32>());
            prop_assert_eq!(moves.is_empty(), position.is_over());
            for (index, mv) in (0..).zip(&moves) {
                prop_assert_eq!(position.nth_legal_move(index), *mv);
                prop_assert!(position.is_legal(*mv));
            }
        }
    }
}
