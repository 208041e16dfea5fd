//! Tic-tac-toe: 3×3 cells, three in a row wins.

pub mod evaluation;
mod game;

use std::fmt;

use crate::core::knowledge::Knowledge;
use crate::core::position::{Ending, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};

/// Three in a row.
pub const THREE_IN_A_ROW: Termination =
    Termination::new(&TerminationInfo { name: "three_in_a_row", words: "three in a row" });

const BOARD: u16 = 0o777;
/// The eight lines of three cells. A cell's bit is its number, row by row from the top left.
pub(super) const LINES: [u16; 8] =
    [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0b100_010_001, 0b001_010_100];
/// The image of each cell under the eight symmetries of the board.
const SYMMETRIES: [[u8; 9]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
    [2, 5, 8, 1, 4, 7, 0, 3, 6],
    [8, 7, 6, 5, 4, 3, 2, 1, 0],
    [6, 3, 0, 7, 4, 1, 8, 5, 2],
    [2, 1, 0, 5, 4, 3, 8, 7, 6],
    [0, 3, 6, 1, 4, 7, 2, 5, 8],
    [6, 7, 8, 3, 4, 5, 0, 1, 2],
    [8, 5, 2, 7, 4, 1, 6, 3, 0],
];

/// A tic-tac-toe position.
///
/// The notation is nine characters, `x` (white, who moves first), `o` or `.`, row by row from the
/// top left.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TicTacToe {
    /// Marks of white and of black.
    marks: [u16; 2],
}

/// A mark on a cell. The notation is column a to c from the left and row 1 to 3 from the top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TicTacToeMove(u8);

impl TicTacToeMove {
    /// The move on a cell, numbered row by row from the top left (0 to 8).
    ///
    /// # Panics
    /// If `cell` is not below 9.
    #[must_use]
    pub const fn new(cell: u32) -> Self {
        assert!(cell < 9, "a tic-tac-toe board has 9 cells");
        Self(cell as u8)
    }

    /// The cell, numbered row by row from the top left (0 to 8).
    #[must_use]
    pub const fn cell(self) -> u32 {
        self.0 as u32
    }
}

impl TicTacToe {
    /// The empty board.
    #[must_use]
    pub const fn empty() -> Self {
        Self { marks: [0; 2] }
    }

    /// Marks of the side to move and of the opponent.
    pub(super) fn own_and_other(&self) -> [u16; 2] {
        let mover = self.to_move().index();
        [self.marks[mover], self.marks[1 - mover]]
    }

    fn empty_cells(&self) -> u16 {
        BOARD & !(self.marks[0] | self.marks[1])
    }

    /// The cells that may be marked: none if the game is over.
    fn open_cells(&self) -> u16 {
        if self.is_over() { 0 } else { self.empty_cells() }
    }
}

fn has_three(marks: u16) -> bool {
    LINES.iter().any(|line| marks & line == *line)
}

fn image(marks: u16, symmetry: &[u8; 9]) -> u16 {
    (0..9)
        .filter(|cell| marks >> cell & 1 == 1)
        .fold(0, |image, cell: usize| image | 1 << symmetry[cell])
}

