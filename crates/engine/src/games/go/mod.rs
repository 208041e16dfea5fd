//! Go: stones are placed on the points of a board, and what has no free point beside it is captured; the side
//! with the larger area wins.
//!
//! Black moves first. A move puts a stone on a free point, or passes. Stones of the other side that are left
//! without a free point beside their group are then removed. Two passes in a row end the game: a side's area are
//! its stones and the free points from which paths over free points reach only its stones (area scoring as in
//! Tromp & Taylor's rules). Stones are not agreed to be dead: a side captures what it does not want counted.
//! White gets komi.
//!
//! # What these rules settle
//!
//! - **Suicide.** A stone that captures nothing and leaves its own group without a free point is illegal under
//!   the usual rules; with `suicide` the group is removed. A single stone is never put down so: the board would
//!   be as before.
//! - **Ko and superko.** To retake a single stone at once, where that restores the board (ko), is illegal. Longer
//!   cycles are not seen in a position, which knows nothing of those before it: a stone that restores the board
//!   of an earlier position of the game (positional superko) ends the game, and who put it there loses
//!   ([`SUPERKO`]), as by an illegal move. So built-in players see such a loss wherever they search, and external
//!   engines must be set to positional superko. A pass may always be played.
//! - **Length.** Positional superko alone bounds games by astronomical numbers. A game that has
//!   [`PLIES_PER_POINT`] plies for each point is over and scored as after two passes ([`LENGTH`]).
//!
//! # Representation
//!
//! Sets of points as bits (`cells.rs`), in rows of 20 bits for all sizes, the last of which stay 0. A position
//! keeps the stones of both sides; which moves are legal is computed when it is asked, and random games keep
//! their own groups (`playout.rs`).

mod cells;
pub mod evaluation;
mod features;
mod game;
mod gtp;
mod keys;
mod knowledge;
mod moves;
mod notation;
mod playout;

use std::fmt;

use crate::core::position::{Before, Ending, Line, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::stack::assert_fits;
use crate::core::termination::{Termination, TerminationInfo};
use crate::core::wide::wide;
use cells::{Cells, WORDS};

pub use moves::GoMove;

/// Two passes in a row.
pub const TWO_PASSES: Termination =
    Termination::new(&TerminationInfo { name: "two_passes", words: "both sides passed" });

/// The greatest length of a game, [`PLIES_PER_POINT`]; the board is scored as after two passes.
pub const LENGTH: Termination = Termination::new(&TerminationInfo {
    name: "scored_at_length",
    words: "the game reached its greatest length and was scored",
});

/// A stone restored the board of an earlier position: who put it there loses.
pub const SUPERKO: Termination = Termination::new(&TerminationInfo {
    name: "superko",
    words: "a stone restored an earlier board",
});

/// A game ends at the latest after so many plies for each point of the board.
pub const PLIES_PER_POINT: u32 = 3;

/// The greatest number of rows and columns.
const SIZE_MAX: u32 = 19;
/// Bits of a row: at least one more than the points of the longest.
const STRIDE: u32 = 20;

/// A Go position.
///
/// The notation has the rows from the top, divided by `/`: `b` (black, who moves first), `w`, `.` for a free
/// point, or `k` for the free point that ko forbids to the side to move; then the side to move, `b` or `w`, the
/// number of passes just made (0 to 2) and the plies played, each after a space. Handicap stones are a position
/// with White to move after 0 plies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Go {
    /// Stones of Black and of White.
    stones: [Cells<WORDS>; 2],
    /// The point where the side to move would retake a ko.
    ko: Option<u16>,
    plies: u16,
    /// In half points.
    komi: i16,
    size: u8,
    passes: u8,
    to_move: Side,
    allows_suicide: bool,
}

/// Computes with as few words as the board has.
macro_rules! by_size {
    ($position:expr, $words:ident => $result:expr) => {
        if $position.size <= 9 {
            const $words: usize = $crate::games::go::cells::SMALL;
            $result
        } else {
            const $words: usize = $crate::games::go::cells::WORDS;
            $result
        }
    };
}
use by_size;

/// What a position's groups show: as many words as the board has.
struct Board<const W: usize> {
    all: Cells<W>,
    own: Cells<W>,
    other: Cells<W>,
    free: Cells<W>,
}

impl<const W: usize> Board<W> {
    /// Points where the side to move may put a stone, apart from ko.
    #[inline(always)]
    fn placements(&self, allows_suicide: bool) -> Cells<W> {
        let open = self.free.beside(self.free);
        let closed = self.free.without(open);
        let mut legal = open;
        if closed.is_empty() {
            return legal;
        }
        let mut own = closed.beside(self.own);
        if allows_suicide {
            legal = legal.or(own.beside(closed));
            own = Cells::EMPTY;
        }
        while !own.is_empty() {
            let group = Cells::one(own.first()).flooded(self.own);
            own = own.without(group);
            let liberties = group.beside(self.free);
            if liberties.count() > 1 {
                legal = legal.or(liberties);
            }
        }
        let mut other = closed.without(legal).beside(self.other);
        while !other.is_empty() {
            let group = Cells::one(other.first()).flooded(self.other);
            other = other.without(group);
            let liberties = group.beside(self.free);
            if liberties.count() == 1 {
                legal = legal.or(liberties);
            }
        }
        legal
    }

