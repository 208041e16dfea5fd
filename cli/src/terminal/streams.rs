//! The last filter before a terminal: only colour escapes take effect, whatever the text's source.
//!
//! Names, errors and engines' output come from other people and machines. They are escaped on their way into tables
//! and messages ([`spelrum_report::text::escaped`]); this filter catches the rest, and data that is written raw
//! elsewhere. Pipes and files get every byte.

use std::io::{self, BufWriter, IsTerminal, Write};

use spelrum_report::text::is_hidden;

/// Standard output for the program's own texts, whose colour escapes take effect.
pub(crate) fn stdout() -> Box<dyn Write + Send> {
    let out = anstream::stdout();
    match out.is_terminal() {
        true => Box::new(ForTerminal::new(out, Styles::Ours)),
        false => Box::new(out),
    }
}

/// Standard output for data, without colours.
pub(crate) fn data_stdout() -> Box<dyn Write + Send> {
    let out = io::stdout();
    match out.is_terminal() {
        true => Box::new(ForTerminal::new(out, Styles::None)),
        false => Box::new(out),
    }
}

/// Standard error.
pub(crate) fn stderr() -> Box<dyn Write + Send> {
    let err = anstream::stderr();
    match err.is_terminal() {
        true => Box::new(ForTerminal::new(err, Styles::Ours)),
        false => Box::new(err),
    }
}

/// Which escapes of a text take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Styles {
    /// Colours and weights: `ESC [ … m`, with digits and semicolons.
    Ours,
    None,
}

/// Escapes characters that would control a terminal.
struct ForTerminal<W: Write> {
    /// Terminals are slow with single characters.
    out: BufWriter<W>,
    styles: Styles,
    /// The first bytes of an incomplete character or escape.
    begun: Vec<u8>,
}

/// The longest colour escape.
const STYLE_BYTES_MAX: usize = 40;

impl<W: Write> ForTerminal<W> {
    fn new(out: W, styles: Styles) -> Self {
        Self { out: BufWriter::new(out), styles, begun: Vec::new() }
    }

    /// Writes the complete part of a text and returns its length in bytes.
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match style(rest) {
                Style::Whole(length) if self.styles == Styles::Ours => {
                    self.out.write_all(&rest[..length])?;
                    length
                }
                Style::Begun if self.styles == Styles::Ours => return Ok(at),
                Style::Whole(_) | Style::Begun | Style::Other => match first_character(rest) {
                    First::Whole(character) => {
                        self.write_character(character)?;
                        character.len_utf8()
                    }
                    First::Begun => return Ok(at),
                    First::Invalid => {
                        write!(self.out, "\\x{:02x}", rest[0])?;
                        1
                    }
                },
            };
        }
        Ok(at)
    }

    fn write_character(&mut self, character: char) -> io::Result<()> {
        // The line end of CSV.
        if is_hidden(character) && character != '\r' {
            return write!(self.out, "{}", character.escape_unicode());
        }
        let mut bytes = [0; 4];
        self.out.write_all(character.encode_utf8(&mut bytes).as_bytes())
    }
}

impl<W: Write> Write for ForTerminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let written = self.write_whole(&all)?;
        self.begun = all.split_off(written);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for ForTerminal<W> {
    fn drop(&mut self) {
        for byte in std::mem::take(&mut self.begun) {
            // Without a terminal, the escape cannot be shown.
            let _unheard = write!(self.out, "\\x{byte:02x}");
        }
        let _unheard = self.out.flush();
    }
}

/// Whether a text begins with a colour escape.
enum Style {
    /// A complete escape of this many bytes.
    Whole(usize),
    /// The beginning of an escape.
    Begun,
    Other,
}

fn style(bytes: &[u8]) -> Style {
    const BEGINS: &[u8] = b"\x1b[";
    let compared = bytes.len().min(BEGINS.len());
    if bytes[..compared] != BEGINS[..compared] {
        return Style::Other;
    }
    let parameters = bytes.iter().skip(BEGINS.len()).take(STYLE_BYTES_MAX);
    let length = parameters.take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    match bytes.get(BEGINS.len() + length) {
        Some(b'm') => Style::Whole(BEGINS.len() + length + 1),
        Some(_) => Style::Other,
        None => Style::Begun,
    }
}

/// The beginning of a text.
enum First {
    Whole(char),
    Begun,
    Invalid,
}

fn first_character(bytes: &[u8]) -> First {
    let first = &bytes[..bytes.len().min(4)];
    let (valid, error) = match std::str::from_utf8(first) {
        Ok(valid) => (valid, None),
        Err(error) => {
            let valid = std::str::from_utf8(&first[..error.valid_up_to()]).unwrap_or_default();
            (valid, Some(error))
        }
    };
    match (valid.chars().next(), error) {
        (Some(character), _) => First::Whole(character),
        (None, Some(error)) if error.error_len().is_none() => First::Begun,
        (None, _) => First::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terminal's output for these pieces.
    fn written(styles: Styles, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut terminal = ForTerminal::new(&mut out, styles);
        for piece in pieces {
            terminal.write_all(piece).unwrap();
        }
        drop(terminal);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn colours_pass_and_nothing_else_acts() {
        let text =
            b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b[2J\x1b[31\xc3\xa9\xe6\xa3\x8b\r\n\x9b";
        assert_eq!(
            written(Styles::Ours, &[text]),
            "\u{1b}[1;31mred\u{1b}[0m \\u{1b}]0;title\\u{7}\\u{1b}[2J\\u{1b}[31é棋\r\n\\x9b"
        );
        assert_eq!(written(Styles::None, &[b"\x1b[31mx"]), "\\u{1b}[31mx");
        assert_eq!(written(Styles::None, &["a\u{202e}b".as_bytes()]), "a\\u{202e}b");
    }

    /// The output is independent of how a text is cut into pieces.
    #[test]
    fn pieces_leave_no_seam() {
        let text = "\u{1b}[1;31mé棋\u{1b}[0m\u{1b}[2Ja\u{202e}\u{1b}[".as_bytes();
        let whole = written(Styles::Ours, &[text]);
        for at in 0..=text.len() {
            assert_eq!(written(Styles::Ours, &[&text[..at], &text[at..]]), whole, "{at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(written(Styles::Ours, &bytes), whole);
        assert!(whole.ends_with("\\u{202e}\\x1b\\x5b"), "{whole}");
    }
}
