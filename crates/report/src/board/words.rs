//! Diagrams in words, for readers who do not see them.

use std::collections::BTreeMap;

use spelrum_engine::{Diagram, GameInfo, RowNames, Side, Sketch};

use super::shapes::{name_of_piece, side_of_letter};
use crate::text::shown;

/// Describes a diagram: each side's stones or pieces with their cells, or the heaps, and the side to move.
pub(super) fn describe(game: &GameInfo, diagram: &Diagram) -> String {
    let status = match diagram.to_move {
        Some(side) => format!("{} to move", game.side(side).word),
        None => "the game is over".to_owned(),
    };
    let position = match &diagram.sketch {
        Sketch::Board { columns, cells, .. } => {
            let stones = cells.iter().enumerate();
            let stones = stones.filter_map(|(place, side)| Some((place, (*side)?, None)));
            list_pieces(game, *columns, cells.len(), diagram.row_names, stones)
        }
        Sketch::Pieces { columns, cells } => {
            let pieces = cells.iter().enumerate();
            let pieces = pieces.filter_map(|(place, letter)| {
                let letter = (*letter)?;
                Some((place, side_of_letter(letter), Some(letter.to_ascii_lowercase())))
            });
            list_pieces(game, *columns, cells.len(), diagram.row_names, pieces)
        }
        Sketch::Heaps(heaps) => {
            let heaps =
                ('a'..='z').zip(heaps).map(|(letter, objects)| format!("{letter} {objects}"));
            format!("heaps {}", heaps.collect::<Vec<_>>().join(", "))
        }
        Sketch::Notation(text) => shown(text),
    };
    format!("{position}; {status}")
}

fn list_pieces(
    game: &GameInfo,
    columns: usize,
    cells: usize,
    row_names: RowNames,
    pieces: impl Iterator<Item = (usize, Side, Option<char>)>,
) -> String {
    let rows = cells.div_ceil(columns.max(1));
    let mut kinds: BTreeMap<(Side, usize), (Option<char>, Vec<String>)> = BTreeMap::new();
    for (place, side, letter) in pieces {
        // The most valuable pieces come first.
        let rank = letter.and_then(|letter| "kqrbnp".find(letter)).unwrap_or(usize::MAX);
        let name = cell_name(place, columns, rows, row_names);
        kinds.entry((side, rank)).or_insert((letter, Vec::new())).1.push(name);
    }
    let mut sides = Vec::new();
    for side in [Side::First, Side::Second] {
        let kinds = kinds.range((side, 0)..=(side, usize::MAX));
        let kinds = kinds.map(|(_, (letter, cells))| {
            let cells = cells.join(" ");
            match letter {
                None => cells,
                Some(letter) => match name_of_piece(*letter) {
                    Some(name) => format!("{name} {cells}"),
                    None => format!("{letter} {cells}"),
                },
            }
        });
        let kinds: Vec<_> = kinds.collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        sides.push(format!("{}: {kinds}", game.side(side).word));
    }
    sides.join("; ")
}

/// The name of a cell. Where rows have no names, they are counted from the bottom.
fn cell_name(place: usize, columns: usize, rows: usize, row_names: RowNames) -> String {
    let [row, column] = [place / columns, place % columns];
    let letter = ('a'..='z').nth(column).unwrap_or('?');
    match row_names {
        RowNames::Down => format!("{letter}{}", row + 1),
        RowNames::Up | RowNames::Absent => format!("{letter}{}", rows - row),
    }
}
