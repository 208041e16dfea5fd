//! The runner's side of a conversation over CECP, as a state machine.

use std::fmt::Write as _;

use crate::breach::{BreachKind, Breaches};
use crate::text::{Line, shown};
use crate::uci::{Bound, Declared, Kind, SearchInfo, shown_moves};

use super::feature::{Features, parse_features, parse_option};
use super::thinking::Thinking;

/// The option for the memory of an engine with the feature `memory`, in MiB.
const MEMORY: &str = "Hash";
/// The option for the threads of an engine with the feature `smp`.
const CORES: &str = "Threads";
/// More than any machine has.
const MEMORY_MIB_MAX: i64 = 1 << 20;
const CORES_MAX: i64 = 1_024;
/// The most bytes of an engine's options.
const OPTIONS_BYTES_MAX: usize = 256 * 1_024;
/// The most options of an engine.
const OPTIONS_MAX: usize = 1_000;
/// The most errors that are kept until they are looked at.
const ERRORS_MAX: usize = 100;
/// Replies to features that were not sent yet: an engine that declares features for ever gets no more.
const REPLIES_BYTES_MAX: usize = 64 * 1_024;

/// Messages for people, hints and what boards show.
const IGNORED: [&str; 17] = [
    "telluser",
    "tellics",
    "tellicsnoalias",
    "tellall",
    "tellothers",
    "tellopponent",
    "askuser",
    "setup",
    "piece",
    "offer",
    "Hint:",
    "highlight",
    "click",
    "++",
    "--",
    "stat01:",
    "xboard",
];

/// The runner's side of one engine's conversation.
#[derive(Debug, Default)]
pub struct Client {
    awaited: Awaited,
    features: Features,
    options: Vec<Declared>,
    options_bytes: usize,
    /// Answers to its features that have to be sent.
    replies: String,
    /// Whether it said `done=0`, `done=1` or no such thing.
    done: Option<bool>,
    has_features: bool,
    last_ping: u32,
    /// The last move that was sent to it.
    sent: String,
    /// Its last move.
    chosen: String,
    /// The form of its first move.
    form: Option<MoveForm>,
    report: SearchInfo,
    is_exact: bool,
    errors: Vec<String>,
    breaches: Breaches,
}

/// A form in which engines say their moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoveForm {
    /// `move e7e5`
    Word,
    /// `My move is: e7e5`
    Sentence,
    /// `1. ... e7e5`
    Numbered,
}

/// The pending answer of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Awaited {
    #[default]
    Nothing,
    Features,
    Pong,
    Move,
    /// After a claim: a move, or the sign that none comes.
    MoveOrPong,
}

impl Awaited {
    const fn is_move(self) -> bool {
        matches!(self, Self::Move | Self::MoveOrPong)
    }
}

/// An awaited event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A line of features; there may be more.
    Declared,
    /// Its features are complete.
    Greeted,
    /// All earlier commands are done.
    Ready,
    /// A move, as written.
    Chosen(String),
    /// It says how the game ended, or resigns.
    Claimed(String),
    /// It refuses the last move that was sent to it.
    Refused(String),
}

