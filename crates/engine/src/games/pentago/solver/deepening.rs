//! A search for short wins of either side: in one ply, in two, in three and so on, in all
//! rotations.
//!
//! One side, the attacker, tries to win within a number of plies; the other, the defender, tries to
//! survive them by any means. Only wins of the attacker are final: otherwise it may win within more
//! plies, unless the game is then over. (Irving's forward solver deepens this way,
//! `search/superengine` of github.com/girving/pentago; iterative deepening is Slate & Atkin's,
//! 1977.)
//!
//! Two devices keep it narrow: wins and refutations by the next placement are computed for all
//! placements at once ([`OneMore`]), and if the attacker lacks more marbles for any line than it
//! has placements left ([`OpenLines`]), it has not won.

use std::cmp::Reverse;

use super::super::bitboard::Bitboard;
use super::fives::{self, OneMore};
use super::forward::Halt;
use super::open_lines::OpenLines;
use super::rotations::Rotations;
use crate::core::budget::Budget;
use crate::core::limits::MemoryRefused;
use crate::core::memory;

/// The search's memory.
#[derive(Debug, Default)]
pub(super) struct Deepening {
    table: Table,
    /// A stack of the children of all boards from the root to here.
    children: Vec<Child>,
}

/// The result of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The side to move wins: by a placement on the cell with this bit and a turn that leads to one
    /// of these rotations.
    Win(u32, Rotations),
    /// Neither side can win.
    Draw,
    /// The other side wins.
    Loss,
}

impl Found {
    /// 1 a win, 0 a draw, -1 a loss.
    pub(super) const fn value(self) -> i32 {
        match self {
            Self::Win(..) => 1,
            Self::Draw => 0,
            Self::Loss => -1,
        }
    }
}

/// Known results of the moves that place on one cell, by the rotations that their turns lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// The cell's bit.
    pub(super) bit: u32,
    /// The mover wins.
    pub(super) won: Rotations,
    /// It loses.
    pub(super) lost: Rotations,
    /// Unknown. (The remaining rotations are drawn.)
    pub(super) open: Rotations,
}

impl Placement {
    /// The rules' results of the moves that turn after placing there.
    pub(super) fn new(bit: u32, [own, other]: [Bitboard; 2]) -> Self {
        let cell = Bitboard::cell(bit);
        let all = Rotations::UNTURNED.turned();
        let [own_five, other_five] = [own.or(cell), other].map(|side| fives::fives(side)[1]);
        let is_full = own.or(other).or(cell) == Bitboard::ALL;
        Self {
            bit,
            won: all.and(own_five).without(other_five),
            lost: all.and(other_five).without(own_five),
            open: if is_full { Rotations::NONE } else { all.without(own_five.or(other_five)) },
        }
    }
}

/// One search: all that is constant in it.
struct Run<'r, 'h> {
    table: &'r mut Table,
    children: &'r mut Vec<Child>,
    win_before_rotation: bool,
    budget: &'r mut Budget<'h>,
    /// Remaining nodes.
    allowance: u64,
}

/// A board below the root, in the root's rotation: only its placements are made, not its turns.
#[derive(Clone, Copy)]
struct Board {
    attacker: Bitboard,
    defender: Bitboard,
    /// Plies from the root, whose last bit is the parity of the rotations.
    plies: u32,
    /// Plies within which the attacker must win, at least 1.
    left: u32,
}

/// A placement during the search of a board.
#[derive(Clone, Copy, Debug)]
struct Child {
    bit: u32,
    /// The rotations of the child that are not decided at once.
    open: Rotations,
    /// Greater means searched sooner.
    promise: u32,
}

/// Precedes any other promise: the best placement when the board was searched last.
const BEST_BEFORE: u32 = 1 << 24;

