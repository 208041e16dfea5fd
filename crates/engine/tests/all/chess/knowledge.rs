//! Chess's knowledge for searches, against making the moves.

use spelrum_engine::games::{Chess, ChessMove};
use spelrum_engine::{Game, Knowledge, Position};

use super::{after, all_rules, chess, legal, positions_of_games};
use crate::common::brute_force::{after as child_of, moves_of};

fn games() -> impl Iterator<Item = Chess> {
    all_rules().into_iter().flat_map(|rules| positions_of_games(&rules, 4)).step_by(2)
}

fn pieces_of(position: &Chess) -> usize {
    let fen = position.to_string();
    fen.split(' ').next().unwrap().chars().filter(char::is_ascii_alphabetic).count()
}

/// Captures, which leave a piece less, and promotions to a queen.
#[test]
fn tactical_moves_are_captures_and_promotions_to_a_queen() {
    let mut tactical = 0;
    for position in games() {
        let is_it = |mv: ChessMove| {
            let text = mv.to_string();
            let takes = pieces_of(&child_of(&position, mv)) < pieces_of(&position);
            if text.len() == 5 { text.ends_with('q') } else { takes }
        };
        let mut expected = moves_of(&position);
        expected.retain(|&mv| is_it(mv));
        let mut listed = Vec::new();
        position.tactical_moves(&mut listed);
        assert_eq!(listed, expected, "{position}");
        for mv in moves_of(&position) {
            assert_eq!(position.is_tactical(mv), expected.contains(&mv), "{mv} in {position}");
            let is_ranked = position.capture_rank(mv) > 0;
            let is_promotion = mv.to_string().len() == 5;
            assert_eq!(is_ranked, is_promotion || position.is_tactical(mv), "{mv} in {position}");
            assert_eq!(u16::from(position.move_kind(mv)), position.capture_rank(mv));
        }
        tactical += listed.len();
    }
    assert!(tactical > 1_000, "{tactical}");
}

#[test]
fn the_most_valuable_victim_comes_first_and_then_the_least_attacker() {
    let position = chess("1r2q2k/P2P4/8/3p4/1N2P3/8/1R6/1K6 w - - 0 1");
    let mut moves = moves_of(&position);
    moves.sort_by_key(|&mv| std::cmp::Reverse(position.capture_rank(mv)));
    let ranked: Vec<String> = moves.iter().map(ToString::to_string).take(4).collect();
    assert_eq!(ranked, ["d7e8q", "a7b8q", "d7e8r", "a7b8r"]);
    let rank = |text| position.capture_rank(legal(&position, text));
    assert!(rank("e4d5") > rank("b4d5"), "a pawn takes before a knight");
    assert_eq!(rank("b1a1"), 0);
    let en_passant = chess("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1");
    let pawn = chess("4k3/8/3p4/4P3/8/8/8/4K3 w - - 0 1");
    let ranks = [&en_passant, &pawn].map(|position| position.capture_rank(legal(position, "e5d6")));
    assert_eq!(ranks[0], ranks[1]);
}

/// A move is irreversible if it takes, moves a pawn or changes a right to castle of its own side.
#[test]
fn irreversible_moves_are_those_that_change_what_stays() {
    let rights = |position: &Chess| position.to_string().split(' ').nth(2).unwrap().to_owned();
    let mut castling = 0;
    for position in games() {
        for mv in moves_of(&position) {
            let child = child_of(&position, mv);
            let is_lost = rights(&child) != rights(&position);
            let expected = child.halfmove_clock() == 0 || is_lost;
            assert_eq!(position.is_irreversible(mv), expected, "{mv} in {position}");
            castling += u32::from(is_lost);
        }
    }
    assert!(castling > 50, "{castling}");
}

#[test]
fn a_pass_gives_the_move_away() {
    let start = Chess::initial();
    let passed = start.passed().unwrap();
    assert_eq!(passed.to_string(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 1 1");
    // Nobody takes en passant after it.
    let stepped = chess("4k3/8/8/8/3pP3/8/8/R3K3 b Q e3 0 1");
    assert_eq!(stepped.passed(), None, "nothing but pawns");
    let stepped = chess("r3k3/8/8/8/3pP3/8/8/R3K3 b Qq e3 0 1");
    assert_eq!(stepped.passed().unwrap().to_string(), "r3k3/8/8/8/3pP3/8/8/R3K3 w Qq - 1 2");
    assert_eq!(chess("4k3/8/8/8/8/8/4r3/R3K3 w Q - 0 1").passed(), None, "in check");
    assert_eq!(chess("4k3/8/8/8/8/8/8/R3K3 w Q - 99 80").passed(), None, "at the fiftieth move");
}

#[test]
fn after_a_pass_it_is_a_position_like_any_other() {
    let mut passes = 0;
    for rules in all_rules() {
        for position in positions_of_games(&rules, 3) {
            let Some(passed) = position.passed() else { continue };
            passes += 1;
            assert!(!position.is_in_check());
            assert_ne!(passed.to_move(), position.to_move(), "{position}");
            let pieces = [&passed, &position]
                .map(|position| position.to_string().split(' ').next().map(ToOwned::to_owned));
            assert_eq!(pieces[0], pieces[1]);
            let read = Chess::parse(&rules, &passed.to_string()).unwrap();
            assert_eq!(read, passed);
            assert_eq!(moves_of(&read), moves_of(&passed), "{passed}");
            assert_eq!(read.table_key(), passed.table_key(), "{passed}");
        }
    }
    assert!(passes > 500, "{passes}");
}

/// What a table promises: the clock is told apart only where a search of fifty plies could see it.
#[test]
fn tables_share_positions_whose_clocks_decide_nothing() {
    let at = |clock: u32| chess(&format!("4k3/8/8/8/8/8/8/R3K3 w Q - {clock} 80"));
    assert_eq!(at(0).table_key(), at(49).table_key());
    assert_eq!(at(3).reduced_key(), at(4).reduced_key());
    let mut keys: Vec<u64> = (49..100).map(|clock| at(clock).table_key()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 51);
    assert_eq!(at(0).canonical_key(), at(99).canonical_key(), "repetition does not ask for it");
    // En passant that nobody can take is told apart by neither.
    let pinned = "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1";
    assert_eq!(chess(pinned).table_key(), chess(&pinned.replace("d3", "-")).table_key());
}

#[test]
fn plies_left_are_bounded_by_what_can_still_be_taken_and_moved() {
    // One more capture, and the hundred plies that go on already.
    let position = chess("4k3/8/8/8/8/8/8/R3K3 w Q - 30 80");
    assert_eq!(position.plies_left(), 200 - 30);
    let pawns = chess("4k3/p6P/8/8/8/8/8/4K3 w - - 0 1");
    assert_eq!(pawns.plies_left(), (2 + 1 + 6 + 1) * 100);
    assert_eq!(after(&pawns, "h7h8q").plies_left(), (2 + 6 + 1) * 100);
}
