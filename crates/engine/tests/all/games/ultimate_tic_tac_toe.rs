//! Ultimate tic-tac-toe against a slow reference.

use proptest::prelude::*;
use spelrum_engine::evaluation::Features;
use spelrum_engine::games::UltimateTicTacToe;
use spelrum_engine::games::ultimate_tic_tac_toe::{BOARDS_DECIDED, THREE_BOARDS};
use spelrum_engine::{Ending, Game, Played, Position, Side};

use super::evaluation::{evaluation, value};
use super::{moves_of, random, random_game};

/// A grid of nine rows of characters, and the last mark.
#[derive(Clone)]
struct Slow {
    cells: [[char; 9]; 9],
    last: Option<(usize, usize)>,
}

const fn other(mark: char) -> char {
    if mark == 'x' { 'o' } else { 'x' }
}

/// The marks of a board of nine, row by row, with three in a row of a mark.
fn has_three(board: &[char], mark: char) -> bool {
    three_by_three().iter().any(|line| line.iter().all(|&cell| board[cell] == mark))
}

fn three_by_three() -> [[usize; 3]; 8] {
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
}

/// Lines with so many of a mark and dots else.
fn lines_with(board: &[char], mark: char, number: usize) -> i32 {
    let count = |line: &[usize; 3], mark| line.iter().filter(|&&cell| board[cell] == mark).count();
    let is_it = |line: &&[usize; 3]| count(line, mark) == number && count(line, '.') == 3 - number;
    three_by_three().iter().filter(is_it).count() as i32
}

impl Slow {
    const fn new() -> Self {
        Self { cells: [['.'; 9]; 9], last: None }
    }

    fn count(&self, mark: char) -> usize {
        self.cells.as_flattened().iter().filter(|&&cell| cell == mark).count()
    }

    fn to_move(&self) -> char {
        if self.count('x') == self.count('o') { 'x' } else { 'o' }
    }

    /// The cells of the board in this row and column of boards.
    fn board(&self, row: usize, column: usize) -> Vec<char> {
        let rows = self.cells[3 * row..3 * row + 3].iter();
        rows.flat_map(|cells| cells[3 * column..3 * column + 3].to_vec()).collect()
    }

    fn boards(&self) -> Vec<Vec<char>> {
        (0..9).map(|board| self.board(board / 3, board % 3)).collect()
    }

    /// For each board its winner, `-` if it is full without one, or a dot.
    fn decided(&self) -> Vec<char> {
        let decided =
            |board: &Vec<char>| match ['x', 'o'].iter().find(|&&mark| has_three(board, mark)) {
                Some(&mark) => mark,
                None if board.contains(&'.') => '.',
                None => '-',
            };
        self.boards().iter().map(decided).collect()
    }

    fn ending(&self) -> Option<Ending> {
        let decided = self.decided();
        for (mark, side) in [('x', Side::First), ('o', Side::Second)] {
            if has_three(&decided, mark) {
                return Some(Ending { winner: Some(side), termination: THREE_BOARDS });
            }
        }
        let is_over = !decided.contains(&'.');
        is_over.then_some(Ending { winner: None, termination: BOARDS_DECIDED })
    }

    /// The board to play in; `None` if it may be any.
    fn target(&self) -> Option<usize> {
        let (row, column) = self.last?;
        let board = row % 3 * 3 + column % 3;
        (self.ending().is_none() && self.decided()[board] == '.').then_some(board)
    }

    fn moves(&self) -> Vec<(usize, usize)> {
        if self.ending().is_some() {
            return Vec::new();
        }
        let (decided, target) = (self.decided(), self.target());
        let cells = (0..9).flat_map(|row| (0..9).map(move |column| (row, column)));
        let is_legal = |&(row, column): &(usize, usize)| {
            let board = row / 3 * 3 + column / 3;
            let is_target = target.is_none_or(|target| target == board);
            self.cells[row][column] == '.' && decided[board] == '.' && is_target
        };
        cells.filter(is_legal).collect()
    }

