//! What is drawn of a position where there is little room. How it is drawn is not the engine's business.

use crate::core::position::{Position, Side};

/// A position as something to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sketch {
    /// A board of cells.
    Board {
        /// Cells in a row.
        columns: usize,
        /// After so many columns, and so many rows, a stronger line parts the board.
        block: usize,
        /// What each side's stones look like.
        pieces: [Piece; 2],
        /// Whose stone each cell holds, row by row from the top left.
        cells: Vec<Option<Side>>,
    },
    /// A board of pieces of several kinds.
    Pieces {
        /// Cells in a row.
        columns: usize,
        /// The letter of the piece that each cell holds, row by row from the top left: a capital for
        /// the first side's.
        cells: Vec<Option<char>>,
    },
    /// Objects in heaps.
    Heaps(Vec<u32>),
    /// A game without a picture: the position in its notation.
    Notation(String),
}

/// What a stone looks like.
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
    /// The board of a position whose notation has a character for each cell, row by row from the top
    /// left: a side's letter, or a dot where the cell is empty. Other characters are passed over.
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