    /// The free points from which paths over free points reach stones.
    #[inline(always)]
    fn reach(&self, stones: Cells<W>) -> Cells<W> {
        stones.beside(self.free).flooded(self.free)
    }

    /// The areas of the side to move and of the other.
    #[inline(always)]
    fn areas(&self) -> [u32; 2] {
        let [own, other] = [self.reach(self.own), self.reach(self.other)];
        let area = |stones: Cells<W>, reach: Cells<W>, others: Cells<W>| {
            stones.count() + reach.without(others).count()
        };
        [area(self.own, own, other), area(self.other, other, own)]
    }
}

impl Go {
    /// The empty board.
    ///
    /// # Panics
    /// If the size is not from 2 to 19, or komi is beyond ±722 half points.
    #[must_use]
    pub fn empty(size: u32, komi_in_half_points: i32, allows_suicide: bool) -> Self {
        assert_fits::<Self>();
        assert!((2..=SIZE_MAX).contains(&size) && komi_in_half_points.abs() <= 722);
        Self {
            stones: [Cells::EMPTY; 2],
            ko: None,
            plies: 0,
            komi: komi_in_half_points as i16,
            size: size as u8,
            passes: 0,
            to_move: Side::First,
            allows_suicide,
        }
    }

    /// Rows, and columns.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size as u32
    }

    /// The number of stones on the board.
    #[must_use]
    pub fn stone_count(&self) -> u32 {
        self.stones[0].count() + self.stones[1].count()
    }

    /// Black's area minus White's and komi, in half points: the margin if the game ended here.
    #[must_use]
    pub fn half_points(&self) -> i32 {
        let [own, other] = self.areas();
        let lead = 2 * (own as i32 - other as i32);
        let lead = if self.to_move == Side::First { lead } else { -lead };
        lead - i32::from(self.komi)
    }

    /// The areas of the side to move and of the other: their stones, and what only these reach.
    fn areas(&self) -> [u32; 2] {
        wide!(by_size!(self, W => self.words::<W>().areas()))
    }

    #[inline(always)]
    fn words<const W: usize>(&self) -> Board<W> {
        let [own, other] = [self.to_move, self.to_move.other()]
            .map(|side| self.stones[side.index()].resized::<W>());
        let all = boards::<W>(self.size());
        Board { all, own, other, free: all.without(own.or(other)) }
    }

    /// The greatest number of plies of a game on this board.
    const fn plies_max(&self) -> u32 {
        PLIES_PER_POINT * self.size() * self.size()
    }

    /// Whether the next ply is the game's last for its length.
    #[inline]
    const fn is_last_ply(&self) -> bool {
        self.plies as u32 + 1 >= self.plies_max()
    }

    /// Points where the side to move may put a stone; none if the game is over.
    fn placements(&self) -> Cells<WORDS> {
        if self.is_over() {
            return Cells::EMPTY;
        }
        let legal: Cells<WORDS> = wide!(by_size!(self, W => {
            self.words::<W>().placements(self.allows_suicide).resized()
        }));
        self.ko.map_or(legal, |ko| legal.without(Cells::one(u32::from(ko))))
    }

    /// Puts a stone of the side to move on a free point, and removes what is captured.
    #[inline(always)]
    fn place<const W: usize>(&mut self, cell: u32) {
        let board = self.words::<W>();
        let stone = Cells::<W>::one(cell);
        let free = board.free.without(stone);
        let mut own = board.own.or(stone);
        let mut captured = Cells::EMPTY;
        let mut beside = stone.beside(board.other);
        while !beside.is_empty() {
            let group = Cells::one(beside.first()).flooded(board.other);
            beside = beside.without(group);
            if !group.beside(board.all).meets(free) {
                captured = captured.or(group);
            }
        }
        self.ko = None;
        if captured.is_empty() {
            if self.allows_suicide && !stone.beside(board.all).meets(free) {
                let group = stone.flooded(own);
                if !group.beside(board.all).meets(free) {
                    own = own.without(group);
                }
            }
        } else if captured.count() == 1 && stone.beside(board.all).without(board.other).is_empty() {
            // The stone is alone, and its only free point is that of the captured one. No other group can be taken
            // there: each had another free point before, and keeps it.
            self.ko = Some(captured.first() as u16);
        }
        self.stones[self.to_move.index()] = own.resized();
        self.stones[self.to_move.other().index()] = board.other.without(captured).resized();
        self.passes = 0;
    }
}

/// All points of a board of this size.
#[inline(always)]
fn boards<const W: usize>(size: u32) -> Cells<W> {
    static BOARDS: [Cells<WORDS>; SIZE_MAX as usize + 1] = {
        let mut boards = [Cells::EMPTY; SIZE_MAX as usize + 1];
        let mut size = 0;
        while size <= SIZE_MAX {
            boards[size as usize] = Cells::board(size);
            size += 1;
        }
        boards
    };
    BOARDS[size as usize].resized()
}

