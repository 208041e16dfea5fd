//! FEN: parsed positions are written back, and errors name their field.

use spelrum_engine::games::Chess;
use spelrum_engine::{Game, Position, Rules};

use super::{after, chess, chess960, legal};

#[test]
fn what_is_read_is_written() {
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 5 9",
        "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
        "8/8/8/8/8/1k6/8/K7 w - - 100 65535",
        "QQQQQQQk/QQ6/8/8/8/8/8/K7 b - - 0 1",
    ] {
        assert_eq!(chess(fen).to_string(), fen);
    }
    for fen in [
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
    ] {
        assert_eq!(chess960(fen).to_string(), fen);
    }
}

/// As other programs write it: fields missing from the end or further apart, rights to castle in any order or by
/// files, numbers from 0.
#[test]
fn what_the_field_writes_is_read() {
    let pieces = "r3k2r/8/8/8/8/8/8/R3K2R";
    for (rest, fen) in [
        (" w KQkq - 5 7", "w KQkq - 5 7"),
        (" w KQkq - 5", "w KQkq - 5 1"),
        (" w KQkq -", "w KQkq - 0 1"),
        (" b KQkq", "b KQkq - 0 1"),
        (" b", "b - - 0 1"),
        ("", "w - - 0 1"),
        ("   w\tKQkq  -  5 7 ", "w KQkq - 5 7"),
        (" w qkQK - 0 0", "w KQkq - 0 1"),
        (" w kKk - 05 007", "w Kk - 5 7"),
        (" w HAha - 0 1", "w KQkq - 0 1"),
        (" w KQkq - 0 1\u{1a}", "w KQkq - 0 1"),
    ] {
        assert_eq!(
            chess(&format!("\u{feff}{pieces}{rest}")).to_string(),
            format!("{pieces} {fen}")
        );
    }
    let outermost = "1k2rr2/8/8/8/8/8/8/1K2RR2 w kK - 0 1";
    assert_eq!(chess960(outermost).to_string(), "1k2rr2/8/8/8/8/8/8/1K2RR2 w Ff - 0 1");
}

#[test]
fn start_positions_have_their_numbers() {
    let known = [(0, "bbqnnrkr"), (518, "rnbqkbnr"), (534, "rnbkqbnr"), (959, "rkrnnqbb")];
    for (number, pieces) in known {
        let text = Chess::chess960(number).to_string();
        assert!(text.starts_with(&format!("{pieces}/pppppppp/")), "{number}: {text}");
    }
    assert_eq!(Chess::initial().to_string(), Chess::start(&Chess::rules()).unwrap().to_string());
    assert_ne!(Chess::chess960(518), Chess::initial(), "castling is written otherwise");
    let key = Chess::initial().canonical_key();
    assert_eq!(Chess::chess960(518).canonical_key(), key, "the rules are no part of it");
}

/// In Chess960 the outermost rooks may be written as in chess.
#[test]
fn rights_of_chess960_are_read_in_both_ways() {
    let by_files = "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9";
    let outermost = by_files.replace("FBfb", "KQkq");
    assert_eq!(chess960(&outermost), chess960(by_files));
    assert_eq!(chess960(&outermost).to_string(), by_files);
    // A rook further out may not castle, so that it must be said which one may.
    let inner = "1k2rr2/8/8/8/8/8/8/1K2RR2 w Ee - 0 1";
    assert_eq!(chess960(inner).to_string(), inner);
}

