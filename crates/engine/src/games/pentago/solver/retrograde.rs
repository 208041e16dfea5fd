//! Computes every board below a root, from the full ones back: the exact value of all moves at a
//! cost that depends only on the number of empty cells.
//!
//! A board here is the set of placements of both sides on the root's empty cells; its rotations are computed
//! together. Boards with `k` placed marbles are level `k`, and only two levels are in memory. (Irving 2014
//! solves the whole game this way, a slice at a time; `mid/midengine` of his program,
//! github.com/girving/pentago, the descendants of one position.)
//!
//! A level is stored in blocks, one for each set of cells of the side about to move, with one entry
//! for each set that the other has of the remaining cells. All children of the boards on which the
//! opponent has one set of cells are then one block of the next level, and their places in it are
//! the same for every block. An entry has the rotations in which the board is good for the side
//! that has just moved, as its parent needs it.

use super::fives::Fives;
use super::forward::Goal;
use super::rotations::Rotations;
use super::subsets::{self, Ranks, SETS_BETWEEN_LOOKS};
use crate::core::budget::Budget;
use crate::core::limits::{MemoryRefused, Stop};
use crate::core::memory;

/// The most empty cells of the root: two levels take 510 MB.
pub(super) const EMPTY_MAX: u32 = 18;
/// The same in what every solver may take: with 17, two levels take 183 MB.
pub(super) const EMPTY_MAX_UNASKED: u32 = 17;
/// The same for both goals at once: two levels take 129 MB.
pub(super) const EMPTY_MAX_BOTH: u32 = 16;

/// The number of its nodes below a root with this many empty cells.
pub(super) fn boards(empty: u32) -> u64 {
    (1..=empty).map(|placed| boards_of_level(empty, placed) as u64).sum()
}

fn boards_of_level(empty: u32, placed: u32) -> usize {
    subsets::count(empty, placed) * subsets::count(placed, placed / 2)
}

/// Its memory, kept for the next root.
#[derive(Debug, Default)]
pub(super) struct Retrograde {
    ranks: Ranks,
    level: Vec<Rotations>,
    next: Vec<Rotations>,
    children: Vec<u16>,
    /// For one block: fives of the mover's boards one placement on.
    fives_after: Vec<Rotations>,
}

/// Data shared by all levels.
#[derive(Clone, Copy)]
struct Rules<'r> {
    fives: &'r Fives,
    win_before_rotation: bool,
    /// Only boards on which the root's side to move has placed on one of these cells are computed.
    wanted: u32,
}

