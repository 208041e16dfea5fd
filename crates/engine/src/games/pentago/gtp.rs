//! Pentago in GTP.
//!
//! A move is the row's letter from the top, the column's number from the left, and a letter for the turn:
//! quadrants go clockwise from the top left, each with its counter-clockwise turn first, from s to z. Every
//! move has a turn, even one whose placement wins, as in pentagod (Ewalds 2014). There is no command that
//! sets up a position: it is reached by moves.

use super::Pentago;
use super::moves::{Direction, PentagoMove, Quadrant, Turn};
use crate::core::position::Position;
use crate::core::problem::Problem;

/// The quadrants clockwise from the top left.
const CLOCKWISE: [Quadrant; 4] =
    [Quadrant::TopLeft, Quadrant::TopRight, Quadrant::BottomRight, Quadrant::BottomLeft];

/// The turns from s to z.
fn turns() -> impl Iterator<Item = (char, Turn)> {
    let directions = [Direction::CounterClockwise, Direction::Clockwise];
    let all = CLOCKWISE
        .into_iter()
        .flat_map(move |quadrant| directions.map(|direction| Turn { quadrant, direction }));
    ('s'..='z').zip(all)
}

/// A move in GTP. A winning placement gets an arbitrary turn.
pub(super) fn write(mv: PentagoMove) -> String {
    let (row, column) = (mv.cell() / 6, mv.cell() % 6);
    let is_possible = |turn: Turn| mv.turn().is_none_or(|own| own == turn);
    let turn = turns().find(|(_, turn)| is_possible(*turn)).map_or('s', |(letter, _)| letter);
    let letter = char::from(b'a' + u8::try_from(row).unwrap_or(0));
    format!("{letter}{}{turn}", column + 1)
}

/// Parses a GTP move in a position: its turn is dropped if the placement wins at once.
pub(super) fn read(position: &Pentago, text: &str) -> Result<PentagoMove, Problem> {
    let error = || {
        Problem::new(
            format!("`{text}` is not a move of Pentago over GTP"),
            "write the row from a to f, the column from 1 to 6 and the turn from s to z",
        )
    };
    let lower = text.to_ascii_lowercase();
    let mut letters = lower.chars();
    let (Some(row), Some(column), Some(turn), None) =
        (letters.next(), letters.next(), letters.next(), letters.next())
    else {
        return Err(error());
    };
    let row = ('a'..='f').zip(0..).find(|(letter, _)| *letter == row);
    let column = ('1'..='6').zip(0..).find(|(digit, _)| *digit == column);
    let turn = turns().find(|(letter, _)| *letter == turn);
    let (Some((_, row)), Some((_, column)), Some((_, turn))) = (row, column, turn) else {
        return Err(error());
    };
    let cell = 6 * row + column;
    let wins = PentagoMove::new(cell, None);
    Ok(if position.is_legal(wins) { wins } else { PentagoMove::new(cell, Some(turn)) })
}

/// The most ways back that are tried: almost always the first one leads to the start.
const TRIES_MAX: u32 = 100_000;

/// Moves that lead from the empty board to a position, if found: marbles are removed one by one, each after
/// undoing a turn, so that no intermediate position is the end of a game.
pub(super) fn moves_to(position: &Pentago) -> Option<Vec<PentagoMove>> {
    let start = Pentago::empty(position.win_before_rotation);
    let mut moves = Vec::new();
    let mut tries = TRIES_MAX;
    walk_back(&cells(position), &start, &mut moves, &mut tries).then(|| {
        moves.reverse();
        moves
    })
}

/// The cells as in the notation.
fn cells(position: &Pentago) -> [u8; 36] {
    let mut cells = [b'.'; 36];
    for (cell, byte) in cells.iter_mut().zip(position.to_string().bytes()) {
        *cell = byte;
    }
    cells
}

