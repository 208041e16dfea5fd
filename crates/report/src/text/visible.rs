//! Texts of users and other machines, made safe for a page or a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Formats a text in one line, with invisible parts made visible: control characters become spaces; characters that
/// change their neighbours' direction, are invisible, or are not characters at all are escaped.
pub fn shown(text: &str) -> String {
    text.chars().map(shown_character).collect()
}

/// Formats a text in one visible line, cut to this many characters.
pub fn shortened(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        None => shown(text),
        Some(_) => {
            let kept = text.chars().take(characters_max.saturating_sub(1));
            kept.map(shown_character).chain(['…']).collect()
        }
    }
}

/// Shortens adjacent texts, each to its `characters_max`, keeping different texts different: where their beginnings
/// are equal, the middle is left out, and where that does not help, they are numbered.
pub fn shortened_apart(texts: &[&str], characters_max: impl Fn(&str) -> usize) -> Vec<String> {
    let mut cut: Vec<String> =
        texts.iter().map(|text| shortened(text, characters_max(text))).collect();
    let is_alike = |cut: &[String], place: usize| {
        (0..texts.len()).any(|other| cut[other] == cut[place] && texts[other] != texts[place])
    };
    let alike: Vec<usize> = (0..texts.len()).filter(|&place| is_alike(&cut, place)).collect();
    for &place in &alike {
        let text: Vec<char> = texts[place].chars().collect();
        let alike_texts =
            alike.iter().map(|&other| texts[other]).filter(|candidate| *candidate != texts[place]);
        let same =
            |other: &str| text.iter().zip(other.chars()).take_while(|(a, b)| **a == *b).count();
        let differs_at = alike_texts.map(same).max().unwrap_or_default();
        // Ends of names are often wider than the average character.
        let max = characters_max(texts[place]);
        let max = max - max / 8;
        let head = max / 3;
        let tail: String = text.iter().skip(differs_at.max(head)).collect();
        let head: String = text.iter().take(head).copied().map(shown_character).collect();
        cut[place] = format!("{head}…{}", shortened(&tail, (max - max / 3).saturating_sub(1)));
    }
    let still: Vec<usize> = (0..texts.len()).filter(|&place| is_alike(&cut, place)).collect();
    for place in still {
        let first = texts.iter().position(|text| *text == texts[place]).unwrap_or(place);
        let number = format!("{} ", first + 1);
        let room = characters_max(texts[place]).saturating_sub(number.len());
        cut[place] = number + &shortened(texts[place], room);
    }
    cut
}

fn shown_character(character: char) -> char {
    match character {
        character if character.is_control() => ' ',
        character if is_unseen(character) => char::REPLACEMENT_CHARACTER,
        character => character,
    }
}

/// Escapes a text for a terminal: control and invisible characters are escaped as in Rust's texts, such as
/// `\u{202e}`. Line ends and tabs stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a String does not fail.
            let _ = write!(escaped, "{}", character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Whether a terminal would act on a character, or show nothing for it.
pub fn is_hidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t')) || is_unseen(character)
}

/// Whether a character changes its neighbours or the text invisibly, or is a noncharacter: in Unicode 17,
/// Default_Ignorable_Code_Point, the separators of lines and paragraphs, annotations, and noncharacters.
fn is_unseen(character: char) -> bool {
    u32::from(character) & 0xfffe == 0xfffe
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_beside_each_other_stay_different() {
        let apart = |texts: &[&str], max: usize| shortened_apart(texts, |_| max);
        assert_eq!(apart(&["a", "b", "a"], 5), ["a", "b", "a"]);
        let [one, two] = ["alphabeta(depth=3,nodes=1000)", "alphabeta(depth=3,nodes=2000)"];
        assert_eq!(apart(&[one, two, one], 12), ["alp…1000)", "alp…2000)", "alp…1000)"]);
        for max in [4, 8, 20] {
            let texts: Vec<String> = (0..60)
                .map(|number| format!("{}{number}{}", "x".repeat(50), "y".repeat(50)))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let cut = apart(&texts, max);
            let different: std::collections::BTreeSet<&String> = cut.iter().collect();
            assert_eq!(different.len(), texts.len(), "{cut:?}");
            assert!(cut.iter().all(|text| text.chars().count() <= max), "{cut:?}");
        }
    }

    #[test]
    fn what_is_not_seen_changes_nothing() {
        assert_eq!(shown("a\nb\u{0}c\u{7f}d\u{85}e"), "a b c d e");
        assert_eq!(
            shown("a\u{202e}b\u{2066}c\u{ffff}\u{fdd0}d\u{200b}e"),
            "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d\u{fffd}e"
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

    #[test]
    fn what_acts_on_a_terminal_stands_escaped() {
        assert_eq!(escaped("a\n\tb é 棋"), "a\n\tb é 棋");
        assert_eq!(escaped("\u{1b}]0;x\u{7}\r\u{9b}1m"), "\\u{1b}]0;x\\u{7}\\u{d}\\u{9b}1m");
        assert_eq!(escaped("a\u{202e}b\u{200b}c\u{feff}"), "a\\u{202e}b\\u{200b}c\\u{feff}");
        assert_eq!(escaped("\u{e0041}x\u{ad}"), "\\u{e0041}x\\u{ad}");
    }
}
