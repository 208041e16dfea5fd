//! Moves of games in Portable Game Notation (Edwards 1994, "Portable Game Notation Specification"): the start
//! position and the moves of each game. Comments, variations and annotations are skipped. Where games lack
//! their results, the next begins with its tags, after a blank line, or where the move numbers restart.

use std::ops::Range;

use super::fen::END_OF_FILE_MARK;
use crate::core::problem::{Problem, RangeProblem};

/// A game's moves as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Game<'t> {
    /// Its first tag or move.
    pub(super) place: Range<usize>,
    /// Its start position, if given: the tag `FEN`.
    pub(super) start: Option<(Range<usize>, String)>,
    /// Its rules, if given: the tag `Variant`.
    pub(super) variant: Option<(Range<usize>, String)>,
    /// Its moves in algebraic notation, each with its place. They may be illegal.
    pub(super) moves: Vec<(Range<usize>, &'t str)>,
    /// The first unreadable part. The text after it belongs to the same game.
    pub(super) wrong: Option<RangeProblem>,
}

/// The games of a text. After an unreadable part, reading continues with the next one.
pub(super) fn games(text: &str) -> Vec<Game<'_>> {
    let mut reader = Reader {
        text,
        at: 0,
        games: Vec::new(),
        game: None,
        number: None,
        is_after_blank_line: false,
        next_event: 0,
    };
    while let Some(next) = reader.skip_space() {
        let at = reader.at;
        let read = match next {
            b'[' => reader.tag(),
            b'{' => reader.comment(),
            b'(' => reader.variation(),
            b'$' => {
                reader.at = reader.end_of(at + 1, |byte| byte.is_ascii_digit());
                Ok(())
            }
            b'.' => {
                reader.at += 1;
                Ok(())
            }
            b'*' => {
                reader.at += 1;
                reader.end_game();
                Ok(())
            }
            _ if is_symbol(next) => reader.symbol(),
            _ => reader.other(),
        };
        if let Err(Unread { error, next, ends_game }) = read {
            reader.game(&error.place.clone()).wrong.get_or_insert(error);
            reader.at = next;
            if ends_game {
                reader.end_game();
            }
        }
    }
    reader.end_game();
    reader.games
}

/// An unreadable part, and how reading continues.
struct Unread {
    error: RangeProblem,
    next: usize,
    /// Whether the next part belongs to another game.
    ends_game: bool,
}

/// Non-ASCII signs of annotators (the Informator's, and dots of a move number).
const ANNOTATIONS: &str = "±∓⩲⩱∞□○⊙⨀⊕⨁⟳↻↑→⇆⇄△∆▽⌓…−";

/// Some editors begin files with it.
const MARK_BYTES: &[u8] = "\u{feff}".as_bytes();

struct Reader<'t> {
    text: &'t str,
    at: usize,
    games: Vec<Game<'t>>,
    /// The game in progress.
    game: Option<Game<'t>>,
    /// The last move number in it.
    number: Option<u32>,
    /// Whether there was a blank line since the last move, outside of comments.
    is_after_blank_line: bool,
    /// The first tag of a later game, or the end. Outdated if it is behind `at`.
    next_event: usize,
}

impl<'t> Reader<'t> {
    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn begins_line(&self) -> bool {
        let before = &self.bytes()[..self.at];
        let before = before.strip_suffix(MARK_BYTES).unwrap_or(before);
        before.last().is_none_or(|&byte| byte == b'\n' || byte == END_OF_FILE_MARK as u8)
    }

    /// Skips white space, marks, comments to the end of a line and escaped lines; returns the next byte.
    fn skip_space(&mut self) -> Option<u8> {
        let mut is_blank = self.begins_line();
        loop {
            let byte = *self.bytes().get(self.at)?;
            if byte == b';' || (byte == b'%' && self.begins_line()) {
                self.at = self.end_of(self.at, |byte| byte != b'\n');
                is_blank = false;
            } else if byte.is_ascii_whitespace() {
                if byte == b'\n' {
                    self.is_after_blank_line |= is_blank;
                    is_blank = true;
                }
                self.at += 1;
            } else if byte == END_OF_FILE_MARK as u8 {
                self.at += 1;
            } else if self.bytes()[self.at..].starts_with(MARK_BYTES) {
                self.at += MARK_BYTES.len();
            } else {
                return Some(byte);
            }
        }
    }

