//! Breakthrough against a slow reference and known values.

use proptest::prelude::*;
use spelrum_engine::evaluation::Features;
use spelrum_engine::games::Breakthrough;
use spelrum_engine::games::breakthrough::{ALL_CAPTURED, FAR_ROW};
use spelrum_engine::search::Limits;
use spelrum_engine::{Ending, Game, Position, Rules, Side, Timeless, solve};

use super::evaluation::{evaluation, value};
use super::{moves_of, random, random_game};

/// Breakthrough on a grid of characters, the bottom row first.
#[derive(Clone)]
struct Slow {
    cells: Vec<Vec<char>>,
    to_move: char,
}

const fn other(side: char) -> char {
    if side == 'w' { 'b' } else { 'w' }
}

impl Slow {
    fn new(columns: usize, rows: usize, pawn_rows: usize) -> Self {
        let row = |row| {
            let pawn = match row {
                row if row < pawn_rows => 'w',
                row if row >= rows - pawn_rows => 'b',
                _ => '.',
            };
            vec![pawn; columns]
        };
        Self { cells: (0..rows).map(row).collect(), to_move: 'w' }
    }

    fn text(&self) -> String {
        let cells: String = self.cells.iter().rev().flatten().collect();
        format!("{cells} {}", self.to_move)
    }

    fn at(&self, row: i32, column: i32) -> Option<char> {
        let row = self.cells.get(usize::try_from(row).ok()?)?;
        row.get(usize::try_from(column).ok()?).copied()
    }

    fn pawns(&self, side: char) -> Vec<(i32, i32)> {
        let rows = (0..).zip(&self.cells);
        let cells =
            rows.flat_map(|(row, cells)| (0..).zip(cells).map(move |(c, cell)| (row, c, cell)));
        cells.filter(|(.., cell)| **cell == side).map(|(row, column, _)| (row, column)).collect()
    }

    /// The rows from a side's own edge.
    fn advanced(&self, side: char, row: i32) -> i32 {
        if side == 'w' { row } else { self.cells.len() as i32 - 1 - row }
    }

    fn ending(&self) -> Option<Ending> {
        let mover = other(self.to_move);
        let last = self.cells.len() as i32 - 1;
        let winner = Some(if mover == 'w' { Side::First } else { Side::Second });
        if self.pawns(mover).iter().any(|&(row, _)| self.advanced(mover, row) == last) {
            return Some(Ending { winner, termination: FAR_ROW });
        }
        let is_wiped_out = self.pawns(self.to_move).is_empty();
        is_wiped_out.then_some(Ending { winner, termination: ALL_CAPTURED })
    }

    /// Every move of a side as text, and the grid after it.
    fn moves(&self, side: char) -> Vec<(String, Self)> {
        let up = if side == 'w' { 1 } else { -1 };
        let mut moves = Vec::new();
        for (row, column) in self.pawns(side) {
            for step in [-1, 0, 1] {
                let (to_row, to_column) = (row + up, column + step);
                let sign = match self.at(to_row, to_column) {
                    Some('.') => '-',
                    Some(cell) if cell != side && step != 0 => 'x',
                    _ => continue,
                };
                let name = |row, column| format!("{}{}", (b'a' + column as u8) as char, row + 1);
                let text = format!("{}{sign}{}", name(row, column), name(to_row, to_column));
                let mut next = self.clone();
                next.cells[row as usize][column as usize] = '.';
                next.cells[to_row as usize][to_column as usize] = side;
                next.to_move = other(side);
                moves.push((text, next));
            }
        }
        moves
    }

