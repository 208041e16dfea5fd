//! m,n,k games against a slow reference, tic-tac-toe, another implementation and known values.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spelrum_engine::evaluation::{Features, WEIGHT_MAX};
use spelrum_engine::games::mnk::LINE_COMPLETED;
use spelrum_engine::games::{Mnk, MnkMove, TicTacToe};
use spelrum_engine::search::Limits;
use spelrum_engine::{
    Ending, Game, Knowledge, Played, PlayoutRandom, Position, Problem, Rules, Side, Termination,
    Timeless, analyze, distinct_positions, perft, solve,
};

use super::evaluation::{evaluation, value};
use super::slow_mnk::SlowMnk;
use super::{moves_of, random, random_game};
use crate::common::{key, player};

fn rules(columns: u32, rows: u32, in_a_row: u32, overlines_win: bool) -> Rules {
    Mnk::rules(columns, rows, in_a_row, overlines_win).unwrap()
}

fn start(columns: u32, rows: u32, in_a_row: u32) -> Mnk {
    Mnk::start(&rules(columns, rows, in_a_row, true)).unwrap()
}

/// A position and its twin after so many random moves, as far as the game goes; wins are mostly let go by, so that
/// boards get crowded.
fn random_pair(rules: &Rules, mut slow: SlowMnk, plies: u32, seed: u64) -> (Mnk, SlowMnk) {
    let mut random = random(seed);
    let mut position = Mnk::start(rules).unwrap();
    for _ in 0..plies {
        let cells = slow.moves();
        let going: Vec<(i32, i32)> =
            cells.iter().copied().filter(|&cell| slow.play(cell).winner().is_none()).collect();
        let choice = if going.is_empty() || random.below(20) == 0 { cells } else { going };
        if choice.is_empty() {
            break;
        }
        let (row, column) = choice[random.below(choice.len() as u32) as usize];
        position.play_unchecked(MnkMove::new(row as u32, column as u32));
        slow = slow.play((row, column));
    }
    (position, slow)
}

fn feature(position: &Mnk, name: &str, side: Side) -> usize {
    let index = Mnk::FEATURES.iter().position(|info| info.name == name).unwrap();
    let mut value = [f64::NAN];
    position.features(side, &[index as u16], &mut value);
    value[0] as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn positions_are_their_slow_twins(
        columns in 1_u32..9, rows in 1_u32..9, in_a_row in 1_u32..7, overlines_win: bool,
        share in 0_u32..100, seed: u64, weights in [-WEIGHT_MAX..=WEIGHT_MAX, -100..=100, -9..=9, -9..=9],
    ) {
        let in_a_row = in_a_row.min(columns.max(rows));
        let rules = rules(columns, rows, in_a_row, overlines_win);
        let slow = SlowMnk::empty(columns, rows, in_a_row, overlines_win);
        let (position, slow) = random_pair(&rules, slow, columns * rows * share / 90, seed);
        prop_assert_eq!(position.to_string(), slow.text());
        let cells: Vec<(i32, i32)> = moves_of(&position)
            .into_iter()
            .map(|mv| (mv.cell().0 as i32, mv.cell().1 as i32))
            .collect();
        prop_assert_eq!(&cells, &slow.moves(), "{:?}", position);
        let side = |stone| if stone == 'x' { Side::First } else { Side::Second };
        prop_assert_eq!(position.to_move(), side(slow.to_move()));
        let expected = match slow.winner() {
            Some(stone) => Some(Ending { winner: Some(side(stone)), termination: LINE_COMPLETED }),
            None if slow.is_over() => {
                Some(Ending { winner: None, termination: Termination::FULL_BOARD })
            }
            None => None,
        };
        prop_assert_eq!(position.ending(), expected, "{:?}", position);
        for image in slow.images() {
            let image = Mnk::parse(&rules, &image.text()).unwrap();
            prop_assert_eq!(position.canonical_key(), image.canonical_key(), "{:?}", position);
            prop_assert_eq!(position.table_key() == image.table_key(), position == image);
        }
        if expected.is_some() {
            return Ok(());
        }
        let counts = ['x', 'o'].map(|stone| slow.lacking(stone));
        let [own, other] = if slow.to_move() == 'x' { counts } else { [counts[1], counts[0]] };
        let expected: i32 = (0..4).map(|n| weights[n] * (own[n] as i32 - other[n] as i32)).sum();
        let fast = value(&evaluation(&rules, "lines", &weights), &position);
        prop_assert_eq!(fast, expected.clamp(-989_999, 989_999), "{:?}", position);
        for (stone, counts) in ['x', 'o'].into_iter().zip(counts) {
            let fast = |name| feature(&position, name, side(stone));
            prop_assert_eq!(fast("own_stones"), slow.count(stone));
            prop_assert_eq!(fast("own_lacking2"), counts[1], "{:?}", position);
            prop_assert_eq!(fast("own_wins"), slow.wins(stone), "{:?}", position);
        }
    }
}

