//! Rectangular boards as text, with columns named by letters from the left and rows numbered from the bottom.
//!
//! A position is written as a character for each cell, row by row from the top left, and after a space the
//! letter of the side to move.

use crate::core::position::{Position, Side};
use crate::core::sketch::{Mark, Marked, Piece, Sketch};

/// The size of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grid {
    /// Cells in a row, at most 26.
    pub(super) columns: u32,
    /// Rows.
    pub(super) rows: u32,
}

/// A cell by its column from the left and its row from the bottom, both from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) column: u32,
    pub(super) row: u32,
}

impl Cell {
    pub(super) const fn new(column: u32, row: u32) -> Self {
        Self { column, row }
    }

    /// The cell at the beginning of a text, such as `c10`, and the rest of the text.
    pub(super) fn parse(text: &str) -> Option<(Self, &str)> {
        let letter = text.bytes().next().filter(u8::is_ascii_lowercase)?;
        let rest = &text[1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at(digits);
        if number.starts_with('0') {
            return None;
        }
        let row = number.parse::<u32>().ok()?.checked_sub(1)?;
        Some((Self::new(u32::from(letter - b'a'), row), rest))
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", (b'a' + self.column as u8) as char, self.row + 1)
    }
}

impl Grid {
    /// The number of cells.
    pub(super) const fn cells(self) -> u32 {
        self.columns * self.rows
    }

    /// Whether the cell is on the board.
    pub(super) const fn has(self, cell: Cell) -> bool {
        cell.column < self.columns && cell.row < self.rows
    }

    /// The cells row by row from the top left.
    pub(super) fn cells_from_top(self) -> impl Iterator<Item = Cell> {
        let row = move |row| (0..self.columns).map(move |column| Cell::new(column, row));
        (0..self.rows).rev().flat_map(row)
    }

    /// Writes a position, `letter` giving the character of a cell.
    pub(super) fn write<P: Position>(self, position: &P, letter: impl Fn(Cell) -> char) -> String {
        let mut text: String = self.cells_from_top().map(letter).collect();
        text.push(' ');
        text.push(P::SIDES[position.to_move().index()].letter);
        text
    }

    /// Reads a position: passes on each cell whose character is one of `letters`, with the character's place
    /// among them, and returns the side to move. All other cells must be dots.
    ///
    /// # Errors
    /// If the text has another length, or another character.
    pub(super) fn read<P: Position>(
        self,
        text: &str,
        letters: &[char],
        mut put: impl FnMut(Cell, usize),
    ) -> Result<Side, String> {
        let [length, expected] = [text.chars().count(), self.cells() as usize + 2];
        if length != expected {
            return Err(format!("the position's length is {length} instead of {expected}"));
        }
        let mut characters = (1..).zip(text.chars());
        for (cell, (place, character)) in self.cells_from_top().zip(&mut characters) {
            if let Some(letter) = letters.iter().position(|&letter| letter == character) {
                put(cell, letter);
            } else if character != '.' {
                return Err(format!("character {place} of the position is {character:?}"));
            }
        }
        let [first, second] = P::SIDES.map(|side| side.letter);
        let error = |place, other| Err(format!("character {place} of the position is {other:?}"));
        match (characters.next(), characters.next()) {
            (Some((_, ' ')), Some((_, letter))) if letter == first => Ok(Side::First),
            (Some((_, ' ')), Some((_, letter))) if letter == second => Ok(Side::Second),
            (Some((_, ' ')), Some((place, other))) | (Some((place, other)), _) => {
                error(place, other)
            }
            (None, _) => error(expected, ' '),
        }
    }

    /// A board for people: rows with their numbers, and the columns' letters below.
    pub(super) fn board(self, letter: impl Fn(Cell) -> char) -> String {
        let width = self.rows.to_string().len();
        let mut board = String::new();
        for row in (0..self.rows).rev() {
            board.push_str(&format!("{:>width$}", row + 1));
            for column in 0..self.columns {
                board.push(' ');
                board.push(letter(Cell::new(column, row)));
            }
            board.push('\n');
        }
        board.push_str(&" ".repeat(width));
        for column in 0..self.columns {
            board.push(' ');
            board.push((b'a' + column as u8) as char);
        }
        board.push('\n');
        board
    }

    /// A picture of the board, by the side of each cell's stone.
    pub(super) fn sketch(self, pieces: [Piece; 2], side: impl Fn(Cell) -> Option<Side>) -> Sketch {
        let columns = self.columns as usize;
        let cells = self.cells_from_top().map(side).collect();
        Sketch::Board { columns, block: columns, pieces, cells }
    }

    /// The marks of a piece's move from one cell to another, also where it captures.
    pub(super) fn marks_of_move(self, from: Cell, to: Cell) -> Vec<Marked> {
        let marked = |cell: Cell, mark| {
            let place = (self.rows - 1 - cell.row) * self.columns + cell.column;
            Marked { place: place as usize, mark }
        };
        vec![marked(from, Mark::Left), marked(to, Mark::Reached)]
    }
}
