//! Errors inside the reader: a problem, a remedy and a place.

use std::ops::Range;

use spelrum_engine::nearest;

/// Bytes of the sweep's text.
pub(super) type Span = Range<usize>;

/// An error, before the file's text is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The problem.
    pub(super) problem: String,
    /// The remedy.
    pub(super) remedy: String,
    /// The place; `None` if something is missing.
    pub(super) place: Option<Span>,
}

impl Fault {
    pub(super) fn at(place: &Span, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), place: Some(place.clone()) }
    }

    pub(super) fn without_place(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), place: None }
    }

    /// Replaces words: each by the one meant here.
    pub(super) fn replace_words(mut self, words: &[(&str, &str)]) -> Self {
        for text in [&mut self.problem, &mut self.remedy] {
            for (word, replacement) in words {
                *text = text.replace(word, replacement);
            }
        }
        self
    }
}

/// A remedy for an unknown word: the nearest known one, or all of them.
#[must_use]
pub fn did_you_mean<'a>(
    word: &str,
    kind: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    // Longer words are not slips, and comparing them would take long.
    const COMPARED_BYTES_MAX: usize = 64;
    const LISTED_MAX: usize = 16;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if word.len() <= COMPARED_BYTES_MAX
        && let Some(closest) = nearest(word, candidates.iter().copied())
    {
        return format!("did you mean `{closest}`?");
    }
    let listed: Vec<String> =
        candidates.iter().take(LISTED_MAX).map(|candidate| format!("`{candidate}`")).collect();
    let more = if candidates.len() > LISTED_MAX { ", …" } else { "" };
    format!("the {kind} are {}{more}", listed.join(", "))
}
