//! Shapes of stones and pieces, each in a cell of 40 by 40. They are this project's own drawings.

use spelrum_engine::{Piece, Side};

/// The shape of a stone by its name, or of a piece by its letter, a small one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Stone(&'static str),
    Piece(char),
}

impl Shape {
    pub(super) fn from_piece(piece: Piece) -> Self {
        Self::Stone(match piece {
            Piece::Cross => "cross",
            Piece::Ring => "ring",
            Piece::Disc => "disc",
        })
    }

    pub(super) fn from_letter(letter: char) -> Self {
        Self::Piece(letter.to_ascii_lowercase())
    }

    /// Its class beside that of its side.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Stone(name) => name,
            Self::Piece(_) => "piece",
        }
    }

    /// Its name in the drawing: for a piece that has no shape, its letter.
    pub(super) fn id(self) -> String {
        match self {
            Self::Stone(name) => name.to_owned(),
            Self::Piece(letter) => {
                name_of_piece(letter).map_or_else(|| letter.to_string(), ToOwned::to_owned)
            }
        }
    }

    /// Its outline with the lines in it; `None` for a piece that is shown by its letter.
    pub(super) fn path(self) -> Option<&'static str> {
        match self {
            Self::Stone("cross") => Some("M9 9l22 22M31 9L9 31"),
            Self::Stone("ring") => Some(
                "M4.5 20a15.5 15.5 0 0 1 31 0a15.5 15.5 0 0 1-31 0zM10 20a10 10 0 0 1 20 0a10 10 0 0 1-20 0z",
            ),
            Self::Stone(_) => Some("M4.5 20a15.5 15.5 0 0 1 31 0a15.5 15.5 0 0 1-31 0z"),
            Self::Piece(letter) => path_of_piece(letter),
        }
    }
}

/// The side of a piece by its letter: capitals are the first side's.
pub(super) fn side_of_letter(letter: char) -> Side {
    if letter.is_uppercase() { Side::First } else { Side::Second }
}

/// The name of a piece of chess.
pub(super) fn name_of_piece(letter: char) -> Option<&'static str> {
    Some(match letter {
        'k' => "king",
        'q' => "queen",
        'r' => "rook",
        'b' => "bishop",
        'n' => "knight",
        'p' => "pawn",
        _ => return None,
    })
}

fn path_of_piece(letter: char) -> Option<&'static str> {
    Some(match letter {
        'k' => {
            "M18 2.5h4v3h3v4h-3v3q1.5 1 2 2.8 2-2.8 5.5-2.8 4.5 0 4.5 5 0 4.5-4 10v6H10v-6q-4-5.5-4-10 \
             0-5 4.5-5 3.5 0 5.5 2.8.5-1.8 2-2.8v-3h-3v-4h3zM11 27.5h18M20 17.5v5.5"
        }
        'q' => {
            "M20 5.5l3.8 10L28.5 7.5l1 9.5 6-5L30 28.5v5H10v-5L4.5 12l6 5 1-9.5 4.7 8zM11 28.5h18"
        }
        'r' => {
            "M10.5 7.5h4.5v3h3v-3h4v3h3v-3h4.5v7l-3 2.5v9l3.5 3v4.5h-20V29l3.5-3v-9l-3-2.5zM13.5 26h13M13.5 \
             17h13"
        }
        'b' => {
            "M20 3.5a2.5 2.5 0 0 1 1.8 4.3q6.7 5.2 6.7 11.2 0 4-4 6l2 3.5h3v5h-19v-5h3l2-3.5q-4-2-4-6 \
             0-6 6.7-11.2A2.5 2.5 0 0 1 20 3.5zM20 12v7M16.8 15.5h6.4M15.5 28.5h9"
        }
        'n' => {
            "M15.5 6l4 3.5q11 1.5 11 20v4h-19V29.5q.5-5 7-11-4 0-6 3.5l-4.5-1.5q-1.5-3.5 1-6l4.5-5zM17 \
             12.7v.6M14 29.5h13.5"
        }
        'p' => {
            "M20 7.5a5 5 0 0 1 3 9h2.5v3h-3q.5 6 5 9.5v4.5h-15V29q4.5-3.5 5-9.5h-3v-3H17a5 5 0 0 1 3-9z"
        }
        _ => return None,
    })
}
