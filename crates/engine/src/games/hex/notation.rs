//! Positions, moves and boards as text.

use super::{EDGES_JOINED, Hex, HexMove};
use crate::core::cells::Cells;
use crate::core::position::{Position, Side};
use crate::core::problem::Problem;

/// The move that swaps pieces.
pub(super) const SWAP_PIECES: &str = "swap-pieces";

/// A column's letter.
pub(super) const fn letter(column: u32) -> char {
    (b'a' + column as u8) as char
}

/// The stones' letters and dots, row by row from the top left, and the side to move.
pub(super) fn write(position: &Hex) -> String {
    let mut text = cells(position);
    text.push(' ');
    text.push(Hex::SIDES[position.to_move().index()].letter);
    text
}

fn cells(position: &Hex) -> String {
    let character = |bit| match position.stones.each_ref().map(|stones| stones.has(bit)) {
        [true, _] => 'r',
        [_, true] => 'b',
        _ => '.',
    };
    position.grid.cells().iter().map(character).collect()
}

/// Parses a position that play can reach under the rules of `start`.
pub(super) fn parse(start: &Hex, text: &str) -> Result<Hex, Problem> {
    let (stones, to_move) = parse_stones(start, text)?;
    let position = Hex::of_stones(start.grid, stones, to_move, start.has_swap_rule);
    check_turn(&position)?;
    check_end(&position)?;
    Ok(position)
}

fn parse_stones(start: &Hex, text: &str) -> Result<([Cells; 2], Side), Problem> {
    let count = start.grid.len() as usize;
    let error = |problem: String| {
        Problem::new(
            problem,
            format!(
                "write a Hex position of this size as {count} characters, row by row from the top left: r for \
                 red (who moves first), b for blue, . for empty; then a space and who is to move, r or b"
            ),
        )
    };
    let length = text.chars().count();
    if length != count + 2 {
        return Err(error(format!("the position's length is {length} instead of {}", count + 2)));
    }
    let mut stones = [Cells::default(); 2];
    let mut to_move = Side::First;
    let mut bits = start.grid.cells().iter();
    for (place, character) in (0..).zip(text.chars()) {
        match (bits.next(), character) {
            (Some(_), '.') => {}
            (Some(bit), 'r') => _ = stones[0].insert(bit),
            (Some(bit), 'b') => _ = stones[1].insert(bit),
            (None, ' ') if place == count => {}
            (None, 'r') if place > count => to_move = Side::First,
            (None, 'b') if place > count => to_move = Side::Second,
            (_, other) => {
                return Err(error(format!("character {} of the position is {other:?}", place + 1)));
            }
        }
    }
    Ok((stones, to_move))
}

/// The sides move in turn, red first, unless blue took over red's first stone.
pub(super) fn check_turn(position: &Hex) -> Result<(), Problem> {
    let [red, blue] = position.stones.map(|stones| stones.len());
    let is_swapped = position.has_swap_rule && blue > 0;
    let is_possible = match position.to_move {
        Side::First => red == blue || is_swapped && blue == red + 1,
        Side::Second => red == blue + 1 || is_swapped && red == blue,
    };
    if is_possible {
        return Ok(());
    }
    let mover = Hex::side_name(position.to_move);
    Err(Problem::new(
        format!("with {red} red and {blue} blue stones, {mover} cannot be to move"),
        if position.has_swap_rule {
            "red moves first, and blue may take over the first stone: count the stones and check whose turn it is"
        } else {
            "red moves first: give as many red stones as blue ones, or one more and blue the turn"
        },
    ))
}

/// A game ends with the move that joins the edges.
fn check_end(position: &Hex) -> Result<(), Problem> {
    let remedy = "the game ends when edges are joined: take back the moves after that";
    let winner = position.to_move.other();
    // The edges of both cannot be joined.
    let is_last = |stones| {
        let of_stones = |stones| {
            Hex::of_stones(position.grid, stones, position.to_move, position.has_swap_rule)
        };
        !of_stones(stones).is_won
    };
    if !position.is_won {
        return Ok(());
    }
    let mut own = position.stones;
    own[winner.index()] = Cells::default();
    if !is_last(own) {
        let (side, words) = (Hex::side_name(position.to_move), EDGES_JOINED.words());
        return Err(Problem::new(format!("{side} is to move but has won: {words}"), remedy));
    }
    let mut last = position.stones[winner.index()].iter().map(|bit| {
        let mut stones = position.stones;
        stones[winner.index()] = stones[winner.index()].without(&Cells::from_iter([bit]));
        stones
    });
    if last.any(is_last) {
        return Ok(());
    }
    Err(Problem::new("no single stone joins the edges", remedy))
}

pub(super) fn parse_move(size: u32, text: &str) -> Result<HexMove, Problem> {
    if text == SWAP_PIECES {
        return Ok(HexMove::SWAP_PIECES);
    }
    parse_cell(size, text).map(|(row, column)| HexMove::new(row, column)).ok_or_else(|| {
        Problem::new(
            format!("`{text}` is not a Hex move"),
            format!(
                "write a cell from a1 (top left) to {}{size}, or {SWAP_PIECES}",
                letter(size - 1)
            ),
        )
    })
}

/// The row and column of a cell such as `c2`.
fn parse_cell(size: u32, text: &str) -> Option<(u32, u32)> {
    let column = text.chars().next().filter(char::is_ascii_lowercase)?;
    let digits = &text[1..];
    let row: u32 = digits.parse().ok()?;
    // No sign and no leading zero.
    let is_plain = row.to_string() == digits;
    let column = u32::from(column) - u32::from('a');
    (is_plain && (1..=size).contains(&row) && column < size).then(|| (row - 1, column))
}

/// The board with the names of columns and rows, each row shifted to the right, and the side to move or the game's
/// end.
pub(super) fn board(position: &Hex) -> String {
    let size = position.size();
    let spaced = |cells: &[char]| {
        let cells: Vec<String> = cells.iter().map(char::to_string).collect();
        cells.join(" ")
    };
    let letters: Vec<char> = (0..size).map(letter).collect();
    let mut board = format!("   {}\n", spaced(&letters));
    let cells: Vec<char> = cells(position).chars().collect();
    for (row, cells) in cells.chunks(size as usize).enumerate() {
        let (number, shift) = (row + 1, " ".repeat(row));
        board.push_str(&format!("{shift}{number:>2} {}\n", spaced(cells)));
    }
    board + &position.status()
}
