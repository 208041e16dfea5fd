//! Hex against a slow reference, another implementation and known facts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spelrum_engine::evaluation::{Features, WEIGHT_MAX};
use spelrum_engine::games::hex::EDGES_JOINED;
use spelrum_engine::games::{Hex, HexMove};
use spelrum_engine::search::Limits;
use spelrum_engine::{
    EndedBy, Ending, Game, Knowledge, Played, Position, Problem, Rules, Side, Timeless, analyze,
    perft, solve,
};

use super::evaluation::{evaluation, value};
use super::slow_hex::SlowHex;
use super::{after, moves_of, random, random_game};
use crate::common::{key, player};

fn rules(size: u32, has_swap_rule: bool) -> Rules {
    Hex::rules(size, has_swap_rule).unwrap()
}

/// The position after moves, on a board with swapping.
fn played(size: u32, moves: &str) -> Hex {
    Played::<Hex>::parse(&rules(size, true), moves).unwrap().last()
}

/// A position and its twin after so many random moves, as far as the game goes; wins are mostly let go by, so that
/// boards get crowded.
fn random_pair(size: u32, has_swap_rule: bool, plies: u32, seed: u64) -> (Hex, SlowHex) {
    let mut random = random(seed);
    let mut position = Hex::empty(size, has_swap_rule);
    let mut slow = SlowHex::empty(size as usize, has_swap_rule);
    for ply in 0..plies {
        let moves = slow.moves();
        let is_going = |mv: &&String| slow.play(mv).winner().is_none();
        let going: Vec<String> = moves.iter().filter(is_going).cloned().collect();
        let choice = if going.is_empty() || random.below(20) == 0 { moves } else { going };
        if choice.is_empty() {
            break;
        }
        let mut mv = &choice[random.below(choice.len() as u32) as usize];
        if ply == 1 && has_swap_rule && random.below(2) == 0 {
            mv = choice.last().unwrap();
        }
        position.play_unchecked(position.parse_move(mv).unwrap());
        slow = slow.play(mv);
    }
    (position, slow)
}

fn side(letter: char) -> Side {
    if letter == 'r' { Side::First } else { Side::Second }
}

