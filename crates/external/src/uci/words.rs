//! The words in which protocols of UCI's frame differ.

use crate::breach::Breaches;

/// The words of one of these protocols: UCI itself, the universal game interface (UGI), or others that are named in an
/// engines file. A side is the first if it moves first in the game's first position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The greeting. Its answer is this with `ok` behind it, and a new game this with `newgame` behind it.
    pub hello: String,
    /// The word before a position in the game's notation.
    pub position: String,
    /// The remaining times of the first side and of the second.
    pub clocks: [String; 2],
    /// Their increments.
    pub increments: [String; 2],
    /// The form of moves.
    pub moves: MoveForm,
}

/// The form of moves in a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveForm {
    /// Two squares of a chess board, and perhaps a promotion.
    Chess,
    /// A word in the notation of the game.
    Word,
}

/// Words in place of a move.
const NO_MOVES: [&str; 5] = ["(none)", "none", "null", "0000", "resign"];

/// The words of the frame, which are the same in all of its protocols.
const FRAME: [&str; 19] = [
    "debug",
    "isready",
    "setoption",
    "position",
    "startpos",
    "moves",
    "go",
    "stop",
    "quit",
    "searchmoves",
    "ponder",
    "ponderhit",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    // With `ok` behind it, it answers another question.
    "ready",
];

impl Default for Words {
    fn default() -> Self {
        Self::uci()
    }
}

impl Words {
    /// Of UCI.
    #[must_use]
    pub fn uci() -> Self {
        Self::new("uci", ["wtime", "btime"], ["winc", "binc"], MoveForm::Chess)
    }

    /// Of UGI, which kz04px describes in `ugi.md` of cutegames.
    #[must_use]
    pub fn ugi() -> Self {
        Self::new("ugi", ["p1time", "p2time"], ["p1inc", "p2inc"], MoveForm::Word)
    }

    fn new(hello: &str, clocks: [&str; 2], increments: [&str; 2], moves: MoveForm) -> Self {
        Self {
            hello: hello.to_owned(),
            position: "fen".to_owned(),
            clocks: clocks.map(str::to_owned),
            increments: increments.map(str::to_owned),
            moves,
        }
    }

    /// Whether a word has a meaning in every protocol of the frame.
    #[must_use]
    pub fn is_of_frame(word: &str) -> bool {
        FRAME.contains(&word)
    }

    /// The answer to the greeting.
    #[must_use]
    pub fn ok(&self) -> String {
        format!("{}ok", self.hello)
    }

    /// Whether a word is the answer to the greeting.
    pub(super) fn is_ok(&self, word: &str) -> bool {
        word.strip_suffix("ok") == Some(&self.hello)
    }

    /// The command that begins a game.
    #[must_use]
    pub fn new_game(&self) -> String {
        format!("{}newgame", self.hello)
    }

    /// Whether a word begins a game.
    pub(super) fn is_new_game(&self, word: &str) -> bool {
        word.strip_suffix("newgame") == Some(&self.hello)
    }

    /// Whether a word may be a move.
    #[must_use]
    pub fn is_move(&self, word: &str) -> bool {
        match self.moves {
            MoveForm::Chess => is_move(word),
            MoveForm::Word => {
                (1..=Breaches::SAID_BYTES_MAX).contains(&word.len())
                    && word.bytes().all(|byte| byte.is_ascii_graphic())
                    && !NO_MOVES.iter().any(|none| word.eq_ignore_ascii_case(none))
            }
        }
    }
}

/// Whether a word looks like a UCI move: two squares, and perhaps a promotion; also in upper case, against
/// the protocol.
#[must_use]
pub fn is_move(word: &str) -> bool {
    let is_square = |file: u8, rank: u8| {
        matches!(file.to_ascii_lowercase(), b'a'..=b'h') && matches!(rank, b'1'..=b'8')
    };
    match *word.as_bytes() {
        [a, b, c, d] => is_square(a, b) && is_square(c, d),
        [a, b, c, d, piece] => is_square(a, b) && is_square(c, d) && piece.is_ascii_alphabetic(),
        _ => false,
    }
}
