//! A position below the root.

use super::ordering::{Candidate, Class, bring_next};
use super::transposition::{Bound, Entry};
use super::{AlphaBeta, Options, Window};
use crate::search::knowledge::{Knowledge, Losing};
use crate::search::{Budget, Evaluate, Stop, WIN_MIN, made, score};

/// Where a position or a move lies in the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Plies to search from the position.
    pub(super) depth: u32,
    /// Plies from the root to the position.
    pub(super) ply: u32,
    /// Whether the move is the first that is tried there.
    pub(super) is_first: bool,
    /// Whether it is known that after the move the opponent cannot win at once.
    pub(super) is_safe: bool,
}

/// A position's value and the code of the move that has it, if one is known.
type Valued = (i32, Option<u16>);

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// The value of a move that leads from `position` to `child`, for who makes it.
    #[inline]
    pub(super) fn move_value(
        &mut self,
        position: &P,
        child: &P,
        step: Step,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let Step { depth, ply, .. } = step;
        let mover = position.to_move();
        if let Some(ending) = child.ending() {
            return Ok(score::of_ending(ending, mover, ply + 1));
        }
        if depth == 1 {
            self.sight.end_at_horizon();
            budget.evaluate()?;
            return Ok(score::for_mover(mover, child.to_move(), self.evaluation.evaluate(child)));
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
        let is_safe = step.is_safe && is_opponents;
        let value = self.value(child, step.depth - 1, step.ply + 1, is_safe, window, budget)?;
        Ok(score::for_mover(mover, child.to_move(), value))
    }

    /// The value of a position that is not over, `ply` plies from the root, for its side to move:
    /// exact inside the window, otherwise a bound on the same side of it. `is_safe` tells that the
    /// side to move is known to have no win at once.
    fn value(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        is_safe: bool,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        // Nothing here is above a win with the next move.
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
        if looks_for_wins && !is_safe && position.can_win_at_once() {
            return Ok(soonest_win);
        }
        if depth == 1 {
            return self.value_of_last_ply(position, ply, window, budget);
        }
        if self.table.is_some() {
            self.value_by_table(position, depth, ply, window, budget)
        } else {
            Ok(self.value_of_moves(position, depth, ply, None, window, budget)?.0)
        }
    }

    /// A bound on the value that suffices, if no win and no loss that lies inside the window can
    /// come soon enough (after the mate-distance pruning of chess programs).
    #[inline]
    fn out_of_reach(&mut self, position: &P, depth: u32, ply: u32, window: Window) -> Option<i32> {
        const UNDECIDED: i32 = WIN_MIN - 1;
        if window.alpha < UNDECIDED && window.beta > -UNDECIDED {
            return None;
        }
        let [own, other] = position.plies_to_win();
        let greatest =
            |plies: u32| if plies > depth { UNDECIDED } else { score::won_in(ply + plies) };
        let (upper, lower) = (greatest(own), -greatest(other));
        let (bound, plies) = if upper <= window.alpha {
            (upper, own)
        } else if lower >= window.beta {
            (lower, other)
        } else {
            return None;
        };
        if plies > depth {
            // With more depth it might come.
            self.sight.end_at_horizon();
        }
        Some(bound)
    }

    /// As [`Self::value`], with what the transposition table has of the position.
    fn value_by_table(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let (key, orientation) = if self.options.table_symmetry {
            position.reduced_key()
        } else {
            (position.table_key(), P::Orientation::default())
        };
        let known = self.table.as_ref().and_then(|table| table.find(key));
        if let Some((value, bound, stays)) = known.and_then(|entry| entry.at_depth(depth)) {
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
        // What is seen from here on is this position's own, until it is joined with the rest.
        let before = self.sight.begin_part();
        let (value, best) = self.value_of_moves(position, depth, ply, hint, window, budget)?;
        let entry = Entry {
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
        self.sight.join(before);
        if let Some(table) = &mut self.table {
            table.insert(key, entry);
        }
        Ok(value)
    }

    /// The value of a position with one ply to go.
    fn value_of_last_ply(
        &mut self,
        position: &P,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if self.options.last_ply {
            let lost = -score::won_in(ply + 1);
            if let Some(value) = self.evaluation.last_ply(position, lost, window.beta, budget) {
                self.sight.end_at_horizon();
                return value;
            }
        }
        Ok(self.value_of_moves(position, 1, ply, None, window, budget)?.0)
    }

    /// The value by trying one move after the other.
    fn value_of_moves(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        hint: Option<u16>,
        mut window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<Valued, Stop> {
        self.moves.clear();
        if self.options.distinct && depth > 1 {
            position.distinct_moves(&mut self.moves);
        } else {
            position.legal_moves(&mut self.moves);
        }
        let mut best = (score::WORST, None);
        let is_safe = self.options.threats && depth > 1;
        if is_safe {
            best.0 = match position.remove_losing(&mut self.moves, 0) {
                None => score::WORST,
                Some(Losing::AtOnce) => -score::won_in(ply + 1),
                Some(Losing::ToTheReply) => -score::won_in(ply + 2),
            };
            if best.0 >= window.beta {
                return Ok(best);
            }
        }
        let first = self.candidates.len();
        let is_ranked = self.list_candidates(position, depth, ply, hint, budget)?;
        for index in first..self.candidates.len() {
            if is_ranked {
                bring_next(&mut self.candidates, first, index);
            }
            let Candidate { mv, is_made, .. } = self.candidates[index];
            let child = if is_made {
                let mut child = position.clone();
                child.play_unchecked(mv);
                child
            } else {
                made(position, mv, budget)?
            };
            let step = Step { depth, ply, is_first: index == first, is_safe };
            let value = self.move_value(position, &child, step, window, budget)?;
            if value > best.0 {
                best = (value, Some(P::move_code(mv)));
            }
            if best.0 >= window.beta {
                self.learn(position, P::move_code(mv), depth, ply);
                break;
            }
            window.alpha = window.alpha.max(best.0);
        }
        self.candidates.truncate(first);
        Ok(best)
    }

    /// A move was good enough here: it may be elsewhere.
    fn learn(&mut self, position: &P, code: u16, depth: u32, ply: u32) {
        if self.options.killers {
            self.killers.insert(ply, code);
        }
        if self.options.history || self.options.combined {
            self.history.reward(position.to_move().index(), code, depth);
        }
    }

    /// Turns the listed moves into candidates, and says whether they have ranks; else they are to
    /// be tried in the order of the list.
    fn list_candidates(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        hint: Option<u16>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Stop> {
        let Options { order, combined, killers, history, .. } = self.options;
        // The last ply is not ordered by the evaluations that it takes anyway.
        let is_static = if combined { depth > 2 } else { order && depth > 1 };
        let by_kind = combined && depth == 1;
        let by_history = history || (combined && depth == 2);
        let killers = if killers { self.killers.at(ply) } else { [None; 2] };
        let is_ranked = is_static
            || by_kind
            || by_history
            || hint.is_some()
            || killers.iter().any(Option::is_some);
        let side = position.to_move();
        let first = self.candidates.len();
        for place in 0..self.moves.len() {
            let mv = self.moves[place];
            let code = P::move_code(mv);
            let class = if hint == Some(code) {
                Class::Remembered
            } else if killers.contains(&Some(code)) {
                Class::Killer
            } else {
                Class::Ranked
            };
            let learnt = if by_history { self.history.of(side.index(), code) } else { 0 };
            let primary = if is_static {
                let child = made(position, mv, budget)?;
                let value = match child.ending() {
                    Some(ending) => score::of_ending(ending, side, ply + 1),
                    None => {
                        budget.evaluate()?;
                        let value = self.evaluation.evaluate(&child);
                        score::for_mover(side, child.to_move(), value)
                    }
                };
                if value >= score::won_in(ply + 1) {
                    // Nothing is above it.
                    self.candidates.truncate(first);
                    self.candidates.push(Candidate::new(mv, true, class, (value, 0), place));
                    break;
                }
                value
            } else if by_kind {
                i32::from(position.move_kind(mv))
            } else {
                0
            };
            self.candidates.push(Candidate::new(mv, is_static, class, (primary, learnt), place));
        }
        Ok(is_ranked)
    }
}
