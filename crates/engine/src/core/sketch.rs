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

/// A diagram of a position in a game: its sketch, and what is marked in it and written beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    /// The position.
    pub sketch: Sketch,
    /// The names of a board's rows.
    pub row_names: RowNames,
    /// What the last move changed; empty before the first move.
    pub marks: Vec<Marked>,
    /// The side to move; `None` if the game is over.
    pub to_move: Option<Side>,
}

/// The names of a board's rows in the game's notation. Columns always have the letters from a on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowNames {
    /// The top row is 1.
    Down,
    /// The bottom row is 1.
    Up,
    /// Rows have no names.
    Absent,
}

/// A mark of the last move in a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The marked cell, heap or, for [`Mark::Turned`], block; cells and blocks row by row from the top left.
    pub place: usize,
    /// What happened there.
    pub mark: Mark,
}

/// What a move did in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The cell became empty.
    Left,
    /// A stone or piece came to the cell, perhaps in place of another.
    Reached,
    /// The stone on the cell changed sides.
    Flipped,
    /// So many objects were taken from the heap.
    Taken(u32),
    /// The block of cells was turned by a quarter.
    Turned {
        /// Clockwise rather than counter-clockwise.
        clockwise: bool,
    },
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

    /// What is different in the sketch of a position after a move.
    #[must_use]
    pub fn changes_to(&self, after: &Self) -> Vec<Marked> {
        fn changed<C: PartialEq>(
            before: &[Option<C>],
            after: &[Option<C>],
            exchanged: Mark,
        ) -> Vec<Marked> {
            let changed = before.iter().zip(after).enumerate().filter(|(_, (old, new))| old != new);
            let marked = changed.map(|(place, cells)| {
                let mark = match cells {
                    (_, None) => Mark::Left,
                    (None, Some(_)) => Mark::Reached,
                    (Some(_), Some(_)) => exchanged,
                };
                Marked { place, mark }
            });
            marked.collect()
        }
        match (self, after) {
            (Self::Board { cells: before, .. }, Self::Board { cells: after, .. }) => {
                changed(before, after, Mark::Flipped)
            }
            (Self::Pieces { cells: before, .. }, Self::Pieces { cells: after, .. }) => {
                changed(before, after, Mark::Reached)
            }
            (Self::Heaps(before), Self::Heaps(after)) => {
                let heaps = before.iter().zip(after).enumerate();
                let taken = heaps.filter(|(_, (old, new))| old > new);
                taken
                    .map(|(place, (old, new))| Marked { place, mark: Mark::Taken(old - new) })
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}
