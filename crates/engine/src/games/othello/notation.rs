//! Positions and boards as text.

use super::{CENTRE, Othello, OthelloMove, SQUARES, board};
use crate::core::position::{Position, Side};
use crate::core::problem::Problem;

pub(super) fn write(position: &Othello) -> String {
    let mut text = squares(position);
    text.push(' ');
    text.push(Othello::SIDES[position.to_move().index()].letter);
    text
}

/// A character for each square, row by row from the top left.
fn squares(position: &Othello) -> String {
    let [black, white] = position.black_and_white();
    (0..SQUARES)
        .map(|square| match (black >> square & 1, white >> square & 1) {
            (0, 0) => '.',
            (0, _) => 'w',
            _ => 'b',
        })
        .collect()
}

/// Parses a position that play can reach, as far as is easy to check: the middle is occupied, and every disc
/// was placed beside another.
pub(super) fn parse(text: &str) -> Result<Othello, Problem> {
    let ([black, white], to_move) = parse_discs(text)?;
    let all = black | white;
    if let Some(square) = (0..SQUARES).find(|square| (CENTRE & !all) >> square & 1 == 1) {
        return Err(Problem::new(
            format!("there is no disc on {}", OthelloMove::new(square)),
            "put discs on d4, e4, d5 and e5: they are there from the start",
        ));
    }
    let mut joined = CENTRE;
    loop {
        let grown = (joined | board::beside(joined)) & all;
        if grown == joined {
            break;
        }
        joined = grown;
    }
    if let Some(square) = (0..SQUARES).find(|square| (all & !joined) >> square & 1 == 1) {
        return Err(Problem::new(
            format!("no discs lead from the middle to the one on {}", OthelloMove::new(square)),
            "a move puts a disc beside another: let all of them be joined",
        ));
    }
    Ok(match to_move {
        Side::First => Othello::of_discs(black, white, to_move),
        Side::Second => Othello::of_discs(white, black, to_move),
    })
}

/// Black's discs and White's, and the side to move.
fn parse_discs(text: &str) -> Result<([u64; 2], Side), Problem> {
    let error = |problem: String| {
        Problem::new(
            problem,
            "write an Othello position as 64 characters, row by row from the top left: b for \
                 black, w for white, . for empty; then a space and who is to move, b or w",
        )
    };
    let length = text.chars().count();
    if length != SQUARES as usize + 2 {
        return Err(error(format!("the position's length is {length} instead of 66")));
    }
    let mut discs = [0; 2];
    let mut to_move = Side::First;
    for (place, character) in (0..).zip(text.chars()) {
        match (place, character) {
            (0..SQUARES, '.') | (SQUARES, ' ') => {}
            (0..SQUARES, 'b') => discs[0] |= 1 << place,
            (0..SQUARES, 'w') => discs[1] |= 1 << place,
            (65, 'b') => to_move = Side::First,
            (65, 'w') => to_move = Side::Second,
            (_, other) => {
                return Err(error(format!("character {} of the position is {other:?}", place + 1)));
            }
        }
    }
    Ok((discs, to_move))
}

/// The board with the names of columns and rows, and the side to move or the game's end.
pub(super) fn board(position: &Othello) -> String {
    let squares: Vec<char> = squares(position).chars().collect();
    let mut board = "  a b c d e f g h\n".to_owned();
    for (number, row) in (1..).zip(squares.chunks(8)) {
        let row: Vec<String> = row.iter().map(char::to_string).collect();
        board.push_str(&format!("{number} {}\n", row.join(" ")));
    }
    board + &position.status()
}
