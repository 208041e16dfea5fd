//! Known counts.

use spelrum_engine::tables;

use super::table;

/// All positions of king and rook against king, as an independent generator of the project's reference
/// data counted them.
#[test]
fn krk_has_the_counts_of_the_reference_data() {
    let counts = table("KRK").counts();
    let [white, black] = &counts.sides;
    assert_eq!((white.legal, white.wins, white.draws, white.losses), (175_168, 175_168, 0, 0));
    assert_eq!((black.legal, black.wins, black.losses), (223_944, 0, 201_700));
    assert_eq!((black.draws, black.mates, black.stalemates), (223_944 - 201_700, 216, 68));
    assert_eq!(
        white.wins_by_moves,
        [
            1512, 4676, 3852, 1900, 4848, 8708, 11320, 17172, 20088, 19016, 20476, 21480, 17824,
            16136, 5244, 916
        ]
    );
    assert_eq!(
        black.losses_by_moves,
        [
            216, 624, 1948, 648, 1584, 3768, 4728, 5444, 11448, 13672, 15872, 22788, 28732, 33516,
            36372, 17284, 3056
        ]
    );
    let longest = white.longest_win.as_ref().unwrap();
    assert_eq!((longest.plies, longest.positions), (31, 916));
    let longest = black.longest_loss.as_ref().unwrap();
    assert_eq!((longest.plies, longest.positions), (32, 3056));
}

/// White's longest wins in moves to mate, as they are published (Nalimov, Haworth & Heinz 2000,
/// "Space-efficient indexing of chess endgame tables", ICGA Journal 23.3).
#[test]
fn the_longest_wins_are_the_published_ones() {
    for (name, moves) in [
        ("KK", None),
        ("KBK", None),
        ("KNK", None),
        ("KQK", Some(10)),
        ("KRK", Some(16)),
        ("KNNK", Some(1)),
        ("KBBK", Some(19)),
        ("KBNK", Some(33)),
        ("KQKR", Some(35)),
        ("KRKB", Some(29)),
        ("KRKN", Some(40)),
    ] {
        let counts = table(name).counts();
        let plies = counts.sides[0].longest_win_plies();
        assert_eq!(plies, moves.map(|moves| 2 * moves - 1), "{name}");
        if name == "KBNK" {
            assert_eq!(counts.sides[1].longest_loss_plies(), Some(66));
        }
    }
}

/// King and pawn against king. 111,282 wins with the pawn on the files a to d is the count that Stockfish's
/// generator of its bit base asserted (`bitbase.cpp`, `KPKBitbase.count() == 111282`); the longest win of 28 moves,
/// in three positions up to symmetry with White to move and in two with Black, is as Nalimov's tables have it.
#[test]
fn kpk_has_the_published_counts() {
    let counts = table("KPK").counts();
    let [white, black] = &counts.sides;
    assert_eq!((white.legal, white.wins, white.draws, white.losses), (163_328, 124_960, 38_368, 0));
    assert_eq!((black.legal, black.losses, black.draws, black.wins), (168_024, 97_604, 70_420, 0));
    assert_eq!((white.wins + black.losses) / 2, 111_282);
    assert_eq!((white.stalemates, black.stalemates, black.mates), (4, 18, 0));
    let longest = |longest: &Option<tables::Longest>| {
        longest.as_ref().map(|longest| (longest.plies, longest.positions / 2))
    };
    assert_eq!(longest(&white.longest_win), Some((55, 3)));
    assert_eq!(longest(&black.longest_loss), Some((56, 2)));
}

/// As they came out where every value was held against those of its successors.
#[test]
fn kbnk_has_the_counts_that_were_checked() {
    let counts = table("KBNK").counts();
    let [white, black] = &counts.sides;
    assert_eq!((white.legal, white.wins, white.draws), (10_875_504, 10_822_184, 53_320));
    assert_eq!((black.legal, black.losses, black.draws), (13_660_584, 11_188_168, 2_472_416));
    assert_eq!((black.mates, black.stalemates), (464, 12_888));
    assert_eq!((white.longest_win_plies(), black.longest_loss_plies()), (Some(65), Some(66)));
}

/// What one side's counts say is told again with the colours changed.
#[test]
fn the_same_pieces_on_the_other_side_have_the_same_counts() {
    let (strong_white, strong_black) = (table("KRK").counts(), table("KKR").counts());
    assert_eq!(strong_white.sides[0].wins_by_moves, strong_black.sides[1].wins_by_moves);
    assert_eq!(strong_white.sides[1].losses_by_moves, strong_black.sides[0].losses_by_moves);
    let both = table("KRKR").counts();
    assert_eq!(both.sides[0].wins_by_moves, both.sides[1].wins_by_moves);
    assert_eq!(both.sides[0].losses_by_moves, both.sides[1].losses_by_moves);
    assert_eq!(both.sides[0].legal, both.sides[1].legal);
}