    fn play(&self, (row, column): (usize, usize)) -> Self {
        let mut next = self.clone();
        next.cells[row][column] = self.to_move();
        next.last = Some((row, column));
        next
    }

    fn text(&self) -> String {
        let cells: String = self.cells.as_flattened().iter().collect();
        let target = self.target().map_or("-".to_owned(), |board| (board + 1).to_string());
        format!("{cells} {target}")
    }

    fn feature(&self, name: &str, mark: char) -> i32 {
        let decided = self.decided();
        let open =
            || self.boards().into_iter().zip(&decided).filter(|(_, decided)| **decided == '.');
        match name {
            "boards" => decided.iter().filter(|&&winner| winner == mark).count() as i32,
            "boards1" => lines_with(&decided, mark, 1),
            "boards2" => lines_with(&decided, mark, 2),
            "line1" => open().map(|(board, _)| lines_with(&board, mark, 1)).sum(),
            "line2" => open().map(|(board, _)| lines_with(&board, mark, 2)).sum(),
            "marks" => self.count(mark) as i32,
            "empty" => open()
                .map(|(board, _)| board.iter().filter(|&&cell| cell == '.').count() as i32)
                .sum(),
            "any_board" => i32::from(self.target().is_none()),
            other => panic!("{other}"),
        }
    }
}