    /// The end of a run of such bytes.
    fn end_of(&self, start: usize, is_in: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(start..).unwrap_or_default();
        start + rest.iter().position(|&byte| !is_in(byte)).unwrap_or(rest.len())
    }

    /// The game in progress, or a new one that begins here.
    fn game(&mut self, place: &Range<usize>) -> &mut Game<'t> {
        self.game.get_or_insert_with(|| Game { place: place.clone(), ..Game::default() })
    }

    fn end_game(&mut self) {
        self.games.extend(self.game.take());
        self.number = None;
        self.is_after_blank_line = false;
    }

    fn has_moves(&self) -> bool {
        self.game.as_ref().is_some_and(|game| !game.moves.is_empty())
    }

    /// Ends a game without result, if the next part belongs to another.
    fn end_game_before(&mut self, number: Option<u32>) {
        let is_black = ["..", "…"].iter().any(|dots| self.rest().trim_start().starts_with(dots));
        let goes_on = match (number, self.number) {
            (Some(1), _) => {
                is_black && self.game.as_ref().is_some_and(|game| game.moves.len() <= 1)
            }
            // Some programs write blank lines between a game's lines.
            (Some(number), Some(last)) if self.is_after_blank_line => {
                number == last.saturating_add(1) || (is_black && number == last)
            }
            (Some(_), Some(_)) => true,
            (_, _) => !self.is_after_blank_line,
        };
        if self.has_moves() && !goes_on {
            self.end_game();
        }
        self.is_after_blank_line = false;
    }

    /// `[Name "value"]`, in whose value `\"` and `\\` stand for quotes and backslashes. Other text in
    /// brackets at the beginning of a line before the moves is skipped, as other programs do, unless it
    /// determines the start position.
    fn tag(&mut self) -> Result<(), Unread> {
        let start = self.at;
        let end = self.end_of(start, |byte| byte != b'\n');
        let line = &self.text[start..end];
        let name = line[1..].trim_start();
        let name = &name[..name.bytes().position(|byte| !is_symbol(byte)).unwrap_or(name.len())];
        let decides = ["FEN", "Variant"].iter().any(|tag| name.eq_ignore_ascii_case(tag));
        let Some((place, value, length)) = tag_value(line) else {
            if self.begins_line() && !decides && !self.has_moves() {
                self.at = end;
                return Ok(());
            }
            let error = Problem::at(
                start..start + line.trim_end().len(),
                "this tag does not end",
                "write it such as [Event \"a match\"]",
            );
            return Err(Unread { error, next: end, ends_game: false });
        };
        // Tags come before the moves: the previous game lacks its result.
        if self.has_moves() {
            self.end_game();
        }
        self.at = start + length;
        let tag = start..self.at;
        let game = self.game(&tag);
        let found = (start + place.start..start + place.end, value);
        if name.eq_ignore_ascii_case("FEN") {
            game.start = Some(found);
        } else if name.eq_ignore_ascii_case("Variant") {
            game.variant = Some(found);
        }
        Ok(())
    }

    /// `{…}`, which does not nest.
    fn comment(&mut self) -> Result<(), Unread> {
        let end = self.rest().find('}').map(|end| self.at + end);
        // A comment cannot contain the first tag of a game: its end is missing.
        let next = self.next_event();
        let end = end.filter(|&end| end < next);
        self.at = 1 + end.ok_or_else(|| self.without_end(self.at, "comment", "}"))?;
        Ok(())
    }

    /// `(…)`, with variations and comments in it.
    fn variation(&mut self) -> Result<(), Unread> {
        let begin = self.at;
        let mut depth = 0_usize;
        let next_event = self.next_event();
        while let Some(next) = self.skip_space() {
            if self.at >= next_event {
                break;
            }
            match next {
                b'{' => {
                    self.comment()?;
                    continue;
                }
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            if depth == 0 {
                self.is_after_blank_line = false;
                return Ok(());
            }
        }
        self.at = begin;
        Err(self.without_end(begin, "variation", ")"))
    }

    /// The first tag of a later game, or the end.
    fn next_event(&mut self) -> usize {
        if self.next_event <= self.at {
            let next = self.rest().find("\n[Event ").map(|offset| self.at + offset + 1);
            self.next_event = next.unwrap_or(self.text.len());
        }
        self.next_event
    }

    fn without_end(&self, at: usize, part: &str, end: &str) -> Unread {
        let error = Problem::at(
            at..at + 1,
            format!("this {part} does not end"),
            format!("end it with `{end}`"),
        );
        // Without tags only a blank line may separate games.
        let rest = &self.text[at..];
        let blank = || rest.find("\n\n").or_else(|| rest.find("\n\r\n"));
        let blank = || blank().filter(|_| !self.text.contains("[Event "));
        let next = match self.next_event {
            end if end == self.text.len() => blank().map_or(end, |offset| at + offset),
            next => next,
        };
        Unread { error, next, ends_game: true }
    }

    /// A move, a move number, or the game's result.
    fn symbol(&mut self) -> Result<(), Unread> {
        let mut place = self.at..self.end_of(self.at, is_symbol);
        let text = self.text;
        self.at = place.end;
        // En passant may be marked after the move.
        let is_letter = |letter: &str| text[..place.end].ends_with(letter);
        if self.rest().starts_with(".p.") && is_letter("e") {
            self.at += 3;
            place.end -= 1;
        } else if is_letter("ep") {
            place.end -= 2;
        }
        let symbol = &text[place.clone()];
        if matches!(symbol, "1-0" | "0-1" | "1/2-1/2" | "1/2") {
            self.end_game();
            return Ok(());
        }
        if matches!(symbol, "--" | "Z0" | "0000") {
            let error = Problem::at(
                place.clone(),
                format!("`{symbol}` is a null move, which chess does not have"),
                "leave the game out, or end it before",
            );
            return Err(Unread { error, next: place.end, ends_game: false });
        }
        // Standalone annotations.
        if symbol.bytes().all(|byte| b"!?+-=#/".contains(&byte)) {
            return Ok(());
        }
        let number = symbol.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.then(|| symbol.parse().unwrap_or(u32::MAX));
        self.end_game_before(number);
        match number {
            Some(_) => self.number = number,
            None => self.game(&place.clone()).moves.push((place, symbol)),
        }
        Ok(())
    }

    /// A character that is neither ASCII nor part of a move.
    fn other(&mut self) -> Result<(), Unread> {
        let rest = self.rest();
        let character = rest.chars().next().unwrap_or_default();
        let next = self.at + character.len_utf8();
        if rest.starts_with("½") {
            self.at = if rest.starts_with("½-½") { next + "-½".len() } else { next };
            self.end_game();
            return Ok(());
        }
        if ANNOTATIONS.contains(character) {
            self.at = next;
            return Ok(());
        }
        let error = Problem::at(
            self.at..next,
            format!("`{}` cannot stand here", character.escape_debug()),
            "write tags in brackets, then moves such as 1. e4 e5 2. Nf3, then the result",
        );
        Err(Unread { error, next, ends_game: false })
    }
}

