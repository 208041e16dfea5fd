//! A position below the root.

use super::place::{Node, Step};
use super::ranking::Order;
use super::transposition::{Bound, Entry};
use super::{AlphaBeta, Window};
use crate::core::knowledge::{Knowledge, Losing, Sifted};
use crate::core::score;
use crate::search::path::Path;
use crate::search::{Budget, Evaluate, LastPly, PLIES_MAX, Stop, WIN_MIN};

/// A position's value and the code of its best move, if one is known.
type Valued = (i32, Option<u16>);

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// The value of a move from `position` to `child`, pushed onto the path, for the mover.
    #[inline]
    pub(super) fn move_value(
        &mut self,
        position: &P,
        (mv, child): (P::Move, &P),
        mut step: Step,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if let Some(ending) = self.path.ending(child) {
            return Ok(score::of_ending(ending, position.to_move(), step.ply + 1));
        }
        if self.comes_again(position, mv, child) {
            return Ok(0);
        }
        let extension = self.check_extension(child, step);
        step.depth += extension;
        if step.depth == 1 {
            return self.value_at_horizon(position, child, step.ply + 1, window, budget);
        }
        if step.reduction > 0 && extension == 0 {
            let reduced = Step { depth: step.depth - step.reduction, ..step };
            let value = self.child_value(position, child, reduced, window.null(), budget)?;
            if value <= window.alpha {
                return Ok(value);
            }
        }
        if self.options.pvs && !step.is_first && !window.is_null() {
            let value = self.child_value(position, child, step, window.null(), budget)?;
            if value <= window.alpha || value >= window.beta {
                return Ok(value);
            }
        }
        self.child_value(position, child, step, window, budget)
    }

    fn child_value(
        &mut self,
        position: &P,
        child: &P,
        step: Step,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let mover = position.to_move();
        let is_opponents = child.to_move() != mover;
        let window = if is_opponents { window.for_opponent() } else { window };
        let node = Node {
            depth: step.depth - 1,
            ply: step.ply + 1,
            has_no_win: step.is_safe && is_opponents,
            is_passed: false,
            previous: Some(step.code),
        };
        let value = self.value(child, node, window, budget)?;
        Ok(score::for_mover(mover, child.to_move(), value))
    }

    /// The value at the end of the search, `ply` plies from the root, for the mover from
    /// `position`.
    #[inline]
    pub(super) fn value_at_horizon(
        &mut self,
        position: &P,
        child: &P,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let mover = position.to_move();
        let value = if self.options.extension && child.can_win_at_once() {
            score::won_in(ply + 1)
        } else if P::HAS_TACTICS && self.options.quiescence_plies > 0 {
            let is_opponents = child.to_move() != mover;
            let window = if is_opponents { window.for_opponent() } else { window };
            self.value_when_quiet(child, ply, window, budget)?
        } else {
            self.sight.end_at_horizon();
            budget.evaluate()?;
            self.evaluation.evaluate(child)
        };
        Ok(score::for_mover(mover, child.to_move(), value))
    }

    /// The value of a position that is not over for its side to move: exact inside the window,
    /// otherwise a bound on the same side of it.
    pub(super) fn value(
        &mut self,
        position: &P,
        node: Node,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let Node { depth, ply, has_no_win, .. } = node;
        // Nothing here exceeds a win with the next move.
        let soonest_win = score::won_in(ply + 1);
        let window = Window { beta: window.beta.min(soonest_win), ..window };
        if window.alpha >= window.beta {
            return Ok(window.beta);
        }
        self.sight.reach(ply + 1);
        if self.options.distance
            && let Some(bound) = self.out_of_reach(position, depth, ply, window)
        {
            return Ok(bound);
        }
        let looks_for_wins = self.options.threats || (self.options.last_ply && depth == 1);
        if looks_for_wins && !has_no_win && position.can_win_at_once() {
            return Ok(soonest_win);
        }
        if depth == 1 && !self.sees_tactics() {
            return self.value_of_last_ply(position, node, window, budget);
        }
        if self.table.is_some() {
            self.value_by_table(position, node, window, budget)
        } else {
            Ok(self.value_by_search(position, node, None, window, budget)?.0)
        }
    }

    /// A sufficient bound on the value, if no win or loss inside the window can come soon enough
    /// (after the mate-distance pruning of chess programs).
    #[inline]
    fn out_of_reach(&mut self, position: &P, depth: u32, ply: u32, window: Window) -> Option<i32> {
        const UNDECIDED: i32 = WIN_MIN - 1;
        if window.alpha < UNDECIDED && window.beta > -UNDECIDED {
            return None;
        }
        let [own, other] = position.plies_to_win();
        let seen = match self.sees_tactics() {
            false => depth + u32::from(self.options.extension),
            true => PLIES_MAX,
        };
        let greatest =
            |plies: u32| if plies > seen { UNDECIDED } else { score::won_in(ply + plies) };
        let (upper, lower) = (greatest(own), -greatest(other));
        let (bound, plies) = if upper <= window.alpha {
            (upper, own)
        } else if lower >= window.beta {
            (lower, other)
        } else {
            return None;
        };
        if (seen + 1..=position.plies_left()).contains(&plies) {
            // With more depth it might come.
            self.sight.end_at_horizon();
        }
        Some(bound)
    }

    /// As [`Self::value`], using the position's entry in the transposition table.
    fn value_by_table(
        &mut self,
        position: &P,
        node: Node,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let Node { depth, ply, .. } = node;
        // For small subtrees, computing the least image costs more than it saves. A position that is its own
        // least image has one entry either way.
        let shares = self.options.table_symmetry && self.is_symmetric;
        let (key, orientation) = if shares && depth > 2 {
            position.reduced_key()
        } else {
            let key = if self.is_symmetric {
                position.symmetric_table_key()
            } else {
                position.table_key()
            };
            (key, P::Orientation::default())
        };
        let known = self.table.as_ref().and_then(|table| table.find(key));
        let deeper = self.options.table_deeper;
        if let Some((value, bound, stays)) = known.and_then(|entry| entry.at_depth(depth, deeper)) {
            let value = score::from_position(value, ply);
            let is_enough = match bound {
                Bound::Exact => true,
                Bound::Lower => value >= window.beta,
                Bound::Upper => value <= window.alpha,
            };
            if is_enough {
                if !stays {
                    self.sight.end_at_horizon();
                }
                return Ok(value);
            }
        }
        let hint = known.and_then(|entry| entry.best).map(|code| P::restored(code, orientation));
        // From here on, the extent belongs to this position alone, until it is joined with the
        // rest.
        let before = (self.sight.begin_part(), self.path.begin_part());
        let node = self.reduced_without_hint(node, hint);
        let depth = node.depth;
        let (value, best) = self.value_by_search(position, node, hint, window, budget)?;
        let mut entry = Entry {
            value: score::of_position(value, ply),
            depth,
            bound: if value >= window.beta {
                Bound::Lower
            } else if value <= window.alpha {
                Bound::Upper
            } else {
                Bound::Exact
            },
            is_whole: self.sight.is_whole(),
            best: best.map(|code| P::oriented(code, orientation)),
        };
        self.sight.join(before.0);
        if self.path.end_part(before.1) {
            entry = entry.without_value();
        }
        if let Some(table) = &mut self.table {
            table.insert(key, entry);
        }
        Ok(value)
    }

    /// As [`Self::value`], by searching.
    fn value_by_search(
        &mut self,
        position: &P,
        node: Node,
        hint: Option<u16>,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<Valued, Stop> {
        let standing = self.standing(position, node, window, budget)?;
        if let Some(bound) = self.bound_by_standing(node, standing, window) {
            return Ok((bound, None));
        }
        if let Some(bound) = self.bound_by_passing(position, node, standing, window, budget)? {
            return Ok((bound, None));
        }
        self.value_of_moves(position, (node, hint), standing, window, budget)
    }

    /// The value of a position with one ply to go.
    fn value_of_last_ply(
        &mut self,
        position: &P,
        node: Node,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        // A joint evaluation ignores the moves before the position.
        if self.options.last_ply && !P::HISTORY_MATTERS {
            let ply = node.ply;
            let last_ply = LastPly {
                lost: -score::won_in(ply + 1),
                lost_to_reply: self.options.extension.then(|| -score::won_in(ply + 2)),
                beta: window.beta,
            };
            if let Some(value) = self.evaluation.last_ply(position, last_ply, budget) {
                self.sight.end_at_horizon();
                return value;
            }
        }
        Ok(self.value_of_moves(position, (node, None), None, window, budget)?.0)
    }

    /// The value by trying one move after the other.
    fn value_of_moves(
        &mut self,
        position: &P,
        (node, hint): (Node, Option<u16>),
        standing: Option<i32>,
        mut window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<Valued, Stop> {
        let Node { depth, ply, .. } = node;
        let first = self.moves.len();
        // For small subtrees, finding a move's equals costs more than searching them.
        if self.options.distinct && depth > 2 {
            position.distinct_moves(&mut self.moves);
        } else {
            position.legal_moves(&mut self.moves);
        }
        let mut best = (score::WORST, None);
        let mut is_safe = false;
        // A move that loses to a reply may instead end the game by a history rule.
        if self.options.threats && depth > 1 && !P::HISTORY_MATTERS {
            let sifted = position.remove_losing(&mut self.moves, first);
            is_safe = sifted != Sifted::Unknown;
            best.0 = match sifted {
                Sifted::Unknown | Sifted::AllSafe => score::WORST,
                Sifted::Removed(Losing::AtOnce) => -score::won_in(ply + 1),
                Sifted::Removed(Losing::ToTheReply) => -score::won_in(ply + 2),
            };
            if best.0 >= window.beta {
                self.moves.truncate(first);
                return Ok(best);
            }
        }
        let first_key = self.keys.len();
        let order = self.rank(position, node, hint, first, budget)?;
        let pruning = self.pruning(position, node, standing, window);
        let reduces = self.options.reductions && depth > 2 && !position.is_in_check();
        let key = Path::key_of(position);
        self.enter_line(position);
        for index in 0..self.moves.len() - first {
            let place = match order {
                Order::AsListed => index,
                Order::Ranked | Order::RankedAndMade => {
                    self.next_place(position, first, first_key, index)
                }
            };
            let mv = self.moves[first + place];
            if pruning.is_on() && pruning.leaves_out(position, mv, index, best.0) {
                self.sight.end_at_horizon();
                continue;
            }
            if order != Order::RankedAndMade {
                budget.enter()?;
            }
            let mut child = position.clone();
            child.play_unchecked(mv);
            if let Some(bound) = pruning.futile_value(position, mv, &child, index) {
                self.sight.end_at_horizon();
                best.0 = best.0.max(bound);
                continue;
            }
            let is_wide = !window.is_null();
            let reduction = match reduces {
                true if self.options.log_reductions => {
                    self.log_reduction(position, mv, &child, (depth, index, is_wide))
                }
                true => Self::reduction(position, mv, &child, depth, index),
                false => 0,
            };
            let code = P::move_code(mv);
            let step = Step { depth, ply, code, is_first: index == 0, is_safe, reduction };
            self.path.push(mv, key);
            let value = self.move_value(position, (mv, &child), step, window, budget)?;
            self.path.pop();
            if value > best.0 {
                best = (value, Some(code));
            }
            if best.0 >= window.beta {
                self.learn(position, mv, node);
                if self.options.history_malus {
                    self.learn_malus(position, depth, (first, first_key), index);
                }
                break;
            }
            window.alpha = window.alpha.max(best.0);
        }
        self.leave_line();
        self.keys.truncate(first_key);
        self.moves.truncate(first);
        Ok(best)
    }

    /// A move that caused a cut-off here may do so elsewhere. For tactical moves, their captures are a better
    /// guide.
    fn learn(&mut self, position: &P, mv: P::Move, node: Node) {
        let Node { depth, ply, previous, .. } = node;
        if self.options.captures && position.is_tactical(mv) {
            return;
        }
        let code = P::move_code(mv);
        if self.options.killers {
            self.killers.insert(ply, code);
        }
        let side = position.to_move().index();
        if let (true, Some(previous)) = (self.options.countermoves, previous) {
            self.countermoves.insert(side, previous, code);
        }
        if self.options.history_malus {
            self.history.pull(side, code, depth, true);
        } else if self.options.history || self.options.combined {
            self.history.reward(side, code, depth);
        }
    }

    /// The quiet moves tried before the one at `index`, which caused a cut-off, did not.
    fn learn_malus(
        &mut self,
        position: &P,
        depth: u32,
        (first, first_key): (usize, usize),
        index: usize,
    ) {
        let side = position.to_move().index();
        for key in &self.keys[first_key..][..index] {
            let mv = self.moves[first + key.place()];
            if !self.options.captures || !position.is_tactical(mv) {
                self.history.pull(side, P::move_code(mv), depth, false);
            }
        }
    }
}
