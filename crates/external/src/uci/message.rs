//! Messages of engines over UCI: parsed tolerantly, written exactly.
//!
//! The protocol is Huber and Meyer-Kahlen's *Description of the universal chess interface* (2006). It allows
//! any white space, either line end, and unknown words.

use std::fmt;

use super::option::Declared;
use super::tokens::Tokens;
use super::words::{Words, is_move};

/// A message of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// `id name`: its name.
    Name(&'a str),
    /// `id author`: its author.
    Author(&'a str),
    /// `option`: an option.
    Option(Declared),
    /// `uciok`, or the same word of another protocol: the introduction is complete.
    UciOk(&'a str),
    /// `readyok`: all commands are done, or a search runs.
    ReadyOk,
    /// `info`: progress of a search.
    Info(Info<'a>),
    /// `bestmove`: the result of a search.
    BestMove(BestMove<'a>),
    /// `copyprotection` and `registration`, which are not used here.
    Other(&'a str),
}

/// The report of a search, with optional parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info<'a> {
    /// Plies searched.
    pub depth: Option<u32>,
    /// Plies of the longest line.
    pub seldepth: Option<u32>,
    /// Time since `go` by the engine's clock, in milliseconds.
    pub time_ms: Option<u64>,
    /// Nodes since `go`, as the engine counts them.
    pub nodes: Option<u64>,
    /// Nodes in a second.
    pub nps: Option<u64>,
    /// The number of the line, from 1, among several best ones.
    pub multipv: Option<u32>,
    /// The value for the side to move.
    pub score: Option<Score>,
    /// How full the table is, in thousandths.
    pub hashfull: Option<u32>,
    /// Positions found in endgame tables.
    pub tbhits: Option<u64>,
    /// The best line as written.
    pub pv: Option<&'a str>,
    /// Text for people; always the last part.
    pub string: Option<&'a str>,
    /// Whether a known word lacks a valid value.
    pub is_garbled: bool,
}

/// A value for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The amount.
    pub value: ScoreValue,
    /// Whether it is exact or a bound.
    pub bound: Bound,
}

/// The amount of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreValue {
    /// In hundredths of a pawn.
    Centipawns(i64),
    /// Moves (not plies) to mate; negative if the side to move is mated.
    Mate(i64),
}

/// The kind of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// It is the value.
    #[default]
    Exact,
    /// The value is at least that.
    Lower,
    /// The value is at most that.
    Upper,
}

/// A chosen move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestMove<'a> {
    /// As written: a move, a word for none, or empty.
    pub mv: &'a str,
    /// The answer that it expects, as written.
    pub ponder: Option<&'a str>,
}

/// Words of `info` with a value.
const INFO_WORDS: [&str; 17] = [
    "depth",
    "seldepth",
    "time",
    "nodes",
    "pv",
    "multipv",
    "score",
    "currmove",
    "currmovenumber",
    "hashfull",
    "nps",
    "tbhits",
    "sbhits",
    "cpuload",
    "string",
    "refutation",
    "currline",
];

impl<'a> Message<'a> {
    /// Parses a line in a protocol's words; `None` if it is not a message.
    #[must_use]
    pub fn parse(line: &'a str, protocol: &Words) -> Option<Self> {
        let mut words = Tokens::new(line);
        Some(match words.next()? {
            "id" => match words.next()? {
                "name" => Self::Name(words.rest()),
                "author" => Self::Author(words.rest()),
                _ => return None,
            },
            "option" => Self::Option(Declared::parse(words.rest())?),
            word if protocol.is_ok(word) => Self::UciOk(word),
            "readyok" => Self::ReadyOk,
            "info" => Self::Info(Info::parse(words)),
            "bestmove" => Self::BestMove(BestMove::parse(words)),
            "copyprotection" | "registration" => Self::Other(line.trim_ascii()),
            _ => return None,
        })
    }
}

