//! Standard algebraic notation: written, parsed, and disambiguated.

use spelrum_engine::Position;
use spelrum_engine::games::Chess;

use super::{all_rules, chess, chess960, legal, positions_of_games};
use crate::common::brute_force::moves_of;

#[test]
fn moves_are_written_as_people_write_them() {
    for (fen, mv, san) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", "e4"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "Nf3"),
        // By the file, by the rank, and by both.
        ("4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1", "c3e4", "Nce4"),
        ("4k3/8/8/2N5/8/2N5/8/4K3 w - - 0 1", "c3e4", "N3e4"),
        ("4k3/8/8/2N5/8/2N3N1/8/4K3 w - - 0 1", "c3e4", "Nc3e4"),
        ("4k3/8/8/2N5/8/2N3N1/8/4K3 w - - 0 1", "c5e4", "N5e4"),
        // Not what is pinned and could not go there.
        ("4k3/4r3/8/8/2N5/4N3/8/4K3 w - - 0 1", "c4d6", "Nd6+"),
        ("4k3/4r3/8/8/6N1/4N3/8/4K3 w - - 0 1", "g4f6", "Nf6+"),
        ("4k3/4r3/8/8/1N6/4N3/8/4K3 w - - 0 1", "b4d5", "Nd5"),
        // Captures, en passant among them, promotions, check and mate.
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "e4d5", "exd5"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6"),
        ("3r2k1/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8q", "exd8=Q+"),
        ("5k2/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a8=N"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8#"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "O-O-O"),
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+"),
    ] {
        let position = chess(fen);
        assert_eq!(position.san(legal(&position, mv)), san, "{mv} in {fen}");
    }
    let steps = chess960("7k/8/8/8/8/8/8/5KR1 w G - 0 1");
    assert_eq!(steps.san(legal(&steps, "f1g1")), "O-O");
    assert_eq!(steps.san(legal(&steps, "g1g5")), "Rg5");
}

#[test]
fn what_is_written_is_read() {
    let games = all_rules().into_iter().flat_map(|rules| positions_of_games(&rules, 3));
    let mut origins = 0;
    for position in games.step_by(3) {
        let moves = moves_of(&position);
        let mut texts: Vec<String> = moves.iter().map(|&mv| position.san(mv)).collect();
        for (&mv, text) in moves.iter().zip(&texts) {
            assert_eq!(position.read_san(text), Ok(mv), "{text} in {position}");
            let bare = text.trim_end_matches(['+', '#']).replace(['x', '='], "");
            assert_eq!(position.read_san(&bare), Ok(mv), "{bare} in {position}");
            let shouted = format!("{text}!?").replace('O', "0");
            assert_eq!(position.read_san(&shouted), Ok(mv), "{shouted} in {position}");
            origins += usize::from(bare.len() > 3 && bare.starts_with(['N', 'R', 'Q']));
        }
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), moves.len(), "{position}: {texts:?}");
    }
    assert!(origins > 100, "{origins}");
}

#[test]
fn an_origin_too_much_is_read() {
    let start = Chess::initial();
    for text in ["Nf3", "Ngf3", "N1f3", "Ng1f3"] {
        assert_eq!(start.read_san(text), Ok(legal(&start, "g1f3")), "{text}");
    }
    for text in ["Ng1-f3", "g1f3", "g1-f3", "N-f3"] {
        assert_eq!(start.read_san(text), Ok(legal(&start, "g1f3")), "{text}");
    }
    for text in ["e4", "ee4", "e2e4", "e4!", "e4+", "e2-e4", "Pe4", "Pe2-e4"] {
        assert_eq!(start.read_san(text), Ok(legal(&start, "e2e4")), "{text}");
    }
}

/// By its squares a move may be any piece's: castling by the king's or the rook's, promotion in small letters.
#[test]
fn moves_are_read_by_their_squares() {
    let open = chess("r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1");
    for (text, mv) in [
        ("e1g1", "e1g1"),
        ("e1-h1", "e1g1"),
        ("e1a1", "e1c1"),
        ("b7a8q", "b7a8q"),
        ("b7xa8=n", "b7a8n"),
        ("b8b", "b7b8b"),
        ("bxa8r+", "b7a8r"),
    ] {
        assert_eq!(open.read_san(text), Ok(legal(&open, mv)), "{text}");
    }
    // The king's own letter is no castling, nor is a promotion without a piece a move.
    for text in ["Kg1", "Ke1g1", "b7b8", "b8", "a8=Q"] {
        assert!(open.read_san(text).is_err(), "{text}");
    }
    let by_rook = chess960("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1");
    assert_eq!(by_rook.read_san("e1h1"), Ok(legal(&by_rook, "e1h1")));
}

/// A pawn's capture is written with its file: what is an illegal push is not read as one.
#[test]
fn a_push_is_no_capture() {
    let position = chess("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
    for text in ["d5", "xd5", "Pd5"] {
        assert!(position.read_san(text).unwrap_err().what.contains("is not legal"), "{text}");
    }
    assert_eq!(position.read_san("ed5"), Ok(legal(&position, "e4d5")));
}

/// On paper games go on where fifty moves end them here.
#[test]
fn a_game_may_go_on_after_fifty_moves() {
    let position = chess("4k3/8/8/8/8/8/4P3/4K3 w - - 100 80");
    let mut next = position.clone();
    next.play_unchecked(position.read_san("e4").unwrap());
    assert_eq!((position.is_over(), next.is_over()), (true, false));
}

#[test]
fn what_is_no_move_is_refused() {
    let position = chess("4k3/8/8/2N5/8/2N5/8/4K3 w - - 0 1");
    let error = |text: &str| position.read_san(text).unwrap_err();
    let malformed =
        ["", "x", "N", "Nz4", "Ke", "Nc3e4x", "e4=", "Ne4=Q", "O-O-O-O", "e8=K", "é4", "--"];
    for text in malformed {
        assert_eq!(error(text).what, format!("`{text}` is not a move in algebraic notation"));
        assert!(error(text).remedy.contains("Nbd7"));
    }
    for text in ["Nh8", "e4", "O-O", "Bc4", "Kf3"] {
        assert_eq!(error(text).what, format!("`{text}` is not legal in `{position}`"));
        assert_eq!(error(text).remedy, "a legal move is `Kd1`");
    }
    assert_eq!(error("Ne4").what, format!("`Ne4` may be several moves in `{position}`"));
    assert_eq!(error("Ne4").remedy, "write which: `N3e4` or `N5e4`");
    let over = chess("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    let remedy = over.read_san("Kg8").unwrap_err().remedy;
    assert_eq!(remedy, "leave it out: the game is over (a draw: stalemate)");
    assert!(over.is_over());
}
