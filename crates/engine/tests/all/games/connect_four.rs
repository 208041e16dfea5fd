//! Connect Four against a slow reference, known numbers and known values.

use proptest::prelude::*;
use spelrum_engine::evaluation::WEIGHT_MAX;
use spelrum_engine::games::connect_four::FOUR_IN_A_ROW;
use spelrum_engine::games::{ConnectFour, ConnectFourMove, Nim};
use spelrum_engine::search::Limits;
use spelrum_engine::{
    DistinctPositions, Ending, Game, Knowledge, Played, Position, Problem, Rules, Side,
    Termination, Timeless, distinct_positions, perft, solve,
};

use super::evaluation::{evaluation, value};
use super::slow_connect_four::SlowGrid;
use super::{after, moves_of, random, random_game};

fn rules() -> Rules {
    ConnectFour::rules()
}

/// The position after moves into these columns, a to g.
fn played(columns: &str) -> ConnectFour {
    let moves: Vec<String> = columns.chars().map(String::from).collect();
    Played::<ConnectFour>::parse(&rules(), &moves.join(" ")).unwrap().last()
}

/// A position and its twin after so many random moves, as far as the game goes; wins are mostly let
/// go by, so that boards get crowded.
fn random_pair(plies: usize, seed: u64) -> (ConnectFour, SlowGrid) {
    let mut random = random(seed);
    let (mut position, mut slow) = (ConnectFour::empty(), SlowGrid::empty());
    for _ in 0..plies {
        let columns = slow.columns();
        let going: Vec<usize> =
            columns.iter().copied().filter(|&column| !slow.play(column).is_over()).collect();
        let choice = if going.is_empty() || random.below(20) == 0 { columns } else { going };
        if choice.is_empty() {
            break;
        }
        let column = choice[random.below(choice.len() as u32) as usize];
        position.play_unchecked(ConnectFourMove::new(column as u32));
        slow = slow.play(column);
    }
    (position, slow)
}

