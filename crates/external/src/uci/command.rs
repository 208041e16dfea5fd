//! Commands to engines over UCI.

use std::fmt;
use std::time::Duration;

use super::tokens::Tokens;

/// A command to an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`: introduce yourself.
    Uci,
    /// `debug`: print more, or only what is necessary.
    Debug(bool),
    /// `isready`: answer when all is done.
    IsReady,
    /// `setoption`.
    SetOption {
        /// Its name.
        name: String,
        /// The value; `None` presses a button.
        value: Option<String>,
    },
    /// `ucinewgame`: the next position belongs to another game.
    NewGame,
    /// `position`: the position to search.
    Position {
        /// The first position of the game.
        start: Start,
        /// The moves since.
        moves: Vec<String>,
    },
    /// `go`: search.
    Go(Go),
    /// `stop`: answer with the best move so far.
    Stop,
    /// `ponderhit`: the expected move was played.
    PonderHit,
    /// `quit`: end.
    Quit,
}

/// The first position of a game of chess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// In the usual position.
    Usual,
    /// In this one, in Forsyth-Edwards notation.
    Fen(String),
}

/// The limits of a search. `None` is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// The moves to search; if empty, all.
    pub search_moves: Vec<String>,
    /// Search on the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// White's time for the game, or up to the next time control, in milliseconds.
    pub white_time_ms: Option<u64>,
    /// Black's.
    pub black_time_ms: Option<u64>,
    /// White's increment for each move, in milliseconds.
    pub white_increment_ms: Option<u64>,
    /// Black's.
    pub black_increment_ms: Option<u64>,
    /// Moves up to the next time control.
    pub moves_to_go: Option<u32>,
    /// Plies.
    pub depth: Option<u32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Search for a mate in this many moves.
    pub mate: Option<u32>,
    /// Search for exactly this time, in milliseconds.
    pub move_time_ms: Option<u64>,
    /// Search until `stop`.
    pub infinite: bool,
}

/// The words of `go`, which end a list of moves.
const GO_WORDS: [&str; 12] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

/// Why a command is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It is not part of the protocol, and should be ignored.
    #[error("there is no command `{0}`")]
    Unknown(String),
    /// A part of it is missing or malformed.
    #[error("`{command}` needs {needs}")]
    Malformed {
        /// The command.
        command: &'static str,
        /// The correct form.
        needs: &'static str,
    },
}

impl Command {
    /// Parses a line; `None` if it is empty.
    ///
    /// # Errors
    /// If it is not a command, or is incomplete.
    pub fn parse(line: &str) -> Option<Result<Self, CommandError>> {
        let mut words = Tokens::new(line);
        Some(Ok(match words.next()? {
            "uci" => Self::Uci,
            "debug" => match words.next() {
                Some("on") => Self::Debug(true),
                Some("off") => Self::Debug(false),
                _ => return Some(malformed("debug", "`on` or `off`")),
            },
            "isready" => Self::IsReady,
            "setoption" => return Some(set_option(words)),
            "ucinewgame" => Self::NewGame,
            "position" => return Some(position(words)),
            "go" => return Some(go(words).map(Self::Go)),
            "stop" => Self::Stop,
            "ponderhit" => Self::PonderHit,
            "quit" => Self::Quit,
            command => return Some(Err(CommandError::Unknown(command.to_owned()))),
        }))
    }
}

fn malformed<T>(command: &'static str, needs: &'static str) -> Result<T, CommandError> {
    Err(CommandError::Malformed { command, needs })
}

fn set_option(mut words: Tokens<'_>) -> Result<Command, CommandError> {
    if words.next() != Some("name") {
        return malformed("setoption", "`name` and the name of an option");
    }
    let name = words.until(|word| word == "value").to_owned();
    if name.is_empty() {
        return malformed("setoption", "`name` and the name of an option");
    }
    let value = words.next().map(|_| words.rest().to_owned());
    Ok(Command::SetOption { name, value })
}

