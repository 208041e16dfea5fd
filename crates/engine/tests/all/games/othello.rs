//! Othello against a slow reference, known numbers and known games.

use proptest::prelude::*;
use spelrum_engine::evaluation::{Features, WEIGHT_MAX};
use spelrum_engine::games::othello::{NO_MOVES, SquareClass, WIPED_OUT};
use spelrum_engine::games::{Nim, Othello, OthelloMove};
use spelrum_engine::search::Limits;
use spelrum_engine::{
    Ending, Game, GameSetup, Knowledge, Outcome, Played, Position, Problem, Rules, Side,
    Termination, Timeless, perft, play_game, solve,
};

use super::evaluation::{evaluation, value};
use super::slow_othello::SlowOthello;
use super::{moves_of, random, random_game};
use crate::common::{key, player, start};

const KNOWN: &str = include_str!("../../vectors/othello/perft.json");

fn rules() -> Rules {
    Othello::rules()
}

/// The position after these moves.
fn played(moves: &str) -> Othello {
    Played::<Othello>::parse(&rules(), moves).unwrap().last()
}

/// A position and its twin after so many random moves, or as many as the game has.
fn random_pair(plies: usize, seed: u64) -> (Othello, SlowOthello) {
    let mut random = random(seed);
    let (mut position, mut slow) = (Othello::initial(), SlowOthello::initial());
    for _ in 0..plies {
        let moves = slow.moves();
        if moves.is_empty() {
            break;
        }
        let mv = &moves[random.below(moves.len() as u32) as usize];
        position.play_unchecked(position.parse_move(mv).unwrap());
        slow = slow.play(mv);
    }
    (position, slow)
}

