//! What an engine is asked, and what it answers, in words that know no game.

use std::time::Duration;

use crate::uci::Score;

/// A side, by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Black.
    Black,
    /// White.
    White,
}

impl Colour {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}

/// Where a game began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// Chess, in the usual position.
    Usual,
    /// Chess, in this position, in Forsyth-Edwards notation.
    Fen(&'a str),
    /// Another game, on a board of which GTP knows the size, in its one first position. Sides take
    /// turns, and pass where they cannot move.
    Board {
        /// Rows, and columns.
        size: u32,
        /// Who moves first.
        first: Colour,
    },
}

/// What bounds each move, alone or together. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Plies.
    pub depth: Option<u32>,
    /// Nodes, as the engine counts them.
    pub nodes: Option<u64>,
    /// Wall time.
    pub move_time: Option<Duration>,
}

/// How much time a side has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remaining {
    /// For the game, or up to the next time control.
    pub time: Duration,
    /// Added after each move.
    pub increment: Duration,
}

/// The clock of a game before a move. Who plays the game keeps it, by the times in [`Choice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Of White.
    pub white: Remaining,
    /// Of Black.
    pub black: Remaining,
    /// Moves up to the next time control, if there is one.
    pub moves_to_go: Option<u32>,
}

impl Clock {
    /// What a side has.
    #[must_use]
    pub const fn of(&self, colour: Colour) -> Remaining {
        match colour {
            Colour::White => self.white,
            Colour::Black => self.black,
        }
    }
}

/// What a game is played under, as far as it is told at its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Whether castling is that of Chess960.
    pub chess960: bool,
    /// Rows and columns of the board, for GTP.
    pub board_size: Option<u32>,
    /// What bounds this engine's moves.
    pub limits: Limits,
    /// What this engine has at the beginning, if there is a clock.
    pub clock: Option<Remaining>,
    /// What a move may take beyond its time. What is within it costs nothing: it is for pipes and
    /// schedulers.
    pub margin: Duration,
}

/// A position, and how to choose a move in it.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Where the game began.
    pub start: Start<'a>,
    /// The moves since, as the engine's protocol writes them, passes included.
    pub moves: &'a [String],
    /// Who is to move.
    pub to_move: Colour,
    /// What bounds the move.
    pub limits: Limits,
    /// The clock, if there is one.
    pub clock: Option<Clock>,
}

/// A move that an engine chose. Whether it is legal is for others to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move: over UCI in lower case, over GTP as it was said, in at most 200 bytes.
    pub mv: String,
    /// The answer that it expects.
    pub ponder: Option<String>,
    /// Plies that it says it searched.
    pub depth: Option<u32>,
    /// Plies of the longest line, as it says.
    pub seldepth: Option<u32>,
    /// Nodes, as it says.
    pub nodes: Option<u64>,
    /// The value for the side to move, as it says: its last exact score, or else its last bound.
    pub score: Option<Score>,
    /// The line with that score, or how it begins: at most 4 KiB.
    pub pv: Option<String>,
    /// Time by its own clock.
    pub engine_time: Option<Duration>,
    /// Time by ours, up to when its answer was read: over UCI from when it had been told all, over GTP from
    /// before it was told the last moves, since it may think as soon as it has heard them.
    pub wall: Duration,
}
