//! Ultimate tic-tac-toe: nine boards of tic-tac-toe in a board of tic-tac-toe; the cell of a mark is the
//! board in which the other side must answer.
//!
//! The player x moves first, anywhere. A mark on a cell of one of the nine boards sends the other side to the
//! board that lies as that cell does in its own; if that board is decided, the other side may play in any board
//! that is not. Three marks in a row win a board, three boards in a row win the game. A full board without a
//! three belongs to neither side, and no marks are placed in decided boards. If all boards are decided without three in
//! a row, the game is drawn. These are the rules of Bertholon, Géraud-Stewart, Kugelmann, Lenoir & Naccache
//! 2020, "At most 43 moves, at least 29: optimal strategies and bounds for ultimate tic-tac-toe", and of
//! OpenSpiel.
//!
//! # Representation
//!
//! Nine bits for each board, for each side; and all cells that may still be marked, board by board, in a word of
//! 128 bits. So the legal moves of both kinds, in one board and in all, are bits of one word.

pub mod evaluation;
mod game;
mod knowledge;
mod lines;
mod notation;
mod symmetry;

use std::fmt;

use crate::core::bits::nth_of_128;
use crate::core::position::{Ending, Position, Side, SideName, mix_key};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};
use crate::core::wide::wide;

pub use symmetry::Orientation;

/// Three boards in a row are won.
pub const THREE_BOARDS: Termination = Termination::new(&TerminationInfo {
    name: "three_boards_in_a_row",
    words: "three boards in a row are won",
});
/// Every board is won or full, and neither side has three in a row.
pub const BOARDS_DECIDED: Termination = Termination::new(&TerminationInfo {
    name: "boards_decided",
    words: "every board is decided, and no three in a row are one side's",
});

/// The boards, and the cells of each.
const NINE: usize = 9;
/// All cells of a board.
const BOARD: u16 = 0o777;
/// All cells of all boards.
const ALL: u128 = (1 << (NINE * NINE)) - 1;

/// An ultimate tic-tac-toe position.
///
/// The notation is the 81 cells, `x` (who moves first), `o` or `.`, row by row from the top left, and after a
/// space the board in which the side to move must play, 1 (top left) to 9 row by row, or `-` if it may play in
/// any.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UltimateTicTacToe {
    /// The marks of x and o on each board.
    marks: [[u16; NINE]; 2],
    /// The boards that each side has won.
    won: [u16; 2],
    /// The empty cells of boards that are not decided, nine bits for each board; none if the game is over.
    open: u128,
    /// The board to play in, from 0, or [`ANY`].
    target: u8,
    to_move: Side,
}

/// In place of a board: any that is not decided.
const ANY: u8 = NINE as u8;

/// A mark on a cell. The notation is the cell's column, a to i from the left, and row, 1 to 9 from the top.
///
/// The order is by board, then by cell, row by row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UltimateTicTacToeMove(u8);

impl UltimateTicTacToeMove {
    /// The mark on a cell of a board, both numbered row by row from the top left (0 to 8).
    ///
    /// # Panics
    /// If one of them is not below 9.
    #[must_use]
    pub const fn new(board: usize, cell: usize) -> Self {
        assert!(board < NINE && cell < NINE, "there are 9 boards of 9 cells");
        Self((NINE * board + cell) as u8)
    }

    /// The board, numbered row by row from the top left (0 to 8).
    #[must_use]
    pub const fn board(self) -> usize {
        self.0 as usize / NINE
    }

    /// The cell in its board, numbered in the same way.
    #[must_use]
    pub const fn cell(self) -> usize {
        self.0 as usize % NINE
    }
}

impl UltimateTicTacToe {
    /// The empty boards.
    #[must_use]
    pub const fn empty() -> Self {
        Self { marks: [[0; NINE]; 2], won: [0; 2], open: ALL, target: ANY, to_move: Side::First }
    }

    /// The boards that x and o have won, as bits, the top left being the lowest.
    #[must_use]
    pub const fn boards_won(&self) -> [u16; 2] {
        self.won
    }

    /// The cells that may be marked, nine bits for each board.
    #[inline(always)]
    const fn legal(&self) -> u128 {
        if self.target == ANY {
            self.open
        } else {
            self.open & (BOARD as u128) << (NINE as u32 * self.target as u32)
        }
    }

    /// The empty cells of a board that is not decided.
    #[inline(always)]
    const fn open_in(&self, board: usize) -> u16 {
        (self.open >> (NINE * board)) as u16 & BOARD
    }

    /// The boards in which the side to move may play, as bits.
    #[inline]
    fn targets(&self) -> u16 {
        let is_target = |&board: &usize| self.target == ANY || usize::from(self.target) == board;
        let open = (0..NINE).filter(|&board| self.open_in(board) != 0);
        open.filter(is_target).fold(0, |boards, board| boards | 1 << board)
    }

    /// The boards that a side has not won and will not win.
    #[inline]
    fn closed_to(&self, side: Side) -> u16 {
        let undecided = (0..NINE).filter(|&board| self.open_in(board) != 0);
        let undecided = undecided.fold(0, |boards, board| boards | 1 << board);
        BOARD & !undecided & !self.won[side.index()]
    }

    /// The cells of a board with which a side wins the game; none unless the board is the third of a line.
    #[inline]
    fn winning_in(&self, board: usize, side: Side) -> u16 {
        if lines::completing(self.won[side.index()]) >> board & 1 == 0 {
            return 0;
        }
        lines::completing(self.marks[side.index()][board]) & self.open_in(board)
    }