fn feature(position: &Hex, name: &str, side: Side) -> f64 {
    let index = Hex::FEATURES.iter().position(|info| info.name == name).unwrap();
    let mut value = [f64::NAN];
    position.features(side, &[index as u16], &mut value);
    value[0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn positions_are_their_slow_twins(
        size in 3_u32..8, has_swap_rule: bool, share in 0_u32..100, seed: u64,
        stone in -WEIGHT_MAX..=WEIGHT_MAX, cells in -WEIGHT_MAX..=WEIGHT_MAX,
    ) {
        let plies = size * size * share / 80;
        let (position, slow) = random_pair(size, has_swap_rule, plies, seed);
        let rules = rules(size, has_swap_rule);
        prop_assert_eq!(position.to_string(), slow.text());
        let moves: Vec<String> = moves_of(&position).iter().map(HexMove::to_string).collect();
        prop_assert_eq!(&moves, &slow.moves(), "{:?}", position);
        prop_assert_eq!(position.is_legal(HexMove::SWAP_PIECES), moves.contains(&"swap-pieces".into()));
        prop_assert_eq!(position.to_move(), side(slow.to_move()));
        let winner = slow.winner().map(side);
        let expected = winner.map(|side| Ending { winner: Some(side), termination: EDGES_JOINED });
        prop_assert_eq!(position.ending(), expected, "{:?}", position);
        let turned = Hex::parse(&rules, &slow.turned().text()).unwrap();
        prop_assert_eq!(position.canonical_key(), turned.canonical_key());
        prop_assert_eq!(position.table_key() == turned.table_key(), position == turned);
        if winner.is_some() {
            return Ok(());
        }

        let (mover, waiting) = if slow.to_move() == 'r' { ('r', 'b') } else { ('b', 'r') };
        let distances = [mover, waiting].map(|side| slow.distance(side) as i32);
        let expected = stone * (distances[1] - distances[0]);
        prop_assert_eq!(value(&evaluation(&rules, "distance", &[stone]), &position), expected);
        let potentials = [mover, waiting].map(|side| {
            let (least, cells) = slow.potential(side).unwrap_or((64, 0));
            [least.min(64) as i32, cells.min(32) as i32]
        });
        let expected = stone * (potentials[1][0] - potentials[0][0])
            + cells * (potentials[0][1] - potentials[1][1]);
        let fast = value(&evaluation(&rules, "two-distance", &[stone, cells]), &position);
        prop_assert_eq!(fast, expected, "{:?}", position);
        for letter in ['r', 'b'] {
            let fast = |name| feature(&position, name, side(letter)) as usize;
            prop_assert_eq!(fast("own_bridges"), slow.bridges(letter), "{:?}", position);
            prop_assert_eq!(fast("own_distance"), slow.distance(letter), "{:?}", position);
            let stones = slow.text().matches(letter).count() - usize::from(slow.to_move() == letter);
            prop_assert_eq!(fast("own_stones"), stones, "{:?}", position);
        }

        if let Some(exchanged) = position.with_sides_exchanged() {
            prop_assert_eq!(exchanged.with_sides_exchanged(), Some(position.clone()));
            let is_turn_exchanged = exchanged.to_move() != position.to_move();
            prop_assert_eq!(is_turn_exchanged, has_swap_rule);
            let sign = if is_turn_exchanged { 1 } else { -1 };
            for name in ["distance", "two-distance"] {
                let evaluation = evaluation(&rules, name, &[stone, cells]);
                let [value, of_exchanged] = [&position, &exchanged].map(|at| value(&evaluation, at));
                prop_assert_eq!(value, sign * of_exchanged, "{:?}", position);
            }
        }
    }
}

/// The first moves that win without swapping, row by row from the top: by plain minimax of the twin, and by minimax
/// over OpenSpiel's `hex` (2.0.2), for 3 and 4 rows. The centre of three rows and the short diagonal of four win in
/// the solutions of Hayward et al. ("Solving 7x7 Hex", 2005) and of Queenbee.
const WINNING_OPENINGS: [(u32, &str); 2] = [(3, OPENINGS_3), (4, OPENINGS_4)];
const OPENINGS_3: &str = "001111100";
const OPENINGS_4: &str = "0001001001001000";

#[test]
fn openings_of_small_boards_have_their_known_values() {
    const SEARCHING: &str = r#"{"algorithm": "alpha-beta", "preset": "full", "evaluation": "none",
        "depth": "unlimited", "nodes": 1000000000, "exact_plies": 0}"#;
    for (size, known) in WINNING_OPENINGS {
        let rules = rules(size, false);
        let start = Hex::empty(size, false);
        let player = player(&rules, SEARCHING);
        let wins = |mv: HexMove| {
            let child = after(&start, mv).to_string();
            let search = analyze(&rules, &child, &player, key(1), &Timeless).unwrap().search;
            assert_eq!(search.ended_by, EndedBy::Proven, "{child}");
            search.score.unwrap() < 0
        };
        let map: String =
            moves_of(&start).into_iter().map(|mv| if wins(mv) { '1' } else { '0' }).collect();
        assert_eq!(map, known, "{size}");
        // Turned by 180 degrees, the board is the same.
        assert_eq!(map, map.chars().rev().collect::<String>());
    }
    let solved = |has_swap_rule| {
        let start = Hex::empty(3, has_swap_rule).to_string();
        solve(&rules(3, has_swap_rule), &start, &Limits::default(), &Timeless).unwrap()
    };
    assert_eq!(solved(false).value, 1, "the first player wins (Nash)");
    assert_eq!(solved(false).optimal_moves, ["c1", "a2", "b2", "c2", "a3"]);
    assert_eq!(solved(true).value, -1, "the second player swaps a good stone");
    let slow = SlowHex::empty(3, false);
    let mut known = BTreeMap::new();
    let wins: Vec<String> =
        slow.moves().into_iter().filter(|mv| !slow.play(mv).wins(&mut known)).collect();
    assert_eq!(wins, solved(false).optimal_moves);
}

/// Leaves by depth from 1 on, counted over OpenSpiel's `hex` (2.0.2), ended games being leaves.
const LEAVES: &[(u32, bool, &[u64])] = &[
    (3, false, &[9, 72, 504, 3_024, 15_120, 56_160, 154_080, 257_760, 257_760]),
    (3, true, &[9, 81, 576, 3_528, 18_144, 71_280, 210_240]),
    (4, false, &[16, 240, 3_360, 43_680, 524_160]),
    (4, true, &[16, 256, 3_600, 47_040, 567_840]),
    (5, false, &[25, 600, 13_800, 303_600]),
    (5, true, &[25, 625, 14_400, 317_400]),
    (11, false, &[121, 14_520]),
    (11, true, &[121, 14_641, 1_742_400]),
];

#[test]
fn trees_have_as_many_leaves_as_openspiels() {
    for &(size, has_swap_rule, leaves) in LEAVES {
        for (depth, &leaves) in (1..).zip(leaves) {
            let counted = perft(&Hex::empty(size, has_swap_rule), depth);
            assert_eq!(counted.leaves, leaves, "{size} {has_swap_rule} to depth {depth}");
        }
    }
}

#[test]
fn ended_games_are_counted_as_by_the_twin() {
    for has_swap_rule in [false, true] {
        for depth in [5, 6] {
            let [leaves, won] = SlowHex::empty(3, has_swap_rule).perft(depth);
            let counted = perft(&Hex::empty(3, has_swap_rule), depth);
            assert_eq!((counted.leaves, counted.ended), (leaves, vec![("edges_joined", won)]));
        }
    }
}