impl Position for Go {
    type Move = GoMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "black", letter: 'b' }, SideName { word: "white", letter: 'w' }];

    const HISTORY_MATTERS: bool = true;

    #[inline]
    fn to_move(&self) -> Side {
        self.to_move
    }

    fn ending(&self) -> Option<Ending> {
        if !self.is_over() {
            return None;
        }
        let winner = match self.half_points() {
            0 => None,
            1.. => Some(Side::First),
            ..0 => Some(Side::Second),
        };
        Some(Ending { winner, termination: if self.passes == 2 { TWO_PASSES } else { LENGTH } })
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.passes == 2 || u32::from(self.plies) >= self.plies_max()
    }

    fn legal_moves(&self, moves: &mut Vec<GoMove>) {
        if !self.is_over() {
            moves.extend(self.placements().iter().map(GoMove::at));
            moves.push(GoMove::PASS);
        }
    }

    fn legal_move_count(&self) -> u32 {
        if self.is_over() { 0 } else { self.placements().count() + 1 }
    }

    fn nth_legal_move(&self, index: u32) -> GoMove {
        self.pick_move(|_| index).1
    }

    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, GoMove) {
        assert!(!self.is_over(), "the game is over");
        let placements = self.placements();
        let legal_moves = placements.count() + 1;
        let index = pick(legal_moves);
        let is_pass = index + 1 == legal_moves;
        (legal_moves, if is_pass { GoMove::PASS } else { GoMove::at(placements.nth(index)) })
    }

    /// Only the game's last ply can win: a second pass, or, for the length, any.
    fn winning_move(&self) -> Option<GoMove> {
        if self.is_over() || !(self.passes == 1 || self.is_last_ply()) {
            return None;
        }
        let wins = |mv: GoMove| {
            let mut child = *self;
            child.play_unchecked(mv);
            child.ending().is_some_and(|ending| ending.winner == Some(self.to_move))
        };
        let placements = if self.is_last_ply() { self.placements() } else { Cells::EMPTY };
        placements.iter().map(GoMove::at).chain([GoMove::PASS]).find(|&mv| wins(mv))
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        playout::play(self, random, plies_max, false)
    }

    fn play_decisively(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        playout::play(self, random, plies_max, true)
    }

    fn is_legal(&self, mv: GoMove) -> bool {
        !self.is_over() && mv.cell().is_none_or(|cell| self.placements().has(cell))
    }

    fn play_unchecked(&mut self, mv: GoMove) {
        match mv.cell() {
            None => {
                self.passes = (self.passes + 1).min(2);
                self.ko = None;
            }
            Some(cell) => wide!(by_size!(self, W => self.place::<W>(cell.min(64 * W as u32 - 1)))),
        }
        self.plies = self.plies.saturating_add(1);
        self.to_move = self.to_move.other();
    }

    /// The board, the ko point, the passes just made and the side to move. Equal boards have keys that differ only
    /// in the lowest [`keys::CODE_BITS`] bits. Images of a board have other keys, since superko compares points.
    fn canonical_key(&self) -> u64 {
        keys::canonical_key(self)
    }

    /// Positional superko: a stone that restores an earlier board loses.
    ///
    /// Equal keys show equal boards, but for chance. So the moves since are played from the board now, as if it had
    /// been that of the earlier position, and must lead to it again.
    fn adjudicate(line: Line<'_, Self>) -> Option<Ending> {
        let Line { position, before } = line;
        // The shortest cycle without a ko has three plies: one sends two stones, the other takes them and
        // loses the one that did.
        let placed = before.last()?.mv.cell();
        if placed.is_none() || before.len() < 3 {
            return None;
        }
        let key = position.canonical_key() >> keys::CODE_BITS;
        let is_board_again = |moves: &[Before<GoMove>]| {
            let mut board = Self { passes: 0, plies: 0, ko: None, ..*position };
            if !moves.len().is_multiple_of(2) {
                board.to_move = board.to_move.other();
            }
            moves.iter().for_each(|before| board.play_unchecked(before.mv));
            board.stones == position.stones
        };
        let mut moves_since = (0..before.len()).map(|place| &before[place..]);
        let is_repeated = moves_since
            .any(|moves| moves[0].key >> keys::CODE_BITS == key && is_board_again(moves));
        let winner = Some(position.to_move());
        is_repeated.then_some(Ending { winner, termination: SUPERKO })
    }

    fn margin(&self) -> Option<i32> {
        self.is_over().then(|| self.half_points())
    }

    /// With the points of difference, where the game was scored.
    fn status(&self) -> String {
        match self.ending() {
            None => format!("{} to move", Self::side_name(self.to_move)),
            Some(ending) => {
                let by = f64::from(self.half_points().abs()) / 2.0;
                format!("{}, by {by}", Self::describe(ending))
            }
        }
    }

    fn board(&self) -> String {
        notation::board(self)
    }

    fn parse_move(&self, text: &str) -> Result<GoMove, Problem> {
        moves::parse(text, self.size())
    }
}

impl Solvable for Go {
    type Solver = PlainSolver;
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        notation::write(self, f)
    }
}

impl fmt::Debug for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Go({self})")
    }
}