    /// The marks of each side and the board to play in, mapped by a symmetry, 81 bits for each side; the bits
    /// above those of x are the board. The side to move follows from the number of marks.
    fn packed(&self, orientation: Orientation) -> [u128; 2] {
        let mut packed = self.marks.map(|boards| {
            (0..).zip(boards).fold(0, |packed, (board, marks)| {
                let image = u128::from(orientation.of_cells(marks));
                packed | image << (NINE * orientation.of_cell(board))
            })
        });
        let target =
            if self.target == ANY { 0 } else { 1 + orientation.of_cell(self.target.into()) };
        packed[0] |= (target as u128) << (NINE * NINE);
        packed
    }

    /// The least of the eight images, and the symmetry that maps to it.
    fn reduced(&self) -> ([u128; 2], Orientation) {
        let images = Orientation::all().map(|orientation| (self.packed(orientation), orientation));
        images.min_by_key(|&(image, _)| image).unwrap_or_default()
    }
}

/// Both halves of two words.
const fn halves([first, second]: [u128; 2]) -> [u64; 4] {
    [first as u64, (first >> 64) as u64, second as u64, (second >> 64) as u64]
}

impl Position for UltimateTicTacToe {
    type Move = UltimateTicTacToeMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "x", letter: 'x' }, SideName { word: "o", letter: 'o' }];

    const HISTORY_MATTERS: bool = false;

    #[inline]
    fn to_move(&self) -> Side {
        self.to_move
    }

    #[inline]
    fn ending(&self) -> Option<Ending> {
        if self.open != 0 {
            return None;
        }
        let mover = self.to_move.other();
        Some(if lines::has_line(self.won[mover.index()]) {
            Ending { winner: Some(mover), termination: THREE_BOARDS }
        } else {
            Ending { winner: None, termination: BOARDS_DECIDED }
        })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.open == 0
    }

    fn legal_moves(&self, moves: &mut Vec<UltimateTicTacToeMove>) {
        let mut legal = self.legal();
        while legal != 0 {
            moves.push(UltimateTicTacToeMove(legal.trailing_zeros() as u8));
            legal &= legal - 1;
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        self.legal().count_ones()
    }

    #[inline]
    fn nth_legal_move(&self, index: u32) -> UltimateTicTacToeMove {
        let legal = self.legal();
        assert!(index < legal.count_ones(), "there are fewer legal moves");
        UltimateTicTacToeMove(nth_of_128(legal, index) as u8)
    }

    #[inline]
    fn winning_move(&self) -> Option<UltimateTicTacToeMove> {
        let mut boards = lines::completing(self.won[self.to_move.index()]) & self.targets();
        while boards != 0 {
            let board = boards.trailing_zeros() as usize;
            let cells = self.winning_in(board, self.to_move);
            if cells != 0 {
                return Some(UltimateTicTacToeMove::new(board, cells.trailing_zeros() as usize));
            }
            boards &= boards - 1;
        }
        None
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        wide!({
            while plies < plies_max {
                let legal = self.legal();
                // There is always a move until the game is over.
                if legal == 0 {
                    break;
                }
                let cell = nth_of_128(legal, random.below(legal.count_ones()));
                self.play_unchecked(UltimateTicTacToeMove(cell as u8));
                plies += 1;
            }
        });
        plies
    }

    #[inline]
    fn is_legal(&self, mv: UltimateTicTacToeMove) -> bool {
        self.legal() >> mv.0 & 1 == 1
    }

    #[inline(always)]
    fn play_unchecked(&mut self, mv: UltimateTicTacToeMove) {
        let mover = self.to_move.index();
        let (board, cell) = (mv.board(), mv.cell());
        let marks = &mut self.marks[mover][board];
        *marks |= 1 << cell;
        self.open &= !(1 << mv.0);
        self.to_move = self.to_move.other();
        if lines::has_line(*marks) {
            self.won[mover] |= 1 << board;
            self.open &= !((BOARD as u128) << (NINE * board));
            if lines::has_line(self.won[mover]) {
                self.open = 0;
            }
        }
        self.target = if self.open_in(cell) == 0 { ANY } else { cell as u8 };
    }

    /// The marks and the board to play in, the least of the eight images, mixed.
    fn canonical_key(&self) -> u64 {
        mix_key(halves(self.reduced().0))
    }

    /// With the board to play in.
    fn status(&self) -> String {
        match self.ending() {
            Some(ending) => Self::describe(ending),
            None if self.target == ANY => {
                format!("any board: {} to move", Self::side_name(self.to_move))
            }
            None => {
                let board = self.target + 1;
                format!("board {board}: {} to move", Self::side_name(self.to_move))
            }
        }
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<UltimateTicTacToeMove, Problem> {
        notation::parse_move(text)
    }
}

impl Solvable for UltimateTicTacToe {
    type Solver = PlainSolver;
}

impl fmt::Display for UltimateTicTacToe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&notation::write(self))
    }
}

impl fmt::Debug for UltimateTicTacToe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UltimateTicTacToe({self})")
    }
}

impl fmt::Display for UltimateTicTacToeMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (column, row) = notation::place(self.board(), self.cell());
        write!(f, "{}{}", (b'a' + column as u8) as char, row + 1)
    }
}

impl fmt::Debug for UltimateTicTacToeMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
