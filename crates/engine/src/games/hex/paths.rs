//! Connections: cells that an edge reaches, the distance between a side's edges, and its winning cells.
//!
//! Sides are numbered here: 0 joins the top and bottom edges, 1 the left and right ones.

use super::Hex;
use crate::core::cells::{Cells, Grid};
use crate::core::position::Side;
use crate::core::wide::wide;

/// The cells of the edge from which a side's paths begin: the top row for red, the left column for blue.
pub(super) fn first_edge(grid: Grid, side: Side) -> Cells {
    match side {
        Side::First => (0..grid.columns()).map(|column| grid.bit(0, column)).collect(),
        Side::Second => (0..grid.rows()).map(|row| grid.bit(row, 0)).collect(),
    }
}

/// The set with columns and rows exchanged: a symmetry of the board that exchanges the sides' edges.
pub(super) fn mirrored(grid: Grid, cells: &Cells) -> Cells {
    let places = cells.iter().map(|bit| grid.place(bit));
    places.map(|(row, column)| grid.bit(column, row)).collect()
}

/// Whether a cell is on the edge at which a side's paths end.
#[inline(always)]
fn is_on_last_edge(grid: Grid, side: usize, bit: u32) -> bool {
    let beyond = if side == 0 { bit + grid.stride() } else { bit + 1 };
    !grid.cells().has(beyond)
}

/// Steps to the neighbours of a cell, in bits.
#[inline(always)]
const fn steps(grid: Grid) -> [u32; 3] {
    [1, grid.stride(), grid.stride() - 1]
}

/// Adds to the cells that an edge reaches those that it reaches by a stone on the edge or beside a reached stone,
/// and returns whether the edges are joined.
#[inline(always)]
pub(super) fn reach(
    grid: Grid,
    side: usize,
    stones: &Cells,
    reached: &mut Cells,
    stone: u32,
) -> bool {
    let mut is_joined = false;
    let mut pending = Cells::default();
    pending.insert(stone);
    while let Some(stone) = pending.pop() {
        is_joined |= is_on_last_edge(grid, side, stone);
        for step in steps(grid) {
            // Below the first bit it wraps around, beyond all words.
            for cell in [stone.wrapping_sub(step), stone + step] {
                if reached.insert(cell) && stones.has(cell) {
                    pending.insert(cell);
                }
            }
        }
    }
    is_joined
}

/// The cells beside cells of a set, and some outside of the board.
#[inline(always)]
fn beside(grid: Grid, cells: &Cells) -> Cells {
    let [right, below, below_left] = steps(grid);
    let (up, down) = (cells.up(right) | cells.up(below), cells.down(right) | cells.down(below));
    up | down | cells.up(below_left) | cells.down(below_left)
}

/// The cells of the edge at which a side's paths end.
#[inline(always)]
fn last_edge(grid: Grid, side: usize) -> Cells {
    let cells = *grid.cells();
    cells.without(&cells.down(if side == 0 { grid.stride() } else { 1 }))
}

impl Hex {
    /// The cells that the last edge reaches by a side's stones: see [`Hex::reached`].
    fn reached_from_last(&self, side: usize) -> Cells {
        let stones = &self.stones[side];
        let mut reached = last_edge(self.grid, side);
        for stone in (*stones & reached).iter() {
            reach(self.grid, side, stones, &mut reached, stone);
        }
        reached
    }

    /// The empty cells on which a stone joins the edges of a side; none if the game is over.
    #[inline]
    pub(super) fn winning_cells(&self, side: Side) -> Cells {
        let side = side.index();
        let candidates = self.reached[side].without(&self.stones[1 - side]);
        // A winning cell lies between stones, unless the board is small.
        if self.is_won || u32::from(self.count) + 3 < 2 * self.size() {
            return Cells::default();
        }
        (candidates & self.reached_from_last(side)) & self.empty_set()
    }

    /// The fewest stones with which a side can still join its edges: a shortest path through empty cells and its own
    /// stones, which cost nothing. Only for positions that are not over.
    pub(super) fn distance(&self, side: usize) -> u32 {
        wide!(self.shortest(side))
    }

