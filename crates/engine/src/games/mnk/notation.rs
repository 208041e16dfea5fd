//! Positions, moves and boards as text.

use super::{Mnk, MnkMove, Shape};
use crate::core::cells::{Cells, Grid};
use crate::core::position::Position;
use crate::core::problem::Problem;

/// A column's letter.
pub(super) const fn letter(column: u32) -> char {
    (b'a' + column as u8) as char
}

pub(super) fn write(position: &Mnk) -> String {
    let character = |bit| match position.stones.each_ref().map(|stones| stones.has(bit)) {
        [true, _] => 'x',
        [_, true] => 'o',
        _ => '.',
    };
    position.shape.grid.cells().iter().map(character).collect()
}

/// Parses a position that play can reach, as far as its stones show it.
pub(super) fn parse(shape: Shape, text: &str) -> Result<Mnk, Problem> {
    let stones = parse_stones(shape.grid, text)?;
    let counts = stones.each_ref().map(Cells::len);
    if counts[0] != counts[1] && counts[0] != counts[1] + 1 {
        return Err(Problem::new(
            format!("{} x and {} o cannot be on one board", counts[0], counts[1]),
            "x moves first: give as many x as o, or one more",
        ));
    }
    let position = Mnk::of_stones(shape, stones);
    if position.is_won {
        check_end(&position)?;
    }
    Ok(position)
}

fn parse_stones(grid: Grid, text: &str) -> Result<[Cells; 2], Problem> {
    let count = grid.len();
    let error = |problem: String| {
        Problem::new(
            problem,
            format!(
                "write a position of this size as {count} characters, row by row from the top left: x (who moves \
                 first), o, . for empty"
            ),
        )
    };
    let mut stones = [Cells::default(); 2];
    let mut bits = grid.cells().iter();
    for (place, character) in (1..).zip(text.chars()) {
        let bit = bits.next().unwrap_or(u32::MAX);
        match character {
            '.' => {}
            'x' => _ = stones[0].insert(bit),
            'o' => _ = stones[1].insert(bit),
            other => return Err(error(format!("character {place} of the position is {other:?}"))),
        }
    }
    let length = text.chars().count();
    if length != count as usize {
        return Err(error(format!("the position's length is {length} instead of {count}")));
    }
    Ok(stones)
}

/// A game ends with the move that completes a line.
fn check_end(position: &Mnk) -> Result<(), Problem> {
    let remedy = "the game ends with the first complete line: take back the moves after it";
    let [own, mover] = position.own_and_other();
    if position.shape.has_line(own) {
        return Err(Problem::new("the player to move has a complete line already", remedy));
    }
    let is_last = |stone| !position.shape.has_line(&mover.without(&Cells::from_iter([stone])));
    if mover.iter().any(is_last) {
        return Ok(());
    }
    Err(Problem::new("no single stone completes all the lines", remedy))
}

pub(super) fn parse_move(grid: Grid, text: &str) -> Result<MnkMove, Problem> {
    parse_cell(grid, text).map(|(row, column)| MnkMove::new(row, column)).ok_or_else(|| {
        Problem::new(
            format!("`{text}` is not a move on this board"),
            format!(
                "write a cell from a1 (top left) to {}{}",
                letter(grid.columns() - 1),
                grid.rows()
            ),
        )
    })
}

/// The row and column of a cell such as `c2`.
fn parse_cell(grid: Grid, text: &str) -> Option<(u32, u32)> {
    let column = text.chars().next().filter(char::is_ascii_lowercase)?;
    let digits = &text[1..];
    let row: u32 = digits.parse().ok()?;
    // No sign and no leading zero.
    let is_plain = row.to_string() == digits;
    let column = u32::from(column) - u32::from('a');
    (is_plain && (1..=grid.rows()).contains(&row) && column < grid.columns())
        .then(|| (row - 1, column))
}

/// The board with the names of columns and rows, and the side to move or the game's end.
pub(super) fn board(position: &Mnk) -> String {
    let spaced = |cells: &[char]| {
        let cells: Vec<String> = cells.iter().map(char::to_string).collect();
        cells.join(" ")
    };
    let letters: Vec<char> = (0..position.columns()).map(letter).collect();
    let mut board = format!("   {}\n", spaced(&letters));
    let cells: Vec<char> = write(position).chars().collect();
    for (number, row) in (1..).zip(cells.chunks(position.columns() as usize)) {
        board.push_str(&format!("{number:>2} {}\n", spaced(row)));
    }
    board + &position.status()
}