/// The 3,3,3-game is tic-tac-toe: its positions, moves, ends and random games.
#[test]
fn the_3_3_3_game_is_tic_tac_toe() {
    let (start, rules) = (start(3, 3, 3), rules(3, 3, 3, true));
    let games = perft(&start, 9);
    assert_eq!(games.leaves, 255_168);
    let of_tic_tac_toe = perft(&TicTacToe::empty(), 9);
    let counts =
        |ended: &[(&str, u64)]| ended.iter().map(|&(_, leaves)| leaves).collect::<Vec<u64>>();
    assert_eq!(counts(&games.ended), counts(&of_tic_tac_toe.ended));
    assert_eq!(distinct_positions(&start, 9), distinct_positions(&TicTacToe::empty(), 9));

    let mut known = BTreeMap::new();
    for seed in 0..300 {
        let mut randoms = [(); 2].map(|()| PlayoutRandom::from_seed(seed));
        let (mut position, mut other) = (start.clone(), TicTacToe::empty());
        while !position.is_over() {
            assert_eq!(position.to_string(), other.to_string());
            let moves = |moves: Vec<String>| moves.join(" ");
            let names: Vec<String> = moves_of(&position).iter().map(ToString::to_string).collect();
            let others: Vec<String> = moves_of(&other).iter().map(ToString::to_string).collect();
            assert_eq!(moves(names), moves(others));
            let name = |mv: Option<String>| mv.unwrap_or_default();
            let wins = [
                name(position.winning_move().map(|mv| mv.to_string())),
                name(other.winning_move().map(|mv| mv.to_string())),
            ];
            assert_eq!(wins[0], wins[1], "{position}");
            known.entry(position.to_string()).or_insert_with(|| {
                let text = position.to_string();
                let solved = |rules| solve(rules, &text, &Limits::default(), &Timeless).unwrap();
                let [value, other] = [solved(&rules), solved(&TicTacToe::rules())];
                assert_eq!((value.value, value.optimal_moves), (other.value, other.optimal_moves));
            });
            position.play_randomly(&mut randoms[0], 1);
            other.play_randomly(&mut randoms[1], 1);
        }
        assert_eq!(position.to_string(), other.to_string());
        let winner = |ending: Option<Ending>| ending.unwrap().winner;
        assert_eq!(winner(position.ending()), winner(other.ending()));
    }
    assert!(known.len() > 300, "{}", known.len());
}

