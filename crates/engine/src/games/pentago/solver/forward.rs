//! Search from a board down, until the given rotations are decided.

use super::fives::Fives;
use super::rotations::Rotations;
use crate::core::budget::Budget;
use crate::core::limits::{MemoryRefused, Stop};
use crate::core::memory;

/// The goal of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Win,
    WinOrDraw,
}

impl Goal {
    /// The opponent's goal: to prevent it.
    pub(super) const fn prevented(self) -> Self {
        match self {
            Self::Win => Self::WinOrDraw,
            Self::WinOrDraw => Self::Win,
        }
    }
}

/// The reason for which a search has no answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Halt {
    /// The budget stopped it.
    Stop(Stop),
    /// It has used up its allowance of nodes.
    Allowance,
}

/// A board below the root, by the sets of the root's empty cells that were placed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    /// Cells of the side to move and of the other.
    pub(super) own: u64,
    pub(super) other: u64,
    /// Plies from the root, whose last bit is the parity of the rotations.
    pub(super) plies: u32,
}

impl Board {
    const ROOT: Self = Self { own: 0, other: 0, plies: 0 };
}

/// The search's memory.
#[derive(Debug, Default)]
pub(super) struct Forward {
    /// Known results of boards, each at the place of its key. Its length is a power of two.
    table: Vec<Packed>,
    /// A stack of the children of all boards from the root to here.
    children: Vec<Child>,
}

/// Entries of the table at most: at 48 bytes each, 48 MiB.
const ENTRIES_MAX: u64 = 1 << 20;

/// Known results of a board under a goal.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u128,
    asked: Rotations,
    reached: Rotations,
}

/// An entry in plain numbers, as in the table: the operating system provides a table of zeros page
/// by page as it is used; writing them all would take longer than many moves may.
type Packed = [u128; 3];

impl Entry {
    const fn pack(self) -> Packed {
        [self.key, self.asked.0, self.reached.0]
    }

    const fn unpack([key, asked, reached]: Packed) -> Self {
        Self { key, asked: Rotations(asked), reached: Rotations(reached) }
    }
}

/// One search: all that is constant in it.
pub(super) struct Run<'r, 'h> {
    fives: &'r Fives,
    win_before_rotation: bool,
    forward: &'r mut Forward,
    budget: &'r mut Budget<'h>,
    /// Remaining nodes.
    allowance: u64,
}

impl Forward {
    /// A fresh search of at most this many nodes.
    ///
    /// # Errors
    /// If the system refuses memory.
    pub(super) fn start<'r, 'h>(
        &'r mut self,
        fives: &'r Fives,
        win_before_rotation: bool,
        allowance: u64,
        budget: &'r mut Budget<'h>,
    ) -> Result<Run<'r, 'h>, MemoryRefused> {
        let entries = allowance.min(ENTRIES_MAX).next_power_of_two();
        self.children.clear();
        // The old table goes before the new one comes.
        self.table = Vec::new();
        self.table = memory::zeros(usize::try_from(entries).unwrap_or(1), None)?;
        Ok(Run { fives, win_before_rotation, forward: self, budget, allowance })
    }
}

impl Run<'_, '_> {
    /// Whether the root's side to move reaches the goal.
    pub(super) fn root_reaches(&mut self, goal: Goal) -> Result<bool, Halt> {
        Ok(!self.reached(Board::ROOT, goal, Rotations::UNTURNED)?.is_empty())
    }

    /// For each empty cell of the root, lowest bit first: the rotations one turn away in which its
    /// side to move reaches the goal after placing there.
    pub(super) fn good_after(&mut self, goal: Goal) -> Result<Vec<Rotations>, Halt> {
        let others_five = self.fives.rotations(1, 0)[1];
        let mut good = Vec::new();
        let mut empty = self.fives.cells();
        while empty != 0 {
            let cell = empty & empty.wrapping_neg();
            empty &= empty - 1;
            let five = self.fives.rotations(0, cell)[1];
            let asked = Rotations::UNTURNED.turned().without(five.or(others_five));
            let board = Board { own: 0, other: cell, plies: 1 };
            let lost = if asked.is_empty() {
                Rotations::NONE
            } else if cell == self.fives.cells() {
                // A full board without a five is a draw.
                if goal == Goal::Win { Rotations::ALL } else { Rotations::NONE }
            } else {
                self.visit(board, goal.prevented(), asked)?
            };
            let over = match goal {
                Goal::Win => five.without(others_five),
                Goal::WinOrDraw => five,
            };
            good.push(over.or(asked.without(lost)).and(Rotations::UNTURNED.turned()));
        }
        Ok(good)
    }

    /// Those of the given rotations, without a five, in which the side to move reaches the goal.
    pub(super) fn reached(
        &mut self,
        board: Board,
        goal: Goal,
        asked: Rotations,
    ) -> Result<Rotations, Halt> {
        let index = self.index(board, goal);
        let entry = Entry::unpack(self.forward.table[index.0]);
        let mut known = Entry { key: index.1, ..Entry::default() };
        if entry.key == index.1 {
            known = entry;
            if asked.without(known.asked).is_empty() {
                return Ok(known.reached.and(asked));
            }
        }
        let asked = asked.without(known.asked);
        let reached = self.search(board, goal, asked)?;
        known.asked = known.asked.or(asked);
        known.reached = known.reached.or(reached);
        self.forward.table[index.0] = known.pack();
        Ok(known.reached)
    }

    fn search(&mut self, board: Board, goal: Goal, asked: Rotations) -> Result<Rotations, Halt> {
        let first = self.forward.children.len();
        let found = self.search_with(board, goal, asked, first);
        self.forward.children.truncate(first);
        found
    }

