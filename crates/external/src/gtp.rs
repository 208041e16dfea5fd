//! The Go text protocol (GTP), controller's side, as a state machine over lines.
//!
//! Farnebäck, *Specification of the Go Text Protocol, version 2, draft 2* (2002). Other games use it with
//! their own squares and rules.

use std::fmt;

use crate::breach::{BreachKind, Breaches};
use crate::situation::Colour;
use crate::text::Line;

/// An engine's deviations from the protocol, or from other engines of its game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Whether commands are numbered. Some engines repeat an old number for ever.
    pub ids: bool,
    /// Its names for Black and White.
    pub colours: [String; 2],
    /// Whether passes are sent to it. Some pass by themselves and reject the command.
    pub pass: bool,
    /// Whether the board size is sent to it, if it knows `boardsize`.
    pub boardsize: bool,
    /// Commands sent after its start.
    pub setup: Vec<String>,
    /// Commands sent before each game, with `{seconds}`, `{milliseconds}`, `{nodes}` or `{depth}` for a
    /// move's limits; lines without their limit are left out. If none sets the time of a move,
    /// `time_settings` does. A limit that no command can set is refused.
    pub limits: Vec<String>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            ids: true,
            colours: ["black".to_owned(), "white".to_owned()],
            pass: true,
            boardsize: true,
            setup: Vec::new(),
            limits: Vec::new(),
        }
    }
}

impl Dialect {
    /// Its name for a side.
    #[must_use]
    pub fn colour(&self, colour: Colour) -> &str {
        let [black, white] = &self.colours;
        match colour {
            Colour::Black => black,
            Colour::White => white,
        }
    }
}

/// An engine's answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its text, without number and surrounding white space; lines are separated by `\n`. An error, if the
    /// command was refused.
    pub text: Result<String, String>,
}

/// The most bytes of an answer that are kept: a list of commands has some thousand.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1_024;

/// The controller's side of one engine's conversation. At most one command is pending.
#[derive(Debug)]
pub struct Client {
    has_ids: bool,
    last_id: u32,
    is_waiting: bool,
    answer: Option<Begun>,
    breaches: Breaches,
}

/// An unfinished answer.
#[derive(Debug)]
struct Begun {
    is_refusal: bool,
    is_stale: bool,
    text: String,
}

impl Client {
    /// A new conversation, with numbered commands or without.
    #[must_use]
    pub fn new(has_ids: bool) -> Self {
        Self { has_ids, last_id: 0, is_waiting: false, answer: None, breaches: Breaches::default() }
    }

    /// The line to send for a command. [`Client::take`] returns its answer next.
    pub fn ask(&mut self, command: &dyn fmt::Display) -> String {
        self.keep_waiting();
        if !self.has_ids {
            return command.to_string();
        }
        // Not 0: some engines ignore it.
        self.last_id = self.last_id % 999_999 + 1;
        format!("{} {command}", self.last_id)
    }

    /// Waits for another answer to the last command: the received one did not count.
    pub fn keep_waiting(&mut self) {
        self.is_waiting = true;
        // An unfinished answer was not for this command.
        self.answer = None;
    }

    /// The engine's breaches of the protocol.
    pub fn breaches(&mut self) -> &mut Breaches {
        &mut self.breaches
    }

    /// Takes a line; returns the whole answer if it is complete.
    pub fn take(&mut self, line: &Line) -> Option<Response> {
        if line.is_cut {
            self.breaches.note(BreachKind::LongLine, &line.text);
        }
        // Control characters are ignored, and a tab is a blank.
        let clean = |c: char| match c {
            '\t' => Some(' '),
            c if c.is_control() => None,
            c => Some(c),
        };
        let text: String = line.text.chars().filter_map(clean).collect();
        let text = text.trim_matches(' ');
        match &mut self.answer {
            Some(begun) if !text.is_empty() => {
                if begun.text.len() + text.len() < RESPONSE_BYTES_MAX {
                    begun.text.push('\n');
                    begun.text.push_str(text);
                }
                None
            }
            Some(_) => self.end(),
            None => {
                self.begin(text);
                None
            }
        }
    }

