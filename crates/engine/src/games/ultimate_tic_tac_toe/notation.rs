//! Positions, moves and boards as text.

use super::{ANY, BOARD, NINE, UltimateTicTacToe, UltimateTicTacToeMove, lines};
use crate::core::position::{Position, Side};
use crate::core::problem::Problem;

/// The column and row, from the top left, of a cell of a board.
pub(super) const fn place(board: usize, cell: usize) -> (usize, usize) {
    (board % 3 * 3 + cell % 3, board / 3 * 3 + cell / 3)
}

/// The board and cell at a place, row by row from the top left.
const fn cell_at(place: usize) -> (usize, usize) {
    let (row, column) = (place / NINE, place % NINE);
    (row / 3 * 3 + column / 3, row % 3 * 3 + column % 3)
}

/// The side whose mark is at a place.
pub(super) fn mark_at(position: &UltimateTicTacToe, place: usize) -> Option<Side> {
    let (board, cell) = cell_at(place);
    let has_mark = |side: &Side| position.marks[side.index()][board] >> cell & 1 == 1;
    [Side::First, Side::Second].into_iter().find(has_mark)
}

/// The characters of the cells, row by row.
fn cells(position: &UltimateTicTacToe) -> impl Iterator<Item = char> {
    (0..NINE * NINE).map(|place| {
        let letter = |side: Side| UltimateTicTacToe::SIDES[side.index()].letter;
        mark_at(position, place).map_or('.', letter)
    })
}

pub(super) fn write(position: &UltimateTicTacToe) -> String {
    let mut text: String = cells(position).collect();
    text.push(' ');
    text.push(if position.target == ANY { '-' } else { (b'1' + position.target) as char });
    text
}

/// Parses a position that play can reach, as far as is easy to check.
pub(super) fn parse(text: &str) -> Result<UltimateTicTacToe, Problem> {
    let error = |problem: String| {
        Problem::new(
            problem,
            "write an ultimate tic-tac-toe position as 81 characters, row by row from the top left: x (who \
             moves first), o, . for empty; then a space and the board to play in, 1 (top left) to 9, or -",
        )
    };
    let length = text.chars().count();
    if length != NINE * NINE + 2 {
        return Err(error(format!("the position's length is {length} instead of 83")));
    }
    let mut position = UltimateTicTacToe::empty();
    for (index, character) in text.chars().enumerate() {
        let side = match (index, character) {
            (0..81, '.') | (81, ' ') | (82, '-') => continue,
            (82, '1'..='9') => {
                position.target = character as u8 - b'1';
                continue;
            }
            (0..81, 'x') => 0,
            (0..81, 'o') => 1,
            (_, other) => {
                return Err(error(format!("character {} of the position is {other:?}", index + 1)));
            }
        };
        let (board, cell) = cell_at(index);
        position.marks[side][board] |= 1 << cell;
        position.open &= !(1 << (NINE * board + cell));
    }
    decide_boards(&mut position)?;
    check_target(&position)?;
    Ok(position)
}

/// Finds the boards that are won, whose turn it is, and whether the game is over.
fn decide_boards(position: &mut UltimateTicTacToe) -> Result<(), Problem> {
    let count = |marks: [u16; NINE]| marks.into_iter().map(u16::count_ones).sum::<u32>();
    let [crosses, noughts] = position.marks.map(count);
    if crosses != noughts && crosses != noughts + 1 {
        return Err(Problem::new(
            format!("{crosses} x and {noughts} o cannot be on the boards"),
            "x moves first: give as many x as o, or one more",
        ));
    }
    position.to_move = if crosses == noughts { Side::First } else { Side::Second };
    for board in 0..NINE {
        let has_line = position.marks.map(|marks| lines::has_line(marks[board]));
        if has_line == [true; 2] {
            return Err(Problem::new(
                format!("both sides have three in a row on board {}", board + 1),
                "no marks are placed on a board after the first three: leave one of them",
            ));
        }
        for (won, has_line) in position.won.iter_mut().zip(has_line) {
            *won |= u16::from(has_line) << board;
        }
        if has_line != [false; 2] {
            position.open &= !((BOARD as u128) << (NINE * board));
        }
    }
    let has_won = position.won.map(lines::has_line);
    if has_won[position.to_move.index()] {
        return Err(Problem::new(
            "the side to move has three boards in a row already",
            "the game ends with the first three boards: take back the moves after it",
        ));
    }
    if has_won != [false; 2] {
        position.open = 0;
    }
    Ok(())
}

/// The board to play in is where the last mark sent the side to move.
fn check_target(position: &UltimateTicTacToe) -> Result<(), Problem> {
    let mover = position.to_move.other().index();
    // The cells on which the last mark can be, in any board.
    let last = position.marks[mover].into_iter().fold(0, |cells, marks| cells | marks);
    let error = |problem: String| {
        Err(Problem::new(
            problem,
            "name the board that lies as the last mark does in its own, or - if that board is decided",
        ))
    };
    let is_start = last == 0;
    if position.target == ANY {
        let is_decided = |cell: usize| position.open_in(cell) == 0;
        let can_be = (0..NINE).any(|cell| last >> cell & 1 == 1 && is_decided(cell));
        if !is_start && !position.is_over() && !can_be {
            return error("no mark of the side that moved last gives a free choice".to_owned());
        }
        return Ok(());
    }
    let board = position.target + 1;
    if position.open_in(position.target.into()) == 0 {
        return error(format!("no mark can be placed on board {board}"));
    }
    if last >> position.target & 1 == 0 {
        return error(format!("no mark of the side that moved last leads to board {board}"));
    }
    Ok(())
}

pub(super) fn parse_move(text: &str) -> Result<UltimateTicTacToeMove, Problem> {
    match text.as_bytes() {
        [column @ b'a'..=b'i', row @ b'1'..=b'9'] => {
            let (board, cell) =
                cell_at(NINE * usize::from(row - b'1') + usize::from(column - b'a'));
            Ok(UltimateTicTacToeMove::new(board, cell))
        }
        _ => Err(Problem::new(
            format!("`{text}` is not an ultimate tic-tac-toe move"),
            "write a column from a (left) to i and a row from 1 (top) to 9, such as e5",
        )),
    }
}

/// The boards with the names of columns and rows, the winners of boards beside them, and the side to move or
/// the game's end.
pub(super) fn board(position: &UltimateTicTacToe) -> String {
    let cells: Vec<char> = cells(position).collect();
    let mut board = "  a b c  d e f  g h i\n".to_owned();
    for (row, cells) in cells.chunks(NINE).enumerate() {
        if row > 0 && row.is_multiple_of(3) {
            board.push('\n');
        }
        let thirds =
            cells.chunks(3).map(|third| third.iter().map(|cell| format!(" {cell}")).collect());
        let thirds: Vec<String> = thirds.collect();
        board.push_str(&format!("{}{}\n", row + 1, thirds.join(" ")));
    }
    for (won, side) in position.won.into_iter().zip(UltimateTicTacToe::SIDES) {
        let boards = (0..NINE).filter(|board| won >> board & 1 == 1);
        let boards: Vec<String> = boards.map(|board| (board + 1).to_string()).collect();
        if !boards.is_empty() {
            board.push_str(&format!("{} has won: {}\n", side.word, boards.join(" ")));
        }
    }
    board + &position.status()
}
