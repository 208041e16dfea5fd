//! The protocol of lines, runner's side, as a state machine over lines: one JSON object a line, for every game.
//!
//! `docs/lines.md` has the protocol. Unknown keys are ignored.

mod distribution;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::breach::{BreachKind, Breaches};
use crate::text::{LINE_BYTES_MAX, Line, shown, shown_lines, shown_move, shown_text};

pub use distribution::{DISTRIBUTION_MOVES_MAX, distribution};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The most bytes kept of a player's error, which may be a traceback.
const ERROR_BYTES_MAX: usize = 4 * 1_024;
/// The most bytes kept of a principal variation.
const PV_BYTES_MAX: usize = 4 * 1_024;
/// The most bytes kept of a player's note on a move.
pub const NOTE_BYTES_MAX: usize = 2_048;
/// The greatest number that JSON, SQLite and pandas all hold exactly.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// The game that a process plays: it gets one in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSetup {
    /// The game's name.
    pub name: String,
    /// Its rules, all with their values, as a JSON object.
    pub rules: Value,
}

/// A request for a move, as sent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Request<'a> {
    /// Set by [`Client::ask`].
    pub id: u64,
    /// The number of the game, among those of the process.
    #[serde(rename = "match")]
    pub match_number: u64,
    /// Why the last answer to this request did not count. Early in the line, so that transcripts show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'a str>,
    /// The position, in the game's notation.
    pub position: &'a str,
    /// The first position of the game.
    pub opening: &'a str,
    /// The moves since then.
    pub moves: &'a [String],
    /// The legal moves.
    pub legal: &'a [String],
    /// `first` or `second`.
    pub to_move: &'static str,
    /// For the player's random numbers; below 2^53.
    pub seed: u64,
    /// The limits of the move.
    pub limits: RequestLimits,
    /// The board, for people.
    pub board: &'a str,
}

/// The limits of a move; absent ones are not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RequestLimits {
    /// Plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Wall time of the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Time for the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<RequestClock>,
}

/// The clocks before a move, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RequestClock {
    /// The player's time.
    pub seconds: f64,
    /// Added after each of its moves.
    pub increment: f64,
    /// The opponent's time.
    pub opponent: f64,
    /// Moves up to the next time control, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<u32>,
}

/// The position after moves that a player asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionAfter {
    /// In the game's notation.
    pub position: String,
    /// Whether the game's first side is to move.
    pub is_first_to_move: bool,
    /// The legal moves; none after the end.
    pub legal: Vec<String>,
    /// The result, if the game is over: `first`, `second` or `draw`.
    pub result: Option<&'static str>,
}

/// The end of a game, for its players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameEnd<'a> {
    /// Of this player: `win`, `loss` or `draw`.
    pub result: &'static str,
    /// How it ended.
    pub termination: &'a str,
    /// All moves since the opening.
    pub moves: &'a [String],
}

/// A message of a player.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It plays the game.
    Started(Introduction),
    /// It does not, for this reason.
    Refused(String),
    /// Its answer to the start line cannot be read.
    Garbled(Unreadable),
    /// It asks for the position after some moves.
    Asked(Question),
    /// Its answer.
    Answered(Answer),
}

/// A player's answer to the start line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introduction {
    /// Its name with its version; empty if not reported.
    pub name: String,
    /// Its author; empty if not reported.
    pub author: String,
    /// The number of requests that it answers at the same time, at least 1.
    pub parallel: u32,
}

/// A message that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The message, shortened.
    pub said: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A player's question, in the middle of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    id: u64,
    after: Value,
    /// Repeated in the answer.
    ask: Option<Value>,
}

/// A player's answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What it decided.
    pub decision: Decision,
    /// What it says of its search.
    pub report: Report,
}

/// What a player says of its search; nothing is required.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Value for the side to move.
    pub score: Option<i64>,
    /// Plies.
    pub depth: Option<u32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// The moves that it expects, each after a blank but the first.
    pub pv: Option<String>,
    /// Time by its own clock.
    pub seconds: Option<f64>,
    /// Its words on the move; empty if it has none.
    pub note: String,
    /// What it gives as the moves' probabilities.
    pub distribution: Option<Value>,
}

/// What a player decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// To make this move, which may be illegal.
    Move(String),
    /// To resign.
    Resign,
    /// It failed, for this reason.
    Failed(String),
    /// Its answer has none of these, or is not JSON.
    Unreadable(Unreadable),
}

/// What the player owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Nothing,
    Introduction,
    Answer(u64),
}

/// The runner's side of one game's conversation with a player. At most one request is pending.
#[derive(Debug)]
pub struct Client {
    /// The number of requests to the process.
    requests: Arc<AtomicU64>,
    awaited: Awaited,
    breaches: Breaches,
}

impl Default for Client {
    fn default() -> Self {
        Self { requests: Arc::default(), awaited: Awaited::Nothing, breaches: Breaches::default() }
    }
}