impl Deepening {
    /// The value of a position by the marbles of its side to move and of the other. Neither has
    /// five, and the side to move cannot win at once.
    ///
    /// # Errors
    /// If the budget stops it, or it would exceed its allowance of nodes.
    pub(super) fn run(
        &mut self,
        [own, other]: [Bitboard; 2],
        win_before_rotation: bool,
        allowance: u64,
        budget: &mut Budget<'_>,
    ) -> Result<Found, Halt> {
        let mut run = self.start(win_before_rotation, allowance, budget);
        let plies_left = 36 - own.or(other).count();
        let mut best = [None; 2];
        for left in 2..=plies_left {
            let attack = Board { attacker: own, defender: other, plies: 0, left };
            let defence = Board { attacker: other, defender: own, plies: 0, left };
            // Each side wins with a ply of its own, except for the rare turn that makes the other's
            // five. That is found a ply later or, if no ply is left, here.
            let is_end = left == plies_left;
            if left % 2 == 1 || is_end {
                run.enter()?;
                if !run.attacked(attack, Rotations::UNTURNED, &mut best[0])?.is_empty() {
                    return run.winning_move(attack, best[0]);
                }
            }
            if left % 2 == 0 || is_end {
                run.enter()?;
                if !run.defended(defence, Rotations::UNTURNED, &mut best[1])?.is_empty() {
                    return Ok(Found::Loss);
                }
            }
        }
        Ok(Found::Draw)
    }

    /// Determines the results of a position's moves as far as possible, given the marbles of its side to move
    /// and of the other: for each empty cell, lowest bit first, the known results of placing there grow.
    /// Neither side has five.
    ///
    /// # Errors
    /// If the budget stops it, or it would exceed its allowance of nodes: results so far stay.
    pub(super) fn value_moves(
        &mut self,
        [own, other]: [Bitboard; 2],
        win_before_rotation: bool,
        allowance: u64,
        budget: &mut Budget<'_>,
        placements: &mut [Placement],
    ) -> Result<(), Halt> {
        let mut run = self.start(win_before_rotation, allowance, budget);
        let plies_left = 36 - own.or(other).count() - 1;
        for left in 1..=plies_left {
            let is_end = left == plies_left;
            for placement in &mut *placements {
                let own = own.or(Bitboard::cell(placement.bit));
                let attack = Board { attacker: other, defender: own, plies: 1, left };
                let defence = Board { attacker: own, defender: other, plies: 1, left };
                // The winner with its own ply: see `run`.
                if (left % 2 == 1 || is_end) && !placement.open.is_empty() {
                    let lost = run.attack(attack, placement.open)?;
                    placement.lost = placement.lost.or(lost);
                    placement.open = placement.open.without(lost);
                }
                if (left % 2 == 0 || is_end) && !placement.open.is_empty() {
                    let won = run.defend(defence, placement.open)?;
                    placement.won = placement.won.or(won);
                    placement.open = placement.open.without(won);
                }
            }
        }
        for placement in placements {
            placement.open = Rotations::NONE;
        }
        Ok(())
    }

    /// A fresh search of at most this many nodes.
    fn start<'r, 'h>(
        &'r mut self,
        win_before_rotation: bool,
        allowance: u64,
        budget: &'r mut Budget<'h>,
    ) -> Run<'r, 'h> {
        let Self { table, children } = self;
        table.clear();
        children.clear();
        Run { table, children, win_before_rotation, budget, allowance }
    }
}

impl Run<'_, '_> {
    fn enter(&mut self) -> Result<(), Halt> {
        if self.allowance == 0 {
            return Err(Halt::Allowance);
        }
        self.allowance -= 1;
        self.budget.enter_costly().map_err(Halt::Stop)
    }

    /// The moves of a root by the winning placement.
    fn winning_move(&mut self, root: Board, best: Option<u32>) -> Result<Found, Halt> {
        let Some(bit) = best else { unreachable!("a win that is not at once has a placement") };
        let fives = [root.attacker.or(Bitboard::cell(bit)), root.defender].map(fives::fives);
        let [own, other] = fives.map(|fives| fives[1]);
        let reached = Rotations::UNTURNED.turned().without(own.or(other));
        let won = match root.left {
            0..2 => Rotations::NONE,
            _ => self.defend(root.attacked_on(bit), reached)?,
        };
        Ok(Found::Win(bit, won))
    }

