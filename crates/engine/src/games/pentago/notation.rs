//! Positions as text: the compact notation, and the board for people.

use std::fmt::Write as _;

use super::bitboard::Bitboard;
use super::cell_bits::bit_of_cell;
use super::{Pentago, State};
use crate::core::position::Position;
use crate::core::problem::Problem;

/// Follows the 36 cells of a position that ended by a placement.
const ENDED_BY_PLACEMENT: char = '+';

/// The notation: 36 characters, row by row from the top left, then `+` if the last placement made
/// five and the game ended before a turn.
pub(super) fn write(position: &Pentago) -> String {
    let [white, black] = position.white_and_black();
    let mut text: String = (0..36).map(|cell| cell_character(white, black, cell)).collect();
    if position.state == State::FiveByPlacement {
        text.push(ENDED_BY_PLACEMENT);
    }
    text
}

/// Parses the output of [`write()`].
pub(super) fn parse(win_before_rotation: bool, text: &str) -> Result<Pentago, Problem> {
    let (cells, by_placement) = match text.strip_suffix(ENDED_BY_PLACEMENT) {
        None => (text, false),
        Some(cells) => (cells, true),
    };
    let [white, black] = parse_cells(cells)?;
    let (whites, blacks) = (white.count(), black.count());
    if whites != blacks && whites != blacks + 1 {
        return Err(Problem::new(
            format!("{whites} white and {blacks} black marbles cannot be on one board"),
            "white moves first: give as many white as black marbles, or one more",
        ));
    }
    let [own, other] = if whites == blacks { [white, black] } else { [black, white] };
    let position =
        Pentago::from_boards(own, other, whites + blacks, by_placement, win_before_rotation);
    if by_placement {
        check_placement_end(&position)?;
    }
    Ok(position)
}

/// The board with coordinates, the quadrants apart, and the side to move or the game's end.
pub(super) fn board(position: &Pentago) -> String {
    let [white, black] = position.white_and_black();
    let mut text = String::from("    a b c   d e f\n");
    for row in 0..6 {
        if row == 3 {
            text.push('\n');
        }
        let _infallible = write!(text, "{}  ", row + 1);
        for column in 0..6 {
            text.push_str(if column == 3 { "   " } else { " " });
            text.push(cell_character(white, black, row * 6 + column));
        }
        text.push('\n');
    }
    text.push_str(&position.status());
    text
}

fn cell_character(white: Bitboard, black: Bitboard, cell: u32) -> char {
    let cell = Bitboard::cell(bit_of_cell(cell));
    if !white.and(cell).is_empty() {
        'w'
    } else if !black.and(cell).is_empty() {
        'b'
    } else {
        '.'
    }
}

fn parse_cells(text: &str) -> Result<[Bitboard; 2], Problem> {
    let error = |problem: String| {
        Problem::new(
            problem,
            "write a Pentago position as 36 characters, row by row from the top left: w for \
                 white, b for black, . for empty",
        )
    };
    let mut boards = [Bitboard::EMPTY; 2];
    let mut length = 0_usize;
    for (cell, character) in text.chars().enumerate() {
        length += 1;
        let colour = match character {
            '.' => continue,
            'w' => 0,
            'b' => 1,
            other => {
                let place = cell + 1;
                return Err(error(format!("character {place} of the position is {other:?}")));
            }
        };
        if let Some(cell) = u32::try_from(cell).ok().filter(|&cell| cell < 36) {
            boards[colour] = boards[colour].or(Bitboard::cell(bit_of_cell(cell)));
        }
    }
    if length != 36 {
        return Err(error(format!("the position's length is {length} instead of 36")));
    }
    Ok(boards)
}

/// A placement can have ended the game only under the rule that allows it, if its five is there, no
/// other colour's is, and some marble of the mover's is in all of the mover's fives.
fn check_placement_end(position: &Pentago) -> Result<(), Problem> {
    let error = |problem: &str| {
        Problem::new(
            format!("the position ends in `{ENDED_BY_PLACEMENT}`, but {problem}"),
            format!(
                "leave out `{ENDED_BY_PLACEMENT}`, which marks a game that ended by a placement"
            ),
        )
    };
    if !position.win_before_rotation {
        return Err(error("under these rules five counts only after the turn of a quadrant"));
    }
    if !position.other.has_five() || position.own.has_five() {
        return Err(error("the player who moved last is not the only one with five in a row"));
    }
    let mut marbles = position.other;
    while !marbles.is_empty() {
        if !position.other.without(Bitboard::cell(marbles.lowest())).has_five() {
            return Ok(());
        }
        marbles = marbles.without_lowest();
    }
    Err(error("no single placement makes all the fives on it"))
}
