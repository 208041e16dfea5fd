//! Tests of the solver's parts.

use super::super::Othello;
use super::discs;
use super::stability::stable;
use super::table::{Known, NO_SQUARE, Table};
use crate::core::position::{Position, Side};
use crate::core::rng::Random;

#[test]
fn stable_discs_are_never_flipped() {
    let mut random = Random::from_key([5; 32]);
    let mut most = 0;
    for _ in 0..300 {
        let mut position = Othello::initial();
        // The discs that have been stable so far, of each side.
        let mut kept = [0; 2];
        while !position.is_over() {
            let board = discs(&position);
            let sides = match position.to_move() {
                Side::First => [board, board.passed()],
                Side::Second => [board.passed(), board],
            };
            for (kept, board) in kept.iter_mut().zip(sides) {
                assert_eq!(board.own & *kept, *kept, "{position}");
                let now = stable(board.own, board.other);
                assert_eq!(now & *kept, *kept, "{position}");
                *kept = now;
            }
            position.play_unchecked(position.random_move(&mut random));
        }
        let board = discs(&position);
        if board.empty() == 0 {
            assert_eq!(stable(board.own, board.other), board.own);
            most += 1;
        }
    }
    assert!(most > 200, "most games fill the board");
}

#[test]
fn a_table_keeps_the_larger_board_and_the_last_one() {
    let known = |lower| Known { lower, upper: 64, best: [3, NO_SQUARE] };
    let mut table = Table::default();
    table.start(8).unwrap();
    let start = discs(&Othello::initial());
    assert_eq!(table.get(start), Known::NOTHING);
    table.put(start, 60, known(-3));
    // So many boards use each place several times.
    let boards: Vec<_> = (0..2_000).map(|number| super::Discs { own: number, ..start }).collect();
    for (number, &board) in (0..).zip(&boards) {
        table.put(board, 10 + number % 7, known(2));
        assert_eq!(table.get(board), known(2));
        assert_eq!(table.get(start), known(-3));
    }
    assert!(boards.iter().any(|&board| table.get(board) == Known::NOTHING));
    table.put(start, 60, known(5));
    assert_eq!(table.get(start), known(5));
    table.start(8).unwrap();
    assert_eq!(table.get(start), Known::NOTHING);
}

#[test]
fn a_table_whose_memory_is_refused_can_be_used_with_less() {
    let mut table = Table::default();
    let start = discs(&Othello::initial());
    for bits in [58, 8, 58, 8] {
        assert_eq!(table.start_with_places(bits).is_err(), bits == 58);
        if bits == 8 {
            assert_eq!(table.get(start), Known::NOTHING);
            let known = Known { lower: 1, ..Known::NOTHING };
            table.put(start, 60, known);
            assert_eq!(table.get(start), known);
        }
    }
}