    /// The attacker is to move: those of the given rotations, without a five, in which it wins.
    fn attack(&mut self, board: Board, asked: Rotations) -> Result<Rotations, Halt> {
        self.enter()?;
        if board.left < 3 {
            return self.attacked(board, asked, &mut None);
        }
        let key = board.key(true);
        let mut known = self.table.get(key, board.left);
        let unknown = asked.without(known.won.or(known.held));
        if !unknown.is_empty() {
            let won = self.attacked(board, unknown, &mut known.best)?;
            known.add(unknown, won);
            self.table.put(key, board.left, known).map_err(|refused| Halt::Stop(refused.into()))?;
        }
        Ok(known.won.and(asked))
    }

    /// The defender is to move: those of the given rotations, without a five, in which the attacker wins.
    fn defend(&mut self, board: Board, asked: Rotations) -> Result<Rotations, Halt> {
        self.enter()?;
        if board.left < 4 {
            return self.defended(board, asked, &mut None);
        }
        let key = board.key(false);
        let mut known = self.table.get(key, board.left);
        let unknown = asked.without(known.won.or(known.held));
        if !unknown.is_empty() {
            let won = self.defended(board, unknown, &mut known.best)?;
            known.add(unknown, won);
            self.table.put(key, board.left, known).map_err(|refused| Halt::Stop(refused.into()))?;
        }
        Ok(known.won.and(asked))
    }

    /// [`Run::attack`] without the table. `best` is the placement to try first, and becomes the
    /// winning one.
    fn attacked(
        &mut self,
        board: Board,
        asked: Rotations,
        best: &mut Option<u32>,
    ) -> Result<Rotations, Halt> {
        let (now, after) = board.parities();
        let empty = board.empty();
        let plies = board.left.min(empty.count());
        let own = OneMore::new(board.attacker, empty);
        let mut won = own.any(after).without(fives::fives(board.defender)[after]).turned();
        if self.win_before_rotation {
            won = won.or(own.any(now));
        }
        if plies == 1 || asked.without(won).is_empty() {
            return Ok(won.and(asked));
        }
        let first = self.children.len();
        self.list_attacks(board, asked.without(won), &own, *best);
        for index in first..self.children.len() {
            let open = asked.without(won);
            let child = self.children[index];
            let asked_there = child.open.and(open.turned());
            if asked_there.is_empty() {
                continue;
            }
            let lost = match plies {
                // The defender's last ply would have saved it at once.
                2 => asked_there,
                _ => self.defend(board.attacked_on(child.bit), asked_there)?,
            };
            if !lost.is_empty() {
                *best = Some(child.bit);
                won = won.or(lost.turned());
                if asked.without(won).is_empty() {
                    break;
                }
            }
        }
        self.children.truncate(first);
        Ok(won.and(asked))
    }

    /// Pushes the attacker's placements that the defender does not refute at once.
    fn list_attacks(&mut self, board: Board, open: Rotations, own: &OneMore, best: Option<u32>) {
        let (now, after) = board.parities();
        let empty = board.empty();
        let other = OneMore::new(board.defender, empty);
        let lines = OpenLines::new(board.attacker, board.defender);
        // Plies that the defender has after the placement.
        let plies = board.left.min(empty.count()) - 1;
        let reached = open.turned().without(own.fives[after]).without(other.fives[after]);
        let refuted = other.any(now).turned();
        let first = self.children.len();
        for bit in empty.cells() {
            // Five for the defender wins or draws. (Five before its turn keeps after one turn.)
            let mut refuted = match other.cells.has(bit) {
                true => other.any_but(bit, now).turned(),
                false => refuted,
            };
            if plies == 1 {
                let five = own.fives[now].or(own.made(bit, now));
                refuted = refuted.or(five.complement().turned());
            }
            let left = reached.without(own.made(bit, after)).without(refuted);
            if left.is_empty() {
                continue;
            }
            let (lacking, threats) = lines.with_own(bit).closest();
            if lacking > plies / 2 {
                continue;
            }
            let first_of_all = if best == Some(bit) { BEST_BEFORE } else { 0 };
            let promise = first_of_all + threats * 256 + left.count();
            self.children.push(Child { bit, open: left, promise });
        }
        self.sort_from(first);
    }

