//! Words of a line, with what lies between them.

/// The words of a line, separated by any white space, as in UCI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) const fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    /// The rest, without surrounding white space.
    pub(crate) fn rest(&self) -> &'a str {
        self.line[self.at..].trim_ascii()
    }

    pub(crate) fn peek(&self) -> Option<&'a str> {
        let mut ahead = *self;
        ahead.next()
    }

    /// Takes the next word if it can be read as a `T`.
    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        let mut ahead = *self;
        let number = ahead.next()?.parse().ok()?;
        *self = ahead;
        Some(number)
    }

    /// Takes words up to a terminator, and returns their text; empty if there are none.
    pub(crate) fn until(&mut self, ends: impl Fn(&str) -> bool) -> &'a str {
        let rest = &self.line[self.at..];
        let start = self.at + (rest.len() - rest.trim_ascii_start().len());
        let mut end = start;
        let mut ahead = *self;
        while ahead.next().is_some_and(|word| !ends(word)) {
            *self = ahead;
            end = self.at;
        }
        &self.line[start..end]
    }
}

/// Whether a byte parts words; nearly all bytes are greater than a blank.
const fn is_white(byte: u8) -> bool {
    byte <= b' ' && byte.is_ascii_whitespace()
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.line.as_bytes().get(self.at..)?;
        let before = rest.iter().position(|&byte| !is_white(byte))?;
        let word = &rest[before..];
        let length = word.iter().position(|&byte| is_white(byte)).unwrap_or(word.len());
        let start = self.at + before;
        self.at = start + length;
        Some(&self.line[start..self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_by_any_white_space() {
        let mut words = Tokens::new("  a \t b\r\r12  c  d end x ");
        assert_eq!(words.next(), Some("a"));
        assert_eq!(words.number::<u8>(), None);
        assert_eq!(words.next(), Some("b"));
        assert_eq!(words.number::<u8>(), Some(12));
        assert_eq!(words.until(|word| word == "end"), "c  d");
        assert_eq!(words.until(|word| word == "end"), "");
        assert_eq!(words.next(), Some("end"));
        assert_eq!(words.rest(), "x");
        assert_eq!(words.until(|_| false), "x");
        assert_eq!(words.next(), None);
    }
}
