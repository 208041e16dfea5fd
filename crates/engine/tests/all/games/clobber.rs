//! Clobber against a slow reference.

use proptest::prelude::*;
use spelrum_engine::evaluation::Features;
use spelrum_engine::games::Clobber;
use spelrum_engine::search::Limits;
use spelrum_engine::{Ending, Game, Position, Rules, Side, Termination, Timeless, solve};

use super::evaluation::{evaluation, value};
use super::{moves_of, random, random_game};

/// Clobber on a grid of characters, the bottom row first.
#[derive(Clone)]
struct Slow {
    cells: Vec<Vec<char>>,
    to_move: char,
}

const fn other(side: char) -> char {
    if side == 'b' { 'w' } else { 'b' }
}

impl Slow {
    fn new(columns: usize, rows: usize) -> Self {
        let cell = |row, column| if (row + column) % 2 == 0 { 'b' } else { 'w' };
        let row = |row| (0..columns).map(|column| cell(row, column)).collect();
        Self { cells: (0..rows).map(row).collect(), to_move: 'b' }
    }

    fn text(&self) -> String {
        let cells: String = self.cells.iter().rev().flatten().collect();
        format!("{cells} {}", self.to_move)
    }

    fn at(&self, row: usize, column: usize) -> Option<char> {
        self.cells.get(row)?.get(column).copied()
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, columns) = (self.cells.len(), self.cells[0].len());
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    fn beside(&self, (row, column): (usize, usize)) -> Vec<(usize, usize)> {
        let places = [
            (row.wrapping_sub(1), column),
            (row + 1, column),
            (row, column.wrapping_sub(1)),
            (row, column + 1),
        ];
        places.into_iter().filter(|&(row, column)| self.at(row, column).is_some()).collect()
    }

    fn stones(&self, side: char) -> Vec<(usize, usize)> {
        self.places().filter(|&(row, column)| self.cells[row][column] == side).collect()
    }

    fn moves(&self, side: char) -> Vec<[(usize, usize); 2]> {
        let mut moves = Vec::new();
        for from in self.stones(side) {
            let to = self.beside(from).into_iter();
            let to = to.filter(|&(row, column)| self.cells[row][column] == other(side));
            moves.extend(to.map(|to| [from, to]));
        }
        moves
    }

    fn play(&self, [from, to]: [(usize, usize); 2]) -> Self {
        let mut next = self.clone();
        next.cells[from.0][from.1] = '.';
        next.cells[to.0][to.1] = self.to_move;
        next.to_move = other(self.to_move);
        next
    }

    fn ending(&self) -> Option<Ending> {
        let winner = Some(if self.to_move == 'b' { Side::Second } else { Side::First });
        let is_over = self.moves(self.to_move).is_empty();
        is_over.then_some(Ending { winner, termination: Termination::CANNOT_MOVE })
    }

    fn feature(&self, name: &str, side: char) -> i32 {
        let stones = self.stones(side);
        let is_movable = |&&place: &&(usize, usize)| {
            self.beside(place).iter().any(|&(row, column)| self.cells[row][column] == other(side))
        };
        let is_stranded = |&&place: &&(usize, usize)| {
            self.beside(place).iter().all(|&(row, column)| self.cells[row][column] == '.')
        };
        match name {
            "stones" => stones.len() as i32,
            "movable" => stones.iter().filter(is_movable).count() as i32,
            "stranded" => stones.iter().filter(is_stranded).count() as i32,
            "moves" => self.moves(side).len() as i32,
            "empty" => self.stones('.').len() as i32,
            other => panic!("{other}"),
        }
    }

    /// Whether the side to move wins.
    fn wins(&self) -> bool {
        self.moves(self.to_move).into_iter().any(|mv| !self.play(mv).wins())
    }
}

fn name([from, to]: [(usize, usize); 2]) -> String {
    let cell =
        |(row, column): (usize, usize)| format!("{}{}", (b'a' + column as u8) as char, row + 1);
    format!("{}-{}", cell(from), cell(to))
}