#[derive(Serialize)]
struct StartLine<'a> {
    spelrum: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'a Value>,
    options: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct AfterLine<'a> {
    id: u64,
    after: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<&'a Value>,
    #[serde(flatten)]
    answer: AfterAnswer<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AfterAnswer<'a> {
    Position {
        position: &'a str,
        to_move: &'static str,
        legal: &'a [String],
        over: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'static str>,
    },
    Error {
        error: &'a str,
    },
}

#[derive(Serialize)]
struct EndLine<'a> {
    #[serde(rename = "match")]
    match_number: u64,
    result: &'static str,
    termination: &'a str,
    moves: &'a [String],
}

/// A line with its end. The texts of these types always have a JSON form.
fn line(message: &impl Serialize) -> String {
    let mut line = serde_json::to_string(message).unwrap_or_default();
    line.push('\n');
    line
}

/// `first` or `second`.
#[must_use]
pub const fn side_name(is_first: bool) -> &'static str {
    if is_first { "first" } else { "second" }
}

impl Client {
    /// The first line to send. Without a game the player is asked for its name alone.
    pub fn start(&mut self, game: Option<&GameSetup>, options: &Map<String, Value>) -> String {
        self.awaited = Awaited::Introduction;
        line(&StartLine {
            spelrum: VERSION,
            game: game.map(|game| game.name.as_str()),
            rules: game.map(|game| &game.rules),
            options,
        })
    }

    /// For another game of the same process.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self { requests: Arc::clone(&self.requests), ..Self::default() }
    }

    /// The line to send for a request, which gets the next number.
    pub fn ask(&mut self, request: &Request<'_>) -> String {
        let id = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        self.awaited = Awaited::Answer(id);
        line(&Request { id, ..*request })
    }

    /// The line to send at the end of a game.
    #[must_use]
    pub fn end(match_number: u64, end: &GameEnd<'_>) -> String {
        let GameEnd { result, termination, moves } = *end;
        line(&EndLine { match_number, result, termination, moves })
    }

    /// The player's breaches of the protocol.
    pub fn breaches(&mut self) -> &mut Breaches {
        &mut self.breaches
    }

    /// Takes a line; returns its message if that belongs to what the player owes.
    pub fn take(&mut self, line: &Line) -> Option<Event> {
        let text = line.text.trim();
        if text.is_empty() {
            return None;
        }
        // Other lines are prints of the program.
        let is_message = text.starts_with('{');
        let kind = if line.is_cut { BreachKind::LongLine } else { BreachKind::Junk };
        let read = match serde_json::from_str::<Map<String, Value>>(text) {
            _ if line.is_cut => Err(format!("a line has at most {LINE_BYTES_MAX} bytes")),
            Ok(message) => Ok(message),
            Err(error) => Err(json_problem(&error, text)),
        };
        match (read, self.awaited) {
            (Err(_), _) if !is_message => {
                self.breaches.note(kind, text);
                None
            }
            (Err(_), Awaited::Nothing) => {
                self.breaches.note(kind, text);
                None
            }
            (Ok(_), Awaited::Nothing) => {
                self.breaches.note(BreachKind::Unasked, text);
                None
            }
            (Err(problem), Awaited::Introduction) => {
                self.awaited = Awaited::Nothing;
                Some(Event::Garbled(unreadable(text, problem)))
            }
            (Ok(message), Awaited::Introduction) => {
                self.awaited = Awaited::Nothing;
                Some(match given(&message, "error") {
                    Some(error) => Event::Refused(plain(error)),
                    None => Event::Started(introduction(&message)),
                })
            }
            (Err(problem), Awaited::Answer(id)) => {
                if id_in(text).is_some_and(|other| other != id) {
                    self.breaches.note(BreachKind::WrongId, text);
                    return None;
                }
                Some(self.answered(Decision::Unreadable(unreadable(text, problem))))
            }
            (Ok(message), Awaited::Answer(id)) => self.take_answer(id, message, text),
        }
    }

    /// An answer without a report.
    fn answered(&mut self, decision: Decision) -> Event {
        self.awaited = Awaited::Nothing;
        Event::Answered(Answer { decision, report: Report::default() })
    }

    fn take_answer(
        &mut self,
        id: u64,
        mut message: Map<String, Value>,
        text: &str,
    ) -> Option<Event> {
        let is_decided =
            ["move", "resign", "error"].iter().any(|key| given(&message, key).is_some());
        match message.get("id") {
            Some(number) if number.as_u64() == Some(id) => {}
            Some(Value::Number(number)) if number.is_u64() || number.is_i64() => {
                self.breaches.note(BreachKind::WrongId, text);
                return None;
            }
            None if !is_decided && !message.contains_key("after") => {
                self.breaches.note(BreachKind::Garbled, text);
                return None;
            }
            number => {
                let problem = match number {
                    None => format!("it has no `id`, which was {id}"),
                    Some(number) => format!("its `id` is {number}, and not the number {id}"),
                };
                return Some(self.answered(Decision::Unreadable(unreadable(text, problem))));
            }
        }
        if !is_decided && let Some(after) = message.remove("after") {
            return Some(Event::Asked(Question { id, after, ask: message.remove("ask") }));
        }
        self.awaited = Awaited::Nothing;
        Some(Event::Answered(answer(&message, text)))
    }
}

