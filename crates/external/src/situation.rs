//! Requests to an engine, and its answers, independent of the game's rules.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use crate::lines::{GameSetup, PositionAfter};
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
    pub const fn opponent(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}

/// The first position of a game.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The usual position of chess, or over UGI of the engine's game.
    Usual,
    /// This position: of chess in Forsyth-Edwards notation, over UGI in the notation of any game.
    Fen(&'a str),
    /// Another game with a known board size in GTP, in its only first position. Sides take turns,
    /// and pass if they cannot move.
    Board {
        /// Rows, and columns.
        size: u32,
        /// The side that moves first.
        first: Colour,
    },
    /// Any game, in its own notation. The first side is White.
    Any(AnyPosition<'a>),
}

/// A position of any game in its own notation, with its rules.
#[derive(Clone, Copy, Debug)]
pub struct AnyPosition<'a> {
    /// The first position of the game.
    pub opening: &'a str,
    /// The position to move in.
    pub position: &'a str,
    /// Its legal moves. The answer must be one of them, letter for letter.
    pub legal: &'a [String],
    /// Its board, for people.
    pub board: &'a str,
    /// For random numbers of the player, from the cell, the game's number and the ply alone; below 2^53.
    pub seed: u64,
    /// What the engine may ask about positions ahead.
    pub rules: &'a dyn RuleBook,
}

/// The rules of a game, from a position on.
pub trait RuleBook: Debug {
    /// The position after these moves.
    ///
    /// # Errors
    /// The reason, if one of them is not a legal move at its turn.
    fn after(&self, moves: &[String]) -> Result<PositionAfter, String>;
}

/// Limits of each move, in any combination. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Plies.
    pub depth: Option<u32>,
    /// Nodes, as the engine counts them.
    pub nodes: Option<u64>,
    /// Wall time.
    pub move_time: Option<Duration>,
}

/// A side's remaining time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remaining {
    /// For the game, or up to the next time control.
    pub time: Duration,
    /// Added after each move.
    pub increment: Duration,
}

/// The clock of a game before a move. The caller keeps it, by the times in [`Choice`].
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
    /// The time of a side.
    #[must_use]
    pub const fn remaining(&self, colour: Colour) -> Remaining {
        match colour {
            Colour::White => self.white,
            Colour::Black => self.black,
        }
    }
}

/// The conditions of a game that are known at its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The game and its rules, for the protocol of lines. Without, an engine is asked for its name alone.
    pub game: Option<Arc<GameSetup>>,
    /// How often an engine may answer again after an illegal or unreadable move, for the protocol of lines.
    pub retries: u32,
    /// Whether castling is that of Chess960.
    pub chess960: bool,
    /// Rows and columns of the board, for GTP.
    pub board_size: Option<u32>,
    /// The limits of this engine's moves.
    pub limits: Limits,
    /// This engine's time at the beginning, if there is a clock.
    pub clock: Option<Remaining>,
    /// The time that a move may exceed its limit by, without consequence: an allowance for pipes
    /// and schedulers.
    pub margin: Duration,
}

/// A position, and the conditions for choosing a move in it.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The first position of the game.
    pub start: Start<'a>,
    /// The moves since, in the engine's notation, passes included.
    pub moves: &'a [String],
    /// The side to move.
    pub to_move: Colour,
    /// The limits of the move.
    pub limits: Limits,
    /// The clock, if there is one.
    pub clock: Option<Clock>,
}

/// A move that an engine chose; its legality is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The move: over UCI in lower case, over GTP and UGI as written, in at most 200 bytes.
    pub mv: String,
    /// The answer that it expects.
    pub ponder: Option<String>,
    /// Reported search depth in plies.
    pub depth: Option<u32>,
    /// Reported length of the longest line in plies.
    pub seldepth: Option<u32>,
    /// Reported nodes.
    pub nodes: Option<u64>,
    /// Reported value for the side to move: its last exact score, or else its last bound.
    pub score: Option<Score>,
    /// The line with that score, truncated to 4 KiB.
    pub pv: Option<String>,
    /// Its words on the move, in several lines, truncated to [`lines::NOTE_BYTES_MAX`](crate::lines::NOTE_BYTES_MAX);
    /// empty if it
    /// has none.
    pub note: String,
    /// The probability of each move that it gives one, in millionths.
    pub distribution: BTreeMap<String, u32>,
    /// Answers before it that were refused, and the engine asked again.
    pub refused: u32,
    /// Reported fill level of its table in thousandths.
    pub hashfull: Option<u32>,
    /// Reported positions found in endgame tables.
    pub tbhits: Option<u64>,
    /// Time by its own clock.
    pub engine_time: Option<Duration>,
    /// The measured time, up to reading its answer: over UCI from the end of its input, over GTP from before
    /// it got the last moves, since it may think as soon as it has them.
    pub wall: Duration,
    /// The processor time of all threads of its processes since its last answer, in its first move of a game
    /// since the question; `None` if the system does not report it.
    pub cpu: Option<Duration>,
}
