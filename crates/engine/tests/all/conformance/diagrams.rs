//! Diagrams: every position has one of bounded size, which shows what the last move did.

use std::collections::BTreeMap;

use spelrum_engine::{Diagram, Game, Mark, Sketch};

use super::Sample;
use crate::common::brute_force::{after, moves_of};

/// The most cells of a board, and the most objects in all heaps.
const PLACES_MAX: usize = 400;
/// The longest notation in place of a picture, in bytes.
const NOTATION_MAX: usize = 200;

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    for game in &sample.games {
        has_bounded_size(&game.positions[0], &game.positions[0].diagram(None));
        for (pair, &mv) in game.positions.windows(2).zip(&game.moves) {
            let diagram = pair[1].diagram(Some((&pair[0], mv)));
            has_bounded_size(&pair[1], &diagram);
            marks_show_the_move(&pair[0], &diagram);
        }
    }
    for position in sample.some_ongoing(60) {
        different_positions_have_different_diagrams(position);
    }
}

fn has_bounded_size<G: Game>(position: &G, diagram: &Diagram) {
    assert_eq!(diagram.to_move.is_some(), !position.is_over(), "{position:?}");
    let (pieces, is_board) = match &diagram.sketch {
        Sketch::Board { columns, block, cells, .. } => {
            assert_board(*columns, cells.len());
            assert!(*block > 0 && columns.is_multiple_of(*block), "{position:?}");
            (cells.iter().flatten().count(), true)
        }
        Sketch::Pieces { columns, cells } => {
            assert_board(*columns, cells.len());
            (cells.iter().flatten().count(), true)
        }
        Sketch::Heaps(heaps) => {
            let objects: u32 = heaps.iter().sum();
            assert!(heaps.len() <= PLACES_MAX && objects as usize <= PLACES_MAX, "{position:?}");
            (objects as usize, false)
        }
        Sketch::Notation(text) => {
            assert!(text.len() <= NOTATION_MAX, "{text}");
            return;
        }
    };
    if let Some(stones) = position.stones() {
        assert_eq!(pieces, stones as usize, "{position:?}");
    }
    for marked in &diagram.marks {
        let places = match (&diagram.sketch, marked.mark) {
            (Sketch::Board { columns, block, cells, .. }, Mark::Turned { .. }) => {
                cells.len() / (block * block).max(1) * usize::from(columns.is_multiple_of(*block))
            }
            (Sketch::Board { cells, .. }, _) => cells.len(),
            (Sketch::Pieces { cells, .. }, _) => cells.len(),
            (Sketch::Heaps(heaps), _) => heaps.len(),
            (Sketch::Notation(_), _) => 0,
        };
        assert!(marked.place < places, "{marked:?} in {position:?}");
        assert_eq!(is_board, !matches!(marked.mark, Mark::Taken(_)), "{marked:?} in {position:?}");
    }
}

fn assert_board(columns: usize, cells: usize) {
    // Columns are named by letters.
    assert!((1..=26).contains(&columns) && cells <= PLACES_MAX);
    assert!(cells > 0 && cells.is_multiple_of(columns));
}

/// A move that changes the picture is marked, where a stone or piece came, on a cell that has one.
fn marks_show_the_move<G: Game>(before: &G, diagram: &Diagram) {
    let is_pictured = !matches!(diagram.sketch, Sketch::Notation(_));
    if is_pictured && before.sketch() != diagram.sketch {
        assert!(!diagram.marks.is_empty(), "after {before:?}");
    }
    for marked in &diagram.marks {
        let is_occupied = match &diagram.sketch {
            Sketch::Board { cells, .. } => cells.get(marked.place).is_some_and(Option::is_some),
            Sketch::Pieces { cells, .. } => cells.get(marked.place).is_some_and(Option::is_some),
            Sketch::Heaps(_) | Sketch::Notation(_) => continue,
        };
        match marked.mark {
            Mark::Reached | Mark::Flipped => assert!(is_occupied, "{marked:?} after {before:?}"),
            Mark::Left => assert!(!is_occupied, "{marked:?} after {before:?}"),
            Mark::Taken(_) | Mark::Turned { .. } => {}
        }
    }
}

/// Also without marks: the picture and the side to move tell the position before from those after its moves, and
/// these from each other.
fn different_positions_have_different_diagrams<G: Game>(position: &G) {
    let (mut by_diagram, mut diagrams) = (BTreeMap::new(), BTreeMap::new());
    let children = moves_of(position).into_iter().map(|mv| after(position, mv));
    for shown in std::iter::once(position.clone()).chain(children) {
        let diagram = format!("{:?}", shown.diagram(None));
        let other = by_diagram.entry(diagram.clone()).or_insert_with(|| shown.clone());
        assert_eq!(*other, shown, "their diagrams are equal");
        let first = diagrams.entry(shown.to_string()).or_insert_with(|| diagram.clone());
        assert_eq!(*first, diagram, "two diagrams of {shown:?}");
    }
}
