//! The moves that a person can make, as places of the board: a move may take two steps or three.

use std::collections::BTreeSet;

use spelrum_engine::{Diagram, Mark, Marked, RowNames, Sketch};

use super::play_address::PlayAddress;
use crate::board::{Choice, ChoicePlace};

/// The next steps.
#[derive(Debug, Default)]
pub(super) struct Next {
    /// Those with a place on the board.
    pub(super) on_board: Vec<Choice>,
    /// All others.
    pub(super) beside_board: Vec<Choice>,
}

/// The next steps among these moves, of which those with the address's half move come into question; the diagram is
/// changed to show that half. Each step is the beginning of a move's notation.
pub(super) fn next_choices(address: &PlayAddress, moves: &[String], diagram: &mut Diagram) -> Next {
    let half = address.half.as_str();
    let rest = || moves.iter().filter(|mv| mv.starts_with(half));
    let steps: BTreeSet<&str> = rest()
        .filter(|mv| mv.len() > half.len())
        .map(|mv| step(mv, half, &diagram.sketch))
        .collect();
    let mut next = Next::default();
    for text in steps {
        let is_move = moves.iter().any(|mv| mv == text);
        let address = match is_move {
            true => address.after(text).to_string(),
            false => PlayAddress { half: text.to_owned(), ..address.with_moves(&address.moves) }
                .to_string(),
        };
        let last = &text[common_start(text, half, &diagram.sketch)..];
        match place(last, diagram) {
            Some(place) => {
                let name = name(text, half, place);
                next.on_board.push(Choice { place, address, name });
            }
            None => next.beside_board.push(Choice {
                place: ChoicePlace::Cell(0),
                address,
                name: text.to_owned(),
            }),
        }
    }
    show_half(half, diagram);
    next
}

/// The beginning of a move up to the end of its next step.
fn step<'m>(mv: &'m str, half: &str, sketch: &Sketch) -> &'m str {
    let end = match sketch {
        // From a cell, to a cell, and what a pawn becomes.
        Sketch::Pieces { .. } => (half.len() + 2).min(if half.len() < 4 { 4 } else { usize::MAX }),
        // A cell, and a turn.
        Sketch::Board { .. } | Sketch::Heaps(_) | Sketch::Notation(_) => {
            mv.find('-').filter(|end| *end > half.len()).unwrap_or(usize::MAX)
        }
    };
    mv.get(..end).unwrap_or(mv)
}

/// Where the part of a step begins that has its place.
fn common_start(text: &str, half: &str, sketch: &Sketch) -> usize {
    match sketch {
        Sketch::Pieces { .. } if half.len() < 4 => half.len().min(text.len()),
        Sketch::Pieces { .. } => text.len(),
        Sketch::Board { .. } | Sketch::Heaps(_) | Sketch::Notation(_) => half.len().min(text.len()),
    }
}

/// The place of a part of a move: a cell, a turn of a block, or objects of a heap.
fn place(part: &str, diagram: &Diagram) -> Option<ChoicePlace> {
    match &diagram.sketch {
        Sketch::Heaps(heaps) => {
            let heap = column(part)?;
            let objects = part.get(1..)?.parse().ok()?;
            (heap < heaps.len()).then_some(ChoicePlace::Objects { heap, objects })
        }
        Sketch::Board { columns, cells, .. } => match part.strip_prefix('-') {
            Some(turn) => {
                let block = turn.get(..1)?.parse::<usize>().ok()?.checked_sub(1)?;
                Some(ChoicePlace::Turn { block, clockwise: turn.ends_with('r') })
            }
            None if diagram.row_names == RowNames::Absent => {
                let column = column(part).filter(|column| part.len() == 1 && column < columns)?;
                let in_column = (column..cells.len()).step_by(*columns);
                let mut free = in_column.filter(|place| cells[*place].is_none());
                Some(ChoicePlace::Cell(free.next_back()?))
            }
            None => cell(part, *columns, cells.len(), diagram.row_names).map(ChoicePlace::Cell),
        },
        Sketch::Pieces { columns, cells } => {
            cell(part, *columns, cells.len(), diagram.row_names).map(ChoicePlace::Cell)
        }
        Sketch::Notation(_) => None,
    }
}

fn column(text: &str) -> Option<usize> {
    let letter = text.bytes().next().filter(u8::is_ascii_lowercase)?;
    Some(usize::from(letter - b'a'))
}

/// The cell with a name such as `b2`.
fn cell(name: &str, columns: usize, cells: usize, row_names: RowNames) -> Option<usize> {
    let column = column(name).filter(|column| *column < columns)?;
    let row = name.get(1..)?.parse::<usize>().ok()?.checked_sub(1)?;
    let rows = cells / columns.max(1);
    let row = if row_names == RowNames::Up { rows.checked_sub(row + 1)? } else { row };
    (row < rows).then_some(row * columns + column)
}

fn name(text: &str, half: &str, place: ChoicePlace) -> String {
    match place {
        ChoicePlace::Objects { objects, .. } => {
            format!("take {objects} from heap {}", text.chars().next().unwrap_or('?'))
        }
        ChoicePlace::Turn { block, clockwise } => {
            let direction = if clockwise { "clockwise" } else { "counter-clockwise" };
            format!("turn quadrant {} {direction}", block + 1)
        }
        ChoicePlace::Cell(_) if half.is_empty() => text.to_owned(),
        ChoicePlace::Cell(_) => format!("{half} to {}", &text[half.len().min(text.len())..]),
    }
}

/// Shows the half move: the cell that it names is marked, and has the stone if the cell is empty.
fn show_half(half: &str, diagram: &mut Diagram) {
    let side = diagram.to_move;
    let row_names = diagram.row_names;
    let place = match &mut diagram.sketch {
        Sketch::Board { columns, cells, .. } => {
            let place = cell(half, *columns, cells.len(), row_names);
            if let Some(empty) =
                place.and_then(|place| cells.get_mut(place)).filter(|cell| cell.is_none())
            {
                *empty = side;
            }
            place
        }
        Sketch::Pieces { columns, cells } => {
            cell(half.get(..2).unwrap_or_default(), *columns, cells.len(), row_names)
        }
        Sketch::Heaps(_) | Sketch::Notation(_) => None,
    };
    if let Some(place) = place {
        diagram.marks = vec![Marked { place, mark: Mark::Reached }];
    }
}
