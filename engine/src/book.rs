//! Books: files of openings in the forms in which people exchange them.

use std::ops::Range;

use crate::position::NotationError;

/// The form of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookFormat {
    /// Extended Position Description: a position on each line, with operations behind it; a whole FEN on a
    /// line is read as well.
    Epd,
    /// Portable Game Notation: games, each of which is a line of play.
    Pgn,
}

impl BookFormat {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Epd, Self::Pgn];

    /// How the names of such files end, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Epd => "epd",
            Self::Pgn => "pgn",
        }
    }

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epd => "EPD",
            Self::Pgn => "PGN",
        }
    }

    /// The form of a file with this name, by how it ends.
    #[must_use]
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Self::ALL.into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()))
    }
}

/// A position of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookPosition<P> {
    /// The position.
    pub position: P,
    /// Where the book has it, in bytes: its line, or the move that leads to it.
    pub place: Range<usize>,
}

/// What is wrong with a book, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct BookError {
    /// The bytes at fault.
    pub place: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

impl BookError {
    /// A text in a book that is not what its game wants there.
    pub(crate) fn of_notation(place: &Range<usize>, error: NotationError) -> Self {
        Self { place: place.clone(), problem: error.problem, remedy: error.remedy }
    }
}
