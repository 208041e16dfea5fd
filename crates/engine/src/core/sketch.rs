//! A small picture of a position, as data. Drawing it is the caller's part.

use crate::core::position::{Position, Side};

/// A position as something to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sketch {
    /// A board of cells.
    Board {
        /// Cells in a row.
        columns: usize,
        /// A stronger line follows after every `block` columns and rows.
        block: usize,
        /// The look of each side's stones.
        pieces: [Piece; 2],
        /// The side of each cell's stone, row by row from the top left.
        cells: Vec<Option<Side>>,
    },
    /// A board of pieces of several kinds.
    Pieces {
        /// Cells in a row.
        columns: usize,
        /// The letter of each cell's piece, row by row from the top left: a capital for the first side.
        cells: Vec<Option<char>>,
    },
    /// Objects in heaps.
    Heaps(Vec<u32>),
    /// A game without a picture: the position in its notation.
    Notation(String),
}

/// The look of a stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A cross.
    Cross,
    /// An open circle.
    Ring,
    /// A filled circle.
    Disc,
}

impl Sketch {
    /// The board of a position whose notation has a character for each cell, row by row from the top left: a
    /// side's letter, or a dot for an empty cell. Other characters are skipped.
    #[must_use]
    pub fn of_board<P: Position>(
        position: &P,
        columns: usize,
        block: usize,
        pieces: [Piece; 2],
    ) -> Self {
        let [first, second] = P::SIDES.map(|side| side.letter);
        let cell = |character: char| match character {
            '.' => Some(None),
            letter if letter == first => Some(Some(Side::First)),
            letter if letter == second => Some(Some(Side::Second)),
            _ => None,
        };
        let cells = position.to_string().chars().filter_map(cell).collect();
        Self::Board { columns, block, pieces, cells }
    }
}
