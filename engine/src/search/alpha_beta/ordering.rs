//! In which order moves are tried: the sooner a good one comes up, the more of the rest is cut off.

use crate::search::knowledge::Knowledge;

/// A move to be tried, with what decides its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<M> {
    pub(super) mv: M,
    /// Whether it was made, and counted as a node, when it was given its place.
    pub(super) is_made: bool,
    /// Greater ones come first; no two of a position are equal.
    key: i64,
}

impl<M> Candidate<M> {
    /// A move with a rank, and a lesser one among equals; equals in both stay in the order of
    /// their places. The primary rank is within ±2^20, the secondary one below 2^22.
    pub(super) fn new(mv: M, is_made: bool, class: Class, rank: (i32, u32), place: usize) -> Self {
        const PLACES: i64 = 1 << 16;
        let (primary, secondary) = (i64::from(rank.0) + (1 << 20), i64::from(rank.1));
        let rank = (class as i64) << 44 | primary << 22 | secondary;
        Self { mv, is_made, key: rank * PLACES + (PLACES - 1 - place as i64) }
    }
}

/// What comes before everything that any rank says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Ranked = 0,
    Killer = 1,
    /// The transposition table's move.
    Remembered = 2,
}

/// Brings the next candidate to its place at `index` among those from `first` on, of which the
/// ones before `index` are in their places.
///
/// The first few are looked for one by one, since one of them usually is enough; then the rest is
/// sorted.
#[inline]
pub(super) fn bring_next<M>(candidates: &mut [Candidate<M>], first: usize, index: usize) {
    const LOOKED_FOR: usize = 4;
    match index - first {
        0..LOOKED_FOR => {
            let rest = &candidates[index..];
            let best = (0..rest.len()).max_by_key(|&at| rest[at].key).unwrap_or(0);
            candidates.swap(index, index + best);
        }
        LOOKED_FOR => candidates[index..].sort_unstable_by_key(|candidate| -candidate.key),
        _ => {}
    }
}

/// The two newest moves that were good enough at each ply, wherever in the tree: they often are in
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

/// How often, and how high in the tree, each move was good enough for each side (Schaeffer 1989,
/// "The history heuristic and alpha-beta search enhancements in practice").
#[derive(Debug)]
pub(super) struct History {
    counts: Vec<u32>,
    codes: usize,
}

impl History {
    /// The greatest count; one that would be greater halves all.
    const MAX: u32 = (1 << 20) - 1;

    pub(super) fn new<P: Knowledge>() -> Self {
        Self { counts: vec![0; 2 * P::MOVE_CODES], codes: P::MOVE_CODES }
    }

    /// Begins the search of another move of the game: what was learnt fades.
    pub(super) fn fade(&mut self) {
        self.counts.iter_mut().for_each(|count| *count /= 2);
    }

    #[inline]
    pub(super) fn of(&self, side: usize, code: u16) -> u32 {
        self.counts[side * self.codes + usize::from(code)]
    }

    /// A move with so many plies below it was good enough.
    pub(super) fn reward(&mut self, side: usize, code: u16, depth: u32) {
        let index = side * self.codes + usize::from(code);
        self.counts[index] += depth.min(100).pow(2);
        if self.counts[index] > Self::MAX {
            self.fade();
        }
    }
}