    /// [`Run::defend`] without the table. `best` is the placement to try first, and becomes the one
    /// that survived.
    fn defended(
        &mut self,
        board: Board,
        asked: Rotations,
        best: &mut Option<u32>,
    ) -> Result<Rotations, Halt> {
        let (now, after) = board.parities();
        let empty = board.empty();
        let plies = board.left.min(empty.count());
        let theirs = OneMore::new(board.attacker, empty);
        if plies == 2 {
            // If a placement that changes nothing suffices, the others need not be known.
            let five = fives::fives(board.defender)[now];
            let lost = self.won_at_once(theirs.any(now), theirs.any(after), five);
            let held = theirs.fives[after].or(lost).complement().turned();
            if asked.without(held).is_empty() {
                return Ok(Rotations::NONE);
            }
        }
        let own = OneMore::new(board.defender, empty);
        let mut held = own.any(after);
        if plies == 1 {
            held = held.or(theirs.fives[after].complement());
        }
        let mut open = asked.without(held.turned());
        if plies == 1 || open.is_empty() {
            return Ok(open);
        }
        let first = self.children.len();
        self.list_defences(board, &mut open, &theirs, &own, *best);
        for index in first..self.children.len() {
            let child = self.children[index];
            let asked_there = child.open.and(open.turned());
            if asked_there.is_empty() {
                continue;
            }
            let won = self.attack(board.defended_on(child.bit), asked_there)?;
            let held = asked_there.without(won);
            if !held.is_empty() {
                *best = Some(child.bit);
                open = open.without(held.turned());
            }
        }
        self.children.truncate(first);
        Ok(open)
    }

    /// Pushes the defender's placements after which the attacker does not win at once, and removes
    /// from `open` the rotations that survive without a search.
    fn list_defences(
        &mut self,
        board: Board,
        open: &mut Rotations,
        theirs: &OneMore,
        own: &OneMore,
        best: Option<u32>,
    ) {
        let (now, after) = board.parities();
        let empty = board.empty();
        // Plies that the attacker has after the placement. With one it wins at once or not at all.
        let plies = board.left.min(empty.count()) - 1;
        let lines = (plies > 1).then(|| OpenLines::new(board.attacker, board.defender));
        let reached = open.turned().without(theirs.fives[after]).without(own.fives[after]);
        let any = [theirs.any(now), theirs.any(after)];
        let lost = self.won_at_once(any[0], any[1], own.fives[now]);
        let first = self.children.len();
        for bit in empty.cells() {
            let lost = if theirs.cells.has(bit) || own.cells.has(bit) {
                let [any_now, any_after] = match theirs.cells.has(bit) {
                    true => [theirs.any_but(bit, now), theirs.any_but(bit, after)],
                    false => any,
                };
                let five = own.fives[now].or(own.made(bit, now));
                self.won_at_once(any_now, any_after, five)
            } else {
                lost
            };
            let left = reached.without(own.made(bit, after)).without(lost);
            let left = left.and(open.turned());
            if left.is_empty() {
                continue;
            }
            let threats = lines.as_ref().and_then(|lines| {
                let (lacking, threats) = lines.with_others(bit).closest();
                (lacking <= plies.div_ceil(2)).then_some(threats)
            });
            let Some(threats) = threats else {
                *open = open.without(left.turned());
                if open.is_empty() {
                    break;
                }
                continue;
            };
            let saved = left.turned().and(*open).count();
            let first_of_all = if best == Some(bit) { BEST_BEFORE } else { 0 };
            let promise = first_of_all + saved * 256 + 255 - threats;
            self.children.push(Child { bit, open: left, promise });
        }
        self.sort_from(first);
    }

    /// The rotations in which the attacker, to move, wins at once, given those in which some placement gives
    /// it five after its turn and before, and those of the defender's fives after it.
    #[inline]
    fn won_at_once(
        &self,
        after_turn: Rotations,
        before_turn: Rotations,
        others_five: Rotations,
    ) -> Rotations {
        let won = after_turn.without(others_five).turned();
        if self.win_before_rotation { won.or(before_turn) } else { won }
    }

    /// In descending order of promise; ties by cell.
    fn sort_from(&mut self, first: usize) {
        self.children[first..].sort_unstable_by_key(|child| (Reverse(child.promise), child.bit));
    }
}

impl Board {
    /// The parities of the rotations now and after the next turn.
    const fn parities(self) -> (usize, usize) {
        let now = (self.plies % 2) as usize;
        (now, 1 - now)
    }

