//! Links over places of a diagram: what a person can play.

use maud::{Markup, html};

use super::{Board, CELL, NAMES, OBJECT};

/// A link over a place of a diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The place.
    pub place: ChoicePlace,
    /// The address that it leads to.
    pub address: String,
    /// Its name, for readers who do not see the place.
    pub name: String,
}

/// A place of a diagram that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoicePlace {
    /// A cell, row by row from the top left.
    Cell(usize),
    /// A turn of a block of cells.
    Turn {
        /// The block, row by row from the top left.
        block: usize,
        /// Clockwise rather than counter-clockwise.
        clockwise: bool,
    },
    /// The last objects of a heap.
    Objects {
        /// The heap.
        heap: usize,
        /// How many of its objects, from 1.
        objects: usize,
    },
}

/// Radius of the button of a turn.
const TURN: usize = 20;

fn link(choice: &Choice, shape: &Markup) -> Markup {
    html! { a href=(choice.address) aria-label=(choice.name) { title { (choice.name) } (shape) } }
}

/// A choice in a diagram of heaps.
pub(super) fn of_heaps(choice: &Choice, heaps: &[u32]) -> Markup {
    let ChoicePlace::Objects { heap, objects } = choice.place else { return html! {} };
    let left = heaps.get(heap).map_or(0, |left| *left as usize).saturating_sub(objects);
    let [x, y] = [NAMES + left * OBJECT, heap * OBJECT];
    let shape =
        html! { rect class="choice" x=(x + 1) y=(y + 1) width=(OBJECT - 2) height=(OBJECT - 2) {} };
    link(choice, &shape)
}

impl Board {
    /// A choice on a board.
    pub(super) fn choice(&self, choice: &Choice) -> Markup {
        let shape = match choice.place {
            ChoicePlace::Cell(place) => {
                let [x, y] = self.corner(place);
                html! {
                    circle class="hint" cx=(x + CELL / 2) cy=(y + CELL / 2) r="5" {}
                    rect class="choice" x=(x + 1) y=(y + 1) width=(CELL - 2) height=(CELL - 2) {}
                }
            }
            ChoicePlace::Turn { block, clockwise } => {
                let [x, y] = self.middle_of_block(block);
                let x = if clockwise { x + TURN + 4 } else { x - TURN - 4 };
                html! {
                    circle class="button" cx=(x) cy=(y) r=(TURN) {}
                    path class="mark turned" d=(Self::arrow([x, y], TURN / 2, 5, clockwise)) {}
                    circle class="choice" cx=(x) cy=(y) r=(TURN) {}
                }
            }
            ChoicePlace::Objects { .. } => return html! {},
        };
        link(choice, &shape)
    }
}