/// The value of a tag that begins a line, its place there, and the tag's length.
fn tag_value(line: &str) -> Option<(Range<usize>, String, usize)> {
    let name = 1 + line[1..].len() - line[1..].trim_start().len();
    let name = name..name + line[name..].bytes().take_while(|&byte| is_symbol(byte)).count();
    let quote = line.len() - line[name.end..].trim_start().len();
    if name.is_empty() || !line[quote..].starts_with('"') {
        return None;
    }
    let begin = quote + 1;
    // After the closing quote.
    let length = |end: usize| {
        let after = line.get(end + 1..)?;
        let bracket = after.len() - after.trim_start().len();
        after[bracket..].starts_with(']').then_some(end + 1 + bracket + 1)
    };
    let mut value = String::new();
    let mut characters = line[begin..].char_indices();
    while let Some((offset, character)) = characters.next() {
        match (character, length(begin + offset)) {
            // Inner quotes may lack their escape.
            ('"', Some(length)) => return Some((begin..begin + offset, value, length)),
            ('\\', _) => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    // The backslash before the last quote escapes nothing: a path of another system.
    let end = begin + line[begin..].rfind('"')?;
    Some((begin..end, line[begin..end].to_owned(), length(end)?))
}

/// The characters of moves, move numbers and results.
const fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'/' | b'+' | b'#' | b'=' | b':' | b'_' | b'!' | b'?')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(text: &str) -> Vec<Vec<&str>> {
        let games = games(text);
        for game in &games {
            assert_eq!(game.wrong, None, "{text}");
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
            "1. e4 e5 2. Nf3 *\r\n\u{1a}",
            "1. e4 ± e5 2. Nf3 e.p. ep ½-½",
            "1. e4e.p. e5ep 2. Nf3 1/2",
            // Headers that other programs skip, quotes in quotes, and a path of another system.
            "[Event x]\n[\n[White \"\"Joe\" Doe\"]\n[Site \"C:\\\"]\n[Black \"a\"] [Round \"b\"]\n1. e4 e5 2. Nf3",
            // Blank lines between a game's lines, and moves numbered for each side.
            "1. e4 e5\n\n2. Nf3 *",
            "1. e4 {x}\n\n1... e5 2 . Nf3 *",
            "1. e4\n;\n{\n\n}\n%\ne5\nNf3",
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
        // Without results, separated by a blank line or by move numbers.
        for text in [
            "1. e4 e5\n\n1. d4 d5",
            "e4 e5\r\n \t\r\nd4 d5",
            "1. e4 e5 1. d4 d5",
            "1 e4 e5\n1 d4 d5",
            "1. e4 e5 {a}\n\n{b}\n1. d4 d5\n\n",
        ] {
            assert_eq!(moves(text), [["e4", "e5"], ["d4", "d5"]], "{text}");
        }
        assert_eq!(moves("1. e4 1. d4 1... d5"), [vec!["e4"], vec!["d4", "d5"]]);
        assert_eq!(moves("1... e5 2. d4 1... d5"), [vec!["e5", "d4"], vec!["d5"]]);
        assert!(moves("").is_empty() && moves(" \r\n\t").is_empty());
    }

    #[test]
    fn a_game_may_start_elsewhere() {
        let text = "[SetUp \"1\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n1. e4";
        let found = games(text);
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
            ("[FEN \"x]\n1. e4", "[FEN \"x]", "this tag does not end"),
            ("[Fen x]\n1. e4", "[Fen x]", "this tag does not end"),
            ("[Variant \"x\"\n1. e4", "[Variant \"x\"", "this tag does not end"),
            ("1. e4 [", "[", "this tag does not end"),
            ("1. e4\n[ e5", "[ e5", "this tag does not end"),
            ("1. e4 {a\n[Event \"b\"]\n1. d4 {c} *", "{", "this comment does not end"),
            ("1. e4 (1. é4\n[Event \"b\"]\n1. d4 (c) *", "(", "this variation does not end"),
            ("1. e4 -- 2. e5", "--", "`--` is a null move, which chess does not have"),
            ("1. e4 Z0 2. e5", "Z0", "`Z0` is a null move, which chess does not have"),
            ("1. e4 ) e5", ")", "`)` cannot stand here"),
            ("1. e4 é5", "é", "`é` cannot stand here"),
            ("1. e4 \u{0} e5", "\u{0}", "`\\0` cannot stand here"),
            ("<1. e4>", "<", "`<` cannot stand here"),
        ] {
            let error = games(text)[0].wrong.clone().unwrap();
            assert_eq!((&text[error.place], error.what.as_str()), (wrong, problem), "{text}");
        }
    }

    proptest::proptest! {
        /// In any text, places lie within it, between characters.
        #[test]
        fn any_text_is_read_or_refused(text in "[\\PC\\n\\r\\u{1a}\\u{feff}\"\\[\\](){};%$.*1-9a-hx/\\\\]{0,60}") {
            for game in games(&text) {
                for (place, mv) in game.moves {
                    proptest::prop_assert_eq!(&text[place], mv);
                }
                for place in game.wrong.map(|error| error.place).into_iter().chain([game.place]) {
                    proptest::prop_assert!(text.get(place).is_some());
                }
            }
        }
    }
}
