//! The Go text protocol, from the controller's end, as a state machine over lines.
//!
//! Farnebäck, *Specification of the Go Text Protocol, version 2, draft 2* (2002). Games that are not Go
//! use it with their own squares and rules.

use std::fmt;

use serde::Deserialize;

use crate::breach::{BreachKind, Breaches};
use crate::situation::Colour;
use crate::text::Line;

/// In what an engine departs from the protocol, or from the other engines of its game.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// Whether commands are numbered. Some engines repeat an old number for ever.
    pub ids: bool,
    /// What it calls Black and White.
    pub colours: [String; 2],
    /// Whether it is told that a side passes. Some pass by themselves and refuse to hear of it.
    pub pass: bool,
    /// Whether it is told the size of the board, if it knows `boardsize`.
    pub boardsize: bool,
    /// What is said once it has started.
    pub setup: Vec<String>,
    /// What is said before each game, with `{seconds}`, `{milliseconds}`, `{nodes}` or `{depth}` for
    /// what bounds a move; a line with one that is not bounded is left out. Where none tells the time of a
    /// move, `time_settings` does. A limit that nothing tells is refused.
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
    /// What it calls a side.
    #[must_use]
    pub fn colour(&self, colour: Colour) -> &str {
        let [black, white] = &self.colours;
        match colour {
            Colour::Black => black,
            Colour::White => white,
        }
    }
}

/// What an engine answers to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// What it says, without its number and the white space around; its lines are parted by `\n`. An
    /// error, if the command was refused.
    pub text: Result<String, String>,
}

/// As many bytes of an answer as are kept: a list of commands has some thousand.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1_024;

/// The controller's end of one engine's conversation. One command is out at a time.
#[derive(Debug)]
pub struct Client {
    has_ids: bool,
    last_id: u32,
    is_waiting: bool,
    answer: Option<Begun>,
    breaches: Breaches,
}

/// An answer whose end has not come.
#[derive(Debug)]
struct Begun {
    is_refusal: bool,
    is_stale: bool,
    text: String,
}

impl Client {
    /// A conversation about to begin, with numbered commands or without.
    #[must_use]
    pub fn new(has_ids: bool) -> Self {
        Self { has_ids, last_id: 0, is_waiting: false, answer: None, breaches: Breaches::default() }
    }

    /// What to say for a command: a line. Its answer is what [`Client::take`] hands out next.
    pub fn ask(&mut self, command: &dyn fmt::Display) -> String {
        self.wait_on();
        if !self.has_ids {
            return command.to_string();
        }
        // Not 0: some engines take it for no number.
        self.last_id = self.last_id % 999_999 + 1;
        format!("{} {command}", self.last_id)
    }

    /// Waits for another answer to the last command: what came was none.
    pub fn wait_on(&mut self) {
        self.is_waiting = true;
        // What was begun and not ended was not for this command.
        self.answer = None;
    }

    /// What the engine did that the protocol does not allow.
    pub fn breaches(&mut self) -> &mut Breaches {
        &mut self.breaches
    }

