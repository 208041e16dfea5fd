//! Games in Portable Game Notation (Edwards 1994, "Portable Game Notation Specification"), as far as their
//! moves go: where a game starts and which moves it has. Comments, variations and annotations are passed over.

use std::ops::Range;

use crate::book::BookError;

/// A game's moves as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Game<'t> {
    /// Its first tag or move.
    pub(super) place: Range<usize>,
    /// Where it starts, if not at the start of the game: the tag `FEN`.
    pub(super) start: Option<(Range<usize>, String)>,
    /// Its moves in algebraic notation, each with its place. Whether they are legal nobody has looked.
    pub(super) moves: Vec<(Range<usize>, &'t str)>,
}

/// The games of a text.
///
/// # Errors
/// If a tag, a comment or a variation has no end, or something stands where none of these nor a move can be.
pub(super) fn games(text: &str) -> Result<Vec<Game<'_>>, BookError> {
    let mut reader = Reader { text, at: 0, games: Vec::new(), game: None };
    while let Some(next) = reader.skip_space() {
        match next {
            b'[' => reader.tag()?,
            b'{' => reader.comment()?,
            b'(' => reader.variation()?,
            b'$' => reader.at = reader.end_of(reader.at + 1, |byte| byte.is_ascii_digit()),
            b'.' => reader.at += 1,
            b'*' => {
                reader.at += 1;
                reader.end_game();
            }
            _ if is_symbol(next) => reader.symbol(),
            _ => return Err(reader.unexpected()),
        }
    }
    reader.end_game();
    Ok(reader.games)
}

/// Some editors begin files with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

struct Reader<'t> {
    text: &'t str,
    at: usize,
    games: Vec<Game<'t>>,
    /// The one that is being read.
    game: Option<Game<'t>>,
}