fn name((row, column): (usize, usize)) -> String {
    format!("{}{}", (b'a' + column as u8) as char, row + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn positions_are_their_slow_twins(plies in 0_u32..75, seed: u64) {
        let rules = UltimateTicTacToe::rules();
        let (mut position, mut slow) = (UltimateTicTacToe::empty(), Slow::new());
        let mut random = random(seed);
        for _ in 0..plies {
            let moves = slow.moves();
            let going: Vec<_> =
                moves.iter().copied().filter(|&mv| slow.play(mv).ending().is_none()).collect();
            let choice = if going.is_empty() || random.below(20) == 0 { moves } else { going };
            if choice.is_empty() {
                break;
            }
            let mv = choice[random.below(choice.len() as u32) as usize];
            position.play_unchecked(position.parse_move(&name(mv)).unwrap());
            slow = slow.play(mv);
        }
        prop_assert_eq!(position.to_string(), slow.text());
        prop_assert_eq!(position.ending(), slow.ending(), "{:?}", position);
        let mut expected: Vec<String> = slow.moves().into_iter().map(name).collect();
        let mut moves: Vec<String> = moves_of(&position).iter().map(ToString::to_string).collect();
        expected.sort_unstable();
        moves.sort_unstable();
        prop_assert_eq!(moves, expected, "{:?}", position);
        if slow.ending().is_some() {
            return Ok(());
        }
        let mark = slow.to_move();
        prop_assert_eq!(position.to_move(), if mark == 'x' { Side::First } else { Side::Second });
        let weights = [9_999, 803, -1_201, 17, 29];
        let names = ["boards", "boards1", "boards2", "line1", "line2"];
        let lead = |name| slow.feature(name, mark) - slow.feature(name, other(mark));
        let expected: i32 = names.into_iter().zip(weights).map(|(name, weight)| weight * lead(name)).sum();
        let by_weights = evaluation(&rules, "boards", &weights);
        prop_assert_eq!(value(&by_weights, &position), expected, "{:?}", position);
        for (index, info) in (0..).zip(UltimateTicTacToe::FEATURES) {
            for (side, mark) in [(Side::First, 'x'), (Side::Second, 'o')] {
                let counted = match info.name.split_once('_') {
                    Some(("own", name)) => slow.feature(name, mark),
                    Some(("opp", name)) => slow.feature(name, other(mark)),
                    _ => slow.feature(info.name, mark),
                };
                let mut feature = [f64::NAN];
                position.features(side, &[index], &mut feature);
                prop_assert_eq!(feature[0], f64::from(counted), "{} of {:?}", info.name, position);
            }
        }
    }
}

fn played(moves: &str) -> UltimateTicTacToe {
    Played::parse(&UltimateTicTacToe::rules(), moves).unwrap().last()
}

#[test]
fn boards_for_people() {
    insta::assert_snapshot!(played("e5 f6").board(), @r"
      a b c  d e f  g h i
    1 . . .  . . .  . . .
    2 . . .  . . .  . . .
    3 . . .  . . .  . . .

    4 . . .  . . .  . . .
    5 . . .  . x .  . . .
    6 . . .  . . o  . . .

    7 . . .  . . .  . . .
    8 . . .  . . .  . . .
    9 . . .  . . .  . . .
    board 9: x to move
    ");
    let over = random_game(UltimateTicTacToe::empty(), 1).pop().unwrap();
    insta::assert_snapshot!(over.board(), @r"
      a b c  d e f  g h i
    1 o o .  . o .  x o x
    2 x x x  x o .  x x o
    3 o o x  . o .  o x x

    4 o x o  x o x  o x x
    5 x o o  o o x  o o x
    6 o o x  x x o  x o o

    7 . o o  x x .  x . o
    8 . o .  x x x  . . o
    9 x o x  x o o  x x o
    x has won: 1 3 8
    o has won: 2 4 6 7 9
    a draw: every board is decided, and no three in a row are one side's
    ");
}

#[test]
fn texts_that_are_not_positions_or_moves() {
    let rules = UltimateTicTacToe::rules();
    let empty = ".".repeat(81);
    let cells = |marks: &[(usize, char)], target: char| {
        let mut cells: Vec<char> = empty.chars().collect();
        marks.iter().for_each(|&(place, mark)| cells[place] = mark);
        format!("{} {target}", cells.into_iter().collect::<String>())
    };
    let threes = [(0, 'x'), (1, 'x'), (2, 'x'), (9, 'o'), (10, 'o'), (11, 'o')];
    let texts = [
        empty.clone(),
        cells(&[], '0'),
        cells(&[(4, 'z')], '-'),
        cells(&[(4, 'o')], '5'),
        cells(&threes, '1'),
        cells(&[(0, 'x')], '-'),
        cells(&[(0, 'x')], '2'),
    ];
    let refusal =
        |text: &String| format!("{}\n", UltimateTicTacToe::parse(&rules, text).unwrap_err());
    insta::assert_snapshot!(texts.iter().map(refusal).collect::<String>(), @r"
    the position's length is 81 instead of 83; write an ultimate tic-tac-toe position as 81 characters, row by row from the top left: x (who moves first), o, . for empty; then a space and the board to play in, 1 (top left) to 9, or -
    character 83 of the position is '0'; write an ultimate tic-tac-toe position as 81 characters, row by row from the top left: x (who moves first), o, . for empty; then a space and the board to play in, 1 (top left) to 9, or -
    character 5 of the position is 'z'; write an ultimate tic-tac-toe position as 81 characters, row by row from the top left: x (who moves first), o, . for empty; then a space and the board to play in, 1 (top left) to 9, or -
    0 x and 1 o cannot be on the boards; x moves first: give as many x as o, or one more
    both sides have three in a row on board 1; no marks are placed on a board after the first three: leave one of them
    no mark of the side that moved last gives a free choice; name the board that lies as the last mark does in its own, or - if that board is decided
    no mark of the side that moved last leads to board 2; name the board that lies as the last mark does in its own, or - if that board is decided
    ");
    let moves = ["a0", "j1", "a10"].map(|text| played("").parse_move(text).unwrap_err().what);
    insta::assert_snapshot!(moves.join("\n"), @r"
    `a0` is not an ultimate tic-tac-toe move
    `j1` is not an ultimate tic-tac-toe move
    `a10` is not an ultimate tic-tac-toe move
    ");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let game = random_game(UltimateTicTacToe::empty(), 1);
    let keys: Vec<u64> = game.iter().step_by(16).map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(keys, @"[1167743916529920, 1318291313307212, 6318726261373975, 8284872406073671, 6796360371586258]");
}