impl Position for TicTacToe {
    type Move = TicTacToeMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "x", letter: 'x' }, SideName { word: "o", letter: 'o' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        let marks = (self.marks[0] | self.marks[1]).count_ones();
        if marks.is_multiple_of(2) { Side::First } else { Side::Second }
    }

    fn ending(&self) -> Option<Ending> {
        let three = THREE_IN_A_ROW;
        if has_three(self.marks[0]) {
            Some(Ending { winner: Some(Side::First), termination: three })
        } else if has_three(self.marks[1]) {
            Some(Ending { winner: Some(Side::Second), termination: three })
        } else if self.empty_cells() == 0 {
            Some(Ending { winner: None, termination: Termination::FULL_BOARD })
        } else {
            None
        }
    }

    fn legal_moves(&self, moves: &mut Vec<TicTacToeMove>) {
        let open = self.open_cells();
        moves.extend((0..9).filter(|cell| open >> cell & 1 == 1).map(TicTacToeMove));
    }

    fn legal_move_count(&self) -> u32 {
        self.open_cells().count_ones()
    }

    fn nth_legal_move(&self, index: u32) -> TicTacToeMove {
        let mut open = self.open_cells();
        assert!(index < open.count_ones(), "there are fewer legal moves");
        for _ in 0..index {
            open &= open - 1;
        }
        TicTacToeMove(open.trailing_zeros() as u8)
    }

    fn is_legal(&self, mv: TicTacToeMove) -> bool {
        self.open_cells() >> mv.0 & 1 == 1
    }

    fn play_unchecked(&mut self, mv: TicTacToeMove) {
        self.marks[self.to_move().index()] |= 1 << mv.0;
    }

    /// The marks of white (nine bits) above those of black, least among the eight images: exact.
    fn canonical_key(&self) -> u64 {
        let key = |symmetry| {
            let [white, black] = self.marks.map(|marks| u64::from(image(marks, symmetry)));
            white << 9 | black
        };
        SYMMETRIES.iter().map(key).fold(u64::MAX, u64::min)
    }

    /// One move for each empty cell, until the board is full.
    fn full_tree_leaves(&self, depth: u32) -> Option<u64> {
        let moves = u64::from(self.legal_move_count());
        Some(crate::core::position::product_of_moves((1..=moves).rev(), depth))
    }

    fn board(&self) -> String {
        let text: Vec<char> = self.to_string().chars().collect();
        let mut board = String::from("   a b c\n");
        for (row, cells) in text.chunks(3).enumerate() {
            board.push_str(&format!("{}  {} {} {}\n", row + 1, cells[0], cells[1], cells[2]));
        }
        board.push_str(&self.status());
        board
    }

    fn parse_move(&self, text: &str) -> Result<TicTacToeMove, Problem> {
        match text.as_bytes() {
            [column @ b'a'..=b'c', row @ b'1'..=b'3'] => {
                Ok(TicTacToeMove((row - b'1') * 3 + column - b'a'))
            }
            _ => Err(Problem::new(
                format!("`{text}` is not a tic-tac-toe move"),
                "write a cell from a1 (top left) to c3",
            )),
        }
    }
}

impl Knowledge for TicTacToe {
    const MOVE_CODES: usize = 9;

    type Orientation = ();

    fn move_code(mv: TicTacToeMove) -> u16 {
        u16::from(mv.0)
    }

    fn table_key(&self) -> u64 {
        let [white, black] = self.marks.map(u64::from);
        white << 9 | black
    }

    fn symmetric_table_key(&self) -> u64 {
        self.canonical_key()
    }

    fn plies_left(&self) -> u32 {
        self.legal_move_count()
    }
}

impl Solvable for TicTacToe {
    type Solver = PlainSolver;
}

/// Reads a position.
fn parse(text: &str) -> Result<TicTacToe, Problem> {
    let error = |problem: String| {
        Problem::new(
            problem,
            "write a tic-tac-toe position as nine characters, row by row from the top left: \
                 x (who moves first), o, . for empty",
        )
    };
    let mut position = TicTacToe::empty();
    let mut length = 0;
    for (cell, character) in text.chars().enumerate() {
        length += 1;
        let side = match character {
            '.' => continue,
            'x' => 0,
            'o' => 1,
            other => {
                let place = cell + 1;
                return Err(error(format!("character {place} of the position is {other:?}")));
            }
        };
        if cell < 9 {
            position.marks[side] |= 1 << cell;
        }
    }
    if length != 9 {
        return Err(error(format!("the position's length is {length} instead of 9")));
    }
    check_reachable(&position)?;
    Ok(position)
}

/// The marks must alternate from x on, and no move may follow a three.
fn check_reachable(position: &TicTacToe) -> Result<(), Problem> {
    let [crosses, noughts] = position.marks.map(u16::count_ones);
    if crosses != noughts && crosses != noughts + 1 {
        return Err(Problem::new(
            format!("{crosses} x and {noughts} o cannot be on one board"),
            "x moves first: give as many x as o, or one more",
        ));
    }
    let [own, _] = position.own_and_other();
    if has_three(own) {
        return Err(Problem::new(
            "the player to move has three in a row already",
            "the game ends with the first three: take back the moves after it",
        ));
    }
    Ok(())
}

impl fmt::Display for TicTacToe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..9).try_for_each(|cell| {
            f.write_str(match self.marks.map(|marks| marks >> cell & 1) {
                [0, 0] => ".",
                [0, _] => "o",
                _ => "x",
            })
        })
    }
}

impl fmt::Debug for TicTacToe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TicTacToe({self})")
    }
}

impl fmt::Display for TicTacToeMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'a' + self.0 % 3) as char, self.0 / 3 + 1)
    }
}

impl fmt::Debug for TicTacToeMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