impl Question {
    /// The moves, counted from the position of the request.
    ///
    /// # Errors
    /// If it has no list of texts.
    pub fn moves(&self) -> Result<Vec<String>, String> {
        let texts = self.after.as_array().and_then(|moves| {
            moves.iter().map(|mv| mv.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        texts.ok_or_else(|| "`after` is not a list of moves".to_owned())
    }

    /// The line to send for it.
    #[must_use]
    pub fn answer(&self, answer: &Result<PositionAfter, String>) -> String {
        let Self { id, after, ask } = self;
        let answer = match answer {
            Ok(PositionAfter { position, is_first_to_move, legal, result }) => {
                AfterAnswer::Position {
                    position,
                    to_move: side_name(*is_first_to_move),
                    legal,
                    over: result.is_some(),
                    result: *result,
                }
            }
            Err(error) => AfterAnswer::Error { error },
        };
        line(&AfterLine { id: *id, after, ask: ask.as_ref(), answer })
    }
}

/// The value of a key, unless it says nothing.
fn given<'a>(message: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    message.get(key).filter(|value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => key != "error" || !text.trim().is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    })
}

/// A text as it is, another value as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A player's error, which may be a traceback, in one line.
fn plain(error: &Value) -> String {
    shown_lines(&text_of(error), ERROR_BYTES_MAX)
}

fn unreadable(text: &str, problem: impl Into<String>) -> Unreadable {
    Unreadable { said: shown(text, Breaches::SAID_BYTES_MAX), problem: problem.into() }
}

/// Why a text is not a JSON object.
fn json_problem(error: &serde_json::Error, text: &str) -> String {
    let hint = if ["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
        " (NaN and Infinity are not JSON)"
    } else {
        ""
    };
    format!("it is not JSON: {}{hint}", shown(&error.to_string(), Breaches::SAID_BYTES_MAX))
}

/// The number that seems to be the `id` of a message that cannot be read.
pub(crate) fn id_in(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    // Digits alone: neither a part of a larger number nor cut off.
    let ends = rest[end..].trim_start().starts_with([',', '}']);
    rest[..end].parse().ok().filter(|_| ends)
}

fn introduction(message: &Map<String, Value>) -> Introduction {
    let text = |key: &str| given(message, key).map_or_else(String::new, text_of);
    let name = format!("{} {}", text("name"), text("version"));
    let parallel = message.get("parallel").and_then(Value::as_u64).unwrap_or(1);
    Introduction {
        name: shown(name.trim(), Breaches::SAID_BYTES_MAX),
        author: shown(text("author").trim(), Breaches::SAID_BYTES_MAX),
        parallel: u32::try_from(parallel).unwrap_or(u32::MAX).max(1),
    }
}

fn answer(message: &Map<String, Value>, text: &str) -> Answer {
    let number = |key: &str| {
        let value = message.get(key)?;
        value.as_u64().map(|number| number.min(NUMBER_MAX))
    };
    let decision = if let Some(error) = given(message, "error") {
        Decision::Failed(plain(error))
    } else if message.get("resign") == Some(&Value::Bool(true)) {
        Decision::Resign
    } else {
        match given(message, "move") {
            Some(Value::String(mv)) => Decision::Move(shown_move(mv, Breaches::SAID_BYTES_MAX)),
            Some(_) => Decision::Unreadable(unreadable(text, "its `move` is not a text")),
            None => Decision::Unreadable(unreadable(text, "it has no `move`")),
        }
    };
    let report = Report {
        score: message.get("score").and_then(Value::as_i64),
        depth: number("depth").and_then(|depth| u32::try_from(depth).ok()),
        nodes: number("nodes"),
        pv: message.get("pv").and_then(Value::as_array).map(|moves| {
            let words: Vec<&str> = moves.iter().filter_map(Value::as_str).collect();
            shown(&words.join(" "), PV_BYTES_MAX)
        }),
        seconds: message
            .get("seconds")
            .and_then(Value::as_f64)
            .filter(|seconds| (0.0..=1e9).contains(seconds)),
        note: given(message, "note")
            .map(|note| shown_text(&text_of(note), NOTE_BYTES_MAX))
            .unwrap_or_default(),
        distribution: given(message, "distribution").cloned(),
    };
    Answer { decision, report }
}

#[cfg(test)]
mod tests;
