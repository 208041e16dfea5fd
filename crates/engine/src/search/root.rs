//! Common code of searches at the root.

use super::Found;
use crate::core::limits::EndedBy;
use crate::core::parameters::{ParameterInfo, shared};
use crate::core::position::Position;
use crate::core::rng::Random;
use crate::core::score;

/// The switch that every search of root moves in order has.
pub(crate) const SHUFFLE: ParameterInfo = ParameterInfo::switch(
    "shuffle",
    true,
    "Whether root moves are tried in an order shuffled by the game's seed, so that equal moves do \
     not repeat one game.",
);

/// The root's legal moves in the order in which they are tried.
pub(super) fn list_moves<P: Position>(
    root: &P,
    shuffle: bool,
    random: &mut Random,
    moves: &mut Vec<P::Move>,
) {
    moves.clear();
    root.legal_moves(moves);
    if shuffle {
        random.shuffle(moves);
    }
}

/// The depth limit, or the greatest depth.
pub(super) fn depth_or_max(limit: Option<u32>) -> u32 {
    let max = u32::try_from(shared::DEPTH_MAX).unwrap_or(u32::MAX);
    limit.unwrap_or(max).min(max)
}

/// The best root move so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best<M> {
    pub(super) mv: M,
    score: Option<i32>,
}

impl<M: Copy> Best<M> {
    /// A move to play if the search ends before any is finished.
    pub(super) const fn unsearched(mv: M) -> Self {
        Self { mv, score: None }
    }

    /// A finished move. The first among equals is played, so only a greater value replaces the
    /// best: alpha-beta never returns a greater value that is inexact.
    pub(super) fn offer(&mut self, mv: M, value: i32) -> bool {
        let is_better = self.score.is_none_or(|best| value > best);
        if is_better {
            *self = Self { mv, score: Some(value) };
        }
        is_better
    }

    pub(super) const fn is_searched(&self) -> bool {
        self.score.is_some()
    }

    /// The value of the best move; below every score until one is finished.
    pub(super) fn value(&self) -> i32 {
        self.score.unwrap_or(score::WORST)
    }

    pub(super) fn found(self, depth: u32, ended_by: EndedBy) -> Found<M> {
        Found { mv: self.mv, depth, score: self.score, ended_by }
    }
}

/// The extent of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sight {
    plies: u32,
    horizon: bool,
}

impl Sight {
    /// Records a position at this many plies from the root.
    #[inline]
    pub(super) fn reach(&mut self, plies: u32) {
        self.plies = self.plies.max(plies);
    }

    /// Records a position that was evaluated instead of searched.
    #[inline]
    pub(super) fn end_at_horizon(&mut self) {
        self.horizon = true;
    }

    /// Begins a separate part of the tree, and returns the extent recorded before it.
    pub(super) fn begin_part(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Joins the part with the extent recorded before it.
    pub(super) fn join(&mut self, before: Self) {
        self.plies = self.plies.max(before.plies);
        self.horizon |= before.horizon;
    }

    /// Whether every line was searched to the end of the game, so that more depth changes nothing.
    pub(super) fn is_whole(&self) -> bool {
        !self.horizon
    }

    /// The result of a search of one depth that no limit cut off. Without a depth limit it has seen the whole
    /// tree (or the greatest depth), and reports its longest line.
    pub(super) fn completed<M: Copy>(&self, best: Best<M>, depth: Option<u32>) -> Found<M> {
        match depth {
            Some(depth) => best.found(depth, EndedBy::Depth),
            None if self.is_whole() => best.found(self.plies, EndedBy::Proven),
            None => best.found(self.plies, EndedBy::Depth),
        }
    }
}