fn position(mut words: Tokens<'_>) -> Result<Command, CommandError> {
    let start = match words.next() {
        Some("startpos") => Start::Usual,
        Some("fen") => match words.until(|word| word == "moves") {
            "" => return malformed("position", "a position after `fen`"),
            fen => Start::Fen(fen.to_owned()),
        },
        _ => return malformed("position", "`startpos` or `fen`"),
    };
    let moves = match words.next() {
        None => Vec::new(),
        Some("moves") => words.map(ToOwned::to_owned).collect(),
        Some(_) => return malformed("position", "`moves` before moves"),
    };
    Ok(Command::Position { start, moves })
}

fn go(mut words: Tokens<'_>) -> Result<Go, CommandError> {
    let mut go = Go::default();
    while let Some(word) = words.next() {
        // Some runners send negative times.
        let is_read = match word {
            "searchmoves" => {
                let moves = Tokens::new(words.until(|word| GO_WORDS.contains(&word)));
                go.search_moves = moves.map(ToOwned::to_owned).collect();
                true
            }
            "ponder" => {
                go.ponder = true;
                true
            }
            "infinite" => {
                go.infinite = true;
                true
            }
            "wtime" => milliseconds(&mut go.white_time_ms, &mut words),
            "btime" => milliseconds(&mut go.black_time_ms, &mut words),
            "winc" => milliseconds(&mut go.white_increment_ms, &mut words),
            "binc" => milliseconds(&mut go.black_increment_ms, &mut words),
            "movetime" => milliseconds(&mut go.move_time_ms, &mut words),
            "movestogo" => number(&mut go.moves_to_go, &mut words),
            "depth" => number(&mut go.depth, &mut words),
            "nodes" => number(&mut go.nodes, &mut words),
            "mate" => number(&mut go.mate, &mut words),
            _ => true,
        };
        if !is_read {
            return malformed("go", "a whole number after each limit");
        }
    }
    Ok(go)
}

fn milliseconds(field: &mut Option<u64>, words: &mut Tokens<'_>) -> bool {
    *field = words.number::<i64>().map(|ms| u64::try_from(ms).unwrap_or(0));
    field.is_some()
}

fn number<T: std::str::FromStr>(field: &mut Option<T>, words: &mut Tokens<'_>) -> bool {
    *field = words.number();
    field.is_some()
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uci => f.write_str("uci"),
            Self::Debug(is_on) => write!(f, "debug {}", if *is_on { "on" } else { "off" }),
            Self::IsReady => f.write_str("isready"),
            Self::SetOption { name, value: None } => write!(f, "setoption name {name}"),
            // An empty text is a value too: the word must be present.
            Self::SetOption { name, value: Some(value) } => {
                write!(f, "setoption name {name} value {value}")
            }
            Self::NewGame => f.write_str("ucinewgame"),
            Self::Position { start, moves } => {
                match start {
                    Start::Usual => f.write_str("position startpos")?,
                    Start::Fen(fen) => write!(f, "position fen {fen}")?,
                }
                if !moves.is_empty() {
                    f.write_str(" moves")?;
                }
                moves.iter().try_for_each(|mv| write!(f, " {mv}"))
            }
            Self::Go(go) => write!(f, "{go}"),
            Self::Stop => f.write_str("stop"),
            Self::PonderHit => f.write_str("ponderhit"),
            Self::Quit => f.write_str("quit"),
        }
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ponder { "go ponder" } else { "go" })?;
        for (name, value) in [
            ("wtime", self.white_time_ms),
            ("btime", self.black_time_ms),
            ("winc", self.white_increment_ms),
            ("binc", self.black_increment_ms),
            ("movestogo", self.moves_to_go.map(u64::from)),
            ("depth", self.depth.map(u64::from)),
            ("nodes", self.nodes),
            ("mate", self.mate.map(u64::from)),
            ("movetime", self.move_time_ms),
        ] {
            if let Some(value) = value {
                write!(f, " {name} {value}")?;
            }
        }
        if self.infinite {
            f.write_str(" infinite")?;
        }
        if !self.search_moves.is_empty() {
            // Last, since some engines take every word after it for a move.
            f.write_str(" searchmoves")?;
        }
        self.search_moves.iter().try_for_each(|mv| write!(f, " {mv}"))
    }
}

/// Whole milliseconds, rounded down.
#[must_use]
pub fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
