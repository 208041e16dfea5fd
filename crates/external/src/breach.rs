//! What an engine does that its protocol does not allow, and that can be lived with.

use std::collections::BTreeMap;
use std::fmt;

use crate::text::shown;

/// A kind of breach. None of them costs a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BreachKind {
    /// Lines that are no message.
    Junk,
    /// A message behind something else on its line.
    Interleaved,
    /// A line too long to be kept whole.
    LongLine,
    /// A message whose parts cannot be read.
    Garbled,
    /// A move in upper case.
    UpperCase,
    /// An answer that nobody had asked for.
    Unasked,
    /// An answer to another question than the last, by its number.
    WrongId,
}

impl fmt::Display for BreachKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Junk => "lines that are no message",
            Self::Interleaved => "a message behind something else on its line",
            Self::LongLine => "a line too long to be kept whole",
            Self::Garbled => "a message with parts that cannot be read",
            Self::UpperCase => "a move in upper case",
            Self::Unasked => "an answer that nobody had asked for",
            Self::WrongId => "an answer to another question",
        })
    }
}

/// The breaches of one engine: each kind once, with what it said first and how often it came.
#[derive(Clone, Debug, Default)]
pub struct Breaches {
    found: BTreeMap<BreachKind, Breach>,
    untold: Vec<BreachKind>,
}

/// A breach and what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// What kind it is.
    pub kind: BreachKind,
    /// What the engine said when it first happened, or how that began.
    pub said: String,
    /// How often it has happened.
    pub times: u64,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.kind, self.said)
    }
}

impl Breaches {
    /// As much of what was said as is kept.
    pub const SAID_BYTES_MAX: usize = 200;

    /// Notes a breach.
    pub fn note(&mut self, kind: BreachKind, said: &str) {
        let untold = &mut self.untold;
        let breach = self.found.entry(kind).or_insert_with(|| {
            untold.push(kind);
            Breach { kind, said: shown(said, Self::SAID_BYTES_MAX), times: 0 }
        });
        breach.times += 1;
    }

    /// Those of kinds that this has not handed out before: what is worth a warning.
    pub fn take_new(&mut self) -> Vec<Breach> {
        let untold = std::mem::take(&mut self.untold);
        untold.iter().filter_map(|kind| self.found.get(kind).cloned()).collect()
    }

    /// All, in the order of their kinds.
    pub fn iter(&self) -> impl Iterator<Item = &Breach> {
        self.found.values()
    }

    /// Those of a kind, if there are any.
    #[must_use]
    pub fn of(&self, kind: BreachKind) -> Option<&Breach> {
        self.found.get(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_once() {
        let mut breaches = Breaches::default();
        breaches.note(BreachKind::Junk, "hello\t");
        breaches.note(BreachKind::Junk, "world");
        breaches.note(BreachKind::UpperCase, "E2E4");
        let told: Vec<_> = breaches.take_new().iter().map(ToString::to_string).collect();
        assert_eq!(told, ["lines that are no message: `hello `", "a move in upper case: `E2E4`"]);
        breaches.note(BreachKind::Junk, "again");
        assert_eq!(breaches.take_new(), []);
        assert_eq!(breaches.of(BreachKind::Junk).unwrap().times, 3);
    }
}