/// Leaves by depth from 1 on, counted over OpenSpiel's `mnk` (2.0.2), ended games being leaves.
const LEAVES: &[([u32; 3], &[u64])] = &[
    ([3, 3, 3], &[9, 72, 504, 3_024, 15_120, 56_160, 154_944, 255_168, 255_168]),
    ([4, 3, 3], &[12, 132, 1_320, 11_880, 95_040, 628_992, 3_544_992]),
    ([5, 4, 3], &[20, 380, 6_840, 116_280, 1_860_480]),
    ([4, 4, 4], &[16, 240, 3_360, 43_680, 524_160]),
    ([7, 6, 4], &[42, 1_722, 68_880]),
    ([15, 15, 5], &[225, 50_400]),
    ([5, 2, 2], &[10, 90, 720, 3_024, 10_224, 14_448]),
];

#[test]
fn trees_have_as_many_leaves_as_openspiels() {
    for &([columns, rows, in_a_row], leaves) in LEAVES {
        for (depth, &leaves) in (1..).zip(leaves) {
            let counted = perft(&start(columns, rows, in_a_row), depth);
            assert_eq!(counted.leaves, leaves, "{columns},{rows},{in_a_row} to depth {depth}");
        }
    }
}

#[test]
fn ended_games_are_counted_as_by_the_twin() {
    for overlines_win in [false, true] {
        let [leaves, won, drawn] = SlowMnk::empty(5, 2, 3, overlines_win).perft(7);
        let counted = perft(&Mnk::start(&rules(5, 2, 3, overlines_win)).unwrap(), 7);
        assert_eq!(counted.leaves, leaves);
        assert_eq!(counted.ended, [("line_completed", won), ("draw_full_board", drawn)]);
    }
}

/// Values for the first player: Uiterwijk & van den Herik 2000, "The advantage of the initiative", table 1 (m,n,1 and
/// m,n,2 are won; 3,3,3 is drawn and larger m,n,3 are won; 4,4,4 is drawn).
#[test]
fn small_games_have_their_known_values() {
    for ([columns, rows, in_a_row], expected) in [
        ([1, 1, 1], 1),
        ([5, 3, 1], 1),
        ([2, 1, 2], 0),
        ([2, 2, 2], 1),
        ([3, 1, 2], 1),
        ([6, 5, 2], 1),
        ([3, 3, 3], 0),
        ([4, 3, 3], 1),
        ([3, 4, 3], 1),
        ([5, 3, 3], 1),
        ([4, 4, 3], 1),
        ([4, 4, 4], 0),
    ] {
        let rules = rules(columns, rows, in_a_row, true);
        let searching = r#"{"algorithm": "alpha-beta", "preset": "full", "evaluation": "none",
            "depth": "unlimited", "nodes": 1000000000, "exact_plies": 0}"#;
        let start = Mnk::start(&rules).unwrap().to_string();
        if columns * rows == 1 {
            continue;
        }
        let analysis =
            analyze(&rules, &start, &player(&rules, searching), key(1), &Timeless).unwrap();
        let score = analysis.search.score.unwrap();
        assert_eq!(score.signum(), expected, "{columns},{rows},{in_a_row}: {:?}", analysis.search);
        if columns * rows <= 9 {
            let mut known = BTreeMap::new();
            let slow = SlowMnk::empty(columns, rows, in_a_row, true);
            assert_eq!(slow.solve(&mut known), expected);
        }
    }
}

/// The position after moves on a board of 15×15.
fn gomoku(moves: &str, overlines_win: bool) -> Mnk {
    Played::<Mnk>::parse(&rules(15, 15, 5, overlines_win), moves).unwrap().last()
}

#[test]
fn overlines_win_where_the_rules_say_so() {
    // Six in a row by a stone in a gap: two to its left, three to its right.
    let moves = "c8 a1 d8 a3 f8 a5 g8 a7 h8 a9 e8";
    for overlines_win in [false, true] {
        let position = gomoku(moves, overlines_win);
        assert_eq!(position.is_over(), overlines_win, "{position:?}");
        let before = gomoku(moves.trim_end_matches(" e8"), overlines_win);
        let win = before.winning_move().map(|mv| mv.to_string());
        // The fifth stone beside f8 to h8 is not enough, so without the sixth nothing wins.
        assert_eq!(win, overlines_win.then(|| "e8".to_owned()));
    }
    let exactly = gomoku("c8 a1 d8 a3 f8 a5 g8 a7 e8", false);
    assert_eq!(exactly.ending().unwrap().winner, Some(Side::First));
}

