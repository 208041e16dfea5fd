//! Escaping of users' texts, such as players' names, so that they appear unchanged.

use super::layout::{is_minus, may_break_after, pieces};

/// Formats a text in one line of Markdown, also in a table cell.
pub(super) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in in_one_line(text) {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '&' | '#' => {
                escaped.extend(['\\', character]);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Formats a text in a paragraph or a table cell of LaTeX, for any of its engines. Negative numbers have a minus
/// sign.
pub(super) fn latex(text: &str) -> String {
    latex_after(text, None)
}

/// Formats a text that follows this character.
fn latex_after(text: &str, mut before: Option<char>) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut characters = in_one_line(text).peekable();
    while let Some(character) = characters.next() {
        match character {
            '-' if is_minus(before, characters.peek().copied()) => escaped.push_str("$-$"),
            '\\' => escaped.push_str(r"\textbackslash{}"),
            '~' => escaped.push_str(r"\textasciitilde{}"),
            '^' => escaped.push_str(r"\textasciicircum{}"),
            '<' => escaped.push_str(r"\textless{}"),
            '>' => escaped.push_str(r"\textgreater{}"),
            '|' => escaped.push_str(r"\textbar{}"),
            '"' => escaped.push_str(r"\symbol{34}"),
            '`' => escaped.push_str(r"\symbol{96}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => escaped.extend(['\\', character]),
            // At the beginning of a row they would belong to the end of the row before.
            '[' | ']' | '*' => escaped.extend(['{', character, '}']),
            // Two hyphens would become a dash; other ligatures likewise.
            '-' | '\'' | ',' if before == Some(character) => escaped.extend(['{', character, '}']),
            '–' => escaped.push_str("--"),
            '±' => escaped.push_str(r"$\pm$"),
            'µ' | 'μ' => escaped.push_str(r"$\mu$"),
            '·' => escaped.push_str(r"$\cdot$"),
            _ => escaped.push(character),
        }
        before = Some(character);
    }
    escaped
}

/// Formats a text in which a line may end after punctuation.
pub(super) fn breakable(text: &str) -> String {
    let mut broken = String::with_capacity(2 * text.len());
    let mut before = None;
    for piece in pieces(text) {
        broken.push_str(&latex_after(piece, before));
        before = piece.chars().next_back();
        // A line ends at a space anyway.
        if piece.ends_with(|end| end != ' ' && may_break_after(end)) {
            broken.push_str(r"\allowbreak{}");
        }
    }
    broken
}

/// Formats a number, a dash for a missing one, or another text of a column of numbers in LaTeX.
pub(super) fn latex_number(text: &str) -> String {
    if text == "-" { "--".to_owned() } else { latex(text) }
}

/// Formats a word for a label, with only characters that TeX and its tools accept there.
pub(super) fn label(text: &str) -> String {
    let word = text
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' });
    word.collect()
}

/// Line breaks and other control characters are spaces.
fn in_one_line(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|character| if character.is_control() { ' ' } else { character })
}
