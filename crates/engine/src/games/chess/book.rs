//! Positions from books of chess: EPD and PGN (Edwards 1994, "Portable Game Notation Specification").

use std::ops::Range;

use super::fen::{self, is_mark};
use super::{Chess, pgn};
use crate::core::book::{BookFormat, BookPosition};
use crate::core::position::Position;
use crate::core::problem::{Problem, RangeProblem};

/// The positions of a book, in its order: each line of EPD, and of each game of PGN the position after
/// `plies` plies, or its last if it has fewer; or the error in the line or the game.
pub(super) fn read(
    start: &Chess,
    format: BookFormat,
    text: &str,
    plies: Option<u32>,
) -> Vec<Result<BookPosition<Chess>, RangeProblem>> {
    match format {
        BookFormat::Epd => lines(text).map(|(place, line)| epd(start, &place, line)).collect(),
        BookFormat::Pgn => {
            pgn::games(text).into_iter().map(|game| reached(start, game, plies)).collect()
        }
    }
}

/// Non-blank lines, each with its place.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let is_space = |character: char| character.is_whitespace() || is_mark(character);
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let indent = line.len() - line.trim_start_matches(is_space).len();
        let trimmed = line.trim_matches(is_space);
        let place = start + indent..start + indent + trimmed.len();
        start += line.len();
        (!trimmed.is_empty() && !trimmed.starts_with('#')).then_some((place, trimmed))
    })
}

/// The fields of a FEN, the last of which may be missing, and operations. Fields end at a semicolon.
fn epd(
    start: &Chess,
    place: &Range<usize>,
    line: &str,
) -> Result<BookPosition<Chess>, RangeProblem> {
    let mut rest = line;
    let mut fields = Vec::new();
    while fields.len() < FEN_FIELDS {
        let text = rest.trim_start();
        let (field, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        let bare = field.trim_end_matches([';', ',']);
        // The fifth and the sixth are numbers: operations begin with a letter.
        let is_number = bare.starts_with(|first: char| first.is_ascii_digit());
        if bare.is_empty() || (fields.len() >= SHARED_FIELDS && !is_number) {
            rest = text;
            break;
        }
        fields.push(bare);
        rest = after;
        if field.ends_with(';') {
            break;
        }
    }
    let operations = rest.trim_start_matches(|c: char| c.is_whitespace() || ";,".contains(c));
    if !operations.starts_with(|first: char| first.is_ascii_alphabetic() || first == '-')
        && !operations.is_empty()
    {
        return Err(Problem::at(
            place.clone(),
            format!("`{operations}` is not an operation of EPD"),
            "write operations behind the fields, such as bm e4; hmvc 3;",
        ));
    }
    for (number, name, usual) in [(4, "hmvc", "0"), (5, "fmvn", "1")] {
        if fields.len() == number {
            fields.push(operand(operations, name).unwrap_or(usual));
        }
    }
    let position =
        fen::read(start, &fields.join(" ")).map_err(|problem| problem.moved_to(place.clone()))?;
    Ok(BookPosition { position, place: place.clone() })
}

/// Fields of a FEN, and those that EPD shares with it.
const FEN_FIELDS: usize = 6;
const SHARED_FIELDS: usize = 4;

/// The operand of an operation in a line of EPD, if present: `hmvc 3;`.
fn operand<'l>(operations: &'l str, name: &str) -> Option<&'l str> {
    // A `;` in a quoted text ends nothing.
    let mut is_quoted = false;
    let mut operations = operations.split(|character| {
        is_quoted ^= character == '"';
        character == ';' && !is_quoted
    });
    operations.find_map(|operation| {
        let mut words = operation.split_whitespace();
        (words.next()? == name).then(|| words.next())?.map(|word| word.trim_matches('"'))
    })
}