fn weight() -> impl Strategy<Value = i32> {
    -WEIGHT_MAX..=WEIGHT_MAX
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn positions_are_their_slow_twins(
        plies in 0_usize..=42, seed: u64, weights in [weight(), weight(), weight()],
    ) {
        let (position, slow) = random_pair(plies, seed);
        prop_assert_eq!(position.to_string(), slow.text());
        let columns: Vec<usize> =
            moves_of(&position).into_iter().map(|mv| mv.column() as usize).collect();
        prop_assert_eq!(&columns, &slow.columns(), "{:?}", position);
        for column in 0..7 {
            let is_legal = position.is_legal(ConnectFourMove::new(column as u32));
            prop_assert_eq!(is_legal, columns.contains(&column), "{:?}", position);
        }
        let side = |disc| if disc == 'r' { Side::First } else { Side::Second };
        prop_assert_eq!(position.to_move(), side(slow.to_move()));
        let expected = match slow.winner() {
            Some(disc) => {
                Some(Ending { winner: Some(side(disc)), termination: FOUR_IN_A_ROW })
            }
            None if slow.is_over() => {
                Some(Ending { winner: None, termination: Termination::FULL_BOARD })
            }
            None => None,
        };
        prop_assert_eq!(position.ending(), expected, "{:?}", position);
        prop_assert_eq!(position.plies_left() as usize, slow.text().matches('.').count());
        if expected.is_none() {
            let lines = evaluation(&rules(), "lines", &weights);
            prop_assert_eq!(value(&lines, &position), slow.value(weights), "{:?}", position);
        }
        let mirrored = ConnectFour::parse(&rules(), &slow.mirrored().text()).unwrap();
        prop_assert_eq!(position.canonical_key(), mirrored.canonical_key());
        prop_assert_eq!(position.table_key() == mirrored.table_key(), position == mirrored);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// As far as the twin can be asked in a moment.
    #[test]
    fn late_positions_have_the_values_of_plain_minimax(seed: u64) {
        let (mut position, mut slow) = random_pair(34, seed);
        while slow.columns().len() > 4 {
            let column = slow.columns()[0];
            position.play_unchecked(ConnectFourMove::new(column as u32));
            slow = slow.play(column);
        }
        if slow.is_over() {
            return Ok(());
        }
        let solved = solve(&rules(), &slow.text(), &Limits::default(), &Timeless).unwrap();
        prop_assert_eq!(solved.value, slow.solve(), "{:?}", position);
        let optimal: Vec<String> = moves_of(&position)
            .into_iter()
            .filter(|mv| -slow.play(mv.column() as usize).solve() == solved.value)
            .map(|mv| mv.to_string())
            .collect();
        prop_assert_eq!(solved.optimal_moves, optimal, "{:?}", position);
    }
}

/// The On-Line Encyclopedia of Integer Sequences has the numbers of positions after n plies as
/// A212693.
#[test]
fn there_are_as_many_positions_after_each_ply_as_is_known() {
    const KNOWN: [u64; 11] =
        [1, 7, 49, 238, 1_120, 4_263, 16_422, 54_859, 184_275, 558_186, 1_662_623];
    let counted = distinct_positions(&ConnectFour::empty(), 7);
    let positions: Vec<u64> = counted.iter().map(|ply| ply.positions).collect();
    assert_eq!(positions, KNOWN[..8]);
    // Each has a mirror image, which may be itself.
    let is_halved = |ply: &DistinctPositions| {
        ply.up_to_symmetry <= ply.positions && 2 * ply.up_to_symmetry >= ply.positions
    };
    assert!(counted.iter().all(is_halved), "{counted:?}");
    // One disc: four columns. Two: 49 positions, of which only the one in column d is its own image.
    let up_to_symmetry: Vec<u64> = counted[..3].iter().map(|ply| ply.up_to_symmetry).collect();
    assert_eq!(up_to_symmetry, [1, 4, 25]);

    // Further, with a number for each position of the last ply instead of the position itself.
    let mut level = vec![ConnectFour::empty()];
    for (ply, &known) in KNOWN.iter().enumerate() {
        if ply > 0 {
            let going = level.iter().filter(|position| !position.is_over());
            let children = |position: &ConnectFour| {
                let position = *position;
                moves_of(&position).into_iter().map(move |mv| after(&position, mv))
            };
            if ply + 1 == KNOWN.len() {
                let mut keys: Vec<u64> =
                    going.flat_map(children).map(|child| child.table_key()).collect();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len() as u64, known, "ply {ply}");
                continue;
            }
            level = going.flat_map(children).collect();
            level.sort_unstable_by_key(Knowledge::table_key);
            level.dedup();
        }
        assert_eq!(level.len() as u64, known, "ply {ply}");
    }
}

#[test]
fn trees_have_as_many_leaves_as_is_known() {
    const LEAVES: [u64; 9] = [1, 7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234];
    // These are the games of so many plies; ours count those that are over before as well.
    let mut over = 0;
    for (depth, leaves) in (0..).zip(LEAVES) {
        let counted = perft(&ConnectFour::empty(), depth);
        assert_eq!(counted.leaves, leaves + over, "depth {depth}");
        over = counted.ended.iter().map(|(_, leaves)| leaves).sum();
    }
    // Red's fourth disc is the first that can win.
    let names = ["four_in_a_row", "draw_full_board"];
    for depth in [6, 7] {
        let [leaves, won, drawn] = SlowGrid::empty().perft(depth);
        let counted = perft(&ConnectFour::empty(), depth);
        assert_eq!(counted.leaves, leaves);
        assert_eq!(counted.ended, [(names[0], won), (names[1], drawn)]);
        assert_eq!(won > 0, depth == 7);
    }
}

/// Late positions of the test set of Pons 2015, "Solving Connect 4", with its scores' signs, and
/// the twin's word for it.
#[test]
fn known_late_positions_have_their_values() {
    let known = [
        ("2252576253462244111563365343671351441", -1),
        ("7422341735647741166133573473242566", 1),
        ("23163416124767223154467471272416755633", 0),
        ("65214673556155731566316327373221417", -1),
    ];
    for (columns, expected) in known {
        let letters = columns.chars().map(|digit| ('a'..='g').nth(digit as usize - '1' as usize));
        let position = played(&letters.collect::<Option<String>>().unwrap());
        let solved = solve(&rules(), &position.to_string(), &Limits::default(), &Timeless).unwrap();
        assert_eq!(solved.value, expected, "{columns}");
        let grid = columns
            .bytes()
            .fold(SlowGrid::empty(), |grid, digit| grid.play(usize::from(digit - b'1')));
        assert_eq!(grid.text(), position.to_string());
        assert_eq!(grid.solve(), expected, "{columns}");
    }
}

