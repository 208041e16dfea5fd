//! How games end: each rule on known positions.

use spelrum_engine::games::Chess;
use spelrum_engine::games::chess::{
    CHECKMATE, FIFTY_MOVES, INSUFFICIENT_MATERIAL, STALEMATE, THREEFOLD_REPETITION,
};
use spelrum_engine::{
    Before, Ending, Game, GameSetup, Line, Outcome, Player, Position, Side, Termination, Timeless,
    play_game, replay_moves,
};

use super::{after, chess, legal};
use crate::common::key;

fn draw(termination: Termination) -> Option<Ending> {
    Some(Ending { winner: None, termination })
}

fn mate(winner: Side) -> Option<Ending> {
    Some(Ending { winner: Some(winner), termination: CHECKMATE })
}

#[test]
fn mates_are_known() {
    let fools = after(&Chess::initial(), "f2f3 e7e5 g2g4 d8h4");
    assert_eq!(fools.ending(), mate(Side::Second));
    assert_eq!(fools.status(), "black wins: checkmate");
    let scholars = after(&Chess::initial(), "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7");
    assert_eq!(scholars.ending(), mate(Side::First));
    // Smothered.
    assert_eq!(chess("6rk/5Npp/8/8/8/8/8/6K1 b - - 0 1").ending(), mate(Side::First));
    // With the last of fifty moves it is still mate.
    let late = chess("7k/8/6K1/8/8/8/8/R7 w - - 99 80");
    assert_eq!(after(&late, "a1a8").ending(), mate(Side::First));
    assert_eq!(late.winning_move().map(|mv| mv.to_string()).as_deref(), Some("a1a8"));
}

#[test]
fn stalemates_are_draws() {
    for fen in ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "8/8/8/8/8/5k2/5p2/5K2 w - - 0 1"] {
        assert_eq!(chess(fen).ending(), draw(STALEMATE), "{fen}");
    }
    // Loyd's ten moves.
    let loyd = "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 \
                b8c8 f7g6 c8e6";
    assert_eq!(after(&Chess::initial(), loyd).ending(), draw(STALEMATE));
}

#[test]
fn neither_side_can_mate_with_these_pieces() {
    let dead = [
        "8/8/4k3/8/8/4K3/8/8 w - - 0 1",
        "8/8/4k3/8/8/4K3/8/6N1 w - - 0 1",
        "8/8/4k3/8/8/4K3/8/6b1 w - - 0 1",
        // Bishops on squares of one colour, however many and whosever.
        "8/8/4k1b1/8/8/4K3/8/5B2 w - - 0 1",
        "8/8/b3k1b1/8/2b5/4K3/8/5B1B w - - 0 1",
    ];
    for fen in dead {
        let position = chess(fen);
        assert_eq!(position.ending(), draw(INSUFFICIENT_MATERIAL), "{fen}");
        assert_eq!(position.legal_move_count(), 0, "{fen}");
    }
    let alive = [
        "8/8/4k3/8/8/4K3/8/5NN1 w - - 0 1",
        "8/8/4k1n1/8/8/4K3/8/6N1 w - - 0 1",
        "8/8/4k1n1/8/8/4K3/8/5B2 w - - 0 1",
        // Bishops on squares of both colours.
        "8/8/4kb2/8/8/4K3/8/5B2 w - - 0 1",
        "8/8/4k3/8/8/4K3/8/4BB2 w - - 0 1",
        "8/8/4k3/8/4p3/4K3/8/8 w - - 0 1",
        "8/8/4k3/8/8/4K3/8/7R w - - 0 1",
    ];
    for fen in alive {
        assert_eq!(chess(fen).ending(), None, "{fen}");
    }
    // By a capture.
    let last = chess("8/8/4k3/8/8/4Kr2/8/8 w - - 7 60");
    assert_eq!(after(&last, "e3f3").ending(), draw(INSUFFICIENT_MATERIAL));
}

#[test]
fn fifty_moves_of_both_sides_draw() {
    let position = chess("8/5k2/8/8/8/8/4P3/R3K3 w Q - 98 70");
    let quiet = after(&position, "a1a2 f7e7");
    assert_eq!(quiet.ending(), draw(FIFTY_MOVES));
    assert_eq!(quiet.halfmove_clock(), 100);
    assert_eq!(quiet.to_string(), "8/4k3/8/8/8/8/R3P3/4K3 w - - 100 71");
    assert!(quiet.is_over() && quiet.legal_move_count() == 0 && quiet.winning_move().is_none());
    // A pawn's move and a capture start anew; castling does not.
    assert_eq!(after(&position, "a1a2 f7e7").halfmove_clock(), 100);
    assert_eq!(after(&position, "e2e4 f7e7").halfmove_clock(), 1);
    assert_eq!(after(&position, "e1c1").halfmove_clock(), 99);
}

