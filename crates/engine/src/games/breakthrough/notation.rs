//! Positions and moves as text.

use super::{Breakthrough, BreakthroughMove, Way};
use crate::core::position::{Position, Side};
use crate::core::problem::Problem;
use crate::games::grid::Cell;

/// Parses a position that play can reach from the start, as far as is easy to check.
pub(super) fn parse(start: Breakthrough, text: &str) -> Result<Breakthrough, Problem> {
    let error = |problem: String| {
        let cells = start.grid().cells();
        Problem::new(
            problem,
            format!(
                "write a Breakthrough position as {cells} characters, row by row from the top left: w for \
                 white, b for black, . for empty; then a space and who is to move, w or b"
            ),
        )
    };
    let mut pawns = [0; 2];
    let read = start.grid().read::<Breakthrough>(text, &['w', 'b'], |cell, side| {
        pawns[side] |= 1 << (8 * cell.row + cell.column);
    });
    let to_move = read.map_err(error)?;
    let [own, other] = match to_move {
        Side::First => pawns,
        Side::Second => [pawns[1], pawns[0]],
    };
    let position = Breakthrough { own, other, to_move, ..start };
    check_pawns(&start, &position)?;
    Ok(position)
}

fn check_pawns(start: &Breakthrough, position: &Breakthrough) -> Result<(), Problem> {
    let most = start.own.count_ones();
    if position.pawns().into_iter().any(|pawns| pawns > most) {
        let [white, black] = position.pawns();
        return Err(Problem::new(
            format!("{white} white and {black} black pawns cannot be on one board"),
            format!("give each side at most {most} pawns, as at the start"),
        ));
    }
    let mover = position.to_move();
    if position.other == 0 || position.own & position.goal(mover) != 0 {
        return Err(Problem::new(
            "the side to move has won already",
            "the game ends with the first pawn on the far row and with the last capture: take back \
             the moves after it",
        ));
    }
    if (position.other & position.goal(mover.other())).count_ones() > 1 {
        return Err(Problem::new(
            "several pawns stand on the far row",
            "the game ends with the first pawn there: leave one",
        ));
    }
    Ok(())
}

/// Parses a move of the side to move.
pub(super) fn parse_move(position: &Breakthrough, text: &str) -> Result<BreakthroughMove, Problem> {
    let error = || {
        Problem::new(
            format!("`{text}` is not a Breakthrough move"),
            "write the pawn's cell and the one it moves to, such as a2-a3, or a2xb3 for a capture",
        )
    };
    let (from, rest) = Cell::parse(text).ok_or_else(error)?;
    let captures = rest.starts_with('x');
    let rest = rest.strip_prefix(['-', 'x']).ok_or_else(error)?;
    let (to, rest) = Cell::parse(rest).ok_or_else(error)?;
    let is_on_board = [from, to].into_iter().all(|cell| position.grid().has(cell));
    let way = match to.column as i32 - from.column as i32 {
        -1 => Way::Left,
        0 if !captures => Way::Straight,
        1 => Way::Right,
        _ => return Err(error()),
    };
    if !is_on_board || from.row.abs_diff(to.row) != 1 || !rest.is_empty() {
        return Err(error());
    }
    let [from, to] = [from, to].map(|cell| (8 * cell.row + cell.column) as u8);
    Ok(BreakthroughMove::new(way, from, to, captures))
}