#[test]
fn winning_moves_are_found_in_every_direction() {
    for (columns, win) in
        [("dcdcdc", "d"), ("aabbcc", "d"), ("abbcdccddg", "d"), ("gffedeedda", "d"), ("aaabbb", "")]
    {
        let found = played(columns).winning_move().map_or(String::new(), |mv| mv.to_string());
        assert_eq!(found, win, "{columns}");
    }
}

fn refusal(text: &str) -> Problem {
    ConnectFour::parse(&rules(), text).unwrap_err()
}

/// A position whose upper rows are empty.
fn low(rows: &str) -> String {
    format!("{}{rows}", ".".repeat(42 - rows.len()))
}

#[test]
fn texts_that_are_not_positions_or_moves() {
    let texts = [
        "".to_owned(),
        ".".repeat(43),
        low("r.R"),
        low("x......"),
        low("rr....."),
        low("y......"),
        low("r............."),
        low("rrrry..yyyryyr"),
        low("r.....rr.....rryy.y.rryy.yyr"),
    ];
    let listed: String = texts.iter().map(|text| format!("{}\n", refusal(text).what)).collect();
    insta::assert_snapshot!(listed, @r"
    the position's length is 0 instead of 42
    the position's length is 43 instead of 42
    character 42 of the position is 'R'
    character 36 of the position is 'x'
    2 red and 0 yellow discs cannot be on one board
    0 red and 1 yellow discs cannot be on one board
    a disc has an empty cell below it
    the player to move has four in a row already
    no single disc makes all the fours
    ");
    let remedies = [&texts[0], &texts[4], &texts[6], &texts[7]].map(|text| refusal(text).remedy);
    insta::assert_snapshot!(remedies.join("\n"), @r"
    write a Connect Four position as 42 characters, row by row from the top left: r for red (who moves first), y for yellow, . for empty
    red moves first: give as many red discs as yellow ones, or one more
    let the discs lie on each other, from the bottom row up
    the game ends with the first four: take back the moves after it
    ");
    let other_game = Nim::parse(&rules(), "3,4,5/w").unwrap_err();
    insta::assert_snapshot!(other_game, @"these are rules of connect-four, not of nim; give the rules of nim");
    let moves = ["h", "A", "d1", ""].map(|text| played("").parse_move(text).unwrap_err());
    let moves: String = moves.iter().map(|error| format!("{error}\n")).collect();
    insta::assert_snapshot!(moves, @r"
    `h` is not a Connect Four move; write a column from a (left) to g (right)
    `A` is not a Connect Four move; write a column from a (left) to g (right)
    `d1` is not a Connect Four move; write a column from a (left) to g (right)
    `` is not a Connect Four move; write a column from a (left) to g (right)
    ");
}

#[test]
fn boards_for_people() {
    insta::assert_snapshot!(played("ddceb").board(), @r"
    a b c d e f g
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . y . . .
    . r r r y . .
    yellow to move
    ");
    insta::assert_snapshot!(played("dcdcdcd").board(), @r"
    a b c d e f g
    . . . . . . .
    . . . . . . .
    . . . r . . .
    . . y r . . .
    . . y r . . .
    . . y r . . .
    red wins: four in a row
    ");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let keys: Vec<u64> = random_game(ConnectFour::empty(), 1)
        .iter()
        .step_by(4)
        .map(Position::canonical_key)
        .collect();
    insta::assert_compact_debug_snapshot!(keys, @"[0, 805339138, 2952822922, 4469718811034, 4611452733338]");
}

#[test]
fn the_evaluation_counts_open_lines() {
    let lines = evaluation(&rules(), "lines", &[1, 4, 16]);
    // In the corner of three lines; in the middle of the lowest row of seven.
    assert_eq!(value(&lines, &played("a")), -3);
    assert_eq!(value(&lines, &played("d")), -7);
    // Red has three in a row with both ends free, which are two lines, and two in two more; yellow,
    // above the outer two of them, has two in two lines.
    let value_by =
        |weights: [i32; 3]| value(&evaluation(&rules(), "lines", &weights), &played("cceed"));
    assert_eq!([value_by([0, 0, 1]), value_by([0, 1, 0])], [-2, 0]);
}