    fn begin(&mut self, line: &str) {
        let (is_refusal, text) = match (line.strip_prefix('='), line.strip_prefix('?')) {
            // Repeated marks are decoration.
            (Some(text), _) if !text.starts_with('=') => (false, text),
            (_, Some(text)) if !text.starts_with('?') => (true, text),
            _ => {
                if !line.is_empty() && !line.starts_with('#') {
                    self.breaches.note(BreachKind::Junk, line);
                }
                return;
            }
        };
        let (id, text) = self.without_id(text, line);
        // An answer to an earlier command, or to none, is ignored.
        let is_stale = !self.is_waiting || self.has_ids && id.is_some_and(|id| id != self.last_id);
        if !self.is_waiting {
            self.breaches.note(BreachKind::Unasked, line);
        } else if is_stale {
            self.breaches.note(BreachKind::WrongId, line);
        }
        self.answer = Some(Begun { is_refusal, is_stale, text: text.to_owned() });
    }

    /// The number of an answer, and the rest. Some engines write a blank before it, and some a number
    /// although none was given.
    fn without_id<'t>(&mut self, text: &'t str, line: &str) -> (Option<u32>, &'t str) {
        let is_apart = text.starts_with(' ');
        let trimmed = text.trim_start_matches(' ');
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = trimmed.split_at(digits);
        let ends_word = rest.is_empty() || rest.starts_with(' ');
        // After a blank, a number may be the answer itself.
        let is_id = digits > 0
            && ends_word
            && (!is_apart
                || !rest.is_empty()
                || self.has_ids && number.parse() == Ok(self.last_id));
        if !is_id {
            return (None, trimmed);
        }
        if is_apart || !self.has_ids {
            self.breaches.note(BreachKind::Garbled, line);
        }
        (number.parse().ok(), rest.trim_start_matches(' '))
    }

    fn end(&mut self) -> Option<Response> {
        let Begun { is_refusal, is_stale, text } = self.answer.take()?;
        if is_stale {
            return None;
        }
        self.is_waiting = false;
        let text = text.trim().to_owned();
        Some(Response { text: if is_refusal { Err(text) } else { Ok(text) } })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> Line {
        Line { text: text.to_owned(), is_cut: false }
    }

    /// The answers after a command, and the recorded breaches.
    fn answers(has_ids: bool, lines: &[&str]) -> (Vec<Response>, Vec<BreachKind>) {
        let mut client = Client::new(has_ids);
        client.ask(&"name");
        let answer = lines.iter().filter_map(|text| client.take(&line(text))).collect();
        (answer, client.breaches().iter().map(|breach| breach.kind).collect())
    }

    fn response(text: &str) -> Vec<Response> {
        vec![Response { text: Ok(text.to_owned()) }]
    }

    #[test]
    fn answers_end_with_an_empty_line() {
        assert_eq!(answers(true, &["=1 GNU Go", ""]), (response("GNU Go"), vec![]));
        assert_eq!(answers(true, &["", "# hello", "=1", "\r"]), (response(""), vec![]));
        assert_eq!(answers(true, &["=1 a", "b ", "\tc", "", ""]), (response("a\nb\nc"), vec![]));
        assert_eq!(answers(true, &["=1 a"]), (vec![], vec![]));
        let refused = vec![Response { text: Err("unknown command".to_owned()) }];
        assert_eq!(answers(true, &["?1 unknown command", ""]), (refused.clone(), vec![]));
        assert_eq!(answers(false, &["? unknown command", ""]), (refused, vec![]));
        assert_eq!(answers(false, &["= D3\r", "\r"]), (response("D3"), vec![]));
        assert_eq!(answers(false, &["=D3", ""]), (response("D3"), vec![]));
        assert_eq!(answers(false, &["= 7", ""]), (response("7"), vec![]));
    }

    #[test]
    fn answers_of_engines_with_their_own_numbers_are_understood() {
        // As in Edax.
        assert_eq!(answers(true, &["= 1 D3", ""]), (response("D3"), vec![BreachKind::Garbled]));
        assert_eq!(answers(true, &["= 1", ""]), (response(""), vec![BreachKind::Garbled]));
        assert_eq!(answers(false, &["= 12 D3", ""]), (response("D3"), vec![BreachKind::Garbled]));
        assert_eq!(answers(true, &["= D3", ""]), (response("D3"), vec![]));
        // An old answer, then the current one.
        let lines = ["=7 old", "", "=1 D3", ""];
        assert_eq!(answers(true, &lines), (response("D3"), vec![BreachKind::WrongId]));
    }

    #[test]
    fn what_is_no_answer_is_noted() {
        let lines = ["level 3", "=1 D3", "", "=1 D3", ""];
        assert_eq!(
            answers(true, &lines),
            (response("D3"), vec![BreachKind::Junk, BreachKind::Unasked])
        );
    }

    #[test]
    fn ornaments_and_what_was_never_ended_are_no_answers() {
        let lines = ["==== An engine ====", "", "???", "= D3", ""];
        assert_eq!(answers(false, &lines), (response("D3"), vec![BreachKind::Junk]));
        // No command is pending, and no empty line follows.
        let mut client = Client::new(false);
        assert_eq!(client.take(&line("= welcome")), None);
        client.ask(&"name");
        let answer: Vec<_> =
            ["= D3", ""].iter().filter_map(|text| client.take(&line(text))).collect();
        assert_eq!(answer, response("D3"));
    }

    #[test]
    fn commands_are_numbered_where_that_is_wanted() {
        let mut client = Client::new(true);
        assert_eq!(client.ask(&"name"), "1 name");
        assert_eq!(client.ask(&"version"), "2 version");
        assert_eq!(Client::new(false).ask(&"name"), "name");
        client.last_id = 999_999;
        assert_eq!(client.ask(&"name"), "1 name");
    }

    #[test]
    fn an_endless_answer_is_kept_in_bounds() {
        let mut client = Client::new(true);
        client.ask(&"showboard");
        client.take(&line("=1"));
        for _ in 0..10_000 {
            client.take(&line(&"x".repeat(100)));
        }
        let response = client.take(&line("")).unwrap();
        assert!(response.text.unwrap().len() <= RESPONSE_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn nothing_that_is_said_makes_it_panic(
            has_ids in any::<bool>(),
            lines in proptest::collection::vec(
                prop_oneof![
                    any::<Vec<u8>>().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                    "[=?]? ?[0-9]{0,12} ?[A-Ha-h1-8]{0,3}\r?",
                ],
                0..12,
            ),
        ) {
            let mut client = Client::new(has_ids);
            client.ask(&"name");
            for text in &lines {
                client.take(&line(text));
            }
        }

        #[test]
        fn answers_in_the_form_of_the_protocol_are_read_as_they_are_written(
            has_ids in any::<bool>(),
            is_refusal in any::<bool>(),
            lines in proptest::collection::vec("[a-zA-Z][ -~]{0,20}[!-~]", 1..5),
        ) {
            let mut client = Client::new(has_ids);
            client.ask(&"name");
            let mark = if is_refusal { '?' } else { '=' };
            let id = if has_ids { "1" } else { "" };
            let mut answer = client.take(&line(&format!("{mark}{id} {}", lines[0])));
            for text in lines[1..].iter().map(String::as_str).chain([""]) {
                prop_assert_eq!(answer, None);
                answer = client.take(&line(text));
            }
            let text = lines.join("\n");
            let text = if is_refusal { Err(text) } else { Ok(text) };
            prop_assert_eq!(answer, Some(Response { text }));
        }
    }
}