fn weights<const N: usize>(max: i32) -> impl Strategy<Value = [i32; N]> {
    proptest::collection::vec(-max..=max, N).prop_map(|weights| weights.try_into().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn positions_are_their_slow_twins(
        plies in 0_usize..=70, seed: u64, of_squares in weights::<10>(WEIGHT_MAX),
        of_mobility in weights::<5>(5_000),
    ) {
        let (position, slow) = random_pair(plies, seed);
        prop_assert_eq!(position.to_string(), slow.text());
        let moves: Vec<String> = moves_of(&position).iter().map(ToString::to_string).collect();
        prop_assert_eq!(&moves, &slow.moves(), "{:?}", position);
        for mv in (0..64).map(OthelloMove::new).chain([OthelloMove::PASS]) {
            let is_there = moves.contains(&mv.to_string());
            prop_assert_eq!(position.is_legal(mv), is_there, "{} in {:?}", mv, position);
        }
        let [blacks, whites] = ['b', 'w'].map(|side| slow.count(side) as i32);
        prop_assert_eq!(position.disc_difference(), blacks - whites);
        let expected = slow.is_over().then(|| Ending {
            winner: match blacks - whites {
                0 => None,
                1.. => Some(Side::First),
                ..0 => Some(Side::Second),
            },
            termination: match (blacks, whites) {
                _ if slow.count('.') == 0 => Termination::FULL_BOARD,
                (0, _) | (_, 0) => WIPED_OUT,
                _ => NO_MOVES,
            },
        });
        prop_assert_eq!(position.ending(), expected, "{:?}", position);
        prop_assert_eq!(position.margin(), expected.map(|_| blacks - whites));

        let side = slow.to_move();
        let other = if side == 'b' { 'w' } else { 'b' };
        prop_assert_eq!(position.own_discs() as usize, slow.count(side));
        prop_assert_eq!(position.other_discs() as usize, slow.count(other));
        prop_assert_eq!(position.empty_squares() as usize, slow.count('.'));
        prop_assert_eq!(position.own_moves() as usize, slow.squares_of(side).len());
        prop_assert_eq!(position.other_moves() as usize, slow.squares_of(other).len());
        let [own, others] = [side, other].map(|side| slow.on_classes(side));
        for class in SquareClass::ALL {
            let index = class as usize;
            prop_assert_eq!(position.own_discs_on(class) as i32, own[index]);
            prop_assert_eq!(position.other_discs_on(class) as i32, others[index]);
        }
        for looks in [Side::First, Side::Second] {
            let sides = if looks == Side::First { ['b', 'w'] } else { ['w', 'b'] };
            for (feature, info) in (0..).zip(Othello::FEATURES) {
                let mut found = [0.0];
                position.features(looks, &[feature], &mut found);
                let [owner, quantity] = [&info.name[..3], &info.name[3..]];
                let side = sides[usize::from(owner == "opp")];
                let counted = match quantity {
                    "_bricks" => slow.count(side) as i32,
                    "_allowed_moves" => slow.squares_of(side).len() as i32,
                    "ty" => slow.count('.') as i32,
                    "_edges" => slow.edges(side),
                    "_near_corners" => slow.near_corners(side),
                    class => slow.on_classes(side)[usize::from(class.as_bytes()[8] - b'a')],
                };
                prop_assert_eq!(found[0], f64::from(counted), "{} in {:?}", info.name, position);
            }
        }
        if expected.is_none() {
            let value_by = |name, weights: &[i32]| value(&evaluation(&rules(), name, weights), &position);
            prop_assert_eq!(value_by("discs", &of_squares[..1]), of_squares[0] * slow.discs());
            prop_assert_eq!(value_by("squares", &of_squares), slow.squares(of_squares), "{:?}", position);
            let mobility = slow.mobility(of_mobility);
            prop_assert_eq!(value_by("mobility", &of_mobility), mobility, "{:?}", position);
        }
        for image in [slow.image(true), slow.image(false), slow.image(true).image(false)] {
            let image = Othello::parse(&rules(), &image.text()).unwrap();
            prop_assert_eq!(position.canonical_key(), image.canonical_key());
            prop_assert_eq!(position.reduced_key().0, image.reduced_key().0);
            prop_assert_eq!(position.table_key() == image.table_key(), position == image);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// As far as the twin can be asked in a moment.
    #[test]
    fn late_positions_have_the_values_of_plain_minimax(seed: u64) {
        let (mut position, mut slow) = random_pair(50, seed);
        while slow.count('.') > 6 && !slow.is_over() {
            let mv = &slow.moves()[0];
            position.play_unchecked(position.parse_move(mv).unwrap());
            slow = slow.play(mv);
        }
        if slow.is_over() {
            return Ok(());
        }
        let solved = solve(&rules(), &slow.text(), &Limits::default(), &Timeless).unwrap();
        prop_assert_eq!(solved.value, slow.solve(), "{:?}", position);
        let moves = slow.moves();
        let best = moves.iter().filter(|mv| -slow.play(mv).solve() == solved.value);
        let optimal: Vec<String> = best.cloned().collect();
        prop_assert_eq!(solved.optimal_moves, optimal, "{:?}", position);
    }
}

#[test]
fn squares_are_in_ten_classes() {
    for square in 0..64 {
        let class = SlowOthello::class((square as usize / 8, square as usize % 8));
        assert_eq!(SquareClass::of_square(square), SquareClass::ALL[class]);
    }
    let sizes = SquareClass::ALL.map(SquareClass::squares);
    assert_eq!(sizes, [4, 8, 8, 8, 4, 8, 8, 4, 8, 4]);
}

/// Counted by hand.
#[test]
fn discs_on_edges_and_near_corners_are_counted() {
    let board = position(
        [
            "bww.b..w", "w..b..bb", "...b.b.b", "..bbb...", "wb.ww...", "..w..w..", ".b....wb",
            "b.w..w..",
        ],
        'b',
    );
    let count = |name: &str, side| {
        let feature = Othello::FEATURES.iter().position(|info| info.name == name).unwrap();
        let mut value = [f64::NAN];
        board.features(side, &[feature as u16], &mut value);
        value[0]
    };
    // Black has e1, h2, h3 and h7 on the edges, and g2, h2, b7 and h7 near corners. White has b1, c1, a2, a5, c8 and f8,
    // and b1, a2 and g7.
    for (name, black, white) in [("edges", 4.0, 6.0), ("near_corners", 4.0, 3.0)] {
        let [own, opp] = ["own", "opp"].map(|owner| format!("{owner}_{name}"));
        assert_eq!([count(&own, Side::First), count(&opp, Side::First)], [black, white], "{name}");
        assert_eq!(
            [count(&own, Side::Second), count(&opp, Side::Second)],
            [white, black],
            "{name}"
        );
    }
}

#[test]
fn trees_have_as_many_leaves_as_is_known() {
    let known: Vec<u64> = serde_json::from_str::<serde_json::Value>(KNOWN).unwrap()["leaves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|leaves| leaves.as_u64().unwrap())
        .collect();
    assert_eq!(known.len(), 12);
    // Those beyond take too long without optimisation.
    for (depth, leaves) in (1..).zip(known).take(8) {
        let counted = perft(&Othello::initial(), depth);
        assert_eq!(counted.leaves, leaves, "depth {depth}");
        assert_eq!(counted.ended, []);
        if depth <= 5 {
            assert_eq!(SlowOthello::initial().perft(depth), leaves, "depth {depth}");
        }
    }
}

/// Near their end trees have games that are over and passes: leaves and plies like all others.
#[test]
fn games_that_are_over_are_leaves() {
    let (mut over, mut passes) = (0, 0);
    for seed in 0..120 {
        let (position, slow) = random_pair(54 + seed as usize % 9, seed);
        let leaves: Vec<u64> = (0..5).map(|depth| perft(&position, depth).leaves).collect();
        let expected: Vec<u64> = (0..5).map(|depth| slow.perft(depth)).collect();
        assert_eq!(leaves, expected, "{position:?}");
        over += usize::from(position.is_over());
        passes += usize::from(position.is_legal(OthelloMove::PASS));
    }
    assert!(over > 0 && passes > 0, "{over} games over, {passes} passes");
}

/// The shortest game there is wipes White out after nine plies.
#[test]
fn a_side_may_be_wiped_out() {
    let position = played("e6 f4 e3 f6 g5 d6 e7 f5 c5");
    let ending = Ending { winner: Some(Side::First), termination: WIPED_OUT };
    assert_eq!(position.ending(), Some(ending));
    assert_eq!((position.disc_difference(), position.empty_squares()), (13, 51));
    let before = played("e6 f4 e3 f6 g5 d6 e7 f5");
    assert_eq!(before.winning_move(), Some(before.parse_move("c5").unwrap()));
}

/// Rows of a board, from the top, and whose turn it is.
fn position(rows: [&str; 8], to_move: char) -> Othello {
    Othello::parse(&rules(), &format!("{} {to_move}", rows.concat())).unwrap()
}

#[test]
fn a_side_without_moves_passes() {
    // White has a move, to the left of a row.
    let mut board = position(
        [
            ".bbbbbbw", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb", "bbbbbbbb",
            "bbbbbbbb",
        ],
        'b',
    );
    assert_eq!(moves_of(&board), [OthelloMove::PASS]);
    assert_eq!((board.own_moves(), board.other_moves(), board.plies_left()), (0, 1, 2));
    board.play_unchecked(OthelloMove::PASS);
    assert_eq!(board.to_move(), Side::Second);
    assert!(!board.is_legal(OthelloMove::PASS));
    assert_eq!((board.own_moves(), board.other_moves(), board.plies_left()), (1, 0, 1));
    assert_eq!(board.winning_move(), None);
    board.play_unchecked(OthelloMove::new(0));
    let ending = Ending { winner: Some(Side::First), termination: Termination::FULL_BOARD };
    assert_eq!((board.ending(), board.disc_difference()), (Some(ending), 48));
}

#[test]
fn neither_side_may_have_a_move_left() {
    let rows = [
        "........", ".wwwwwww", ".wwwwwww", ".wwwwwww", ".wwwwwww", ".wwwwwww", ".wwwwwww",
        ".wwwwwww",
    ];
    for to_move in ['b', 'w'] {
        let over = position(rows, to_move);
        let ending = Ending { winner: Some(Side::Second), termination: WIPED_OUT };
        assert_eq!((over.ending(), over.disc_difference()), (Some(ending), -49));
    }
    // All lines from a1 and h8 are of one colour.
    let rows = [
        ".bbbbbbb", "wbbbbbbb", "wbbbbbbb", "wbbbwwwb", "wwwwbwwb", "wwwwwbwb", "wwwwwwbb",
        "wwwwwww.",
    ];
    let stuck = position(rows, 'w');
    let ending = Ending { winner: None, termination: NO_MOVES };
    assert_eq!((stuck.ending(), stuck.disc_difference()), (Some(ending), 0));
    assert_eq!(moves_of(&stuck), []);
}

fn refusal(text: &str) -> Problem {
    Othello::parse(&rules(), text).unwrap_err()
}

#[test]
fn texts_that_are_not_positions_or_moves() {
    let start = Othello::initial().to_string();
    let texts = [
        String::new(),
        start.replace(' ', ""),
        format!("{start} "),
        start.replace(' ', "."),
        start.replace(" b", " x"),
        start.replacen('.', "B", 1),
        start.replacen('w', "é", 1),
        start.replacen("wb", ".b", 1),
        start.replacen('.', "b", 1),
        ".".repeat(64) + " b",
    ];
    let listed: String = texts.iter().map(|text| format!("{}\n", refusal(text).what)).collect();
    insta::assert_snapshot!(listed, @r"
    the position's length is 0 instead of 66
    the position's length is 65 instead of 66
    the position's length is 67 instead of 66
    character 65 of the position is '.'
    character 66 of the position is 'x'
    character 1 of the position is 'B'
    character 28 of the position is 'é'
    there is no disc on d4
    no discs lead from the middle to the one on a1
    there is no disc on d4
    ");
    let remedies = [&texts[0], &texts[7], &texts[8]].map(|text| refusal(text).remedy);
    insta::assert_snapshot!(remedies.join("\n"), @r"
    write an Othello position as 64 characters, row by row from the top left: b for black, w for white, . for empty; then a space and who is to move, b or w
    put discs on d4, e4, d5 and e5: they are there from the start
    a move puts a disc beside another: let all of them be joined
    ");
    let other_game = Nim::parse(&rules(), "3,4,5/w").unwrap_err();
    insta::assert_snapshot!(other_game, @"these are rules of othello, not of nim; give the rules of nim");
    let moves = ["i1", "D3", "d9", "d0", "d33", "Pass", "--", ""];
    let moves: String =
        moves.map(|text| Othello::initial().parse_move(text).unwrap_err().what + "\n").concat();
    insta::assert_snapshot!(moves, @r"
    `i1` is not an Othello move
    `D3` is not an Othello move
    `d9` is not an Othello move
    `d0` is not an Othello move
    `d33` is not an Othello move
    `Pass` is not an Othello move
    `--` is not an Othello move
    `` is not an Othello move
    ");
}

#[test]
fn boards_for_people() {
    insta::assert_snapshot!(played("d3 c5").board(), @r"
      a b c d e f g h
    1 . . . . . . . .
    2 . . . . . . . .
    3 . . . b . . . .
    4 . . . b b . . .
    5 . . w w w . . .
    6 . . . . . . . .
    7 . . . . . . . .
    8 . . . . . . . .
    black to move
    ");
    insta::assert_snapshot!(played("e6 f4 e3 f6 g5 d6 e7 f5 c5").board(), @r"
      a b c d e f g h
    1 . . . . . . . .
    2 . . . . . . . .
    3 . . . . b . . .
    4 . . . b b b . .
    5 . . b b b b b .
    6 . . . b b b . .
    7 . . . . b . . .
    8 . . . . . . . .
    black wins: one side has no disc left, 13 to 0
    ");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let keys: Vec<u64> =
        random_game(Othello::initial(), 1).iter().step_by(7).map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(keys, @"[4068593082857088, 7369937857337855, 1911602355993810, 7086057047456629, 8690159968302722, 8552280532311086, 7864378903850035, 6079400421328275, 6327404144681985]");
}

/// The same discs with the other side to move are another position.
#[test]
fn keys_contain_the_side_to_move() {
    let white = Othello::initial().to_string().replace(" b", " w");
    let white = Othello::parse(&rules(), &white).unwrap();
    assert_ne!(white.canonical_key(), Othello::initial().canonical_key());
    assert_ne!(white.table_key(), Othello::initial().table_key());
    // The start is its own image in a diagonal, and half a turn.
    let keys = ["d3", "c4", "f5", "e6"].map(|mv| played(mv).canonical_key());
    assert!(keys.iter().all(|key| *key == keys[0]));
}

/// The third tree that the study of evolved evaluators printed, which looks one move ahead. Of 10,000 games
/// against random play it is said to have won 9,057.
#[test]
fn the_studys_third_tree_wins_most_games_against_random_play() {
    const GAMES: u64 = 400;
    let tree =
        "(+ own_in_pos_d (- (+ (+ (/ empty empty) own_in_pos_a) own_in_pos_a) own_in_pos_e))";
    let json = format!(
        r#"{{"algorithm": "alpha-beta", "depth": 1, "ties": "random", "evaluation": "expression", "formula": "{tree}"}}"#
    );
    let [tree, random] = [&json, r#"{"algorithm": "random"}"#].map(|json| player(&rules(), json));
    let wins = |seed: u64| {
        let tree_moves_first = seed.is_multiple_of(2);
        let setup = GameSetup {
            rules: &rules(),
            opening: &start(&rules()),
            players: if tree_moves_first { [&tree, &random] } else { [&random, &tree] },
            keys: [key(2 * seed), key(2 * seed + 1)],
            max_plies: None,
            adjudication: None,
            stops: None,
        };
        let record = play_game(&setup, &Timeless).unwrap();
        assert!(record.margin.is_some());
        record.outcome == if tree_moves_first { Outcome::Win } else { Outcome::Loss }
    };
    let won = (0..GAMES).filter(|&seed| wins(seed)).count();
    // Five standard deviations of a binomial count are below 30.
    assert!(won.abs_diff(362) < 30, "{won} of {GAMES}");
}
