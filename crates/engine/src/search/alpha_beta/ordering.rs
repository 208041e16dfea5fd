//! Move ordering: the sooner a good move is tried, the more of the rest is cut off.

use crate::core::knowledge::Knowledge;
use crate::search::WIN;

/// A move's sort key in its position: the greater comes first, and no two are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

/// Classes of moves, which take precedence over ranks: later in this list means earlier in the
/// search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// A tactical move that loses material in the exchange, or a move of no class.
    Last,
    /// Any other move, if moves that lose material come after it.
    Quiet,
    /// The last refutation of the opponent's last move.
    Countermove,
    Killer,
    /// A tactical move, until its exchange is known to lose material.
    Tactical,
    /// The transposition table's move.
    Remembered,
}

/// Above ranks, which are below 2^45, and places.
const CLASS_SHIFT: u32 = 61;

impl Key {
    /// The key of a move with this rank, below 2^45. Ties keep the order of their places, which are below
    /// 2^16.
    #[inline]
    pub(super) const fn new(rank: u64, place: usize) -> Self {
        Self(rank << 16 | (u16::MAX as u64 - place as u64))
    }

    /// The rank by a static value or the score of an ending; ties are broken by another rank, below
    /// 2^22.
    #[inline]
    pub(super) const fn rank_of_value(value: i32, other: u32) -> u64 {
        ((value + WIN) as u64) << 22 | other as u64
    }

    /// The same move in a class of its own.
    #[inline]
    pub(super) const fn in_class(self, class: Class) -> Self {
        Self(self.0 & !(u64::MAX << CLASS_SHIFT) | (class as u64) << CLASS_SHIFT)
    }

    /// The same move in this class, unless its own precedes it.
    pub(super) fn raised_to(self, class: Class) -> Self {
        self.in_class(class).max(self)
    }

    #[inline]
    pub(super) const fn is_in(self, class: Class) -> bool {
        self.0 >> CLASS_SHIFT == class as u64
    }

    #[inline]
    pub(super) const fn place(self) -> usize {
        (u16::MAX as u64 - (self.0 & u16::MAX as u64)) as usize
    }
}

/// Moves the next key to its place at `index`, after the ones already in place.
///
/// The first few are selected one by one, since one of them usually suffices; then the rest is
/// sorted.
#[inline]
pub(super) fn bring_next(keys: &mut [Key], index: usize) {
    const LOOKED_FOR: usize = 4;
    match index {
        0..LOOKED_FOR => {
            let rest = &mut keys[index..];
            let greatest = rest.iter().copied().max();
            if let Some(at) = rest.iter().position(|&key| Some(key) == greatest) {
                rest.swap(0, at);
            }
        }
        LOOKED_FOR => keys[index..].sort_unstable_by(|a, b| b.cmp(a)),
        _ => {}
    }
}

/// The two newest moves that caused cut-offs at each ply, anywhere in the tree: they often do so in
/// the next position as well (Huberman 1968; Akl & Newborn 1977, "The principal continuation and
/// the killer heuristic").
#[derive(Debug, Default)]
pub(super) struct Killers {
    plies: Vec<[Option<u16>; 2]>,
}

impl Killers {
    pub(super) fn clear(&mut self) {
        self.plies.clear();
    }

    #[inline]
    pub(super) fn at(&self, ply: u32) -> [Option<u16>; 2] {
        self.plies.get(ply as usize).copied().unwrap_or_default()
    }

    pub(super) fn insert(&mut self, ply: u32, code: u16) {
        let ply = ply as usize;
        if self.plies.len() <= ply {
            self.plies.resize(ply + 1, [None; 2]);
        }
        let [newest, older] = &mut self.plies[ply];
        if *newest != Some(code) {
            (*newest, *older) = (Some(code), *newest);
        }
    }
}

/// For each move of the opponent, the last quiet move that refuted it (Uiterwijk 1992, "The countermove
/// heuristic").
#[derive(Debug, Default)]
pub(super) struct Countermoves {
    /// By the replying side and the code of the move before.
    replies: Vec<Option<u16>>,
    codes: usize,
}

impl Countermoves {
    /// Forgets all, and makes room for moves with codes below `codes`.
    pub(super) fn clear(&mut self, codes: usize) {
        self.replies.clear();
        self.replies.resize(2 * codes, None);
        self.codes = codes;
    }

    #[inline]
    pub(super) fn at(&self, side: usize, previous: u16) -> Option<u16> {
        self.replies[side * self.codes + usize::from(previous)]
    }

    pub(super) fn insert(&mut self, side: usize, previous: u16, code: u16) {
        self.replies[side * self.codes + usize::from(previous)] = Some(code);
    }
}

/// For each side, how often and how high in the tree each move caused a cut-off (Schaeffer 1989,
/// "The history heuristic and alpha-beta search enhancements in practice").
#[derive(Debug)]
pub(super) struct History {
    counts: Vec<u32>,
    codes: usize,
    /// The count of a move about which nothing is known.
    neutral: u32,
}

impl History {
    /// The greatest count; exceeding it halves all.
    const MAX: u32 = (1 << 20) - 1;

    /// The count of an unknown move, if counts may fall, and how far they may get from it.
    const NEUTRAL: u32 = 1 << 19;
    const REACH: u32 = 1 << 14;

    /// The greatest share of the way to a bound, in parts of the reach.
    const STRENGTH_MAX: u32 = 2_048;

    /// With `malus`, counts may also fall below those of unknown moves.
    pub(super) fn new<P: Knowledge>(malus: bool) -> Self {
        let neutral = if malus { Self::NEUTRAL } else { 0 };
        Self { counts: vec![neutral; 2 * P::MOVE_CODES], codes: P::MOVE_CODES, neutral }
    }

    /// Begins the search of another move of the game: old counts decay.
    pub(super) fn fade(&mut self) {
        let neutral = self.neutral / 2;
        self.counts.iter_mut().for_each(|count| *count = *count / 2 + neutral);
    }

    /// The counts of one side's moves, by their codes.
    #[inline]
    pub(super) fn of_side(&self, side: usize) -> &[u32] {
        &self.counts[side * self.codes..][..self.codes]
    }

    /// Rewards a move with this many plies below it for a cut-off.
    pub(super) fn reward(&mut self, side: usize, code: u16, depth: u32) {
        let index = side * self.codes + usize::from(code);
        self.counts[index] += depth.min(100).pow(2);
        if self.counts[index] > Self::MAX {
            self.fade();
        }
    }

    /// Moves a count towards one of its bounds, the less the nearer it is: up for a move that caused a
    /// cut-off, down for one that was tried in vain before it.
    pub(super) fn pull(&mut self, side: usize, code: u16, depth: u32, is_good: bool) {
        let count = &mut self.counts[side * self.codes + usize::from(code)];
        let strength = (16 * depth.min(100).pow(2)).min(Self::STRENGTH_MAX);
        let bound = if is_good { Self::NEUTRAL + Self::REACH } else { Self::NEUTRAL - Self::REACH };
        let change = count.abs_diff(bound) * strength / Self::REACH;
        *count = if is_good { *count + change } else { *count - change };
    }

    /// How a move has done, from -2 to 2; 0 if counts only grow.
    #[inline]
    pub(super) fn standing(&self, side: usize, code: u16) -> i32 {
        let count = self.counts[side * self.codes + usize::from(code)];
        let quarters = (count + 4 * Self::REACH - self.neutral) / (Self::REACH / 2);
        if self.neutral == 0 { 0 } else { (quarters as i32 - 8).clamp(-2, 2) }
    }
}
