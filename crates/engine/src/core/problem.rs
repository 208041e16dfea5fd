//! A problem with a written text or value, and its remedy.

use std::ops::Range;

/// A problem, its place and its remedy: what is wrong and what to write instead, as sentences without end marks. The
/// text says the place as well, if there is one to say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct Problem<P = ()> {
    /// What is wrong.
    pub what: String,
    /// The place.
    pub place: P,
    /// What to write instead.
    pub remedy: String,
}

/// A problem of parameters or rules, at a key, if it is a single one's.
pub type KeyProblem = Problem<Option<String>>;

/// A problem of a text, at a range of its bytes; of a list, at a range of its items.
pub type RangeProblem = Problem<Range<usize>>;

impl Problem {
    /// A problem of something as a whole.
    #[must_use]
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at((), what, remedy)
    }
}

impl<P> Problem<P> {
    /// A problem at a place.
    #[must_use]
    pub fn at(place: P, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), place, remedy: remedy.into() }
    }

    /// The same problem, at this place of something larger.
    #[must_use]
    pub fn moved_to<Q>(self, place: Q) -> Problem<Q> {
        Problem { what: self.what, place, remedy: self.remedy }
    }
}

impl KeyProblem {
    /// A problem of one key.
    #[must_use]
    pub fn of_key(key: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(Some(key.to_owned()), what, remedy)
    }

    /// A known key that has no effect in combination with the others.
    pub(crate) fn without_effect(key: &str, remedy: String) -> Self {
        Self::of_key(key, format!("`{key}` {WITHOUT_EFFECT}"), remedy)
    }

    /// Whether the key is known but has no effect beside the others; the rest may be valid without
    /// it.
    #[must_use]
    pub fn is_without_effect(&self) -> bool {
        self.what.ends_with(WITHOUT_EFFECT)
    }
}

const WITHOUT_EFFECT: &str = "has no effect here";
