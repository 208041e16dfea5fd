//! Positions, moves and boards as text.

use super::{BOTTOM, CELLS, COLUMN_BITS, COLUMNS, ConnectFour, ConnectFourMove, ROWS, fours};
use crate::core::position::Position;
use crate::core::problem::Problem;

/// The bits of the cells, row by row from the top left.
fn cells() -> impl Iterator<Item = u64> {
    (0..ROWS)
        .rev()
        .flat_map(|row| (0..COLUMNS).map(move |column| 1 << (COLUMN_BITS * column + row)))
}

pub(super) fn write(position: &ConnectFour) -> String {
    let [red, yellow] = position.red_and_yellow();
    cells()
        .map(|cell| match (red & cell, yellow & cell) {
            (0, 0) => '.',
            (0, _) => 'y',
            _ => 'r',
        })
        .collect()
}

/// Parses a position that play can reach, as far as its discs show it.
pub(super) fn parse(text: &str) -> Result<ConnectFour, Problem> {
    let [red, yellow] = parse_cells(text)?;
    let all = red | yellow;
    let counts = [red, yellow].map(u64::count_ones);
    if counts[0] != counts[1] && counts[0] != counts[1] + 1 {
        return Err(Problem::new(
            format!("{} red and {} yellow discs cannot be on one board", counts[0], counts[1]),
            "red moves first: give as many red discs as yellow ones, or one more",
        ));
    }
    // A column without a gap is one less than a power of two.
    if all & (all + BOTTOM) != 0 {
        return Err(Problem::new(
            "a disc has an empty cell below it",
            "let the discs lie on each other, from the bottom row up",
        ));
    }
    let [own, mover] = if counts[0] == counts[1] { [red, yellow] } else { [yellow, red] };
    if fours::has_four(own) {
        return Err(Problem::new(
            "the player to move has four in a row already",
            "the game ends with the first four: take back the moves after it",
        ));
    }
    let is_won = fours::has_four(mover);
    // The highest disc of each column: one of them was the last.
    let highest = all & !(all >> 1);
    let mut last = cells().filter(|cell| highest & mover & cell != 0);
    if is_won && last.all(|disc| fours::has_four(mover ^ disc)) {
        return Err(Problem::new(
            "no single disc makes all the fours",
            "the game ends with the first four: take back the moves after it",
        ));
    }
    Ok(ConnectFour { own, all, is_won })
}

fn parse_cells(text: &str) -> Result<[u64; 2], Problem> {
    let error = |problem: String| {
        Problem::new(
            problem,
            "write a Connect Four position as 42 characters, row by row from the top left: r \
                 for red (who moves first), y for yellow, . for empty",
        )
    };
    let mut discs = [0; 2];
    let mut cells = cells();
    for (place, character) in (1..).zip(text.chars()) {
        let cell = cells.next().unwrap_or(0);
        match character {
            '.' => {}
            'r' => discs[0] |= cell,
            'y' => discs[1] |= cell,
            other => return Err(error(format!("character {place} of the position is {other:?}"))),
        }
    }
    let length = text.chars().count();
    if length != CELLS as usize {
        return Err(error(format!("the position's length is {length} instead of {CELLS}")));
    }
    Ok(discs)
}

pub(super) fn parse_move(text: &str) -> Result<ConnectFourMove, Problem> {
    match text.as_bytes() {
        [column @ b'a'..=b'g'] => Ok(ConnectFourMove(column - b'a')),
        _ => Err(Problem::new(
            format!("`{text}` is not a Connect Four move"),
            "write a column from a (left) to g (right)",
        )),
    }
}

/// The board with the columns' letters, and the side to move or the game's end.
pub(super) fn board(position: &ConnectFour) -> String {
    let cells: Vec<char> = write(position).chars().collect();
    let spaced = |line: &[char]| -> String {
        let line: Vec<String> = line.iter().map(char::to_string).collect();
        line.join(" ") + "\n"
    };
    let mut board = spaced(&['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    cells.chunks(COLUMNS as usize).for_each(|row| board.push_str(&spaced(row)));
    board + &position.status()
}