    fn feature(&self, name: &str, side: char) -> i32 {
        let pawns = self.pawns(side);
        let advanced = pawns.iter().map(|&(row, _)| self.advanced(side, row));
        let back = if side == 'w' { -1 } else { 1 };
        match name {
            "pawns" => pawns.len() as i32,
            "advance" => advanced.sum(),
            "foremost" => advanced.max().unwrap_or(0),
            "guarded" => {
                let is_guarded = |&&(row, column): &&(i32, i32)| {
                    [-1, 1].iter().any(|step| self.at(row + back, column + step) == Some(side))
                };
                pawns.iter().filter(is_guarded).count() as i32
            }
            "moves" => self.moves(side).len() as i32,
            "captures" => {
                self.moves(side).iter().filter(|(text, _)| text.contains('x')).count() as i32
            }
            other => panic!("{other}"),
        }
    }

    /// 1 if the side to move wins, else -1.
    fn solve(&self) -> i32 {
        if self.ending().is_some() {
            return -1;
        }
        self.moves(self.to_move).iter().map(|(_, next)| -next.solve()).max().unwrap()
    }
}

fn sizes() -> impl Strategy<Value = (u32, u32, u32)> {
    (3_u32..=8, 3_u32..=8, 1_u32..=2)
        .prop_filter("room", |&(_, rows, pawn_rows)| 2 * pawn_rows <= rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn positions_are_their_slow_twins((columns, rows, pawn_rows) in sizes(), plies in 0..80, seed: u64) {
        let rules = Breakthrough::rules(columns, rows, pawn_rows).unwrap();
        let mut position = Breakthrough::start(&rules).unwrap();
        let mut slow = Slow::new(columns as usize, rows as usize, pawn_rows as usize);
        let mut random = random(seed);
        for _ in 0..plies {
            let moves = slow.moves(slow.to_move);
            let going: Vec<_> = moves.iter().filter(|(_, next)| next.ending().is_none()).collect();
            let all: Vec<_> = moves.iter().collect();
            let choice = if going.is_empty() || random.below(20) == 0 { all } else { going };
            let (text, next) = choice[random.below(choice.len() as u32) as usize];
            let mv = position.parse_move(text).unwrap();
            prop_assert!(position.is_legal(mv), "{} in {:?}", text, position);
            position.play_unchecked(mv);
            slow = next.clone();
            if slow.ending().is_some() {
                break;
            }
        }
        prop_assert_eq!(position.to_string(), slow.text());
        prop_assert_eq!(position.ending(), slow.ending(), "{:?}", position);
        if slow.ending().is_some() {
            return Ok(());
        }
        let mut expected: Vec<String> = slow.moves(slow.to_move).into_iter().map(|(text, _)| text).collect();
        let mut moves: Vec<String> = moves_of(&position).iter().map(ToString::to_string).collect();
        expected.sort_unstable();
        moves.sort_unstable();
        prop_assert_eq!(moves, expected, "{:?}", position);

        let weights = [5_000, 701, -83, 9];
        let names = ["pawns", "advance", "guarded", "foremost"];
        let lead = |name| slow.feature(name, slow.to_move) - slow.feature(name, other(slow.to_move));
        let expected: i32 = names.into_iter().zip(weights).map(|(name, weight)| weight * lead(name)).sum();
        prop_assert_eq!(value(&evaluation(&rules, "pieces", &weights), &position), expected, "{:?}", position);
        for (index, info) in (0..).zip(Breakthrough::FEATURES) {
            for (side, letter) in [(Side::First, 'w'), (Side::Second, 'b')] {
                let (whose, name) = info.name.split_once('_').unwrap();
                let owner = if whose == "own" { letter } else { other(letter) };
                let mut counted = [f64::NAN];
                position.features(side, &[index], &mut counted);
                prop_assert_eq!(counted[0], f64::from(slow.feature(name, owner)), "{} of {:?}", info.name, position);
            }
        }
    }
}

fn solved(columns: u32, rows: u32, pawn_rows: u32) -> i32 {
    let rules = Breakthrough::rules(columns, rows, pawn_rows).unwrap();
    let start = Breakthrough::start(&rules).unwrap();
    solve(&rules, &start.to_string(), &Limits::default(), &Timeless).unwrap().value
}

/// Small boards by the twin's plain search.
#[test]
fn small_boards_have_the_values_of_plain_search() {
    for (columns, rows) in [(3, 3), (3, 4), (4, 3)] {
        let slow = Slow::new(columns as usize, rows as usize, 1);
        assert_eq!(solved(columns, rows, 1), slow.solve(), "{columns}x{rows}");
    }
}

#[test]
fn boards_for_people() {
    let start = Breakthrough::new(5, 6, 2);
    insta::assert_snapshot!(start.board(), @r"
    6 b b b b b
    5 b b b b b
    4 . . . . .
    3 . . . . .
    2 w w w w w
    1 w w w w w
      a b c d e
    white to move
    ");
    let over = random_game(Breakthrough::new(8, 8, 2), 1).pop().unwrap();
    insta::assert_snapshot!(over.board(), @r"
    8 . b . . . . . .
    7 . b b w . b w b
    6 . . . . b . b b
    5 . b w . . . . .
    4 . . w . b . . b
    3 w . . . . b w w
    2 w . w w . w w .
    1 . w b . . . . .
      a b c d e f g h
    black wins: a pawn reached the far row
    ");
}

fn refusals(texts: &[&str]) -> String {
    let rules = Breakthrough::rules(3, 4, 1).unwrap();
    let refusal = |text: &&str| format!("{}\n", Breakthrough::parse(&rules, text).unwrap_err());
    texts.iter().map(refusal).collect()
}

#[test]
fn texts_that_are_not_positions_moves_or_rules() {
    insta::assert_snapshot!(refusals(&[
        "bbb......www",
        "bbb.....xwww w",
        "bbb......www x",
        "bbb......www-w",
        "bbbbbb...www w",
        "wbb......w.w w",
        "wwb......w.. b",
    ]), @r"
    the position's length is 12 instead of 14; write a Breakthrough position as 12 characters, row by row from the top left: w for white, b for black, . for empty; then a space and who is to move, w or b
    character 9 of the position is 'x'; write a Breakthrough position as 12 characters, row by row from the top left: w for white, b for black, . for empty; then a space and who is to move, w or b
    character 14 of the position is 'x'; write a Breakthrough position as 12 characters, row by row from the top left: w for white, b for black, . for empty; then a space and who is to move, w or b
    character 13 of the position is '-'; write a Breakthrough position as 12 characters, row by row from the top left: w for white, b for black, . for empty; then a space and who is to move, w or b
    3 white and 6 black pawns cannot be on one board; give each side at most 3 pawns, as at the start
    the side to move has won already; the game ends with the first pawn on the far row and with the last capture: take back the moves after it
    several pawns stand on the far row; the game ends with the first pawn there: leave one
    ");
    let position = Breakthrough::new(3, 4, 1);
    let texts = ["a1", "a1-a3", "a1xa2", "a1-c2", "d1-d2", "a4-a5", "a1-a2 ", "a1-a02"];
    let moves = texts.map(|text| position.parse_move(text).unwrap_err().what);
    insta::assert_snapshot!(moves.join("\n"), @r"
    `a1` is not a Breakthrough move
    `a1-a3` is not a Breakthrough move
    `a1xa2` is not a Breakthrough move
    `a1-c2` is not a Breakthrough move
    `d1-d2` is not a Breakthrough move
    `a4-a5` is not a Breakthrough move
    `a1-a2 ` is not a Breakthrough move
    `a1-a02` is not a Breakthrough move
    ");
    insta::assert_snapshot!(Breakthrough::rules(5, 3, 2).unwrap_err(), @"3 rows have no room for 2 rows of pawns on either side; give a board of 3 rows pawn_rows = 1");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let game = random_game(Breakthrough::start(&Rules::usual::<Breakthrough>()).unwrap(), 1);
    let keys: Vec<u64> = game.iter().step_by(16).map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(keys, @"[5139231242484377, 140394014556876, 1995782388071000, 3359427038960405, 4282871081298747]");
}
