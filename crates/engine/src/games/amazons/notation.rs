//! Positions and moves as text.

use super::{Amazons, AmazonsMove, rays};
use crate::core::position::Side;
use crate::core::problem::Problem;
use crate::games::grid::Cell;
use crate::games::rectangle::{all_cells, bit_of};

/// Parses a position: at most four amazons of each side, and any arrows.
pub(super) fn parse(start: Amazons, text: &str) -> Result<Amazons, Problem> {
    let error = |problem: String| {
        let cells = start.grid().cells();
        Problem::new(
            problem,
            format!(
                "write an Amazons position as {cells} characters, row by row from the top left: w and b for \
                 amazons, x for arrows, . for empty; then a space and who is to move, w or b"
            ),
        )
    };
    let mut pieces = [0_u128; 3];
    let read = start.grid().read::<Amazons>(text, &['w', 'b', 'x'], |cell, kind| {
        pieces[kind] |= 1 << bit_of(cell);
    });
    let to_move = read.map_err(error)?;
    let [white, black, arrows] = pieces;
    let counts = [white, black].map(u128::count_ones);
    if counts.into_iter().any(|amazons| amazons > 4) {
        return Err(Problem::new(
            format!("{} white and {} black amazons cannot be on one board", counts[0], counts[1]),
            "give each side at most 4 amazons, as at the start",
        ));
    }
    let [own, other] = if to_move == Side::First { [white, black] } else { [black, white] };
    let empty = all_cells(start.grid()) & !(white | black | arrows);
    Ok(Amazons { own, other, empty, to_move, ..start })
}

/// Parses a move.
pub(super) fn parse_move(position: &Amazons, text: &str) -> Result<AmazonsMove, Problem> {
    let error = || {
        Problem::new(
            format!("`{text}` is not an Amazons move"),
            "write the amazon's cell, the one it moves to and the one it shoots at, each on a line with the \
             one before, such as d1-d7/g7",
        )
    };
    let (from, rest) = Cell::parse(text).ok_or_else(error)?;
    let (to, rest) = Cell::parse(rest.strip_prefix('-').ok_or_else(error)?).ok_or_else(error)?;
    let (arrow, rest) = Cell::parse(rest.strip_prefix('/').ok_or_else(error)?).ok_or_else(error)?;
    let is_on_board = [from, to, arrow].into_iter().all(|cell| position.grid().has(cell));
    if !is_on_board || !rest.is_empty() {
        return Err(error());
    }
    let [from, to, arrow] = [from, to, arrow].map(bit_of);
    rays::direction(from, to).ok_or_else(error)?;
    let (direction, distance) = rays::direction(to, arrow).ok_or_else(error)?;
    Ok(Amazons::move_of(from, direction, distance, arrow))
}
