//! Breaches: tolerable deviations of an engine from its protocol.

use std::collections::BTreeMap;
use std::fmt;

use crate::text::shown;

/// A kind of breach. None of them costs a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreachKind {
    /// Lines that are not messages.
    Junk,
    /// A message after other text on its line.
    Interleaved,
    /// A line too long to be kept completely.
    LongLine,
    /// A message with invalid parts.
    Garbled,
    /// A move in upper case.
    UpperCase,
    /// An answer without a question.
    Unasked,
    /// An answer to a question other than the last, by its number.
    WrongId,
    /// A move that was refused and asked for again.
    Refused,
    /// Probabilities of moves that are none.
    Distribution,
}

impl fmt::Display for BreachKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Junk => "lines that are not messages",
            Self::Interleaved => "a message after other text on its line",
            Self::LongLine => "a line that was too long and is truncated",
            Self::Garbled => "a message with parts that cannot be read",
            Self::UpperCase => "a move in upper case",
            Self::Unasked => "an unrequested answer",
            Self::WrongId => "an answer to another question",
            Self::Refused => "a move that was refused and asked for again",
            Self::Distribution => "probabilities of moves that are not kept",
        })
    }
}

/// The breaches of one engine: each kind once, with its first text and its count.
#[derive(Clone, Debug, Default)]
pub struct Breaches {
    breaches: BTreeMap<BreachKind, Breach>,
    unreported: Vec<BreachKind>,
}

/// A breach and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Its kind.
    pub kind: BreachKind,
    /// The engine's text at the first occurrence, truncated.
    pub said: String,
    /// The number of occurrences.
    pub times: u64,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.kind, self.said)
    }
}

impl Breaches {
    /// The kept bytes of the text.
    pub const SAID_BYTES_MAX: usize = 200;

    /// Notes a breach.
    pub fn note(&mut self, kind: BreachKind, line: &str) {
        let unreported = &mut self.unreported;
        let breach = self.breaches.entry(kind).or_insert_with(|| {
            unreported.push(kind);
            Breach { kind, said: shown(line, Self::SAID_BYTES_MAX), times: 0 }
        });
        breach.times += 1;
    }

    /// Breaches of kinds that were not returned before, which are worth a warning.
    pub fn take_new(&mut self) -> Vec<Breach> {
        let unreported = std::mem::take(&mut self.unreported);
        unreported.iter().filter_map(|kind| self.breaches.get(kind).cloned()).collect()
    }

    /// All, in the order of their kinds.
    pub fn iter(&self) -> impl Iterator<Item = &Breach> {
        self.breaches.values()
    }

    /// The breach of a kind, if any.
    #[must_use]
    pub fn get(&self, kind: BreachKind) -> Option<&Breach> {
        self.breaches.get(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_returned_once() {
        let mut breaches = Breaches::default();
        breaches.note(BreachKind::Junk, "hello\t");
        breaches.note(BreachKind::Junk, "world");
        breaches.note(BreachKind::UpperCase, "E2E4");
        let texts: Vec<_> = breaches.take_new().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            ["lines that are not messages: `hello `", "a move in upper case: `E2E4`"]
        );
        breaches.note(BreachKind::Junk, "again");
        assert_eq!(breaches.take_new(), []);
        assert_eq!(breaches.get(BreachKind::Junk).unwrap().times, 3);
    }
}