impl Client {
    /// Begins the conversation.
    pub fn greet(&mut self) -> &'static str {
        self.awaited = Awaited::Features;
        "xboard\nprotover 2\n"
    }

    /// Begins the conversation with an engine that knows no features.
    pub fn greet_without_features(&mut self) -> &'static str {
        self.awaited = Awaited::Nothing;
        "xboard\n"
    }

    /// Goes on with an engine that does not end its features.
    pub fn end_greeting(&mut self) {
        self.awaited = Awaited::Nothing;
    }

    /// The answers to its features since the last call.
    pub fn take_replies(&mut self) -> String {
        std::mem::take(&mut self.replies)
    }

    /// Whether it has declared a feature.
    #[must_use]
    pub fn has_features(&self) -> bool {
        self.has_features
    }

    /// Whether it asked for more time for its features.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.done == Some(false)
    }

    /// Its features.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Its options, those for memory and threads included.
    #[must_use]
    pub fn options(&self) -> &[Declared] {
        &self.options
    }

    /// The command that sets an option; `None` is no value.
    #[must_use]
    pub fn set_option(&self, option: &Declared, value: Option<&str>) -> String {
        let Declared { name, kind } = option;
        match value {
            Some(value) if self.features.memory && name == MEMORY => format!("memory {value}"),
            Some(value) if self.features.smp && name == CORES => format!("cores {value}"),
            Some(value) if matches!(kind, Kind::Check { .. }) => {
                format!("option {name}={}", u8::from(value == "true"))
            }
            Some(value) => format!("option {name}={value}"),
            None => format!("option {name}"),
        }
    }

    /// Asks whether all earlier commands are done; `None` if the engine does not answer that.
    pub fn ping(&mut self) -> Option<String> {
        if !self.features.ping {
            return None;
        }
        self.awaited = Awaited::Pong;
        self.last_ping = self.last_ping % 999_999 + 1;
        Some(format!("ping {}\n", self.last_ping))
    }

    /// The line that tells it a move of its opponent.
    pub fn send_move(&mut self, mv: &str) -> String {
        mv.clone_into(&mut self.sent);
        if self.features.usermove { format!("usermove {mv}\n") } else { format!("{mv}\n") }
    }

    /// Notes that a search begins with the next line that is sent.
    pub fn begin_search(&mut self) {
        self.awaited = Awaited::Move;
        (self.report, self.is_exact) = (SearchInfo::default(), false);
        self.errors.clear();
    }

    /// Goes on waiting for a move after a claim. Returns the line to send: an engine that is still to move answers it
    /// after its move alone.
    pub fn await_move_again(&mut self) -> String {
        if !self.features.ping {
            self.awaited = Awaited::Move;
            return "?\n".to_owned();
        }
        let text = self.ping().unwrap_or_default();
        self.awaited = Awaited::MoveOrPong;
        text
    }

    /// The report of the last search.
    pub fn take_report(&mut self) -> SearchInfo {
        let mut report = std::mem::take(&mut self.report);
        report.pv = report.pv.map(|pv| shown_moves(&pv));
        report
    }

    /// The first error since the last call that is about a command with one of these words. Drops all others.
    pub fn take_error(&mut self, words: &[&str]) -> Option<(String, String)> {
        let errors = std::mem::take(&mut self.errors);
        errors.into_iter().find_map(|error| {
            let mut said = error.split(|c: char| !c.is_ascii_alphanumeric());
            let word = said.find_map(|said| words.iter().find(|word| **word == said))?;
            Some(((*word).to_owned(), shown(&error, Breaches::SAID_BYTES_MAX)))
        })
    }

    /// Its breaches of the protocol.
    pub fn breaches(&mut self) -> &mut Breaches {
        &mut self.breaches
    }

    /// Takes a line; returns the awaited event, if it is one.
    pub fn take(&mut self, line: &Line) -> Option<Event> {
        let text = line.text.trim();
        if line.is_cut {
            self.breaches.note(BreachKind::LongLine, text);
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "" => None,
            "feature" => self.take_features(rest),
            "pong" => self.take_pong(rest.trim(), text),
            "move" => self.take_move(MoveForm::Word, rest, text),
            "resign" | "1-0" | "0-1" | "1/2-1/2" => {
                // After its move or the end of the game it means nothing.
                (self.awaited == Awaited::Move)
                    .then(|| Event::Claimed(shown(text, Breaches::SAID_BYTES_MAX)))
            }
            "tellusererror" => {
                self.note_error(text);
                None
            }
            _ if word.starts_with('#') || IGNORED.contains(&word) => None,
            // The line of moves of the last message goes on.
            _ if line.text.starts_with("    ")
                && !text.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                None
            }
            _ => self.take_other(word, text),
        }
    }

    fn take_other(&mut self, word: &str, text: &str) -> Option<Event> {
        const MY_MOVE: &str = "my move is";
        let lower = text.to_ascii_lowercase();
        if let Some(place) = lower.find(MY_MOVE) {
            if place > 0 {
                self.breaches.note(BreachKind::Interleaved, text);
            }
            let behind = text.get(place + MY_MOVE.len()..).unwrap_or_default();
            let mv = behind.trim_start_matches([' ', ':']);
            return self.take_move(MoveForm::Sentence, mv, text);
        }
        if lower.starts_with("illegal move") || lower.starts_with("invalid move") {
            return self.take_refusal(text);
        }
        if word == "Error" {
            let is_of_move = self.awaited.is_move()
                && !self.sent.is_empty()
                && text.split([' ', ':']).any(|said| said == self.sent || said == "usermove");
            if is_of_move {
                return self.take_refusal(text);
            }
            self.note_error(text);
            return None;
        }
        // Engines that declare features say `move`, and some say this as well.
        if !self.has_features
            && let Some(mv) = parse_numbered(text)
        {
            return self.take_move(MoveForm::Numbered, mv, text);
        }
        match Thinking::parse(text) {
            Some(thinking) if self.awaited.is_move() => self.take_thinking(&thinking),
            Some(_) => {}
            // Before its features an engine may print any banner, and without features it has no form for remarks.
            None if self.awaited == Awaited::Features || !self.has_features => {}
            None => self.breaches.note(BreachKind::Junk, text),
        }
        None
    }

    fn take_features(&mut self, text: &str) -> Option<Event> {
        self.has_features = true;
        for (name, value) in parse_features(text) {
            let is_accepted = self.features.take(name, value);
            if self.replies.len() < REPLIES_BYTES_MAX {
                let verdict = if is_accepted { "accepted" } else { "rejected" };
                let name = shown(name, Breaches::SAID_BYTES_MAX);
                // Writing to a string cannot fail.
                let _ = writeln!(self.replies, "{verdict} {name}");
            }
            match name {
                "done" => self.done = Some(value != "0"),
                "option" => match parse_option(value) {
                    Some(option) => self.declare(option, value.len()),
                    None => self.breaches.note(BreachKind::Garbled, value),
                },
                "memory" if self.features.memory => {
                    self.declare_number(MEMORY, MEMORY_MIB_MAX);
                }
                "smp" if self.features.smp => self.declare_number(CORES, CORES_MAX),
                _ => {}
            }
        }
        self.features.name = shown(&self.features.name, Breaches::SAID_BYTES_MAX);
        if self.awaited != Awaited::Features {
            return None;
        }
        if self.done == Some(true) {
            self.awaited = Awaited::Nothing;
            return Some(Event::Greeted);
        }
        Some(Event::Declared)
    }

    fn declare_number(&mut self, name: &str, max: i64) {
        // Its default is unknown.
        let kind = Kind::Spin { default: 0, min: 1, max };
        self.declare(Declared { name: name.to_owned(), kind }, 0);
    }

    fn declare(&mut self, option: Declared, length: usize) {
        self.options_bytes = self.options_bytes.saturating_add(length);
        if self.options_bytes <= OPTIONS_BYTES_MAX && self.options.len() < OPTIONS_MAX {
            // The last word counts.
            self.options.retain(|other| !other.name.eq_ignore_ascii_case(&option.name));
            self.options.push(option);
        }
    }

    fn take_pong(&mut self, number: &str, line: &str) -> Option<Event> {
        if number.parse() != Ok(self.last_ping) {
            self.breaches.note(BreachKind::WrongId, line);
            return None;
        }
        match self.awaited {
            Awaited::Pong | Awaited::MoveOrPong => {
                self.awaited = Awaited::Nothing;
                Some(Event::Ready)
            }
            Awaited::Nothing | Awaited::Features | Awaited::Move => {
                self.breaches.note(BreachKind::Unasked, line);
                None
            }
        }
    }

    fn take_move(&mut self, form: MoveForm, text: &str, line: &str) -> Option<Event> {
        let mv = text.split_whitespace().next().unwrap_or_default();
        let mv = shown(mv, Breaches::SAID_BYTES_MAX);
        if !self.awaited.is_move() {
            // Some say each move twice, in two forms.
            if self.chosen.is_empty() || mv != self.chosen {
                self.breaches.note(BreachKind::Unasked, line);
            }
            return None;
        }
        // Without `ping` nothing else separates the second form of the last move from the next one.
        let is_first_form = *self.form.get_or_insert(form) == form;
        if !is_first_form && !self.features.ping && mv == self.chosen {
            return None;
        }
        self.awaited = Awaited::Nothing;
        self.chosen.clone_from(&mv);
        Some(Event::Chosen(mv))
    }

    fn take_refusal(&mut self, text: &str) -> Option<Event> {
        if !self.awaited.is_move() {
            self.note_error(text);
            return None;
        }
        self.awaited = Awaited::Nothing;
        Some(Event::Refused(shown(text, Breaches::SAID_BYTES_MAX)))
    }

    fn note_error(&mut self, text: &str) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(shown(text, Breaches::SAID_BYTES_MAX));
        }
    }

    fn take_thinking(&mut self, thinking: &Thinking<'_>) {
        let report = &mut self.report;
        report.nodes = Some(thinking.nodes);
        report.time_ms = Some(thinking.time_ms);
        let is_exact = thinking.score.bound == Bound::Exact;
        if is_exact || !self.is_exact {
            self.is_exact |= is_exact;
            report.score = Some(thinking.score);
            report.depth = Some(thinking.depth);
            report.seldepth = thinking.seldepth;
            report.pv = Some(thinking.pv.to_owned());
        }
    }
}

/// The move of `12. ... e7e5`, as old engines write theirs.
fn parse_numbered(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].trim_start_matches([' ', '.']).trim();
    let dots = text[digits..].bytes().take_while(|byte| matches!(byte, b' ' | b'.'));
    let is_numbered = digits > 0 && dots.filter(|byte| *byte == b'.').count() >= 3;
    (is_numbered && !rest.is_empty() && !rest.contains(' ')).then_some(rest)
}
