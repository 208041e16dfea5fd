//! Pruning by static values, by the order of moves and by exchanges, and reductions by logarithms.
//!
//! All of it needs a game with tactical moves, and does nothing in check. What is pruned is never called
//! won or lost: a bound by a static value is neither, and a move is left out only beside another that is
//! not lost.

use super::place::Node;
use super::{AlphaBeta, Window};
use crate::core::knowledge::Knowledge;
use crate::search::{Budget, Evaluate, Stop, WIN_MIN};

/// The greatest depth at which moves are left out.
const PRUNED_DEPTH_MAX: u32 = 4;

/// The greatest depth at which a static value is taken for the value.
const STANDING_DEPTH_MAX: u32 = 6;

/// The least depth at which a position without a known move is reduced.
const HINTED_DEPTH_MIN: u32 = 4;

/// What a pawn is worth in an exchange.
const PAWN: i32 = 100;

/// What may be left out of a position's moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pruning {
    /// The place in the order from which quiet moves are left out.
    late: Option<usize>,
    /// What quiet moves are taken to be worth at most, if that is too little.
    futile: Option<i32>,
    /// The material that a tactical move may lose.
    loss_max: Option<i32>,
}

impl Pruning {
    /// Whether moves may be left out before they are made.
    #[inline]
    pub(super) const fn is_on(&self) -> bool {
        self.late.is_some() || self.loss_max.is_some()
    }

    /// Whether a move is left out, `best` being the best value so far.
    pub(super) fn leaves_out<P: Knowledge>(
        &self,
        position: &P,
        mv: P::Move,
        index: usize,
        best: i32,
    ) -> bool {
        if index == 0 || best <= -WIN_MIN {
            return false;
        }
        if position.is_tactical(mv) {
            self.loss_max
                .is_some_and(|most| position.loses_exchange(mv) && position.exchange(mv) < -most)
        } else {
            self.late.is_some_and(|late| index >= late)
        }
    }

    /// The bound by which a move is left out as futile: futility pruning (Heinz 1998, "Extended futility
    /// pruning"). Not of the first move, tactical moves and moves that give check or end the game.
    #[inline]
    pub(super) fn futile_value<P: Knowledge>(
        &self,
        position: &P,
        mv: P::Move,
        child: &P,
        index: usize,
    ) -> Option<i32> {
        let is_tried = || position.is_tactical(mv) || child.is_in_check() || child.is_over();
        self.futile.filter(|_| index > 0 && !is_tried())
    }
}

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// The static value of a position, if something is pruned by it there.
    pub(super) fn standing(
        &self,
        position: &P,
        node: Node,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i32>, Stop> {
        let is_asked = (self.options.futility > 0 && node.depth <= PRUNED_DEPTH_MAX)
            || (self.options.reverse_futility > 0 && node.depth <= STANDING_DEPTH_MAX);
        if !is_asked || !self.prunes(position, node, window) {
            return Ok(None);
        }
        budget.evaluate()?;
        Ok(Some(self.evaluation.evaluate(position)))
    }

    /// Whether a position may be pruned: with `pvs`, not where a value is asked for rather than a bound.
    fn prunes(&self, position: &P, node: Node, window: Window) -> bool {
        P::HAS_TACTICS
            && (!self.options.pvs || window.is_null())
            && window.alpha > -WIN_MIN
            && window.beta < WIN_MIN
            && !position.is_in_check()
            && position.plies_left() > node.depth
    }

    /// A static value that exceeds the window by a margin for each ply: reverse futility pruning, or static
    /// null move pruning.
    pub(super) fn bound_by_standing(
        &mut self,
        node: Node,
        standing: Option<i32>,
        window: Window,
    ) -> Option<i32> {
        let margin = i32::try_from(self.options.reverse_futility * node.depth).unwrap_or(WIN_MIN);
        let is_asked = margin > 0 && node.depth <= STANDING_DEPTH_MAX;
        let bound = standing.filter(|_| is_asked)?.saturating_sub(margin);
        if bound < window.beta {
            return None;
        }
        self.sight.end_at_horizon();
        Some(bound)
    }

    /// What may be left out of a position's moves.
    pub(super) fn pruning(
        &self,
        position: &P,
        node: Node,
        standing: Option<i32>,
        window: Window,
    ) -> Pruning {
        let depth = node.depth;
        let is_asked =
            self.options.late_move_pruning || self.options.exchange_pruning || standing.is_some();
        if !is_asked || depth > PRUNED_DEPTH_MAX || !self.prunes(position, node, window) {
            return Pruning::default();
        }
        let margin = i32::try_from(self.options.futility * depth).unwrap_or(WIN_MIN);
        let reached = standing.filter(|_| margin > 0).map(|value| value.saturating_add(margin));
        let loss_max = i32::try_from(depth).unwrap_or(WIN_MIN).saturating_mul(PAWN);
        Pruning {
            late: self.options.late_move_pruning.then_some(3 + (depth * depth) as usize),
            futile: reached.filter(|&value| value <= window.alpha),
            loss_max: self.options.exchange_pruning.then_some(loss_max),
        }
    }

    /// A position of which the table knows no move, one ply less deep: internal iterative reduction.
    pub(super) fn reduced_without_hint(&self, node: Node, hint: Option<u16>) -> Node {
        let is_reduced = self.options.internal_reduction
            && P::HAS_TACTICS
            && hint.is_none()
            && node.depth >= HINTED_DEPTH_MIN;
        Node { depth: node.depth - u32::from(is_reduced), ..node }
    }

    /// The static value and the margin of delta pruning, to which a tactical move adds its gain.
    #[inline]
    pub(super) fn delta_bound(&self, standing: i32, is_in_check: bool) -> Option<i32> {
        let margin = i32::try_from(self.options.delta).unwrap_or(WIN_MIN);
        (margin > 0 && !is_in_check).then_some(standing.saturating_add(margin))
    }

    /// Plies by which a move is searched shallower, until it proves better than those before it: in
    /// proportion to the logarithms of the depth and of the place in the order, one less where a value is
    /// asked for, and less or more by the move's history. None for the first two moves, tactical moves, in
    /// check, and for moves that give check.
    #[inline]
    pub(super) fn log_reduction(
        &self,
        position: &P,
        mv: P::Move,
        child: &P,
        (depth, index, is_wide): (u32, usize, bool),
    ) -> u32 {
        if index < 2 || position.is_tactical(mv) || child.is_in_check() {
            return 0;
        }
        let place = u32::try_from(index + 1).unwrap_or(u32::MAX);
        // The product has 16 bits of fraction; two logarithms to the base of two come to one ply in four
        // and a half, after half a ply.
        let plies = (log2(depth) * log2(place) * 2 / 9 + (1 << 15)) >> 16;
        let standing = self.history.standing(position.to_move().index(), P::move_code(mv));
        let plies = plies as i32 - i32::from(is_wide) - standing;
        plies.clamp(0, depth as i32 - 2) as u32
    }
}

/// The logarithm to the base of two of a number from 1 on, with 8 bits of fraction, linear between powers.
const fn log2(number: u32) -> u32 {
    let whole = number.ilog2();
    let fraction = ((number as u64) << 8 >> whole) as u32 & 0xff;
    whole << 8 | fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_exact_at_powers_and_linear_between() {
        assert_eq!([1, 2, 4, 1 << 20].map(log2), [0, 1 << 8, 2 << 8, 20 << 8]);
        assert_eq!([3, 6, 5].map(log2), [1 << 8 | 128, 2 << 8 | 128, 2 << 8 | 64]);
    }
}
