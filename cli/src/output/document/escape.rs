//! Texts of users, among them names of players, as they must be written so that they are read as they are.

use super::layout::may_break_after;

/// A text in one line of Markdown, also in a cell of a table.
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

/// A text in a paragraph or in a cell of a table of LaTeX, for any of its engines.
pub(super) fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    for character in in_one_line(text) {
        match character {
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
            // Two hyphens would be a dash, and so with other ligatures.
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

/// The same, where a line may end after punctuation.
pub(super) fn breakable(text: &str) -> String {
    let mut broken = String::with_capacity(2 * text.len());
    for piece in text.split_inclusive(may_break_after) {
        broken.push_str(&latex(piece));
        // A line ends at a space anyway.
        if piece.ends_with(|end| end != ' ' && may_break_after(end)) {
            broken.push_str(r"\allowbreak{}");
        }
    }
    broken
}

/// A number, a dash for none, or another text of a column of numbers in LaTeX: with a minus, not with a
/// hyphen.
pub(super) fn latex_number(text: &str) -> String {
    match text.strip_prefix('-') {
        Some("") => "--".to_owned(),
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("$-${}", latex(rest))
        }
        Some(_) | None => latex(text),
    }
}

/// A word for a label: what TeX and its tools take in any of them.
pub(super) fn label(text: &str) -> String {
    let word = text.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' });
    word.collect()
}

/// Line breaks and other control characters are spaces.
fn in_one_line(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|character| if character.is_control() { ' ' } else { character })
}
