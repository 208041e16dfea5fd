//! Looking more closely at some lines than at others: passes, reductions, extensions, and positions
//! that come again.

use super::node::{Node, Step};
use super::{AlphaBeta, Window};
use crate::core::knowledge::Knowledge;
use crate::core::score;
use crate::search::{Budget, Evaluate, PLIES_MAX, Stop, WIN_MIN};

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// Whether some lines are searched further than the depth, in a game with tactical moves.
    #[inline]
    pub(super) fn sees_tactics(&self) -> bool {
        P::HAS_TACTICS && (self.options.quiescence_plies > 0 || self.options.check_extension)
    }

    /// A value that is too good for the opponent to let it come, since even after a pass a search that
    /// is less deep finds as much: the null move (Beal 1989, "Experiments with the null move";
    /// Donninger 1993, "Null move and deep search").
    ///
    /// Not where the side to move might be glad to pass ([`Knowledge::passed`]), not twice in a row,
    /// not where a win or loss is asked about, not where the search sees the end of the game, and not
    /// where the static value is below what the pass would have to reach.
    pub(super) fn bound_by_passing(
        &mut self,
        position: &P,
        node: Node,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i32>, Stop> {
        let Node { depth, ply, is_passed, .. } = node;
        let reduction = self.options.null_reduction;
        // With `pvs`, a wide window means that a value is asked for and not a bound.
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
        budget.evaluate()?;
        let is_good = self.evaluation.evaluate(position) >= window.beta;
        if !is_good || position.plies_left() <= depth {
            return Ok(None);
        }
        budget.enter()?;
        let asked = Window { alpha: window.beta - 1, beta: window.beta };
        let first = self.path.begin_pass();
        let value = match depth.saturating_sub(1 + reduction) {
            0 => self.value_at_horizon(position, &passed, ply + 1, asked, budget)?,
            depth => {
                let side = passed.to_move();
                let mover = position.to_move();
                let asked = if side == mover { asked } else { asked.for_opponent() };
                let node = Node { depth, ply: ply + 1, has_no_win: false, is_passed: true };
                score::for_mover(mover, side, self.value(&passed, node, asked, budget)?)
            }
        };
        self.path.end_pass(first);
        if value < window.beta {
            return Ok(None);
        }
        self.sight.end_at_horizon();
        // That a win follows upon a pass does not prove it.
        Ok(Some(value.min(WIN_MIN - 1)))
    }

    /// Plies by which a move is searched less deep, until it turns out to be better than those before
    /// it: late move reductions, by the formula of Senpai 1.0 (Letouzey 2014). One ply from the fourth
    /// move on, a third of the depth from the seventh on; nothing for tactical moves, in check, and
    /// for moves that give check.
    #[inline]
    pub(super) fn reduction(position: &P, mv: P::Move, child: &P, depth: u32, index: usize) -> u32 {
        match index {
            0..3 => 0,
            _ if position.is_tactical(mv) || child.is_in_check() => 0,
            3..6 => 1,
            _ => depth / 3,
        }
    }

    /// Plies by which a move is searched deeper: one if it gives check (Slate & Atkin 1977), as long as
    /// the line becomes no longer than twice the depth.
    #[inline]
    pub(super) fn check_extension(&self, child: &P, step: Step) -> u32 {
        let has_room = || step.ply + step.depth < PLIES_MAX.min(2 * self.root_depth);
        u32::from(self.options.check_extension && child.is_in_check() && has_room())
    }

    /// Whether a move leads back to a position that the line from the root has had. Whoever gains by
    /// coming back a first time could come back a second time, so that it is as good as a draw.
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
        // Not proven: there are other ways on.
        self.sight.end_at_horizon();
        true
    }

    /// The moves of a position are about to be made.
    #[inline]
    pub(super) fn enter_line(&mut self, position: &P) {
        if P::HISTORY_MATTERS && self.options.repetition {
            self.line_keys.push(position.table_key());
        }
    }

    /// They have been.
    #[inline]
    pub(super) fn leave_line(&mut self) {
        if P::HISTORY_MATTERS && self.options.repetition {
            self.line_keys.pop();
        }
    }
}