/// Adds the moves from last to first.
fn walk_back(
    cells: &[u8; 36],
    start: &Pentago,
    moves: &mut Vec<PentagoMove>,
    tries: &mut u32,
) -> bool {
    let count = |colour| cells.iter().filter(|cell| **cell == colour).count();
    let (whites, blacks) = (count(b'w'), count(b'b'));
    if whites + blacks == 0 {
        return true;
    }
    // White moves first, so the last move was white's if there is one white marble more.
    let colour = if whites > blacks { b'w' } else { b'b' };
    for (_, turn) in turns() {
        let before_turn = turned_back(cells, turn);
        for cell in (0..36).rev().filter(|cell| before_turn[*cell] == colour) {
            if *tries == 0 {
                return false;
            }
            *tries -= 1;
            let mut before = before_turn;
            before[cell] = b'.';
            let mv = PentagoMove::new(u32::try_from(cell).unwrap_or(0), Some(turn));
            if leads(&before, mv, cells, start) {
                moves.push(mv);
                if walk_back(&before, start, moves, tries) {
                    return true;
                }
                moves.pop();
            }
        }
    }
    false
}

/// Whether the preceding position is not over, and the move leads from it to these cells.
fn leads(before: &[u8; 36], mv: PentagoMove, after: &[u8; 36], start: &Pentago) -> bool {
    let text: String = before.iter().map(|cell| char::from(*cell)).collect();
    let Ok(mut position) = super::notation::parse(start.win_before_rotation, &text) else {
        return false;
    };
    if position.is_over() || !position.is_legal(mv) {
        return false;
    }
    position.play_unchecked(mv);
    cells(&position) == *after
}

/// The cells before a quadrant was turned.
fn turned_back(cells: &[u8; 36], Turn { quadrant, direction }: Turn) -> [u8; 36] {
    let (top, left) = match quadrant {
        Quadrant::TopLeft => (0, 0),
        Quadrant::TopRight => (0, 3),
        Quadrant::BottomLeft => (3, 0),
        Quadrant::BottomRight => (3, 3),
    };
    let mut turned = *cells;
    for row in 0..3 {
        for column in 0..3 {
            // The origin of the marble under a clockwise, or a counter-clockwise, turn.
            let (to_row, to_column) = match direction {
                Direction::Clockwise => (column, 2 - row),
                Direction::CounterClockwise => (2 - column, row),
            };
            turned[6 * (top + row) + left + column] = cells[6 * (top + to_row) + left + to_column];
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;

    fn position(text: &str) -> Pentago {
        super::super::notation::parse(true, text).unwrap()
    }

    #[test]
    fn moves_are_pentagods() {
        let empty = Pentago::empty(true);
        let parse = |text: &str| empty.parse_move(text).unwrap();
        for (ours, theirs) in [
            ("a1-1l", "a1s"),
            ("a1-1r", "a1t"),
            ("f1-2l", "a6u"),
            ("a6-4r", "f1x"),
            ("c2-3l", "b3y"),
            ("d5-3r", "e4z"),
        ] {
            assert_eq!(write(parse(ours)), theirs);
            assert_eq!(read(&empty, theirs), Ok(parse(ours)));
        }
        for text in ["", "a1", "g1s", "a7s", "a1r", "a1st", "pass", "ö1s"] {
            assert!(read(&empty, text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_placement_that_wins_needs_no_turn() {
        let four = position("wwww..bbb.......b...................");
        assert_eq!(read(&four, "a5x").map(|mv| mv.to_string()), Ok("e1".to_owned()));
        assert_eq!(write(four.parse_move("e1").unwrap()), "a5s");
    }

    /// Every position of random games is reached by the moves found.
    #[test]
    fn there_is_a_way_to_every_position() {
        for win_before_rotation in [true, false] {
            for seed in 0..60_u8 {
                let mut random = PlayoutRandom::from_seed(seed.into());
                let mut position = Pentago::empty(win_before_rotation);
                position.play_randomly(&mut random, u32::from(seed) % 30);
                if position.is_over() {
                    continue;
                }
                let moves = moves_to(&position).unwrap();
                let mut reached = Pentago::empty(win_before_rotation);
                for mv in moves {
                    assert!(!reached.is_over() && reached.is_legal(mv));
                    reached.play_unchecked(mv);
                }
                assert_eq!(reached.to_string(), position.to_string());
            }
        }
    }
}