    /// [`Run::search`], whose children go on the stack from `first`.
    fn search_with(
        &mut self,
        board: Board,
        goal: Goal,
        asked: Rotations,
        first: usize,
    ) -> Result<Rotations, Halt> {
        let side = (board.plies % 2) as usize;
        let (now, after) = (side, 1 - side);
        let other_five = self.fives.rotations(1 - side, board.other)[after];
        let mut five_before = Rotations::NONE;
        let mut five_after = Rotations::NONE;
        let mut empty = self.fives.cells() & !(board.own | board.other);
        while empty != 0 {
            let cell = empty & empty.wrapping_neg();
            empty &= empty - 1;
            let own = self.fives.rotations(side, board.own | cell);
            let other = self.fives.rotations(1 - side, board.other | cell);
            five_before = five_before.or(own[now]);
            five_after = five_after.or(own[after]);
            self.forward.children.push(Child {
                cell,
                over: own[after].or(other_five),
                // The opponent's fives on the next ply: before its turn, and after it.
                replies: [other[after], other[now]],
                own_five: own[now],
                ..Child::default()
            });
        }
        let count = self.forward.children.len() - first;
        let mut found = self.at_once(goal, count, five_before, five_after, other_five);
        let mut open = asked.without(found);
        if open.is_empty() || count == 1 {
            return Ok(found.and(asked));
        }
        self.look_ahead(first, goal.prevented(), open);
        loop {
            let children = &mut self.forward.children[first..first + count];
            let Some(child) = children
                .iter_mut()
                .filter(|child| !child.done)
                .max_by_key(|child| (child.promise, std::cmp::Reverse(child.cell)))
            else {
                break;
            };
            child.done = true;
            let child = *child;
            let asked_there = open.turned().without(child.over).without(child.refuted);
            if asked_there.is_empty() {
                continue;
            }
            let lost = if count == 2 {
                // The last placement reaches its goal at once or not at all.
                Rotations::NONE
            } else {
                let next = Board {
                    own: board.other,
                    other: board.own | child.cell,
                    plies: board.plies + 1,
                };
                self.visit(next, goal.prevented(), asked_there)?
            };
            found = found.or(asked_there.without(lost).turned());
            open = open.without(found);
            if open.is_empty() {
                break;
            }
        }
        Ok(found.and(asked))
    }

    /// The rotations in which a side reaches its goal with its next placement and turn, given the
    /// fives it can make before and after the turn, and the opponent's then.
    fn at_once(
        &self,
        goal: Goal,
        empty: usize,
        five_before: Rotations,
        five_after: Rotations,
        other_five: Rotations,
    ) -> Rotations {
        match goal {
            Goal::Win => {
                let turned = five_after.without(other_five).turned();
                if self.win_before_rotation { turned.or(five_before) } else { turned }
            }
            Goal::WinOrDraw if empty == 1 => five_after.or(other_five.complement()).turned(),
            Goal::WinOrDraw => five_after.turned(),
        }
    }

    fn visit(&mut self, board: Board, goal: Goal, asked: Rotations) -> Result<Rotations, Halt> {
        if self.allowance == 0 {
            return Err(Halt::Allowance);
        }
        self.allowance -= 1;
        self.budget.enter_costly().map_err(Halt::Stop)?;
        self.reached(board, goal, asked)
    }

    /// The opponent's immediate results on each child, and the remaining rotations.
    fn look_ahead(&mut self, first: usize, goal: Goal, open: Rotations) {
        let count = self.forward.children.len() - first;
        let asked = open.turned();
        // Its fives with a placement on any other cell: those on cells before, and after.
        let mut before = [Rotations::NONE; 2];
        for child in &mut self.forward.children[first..] {
            let here = child.replies;
            child.before = before;
            before = [before[0].or(here[0]), before[1].or(here[1])];
        }
        let mut behind = [Rotations::NONE; 2];
        for index in (first..first + count).rev() {
            let child = self.forward.children[index];
            let [at_once, after] = [child.before[0].or(behind[0]), child.before[1].or(behind[1])];
            behind = [behind[0].or(child.replies[0]), behind[1].or(child.replies[1])];
            let refuted = self.at_once(goal, count - 1, at_once, after, child.own_five);
            let left = asked.without(child.over).without(refuted);
            let child = &mut self.forward.children[index];
            child.refuted = refuted;
            child.promise = left.turned().and(open).count() * 256 + left.count();
        }
    }

    fn index(&self, board: Board, goal: Goal) -> (usize, u128) {
        let goal = u128::from(goal == Goal::Win);
        // No set of cells has bits 62 and 63; an empty entry's key is 0.
        let key = u128::from(board.own) << 64 | u128::from(board.other) | goal << 62 | 1 << 63;
        // The sets are disjoint: their XOR alone would not distinguish their owners.
        let mixed = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (key >> 64) as u64;
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        // The table's length is a power of two.
        ((mixed >> 32) as usize & (self.forward.table.len() - 1), key)
    }
}

/// A placement during the search of a board.
#[derive(Clone, Copy, Debug, Default)]
struct Child {
    cell: u64,
    /// Rotations of the child with a five.
    over: Rotations,
    /// The opponent's fives with a placement here, before and after its turn.
    replies: [Rotations; 2],
    /// The same for all cells before this one.
    before: [Rotations; 2],
    /// Fives of the side that placed, after the opponent's turn.
    own_five: Rotations,
    /// Rotations of the child in which the opponent reaches its goal at once.
    refuted: Rotations,
    /// Greater means searched sooner.
    promise: u32,
    done: bool,
}
