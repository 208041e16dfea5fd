//! Diagrams of positions as SVG, of every game: classes say what a shape means, and `board.css` how it looks.
//!
//! Each diagram defines its shapes; pages of a site repeat them. The diagram is described in words for readers who do not
//! see it.

mod choices;
mod shapes;
mod words;

use std::fmt::Write as _;

use maud::{Markup, html};
use spelrum_engine::{Diagram, GameInfo, Mark, Marked, RowNames, Side, Sketch};

pub use self::choices::{Choice, ChoicePlace};
use self::shapes::{Shape, side_of_letter};
use crate::text::shown;

/// The side of a cell, in the drawing's units.
const CELL: usize = 40;
/// Room beside a board for the names of its rows or columns.
const NAMES: usize = 22;
/// Gap between the blocks of a board.
const GAP: usize = 8;
/// Room for an object of a heap.
const OBJECT: usize = 32;
/// Width of a character of a notation.
const CHARACTER: usize = 9;

/// Returns the diagram as an SVG element.
pub fn diagram(game: &GameInfo, diagram: &Diagram) -> Markup {
    diagram_with_choices(game, diagram, &[])
}

/// Returns the diagram as an SVG element, with links over some of its places.
pub fn diagram_with_choices(game: &GameInfo, diagram: &Diagram, choices: &[Choice]) -> Markup {
    match &diagram.sketch {
        Sketch::Board { columns, block, pieces, cells } => {
            let stones = cells.iter().enumerate();
            let stones = stones.filter_map(|(place, side)| {
                side.map(|side| (place, side, Shape::from_piece(pieces[side.index()])))
            });
            Board::new(*columns, *block, cells.len(), diagram.row_names).draw(
                game,
                diagram,
                stones.collect(),
                choices,
            )
        }
        Sketch::Pieces { columns, cells } => {
            let pieces = cells.iter().enumerate();
            let pieces = pieces.filter_map(|(place, letter)| {
                letter.map(|letter| (place, side_of_letter(letter), Shape::from_letter(letter)))
            });
            Board::new(*columns, *columns, cells.len(), diagram.row_names).draw(
                game,
                diagram,
                pieces.collect(),
                choices,
            )
        }
        Sketch::Heaps(heaps) => heaps_markup(game, diagram, heaps, choices),
        Sketch::Notation(text) => {
            let [width, height] = [CHARACTER * (text.chars().count() + 2), CELL];
            svg(
                game,
                diagram,
                "notation",
                [width, height],
                false,
                html! {
                    text class="name" x=(width / 2) y=(CELL / 2) { (shown(text)) }
                },
            )
        }
    }
}

fn svg(
    game: &GameInfo,
    diagram: &Diagram,
    kind: &str,
    [width, height]: [usize; 2],
    has_choices: bool,
    contents: Markup,
) -> Markup {
    // An image hides its links from a screen reader.
    let role = if has_choices { "group" } else { "img" };
    html! {
        svg class={ "board " (kind) " " (game.name) } viewBox={ "0 0 " (width) " " (height) } width=(width)
            height=(height) role=(role) aria-label=(words::describe(game, diagram)) { (contents) }
    }
}

/// Geometry of a board of cells.
struct Board {
    columns: usize,
    rows: usize,
    /// A gap follows after so many columns and rows.
    block: usize,
    row_names: RowNames,
}

impl Board {
    fn new(columns: usize, block: usize, cells: usize, row_names: RowNames) -> Self {
        let columns = columns.max(1);
        let rows = cells.div_ceil(columns);
        // A block as wide as the board is all of it, also where there are more rows than columns.
        let block = if block < columns { block.max(1) } else { columns.max(rows) };
        Self { columns, rows, block, row_names }
    }

    /// The left edge of a column.
    fn x(&self, column: usize) -> usize {
        let names = if self.row_names == RowNames::Absent { 0 } else { NAMES };
        names + column * CELL + column / self.block * GAP
    }

    /// The upper edge of a row.
    fn y(&self, row: usize) -> usize {
        let names = if self.row_names == RowNames::Up { 0 } else { NAMES };
        names + row * CELL + row / self.block * GAP
    }