#[test]
fn pieces_are_swapped_across_the_long_diagonal() {
    assert_eq!(played(3, "c1 swap-pieces").to_string(), "......b.. r");
    assert_eq!(played(3, "b2 swap-pieces").to_string(), "....b.... r");
    let position = played(3, "a2 b2");
    assert!(!position.is_legal(HexMove::SWAP_PIECES));
    assert!(!Hex::empty(3, true).is_legal(HexMove::SWAP_PIECES));
    assert!(!played(3, "c1 swap-pieces").is_legal(HexMove::SWAP_PIECES));
}

fn refusal(text: &str) -> Problem {
    Hex::parse(&rules(3, true), text).unwrap_err()
}

#[test]
fn texts_that_are_not_positions_or_moves() {
    let texts = [
        "",
        ".......... r",
        "........x r",
        ".........  ",
        ".........-r",
        "......... x",
        "r........ r",
        "......... b",
        "bbr...... r",
        "r..r..r.. r",
        "r..rbbr.. b",
        "r..rbbr.b r",
    ];
    let listed: String = texts
        .iter()
        .map(|text| match Hex::parse(&rules(3, true), text) {
            Ok(position) => format!("{position} is a position\n"),
            Err(error) => format!("{}\n", error.what),
        })
        .collect();
    insta::assert_snapshot!(listed, @r"
    the position's length is 0 instead of 11
    the position's length is 12 instead of 11
    character 9 of the position is 'x'
    character 11 of the position is ' '
    character 10 of the position is '-'
    character 11 of the position is 'x'
    with 1 red and 0 blue stones, red cannot be to move
    with 0 red and 0 blue stones, blue cannot be to move
    bbr...... r is a position
    with 3 red and 0 blue stones, red cannot be to move
    r..rbbr.. b is a position
    red is to move but has won: its edges are joined
    ");
    // Two columns of red stones, the last of which can be neither alone.
    let twice = Hex::parse(&rules(4, true), "rrbbrrbbrrbbrrbb b").unwrap_err();
    insta::assert_snapshot!(twice, @"no single stone joins the edges; the game ends when edges are joined: take back the moves after that");
    let remedies = [texts[0], texts[6]].map(|text| refusal(text).remedy);
    insta::assert_snapshot!(remedies.join("\n"), @r"
    write a Hex position of this size as 9 characters, row by row from the top left: r for red (who moves first), b for blue, . for empty; then a space and who is to move, r or b
    red moves first, and blue may take over the first stone: count the stones and check whose turn it is
    ");
    let without = Hex::parse(&rules(3, false), "b........ r").unwrap_err();
    insta::assert_snapshot!(without, @"with 0 red and 1 blue stones, red cannot be to move; red moves first: give as many red stones as blue ones, or one more and blue the turn");
    let start = Hex::empty(3, true);
    let moves = ["d1", "a4", "A1", "a01", "a", "1", "swap", ""];
    let moves: String =
        moves.iter().map(|text| format!("{}\n", start.parse_move(text).unwrap_err())).collect();
    insta::assert_snapshot!(moves, @r"
    `d1` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `a4` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `A1` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `a01` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `a` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `1` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `swap` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    `` is not a Hex move; write a cell from a1 (top left) to c3, or swap-pieces
    ");
    insta::assert_snapshot!(Hex::rules(20, true).unwrap_err(), @"`size` cannot be 20; write an integer from 3 to 19");
}

#[test]
fn boards_for_people() {
    insta::assert_snapshot!(played(4, "b2 c2 a4").board(), @r"
       a b c d
     1 . . . .
      2 . r b .
       3 . . . .
        4 r . . .
    blue to move
    ");
    insta::assert_snapshot!(played(3, "a2 b2 c1 b3 b1").board(), @r"
       a b c
     1 . r r
      2 r b .
       3 . b .
    blue to move
    ");
    insta::assert_snapshot!(Hex::explain(&rules(11, true)), @r"
    A move is a cell: columns a to k from the left, rows from 1 at the top; b3 is column b, row 3. Each row
    is shifted to the right of the one above by half a cell, so a cell has six neighbours.
    Red joins the top and bottom edges with its stones, blue the left and right ones.
    Instead of its first stone, blue may write swap-pieces: red's stone becomes a blue one, with its
    column and row exchanged.
    ");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let keys: Vec<u64> = random_game(Hex::empty(11, true), 1)
        .iter()
        .step_by(24)
        .map(Position::canonical_key)
        .collect();
    insta::assert_compact_debug_snapshot!(keys, @"[342421626587948, 7889148527168457, 2916537932914685, 8198265030036476, 3892828284291600]");
}
