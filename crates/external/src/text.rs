//! Splits bytes into lines and keeps a bounded part of them, whatever the input.

use memchr::{memchr, memchr2};

/// The kept length of a line. Principal variations are long; longer lines are no message of any protocol.
pub const LINE_BYTES_MAX: usize = 64 * 1_024;

/// Splits incoming bytes into lines. Lines end with LF, CR LF or CR; beyond [`LINE_BYTES_MAX`] the
/// rest is dropped.
#[derive(Debug, Default)]
pub struct Assembler {
    /// The bytes of an unfinished line.
    line: Vec<u8>,
    is_cut: bool,
    /// Texts of lines that are no longer needed: engines print many lines for each move.
    spare: Vec<String>,
}

/// The most texts kept for further lines, and the most bytes of each.
const SPARE_MAX: usize = 64;
const SPARE_BYTES_MAX: usize = 1_024;

/// A line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its text, with U+FFFD for invalid UTF-8.
    pub text: String,
    /// Whether it was truncated to [`LINE_BYTES_MAX`].
    pub is_cut: bool,
}

impl Assembler {
    /// Takes the next bytes, and passes on every line that ends in them. Both ends of a CR LF count, so an
    /// empty line follows: only GTP gives empty lines a meaning, and its reader does not end lines at CR
    /// ([`Assembler::take_keeping_cr`]).
    pub fn take(&mut self, bytes: &[u8], each: impl FnMut(Line)) {
        self.take_until(bytes, |rest| memchr2(b'\n', b'\r', rest), each);
    }

    /// The same with LF as the only line end: a CR before it is dropped.
    pub fn take_keeping_cr(&mut self, bytes: &[u8], mut each: impl FnMut(Line)) {
        self.take_until(
            bytes,
            |rest| memchr(b'\n', rest),
            |mut line| {
                while line.text.ends_with('\r') {
                    line.text.pop();
                }
                each(line);
            },
        );
    }

    /// The unfinished line, at the end of the input.
    pub fn finish(&mut self) -> Option<Line> {
        (!self.line.is_empty()).then(|| self.end_line())
    }

    /// Takes back a line that is no longer needed, for the memory of a later one.
    pub fn reuse(&mut self, line: Line) {
        let mut text = line.text;
        if self.spare.len() < SPARE_MAX && (1..=SPARE_BYTES_MAX).contains(&text.capacity()) {
            text.clear();
            self.spare.push(text);
        }
    }

    fn take_until(
        &mut self,
        bytes: &[u8],
        find_end: impl Fn(&[u8]) -> Option<usize>,
        mut each: impl FnMut(Line),
    ) {
        let mut rest = bytes;
        while let Some(end) = find_end(rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            // Most lines come in one piece.
            if self.line.is_empty() && line.len() <= LINE_BYTES_MAX {
                each(self.new_line(line, false));
            } else {
                self.extend(line);
                each(self.end_line());
            }
        }
        self.extend(rest);
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX - self.line.len();
        self.is_cut |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self) -> Line {
        let mut bytes = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
        let line = self.new_line(&bytes, is_cut);
        bytes.clear();
        self.line = bytes;
        line
    }

    fn new_line(&mut self, bytes: &[u8], is_cut: bool) -> Line {
        if bytes.is_empty() {
            return Line { text: String::new(), is_cut };
        }
        let mut text = self.spare.pop().unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(valid) => text.push_str(valid),
            Err(_) => text.push_str(&String::from_utf8_lossy(bytes)),
        }
        Line { text, is_cut }
    }
}

/// A foreign text made safe to store and display: truncated to this many bytes, with a blank for every
/// control character, and other characters that a reader cannot see escaped as in Rust's texts (`\u{202e}`).
#[must_use]
pub fn shown(text: &str, bytes_max: usize) -> String {
    let mut shown = String::new();
    push_shown(&mut shown, text, bytes_max);
    shown
}

/// Appends [`shown`].
fn push_shown(shown: &mut String, text: &str, bytes_max: usize) {
    let cut = &text[..text.floor_char_boundary(bytes_max)];
    // Nearly all lines are plain.
    let is_plain = cut.bytes().fold(true, |is_plain, byte| is_plain & matches!(byte, b' '..=b'~'));
    if is_plain {
        shown.push_str(cut);
    } else {
        shown.reserve(cut.len());
        for c in cut.chars() {
            if c.is_control() {
                shown.push(' ');
            } else if is_unseen(c) {
                shown.extend(c.escape_unicode());
            } else {
                shown.push(c);
            }
        }
    }
}

/// Whether a character changes its neighbours' direction, or is not visible.
fn is_unseen(c: char) -> bool {
    // A text escapes what cannot be printed, but an accent only where it has no letter before it.
    let mut bytes = *b"a\0\0\0\0";
    let length = c.encode_utf8(&mut bytes[1..]).len();
    let text = std::str::from_utf8(&bytes[..=length]).unwrap_or_default();
    !c.is_ascii() && text.escape_debug().nth(1) == Some('\\')
}