impl Retrograde {
    /// For each empty cell of the root, lowest bit first: the rotations in which its side to move
    /// reaches the goal after placing there and turning. With two `GOALS`, the same for the other goal comes
    /// second.
    ///
    /// # Errors
    /// If the budget stops it, or the system refuses memory.
    pub(super) fn run<const GOALS: usize>(
        &mut self,
        fives: &Fives,
        win_before_rotation: bool,
        goal: Goal,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<[Rotations; GOALS]>, Stop> {
        self.run_for(u32::MAX, fives, win_before_rotation, goal, budget)
    }

    /// The same for some of the root's empty cells, given as bits by their numbers from 0. Its results for
    /// the others are meaningless.
    ///
    /// # Errors
    /// If the budget stops it, or the system refuses memory.
    pub(super) fn run_for<const GOALS: usize>(
        &mut self,
        wanted: u32,
        fives: &Fives,
        win_before_rotation: bool,
        goal: Goal,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<[Rotations; GOALS]>, Stop> {
        let empty = fives.cells().count_ones();
        assert!((1..=EMPTY_MAX).contains(&empty), "the root has 1 to {EMPTY_MAX} empty cells");
        self.ranks.cover(empty, budget)?;
        self.reserve(empty, GOALS)?;
        let rules = Rules { fives, win_before_rotation, wanted };
        for placed in (1..=empty).rev() {
            // The opponent wants to prevent what the root's side wants.
            let goal = if placed % 2 == 0 { goal } else { goal.prevented() };
            match goal {
                Goal::Win => self.work_out_level::<true, GOALS>(rules, placed, budget)?,
                Goal::WinOrDraw => self.work_out_level::<false, GOALS>(rules, placed, budget)?,
            }
            std::mem::swap(&mut self.level, &mut self.next);
        }
        Ok(self.next.as_chunks().0.to_vec())
    }

    /// Makes room for the levels below a root with this many empty cells.
    ///
    /// # Errors
    /// If the system refuses the memory.
    pub(super) fn reserve(&mut self, empty: u32, goals: usize) -> Result<(), MemoryRefused> {
        // The levels of odd numbers are in one list, those of even numbers in the other.
        let most = |last: u32| {
            let levels = (1..=last).rev().step_by(2);
            goals * levels.map(|placed| boards_of_level(empty, placed)).max().unwrap_or(0)
        };
        let [last, before] = [empty, empty - 1].map(most);
        memory::reserve_for_solver(&mut self.level, last)?;
        memory::reserve_for_solver(&mut self.next, before)
    }

    /// Fills `level` with the boards of `placed` marbles, given those of one more in `next`. `WIN`
    /// tells whether the side to move there needs a win; otherwise a draw suffices. The second of two `GOALS`
    /// is the other one.
    fn work_out_level<const WIN: bool, const GOALS: usize>(
        &mut self,
        Rules { fives, win_before_rotation, wanted }: Rules<'_>,
        placed: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), Stop> {
        let empty = fives.cells().count_ones();
        let mover = (placed % 2) as usize;
        let (now, after) = (mover, 1 - mover);
        let [own, others] = match mover {
            0 => [placed.div_ceil(2), placed / 2],
            _ => [placed / 2, placed.div_ceil(2)],
        };
        let all = (1_u32 << empty) - 1;
        let free = empty - others;
        let degree = (free - own) as usize;
        let rows = subsets::count(empty - own, others);
        self.list_children(free, own, budget)?;
        resize(&mut self.level, subsets::count(empty, own) * rows * GOALS, budget)?;
        let level = self.level.as_chunks_mut::<GOALS>().0;
        let next = self.next.as_chunks::<GOALS>().0;
        let block_len = subsets::count(free, own + 1);
        let [fives_of_mover, fives_of_other] = [fives.table(mover), fives.table(1 - mover)];
        // The set of cells that belongs to the root's side to move.
        let [roots_is_own, roots_is_other] = [mover == 0, mover == 1];
        for (block, other_set) in subsets::of_size(empty, others).enumerate() {
            if roots_is_other && other_set & wanted == 0 {
                continue;
            }
            let open = all & !other_set;
            let good_after = next.get(block * block_len..(block + 1) * block_len);
            let good_after = good_after.unwrap_or(&[]);
            let five_of_other = fives_of_other[other_set as usize];
            // A line of five lies in at most three quadrants: a turn of the fourth keeps it, and
            // wins unless the opponent has five after it.
            let has_win = WIN || GOALS == 2;
            let wins_before_turn =
                has_win && win_before_rotation && !five_of_other[after].is_empty();
            self.fives_after.clear();
            if wins_before_turn && degree > 0 {
                self.fives_after.extend(
                    subsets::of_size(free, own + 1)
                        .map(|set| fives_of_mover[subsets::scatter(set, open) as usize][now]),
                );
            }
            for (index, set) in subsets::of_size(free, own).enumerate() {
                let own_set = subsets::scatter(set, open);
                if roots_is_own && own_set & wanted == 0 {
                    continue;
                }
                budget.enter()?;
                let children = &self.children[index * degree..(index + 1) * degree];
                let mut good = union_of(good_after, children);
                let before_turn = if wins_before_turn {
                    union_of(self.fives_after.as_chunks::<1>().0, children)[0]
                } else {
                    Rotations::NONE
                };
                let five = fives_of_mover[own_set as usize][now];
                let five_of_other = five_of_other[now];
                let mut needs_win = WIN;
                for good in &mut good {
                    // A full board without a five is a draw. A finished game: with a five of the mover's
                    // only it has won, with both it has drawn, with one of the other's only it has lost.
                    let reached = if needs_win {
                        five.or(good.turned()).or(before_turn).without(five_of_other)
                    } else {
                        let reached = if degree == 0 { Rotations::ALL } else { good.turned() };
                        five.or(reached.without(five_of_other))
                    };
                    *good = reached.complement();
                    needs_win = !needs_win;
                }
                let row = self.ranks.rank(own_set);
                let column = self.ranks.rank(subsets::gather(other_set, all & !own_set));
                level[row * rows + column] = good;
            }
        }
        Ok(())
    }

    /// For each set of `size` of `cells` cells: the ranks of the sets with one cell more.
    fn list_children(
        &mut self,
        cells: u32,
        size: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), Stop> {
        self.children.clear();
        for (number, set) in (0_u32..).zip(subsets::of_size(cells, size)) {
            if number.is_multiple_of(SETS_BETWEEN_LOOKS) {
                budget.look_between_nodes()?;
            }
            let absent = (0..cells).filter(|cell| set >> cell & 1 == 0);
            // The ranks are below 2^16: of 18 cells, 48,620 sets have one size.
            self.children.extend(absent.map(|cell| self.ranks.rank(set | 1 << cell) as u16));
        }
        Ok(())
    }
}

/// Boards added to a level between two looks at the clock: first use of memory takes time.
const BOARDS_BETWEEN_LOOKS: usize = 1 << 13;

/// Resizes a level to this many boards with arbitrary contents.
fn resize(level: &mut Vec<Rotations>, boards: usize, budget: &mut Budget<'_>) -> Result<(), Stop> {
    level.truncate(boards);
    while level.len() < boards {
        budget.look_between_nodes()?;
        level.resize(boards.min(level.len() + BOARDS_BETWEEN_LOOKS), Rotations::NONE);
    }
    Ok(())
}

/// The unions of the sets with these indices, for each goal.
#[inline]
fn union_of<const GOALS: usize>(
    sets: &[[Rotations; GOALS]],
    indices: &[u16],
) -> [Rotations; GOALS] {
    let mut union = [Rotations::NONE; GOALS];
    for &index in indices {
        let set = sets[usize::from(index)];
        let mut goal = 0;
        while goal < GOALS {
            union[goal] = union[goal].or(set[goal]);
            goal += 1;
        }
    }
    union
}