impl<'a> Info<'a> {
    fn parse(mut words: Tokens<'a>) -> Self {
        let mut info = Self::default();
        while let Some(word) = words.next() {
            let is_read = match word {
                "depth" => read(&mut info.depth, &mut words),
                "seldepth" => read(&mut info.seldepth, &mut words),
                "time" => read(&mut info.time_ms, &mut words),
                "nodes" => read(&mut info.nodes, &mut words),
                "nps" => read(&mut info.nps, &mut words),
                "multipv" => read(&mut info.multipv, &mut words),
                "hashfull" => read(&mut info.hashfull, &mut words),
                "tbhits" => read(&mut info.tbhits, &mut words),
                "score" => {
                    info.score = Score::parse(&mut words);
                    info.score.is_some()
                }
                "pv" => {
                    // Nearly all words of a line are moves.
                    let line = words.until(|word| !is_move(word) && INFO_WORDS.contains(&word));
                    info.pv = Some(line).filter(|line| !line.is_empty());
                    true
                }
                "string" => {
                    info.string = Some(words.rest());
                    break;
                }
                // Unknown words are skipped.
                _ => true,
            };
            info.is_garbled |= !is_read;
        }
        info
    }
}

/// Takes a number if one is next.
fn read<T: std::str::FromStr>(field: &mut Option<T>, words: &mut Tokens<'_>) -> bool {
    let number = words.number();
    let is_read = number.is_some();
    if is_read {
        *field = number;
    }
    is_read
}

impl Score {
    fn parse(words: &mut Tokens<'_>) -> Option<Self> {
        let value: fn(i64) -> ScoreValue = match words.peek()? {
            "cp" => ScoreValue::Centipawns,
            "mate" => ScoreValue::Mate,
            _ => return None,
        };
        words.next();
        let value = value(words.number()?);
        let bound = match words.peek() {
            Some("lowerbound") => Bound::Lower,
            Some("upperbound") => Bound::Upper,
            _ => return Some(Self { value, bound: Bound::Exact }),
        };
        words.next();
        Some(Self { value, bound })
    }
}

impl<'a> BestMove<'a> {
    fn parse(mut words: Tokens<'a>) -> Self {
        let mv = words.next().unwrap_or_default();
        let ponder = words.next().filter(|word| *word == "ponder").and_then(|_| words.next());
        Self { mv, ponder }
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "id name {name}"),
            Self::Author(author) => write!(f, "id author {author}"),
            Self::Option(declared) => write!(f, "option {declared}"),
            Self::UciOk(word) => f.write_str(word),
            Self::ReadyOk => f.write_str("readyok"),
            Self::Info(info) => write!(f, "info{info}"),
            Self::BestMove(best) => write!(f, "{best}"),
            Self::Other(line) => f.write_str(line),
        }
    }
}

impl fmt::Display for Info<'_> {
    /// Each part with a blank before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut part = |name: &str, value: Option<&dyn fmt::Display>| match value {
            Some(value) => write!(f, " {name} {value}"),
            None => Ok(()),
        };
        part("depth", shown(&self.depth))?;
        part("seldepth", shown(&self.seldepth))?;
        part("multipv", shown(&self.multipv))?;
        part("score", shown(&self.score))?;
        part("nodes", shown(&self.nodes))?;
        part("nps", shown(&self.nps))?;
        part("hashfull", shown(&self.hashfull))?;
        part("tbhits", shown(&self.tbhits))?;
        part("time", shown(&self.time_ms))?;
        part("pv", shown(&self.pv))?;
        part("string", shown(&self.string))
    }
}

fn shown<T: fmt::Display>(value: &Option<T>) -> Option<&dyn fmt::Display> {
    value.as_ref().map(|value| value as &dyn fmt::Display)
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            ScoreValue::Centipawns(value) => write!(f, "cp {value}")?,
            ScoreValue::Mate(moves) => write!(f, "mate {moves}")?,
        }
        f.write_str(match self.bound {
            Bound::Exact => "",
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
        })
    }
}

impl fmt::Display for BestMove<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bestmove")?;
        if !self.mv.is_empty() {
            write!(f, " {}", self.mv)?;
        }
        match self.ponder {
            Some(ponder) => write!(f, " ponder {ponder}"),
            None => Ok(()),
        }
    }
}
