//! Notation: written texts are parsed back, and invalid positions and moves are refused with a
//! remedy.

use spelrum_engine::{Game, Played, Problem, Random, Rules, parse_legal_move};

use super::Sample;
use crate::common::brute_force::moves_of;
use crate::common::key;

/// Texts that no game reads.
const GARBAGE: &[&str] = &["", " ", "?", "é", "\0", ":", "a1 b1", "\u{1F600}", "ſ1"];

/// Characters that notations are made of, and some that are not.
const CHARACTERS: &[char] = &[
    '.', 'w', 'b', 'x', 'o', 'r', 'y', '+', '/', ',', '-', ':', ' ', '0', '1', '9', 'a', 'g', 'h',
    'A', 'é', '\n',
];

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    positions_are_read_back(sample);
    moves_are_read_back(sample);
    games_are_read_back(sample);
    other_texts_are_read_exactly_or_refused(sample);
    illegal_moves_are_refused(sample);
    boards_show_the_side_to_move(sample);
}

fn positions_are_read_back<G: Game>(sample: &Sample<'_, G>) {
    for position in sample.positions() {
        let text = position.to_string();
        assert_eq!(G::parse(sample.rules, &text).as_ref(), Ok(position), "{text}");
        // Games are written as a position, a colon and moves after spaces.
        let parts_games = |c: char| c == ':' || (c.is_whitespace() && c != ' ');
        assert!(!text.is_empty() && text.trim() == text && !text.contains(parts_games));
    }
}

fn moves_are_read_back<G: Game>(sample: &Sample<'_, G>) {
    for position in sample.positions() {
        for mv in moves_of(position) {
            let text = mv.to_string();
            assert_eq!(position.parse_move(&text), Ok(mv), "{text} in {position:?}");
            assert_eq!(parse_legal_move(position, &text), Ok(mv), "{text} in {position:?}");
            assert!(!text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == ':'));
        }
    }
}

fn games_are_read_back<G: Game>(sample: &Sample<'_, G>) {
    for game in &sample.games {
        let middle = game.moves.len() / 2;
        let start = game.positions[middle].clone();
        let played = Played { start, moves: game.moves[middle..].to_vec() };
        assert_eq!(played.last(), *game.positions.last().unwrap());
        assert_eq!(Played::parse(sample.rules, &played.to_string()), Ok(played));
    }
}

fn assert_refusal(text: &str, error: &Problem) {
    assert!(!error.what.is_empty() && !error.remedy.is_empty(), "{text:?}: {error:?}");
    assert_ne!(error.what, error.remedy, "{text:?}");
}

fn other_texts_are_read_exactly_or_refused<G: Game>(sample: &Sample<'_, G>) {
    let start = G::start(sample.rules).unwrap();
    for text in GARBAGE {
        assert_refusal(text, &G::parse(sample.rules, text).unwrap_err());
        assert_refusal(text, &start.parse_move(text).unwrap_err());
    }
    let mut random = Random::from_key(key(1));
    for position in sample.some_positions(200) {
        let text = position.to_string();
        let doubled = text.clone() + &text;
        assert_refusal(&doubled, &G::parse(sample.rules, &doubled).unwrap_err());
        for changed in changed(&text, &mut random) {
            match G::parse(sample.rules, &changed) {
                Ok(read) => assert_read(sample.rules, &changed, &read),
                Err(error) => assert_refusal(&changed, &error),
            }
        }
        for mv in moves_of(position).into_iter().take(5) {
            for changed in changed(&mv.to_string(), &mut random) {
                match position.parse_move(&changed) {
                    Ok(read) => assert_eq!(read.to_string(), changed),
                    Err(error) => assert_refusal(&changed, &error),
                }
            }
        }
    }
}

/// A position is read in the one form in which it is written, unless the game says otherwise.
fn assert_read<G: Game>(rules: &Rules, text: &str, read: &G) {
    let form = read.to_string();
    if G::READS_OTHER_FORMS {
        assert_eq!(G::parse(rules, &form).as_ref(), Ok(read), "{text:?}");
    } else {
        assert_eq!(form, text);
    }
}

/// The text with a character too many, too few, exchanged for another, and two in each other's place.
fn changed(text: &str, random: &mut Random) -> [String; 4] {
    let characters: Vec<char> = text.chars().collect();
    let mut place = || random.below(characters.len() as u32) as usize;
    let [mut more, mut fewer, mut other, mut swapped] = [(); 4].map(|()| characters.clone());
    swapped.swap(place(), place());
    fewer.remove(place());
    let places = [place(), place()];
    let mut character = || CHARACTERS[random.below(CHARACTERS.len() as u32) as usize];
    more.insert(places[0], character());
    other[places[1]] = character();
    [more, fewer, other, swapped].map(|characters| characters.into_iter().collect())
}

fn illegal_moves_are_refused<G: Game>(sample: &Sample<'_, G>) {
    for game in &sample.games {
        let over = game.positions.last().unwrap();
        for mv in &game.moves {
            let text = mv.to_string();
            assert_refusal(&text, &parse_legal_move(over, &text).unwrap_err());
        }
    }
}

fn boards_show_the_side_to_move<G: Game>(sample: &Sample<'_, G>) {
    for position in sample.positions() {
        let board = position.board();
        assert!(board.lines().count() > 1, "{board}");
        assert!(board.lines().all(|line| line.trim_end() == line), "{board:?}");
        let status = board.lines().last().unwrap();
        assert_eq!(status.ends_with("to move"), !position.is_over(), "{board}");
    }
}