#[test]
fn castling_is_written_by_the_game() {
    let usual = chess("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    assert_eq!(after(&usual, "e1g1 e8c8").to_string(), "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2");
    assert!(!usual.is_legal(usual.parse_move("e1h1").unwrap()));
    let by_rook = chess960("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1");
    assert_eq!(after(&by_rook, "e1h1 e8a8").to_string(), "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2");
    assert!(!by_rook.is_legal(by_rook.parse_move("e1g1").unwrap()));
    // The king stays where it is, or goes one square, and the rook jumps over it.
    let stays = chess960("6k1/8/8/8/8/8/8/5RKR w HF - 0 1");
    assert_eq!(after(&stays, "g1f1").board().lines().nth(7), Some("1  . . K R . . . R"));
    let steps = chess960("7k/8/8/8/8/8/8/5KR1 w G - 0 1");
    assert!(steps.is_legal(legal(&steps, "f1g1")));
    assert_eq!(after(&steps, "f1g1").to_string(), "7k/8/8/8/8/8/8/5RK1 b - - 1 1");
}

#[test]
fn chess_begins_from_its_own_start() {
    let given = [("start".to_owned(), spelrum_engine::Value::Integer(3))].into();
    let error = Rules::new::<Chess>(&given).unwrap_err();
    assert_eq!(
        error.to_string(),
        "chess does not begin from start position 3; leave `start` out, or say chess960 = true"
    );
    assert!(Chess::chess960_rules(960).is_err());
}

/// What is wrong with a text, without the text itself and the example.
fn refused(text: &str, is_chess960: bool) -> String {
    let rules = if is_chess960 { Chess::chess960_rules(0).unwrap() } else { Chess::rules() };
    let error = Chess::parse(&rules, text).unwrap_err();
    let problem = error.what.strip_prefix(&format!("`{text}` is not a chess position: "));
    let (remedy, example) = error.remedy.rsplit_once("; the start of chess is ").unwrap();
    assert_eq!(example, "`rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1`");
    assert!(!remedy.is_empty());
    problem.unwrap().to_owned()
}

#[test]
fn wrong_fens_are_refused_by_field() {
    let fen = |pieces: &str| format!("{pieces} w - - 0 1");
    let rest = |rest: &str| format!("r3k2r/8/8/3pP3/8/8/8/R3K2R {rest}");
    for (text, problem) in [
        ("", "it is empty"),
        (" ", "it is empty"),
        (
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1 +0+0",
            "a FEN has at most six fields, and `+0+0` is a seventh",
        ),
        (&fen("4k3/8/8/8/8/8/4K3"), "the first field has 7 ranks"),
        (&fen("4k3/8/8/8/8/8/8/4K4"), "rank 1 is `4K4`, 9 squares"),
        (&fen("4k3/8/8/7/8/8/8/4K3"), "rank 5 is `7`, 7 squares"),
        (&fen("4k3/44/8/8/8/8/8/4K3"), "rank 7 is `44`, two digits in a row"),
        (&fen("4k3/9/8/8/8/8/8/4K3"), "rank 7 is `9`, where `9` is no piece"),
        (&fen("4k3/8/8/3x4/8/8/8/4K3"), "rank 5 is `3x4`, where `x` is no piece"),
        (&fen("4k3/8/8/8/8/8/8/8"), "white has 0 kings"),
        (&fen("4k2k/8/8/8/8/8/8/4K3"), "black has 2 kings"),
        (&fen("4k2P/8/8/8/8/8/8/4K3"), "there is a pawn on h8"),
        (&fen("4k3/8/pppp4/pppp4/p7/8/8/4K3"), "black has 10 pieces, 9 of them pawns"),
        (
            &fen("4k3/8/pppp4/pppp4/8/8/qq6/4K3"),
            "black has 8 pawns, and 1 pieces more than at the start",
        ),
        (&fen("8/8/8/3kK3/8/8/8/8"), "the kings stand beside each other"),
        (&fen("4k3/8/8/8/8/8/4R3/4K3"), "black is in check and has just moved"),
        (&fen("8/8/8/q7/7b/5n2/3k4/4K3"), "the kings stand beside each other"),
        (&fen("4k3/8/8/q7/7b/5n2/8/4K3"), "3 pieces give check at once"),
        (&fen("4k3/8/8/8/8/8/8/r3K2r"), "a1 and h1 give check along one line"),
        (&rest("x - - 0 1"), "the second field, whose turn it is, is `x`"),
        (&rest("w Kx - 0 1"), "the third field, castling, is `Kx`"),
        (&rest("w K- - 0 1"), "the third field, castling, is `K-`"),
        (&rest("w KG - 0 1"), "the third field, castling, is `KG`"),
        (&rest("w é - 0 1"), "the third field, castling, is `é`"),
        (&rest("w KQkq d5 0 1"), "the fourth field, en passant, is `d5`"),
        (&rest("w KQkq e6 0 1"), "the fourth field, en passant, is `e6`"),
        (&rest("b KQkq d6 0 1"), "the fourth field, en passant, is `d6`"),
        (&rest("w KQkq x 0 1"), "the fourth field, en passant, is `x`"),
        (&rest("w KQkq - 101 1"), "the fifth field is `101`"),
        (&rest("w KQkq - +5 1"), "the fifth field is `+5`"),
        (&rest("w KQkq - - 1"), "the fifth field is `-`"),
        (&rest("w KQkq - 0 65536"), "the sixth field is `65536`"),
    ] {
        assert_eq!(refused(text, false), problem, "{text}");
    }
    for (text, problem) in [
        (
            "4k3/8/8/8/8/8/8/R3K3 w KQ - 0 1",
            "the third field, castling, has `K`, but there is no rook on h1",
        ),
        (
            "4k3/8/8/8/8/8/4K3/R6R w KQ - 0 1",
            "the third field, castling, has `K`, but white's king is not at home",
        ),
        (
            "4k2r/8/8/8/8/8/8/4K3 w q - 0 1",
            "the third field, castling, has `q`, but there is no rook on a8",
        ),
        (
            "r5k1/8/8/8/8/8/8/4K3 w q - 0 1",
            "the third field, castling, has `q`, but black's king is not at home",
        ),
    ] {
        assert_eq!(refused(text, false), problem, "{text}");
    }
    for (text, problem) in [
        (
            "1k2rr2/8/8/8/8/8/8/1K2RR2 w He - 0 1",
            "the third field, castling, has `H`, but there is no rook on h1",
        ),
        (
            "1k2rr2/8/8/8/8/8/8/1K2RR2 w EF - 0 1",
            "the third field, castling, is `EF`: two rooks of white cannot castle on the same side",
        ),
        (
            "1k2rr2/8/8/8/8/8/8/1K2RR2 w Q - 0 1",
            "the third field, castling, has `Q`, but white has no rook on that side",
        ),
        ("1k2rr2/8/8/8/8/8/8/1K2RR2 w Kx - 0 1", "the third field, castling, is `Kx`"),
    ] {
        assert_eq!(refused(text, true), problem, "{text}");
    }
}

/// A double step that does not go with the check that there is.
#[test]
fn en_passant_must_go_with_the_check() {
    let text = "4k3/8/8/1B6/3pP3/8/8/4K3 b - e3 0 1";
    assert!(
        refused(text, false).starts_with("the fourth field, en passant, does not go"),
        "{text}"
    );
}

#[test]
fn moves_are_read_strictly() {
    let start = Chess::initial();
    for (text, problem) in [
        ("", "`` is not a chess move"),
        ("e2", "`e2` is not a chess move"),
        ("e2e9", "`e2e9` is not a chess move"),
        ("E2E4", "`E2E4` is not a chess move"),
        ("e2-e4", "`e2-e4` is not a chess move"),
        ("e2e4qq", "`e2e4qq` is not a chess move"),
        ("e7e8k", "in `e7e8k`, `k` is none of n, b, r and q"),
        ("e7e8Q", "in `e7e8Q`, `Q` is none of n, b, r and q"),
        ("e2e2", "`e2e2` leaves the piece where it is"),
        ("0000", "`0000` is not a chess move"),
    ] {
        let error = start.parse_move(text).unwrap_err();
        assert_eq!(error.what, problem);
        assert!(error.remedy.contains("e2e4 or e7e8q"));
    }
    let error = spelrum_engine::parse_legal_move(&start, "e2e5").unwrap_err();
    assert_eq!(error.what, format!("`e2e5` is not legal in `{start}`"));
    assert_eq!(error.remedy, "a legal move is `b1a3`");
}

#[test]
fn the_board_is_drawn_as_white_sees_it() {
    let position = chess("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let board = "\
8  r . . . k . . r
7  p . p p q p b .
6  b n . . p n p .
5  . . . P N . . .
4  . p . . P . . .
3  . . N . . Q . p
2  P P P B B P P P
1  R . . . K . . R

   a b c d e f g h
white to move";
    assert_eq!(position.board(), board);
}

/// What the engine says of its size.
#[test]
fn a_position_takes_so_many_bytes() {
    assert_eq!(size_of::<Chess>(), 112);
    assert_eq!(size_of::<spelrum_engine::games::ChessMove>(), 2);
}