impl<'t> Reader<'t> {
    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Passes over white space, comments to the end of a line and escaped lines; the byte that comes next.
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes().get(self.at)?;
            let begins_line = self.at == 0 || self.bytes()[self.at - 1] == b'\n';
            if byte == b';' || (byte == b'%' && begins_line) {
                self.at = self.end_of(self.at, |byte| byte != b'\n');
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if self.bytes()[self.at..].starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len();
            } else {
                return Some(byte);
            }
        }
    }

    /// Where a run of such bytes ends.
    fn end_of(&self, start: usize, is_in: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(start..).unwrap_or_default();
        start + rest.iter().position(|&byte| !is_in(byte)).unwrap_or(rest.len())
    }

    /// The game that is being read, or a new one that begins here.
    fn game(&mut self, place: &Range<usize>) -> &mut Game<'t> {
        self.game.get_or_insert_with(|| Game { place: place.clone(), ..Game::default() })
    }

    fn end_game(&mut self) {
        self.games.extend(self.game.take());
    }

    /// `[Name "value"]`, in whose value `\"` and `\\` stand for quotes and backslashes.
    fn tag(&mut self) -> Result<(), BookError> {
        // Tags come before the moves: the result of the game before is missing.
        if self.game.as_ref().is_some_and(|game| !game.moves.is_empty()) {
            self.end_game();
        }
        let start = self.at;
        let unended = |reader: &Self| BookError {
            place: start..reader.end_of(start, |byte| byte != b'\n'),
            problem: "this tag does not end".to_owned(),
            remedy: "write it such as [Event \"a match\"]".to_owned(),
        };
        self.at += 1;
        self.skip_space();
        let name = self.at..self.end_of(self.at, is_symbol);
        self.at = name.end;
        if self.skip_space() != Some(b'"') {
            return Err(unended(self));
        }
        let quote = self.at;
        let mut value = String::new();
        let mut characters = self.text[quote + 1..].char_indices();
        let end = loop {
            match characters.next() {
                Some((offset, '"')) => break quote + 1 + offset,
                Some((_, '\\')) => value.extend(characters.next().map(|(_, escaped)| escaped)),
                None | Some((_, '\n')) => return Err(unended(self)),
                Some((_, character)) => value.push(character),
            }
        };
        self.at = end + 1;
        if self.skip_space() != Some(b']') {
            return Err(unended(self));
        }
        self.at += 1;
        let place = start..self.at;
        let is_fen = self.text[name].eq_ignore_ascii_case("FEN");
        let game = self.game(&place);
        if is_fen {
            game.start = Some((quote + 1..end, value));
        }
        Ok(())
    }

    /// `{…}`, which does not nest.
    fn comment(&mut self) -> Result<(), BookError> {
        let end = self.text[self.at..].find('}');
        let end = end.ok_or_else(|| self.without_end("comment", "}"))?;
        self.at += end + 1;
        Ok(())
    }

    /// `(…)`, with variations and comments in it.
    fn variation(&mut self) -> Result<(), BookError> {
        let begin = self.at;
        let mut depth = 0_usize;
        while let Some(next) = self.skip_space() {
            match next {
                b'{' => {
                    self.comment()?;
                    continue;
                }
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        self.at = begin;
        Err(self.without_end("variation", ")"))
    }

    fn without_end(&self, what: &str, end: &str) -> BookError {
        BookError {
            place: self.at..self.at + 1,
            problem: format!("this {what} does not end"),
            remedy: format!("end it with `{end}`"),
        }
    }

    /// A move, its number, or the game's result.
    fn symbol(&mut self) {
        let place = self.at..self.end_of(self.at, is_symbol);
        let text = self.text;
        let symbol = &text[place.clone()];
        self.at = place.end;
        let is_number = symbol.bytes().all(|byte| byte.is_ascii_digit());
        // Annotations that stand by themselves.
        let is_sign = symbol.bytes().all(|byte| b"!?+-=#/".contains(&byte));
        match symbol {
            "1-0" | "0-1" | "1/2-1/2" => self.end_game(),
            _ if is_number || is_sign => {}
            _ => self.game(&place).moves.push((place.clone(), symbol)),
        }
    }

    fn unexpected(&self) -> BookError {
        let character = self.text[self.at..].chars().next().unwrap_or_default();
        BookError {
            place: self.at..self.at + character.len_utf8(),
            problem: format!("`{}` cannot stand here", character.escape_debug()),
            remedy: "write tags in brackets, then moves such as 1. e4 e5 2. Nf3, then the result"
                .to_owned(),
        }
    }
}

/// What moves, their numbers and results are made of.
const fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'/' | b'+' | b'#' | b'=' | b':' | b'_' | b'!' | b'?')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(text: &str) -> Vec<Vec<&str>> {
        let games = games(text).unwrap();
        for game in &games {
            for (place, mv) in &game.moves {
                assert_eq!(&text[place.clone()], *mv);
            }
        }
        games.iter().map(|game| game.moves.iter().map(|&(_, mv)| mv).collect()).collect()
    }

    #[test]
    fn moves_are_found_among_everything_else() {
        for text in [
            "1. e4 e5 2. Nf3 *",
            "1.e4 e5 2.Nf3",
            "e4 e5 Nf3 1-0",
            "[Event \"?\"]\n[Site \"a \\\"b\\\" \\\\ ]\"]\n\n1. e4 {best} e5 $1 $14 2. Nf3!? 1/2-1/2",
            "1. e4 (1. d4 d5 (1... Nf6 {a ) here}) 2. c4) 1... e5 ; 2. Nc3 (\n2. Nf3 0-1\n",
            "%an escaped line {\n1... e4 1... e5 !? 2. Nf3 +/- *",
            "\u{feff}[Event\"x\"] 1. e4 e5 2. Nf3",
        ] {
            let found = moves(text);
            let bare: Vec<String> =
                found[0].iter().map(|mv| mv.trim_end_matches(['!', '?']).to_owned()).collect();
            assert_eq!((found.len(), bare.join(" ").as_str()), (1, "e4 e5 Nf3"), "{text}");
        }
    }

    #[test]
    fn games_end_with_their_results_or_where_tags_begin() {
        assert_eq!(moves("e4 1-0 d4 0-1 c4 * Nf3"), [["e4"], ["d4"], ["c4"], ["Nf3"]]);
        assert_eq!(moves("[A \"1\"]\ne4\n[A \"2\"]\n[B \"2\"]\nd4"), [["e4"], ["d4"]]);
        assert_eq!(moves("[A \"1\"] *\n[A \"2\"] e4"), [vec![], vec!["e4"]]);
        assert!(moves("").is_empty() && moves(" \r\n\t").is_empty());
    }

    #[test]
    fn a_game_may_start_elsewhere() {
        let text = "[SetUp \"1\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n1. e4";
        let found = games(text).unwrap();
        let (place, fen) = found[0].start.clone().unwrap();
        assert_eq!((fen.as_str(), &text[place]), ("8/8/8/8/8/8/8/8 w - - 0 1", &*fen));
        assert_eq!(found[0].place, 0..11);
    }

    #[test]
    fn what_has_no_end_or_no_sense_is_named_with_its_place() {
        for (text, wrong, problem) in [
            ("1. e4 {and so on", "{", "this comment does not end"),
            ("1. e4 (1. d4 (1. c4)", "(", "this variation does not end"),
            ("(1. d4 {x) 1. c4", "{", "this comment does not end"),
            ("[Event \"x]\n1. e4", "[Event \"x]", "this tag does not end"),
            ("[Event x]\n1. e4", "[Event x]", "this tag does not end"),
            ("[Event \"x\"\n1. e4", "[Event \"x\"", "this tag does not end"),
            ("[", "[", "this tag does not end"),
            ("1. e4 ) e5", ")", "`)` cannot stand here"),
            ("1. e4 é5", "é", "`é` cannot stand here"),
            ("1. e4 \u{0} e5", "\u{0}", "`\\0` cannot stand here"),
            ("<1. e4>", "<", "`<` cannot stand here"),
        ] {
            let error = games(text).unwrap_err();
            assert_eq!((&text[error.place], error.problem.as_str()), (wrong, problem), "{text}");
        }
    }

    proptest::proptest! {
        /// Whatever the text, places lie in it, between characters.
        #[test]
        fn any_text_is_read_or_refused(text in "[\\PC\\n\"\\[\\](){};%$.*1-9a-hx/\\\\]{0,60}") {
            match games(&text) {
                Ok(games) => {
                    for game in games {
                        for (place, mv) in game.moves {
                            proptest::prop_assert_eq!(&text[place], mv);
                        }
                    }
                }
                Err(error) => proptest::prop_assert!(text.get(error.place).is_some()),
            }
        }
    }
}
