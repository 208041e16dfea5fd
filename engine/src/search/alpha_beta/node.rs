//! A position below the root.

use super::ordering::{Class, Key, bring_next};
use super::transposition::{Bound, Entry};
use super::{AlphaBeta, Options, Window};
use crate::knowledge::{Knowledge, Losing, Sifted};
use crate::score;
use crate::search::{Budget, Evaluate, LastPly, Stop, WIN_MIN, made};

/// Where a move lies in the search: the position that it is made in, and what is known of it.
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
            let value = if self.options.extension && child.can_win_at_once() {
                score::won_in(ply + 2)
            } else {
                self.sight.end_at_horizon();
                budget.evaluate()?;
                self.evaluation.evaluate(child)
            };
            return Ok(score::for_mover(mover, child.to_move(), value));
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
        let has_no_win = step.is_safe && is_opponents;
        let value = self.value(child, step.depth - 1, step.ply + 1, has_no_win, window, budget)?;
        Ok(score::for_mover(mover, child.to_move(), value))
    }

    /// The value of a position that is not over, `ply` plies from the root, for its side to move:
    /// exact inside the window, otherwise a bound on the same side of it. `has_no_win` tells that the
    /// side to move is known to have no win at once.
    fn value(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        has_no_win: bool,
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
        if looks_for_wins && !has_no_win && position.can_win_at_once() {
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
        let seen = depth + u32::from(self.options.extension);
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

    /// As [`Self::value`], with what the transposition table has of the position.
    fn value_by_table(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        // Where little lies below, finding the least image costs more than it finds. A position that
        // is its own least image has one entry either way.
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
        let first = self.moves.len();
        // Where little lies below a move, finding its equals costs more than searching them.
        if self.options.distinct && depth > 2 {
            position.distinct_moves(&mut self.moves);
        } else {
            position.legal_moves(&mut self.moves);
        }
        let mut best = (score::WORST, None);
        let mut is_safe = false;
        if self.options.threats && depth > 1 {
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
        let order = self.rank(position, depth, ply, hint, first, budget)?;
        for index in 0..self.moves.len() - first {
            let place = match order {
                Order::AsListed => index,
                Order::Ranked | Order::RankedAndMade => {
                    bring_next(&mut self.keys[first_key..], index);
                    self.keys[first_key + index].place()
                }
            };
            let mv = self.moves[first + place];
            if order != Order::RankedAndMade {
                budget.enter()?;
            }
            let mut child = position.clone();
            child.play_unchecked(mv);
            let step = Step { depth, ply, is_first: index == 0, is_safe };
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
        self.keys.truncate(first_key);
        self.moves.truncate(first);
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

    /// Says in which order the moves listed from `first` on are tried, and pushes their keys if it
    /// is not that of the list.
    fn rank(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        hint: Option<u16>,
        first: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Order, Stop> {
        let Options { order, combined, killers, history, .. } = self.options;
        // The last ply is not ordered by the evaluations that it takes anyway.
        let is_static = if combined { depth > 2 } else { order && depth > 1 };
        let by_history = history || (combined && depth == 2);
        let killers = if killers { self.killers.at(ply) } else { [None; 2] };
        let first_key = self.keys.len();
        let counts = self.history.of_side(position.to_move().index());
        let listed = self.moves[first..].iter().enumerate();
        if is_static {
            return self.rank_by_value(position, ply, by_history, hint, first, budget);
        } else if by_history {
            self.keys.extend(listed.map(|(place, &mv)| {
                Key::new(u64::from(counts[usize::from(P::move_code(mv))]), place)
            }));
        } else if combined && depth == 1 {
            self.keys.extend(
                listed.map(|(place, &mv)| Key::new(u64::from(position.move_kind(mv)), place)),
            );
        } else if hint.is_some() || killers[0].is_some() {
            self.keys.extend(listed.map(|(place, _)| Key::new(0, place)));
        } else {
            return Ok(Order::AsListed);
        }
        self.put_first(first, first_key, killers, hint);
        Ok(Order::Ranked)
    }

    /// As [`Self::rank`], by the static evaluation of where the moves lead.
    fn rank_by_value(
        &mut self,
        position: &P,
        ply: u32,
        by_history: bool,
        hint: Option<u16>,
        first: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Order, Stop> {
        let side = position.to_move();
        let first_key = self.keys.len();
        for place in 0..self.moves.len() - first {
            let mv = self.moves[first + place];
            let child = made(position, mv, budget)?;
            let value = match child.ending() {
                Some(ending) => score::of_ending(ending, side, ply + 1),
                None => {
                    budget.evaluate()?;
                    score::for_mover(side, child.to_move(), self.evaluation.evaluate(&child))
                }
            };
            if value >= score::won_in(ply + 1) {
                // Nothing is above it: it is the only one that is tried.
                self.keys.truncate(first_key);
                self.moves.truncate(first);
                self.moves.push(mv);
                self.keys.push(Key::new(0, 0));
                return Ok(Order::RankedAndMade);
            }
            let counts = self.history.of_side(side.index());
            let learnt = if by_history { counts[usize::from(P::move_code(mv))] } else { 0 };
            self.keys.push(Key::new(Key::rank_of_value(value, learnt), place));
        }
        let killers = if self.options.killers { self.killers.at(ply) } else { [None; 2] };
        self.put_first(first, first_key, killers, hint);
        Ok(Order::RankedAndMade)
    }

    /// Puts killer moves before all others, and the move of the transposition table before them.
    fn put_first(
        &mut self,
        first: usize,
        first_key: usize,
        killers: [Option<u16>; 2],
        hint: Option<u16>,
    ) {
        let keys = &mut self.keys[first_key..];
        let listed = &self.moves[first..];
        let mut put = |code: Option<u16>, class| {
            let is_it = |&mv: &P::Move| Some(P::move_code(mv)) == code;
            if code.is_some()
                && let Some(place) = listed.iter().position(is_it)
            {
                keys[place] = keys[place].in_class(class);
            }
        };
        for killer in killers {
            put(killer, Class::Killer);
        }
        put(hint, Class::Remembered);
    }
}

/// In which order the moves of a position are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The canonical one.
    AsListed,
    /// That of their keys.
    Ranked,
    /// The same, and each has been made to get its key: it was counted as a node then.
    RankedAndMade,
}