    /// Takes a line; the whole answer if that was its end.
    pub fn take(&mut self, line: &Line) -> Option<Response> {
        if line.is_cut {
            self.breaches.note(BreachKind::LongLine, &line.text);
        }
        // Control characters mean nothing, and a tab is a blank.
        let clean = |it: char| match it {
            '\t' => Some(' '),
            it if it.is_control() => None,
            it => Some(it),
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
            // More than one mark is an ornament.
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
        // An answer to an earlier command, or to none of ours, is let go by.
        let is_stale = !self.is_waiting || self.has_ids && id.is_some_and(|id| id != self.last_id);
        if !self.is_waiting {
            self.breaches.note(BreachKind::Unasked, line);
        } else if is_stale {
            self.breaches.note(BreachKind::WrongId, line);
        }
        self.answer = Some(Begun { is_refusal, is_stale, text: text.to_owned() });
    }

    /// The number of an answer, and the rest. Some engines write a blank before it, and some a number
    /// where none was given.
    fn without_id<'t>(&mut self, text: &'t str, line: &str) -> (Option<u32>, &'t str) {
        let is_apart = text.starts_with(' ');
        let trimmed = text.trim_start_matches(' ');
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = trimmed.split_at(digits);
        let ends_word = rest.is_empty() || rest.starts_with(' ');
        // Behind a blank, a number may be the answer itself.
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

    /// What is heard after a command, and which breaches were noted.
    fn heard(has_ids: bool, lines: &[&str]) -> (Vec<Response>, Vec<BreachKind>) {
        let mut client = Client::new(has_ids);
        client.ask(&"name");
        let heard = lines.iter().filter_map(|text| client.take(&line(text))).collect();
        (heard, client.breaches().iter().map(|breach| breach.kind).collect())
    }

    fn said(text: &str) -> Vec<Response> {
        vec![Response { text: Ok(text.to_owned()) }]
    }

    #[test]
    fn answers_end_with_an_empty_line() {
        assert_eq!(heard(true, &["=1 GNU Go", ""]), (said("GNU Go"), vec![]));
        assert_eq!(heard(true, &["", "# hello", "=1", "\r"]), (said(""), vec![]));
        assert_eq!(heard(true, &["=1 a", "b ", "\tc", "", ""]), (said("a\nb\nc"), vec![]));
        assert_eq!(heard(true, &["=1 a"]), (vec![], vec![]));
        let refused = vec![Response { text: Err("unknown command".to_owned()) }];
        assert_eq!(heard(true, &["?1 unknown command", ""]), (refused.clone(), vec![]));
        assert_eq!(heard(false, &["? unknown command", ""]), (refused, vec![]));
        assert_eq!(heard(false, &["= D3\r", "\r"]), (said("D3"), vec![]));
        assert_eq!(heard(false, &["=D3", ""]), (said("D3"), vec![]));
        assert_eq!(heard(false, &["= 7", ""]), (said("7"), vec![]));
    }

    #[test]
    fn answers_of_engines_with_their_own_numbers_are_understood() {
        // As Edax has it.
        assert_eq!(heard(true, &["= 1 D3", ""]), (said("D3"), vec![BreachKind::Garbled]));
        assert_eq!(heard(true, &["= 1", ""]), (said(""), vec![BreachKind::Garbled]));
        assert_eq!(heard(false, &["= 12 D3", ""]), (said("D3"), vec![BreachKind::Garbled]));
        assert_eq!(heard(true, &["= D3", ""]), (said("D3"), vec![]));
        // An old one, then ours.
        let lines = ["=7 old", "", "=1 D3", ""];
        assert_eq!(heard(true, &lines), (said("D3"), vec![BreachKind::WrongId]));
    }

    #[test]
    fn what_is_no_answer_is_noted() {
        let lines = ["level 3", "=1 D3", "", "=1 D3", ""];
        assert_eq!(heard(true, &lines), (said("D3"), vec![BreachKind::Junk, BreachKind::Unasked]));
    }

    #[test]
    fn ornaments_and_what_was_never_ended_are_no_answers() {
        let lines = ["==== An engine ====", "", "???", "= D3", ""];
        assert_eq!(heard(false, &lines), (said("D3"), vec![BreachKind::Junk]));
        // Nothing was asked, and the line is not followed by an empty one.
        let mut client = Client::new(false);
        assert_eq!(client.take(&line("= welcome")), None);
        client.ask(&"name");
        let heard: Vec<_> = ["= D3", ""].iter().filter_map(|it| client.take(&line(it))).collect();
        assert_eq!(heard, said("D3"));
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
            let mut heard = client.take(&line(&format!("{mark}{id} {}", lines[0])));
            for text in lines[1..].iter().map(String::as_str).chain([""]) {
                prop_assert_eq!(heard, None);
                heard = client.take(&line(text));
            }
            let text = lines.join("\n");
            let text = if is_refusal { Err(text) } else { Ok(text) };
            prop_assert_eq!(heard, Some(Response { text }));
        }
    }
}
