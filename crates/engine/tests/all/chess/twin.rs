//! Moves, positions and endings of random games against the slow reference.

use std::collections::BTreeMap;

use spelrum_engine::games::Chess;
use spelrum_engine::{Game, Position, Random};

use super::slow_chess::SlowChess;
use super::{all_rules, chess};
use crate::common::brute_force::moves_of;
use crate::common::key;

/// Games from each start position.
const GAMES: u64 = 6;

#[test]
fn random_games_are_played_as_by_the_slow_twin() {
    let mut endings: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, rules) in (0..).zip(all_rules()) {
        let is_chess960 = rules.switch("chess960");
        for seed in 0..GAMES {
            let mut random = Random::from_key(key(100 * number + seed));
            let mut position = Chess::start(&rules).unwrap();
            let mut slow = SlowChess::from_fen(&position.to_string(), is_chess960);
            loop {
                assert_eq!(slow.fen(), position.to_string());
                let ending = position.ending().map(|ending| ending.termination.name());
                assert_eq!(slow.ending(), ending, "{position}");
                assert_eq!(slow.is_check(), position.is_check(), "{position}");
                let moves = moves_of(&position);
                if let Some(ending) = ending {
                    assert!(moves.is_empty(), "{position}");
                    *endings.entry(ending).or_default() += 1;
                    break;
                }
                let listed = moves.iter().map(ToString::to_string).collect::<Vec<String>>();
                let mut sorted = [listed, slow.legal_moves()];
                sorted.iter_mut().for_each(|moves| moves.sort_unstable());
                assert_eq!(sorted[0], sorted[1], "{position}");
                let mv = position.random_move(&mut random);
                slow = slow.play(&mv.to_string());
                position.play_unchecked(mv);
                let read = Chess::parse(&rules, &slow.fen()).unwrap();
                assert_eq!(read, position);
                assert_eq!(read.canonical_key(), position.canonical_key(), "{position}");
            }
        }
    }
    assert!(endings.len() >= 3, "{endings:?}");
}

/// What random games seldom have, all moves of two plies.
#[test]
fn rare_moves_are_those_of_the_slow_twin() {
    for fen in [
        // En passant that uncovers a check along the rank, along a diagonal, and one that is fine.
        "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
        "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1",
        "8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1",
        // Castling out of, through and into check, and past an attacked square of the rook's.
        "r3k2r/8/8/4Q3/8/8/8/4K3 b kq - 0 1",
        "r3k2r/8/5Q2/8/8/8/8/4K3 b kq - 0 1",
        "r3k2r/8/1Q6/8/8/8/8/4K3 b kq - 0 1",
        // A capture of a rook takes a right away.
        "r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1",
        // Promotions, with a capture too, by which a pinned pawn answers a check.
        "2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1",
        "8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1",
        // Two pieces give check.
        "4k3/8/4r3/8/8/3n4/8/R3K2R w KQ - 0 1",
    ] {
        let position = chess(fen);
        let slow = SlowChess::from_fen(fen, false);
        for mv in moves_of(&position) {
            let mut child = position.clone();
            child.play_unchecked(mv);
            let slow = slow.play(&mv.to_string());
            assert_eq!(slow.fen(), child.to_string(), "{mv} in {fen}");
            let mut moves = [
                moves_of(&child).iter().map(ToString::to_string).collect::<Vec<String>>(),
                if slow.ending().is_some() { Vec::new() } else { slow.legal_moves() },
            ];
            moves.iter_mut().for_each(|moves| moves.sort_unstable());
            assert_eq!(moves[0], moves[1], "after {mv} in {fen}");
        }
    }
}
