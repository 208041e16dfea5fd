//! Positions and boards as text.

use std::fmt::{self, Write as _};

use super::{Cells, Go, STRIDE, moves};
use crate::core::position::{Position, Side};
use crate::core::problem::Problem;

/// The characters of a row's points.
fn row(position: &Go, row: u32) -> impl Iterator<Item = char> {
    let ([black, white], ko) = (position.stones, position.ko.map(u32::from));
    (STRIDE * row..STRIDE * row + position.size()).map(move |cell| {
        match (black.has(cell), white.has(cell)) {
            (true, _) => 'b',
            (_, true) => 'w',
            _ if ko == Some(cell) => 'k',
            _ => '.',
        }
    })
}

pub(super) fn write(position: &Go, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for number in (0..position.size()).rev() {
        row(position, number).try_for_each(|point| f.write_char(point))?;
        f.write_char(if number == 0 { ' ' } else { '/' })?;
    }
    let side = Go::SIDES[position.to_move().index()].letter;
    write!(f, "{side} {} {}", position.passes, position.plies)
}

/// Parses a position that play can reach, as far as is easy to check.
pub(super) fn parse(start: Go, text: &str) -> Result<Go, Problem> {
    let size = start.size();
    let remedy = format!(
        "write a Go position as {size} rows of {size} points from the top, divided by /: b for black, w for white, \
         . for a free point, k for one that ko forbids; then the side to move, b or w, the passes just made, and the \
         plies played, each after a space"
    );
    let error = |problem: String| Problem::new(problem, remedy.clone());
    let fields: Vec<&str> = text.split(' ').collect();
    let &[board, side, passes, plies] = &fields[..] else {
        return Err(error(format!("the position has {} parts instead of 4", fields.len())));
    };
    let mut position = start;
    let rows: Vec<&str> = board.split('/').collect();
    if rows.len() != size as usize {
        return Err(error(format!("the position has {} rows instead of {size}", rows.len())));
    }
    for (row, text) in (0..size).rev().zip(rows) {
        let length = text.chars().count();
        if length != size as usize {
            return Err(error(format!("row {} has {length} points instead of {size}", row + 1)));
        }
        for (cell, character) in (STRIDE * row..).zip(text.chars()) {
            let point = Cells::one(cell);
            match character {
                '.' => {}
                'b' => position.stones[0] = position.stones[0].or(point),
                'w' => position.stones[1] = position.stones[1].or(point),
                'k' if position.ko.is_none() => position.ko = Some(cell as u16),
                other => return Err(error(format!("row {} has {other:?}", row + 1))),
            }
        }
    }
    position.to_move = match side {
        "b" => Side::First,
        "w" => Side::Second,
        other => return Err(error(format!("{other:?} is not a side"))),
    };
    let number = |text: &str, max: u32, what: &str| {
        let number = text.parse().ok().filter(|number: &u32| *number <= max);
        let number = number.filter(|number| number.to_string() == text);
        number.ok_or_else(|| error(format!("{text:?} is not a number of {what}, from 0 to {max}")))
    };
    position.passes = number(passes, 2, "passes")? as u8;
    position.plies = number(plies, start.plies_max(), "plies")? as u16;
    check(&position)?;
    Ok(position)
}

/// Every group has a free point, and what is said of passes and a ko can be.
fn check(position: &Go) -> Result<(), Problem> {
    let [black, white] = position.stones;
    let all = super::boards(position.size());
    let free = all.without(black.or(white));
    for stones in [black, white] {
        let alive = free.beside(stones).flooded(stones);
        if let Some(cell) = stones.without(alive).iter().next() {
            return Err(Problem::new(
                format!("the group on {} has no free point beside it", moves::GoMove::at(cell)),
                "leave captured stones out",
            ));
        }
    }
    if position.passes as u16 > position.plies {
        return Err(Problem::new(
            format!("{} passes are not {} plies", position.passes, position.plies),
            "count the passes among the plies",
        ));
    }
    if let Some(ko) = position.ko
        && before_ko(position).is_none()
    {
        return Err(Problem::new(
            format!(
                "no stone can have been captured on {} as a ko",
                moves::GoMove::at(u32::from(ko))
            ),
            "write `.` instead of `k` where the last move did not capture a single stone that could retake",
        ));
    }
    Ok(())
}

/// The position before the ko's capture, and the capture: where all points beside that of the ko are the
/// capturer's stones, and the last of them was put there.
pub(super) fn before_ko(position: &Go) -> Option<(Go, moves::GoMove)> {
    let ko = Cells::one(u32::from(position.ko?));
    let capturer = position.to_move.other();
    let beside = ko.beside(super::boards(position.size()));
    let plies = position.plies.checked_sub(1)?;
    beside.and(position.stones[capturer.index()]).iter().find_map(|cell| {
        let mut before = Go { plies, ko: None, to_move: capturer, ..*position };
        let [own, other] = [capturer, capturer.other()].map(Side::index);
        before.stones[own] = before.stones[own].without(Cells::one(cell));
        before.stones[other] = before.stones[other].or(ko);
        let mut reached = before;
        reached.play_unchecked(moves::GoMove::at(cell));
        (reached == *position).then_some((before, moves::GoMove::at(cell)))
    })
}

/// The board with the names of columns and rows, and the side to move or the game's end.
pub(super) fn board(position: &Go) -> String {
    let spaced = |points: Vec<char>| points.into_iter().flat_map(|point| [' ', point]).collect();
    let mut board = String::new();
    for number in (0..position.size()).rev() {
        let points: String = spaced(row(position, number).collect());
        board.push_str(&format!("{:>2}{points}\n", number + 1));
    }
    board.push_str(&format!("  {}\n", spaced((0..position.size()).map(moves::letter).collect())));
    board + &position.status()
}
