//! Suggestions for misspelt words.

/// The candidate most similar to a word, if it is similar enough to be meant.
///
/// Similarity is the Damerau-Levenshtein distance relative to the longer of the two words, regardless of case.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const LIKE_ENOUGH: f64 = 0.5;
    let word = word.to_lowercase();
    let mut best = None;
    let mut best_likeness = LIKE_ENOUGH;
    for candidate in candidates {
        let likeness = strsim::normalized_damerau_levenshtein(&word, &candidate.to_lowercase());
        if likeness > best_likeness {
            (best, best_likeness) = (Some(candidate), likeness);
        }
    }
    best
}