/// The line of these moves, and how it is adjudicated after each.
fn adjudicated(start: &Chess, moves: &str) -> Vec<Option<Ending>> {
    let (mut position, mut before) = (start.clone(), Vec::new());
    let mut endings = Vec::new();
    for text in moves.split_whitespace() {
        let mv = legal(&position, text);
        before.push(Before { mv, key: position.canonical_key() });
        position.play_unchecked(mv);
        endings.push(Chess::adjudicate(Line { position: &position, before: &before }));
    }
    endings
}

#[test]
fn the_third_repetition_draws() {
    let there_and_back = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    let endings = adjudicated(&Chess::initial(), there_and_back);
    assert_eq!(endings[..7], [None; 7]);
    assert_eq!(endings[7], draw(THREEFOLD_REPETITION));
    // A pawn's move is never taken back.
    let interrupted = "g1f3 g8f6 f3g1 f6g8 e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1";
    let endings = adjudicated(&Chess::initial(), interrupted);
    assert_eq!(endings.iter().flatten().count(), 1);
    assert_eq!(endings.last(), Some(&draw(THREEFOLD_REPETITION)));
}

/// Rights are a part of the position: after the first time they are others.
#[test]
fn a_lost_right_to_castle_makes_another_position() {
    let start = chess("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let rooks = "h1h2 h8h7 h2h1 h7h8 ".repeat(3);
    let endings = adjudicated(&start, &rooks);
    // Twice with the same rights is not enough, which the start does not have.
    assert_eq!(endings[..8].iter().flatten().count(), 0, "{endings:?}");
    assert!(endings[8..].iter().flatten().count() > 0, "{endings:?}");
}

/// En passant is a part of the position only where it can be taken.
#[test]
fn en_passant_counts_where_it_can_be_taken() {
    let key = |fen: &str| chess(fen).canonical_key();
    let with = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1";
    assert_ne!(key(with), key(&with.replace("e3", "-")));
    // The pawn beside it is pinned along the rank that both would leave.
    let pinned = "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1";
    assert_eq!(key(pinned), key(&pinned.replace("d3", "-")));
    assert_eq!(chess(pinned), chess(&pinned.replace("d3", "-")));
    assert_eq!(chess(pinned).to_string(), pinned.replace("d3", "-"));
    // A bishop may go where a pawn would take, and is none.
    let bishop = "4k3/8/8/8/5bP1/8/8/4K3 b - g3 0 1";
    assert_eq!(chess(bishop), chess(&bishop.replace("g3", "-")));
    let nobody = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    assert_eq!(chess(nobody).to_string(), nobody.replace("e3", "-"));
    // So it is the same position as soon as the double step is made as when it was made long ago.
    let [now, before] = ["g1f3 b8c6 f3g1 c6b8 e2e4", "e2e4 b8c6 g1f3 c6b8 f3g1"]
        .map(|moves| after(&Chess::initial(), moves));
    assert_eq!(now.canonical_key(), before.canonical_key());
}

/// Keys are part of what is stored: they are the same for all time.
#[test]
fn keys_never_change() {
    for (fen, key) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 7_950_298_495_644_881),
        (
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 5 9",
            5_259_659_717_208_688,
        ),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", 236_316_941_112_191),
    ] {
        assert_eq!(chess(fen).canonical_key(), key, "{fen}");
    }
}

/// The arbiter asks of the whole game: kings that wander about a blocked board repeat themselves.
#[test]
fn the_arbiter_ends_a_game_by_repetition() {
    let rules = Chess::rules();
    let given = serde_json::from_str(
        r#"{"algorithm": "minimax", "depth": 1, "evaluation": "none", "shuffle": false}"#,
    );
    let player = Player::from_parameters(&rules, &given.unwrap()).unwrap();
    let setup = GameSetup {
        rules: &rules,
        opening: "8/p1p3k1/P1P5/8/8/8/6K1/8 w - - 0 1",
        players: [&player, &player],
        keys: [key(1), key(2)],
        max_plies: None,
        adjudication: None,
        stops: None,
    };
    let record = play_game(&setup, &Timeless).unwrap();
    assert_eq!(record.outcome, Outcome::Draw);
    assert_eq!(record.termination, THREEFOLD_REPETITION);
    assert!(Chess::TERMINATIONS.contains(&record.termination));
}

/// A replay says of the last position what the arbiter said, also where earlier ones decide.
#[test]
fn a_replay_knows_of_repetition() {
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"];
    let rules = Chess::rules();
    let positions = replay_moves(&rules, &Chess::initial().to_string(), moves).unwrap();
    let (last, others) = positions.split_last().unwrap();
    assert_eq!(last.ending.unwrap().termination, THREEFOLD_REPETITION);
    assert!(others.iter().all(|position| position.ending.is_none()));
}
