//! Texts of users, as they may stand in a page.

/// A text in one line, without what is not seen and changes what is: control characters are spaces, and what
/// would turn the direction of its neighbours, or is no character at all, is shown as such.
pub(crate) fn shown(text: &str) -> String {
    text.chars().map(shown_character).collect()
}

/// The same, cut off after so many characters.
pub(crate) fn shortened(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        None => shown(text),
        Some(_) => {
            let kept = text.chars().take(characters_max.saturating_sub(1));
            kept.map(shown_character).chain(['…']).collect()
        }
    }
}

fn shown_character(character: char) -> char {
    match character {
        it if it.is_control() => ' ',
        // Marks, embeddings, overrides and isolates of the bidirectional algorithm.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        it if u32::from(it) & 0xfffe == 0xfffe => char::REPLACEMENT_CHARACTER,
        '\u{fdd0}'..='\u{fdef}' => char::REPLACEMENT_CHARACTER,
        it => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_changes_nothing() {
        assert_eq!(shown("a\nb\u{0}c\u{7f}d\u{85}e"), "a b c d e");
        assert_eq!(
            shown("a\u{202e}b\u{2066}c\u{ffff}\u{fdd0}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}"
        );
        assert_eq!(shown("\u{5d0}\u{5d1} <é> 棋"), "\u{5d0}\u{5d1} <é> 棋");
    }

    #[test]
    fn long_texts_are_cut_off() {
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("abcde", 4), "abc…");
        assert_eq!(shortened("éééé\n", 4), "ééé…");
        assert_eq!(shortened(&"x".repeat(10_000), 80).chars().count(), 80);
    }
}
