//! What searches do alike at the root.

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

/// How deep to look.
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
    /// A move to play if the search ends before it has finished any.
    pub(super) const fn unsearched(mv: M) -> Self {
        Self { mv, score: None }
    }

    /// A finished move. The first among equals is played, so only a greater value replaces the
    /// best: a value that alpha-beta did not need to know exactly is never greater.
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

    /// The value of the best move; below every score while none is finished.
    pub(super) fn value(&self) -> i32 {
        self.score.unwrap_or(score::WORST)
    }

    pub(super) fn found(self, depth: u32, ended_by: EndedBy) -> Found<M> {
        Found { mv: self.mv, depth, score: self.score, ended_by }
    }
}

/// How far a search saw.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sight {
    plies: u32,
    horizon: bool,
}

impl Sight {
    /// A position so many plies from the root was made.
    #[inline]
    pub(super) fn reach(&mut self, plies: u32) {
        self.plies = self.plies.max(plies);
    }

    /// A position was evaluated instead of searched.
    #[inline]
    pub(super) fn end_at_horizon(&mut self) {
        self.horizon = true;
    }

    /// Begins to look at a part of the tree by itself, and returns what was seen before.
    pub(super) fn begin_part(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Joins the part with what was seen before it.
    pub(super) fn join(&mut self, before: Self) {
        self.plies = self.plies.max(before.plies);
        self.horizon |= before.horizon;
    }

    /// Whether every line was searched to the end of the game, so that more depth changes nothing.
    pub(super) fn is_whole(&self) -> bool {
        !self.horizon
    }

    /// What a search of one depth found that no limit cut off. Without a limit on the depth it has
    /// seen the whole tree (or the greatest depth there is), and reports the longest line it followed.
    pub(super) fn completed<M: Copy>(&self, best: Best<M>, depth: Option<u32>) -> Found<M> {
        match depth {
            Some(depth) => best.found(depth, EndedBy::Depth),
            None if self.is_whole() => best.found(self.plies, EndedBy::Proven),
            None => best.found(self.plies, EndedBy::Depth),
        }
    }
}
