//! Every board below a root, from the full ones back: the exact value of all moves at a cost that
//! depends on the number of empty cells alone.
//!
//! A board here is what was placed on the root's empty cells by either side; its rotations are
//! worked out together. Boards with `k` placed marbles are level `k`, and only two levels are in
//! memory. (Retrograde analysis a slice at a time is Irving's, 2014, section 6; so is the halfway
//! form of it that solves a single position's descendants, `mid/midengine` of his program.)
//!
//! A level is stored in blocks, one for each set of cells that the side about to move has, of one
//! entry for each set that the other has of the remaining cells. All children of the boards on
//! which the opponent has one set of cells are then one block of the next level, and their places
//! in it are the same for every block. An entry is what the board's parent wants to know: in which
//! rotations the board is good for the side that has just moved.

use super::fives::Fives;
use super::rotations::Rotations;
use super::subsets::{self, Ranks};
use crate::search::{Budget, Stop};

/// Empty cells of the root at most: with 17, two levels take 370 MB, and each cell more takes three
/// times as much.
pub(super) const EMPTY_MAX: u32 = 17;

/// The nodes that a sweep makes below a root with so many empty cells.
pub(super) fn boards(empty: u32) -> u64 {
    let of_level = |placed: u32| {
        subsets::count(empty, placed) as u64 * subsets::count(placed, placed / 2) as u64
    };
    (1..=empty).map(of_level).sum()
}

/// In which rotations a board is good for the side that has just moved, under the two goals of the
/// root's side to move: that it wins, and that it wins or draws.
pub(super) type Good = [Rotations; 2];

/// Memory of a sweep, kept for the next.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    ranks: Ranks,
    level: Vec<Good>,
    next: Vec<Good>,
    children: Vec<u16>,
    /// Of one block: fives of the mover's boards one placement on.
    fives_after: Vec<Rotations>,
}

impl Sweep {
    /// For each empty cell of the root, lowest bit first: where its side to move stands after
    /// placing there and turning, by rotation, for both goals.
    ///
    /// # Errors
    /// If the budget stops it; a node is a board, with all its rotations and both goals.
    pub(super) fn run(
        &mut self,
        fives: &Fives,
        win_before_rotation: bool,
        budget: &mut Budget<'_>,
    ) -> Result<&[Good], Stop> {
        let empty = fives.cells().count_ones();
        assert!((1..=EMPTY_MAX).contains(&empty), "the root has 1 to {EMPTY_MAX} empty cells");
        self.ranks.cover(empty);
        for placed in (1..=empty).rev() {
            if placed % 2 == 0 {
                self.work_out_level::<true>(fives, win_before_rotation, placed, budget)?;
            } else {
                self.work_out_level::<false>(fives, win_before_rotation, placed, budget)?;
            }
            std::mem::swap(&mut self.level, &mut self.next);
        }
        Ok(&self.next)
    }

    /// Fills `level` with the boards of `placed` marbles, given those of one more in `next`.
    /// `BY_ROOT` says whether the root's side is to move there: a constant, so that which of the
    /// two goals is a win is known when this is compiled.
    fn work_out_level<const BY_ROOT: bool>(
        &mut self,
        fives: &Fives,
        win_before_rotation: bool,
        placed: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), Stop> {
        let empty = fives.cells().count_ones();
        let (mover, parity) = if BY_ROOT { (0, 0) } else { (1, 1) };
        let by_root = placed.div_ceil(2);
        let by_other = placed / 2;
        let (own, others) = if BY_ROOT { (by_root, by_other) } else { (by_other, by_root) };
        let all = (1_u32 << empty) - 1;
        let free = empty - others;
        let degree = (free - own) as usize;
        let rows = subsets::count(empty - own, others);
        self.level.resize(subsets::count(empty, own) * rows, Good::default());
        let block_len = subsets::count(free, own + 1);
        self.list_children(free, own);
        let [fives_of_mover, fives_of_other] = [fives.table(mover), fives.table(1 - mover)];
        for (block, other_set) in subsets::of_size(empty, others).enumerate() {
            let open = all & !other_set;
            let good_after = self.next.get(block * block_len..(block + 1) * block_len);
            let good_after = good_after.unwrap_or(&[]);
            self.fives_after.clear();
            if win_before_rotation && degree > 0 {
                self.fives_after.extend(
                    subsets::of_size(free, own + 1)
                        .map(|set| fives_of_mover[subsets::scatter(set, open) as usize][parity]),
                );
            } else {
                self.fives_after.resize(block_len, Rotations::NONE);
            }
            let fives_after = &self.fives_after[..block_len];
            let five_of_other = fives_of_other[other_set as usize][parity];
            for (index, set) in subsets::of_size(free, own).enumerate() {
                budget.enter()?;
                let own_set = subsets::scatter(set, open);
                let (win, draw) = if degree == 0 {
                    // A full board on which nobody has five is a draw.
                    (Rotations::NONE, Rotations::ALL)
                } else {
                    let mut before_turn = Rotations::NONE;
                    let mut good = Good::default();
                    for &child in &self.children[index * degree..(index + 1) * degree] {
                        let after = good_after[usize::from(child)];
                        good = [good[0].or(after[0]), good[1].or(after[1])];
                        before_turn = before_turn.or(fives_after[usize::from(child)]);
                    }
                    let [first, second] = good;
                    let (win, draw) = if BY_ROOT { (first, second) } else { (second, first) };
                    (win.turned().or(before_turn), draw.turned())
                };
                let five = fives_of_mover[own_set as usize][parity];
                // A game that is over: with a five of the mover's only it has won, with both it
                // has drawn, with one of the other's only it has lost.
                let win = five.or(win).without(five_of_other).complement();
                let draw = five.or(draw.without(five_of_other)).complement();
                let row = self.ranks.of(own_set);
                let column = self.ranks.of(subsets::gather(other_set, all & !own_set));
                self.level[row * rows + column] = if BY_ROOT { [win, draw] } else { [draw, win] };
            }
        }
        Ok(())
    }

    /// For each set of `size` of `cells` cells: the ranks of the sets with one cell more.
    fn list_children(&mut self, cells: u32, size: u32) {
        self.children.clear();
        let ranks = &self.ranks;
        self.children.extend(subsets::of_size(cells, size).flat_map(|set| {
            let absent = move |cell: &u32| set >> cell & 1 == 0;
            // The ranks are below 2^16: of 18 cells, 48,620 sets have one size.
            (0..cells).filter(absent).map(move |cell| ranks.of(set | 1 << cell) as u16)
        }));
    }
}