fn reached(
    start: &Chess,
    game: pgn::Game<'_>,
    plies: Option<u32>,
) -> Result<BookPosition<Chess>, RangeProblem> {
    if let Some((place, variant)) = &game.variant {
        check_variant(start, place, variant)?;
    }
    if let Some(wrong) = game.wrong {
        return Err(wrong);
    }
    let mut position = match &game.start {
        None => start.clone(),
        Some((place, text)) => {
            fen::read(start, text).map_err(|problem| problem.moved_to(place.clone()))?
        }
    };
    let mut place = game.place;
    let wanted = plies.map_or(usize::MAX, |plies| plies as usize);
    for (at, text) in game.moves.into_iter().take(wanted) {
        let mv = position.read_san(text).map_err(|problem| problem.moved_to(at.clone()))?;
        position.play_unchecked(mv);
        place = at;
    }
    Ok(BookPosition { position, place })
}

/// Names of chess and of Chess960 in the tag `Variant`, in small letters without separators.
const CHESS_NAMES: [&str; 8] =
    ["", "?", "chess", "standard", "normal", "classical", "orthodox", "fromposition"];
const CHESS960_NAMES: [&str; 5] =
    ["chess960", "960", "fischerandom", "fischerrandom", "freestylechess"];

/// Whether this variant has the same rules as the given game.
fn check_variant(start: &Chess, place: &Range<usize>, variant: &str) -> Result<(), RangeProblem> {
    let name: String = variant.chars().filter(|c| !" -_".contains(*c)).collect();
    let name = name.to_lowercase();
    let is_960 = CHESS960_NAMES.contains(&&*name);
    if (is_960 && start.is_chess960) || CHESS_NAMES.contains(&&*name) {
        return Ok(());
    }
    let game = if start.is_chess960 { "Chess960" } else { "chess" };
    let remedy = if is_960 { "say chess960 = true of the game" } else { "leave such games out" };
    Err(Problem::at(
        place.clone(),
        format!("this is a game of {variant}, and not of {game}"),
        remedy.to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(format: BookFormat, text: &str, plies: Option<u32>) -> Vec<(String, &str)> {
        let found = read(&Chess::initial(), format, text, plies);
        let position =
            |entry: BookPosition<Chess>| (entry.position.to_string(), &text[entry.place]);
        found.into_iter().map(|entry| position(entry.unwrap())).collect()
    }

    fn error(format: BookFormat, text: &str) -> (String, String) {
        let found = read(&Chess::initial(), format, text, None);
        let error = found.into_iter().find_map(Result::err).unwrap();
        (text[error.place].to_owned(), error.what)
    }

    #[test]
    fn epd_has_four_fields_and_operations_or_six() {
        let placement = "4k3/8/8/8/8/8/4P3/4K3 w - -";
        for (line, clocks) in [
            (placement.to_owned(), "0 1"),
            (format!("{placement} 3 20"), "3 20"),
            (format!("  {placement} 3 20 ; bm e4;  "), "3 20"),
            (format!("{placement} bm e4; id \"a; hmvc 9; b\"; hmvc 4; fmvn 7;"), "4 7"),
            (format!("{placement} fmvn 7;hmvc 4;"), "4 7"),
            (format!("{placement} 2"), "2 1"),
            (format!("{placement} 2 bm e4; fmvn 9;"), "2 9"),
            // Fields end at a semicolon; some programs write commas.
            (format!("{placement} 45 90;"), "45 90"),
            (format!("{placement} 45 90; bm e4;"), "45 90"),
            (format!("{placement} 45, 90, bm e4"), "45 90"),
            (format!("{placement} 45; fmvn 9; hmvc 3;"), "45 9"),
            (format!("{placement}; hmvc \"3\";"), "3 1"),
            (format!("{placement};"), "0 1"),
            (format!("{placement} 0 0"), "0 1"),
            (format!("\u{feff}{placement} 3 20\u{1a}"), "3 20"),
        ] {
            let found = positions(BookFormat::Epd, &line, None);
            let entry = line.trim_matches(['\u{feff}', '\u{1a}', ' ']);
            assert_eq!(found, [(format!("{placement} {clocks}"), entry)], "{line}");
        }
        let text = format!("# a comment\n\n{placement} 0 1\r\n{placement} 0 2");
        let found = positions(BookFormat::Epd, &text, None);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].1, format!("{placement} 0 1"));
    }

    #[test]
    fn pgn_is_cut_after_so_many_plies() {
        let text = "[Event \"a\"]\n1. e4 e5 2. Nf3 Nc6 1-0\n[Event \"b\"]\n1. d4 *\n";
        let at = |plies| {
            let found = positions(BookFormat::Pgn, text, plies);
            found.iter().map(|(_, place)| (*place).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(at(None), ["Nc6", "d4"]);
        assert_eq!(at(Some(2)), ["e5", "d4"]);
        assert_eq!(at(Some(0)), ["[Event \"a\"]", "[Event \"b\"]"]);
        let (position, _) = &positions(BookFormat::Pgn, text, Some(3))[0];
        assert_eq!(position, "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
    }

    #[test]
    fn a_game_of_pgn_may_begin_elsewhere() {
        let text = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n1. e4 Kd7";
        let found = positions(BookFormat::Pgn, text, Some(1));
        assert_eq!(found, [("4k3/8/8/8/4P3/8/8/4K3 b - - 0 1".to_owned(), "e4")]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let (place, problem) = error(BookFormat::Epd, "4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3/8 w - -\n");
        assert_eq!(place, "4k3/8 w - -");
        assert!(problem.contains("2 ranks"), "{problem}");
        let (place, problem) = error(BookFormat::Pgn, "1. e4 e5 2. Ke3 *");
        assert_eq!(place, "Ke3");
        assert!(problem.contains("not legal"), "{problem}");
        let (place, _) = error(BookFormat::Pgn, "[FEN \"8/8 w\"]\n1. e4");
        assert_eq!(place, "8/8 w");
        let (place, problem) = error(BookFormat::Pgn, "1. e4 what e5");
        assert_eq!(place, "what");
        assert!(problem.contains("not a move in algebraic notation"), "{problem}");
    }

    #[test]
    fn another_variant_is_never_read_as_chess() {
        for (tags, rights, problem) in [
            ("[Variant \"Atomic\"]", "KQkq", "this is a game of Atomic, and not of chess"),
            ("[Variant \"Chess960\"]", "KQkq", "this is a game of Chess960, and not of chess"),
            (
                "[Variant \"fischerandom\"]",
                "KQkq",
                "this is a game of fischerandom, and not of chess",
            ),
            ("", "GCgc", "the third field, castling, is `GCgc`"),
        ] {
            let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w {rights} - 0 1");
            let (_, found) = error(BookFormat::Pgn, &format!("{tags}\n[FEN \"{fen}\"]\n\n1. e4 *"));
            assert!(found.contains(problem), "{found}");
        }
        for variant in ["Standard", "From Position", "chess", "?"] {
            let text = format!("[Variant \"{variant}\"]\n\n1. e4 *");
            assert_eq!(positions(BookFormat::Pgn, &text, None)[0].1, "e4");
        }
        let text = "[Variant \"Chess 960\"]\n\n1. e4 *";
        assert!(read(&Chess::chess960(518), BookFormat::Pgn, text, None)[0].is_ok());
        // Three-check and crazyhouse.
        let pieces = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        for line in [
            format!("{pieces} w KQkq - 3+3 0 1"),
            format!("{pieces} w KQkq - 0 1 +0+0"),
            format!("{pieces}[] w KQkq - 0 1"),
            format!("{pieces}/QN w KQkq - 0 1"),
        ] {
            error(BookFormat::Epd, &line);
        }
    }

    #[test]
    fn what_cannot_be_read_does_not_hide_what_can() {
        let text = "[Event \"a\"]\n\n1. e4 {unended\n\n[Event \"b\"]\n\n1. d4 -- 2. c4 *\n\n[Event \"c\"]\n\n\
                    1. c4 (1. d4\n\n[Event \"d\"]\n[FEN \"8/8\"]\n\n1. c4 *\n\n[Event \"e\"]\n\n1. c4 c5 *\n";
        let found = read(&Chess::initial(), BookFormat::Pgn, text, None);
        let places = found.iter().map(|entry| match entry {
            Ok(position) => &text[position.place.clone()],
            Err(error) => &text[error.place.clone()],
        });
        assert_eq!(places.collect::<Vec<_>>(), ["{", "--", "(", "8/8", "c5"]);
        assert_eq!(
            found.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [false, false, false, false, true]
        );
    }
}
