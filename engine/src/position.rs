//! The trait every game implements, and the words shared by all of them.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

/// Whose marbles, marks or pieces. White moves first from the start position of every game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// Moves first from the start position.
    White,
    /// The other.
    Black,
}

impl Colour {
    /// The opponent's colour.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }

    /// 0 for white, 1 for black.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::White => 0,
            Self::Black => 1,
        }
    }
}

/// How a position that is over ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    /// The winner, or `None` for a draw.
    pub winner: Option<Colour>,
    /// Why it is over.
    pub termination: Termination,
}

/// Why a game ended. The names are stored in the results database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// Pentago: a placement made five in a row; no quadrant was turned.
    FiveByPlacement,
    /// Pentago: after the turn of the quadrant exactly one side has five in a row.
    FiveByRotation,
    /// Pentago: after the turn of the quadrant both sides have five in a row: a draw.
    BothFive,
    /// The board is full and nobody has won: a draw.
    FullBoard,
    /// Tic-tac-toe: three in a row.
    ThreeInARow,
    /// Nim: the last object was taken.
    LastObject,
    /// The game reached the sweep's greatest number of plies: adjudicated a draw.
    MaxPlies,
}

/// A position of a two-player game of perfect information, with all that its rules need.
///
/// Moves are played by copying: a position is small and `Clone`. Whose turn it is is the
/// position's own business, so that games with passes or double moves fit.
///
/// `Display` writes the compact notation that [`Position::parse`] reads back to an equal position.
pub trait Position: Clone + Eq + Hash + Debug + Display + Send + 'static {
    /// A move. `Ord` is the canonical order in which [`Position::legal_moves`] lists moves.
    /// `Display` writes the notation that [`Position::parse_move`] reads.
    type Move: Copy + Eq + Ord + Hash + Debug + Display + Send + 'static;

    /// Who moves now.
    fn to_move(&self) -> Colour;

    /// How the game ended, or `None` while it goes on.
    fn ending(&self) -> Option<Ending>;

    /// Appends the legal moves in canonical order; none if and only if the game is over.
    fn legal_moves(&self, moves: &mut Vec<Self::Move>);

    /// The number of legal moves; 0 if and only if the game is over.
    fn legal_move_count(&self) -> u32;

    /// The legal move with this index in canonical order, without listing the others.
    ///
    /// # Panics
    /// If `index` is not below [`Position::legal_move_count`].
    fn nth_legal_move(&self, index: u32) -> Self::Move;

    /// Whether the move is legal here.
    fn is_legal(&self, mv: Self::Move) -> bool;

    /// Plays a legal move. What an illegal one does is unspecified, but memory-safe.
    fn play_unchecked(&mut self, mv: Self::Move);

    /// A key below 2^53 that is equal for positions that are equal up to the game's symmetries
    /// (and, but for hash collisions, only for those). Part of the recorded data: it never changes.
    fn canonical_key(&self) -> u64;

    /// The leaves of the full tree of this depth if no game in it ended early, saturating at
    /// 2^53 - 1: the yardstick that a report holds a search's evaluations against.
    fn full_tree_leaves(&self, depth: u32) -> u64;

    /// A multi-line board for people.
    fn board(&self) -> String;

    /// Reads a move in this position's notation. Legality is not checked.
    ///
    /// # Errors
    /// If the text is no move of this game.
    fn parse_move(&self, text: &str) -> Result<Self::Move, NotationError>;
}

/// A text that is no position or no move, with what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct NotationError {
    /// What is wrong, with the place.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}