fn refusal(text: &str) -> Problem {
    Mnk::parse(&rules(4, 3, 3, true), text).unwrap_err()
}

#[test]
fn texts_that_are_not_positions_or_moves() {
    let texts = [
        "".to_owned(),
        ".".repeat(13),
        "x...........X".to_owned(),
        "xx..........".to_owned(),
        "o...........".to_owned(),
        "xxx.ooo.....".to_owned(),
        "xxx.oo.ox...".to_owned(),
        "xxx.oo.o....".to_owned(),
        "xxxoo.oooxxx".to_owned(),
    ];
    let listed: String = texts
        .iter()
        .map(|text| match Mnk::parse(&rules(4, 3, 3, true), text) {
            Ok(position) => format!("{position} is a position\n"),
            Err(error) => format!("{}\n", error.what),
        })
        .collect();
    insta::assert_snapshot!(listed, @r"
    the position's length is 0 instead of 12
    the position's length is 13 instead of 12
    character 13 of the position is 'X'
    2 x and 0 o cannot be on one board
    0 x and 1 o cannot be on one board
    the player to move has a complete line already
    xxx.oo.ox... is a position
    the player to move has a complete line already
    no single stone completes all the lines
    ");
    let remedies = [&texts[0], &texts[3], &texts[5]].map(|text| refusal(text).remedy);
    insta::assert_snapshot!(remedies.join("\n"), @r"
    write a position of this size as 12 characters, row by row from the top left: x (who moves first), o, . for empty
    x moves first: give as many x as o, or one more
    the game ends with the first complete line: take back the moves after it
    ");
    let start = start(4, 3, 3);
    let moves = ["e1", "a4", "A1", "a01", "a", "1", ""];
    let moves: String =
        moves.iter().map(|text| format!("{}\n", start.parse_move(text).unwrap_err())).collect();
    insta::assert_snapshot!(moves, @r"
    `e1` is not a move on this board; write a cell from a1 (top left) to d3
    `a4` is not a move on this board; write a cell from a1 (top left) to d3
    `A1` is not a move on this board; write a cell from a1 (top left) to d3
    `a01` is not a move on this board; write a cell from a1 (top left) to d3
    `a` is not a move on this board; write a cell from a1 (top left) to d3
    `1` is not a move on this board; write a cell from a1 (top left) to d3
    `` is not a move on this board; write a cell from a1 (top left) to d3
    ");
    insta::assert_snapshot!(Mnk::rules(20, 3, 3, true).unwrap_err(), @"`columns` cannot be 20; write an integer from 1 to 19");
    insta::assert_snapshot!(Mnk::rules(4, 3, 5, true).unwrap_err(), @"a board of 4×3 cells has no line of 5; let at most 4 stones in a row win");
}

#[test]
fn boards_for_people() {
    let position = Played::<Mnk>::parse(&rules(4, 3, 3, true), "b2 a1 c2 d2 c1").unwrap().last();
    insta::assert_snapshot!(position.board(), @r"
       a b c d
     1 o . x .
     2 . x x o
     3 . . . .
    o to move
    ");
    insta::assert_snapshot!(Mnk::explain(&rules(15, 15, 5, false)), @r"
    A move is a cell: columns a to o from the left, rows 1 to 15 from the top.
    Exactly 5 in a row, a column or a diagonal win.
    ");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let keys: Vec<u64> =
        random_game(start(15, 15, 5), 1).iter().step_by(24).map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(keys, @"[689007274170111, 5025819495522492, 8972035308032450, 2781871305051259, 1950547629277295]");
}