fn sizes() -> impl Strategy<Value = (u32, u32)> {
    (1_u32..=10, 1_u32..=10).prop_filter("two cells", |&(columns, rows)| columns * rows > 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn positions_are_their_slow_twins((columns, rows) in sizes(), plies in 0..60, seed: u64) {
        let rules = Clobber::rules(columns, rows).unwrap();
        let mut position = Clobber::start(&rules).unwrap();
        let mut slow = Slow::new(columns as usize, rows as usize);
        let mut random = random(seed);
        for _ in 0..plies {
            let moves = slow.moves(slow.to_move);
            if moves.is_empty() {
                break;
            }
            let mv = moves[random.below(moves.len() as u32) as usize];
            position.play_unchecked(position.parse_move(&name(mv)).unwrap());
            slow = slow.play(mv);
        }
        prop_assert_eq!(position.to_string(), slow.text());
        prop_assert_eq!(position.ending(), slow.ending(), "{:?}", position);
        let mut expected: Vec<String> = slow.moves(slow.to_move).into_iter().map(name).collect();
        let mut moves: Vec<String> = moves_of(&position).iter().map(ToString::to_string).collect();
        expected.sort_unstable();
        moves.sort_unstable();
        prop_assert_eq!(moves, expected, "{:?}", position);
        prop_assert_eq!(slow.moves('b').len(), slow.moves('w').len());

        let weights = [4_999, 71, -83];
        let lead = |name| slow.feature(name, slow.to_move) - slow.feature(name, other(slow.to_move));
        let names = ["movable", "stranded", "stones"];
        let expected: i32 = names.into_iter().zip(weights).map(|(name, weight)| weight * lead(name)).sum();
        prop_assert_eq!(value(&evaluation(&rules, "mobility", &weights), &position), expected, "{:?}", position);
        for (index, info) in (0..).zip(Clobber::FEATURES) {
            for (side, letter) in [(Side::First, 'b'), (Side::Second, 'w')] {
                let counted = match info.name.split_once('_') {
                    Some(("own", name)) => slow.feature(name, letter),
                    Some(("opp", name)) => slow.feature(name, other(letter)),
                    _ => slow.feature(info.name, letter),
                };
                let mut feature = [f64::NAN];
                position.features(side, &[index], &mut feature);
                prop_assert_eq!(feature[0], f64::from(counted), "{} of {:?}", info.name, position);
            }
        }
    }
}

fn solved(columns: u32, rows: u32) -> i32 {
    let rules = Clobber::rules(columns, rows).unwrap();
    let start = Clobber::start(&rules).unwrap();
    solve(&rules, &start.to_string(), &Limits::default(), &Timeless).unwrap().value
}

/// Small boards by the twin's plain search; larger ones are as the solver found them.
#[test]
fn small_boards_have_the_values_of_plain_search() {
    let small =
        [(2, 1), (3, 1), (4, 1), (9, 1), (1, 10), (2, 2), (3, 2), (4, 2), (2, 5), (3, 3), (4, 3)];
    for (columns, rows) in small {
        let wins = Slow::new(columns as usize, rows as usize).wins();
        assert_eq!(solved(columns, rows), if wins { 1 } else { -1 }, "{columns}x{rows}");
    }
}

#[test]
fn boards_for_people() {
    insta::assert_snapshot!(Clobber::new(10, 10).board(), @r"
    10 w b w b w b w b w b
     9 b w b w b w b w b w
     8 w b w b w b w b w b
     7 b w b w b w b w b w
     6 w b w b w b w b w b
     5 b w b w b w b w b w
     4 w b w b w b w b w b
     3 b w b w b w b w b w
     2 w b w b w b w b w b
     1 b w b w b w b w b w
       a b c d e f g h i j
    black to move
    ");
    let over = random_game(Clobber::new(6, 5), 1).pop().unwrap();
    insta::assert_snapshot!(over.board(), @r"
    5 b . . b . b
    4 . . b . . .
    3 . . . . w .
    2 . w . . . w
    1 w . b . w .
      a b c d e f
    white wins: the side to move cannot move
    ");
}

#[test]
fn texts_that_are_not_positions_moves_or_rules() {
    let rules = Clobber::rules(2, 2).unwrap();
    let texts = ["wbbw", "wbbx b", "wbbw x", "wbbb b", "wbwwbw b"];
    let refusal = |text: &str| format!("{}\n", Clobber::parse(&rules, text).unwrap_err());
    insta::assert_snapshot!(texts.map(refusal).concat(), @r"
    the position's length is 4 instead of 6; write a Clobber position as 4 characters, row by row from the top left: b for black (who moves first), w for white, . for empty; then a space and who is to move, b or w
    character 4 of the position is 'x'; write a Clobber position as 4 characters, row by row from the top left: b for black (who moves first), w for white, . for empty; then a space and who is to move, b or w
    character 6 of the position is 'x'; write a Clobber position as 4 characters, row by row from the top left: b for black (who moves first), w for white, . for empty; then a space and who is to move, b or w
    3 black and 1 white stones cannot be on one board; give at most 2 black and 2 white ones, as at the start
    the position's length is 8 instead of 6; write a Clobber position as 4 characters, row by row from the top left: b for black (who moves first), w for white, . for empty; then a space and who is to move, b or w
    ");
    let position = Clobber::new(2, 2);
    let moves = ["a1", "a1-b2", "a1xa2", "a1-a1", "b1-c1", "a0-a1", "a1-a2-"];
    let moves = moves.map(|text| position.parse_move(text).unwrap_err().what);
    insta::assert_snapshot!(moves.join("\n"), @r"
    `a1` is not a Clobber move
    `a1-b2` is not a Clobber move
    `a1xa2` is not a Clobber move
    `a1-a1` is not a Clobber move
    `b1-c1` is not a Clobber move
    `a0-a1` is not a Clobber move
    `a1-a2-` is not a Clobber move
    ");
    insta::assert_snapshot!(Clobber::rules(1, 1).unwrap_err(), @"a board of one cell has no room for two stones; give it more columns or rows");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let game = random_game(Clobber::start(&Rules::usual::<Clobber>()).unwrap(), 1);
    let keys: Vec<u64> = game.iter().step_by(5).map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(keys, @"[2841631301095903, 8337131739192786, 2707280528714039, 3643964191063073, 6174979701385115]");
}
