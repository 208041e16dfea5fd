//! Errors of a reader: a problem, a remedy and a place.

use std::ops::Range;

/// Bytes of a text.
pub type Span = Range<usize>;

/// An error, before the file's text is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
    /// The place; `None` if something is missing.
    pub place: Option<Span>,
}

impl Fault {
    /// A fault at a place.
    #[must_use]
    pub fn at(place: &Span, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), place: Some(place.clone()) }
    }

    /// A fault of a text as a whole.
    #[must_use]
    pub fn without_place(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), place: None }
    }

    /// Replaces words: each by the one meant here.
    #[must_use]
    pub fn replace_words(mut self, words: &[(&str, &str)]) -> Self {
        for text in [&mut self.problem, &mut self.remedy] {
            for (word, replacement) in words {
                *text = text.replace(word, replacement);
            }
        }
        self
    }
}

/// The candidate most similar to a word, if it is similar enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LIKE_ENOUGH: f64 = 0.5;
    let word = word.to_lowercase();
    let mut best = (LIKE_ENOUGH, None);
    for candidate in candidates {
        let likeness = strsim::normalized_damerau_levenshtein(&word, &candidate.to_lowercase());
        if likeness > best.0 {
            best = (likeness, Some(candidate));
        }
    }
    best.1
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

/// The line and column of an offset in a text, from 1.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
