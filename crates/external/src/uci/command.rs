//! Commands to engines over UCI.

use std::fmt::Write as _;
use std::time::Duration;

use super::tokens::Tokens;
use super::words::Words;

/// A command to an engine, named by UCI's words.
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

/// The first position of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// In the game's usual position.
    Usual,
    /// In this one: of chess in Forsyth-Edwards notation, of another game in its own.
    Fen(String),
}

/// The limits of a search. `None` is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// The moves to search; if empty, all.
    pub search_moves: Vec<String>,
    /// Search on the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// The time of White, in other games of the first side, for the game or up to the next time control, in
    /// milliseconds.
    pub white_time_ms: Option<u64>,
    /// That of Black, or of the second side.
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
        needs: String,
    },
}

impl Command {
    /// Parses a line in a protocol's words; `None` if it is empty.
    ///
    /// # Errors
    /// If it is not a command, or is incomplete.
    pub fn parse(line: &str, words: &Words) -> Option<Result<Self, CommandError>> {
        let mut tokens = Tokens::new(line);
        Some(Ok(match tokens.next()? {
            word if word == words.hello => Self::Uci,
            word if words.is_new_game(word) => Self::NewGame,
            "debug" => match tokens.next() {
                Some("on") => Self::Debug(true),
                Some("off") => Self::Debug(false),
                _ => return Some(malformed("debug", "`on` or `off`")),
            },
            "isready" => Self::IsReady,
            "setoption" => return Some(set_option(tokens)),
            "position" => return Some(position(tokens, words)),
            "go" => return Some(go(tokens, words).map(Self::Go)),
            "stop" => Self::Stop,
            "ponderhit" => Self::PonderHit,
            "quit" => Self::Quit,
            command => return Some(Err(CommandError::Unknown(command.to_owned()))),
        }))
    }
}

fn malformed<T>(command: &'static str, needs: &str) -> Result<T, CommandError> {
    Err(CommandError::Malformed { command, needs: needs.to_owned() })
}

fn set_option(mut tokens: Tokens<'_>) -> Result<Command, CommandError> {
    if tokens.next() != Some("name") {
        return malformed("setoption", "`name` and the name of an option");
    }
    let name = tokens.until(|word| word == "value").to_owned();
    if name.is_empty() {
        return malformed("setoption", "`name` and the name of an option");
    }
    let value = tokens.next().map(|_| tokens.rest().to_owned());
    Ok(Command::SetOption { name, value })
}

fn position(mut tokens: Tokens<'_>, words: &Words) -> Result<Command, CommandError> {
    let start = match tokens.next() {
        Some("startpos") => Start::Usual,
        Some(word) if word == words.position => match tokens.until(|word| word == "moves") {
            "" => return malformed("position", &format!("a position after `{word}`")),
            position => Start::Fen(position.to_owned()),
        },
        _ => return malformed("position", &format!("`startpos` or `{}`", words.position)),
    };
    let moves = match tokens.next() {
        None => Vec::new(),
        Some("moves") => tokens.map(ToOwned::to_owned).collect(),
        Some(_) => return malformed("position", "`moves` before moves"),
    };
    Ok(Command::Position { start, moves })
}

fn go(mut tokens: Tokens<'_>, words: &Words) -> Result<Go, CommandError> {
    let Words { clocks, increments, .. } = words;
    let mut go = Go::default();
    while let Some(word) = tokens.next() {
        // Some runners send negative times.
        let is_read = match word {
            "searchmoves" => {
                let is_time = |word: &str| clocks.iter().chain(increments).any(|time| time == word);
                let moves = tokens.until(|word| Words::is_of_frame(word) || is_time(word));
                go.search_moves = Tokens::new(moves).map(ToOwned::to_owned).collect();
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
            word if word == clocks[0] => milliseconds(&mut go.white_time_ms, &mut tokens),
            word if word == clocks[1] => milliseconds(&mut go.black_time_ms, &mut tokens),
            word if word == increments[0] => milliseconds(&mut go.white_increment_ms, &mut tokens),
            word if word == increments[1] => milliseconds(&mut go.black_increment_ms, &mut tokens),
            "movetime" => milliseconds(&mut go.move_time_ms, &mut tokens),
            "movestogo" => number(&mut go.moves_to_go, &mut tokens),
            "depth" => number(&mut go.depth, &mut tokens),
            "nodes" => number(&mut go.nodes, &mut tokens),
            "mate" => number(&mut go.mate, &mut tokens),
            _ => true,
        };
        if !is_read {
            return malformed("go", "a whole number after each limit");
        }
    }
    Ok(go)
}

fn milliseconds(field: &mut Option<u64>, tokens: &mut Tokens<'_>) -> bool {
    *field = tokens.number::<i64>().map(|ms| u64::try_from(ms).unwrap_or(0));
    field.is_some()
}

fn number<T: std::str::FromStr>(field: &mut Option<T>, tokens: &mut Tokens<'_>) -> bool {
    *field = tokens.number();
    field.is_some()
}

impl Command {
    /// The line of it in a protocol's words, without its end.
    #[must_use]
    pub fn to_line(&self, words: &Words) -> String {
        match self {
            Self::Uci => words.hello.clone(),
            Self::Debug(is_on) => format!("debug {}", if *is_on { "on" } else { "off" }),
            Self::IsReady => "isready".to_owned(),
            Self::SetOption { name, value: None } => format!("setoption name {name}"),
            // An empty text is a value too: the word must be present.
            Self::SetOption { name, value: Some(value) } => {
                format!("setoption name {name} value {value}")
            }
            Self::NewGame => words.new_game(),
            Self::Position { start, moves } => {
                let mut line = match start {
                    Start::Usual => "position startpos".to_owned(),
                    Start::Fen(position) => format!("position {} {position}", words.position),
                };
                if !moves.is_empty() {
                    line.push_str(" moves ");
                    line.push_str(&moves.join(" "));
                }
                line
            }
            Self::Go(go) => go.to_line(words),
            Self::Stop => "stop".to_owned(),
            Self::PonderHit => "ponderhit".to_owned(),
            Self::Quit => "quit".to_owned(),
        }
    }
}

impl Go {
    /// The line of it in a protocol's words, without its end.
    #[must_use]
    pub fn to_line(&self, words: &Words) -> String {
        let Words { clocks: [white_time, black_time], increments, .. } = words;
        let [white_increment, black_increment] = increments;
        let mut line = (if self.ponder { "go ponder" } else { "go" }).to_owned();
        for (name, value) in [
            (white_time.as_str(), self.white_time_ms),
            (black_time, self.black_time_ms),
            (white_increment, self.white_increment_ms),
            (black_increment, self.black_increment_ms),
            ("movestogo", self.moves_to_go.map(u64::from)),
            ("depth", self.depth.map(u64::from)),
            ("nodes", self.nodes),
            ("mate", self.mate.map(u64::from)),
            ("movetime", self.move_time_ms),
        ] {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = write!(line, " {name} {value}");
            }
        }
        if self.infinite {
            line.push_str(" infinite");
        }
        if !self.search_moves.is_empty() {
            // Last, since some engines take every word after it for a move.
            line.push_str(" searchmoves ");
            line.push_str(&self.search_moves.join(" "));
        }
        line
    }
}

/// Whole milliseconds, rounded down.
#[must_use]
pub fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
