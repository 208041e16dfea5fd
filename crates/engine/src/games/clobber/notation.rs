//! Positions and moves as text.

use super::{Clobber, ClobberMove, Way};
use crate::core::position::Side;
use crate::core::problem::Problem;
use crate::games::grid::Cell;
use crate::games::rectangle::bit_of;

/// Parses a position: any stones on a board of the same size, no more of either side than at the start.
pub(super) fn parse(start: Clobber, text: &str) -> Result<Clobber, Problem> {
    let error = |problem: String| {
        let cells = start.grid().cells();
        Problem::new(
            problem,
            format!(
                "write a Clobber position as {cells} characters, row by row from the top left: b for black \
                 (who moves first), w for white, . for empty; then a space and who is to move, b or w"
            ),
        )
    };
    let mut stones = [0; 2];
    let read = start.grid().read::<Clobber>(text, &['b', 'w'], |cell, side| {
        stones[side] |= 1 << bit_of(cell);
    });
    let to_move = read.map_err(error)?;
    let [own, other] = match to_move {
        Side::First => stones,
        Side::Second => [stones[1], stones[0]],
    };
    let position = Clobber { own, other, to_move, ..start };
    let (most, counts) = (start.stones_of_sides(), position.stones_of_sides());
    if counts[0] > most[0] || counts[1] > most[1] {
        return Err(Problem::new(
            format!("{} black and {} white stones cannot be on one board", counts[0], counts[1]),
            format!("give at most {} black and {} white ones, as at the start", most[0], most[1]),
        ));
    }
    Ok(position)
}

/// Parses a move.
pub(super) fn parse_move(position: &Clobber, text: &str) -> Result<ClobberMove, Problem> {
    let error = || {
        Problem::new(
            format!("`{text}` is not a Clobber move"),
            "write a stone's cell and the one beside it that it moves to, such as a1-a2",
        )
    };
    let (from, rest) = Cell::parse(text).ok_or_else(error)?;
    let (to, rest) = Cell::parse(rest.strip_prefix('-').ok_or_else(error)?).ok_or_else(error)?;
    let is_on_board = [from, to].into_iter().all(|cell| position.grid().has(cell));
    if !is_on_board || !rest.is_empty() {
        return Err(error());
    }
    let mut moves = Way::ALL.into_iter().map(|way| ClobberMove::new(way, bit_of(from)));
    moves.find(|mv| u32::from(mv.to) == bit_of(to)).ok_or_else(error)
}