    fn empty(self) -> Bitboard {
        Bitboard::ALL.without(self.attacker.or(self.defender))
    }

    fn attacked_on(self, bit: u32) -> Self {
        let attacker = self.attacker.or(Bitboard::cell(bit));
        Self { attacker, plies: self.plies + 1, left: self.left - 1, ..self }
    }

    fn defended_on(self, bit: u32) -> Self {
        let defender = self.defender.or(Bitboard::cell(bit));
        Self { defender, plies: self.plies + 1, left: self.left - 1, ..self }
    }

    /// A number that identifies a board and its side to move, with zeros at [`Table::SPARE`].
    fn key(self, attacks: bool) -> u128 {
        let side_bits = 1 << 127 | u128::from(attacks) << 63;
        side_bits | u128::from(self.attacker.bits()) << 64 | u128::from(self.defender.bits())
    }
}

/// Known results of a board.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The rotations in which the attacker wins.
    won: Rotations,
    /// Those in which it does not within the given plies.
    held: Rotations,
    /// The placement that decided most recently.
    best: Option<u32>,
}

impl Known {
    fn add(&mut self, asked: Rotations, won: Rotations) {
        self.won = self.won.or(won);
        self.held = self.held.or(asked.without(won));
    }
}

/// Known results of boards, each at the place of its key.
#[derive(Debug, Default)]
struct Table {
    /// Key with plies and best placement, rotations won, rotations held; all 0 if empty. The length
    /// is a power of two.
    entries: Vec<[u128; 3]>,
    /// The number of writes.
    written: usize,
}

impl Table {
    /// Entries at first: most searches are short.
    const ENTRIES_MIN: usize = 1 << 8;
    /// Entries at most: at 48 bytes each, 48 MiB.
    const ENTRIES_MAX: usize = 1 << 20;
    /// Bits of a key without a cell: for the plies, and for the best placement's bit plus one.
    const PLIES: (u32, u128) = (9, 0x3f);
    const BEST: (u32, u128) = (25, 0x3f);
    const SPARE: u128 = Self::PLIES.1 << Self::PLIES.0 | Self::BEST.1 << Self::BEST.0;

    fn clear(&mut self) {
        self.entries.clear();
        self.entries.resize(Self::ENTRIES_MIN, [0; 3]);
        self.written = 0;
    }

    /// Known results of a board within this many plies.
    fn get(&self, key: u128, left: u32) -> Known {
        let [packed, won, held] = self.entries[self.index(key)];
        if packed & !Self::SPARE != key {
            return Known::default();
        }
        let spare = |(shift, mask): (u32, u128)| (packed >> shift & mask) as u32;
        let held = if spare(Self::PLIES) >= left { Rotations(held) } else { Rotations::NONE };
        Known { won: Rotations(won), held, best: spare(Self::BEST).checked_sub(1) }
    }

    /// Stores a board's results, replacing the entry. A board is never searched within fewer plies
    /// than before, so held rotations stay held.
    ///
    /// # Errors
    /// If the system refuses memory.
    fn put(&mut self, key: u128, left: u32, known: Known) -> Result<(), MemoryRefused> {
        if self.written > self.entries.len() / 2 && self.entries.len() < Self::ENTRIES_MAX {
            self.grow()?;
        }
        self.written += 1;
        let best = known.best.map_or(0, |bit| bit + 1);
        let packed = key | u128::from(left) << Self::PLIES.0 | u128::from(best) << Self::BEST.0;
        let index = self.index(key);
        self.entries[index] = [packed, known.won.0, known.held.0];
        Ok(())
    }

    /// Makes it four times as long.
    fn grow(&mut self) -> Result<(), MemoryRefused> {
        let length = (4 * self.entries.len()).min(Self::ENTRIES_MAX);
        let before = std::mem::replace(&mut self.entries, memory::zeros(length, None)?);
        for entry in before.into_iter().filter(|entry| entry[0] != 0) {
            let index = self.index(entry[0] & !Self::SPARE);
            self.entries[index] = entry;
        }
        Ok(())
    }

    fn index(&self, key: u128) -> usize {
        let mixed = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (key >> 64) as u64;
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 32) as usize & (self.entries.len() - 1)
    }
}