    #[inline(always)]
    fn shortest(&self, side: usize) -> u32 {
        let (empty, stones) = (self.empty_set(), self.stones[side]);
        let last = last_edge(self.grid, side);
        // Cells beside a path of so many stones, and all that were.
        let mut front = self.reached[side] & empty;
        let mut seen = self.reached[side];
        for distance in 1..=self.grid.len() {
            // With the stones that are joined to the front.
            let mut wave = front;
            let mut next = Cells::default();
            loop {
                if !(wave & last).is_empty() {
                    return distance;
                }
                let near = beside(self.grid, &wave).without(&seen);
                seen |= near;
                next |= near & empty;
                wave = near & stones;
                if wave.is_empty() {
                    break;
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
        self.grid.len()
    }

    /// The sum of a cell's two-distances to both edges of a side, the least among all empty cells, and the number of
    /// cells that have it; `None` if none is finite. Only for positions that are not over.
    ///
    /// The two-distance (van Rijswijck 2002, "Search and evaluation in Hex") of an empty cell on the edge or beside a
    /// stone that is joined to the edge is 1, and that of any other cell is one more than the second least among its
    /// neighbours: the opponent may take the best one. A chain of own stones makes all empty cells around it
    /// neighbours.
    pub(super) fn potential(&self, side: usize) -> Option<(u32, u32)> {
        wide!(self.two_distances(side))
    }

    #[inline(always)]
    fn two_distances(&self, side: usize) -> Option<(u32, u32)> {
        let neighbours = self.neighbours_by_chains(side);
        let empty = self.empty_set();
        let mut distances = [[0_u8; CELL_BITS]; 2];
        let edges = [self.reached[side], self.reached_from_last(side)];
        for (distances, edge) in distances.iter_mut().zip(edges) {
            let mut near = edge & empty;
            let mut new = near;
            let mut distance = 0;
            while !new.is_empty() {
                distance += 1;
                for bit in new.iter() {
                    distances[bit as usize] = distance;
                }
                let is_next = |&bit: &u32| (neighbours[bit as usize] & near).len() >= 2;
                new = empty.without(&near).iter().filter(is_next).collect();
                near |= new;
            }
        }
        let sums = empty.iter().filter_map(|bit| {
            let [first, last] = [0, 1].map(|edge| u32::from(distances[edge][bit as usize]));
            (first > 0 && last > 0).then_some(first + last)
        });
        let mut least: Option<(u32, u32)> = None;
        for sum in sums {
            least = match least {
                Some((best, _)) if best < sum => least,
                Some((best, cells)) if best == sum => Some((best, cells + 1)),
                _ => Some((sum, 1)),
            };
        }
        least
    }

    /// The empty cells beside each empty cell, directly or around a chain of the side's stones.
    #[inline(always)]
    fn neighbours_by_chains(&self, side: usize) -> [Cells; CELL_BITS] {
        let (grid, empty) = (self.grid, self.empty_set());
        let mut neighbours = [Cells::default(); CELL_BITS];
        for bit in empty.iter() {
            let cell = Cells::from_iter([bit]);
            neighbours[bit as usize] = beside(grid, &cell) & empty;
        }
        let mut stones = self.stones[side];
        while let Some(stone) = stones.first() {
            let mut chain = Cells::from_iter([stone]);
            let mut around = beside(grid, &chain);
            while !(around & stones).without(&chain).is_empty() {
                chain |= around & stones;
                around = beside(grid, &chain);
            }
            around = around & empty;
            for bit in around.iter() {
                neighbours[bit as usize] |= around;
            }
            stones = stones.without(&chain);
        }
        // A cell around a chain is not its own neighbour.
        for bit in empty.iter() {
            let cell = Cells::from_iter([bit]);
            let others = &mut neighbours[bit as usize];
            *others = others.without(&cell);
        }
        neighbours
    }

    /// The pairs of a side's stones that are joined by a bridge: two empty cells beside both, of which the opponent
    /// can take only one at a time.
    pub(super) fn bridges(&self, side: usize) -> u32 {
        let (stones, empty) = (&self.stones[side], self.empty_set());
        let stride = self.grid.stride();
        // Straight below, to the lower right, and to the lower left. Cells beyond an edge are never empty.
        let pairs = [
            stones.down(2 * stride - 1) & empty.down(stride) & empty.down(stride - 1),
            stones.down(stride + 1) & empty.down(1) & empty.down(stride),
            stones.down(stride - 2) & empty.up(1) & empty.down(stride - 1),
        ];
        pairs.map(|pairs| (pairs & *stones).len()).iter().sum()
    }
}

/// Bits of the largest board.
const CELL_BITS: usize = 384;
