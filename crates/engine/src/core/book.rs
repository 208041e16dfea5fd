//! Opening books in the formats in which they are exchanged.

use std::ops::Range;

/// The format of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookFormat {
    /// Extended Position Description: a position on each line, with operations behind it; a whole FEN on a
    /// line is read as well.
    Epd,
    /// Portable Game Notation: games, each of which is a line of play.
    Pgn,
}

impl BookFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Epd, Self::Pgn];

    /// The file name extension, without the dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Epd => "epd",
            Self::Pgn => "pgn",
        }
    }

    /// The format's name, for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epd => "EPD",
            Self::Pgn => "PGN",
        }
    }

    /// The format of a file, by its extension.
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Self::ALL.into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()))
    }
}

/// Decodes a book file: UTF-8, UTF-16 with a byte order mark, or else Latin-1, the encoding of PGN's standard
/// (3.2.1). Drops byte order marks and turns carriage returns into line feeds in files that have no line
/// feed.
#[must_use]
pub fn decode_text_file(bytes: Vec<u8>) -> String {
    let units = |unit: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    let text = match &bytes[..] {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect()),
    };
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    if text.contains('\n') { text } else { text.replace('\r', "\n") }
}

/// A position of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookPosition<P> {
    /// The position.
    pub position: P,
    /// The bytes of its line, or of the move that leads to it.
    pub place: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_text() {
        let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}Jörg\n".encode_utf16().flat_map(unit).collect()
        };
        for bytes in [
            "Jörg\n".into(),
            "\u{feff}Jörg\n".into(),
            b"J\xf6rg\n".to_vec(),
            "Jörg\r".into(),
            utf16(u16::to_le_bytes),
            utf16(u16::to_be_bytes),
        ] {
            assert_eq!(decode_text_file(bytes.clone()), "Jörg\n", "{bytes:?}");
        }
        assert_eq!(decode_text_file(vec![0xff, 0xfe, b'a']), "");
        assert_eq!(decode_text_file("a\r\nb\r".into()), "a\r\nb\r");
        assert_eq!(decode_text_file(Vec::new()), "");
    }
}