/// A foreign move, which must look like no other: as [`shown`], with every character but those of ASCII escaped.
#[must_use]
pub fn shown_move(mv: &str, bytes_max: usize) -> String {
    let cut = &mv[..mv.floor_char_boundary(bytes_max)];
    let mut shown = String::with_capacity(cut.len());
    for c in cut.chars() {
        if c == ' ' || c.is_ascii_graphic() {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// The line end of a text that is shown in one line.
pub const LINE_END: &str = " ⏎ ";

/// A foreign text of several lines, such as a traceback, as [`shown`] in one line with a mark for each line end.
#[must_use]
pub fn shown_lines(text: &str, bytes_max: usize) -> String {
    let lines = text.lines().map(|line| shown(line.trim_end(), bytes_max));
    let mut shown = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(LINE_END);
    if shown.len() > bytes_max {
        // The reason is in the last line of a traceback.
        let from = shown.ceil_char_boundary(shown.len() - bytes_max);
        shown.replace_range(..from, "…");
    }
    shown
}

/// A foreign text of several lines, each as [`shown`], in at most this many bytes.
#[must_use]
pub fn shown_text(text: &str, bytes_max: usize) -> String {
    let lines = text.trim().lines().map(|line| shown(line.trim_end(), bytes_max));
    let mut shown = lines.collect::<Vec<_>>().join("\n");
    if shown.len() > bytes_max {
        shown.truncate(shown.floor_char_boundary(bytes_max - '…'.len_utf8()));
        shown.push('…');
    }
    shown
}

/// The source of a line of a [`Transcript`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSource {
    /// This program, to the engine.
    Us,
    /// The engine, on its standard output.
    Output,
    /// The engine, on its standard error; also the guard, if it cannot start it.
    Errors,
}

impl LineSource {
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Us => "> ",
            Self::Output => "< ",
            Self::Errors => "! ",
        }
    }
}

/// The last lines of a conversation, for explanations.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Dropped lines, then those kept, each with its end.
    lines: String,
    /// The bytes of the dropped ones.
    dropped: usize,
}

impl Transcript {
    /// The kept bytes, marks and line ends included.
    pub const BYTES_MAX: usize = 8 * 1_024;
    /// The kept bytes of each line.
    pub const LINE_BYTES_MAX: usize = 400;

    /// Adds a line, and drops as many old ones as necessary.
    pub fn add(&mut self, voice: LineSource, text: &str) {
        self.lines.push_str(voice.mark());
        push_shown(&mut self.lines, text, Self::LINE_BYTES_MAX);
        if text.len() > Self::LINE_BYTES_MAX {
            self.lines.push_str(" …");
        }
        self.lines.push('\n');
        while self.lines.len() - self.dropped > Self::BYTES_MAX {
            let Some(end) = memchr(b'\n', &self.lines.as_bytes()[self.dropped..]) else { break };
            self.dropped += end + 1;
        }
        // Rarely, since the rest is moved.
        if self.dropped > 3 * Self::BYTES_MAX {
            self.lines.drain(..self.dropped);
            self.dropped = 0;
        }
    }

    /// The lines, oldest first: `> ` before lines to the engine, `< ` before its output, `! ` before its
    /// standard error.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines[self.dropped..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split_lines(chunks: &[&[u8]]) -> Vec<String> {
        let (mut assembler, mut texts) = (Assembler::default(), Vec::new());
        for chunk in chunks {
            let mut lines = Vec::new();
            assembler.take(chunk, |line| lines.push(line));
            for line in lines {
                texts.push(line.text.clone());
                assembler.reuse(line);
            }
        }
        texts.extend(assembler.finish().map(|line| line.text));
        texts
    }

    #[test]
    fn what_is_not_seen_is_escaped() {
        assert_eq!(shown("a\u{202e}b\u{200b}\t\"'\\", 99), "a\\u{202e}b\\u{200b} \"'\\");
        assert_eq!(shown("é e\u{301} 棋 \u{5d0}", 99), "é e\u{301} 棋 \u{5d0}");
        assert_eq!(shown_move("e2\u{435}4\n", 99), "e2\\u{435}4\\u{a}");
        assert_eq!(
            shown_lines("Traceback:\n  File 1\r\n\nError: x\n", 99),
            "Traceback: ⏎   File 1 ⏎ Error: x"
        );
        let long = format!("{}\nValueError: no", "é\n".repeat(99));
        assert!(shown_lines(&long, 20).ends_with(" ⏎ ValueError: no"));
    }

    #[test]
    fn lines_end_in_each_way_and_may_come_in_pieces() {
        assert_eq!(
            split_lines(&[b"a\nb\rc\r\n", b"d", b"e\n", b"f"]),
            ["a", "b", "c", "", "de", "f"]
        );
        let (mut assembler, mut lines) = (Assembler::default(), Vec::new());
        assembler.take_keeping_cr(b"= D3\r\n\r\n= \n\n", |line| lines.push(line.text));
        assert_eq!(lines, ["= D3", "", "= ", ""]);
    }

    #[test]
    fn a_line_of_megabytes_is_cut_and_the_next_is_whole() {
        let (mut assembler, mut lines) = (Assembler::default(), Vec::new());
        let long = vec![b'x'; 100_000];
        for _ in 0..50 {
            assembler.take(&long, |line| lines.push(line));
        }
        assembler.take(b"\nreadyok\n", |line| lines.push(line));
        assert_eq!(lines[0], Line { text: "x".repeat(LINE_BYTES_MAX), is_cut: true });
        assert_eq!(lines[1], Line { text: "readyok".to_owned(), is_cut: false });
    }

    #[test]
    fn a_transcript_keeps_the_end() {
        let mut transcript = Transcript::default();
        for number in 0..10_000 {
            transcript.add(LineSource::Output, &format!("info depth {number} \u{1b}[31m"));
        }
        transcript.add(LineSource::Errors, &"é".repeat(1_000));
        let text = transcript.text();
        assert!(text.len() <= Transcript::BYTES_MAX, "{}", text.len());
        assert!(text.contains("< info depth 9999  [31m\n"), "{text}");
        assert!(text.ends_with("é …\n") && !text.contains("depth 1 "), "{text}");
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_come(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            cut in 0_usize..300,
        ) {
            let (a, b) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(split_lines(&[&bytes]), split_lines(&[a, b]));
        }
    }
}
