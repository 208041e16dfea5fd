//! Exchanges against a slow reference that makes the captures, and by hand.

use spelrum_engine::Knowledge;
use spelrum_engine::games::{Chess, ChessMove};

use super::slow_chess::{At, SlowChess, square};
use super::{all_rules, chess, chess960, legal, positions_of_games};
use crate::common::brute_force::moves_of;

fn worth(piece: char) -> i32 {
    match piece.to_ascii_lowercase() {
        'p' => 100,
        'n' => 320,
        'b' => 330,
        'r' => 500,
        'q' => 900,
        _ => 0,
    }
}

/// What the side to move wins at least by capturing on a square, or by letting it be.
fn best_capture(board: &SlowChess, target: At) -> i32 {
    let side = board.is_white;
    let mut attackers = board.pieces(side);
    attackers.retain(|(from, _)| board.attacked_by(*from).contains(&target));
    // The least valuable, of several the one nearest to a1, rank by rank.
    let rank = |piece: char| "pnbrqk".find(piece).unwrap();
    let Some((from, piece)) =
        attackers.into_iter().min_by_key(|&((file, row), piece)| (rank(piece), row, file))
    else {
        return 0;
    };
    if piece == 'k' && board.is_attacked(target, !side) {
        return 0;
    }
    let won = worth(board.at(target));
    let mut after = board.clone();
    after.put(target, board.at(from));
    after.put(from, '.');
    after.is_white = !side;
    (won - best_capture(&after, target)).max(0)
}

fn slow_exchange(position: &Chess, mv: ChessMove, is_chess960: bool) -> i32 {
    let board = SlowChess::from_fen(&position.to_string(), is_chess960);
    let text = mv.to_string();
    let (from, to) = (square(&text), square(&text[2..]));
    let is_castling = board.at(from).eq_ignore_ascii_case(&'k')
        && (board.at(to).eq_ignore_ascii_case(&'r')
            && board.at(to).is_ascii_uppercase() == board.is_white
            || (!is_chess960 && (from.0 - to.0).abs() == 2));
    if is_castling {
        return 0;
    }
    let count = |board: &SlowChess, is_white| -> i32 {
        board.pieces(is_white).iter().map(|(_, piece)| worth(*piece)).sum()
    };
    let after = board.play(&text);
    let side = board.is_white;
    // What is taken, and what a promotion adds.
    let won =
        count(&after, side) - count(&board, side) + count(&board, !side) - count(&after, !side);
    won - best_capture(&after, to)
}

#[test]
fn exchanges_are_those_of_the_slow_twin() {
    let (mut won, mut lost, mut even) = (0, 0, 0);
    for rules in all_rules() {
        let is_chess960 = rules.switch("chess960");
        for position in positions_of_games(&rules, 4).step_by(2) {
            for mv in moves_of(&position) {
                let fast = position.exchange(mv);
                assert_eq!(fast, slow_exchange(&position, mv, is_chess960), "{mv} in {position}");
                won += u32::from(fast > 0);
                lost += u32::from(fast < 0);
                even += u32::from(fast == 0 && position.is_tactical(mv));
            }
        }
    }
    assert!(won > 300 && lost > 300 && even > 100, "{won} {lost} {even}");
}

#[test]
fn exchanges_are_counted_by_hand() {
    for (fen, mv, gain) in [
        // A pawn that nobody protects, and one that a pawn does.
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
        ("1k1r4/1pp4p/p4p2/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100 - 500),
        // Behind the rook stands the queen, behind the other rook the other queen.
        ("4q1k1/4r3/8/4p3/8/8/4R3/4Q1K1 w - - 0 1", "e2e5", 100 - 500),
        ("6k1/4r3/8/4p3/8/8/4R3/4Q1K1 w - - 0 1", "e2e5", 100),
        // En passant, taken back.
        ("4k3/2p5/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0),
        // A promotion that is lost again, and one that is kept.
        ("3r2k1/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8q", -100),
        ("6k1/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8q", 800),
        // A king takes back only where nobody protects.
        ("8/8/4k3/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", 100),
        ("8/8/4k3/4p3/8/8/4R3/6K1 w - - 0 1", "e2e5", 100 - 500),
        // A quiet move onto an attacked square.
        ("4k3/8/3p4/8/8/5N2/8/4K3 w - - 0 1", "f3e5", -320),
    ] {
        let position = chess(fen);
        assert_eq!(position.exchange(legal(&position, mv)), gain, "{mv} in {fen}");
    }
    let castling = chess960("7k/8/8/8/8/8/8/5KR1 w G - 0 1");
    assert_eq!(castling.exchange(legal(&castling, "f1g1")), 0);
}
