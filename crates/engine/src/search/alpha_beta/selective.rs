//! Selective search: passes, reductions, extensions, and repeated positions.

use super::place::{Node, Step};
use super::{AlphaBeta, Window};
use crate::core::knowledge::Knowledge;
use crate::core::score;
use crate::search::{Budget, Evaluate, PLIES_MAX, Stop, WIN_MIN};

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// Whether some lines are searched beyond the depth, in a game with tactical moves.
    #[inline]
    pub(super) fn sees_tactics(&self) -> bool {
        P::HAS_TACTICS && (self.options.quiescence_plies > 0 || self.options.check_extension)
    }

    /// A value so good that the opponent avoids the position, since even after a pass a shallower search
    /// reaches it: the null move (Beal 1989, "Experiments with the null move"; Donninger 1993, "Null move and
    /// deep search").
    ///
    /// Not tried if the side to move might gain by passing ([`Knowledge::passed`]), twice in a row, for wins
    /// and losses, if the search sees the end of the game, or if the static value is below the target of the
    /// pass.
    pub(super) fn bound_by_passing(
        &mut self,
        position: &P,
        node: Node,
        standing: Option<i32>,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i32>, Stop> {
        let Node { depth, ply, is_passed, .. } = node;
        let reduction = self.options.null_reduction;
        // With `pvs`, a wide window asks for a value rather than a bound.
        let is_bound_enough = !self.options.pvs || window.is_null();
        if reduction == 0
            || is_passed
            || depth == 1
            || !is_bound_enough
            || window.beta.abs() >= WIN_MIN
        {
            return Ok(None);
        }
        let Some(passed) = position.passed().filter(|passed| !passed.is_over()) else {
            return Ok(None);
        };
        let standing = match standing {
            Some(value) => value,
            None => {
                budget.evaluate()?;
                self.evaluation.evaluate(position)
            }
        };
        if standing < window.beta || position.plies_left() <= depth {
            return Ok(None);
        }
        let reduction = reduction + if self.options.null_adaptive { depth / 4 } else { 0 };
        budget.enter()?;
        let asked = Window { alpha: window.beta - 1, beta: window.beta };
        let first = self.path.begin_pass();
        let value = match depth.saturating_sub(1 + reduction) {
            0 => self.value_at_horizon(position, &passed, ply + 1, asked, budget)?,
            depth => {
                let side = passed.to_move();
                let mover = position.to_move();
                let asked = if side == mover { asked } else { asked.for_opponent() };
                let (ply, has_no_win, is_passed, previous) = (ply + 1, false, true, None);
                let node = Node { depth, ply, has_no_win, is_passed, previous };
                score::for_mover(mover, side, self.value(&passed, node, asked, budget)?)
            }
        };
        self.path.end_pass(first);
        if value < window.beta {
            return Ok(None);
        }
        self.sight.end_at_horizon();
        // A win after a pass does not prove a win.
        Ok(Some(value.min(WIN_MIN - 1)))
    }

    /// Plies by which a move is searched shallower, until it proves better than those before it: late move
    /// reductions, by the formula of Senpai 1.0 (Letouzey 2014). One ply from the fourth move on, a third of
    /// the depth from the seventh on; none for tactical moves, in check, and for moves that give check.
    #[inline]
    pub(super) fn reduction(position: &P, mv: P::Move, child: &P, depth: u32, index: usize) -> u32 {
        match index {
            0..3 => 0,
            _ if position.is_tactical(mv) || child.is_in_check() => 0,
            3..6 => 1,
            _ => depth / 3,
        }
    }

    /// Plies by which a move is searched deeper: one if it gives check (Slate & Atkin 1977), as long as the
    /// line stays within twice the depth.
    #[inline]
    pub(super) fn check_extension(&self, child: &P, step: Step) -> u32 {
        let has_room = || step.ply + step.depth < PLIES_MAX.min(2 * self.root_depth);
        u32::from(self.options.check_extension && child.is_in_check() && has_room())
    }

    /// Whether a move leads back to an earlier position of the line from the root. A side that gains by the
    /// first repetition could repeat again, so it counts as a draw.
    #[inline]
    pub(super) fn comes_again(&mut self, position: &P, mv: P::Move, child: &P) -> bool {
        if !P::HISTORY_MATTERS || !self.options.repetition || position.is_irreversible(mv) {
            return false;
        }
        let (root, key) = (self.path.root(), child.table_key());
        let first = self.path.first().saturating_sub(root);
        let keys = &self.line_keys[first.min(self.line_keys.len())..];
        let Some(place) = keys.iter().position(|&other| other == key) else { return false };
        self.path.need(root + first + place);
        // Not proven: other continuations exist.
        self.sight.end_at_horizon();
        true
    }

    /// Call before the moves of a position are made.
    #[inline]
    pub(super) fn enter_line(&mut self, position: &P) {
        if P::HISTORY_MATTERS && self.options.repetition {
            self.line_keys.push(position.table_key());
        }
    }

    /// Call after the moves of a position were made.
    #[inline]
    pub(super) fn leave_line(&mut self) {
        if P::HISTORY_MATTERS && self.options.repetition {
            self.line_keys.pop();
        }
    }
}
