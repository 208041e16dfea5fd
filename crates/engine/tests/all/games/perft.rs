//! Counts of leaves against the reference data, and of small games against known figures.

use std::collections::BTreeMap;

use serde::Deserialize;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Game, distinct_positions, perft};

use super::pentago;

#[derive(Deserialize)]
struct File {
    positions: Vec<Entry>,
    empty_board: EmptyBoard,
}

#[derive(Deserialize)]
struct Entry {
    board: String,
    stones: u32,
    perft: Vec<BTreeMap<String, u64>>,
}

#[derive(Deserialize)]
struct EmptyBoard {
    leaves: BTreeMap<u32, u64>,
    distinct_boards_after_ply: Vec<BTreeMap<String, u64>>,
}

fn reference() -> File {
    serde_json::from_str(include_str!("../../vectors/pentago/perft.json")).unwrap()
}

#[test]
fn leaves_and_how_they_end_agree_with_the_reference() {
    for entry in reference().positions {
        let position = Pentago::parse(&pentago(), &entry.board).unwrap();
        assert_eq!(position.marbles(), entry.stones);
        for expected in &entry.perft {
            let depth = u32::try_from(expected["depth"]).unwrap();
            let counted = perft(&position, depth);
            let place = format!("{} to depth {depth}", entry.board);
            assert_eq!(counted.leaves, expected["leaves"], "{place}");
            assert_eq!(counted.ended.len(), expected.len() - 2, "{place}");
            for (kind, leaves) in counted.ended {
                assert_eq!(leaves, expected[kind], "{kind} of {place}");
            }
        }
    }
}

#[test]
fn leaves_of_the_empty_board_agree_with_the_reference() {
    for (depth, leaves) in reference().empty_board.leaves {
        let counted = perft(&Pentago::empty(true), depth);
        assert_eq!(counted.leaves, leaves);
        assert!(counted.ended.iter().all(|(_, leaves)| *leaves == 0));
    }
}

#[test]
fn distinct_boards_agree_with_the_reference() {
    let counted = distinct_positions(&Pentago::empty(true), 4);
    for expected in reference().empty_board.distinct_boards_after_ply {
        let ply = usize::try_from(expected["ply"]).unwrap();
        if let Some(counted) = counted.get(ply) {
            assert_eq!(counted.positions, expected["distinct"], "ply {ply}");
            assert_eq!(counted.up_to_symmetry, expected["up_to_8"], "ply {ply}");
        }
    }
}

#[test]
fn tic_tac_toe_has_its_known_games_and_positions() {
    let games = perft(&TicTacToe::empty(), 9);
    assert_eq!(games.leaves, 255_168);
    let distinct = distinct_positions(&TicTacToe::empty(), 9);
    assert_eq!(distinct.iter().map(|ply| ply.positions).sum::<u64>(), 5_478);
    assert_eq!(distinct.iter().map(|ply| ply.up_to_symmetry).sum::<u64>(), 765);
    assert_eq!(distinct.iter().map(|ply| ply.over).sum::<u64>(), 958);
}

/// Every game of Nim ends with the last object, one move for each way to take some.
#[test]
fn nim_games_end_with_the_last_object() {
    for (misere, kind) in [(false, "win_last_object"), (true, "loss_last_object")] {
        let start = Nim::start(&Nim::rules(&[2, 1], misere).unwrap()).unwrap();
        let games = perft(&start, 10);
        // a2 b1, a1 a1 b1, a1 b1 a1, b1 a2, b1 a1 a1.
        assert_eq!(games.leaves, 5);
        let ended: u64 = games.ended.iter().filter(|ended| ended.0 == kind).map(|e| e.1).sum();
        assert_eq!(ended, 5);
    }
}

#[test]
fn a_position_that_is_over_is_one_leaf() {
    let over = Pentago::parse(&pentago(), "wwwww.bbb.........b.................+").unwrap();
    for depth in [0, 1, 5] {
        assert_eq!(perft(&over, depth).leaves, 1);
    }
    assert_eq!(distinct_positions(&over, 2)[2].positions, 0);
}
