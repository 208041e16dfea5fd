//! Positions from books of chess: EPD and PGN (Edwards 1994, "Portable Game Notation Specification").

use std::ops::Range;

use super::{Chess, fen, pgn};
use crate::book::{BookError, BookFormat, BookPosition};
use crate::position::Position;

/// The positions of a book, in its order: of each line of EPD its own, of each game of PGN that after so many
/// plies, or its last if it has fewer.
pub(super) fn read(
    start: &Chess,
    format: BookFormat,
    text: &str,
    plies: Option<u32>,
) -> Result<Vec<BookPosition<Chess>>, BookError> {
    match format {
        BookFormat::Epd => lines(text).map(|(place, line)| epd(start, &place, line)).collect(),
        BookFormat::Pgn => {
            pgn::games(text)?.into_iter().map(|game| reached(start, &game, plies)).collect()
        }
    }
}

/// Lines that say something, each with its place.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let indent = line.len() - line.trim_start().len();
        let said = line.trim();
        let place = start + indent..start + indent + said.len();
        start += line.len();
        (!said.is_empty() && !said.starts_with('#')).then_some((place, said))
    })
}

/// Fields that EPD and FEN share.
const SHARED_FIELDS: usize = 4;

/// Four fields of a FEN and operations, or six.
fn epd(start: &Chess, place: &Range<usize>, line: &str) -> Result<BookPosition<Chess>, BookError> {
    let mut fields = line.split_whitespace();
    let shared: Vec<&str> = fields.by_ref().take(SHARED_FIELDS).collect();
    let clocks: Vec<&str> = fields.take(2).collect();
    let is_number = |field: &&str| field.bytes().all(|it| it.is_ascii_digit());
    let [clock, number] = match clocks[..] {
        [clock, number] if clocks.iter().all(is_number) => [clock, number],
        _ => [operand(line, "hmvc").unwrap_or("0"), operand(line, "fmvn").unwrap_or("1")],
    };
    let text = format!("{} {clock} {number}", shared.join(" "));
    let position = fen::read(start, &text).map_err(|error| BookError::of_notation(place, error))?;
    Ok(BookPosition { position, place: place.clone() })
}

/// What an operation of a line of EPD is about, if it is there: `hmvc 3;`.
fn operand<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    // A `;` in a quoted text ends nothing.
    let mut is_quoted = false;
    let mut operations = line.split(|character| {
        is_quoted ^= character == '"';
        character == ';' && !is_quoted
    });
    operations.find_map(|operation| {
        let words: Vec<&str> = operation.split_whitespace().collect();
        match words[..] {
            [.., found, operand] if found == name => Some(operand),
            _ => None,
        }
    })
}

fn reached(
    start: &Chess,
    game: &pgn::Game<'_>,
    plies: Option<u32>,
) -> Result<BookPosition<Chess>, BookError> {
    let mut position = match &game.start {
        None => start.clone(),
        Some((place, text)) => {
            fen::read(start, text).map_err(|error| BookError::of_notation(place, error))?
        }
    };
    let mut place = game.place.clone();
    let wanted = plies.map_or(usize::MAX, |plies| plies as usize);
    for (at, text) in game.moves.iter().take(wanted) {
        let mv = position.read_san(text).map_err(|error| BookError::of_notation(at, error))?;
        position.play_unchecked(mv);
        place = at.clone();
    }
    Ok(BookPosition { position, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(format: BookFormat, text: &str, plies: Option<u32>) -> Vec<(String, &str)> {
        let found = read(&Chess::initial(), format, text, plies).unwrap();
        found.into_iter().map(|it| (it.position.to_string(), &text[it.place])).collect()
    }

    fn error(format: BookFormat, text: &str) -> (String, String) {
        let error = read(&Chess::initial(), format, text, None).unwrap_err();
        (text[error.place].to_owned(), error.problem)
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
            (format!("{placement} 1"), "0 1"),
        ] {
            let found = positions(BookFormat::Epd, &line, None);
            assert_eq!(found, [(format!("{placement} {clocks}"), line.trim())], "{line}");
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
}