    /// The upper left corner of a cell.
    fn corner(&self, place: usize) -> [usize; 2] {
        [self.x(place % self.columns), self.y(place / self.columns)]
    }

    /// Rows, columns, and the blocks that both are divided into: the left or upper edge of each, and its cells.
    fn blocks(&self, cells: usize) -> Vec<(usize, usize)> {
        let starts = (0..cells).step_by(self.block);
        starts.map(|start| (start, self.block.min(cells - start))).collect()
    }

    fn draw(
        &self,
        game: &GameInfo,
        diagram: &Diagram,
        stones: Vec<(usize, Side, Shape)>,
        choices: &[Choice],
    ) -> Markup {
        let mut shapes: Vec<Shape> = stones.iter().map(|(_, _, shape)| *shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let is_chequered = matches!(diagram.sketch, Sketch::Pieces { .. });
        let right = self.x(self.columns - 1) + CELL;
        let bottom = self.y(self.rows - 1) + CELL;
        let below = if self.row_names == RowNames::Up { NAMES } else { 0 };
        let (over, under): (Vec<Marked>, Vec<Marked>) = diagram
            .marks
            .iter()
            .partition(|marked| matches!(marked.mark, Mark::Flipped | Mark::Turned { .. }));
        let class = |side: Side, shape: Shape| format!("{} {}", side.name(), shape.class());
        svg(
            game,
            diagram,
            "cells",
            [right + 1, bottom + below + 1],
            !choices.is_empty(),
            html! {
                defs { @for shape in &shapes { @if let Some(path) = shape.path() {
                    path id=(shape.id()) d=(path) {}
                } } }
                @for (row, rows) in self.blocks(self.rows) {
                    @for (column, columns) in self.blocks(self.columns) {
                        rect class="light" x=(self.x(column)) y=(self.y(row)) width=(columns * CELL) height=(rows * CELL) {}
                    }
                }
                @if is_chequered { path class="dark" d=(self.dark_cells()) {} }
                @for marked in under { (self.mark(marked)) }
                @if !is_chequered { path class="grid" d=(self.grid()) {} }
                (self.names())
                @for (place, side, shape) in stones {
                    @let [x, y] = self.corner(place);
                    @match shape.path() {
                        Some(_) => use href={ "#" (shape.id()) } class=(class(side, shape)) x=(x) y=(y) {},
                        None => text class=(class(side, shape)) x=(x + CELL / 2) y=(y + CELL / 2) { (shape.id()) },
                    }
                }
                @for marked in over { (self.mark(marked)) }
                @for choice in choices { (self.choice(choice)) }
            },
        )
    }

    /// The dark cells of a chequered board, whose lower left cell is dark.
    fn dark_cells(&self) -> String {
        let mut path = String::new();
        for place in 0..self.rows * self.columns {
            let [row, column] = [place / self.columns, place % self.columns];
            if (self.rows - 1 - row + column).is_multiple_of(2) {
                let [x, y] = self.corner(place);
                // Writing into a text does not fail.
                let _ = write!(path, "M{x} {y}h{CELL}v{CELL}h-{CELL}z");
            }
        }
        path
    }

    /// The lines of each block, with its frame.
    fn grid(&self) -> String {
        let mut path = String::new();
        for (row, rows) in self.blocks(self.rows) {
            for (column, columns) in self.blocks(self.columns) {
                let [x, y] = [self.x(column), self.y(row)];
                let [width, height] = [columns * CELL, rows * CELL];
                for line in 0..=rows {
                    let _ = write!(path, "M{x} {}h{width}", y + line * CELL);
                }
                for line in 0..=columns {
                    let _ = write!(path, "M{} {y}v{height}", x + line * CELL);
                }
            }
        }
        path
    }

    fn names(&self) -> Markup {
        let column_y = match self.row_names {
            RowNames::Up => self.y(self.rows - 1) + CELL + NAMES / 2,
            RowNames::Down | RowNames::Absent => NAMES / 2,
        };
        let name_of_row = |row: usize| match self.row_names {
            RowNames::Up => Some(self.rows - row),
            RowNames::Down => Some(row + 1),
            RowNames::Absent => None,
        };
        html! {
            @for (column, letter) in (0..self.columns).zip('a'..='z') {
                text class="name" x=(self.x(column) + CELL / 2) y=(column_y) { (letter) }
            }
            @for (row, name) in (0..self.rows).filter_map(|row| Some((row, name_of_row(row)?))) {
                text class="name" x=(NAMES / 2) y=(self.y(row) + CELL / 2) { (name) }
            }
        }
    }

    fn mark(&self, Marked { place, mark }: Marked) -> Markup {
        let [x, y] = self.corner(place);
        let tint = |class: &str| {
            html! { rect class={ "mark " (class) } x=(x + 1) y=(y + 1) width=(CELL - 2) height=(CELL - 2) {} }
        };
        match mark {
            Mark::Left => tint("left"),
            Mark::Reached => tint("reached"),
            Mark::Flipped => html! {
                circle class="mark flipped" cx=(x + CELL / 2) cy=(y + CELL / 2) r="4" {}
            },
            Mark::Turned { clockwise } => self.turn(place, clockwise),
            Mark::Taken(_) => html! {},
        }
    }

    /// The middle of a block.
    fn middle_of_block(&self, place: usize) -> [usize; 2] {
        let in_a_row = self.columns.div_ceil(self.block);
        let [row, column] = [place / in_a_row, place % in_a_row].map(|block| block * self.block);
        [self.x(column), self.y(row)].map(|edge| edge + self.block * CELL / 2)
    }

    /// An arrow around the middle of a block.
    fn turn(&self, place: usize, clockwise: bool) -> Markup {
        let radius = self.block * CELL / 2 * 3 / 4;
        html! { path class="mark turned" d=(Self::arrow(self.middle_of_block(place), radius, 10, clockwise)) {} }
    }

    /// The path of an arrow around a point: three quarters of a circle, and a head of this size.
    fn arrow([x, y]: [usize; 2], radius: usize, head: i64, clockwise: bool) -> String {
        let (sweep, start, end) = if clockwise { (1, -1_i64, 1) } else { (0, 1, -1) };
        let (x, y, radius, rise) = (x as i64, y as i64, radius as i64, head - 1);
        format!(
            "M{} {y}A{radius} {radius} 0 1 {sweep} {x} {}m{} -{rise}l{} {rise} {} {rise}",
            x + start * radius,
            y + radius,
            end * head,
            -end * head,
            end * head,
        )
    }
}

/// Heaps as rows of objects; those that the last move took are drawn as outlines.
fn heaps_markup(game: &GameInfo, diagram: &Diagram, heaps: &[u32], choices: &[Choice]) -> Markup {
    let taken = |heap: usize| {
        let taken = diagram.marks.iter().filter(|marked| marked.place == heap);
        let taken =
            taken.map(|marked| if let Mark::Taken(objects) = marked.mark { objects } else { 0 });
        taken.sum::<u32>() as usize
    };
    let rows: Vec<[usize; 2]> =
        heaps.iter().enumerate().map(|(heap, &left)| [left as usize, taken(heap)]).collect();
    let widest = rows.iter().map(|[left, taken]| left + taken).max().unwrap_or(0);
    let [width, height] = [NAMES + widest.max(1) * OBJECT, rows.len().max(1) * OBJECT];
    svg(
        game,
        diagram,
        "heaps",
        [width, height],
        !choices.is_empty(),
        html! {
            @for ((row, [left, taken]), letter) in rows.iter().enumerate().zip('a'..='z') {
                @let y = row * OBJECT + OBJECT / 2;
                text class="name" x=(NAMES / 2) y=(y) { (letter) }
                @for object in 0..left + taken {
                    circle class=(if object < *left { "object" } else { "mark taken" })
                        cx=(NAMES + object * OBJECT + OBJECT / 2) cy=(y) r="12" {}
                }
            }
            @for choice in choices { (choices::of_heaps(choice, heaps)) }
        },
    )
}

#[cfg(test)]
mod tests;
